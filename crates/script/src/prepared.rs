//! A checked program and what was learned about it while it was parsed.

use crate::calls::ToolCalls;
use crate::options::Language;

/// A program that may be handed to the engine.
///
/// The engine compiles [`Prepared::compile_unit`]: `(async function(){`, [`prefix`](Self::prefix) and a
/// line break; then [`body`](Self::body), whose lines and columns are those of the text that the model
/// sent, a line break, [`suffix`](Self::suffix) and `})`. The body's first line is the unit's second.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Goes before the body, on the line of the wrapper; empty or `return await (`.
    pub prefix: String,
    /// The body of a sloppy-mode async function. Line N here is line N of the text sent; every token that
    /// was kept also has its column (code generated for enums, namespaces and the like stays on its line).
    pub body: String,
    /// Goes after the body, on a line of its own; empty or `)()`.
    pub suffix: String,
    /// The language that the text was taken for.
    pub language: Language,
    /// The language was not named, and the text parses as TypeScript only.
    pub inferred: bool,
    /// What a leading `// @exec: {json}` line asks for.
    pub directive: Directive,
    /// Advice that does not stop the program.
    pub warnings: Vec<ScriptWarning>,
    /// Set when the last statement is an expression whose value is dropped; to be shown if the value is null.
    pub hint: Option<String>,
    /// Which globals the program needs.
    pub uses: Uses,
    /// What it visibly does with tools; empty when it names none.
    pub calls: ToolCalls,
}

impl Prepared {
    /// The text to compile: one parenthesised async function expression without parameters.
    #[must_use]
    pub fn compile_unit(&self) -> String {
        format!(
            "(async function(){{{}\n{}\n{}}})",
            self.prefix, self.body, self.suffix
        )
    }
}

/// What a leading `// @exec: {json}` line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directive {
    /// `language`; used only when the call names none.
    pub language: Option<Language>,
    /// `timeoutMs`, in milliseconds. It may only lower the caller's limit; the caller sees to that.
    pub timeout_ms: Option<u64>,
}

/// One piece of advice about a program that runs anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptWarning {
    /// A stable word: `directive_unknown_key`, `directive_invalid`.
    pub kind: &'static str,
    /// What to change.
    pub message: String,
    /// Line in the text sent, counted from 1.
    pub line: u32,
    /// Column, counted from 1 in UTF-16 code units.
    pub column: u32,
}

/// Which globals a program needs, found in the parsed program and never too few.
///
/// A local variable of the same name counts as a use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uses {
    /// Names read as `tools.name`, `tools["name"]` or `const { name } = tools`; sorted, each once.
    /// Helpers such as `search` are listed like every other name.
    pub tools: Vec<String>,
    /// `tools` is used in a way that needs the whole name table: `tools[expr]`, handed on, enumerated.
    pub tools_dynamic: bool,
    /// `ALL_TOOLS` is mentioned.
    pub all_tools: bool,
    /// `API` is mentioned in another way than `API.search`: the names of its files are needed.
    pub api: bool,
    /// Paths that are read as `API.read("path")`; sorted, each once.
    pub api_paths: Vec<String>,
    /// `API` is used in a way that may read any file.
    pub api_dynamic: bool,
    /// `MCP` is mentioned.
    pub mcp: bool,
    /// `MCP` is used in a way that needs all names: other than `MCP.server.tool` and `MCP.$api`.
    pub mcp_dynamic: bool,
    /// `namespaces` is mentioned.
    pub namespaces: bool,
    /// `results` is mentioned.
    pub results: bool,
    /// The global object is used in a way that names cannot be followed (`globalThis[x]`, `this` in a
    /// sloppy function): every global may be needed. Sets the flags above too.
    pub global_object: bool,
    /// Every name that is read or written anywhere as a variable, sorted, each once: local ones too.
    /// Says whether a registered namespace's own global can be needed.
    pub names: Vec<String>,
}
