//! Telling shell commands and Python programs from JavaScript, and saying what to write instead.
//!
//! Asked only about texts that parse neither as JavaScript nor as TypeScript, and about the few shell
//! commands and Python lines that happen to parse (`ls -la` is a subtraction). Plain means plain: when in
//! doubt the text counts as JavaScript and its syntax error is reported.

use oxc_ast::ast::{BinaryOperator, Expression, FunctionBody, Statement};

use crate::error::{Foreign, ScriptError};

/// Commands that open a shell line. Words that are also likely names in a program only count when what
/// follows could not be JavaScript; see [`shell_line`].
const COMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "awk",
    "bash",
    "brew",
    "bun",
    "cargo",
    "cat",
    "cd",
    "chmod",
    "chown",
    "cmake",
    "cp",
    "curl",
    "cut",
    "date",
    "deno",
    "df",
    "diff",
    "dig",
    "dir",
    "docker",
    "dotnet",
    "du",
    "echo",
    "env",
    "export",
    "fd",
    "file",
    "find",
    "gcc",
    "gh",
    "git",
    "go",
    "gradle",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "helm",
    "hostname",
    "id",
    "java",
    "jq",
    "kill",
    "kubectl",
    "less",
    "ln",
    "ls",
    "lsof",
    "make",
    "man",
    "mkdir",
    "mv",
    "mvn",
    "netstat",
    "node",
    "npm",
    "npx",
    "openssl",
    "ping",
    "pip",
    "pip3",
    "pnpm",
    "printf",
    "ps",
    "psql",
    "pwd",
    "pytest",
    "python",
    "python3",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "ruby",
    "rustc",
    "scp",
    "sed",
    "sh",
    "sleep",
    "sort",
    "source",
    "ssh",
    "sudo",
    "systemctl",
    "tail",
    "tar",
    "tee",
    "test",
    "top",
    "touch",
    "tr",
    "tree",
    "tsc",
    "uname",
    "uniq",
    "unzip",
    "uv",
    "wc",
    "wget",
    "which",
    "whoami",
    "xargs",
    "yarn",
    "zip",
    "zsh",
];

/// How a line of JavaScript starts that no shell or Python program has.
const JAVASCRIPT_STARTS: &[&str] = &[
    "const ",
    "let ",
    "var ",
    "await ",
    "return ",
    "function ",
    "async function",
    "}",
    "//",
    "/*",
    "import {",
    "throw ",
];

/// The language that a fence's info word names, if it is not JavaScript or TypeScript.
pub(crate) fn of_name(word: &str) -> Option<Foreign> {
    match word.to_ascii_lowercase().as_str() {
        "sh" | "bash" | "shell" | "zsh" | "console" | "shell-session" | "fish" => {
            Some(Foreign::Shell)
        }
        "python" | "py" | "python3" | "ipython" => Some(Foreign::Python),
        _ => None,
    }
}

/// The error for a text in another language, with advice made from its first line.
pub(crate) fn refusal(what: Foreign, text: &str) -> ScriptError {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or("");
    let advice = match what {
        Foreign::Shell => {
            let command: String = line.trim_start_matches("$ ").chars().filter(|c| !c.is_control()).take(80).collect();
            format!(
                "it looks like a shell command. Write the body of an async function and call tools instead, for example \
                 `return await tools.exec({{ command: {} }})` if a shell tool is in ALL_TOOLS, or tools.read, tools.grep and the like",
                serde_json::Value::from(command)
            )
        }
        Foreign::Python => "it looks like Python. Write the body of an async JavaScript function instead: `const` for \
            variables, braces for blocks, `console.log` or `text` for `print`, `await tools.<name>({ ... })` for files and commands"
            .to_owned(),
    };
    ScriptError::NotJavaScript { what, advice }
}

/// Judges a text that is neither JavaScript nor TypeScript.
pub(crate) fn of_unparsable(text: &str) -> Option<Foreign> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let code: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.trim_start().starts_with('#') || line.starts_with("#!"))
        .collect();
    let first = code.first()?.trim_start();
    if here_document(text) {
        return shell_line(first).then_some(Foreign::Shell);
    }
    if code.iter().any(|line| python_only(line.trim_start())) {
        return Some(Foreign::Python);
    }
    if code.iter().any(|line| {
        JAVASCRIPT_STARTS
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    }) {
        return None;
    }
    if code.iter().any(|line| python_line(line.trim_start())) {
        return Some(Foreign::Python);
    }
    shell_line(first).then_some(Foreign::Shell)
}

