//! The arguments of `codecell mcp list`, `test` and what else there is to do with MCP servers.

use clap::Subcommand;

/// What can be done with the MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the MCP servers that are configured
    #[command(
        before_help = "Examples:\n  codecell mcp list\n  codecell mcp list --mcp-config .mcp.json --json"
    )]
    List,
    /// Start MCP servers, and show how long that takes and what they have
    #[command(
        before_help = "Examples:\n  codecell mcp test\n  codecell mcp test github --mcp-config .mcp.json"
    )]
    Test {
        /// The servers; without names, all that are enabled
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}
