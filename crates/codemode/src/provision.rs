//! What a program needs besides its text, and only that: names that it could ask for, and the bytes
//! behind `ALL_TOOLS` and `API`.
//!
//! Names go into the injection, which a guest parses at its start. Bytes go into the catalog's region,
//! which it reads when the program does and which snapshots leave out. A program that names its tools
//! and touches neither gets nothing.

use codecell_sandbox::{CatalogImage, SandboxError};
use codecell_script::{Prepared, Uses};
use serde_json::{Value, json};

use crate::catalog_facts::CatalogFacts;

/// What a guest is started with.
pub(crate) struct Provision {
    /// JSON, or empty.
    pub(crate) injection: String,
    pub(crate) region: Option<CatalogImage>,
}

impl Provision {
    /// Puts together what this program needs.
    ///
    /// # Errors
    /// When the bytes are more than a guest can hold.
    pub(crate) fn of(prepared: &Prepared, facts: &CatalogFacts) -> Result<Self, SandboxError> {
        let uses = &prepared.uses;
        let mut fields: Vec<String> = Vec::new();
        if uses.tools_dynamic {
            fields.push(format!("\"names\":{}", facts.names_json()));
        }
        if uses.mcp_dynamic {
            fields.push(format!("\"mcp\":{}", facts.mcp_json()));
        }
        let region = match (uses.api, uses.all_tools) {
            (true, _) => {
                let (files, region) = with_files(uses, facts)?;
                fields.push(files);
                Some(region)
            }
            (false, true) => {
                fields.push("\"allTools\":true".to_owned());
                Some(facts.image()?.clone())
            }
            (false, false) => None,
        };
        let injection = match fields.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", fields.join(",")),
        };
        Ok(Self { injection, region })
    }
}

/// The place of a text that the program never reads: past the end of any region, where the guest finds an
/// empty one.
const NOWHERE: usize = 0x00ff_ff00;

/// The list of files, and a region with the texts that the program may read.
fn with_files(uses: &Uses, facts: &CatalogFacts) -> Result<(String, CatalogImage), SandboxError> {
    let entries = match uses.all_tools {
        true => facts.entries(),
        false => Vec::new(),
    };
    let mut texts: Vec<&str> = entries.iter().map(String::as_str).collect();
    let mut listed: Vec<Value> = Vec::new();
    for file in facts.catalog().declarations() {
        let is_read = uses.api_dynamic || uses.api_paths.contains(&file.path);
        listed.push(json!({
            "path": file.path,
            "description": file.description,
            "bytes": file.content.len(),
            "at": if is_read { texts.len() } else { NOWHERE },
        }));
        if is_read {
            texts.push(&file.content);
        }
    }
    let fields = format!(
        "\"allTools\":{},\"api\":{{\"files\":{}}}",
        entries.len(),
        Value::from(listed)
    );
    Ok((fields, CatalogImage::new(texts)?))
}
