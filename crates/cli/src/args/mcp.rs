//! The arguments of `codecell mcp`.

use std::net::SocketAddr;

use clap::Args;

use super::{McpCommand, RightsArgs};

/// `codecell mcp`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell mcp --workspace ~/project\n  codecell mcp --http 127.0.0.1:4711 --approve always",
    about = "Serve the two tools `exec` and `wait` to an MCP client",
    long_about = "Serve the two tools `exec` and `wait` to an MCP client.\n\n\
        Put this command into the configuration of your client, in the place of its other servers: it \
        shows two tools, and what the other servers can do is called from the programs that `exec` runs. \
        stdin and stdout belong to the client; everything else is said on stderr.\n\n\
        With `--http` many clients share one process, each with sessions of its own. They show the token \
        that lies in the state folder, as `Authorization: Bearer TOKEN`; the command says where.\n\n\
        Every tool that is not marked as reading only asks first: in the client, if that can ask. With \
        `--approve` you answer for it.",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct McpArgs {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// How to serve.
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

/// How the front serves.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve streamable HTTP at http://ADDR:PORT/mcp instead of stdin; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// Serve every program of this machine without a token; for addresses of this machine only
    #[arg(long, requires = "http")]
    pub(crate) no_token: bool,
    /// Also accept this name in the Host header, such as the one of a proxy
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Also accept web pages of this origin, such as https://app.example
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Set a configuration key for this run, such as tools.codeMode.timeoutMs=30000
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// What the clients may do
    #[command(flatten)]
    pub(crate) rights: RightsArgs,
}
