//! The effective tools of one run.
//!
//! A tool that policy removed is not in here, and there is no way back to it from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use codecell_catalog::ToolId;

use crate::tool::Tool;

/// The effective tools of one run, in the order of the catalog.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<ToolId, Arc<dyn Tool>>,
}

impl ToolSet {
    /// The tool with exactly this id.
    #[must_use]
    pub fn get(&self, id: &ToolId) -> Option<&Arc<dyn Tool>> {
        self.tools.get(id)
    }
}
