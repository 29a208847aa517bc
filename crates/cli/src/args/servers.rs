//! The arguments of `codecell mcp list`, `test` and what else there is to do with MCP servers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    /// Log in to an MCP server whose configuration says auth: "oauth"
    #[command(
        before_help = "Examples:\n  codecell mcp login tracker\n  codecell mcp login tracker --scope 'issues:write'",
        long_about = "Log in to an MCP server whose configuration says auth: \"oauth\".\n\n\
            An address is shown; whoever opens it with a browser on this machine and agrees there lets \
            codecell act for them at that server. The tokens are kept in the state folder, in a file that only you \
            can read, and are refreshed when they end. codecell mcp logout forgets them."
    )]
    Login(LoginArgs),
    /// Forget the login to an MCP server
    #[command(
        before_help = "Examples:\n  codecell mcp logout tracker\n  codecell mcp logout tracker --json"
    )]
    Logout {
        /// The server
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Add an MCP server to the configuration file, and keep the rest of it as it is
    #[command(
        before_help = "Examples:\n  codecell mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\n  codecell mcp add tracker --url https://x.example/mcp --header 'X-Key: ${KEY}'"
    )]
    Add(AddArgs),
    /// Remove an MCP server from the configuration file
    #[command(
        before_help = "Examples:\n  codecell mcp remove files\n  codecell mcp remove tracker --config ./codecell.json"
    )]
    Remove {
        /// The server
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Take servers over from the configuration file of another MCP client
    #[command(
        before_help = "Examples:\n  codecell mcp import ~/.config/Claude/claude_desktop_config.json\n  codecell mcp import .vscode/mcp.json github --force"
    )]
    Import {
        /// The file: with `mcpServers`, `servers` or `context_servers`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Only these servers
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Replace servers that are configured already
        #[arg(long)]
        force: bool,
    },
}

/// `codecell mcp login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Ask for this scope too, besides those that the server names or the login has
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// How long to wait for the browser
    #[arg(long, value_name = "MS", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub(crate) timeout_ms: u64,
}

/// `codecell mcp add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The name to configure it under
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The command that starts it, after `--`
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "url",
        conflicts_with = "url"
    )]
    pub(crate) command: Vec<String>,
    /// The address where it is reached
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Speak the older transport with an event stream
    #[arg(long, requires = "url")]
    pub(crate) sse: bool,
    /// A header of every request; `${NAME}` in it is read from the environment
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// It wants a login; codecell mcp login makes it
    #[arg(long, requires = "url")]
    pub(crate) oauth: bool,
    /// A variable of its environment; `${NAME}` in it is read from ours
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// The folder to start it in [default: the workspace]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<String>,
    /// Replace the server that has this name already
    #[arg(long)]
    pub(crate) force: bool,
}
