//! test262, the language's own test suite, run in the guest.
//!
//! Tests come from the data beside the checkout or from a checkout of tc39/test262; each runs in a guest of
//! its own, through the start flags that only conformance tests set. What is expected to fail is listed
//! with its reason in `failures.txt`; everything else must pass.

mod absent;
mod checkout;
mod data;
mod expected;
mod frontmatter;
mod many;
mod run;

pub use absent::without_absent;
pub use checkout::read_checkout;
pub use data::{read_harness, read_lines};
pub use expected::{Expected, Judged};
pub use many::run_all;

use std::collections::BTreeMap;

use serde::Deserialize;

/// One test.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Test {
    /// Where it lies in the suite, from `test/` on.
    pub path: String,
    /// Its text.
    pub source: String,
    /// `onlyStrict`, `async`, `raw` and the like.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Files of the harness that it needs beside the two that all need.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Features of the language that it is about.
    #[serde(default)]
    pub features: Vec<String>,
    /// The error that it has to end with.
    #[serde(default)]
    pub negative: Option<Negative>,
}

impl Test {
    /// Whether the test carries a flag.
    #[must_use]
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

/// The error that a test has to end with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Negative {
    /// When: `parse`, `resolution` or `runtime`.
    pub phase: String,
    /// The name of its constructor.
    #[serde(rename = "type")]
    pub name: String,
}

/// The files of the harness, by name.
pub type Harness = BTreeMap<String, String>;

/// What a test came to: nothing, or why it failed.
pub type Outcome = Result<(), String>;
