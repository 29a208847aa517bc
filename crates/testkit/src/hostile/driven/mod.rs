//! Cases that a program alone cannot make.
//!
//! Each is a function that says what was wrong. It gets the scene, and builds houses of its own where
//! the plain one does not do.

mod bridge;
mod clocks;
mod leaks;
mod life;
mod snapshots;
mod typescript;

use std::pin::Pin;

use super::run::Scene;

/// What a driven case comes to.
pub type Outcome<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// One case.
#[derive(Clone, Copy)]
pub struct Driven {
    /// `class/line/name`.
    pub id: &'static str,
    /// Does it.
    pub run: for<'a> fn(&'a Scene) -> Outcome<'a>,
}

impl std::fmt::Debug for Driven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// A table of cases: id and async function.
macro_rules! driven {
    ($($id:literal: $run:path,)*) => {
        pub(super) const CASES: &[super::Driven] = &[$(super::Driven {
            id: $id,
            run: |scene| Box::pin($run(scene)),
        },)*];
    };
}
use driven;

/// The driven cases of a class.
#[must_use]
pub fn of(letter: char) -> Vec<Driven> {
    let tables = [
        bridge::CASES,
        clocks::CASES,
        leaks::CASES,
        life::CASES,
        snapshots::CASES,
        typescript::CASES,
    ];
    let all = tables.into_iter().flatten();
    all.filter(|case| case.id.starts_with(letter))
        .copied()
        .collect()
}

/// Fails with these words unless it is so.
fn check(is_so: bool, words: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(words()) }
}
