//! `codecell mcp`: tools for the clients of MCP.

mod serve;

use crate::args::McpArgs;
use crate::compose::Base;
use crate::error::{CliError, Exit};

/// Does what was asked for.
pub(crate) fn run(base: &Base, args: McpArgs) -> Result<Exit, CliError> {
    serve::run(base, args.serve)
}
