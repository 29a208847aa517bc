//! What a program visibly does with tools: which it calls, with which literals, and what it reads of the results.
//!
//! Nothing is judged here, and no schema is known. The invariant: whatever is listed is sure. A name that is
//! bound twice, a `tools`, `MCP` or `API` that is a local variable, a value whose way cannot be followed are left out.

mod flow;
mod literal;
mod servers;
mod walk;

use oxc_ast::ast::Program;

pub use literal::{Field, Fields, Literal};

use crate::survey::Survey;

/// Nodes of the tree beyond which a program is not looked at: the walk is bounded, and so are its findings.
const MAX_NODES: usize = 30_000;

/// The calls of a program and what becomes of their results. Offsets are bytes in the text sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCalls {
    /// The calls, in the order in which they are written.
    pub calls: Vec<ToolCall>,
    /// What is read of awaited results.
    pub reads: Vec<FieldRead>,
    /// Names that the program asks for before it calls them: `"x" in tools`, `if (tools.x)`, `tools.x?.()`;
    /// those of servers and their members with `MCP.` before them.
    pub probed: Vec<String>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What is called.
    pub target: Target,
    /// Its one argument; `None` when none is given.
    pub input: Option<Literal>,
    /// Where the call starts.
    pub offset: usize,
    /// The program catches what the call throws, so it may count on a failure.
    pub caught: bool,
    /// Set when the promise itself is used as if it were the result.
    pub unawaited: Option<Unawaited>,
}

/// What a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `tools.name(...)`.
    Name(String),
    /// `tools.call("id", ...)`.
    Id(String),
    /// `tools.callRaw("id", ...)`, whose value is not the tool's own.
    RawId(String),
    /// `MCP.server.tool(...)`, as `server.tool` or `server.resources.list`.
    Mcp(String),
    /// `API.member(...)`, `MCP.$api(...)` or `MCP.server.$api(...)`, as it is written.
    Api(String),
}

/// A promise that is used as if it were the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unawaited {
    /// Where it is used.
    pub offset: usize,
    /// How, as the rest of a sentence that starts with "its promise".
    pub how: &'static str,
}

/// One step from a result to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field.
    Field(String),
    /// An element of an array.
    Element,
}

/// A field that is read of an awaited result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRead {
    /// The call, as an index of [`ToolCalls::calls`].
    pub call: usize,
    /// How the program got to the object.
    pub path: Vec<Step>,
    /// The field.
    pub field: String,
    /// Where it is written.
    pub offset: usize,
}

/// Looks at a program that uses `tools`, `MCP` or `API`. `functions` is how many functions stand around its statements.
pub(crate) fn of<'a>(program: &Program<'a>, survey: &Survey<'a>, functions: u32) -> ToolCalls {
    walk::Walk::new(survey, functions).over(program)
}