fn here_document(text: &str) -> bool {
    [
        "<<EOF",
        "<<'EOF'",
        "<<\"EOF\"",
        "<<-EOF",
        "<< EOF",
        "<< 'EOF'",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

fn shell_line(line: &str) -> bool {
    if line.starts_with("$ ") || line.starts_with("./") || line.starts_with("../") {
        return true;
    }
    let line = skip_assignments(line);
    if ["if [", "for ", "while "]
        .iter()
        .any(|start| line.starts_with(start))
    {
        return ["; then", "; do", "]; "]
            .iter()
            .any(|mark| line.contains(mark))
            || line.ends_with(" do");
    }
    let (command, rest) = line.split_at(
        line.find(|c: char| c.is_whitespace() || "|;&><".contains(c))
            .unwrap_or(line.len()),
    );
    let name = command.rsplit('/').next().unwrap_or(command);
    if !COMMANDS.contains(&name) || (command.contains('/') && !command.starts_with(['/', '.'])) {
        return false;
    }
    let spaced = rest.starts_with(char::is_whitespace);
    let next = rest.trim_start();
    match next.chars().next() {
        None
        | Some('|' | '&' | '>' | '<' | '-' | '"' | '\'' | '/' | '~' | '$' | '*' | '\\' | '@') => {
            true
        }
        Some(';') => !spaced,
        Some('.') => spaced && (next.len() == 1 || next[1..].starts_with(['/', '.', ' '])),
        Some(first) => {
            spaced
                && (first.is_alphanumeric() || first == '_')
                && !next.starts_with("of ")
                && !next.starts_with("in ")
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or("")
}

/// Drops `NAME=value ` before a command.
fn skip_assignments(mut line: &str) -> &str {
    while let Some((word, rest)) = line.split_once(' ') {
        let Some((name, _)) = word.split_once('=') else {
            break;
        };
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        {
            break;
        }
        line = rest.trim_start();
    }
    line
}

/// A line that no JavaScript program has, not even a broken one.
fn python_only(line: &str) -> bool {
    let code = line.split(" #").next().unwrap_or(line).trim_end();
    let block = code.ends_with(':') || code.contains("):");
    let word = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or("");
    match word {
        "def" | "elif" | "except" => block && !code.contains(['{', ';']),
        "class" => code.ends_with(':') && !code.contains(['{', '}']),
        "async" => code.starts_with("async def "),
        _ => false,
    }
}

/// A line of Python, if the text around it is not JavaScript.
fn python_line(line: &str) -> bool {
    let code = line.split(" #").next().unwrap_or(line).trim_end();
    let balanced = code.matches('(').count() == code.matches(')').count();
    let block = code.ends_with(':') && balanced && !code.contains(['{', '}', '?', ';']);
    let word = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or("");
    match word {
        "import" => python_import(&code["import".len()..]),
        "from" => code.contains(" import ") && !code.contains(['"', '\'', '{']),
        "for" => block && code.contains(" in "),
        "with" | "while" | "try" | "else" | "finally" | "if" => block,
        "print" => {
            code.starts_with("print(f\"")
                || code.starts_with("print(f'")
                || code.starts_with("print \"")
        }
        "lambda" | "pass" => code == word || code.starts_with("lambda "),
        _ => false,
    }
}

/// `os`, `os.path as p`, `os, sys`: names and nothing else.
fn python_import(rest: &str) -> bool {
    let names = rest.trim();
    rest.starts_with(' ')
        && !names.is_empty()
        && names
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ' '))
        && !names.contains(" from ")
}

/// Judges a program that parses but whose every name is a shell command, such as `ls -la`, or that does
/// nothing but `print(...)`. `declared` says whether the program binds a name itself.
pub(crate) fn of_parsed(
    text: &str,
    body: &FunctionBody<'_>,
    declared: impl Fn(&str) -> bool,
) -> Option<Foreign> {
    if !body.directives.is_empty() {
        return None;
    }
    if let [Statement::ExpressionStatement(statement)] = body.statements.as_slice() {
        let mut names = Vec::new();
        let command = text
            .split_whitespace()
            .next()
            .unwrap_or("")
            .trim_end_matches(';');
        if command_words(&statement.expression, &mut names)
            && names.first().is_some_and(|name| {
                COMMANDS.contains(&name.as_str()) && command.starts_with(name.as_str())
            })
            && !names.iter().any(|name| declared(name))
        {
            return Some(Foreign::Shell);
        }
    }
    let first = text.trim_start();
    if here_document(text)
        && shell_line(first.lines().next().unwrap_or(""))
        && !declared(first_word(first))
    {
        return Some(Foreign::Shell);
    }
    let plain = body.statements.iter().all(python_statement);
    let prints = body.statements.iter().any(is_print);
    (plain && prints && !declared("print") && !text.contains(';')).then_some(Foreign::Python)
}

/// Collects the names of an expression made only of names, `-`, `|`, `&&`, `||`, `/`, `<`, `>`, `.` and words.
fn command_words(expression: &Expression<'_>, names: &mut Vec<String>) -> bool {
    match expression {
        Expression::Identifier(name) => {
            names.push(name.name.to_string());
            true
        }
        Expression::NumericLiteral(_) | Expression::StringLiteral(_) => !names.is_empty(),
        Expression::UnaryExpression(unary) => {
            unary.operator.is_arithmetic() && command_words(&unary.argument, names)
        }
        Expression::BinaryExpression(binary) => {
            let piped = matches!(
                binary.operator,
                BinaryOperator::Subtraction
                    | BinaryOperator::BitwiseOR
                    | BinaryOperator::Division
                    | BinaryOperator::LessThan
                    | BinaryOperator::GreaterThan
            );
            piped && command_words(&binary.left, names) && command_words(&binary.right, names)
        }
        Expression::LogicalExpression(logical) => {
            command_words(&logical.left, names) && command_words(&logical.right, names)
        }
        _ => false,
    }
}

fn python_statement(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else {
        return false;
    };
    match &statement.expression {
        Expression::CallExpression(call) => matches!(call.callee, Expression::Identifier(_)),
        Expression::AssignmentExpression(assignment) => !matches!(
            assignment.right,
            Expression::ArrowFunctionExpression(_)
                | Expression::AwaitExpression(_)
                | Expression::NewExpression(_)
        ),
        _ => false,
    }
}

fn is_print(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else {
        return false;
    };
    let Expression::CallExpression(call) = &statement.expression else {
        return false;
    };
    matches!(&call.callee, Expression::Identifier(name) if name.name == "print")
}
