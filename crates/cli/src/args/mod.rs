//! The command tree: what can be typed, and the help for it.
//!
//! Nothing is read or run here. The help of every command begins with two examples; a test holds
//! every command to that.

mod commands;
mod mcp;
mod parse;
mod servers;

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand};

pub(crate) use commands::{
    ApiArgs, ApproveMode, CompletionShell, CompletionsArgs, ConfigArgs, ConfigCommand, DoctorArgs,
    ExecArgs, FilterArgs, ReplayArgs, RightsArgs, ToolsArgs, ToolsCommand, WaitArgs,
};
pub(crate) use mcp::{McpArgs, ServeArgs};
pub(crate) use parse::{Parsed, parse, wants_json};
pub(crate) use servers::{AddArgs, LoginArgs, McpCommand};

/// Runs small JavaScript and TypeScript programs over your tools, in a sealed sandbox.
///
/// A program (a cell) finds tools in a catalog, calls them with loops and `Promise.all`, and
/// returns one value. It has no other access: no network, files or environment of its own.
#[derive(Debug, Parser)]
#[command(
    name = "codecell",
    version,
    before_help = "Examples:\n  codecell exec 'return (await tools.ls()).entries.map(e => e.name)'\n  codecell tools search \"find text in files\"",
    after_help = "Exit codes: 0 done, 1 the cell or tool failed, 2 wrong usage or config, 3 waiting, 130 interrupted.",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    propagate_version = true
)]
pub(crate) struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct GlobalArgs {
    /// Read this configuration file and no other
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Add the MCP servers of this file, as other MCP clients write it; may be given several times
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// The folder that file tools are confined to [default: the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The agent whose configuration applies [default: main]
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Put exactly one JSON value on stdout, and nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more on stderr; twice for the logs of the engine room
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Say nothing on stderr but failures
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // A comment for the help would replace the longer text of the arguments.
    Exec(ExecArgs),
    Wait(WaitArgs),
    Replay(ReplayArgs),
    /// Look at the catalog of tools, or call one
    Tools(ToolsArgs),
    /// Show the declaration files that a cell can read
    Api(ApiArgs),
    Mcp(McpArgs),
    /// Read, change and check the configuration
    Config(ConfigArgs),
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}
