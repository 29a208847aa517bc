//! `codecell mcp`: tools for the clients of MCP, and the servers that they come from.

mod edit;
mod login;
pub(crate) mod serve;
mod servers;

use crate::args::{McpArgs, McpCommand};
use crate::compose::Base;
use crate::error::{CliError, Exit};

/// Does what was asked for.
pub(crate) fn run(base: &Base, args: McpArgs) -> Result<Exit, CliError> {
    match args.command {
        None => serve::run(base, args.serve),
        Some(McpCommand::List) => servers::list(base),
        Some(McpCommand::Test { names }) => servers::test(base, &names),
        Some(McpCommand::Login(args)) => login::log_in(base, &args),
        Some(McpCommand::Logout { name }) => login::log_out(base, &name),
        Some(McpCommand::Add(args)) => edit::add(base, &args),
        Some(McpCommand::Remove { name }) => edit::remove(base, &name),
        Some(McpCommand::Import { file, names, force }) => edit::import(base, &file, &names, force),
    }
}
