//! The order in which a text is judged: size, wrapping, nesting, grammar, modules, types, shape.
//!
//! Each step sees only texts that the steps before it let through, and each refusal carries the place in
//! the text that was sent.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;

use crate::calls::{self, ToolCalls};
use crate::envelope::{self, Envelope};
use crate::error::ScriptError;
use crate::options::{Language, PrepareOptions};
use crate::parse::{self, Refusal};
use crate::prepared::Prepared;
use crate::shape::{self, Shape};
use crate::survey::{Access, Survey};
use crate::{foreign, nesting, source, stack, typescript};

/// Turns the text of one `exec` call into a checked program.
///
/// The language is, in this order: `options.language`, the `// @exec:` line, the word after a Markdown
/// fence, JavaScript; if none of the first two names one and the text parses as TypeScript only, TypeScript.
///
/// # Errors
/// See [`ScriptError`]; nothing of the text has run.
pub fn prepare(text: &str, options: &PrepareOptions) -> Result<Prepared, ScriptError> {
    if text.len() > options.max_source_bytes {
        return Err(ScriptError::TooLarge {
            bytes: text.len(),
            max: options.max_source_bytes,
        });
    }
    let envelope = envelope::open(text)?;
    let choice = Choice::of(options, &envelope)?;
    nesting::check(&envelope.body).map_err(|excess| too_nested(text, excess))?;
    let work = || {
        Preparation {
            text,
            body: &envelope.body,
            choice,
        }
        .run()
    };
    let judged = stack::with_room(&envelope.body, options.free_stack_bytes, work)
        .unwrap_or_else(|| Err(no_room(text, options)))?;
    Ok(Prepared {
        directive: envelope.directive,
        warnings: envelope.warnings,
        ..judged
    })
}

fn too_nested(text: &str, excess: nesting::Excess) -> ScriptError {
    ScriptError::TransformLimit {
        what: excess.what,
        max: excess.max,
        at: source::place(text, excess.offset),
    }
}

fn no_room(text: &str, options: &PrepareOptions) -> ScriptError {
    let what = "needs more memory to be parsed than the system gives";
    ScriptError::TransformLimit {
        what,
        max: options.max_source_bytes,
        at: source::place(text, 0),
    }
}

/// Which languages a text may be taken for.
#[derive(Debug, Clone, Copy)]
struct Choice {
    first: Language,
    /// TypeScript may be tried when JavaScript does not parse.
    infer: bool,
}

impl Choice {
    fn of(options: &PrepareOptions, envelope: &Envelope) -> Result<Self, ScriptError> {
        let named = options.language.or(envelope.directive.language);
        let allowed = options.allowed;
        let fallback = if allowed.javascript {
            Language::JavaScript
        } else {
            Language::TypeScript
        };
        let first = named
            .or(envelope.fence.filter(|fence| allowed.allows(*fence)))
            .unwrap_or(fallback);
        if !allowed.allows(first) {
            return Err(ScriptError::UnsupportedLanguage {
                language: first.to_string(),
                allowed,
            });
        }
        Ok(Self {
            first,
            infer: named.is_none() && allowed.typescript && first == Language::JavaScript,
        })
    }
}

/// A text on its way, on a stack with room enough.
struct Preparation<'t> {
    /// As it was sent; for frames.
    text: &'t str,
    /// The same without its wrapping, equally long.
    body: &'t str,
    choice: Choice,
}

impl Preparation<'_> {
    fn run(&self) -> Result<Prepared, ScriptError> {
        let allocator = Allocator::default();
        let wrapped = parse::wrap(self.body);
        let first = match parse::parse(&allocator, &wrapped, self.choice.first) {
            Ok(program) => return self.finish(program, self.choice.first, false),
            Err(refusal) => refusal,
        };
        let mut refusal = first;
        if self.choice.infer {
            match parse::parse(&allocator, &wrapped, Language::TypeScript) {
                Ok(program) => return self.finish(program, Language::TypeScript, true),
                // The parser that got further understood more of the text.
                Err(other) if other.offset > refusal.offset => refusal = other,
                Err(_) => {}
            }
        }
        if let Some(prepared) = self.anonymous_function() {
            return prepared;
        }
        Err(self.explain(refusal))
    }

    /// `function () {}` alone is no statement, but models send it as the whole program.
    fn anonymous_function(&self) -> Option<Result<Prepared, ScriptError>> {
        let start = &self.body[self.code_start()..];
        if !(start.starts_with("function") || start.starts_with("async")) {
            return None;
        }
        let languages = [self.choice.first, Language::TypeScript];
        languages[..1 + usize::from(self.choice.infer)]
            .iter()
            .find_map(|language| {
                let mut wrapped = parse::wrap_expression(self.body);
                if let Err(refusal) = parse::parse(&Allocator::default(), &wrapped, *language) {
                    let mut body = self.body.to_owned();
                    blank_semicolons(&mut body, refusal.offset);
                    wrapped = parse::wrap_expression(&body);
                }
                let allocator = Allocator::default();
                let program = parse::parse(&allocator, &wrapped, *language).ok()?;
                let function = matches!(shape::of(parse::body(program)?), Shape::Function { .. });
                function.then(|| self.finish(program, *language, *language != self.choice.first))
            })
    }

    /// Where the first token is, behind blanks and comments.
    fn code_start(&self) -> usize {
        typescript::scan::skip_trivia(self.body, 0)
    }

    /// Chooses the most useful of the errors that a text deserves.
    fn explain(&self, refusal: Refusal) -> ScriptError {
        let allocator = Allocator::default();
        let (module, alone) = parse::as_module(&allocator, self.body);
        if let Some(access) = Survey::of(module).module_access() {
            return self.module_access(access, access.offset as usize);
        }
        if let Some(what) = foreign::of_unparsable(self.body) {
            return foreign::refusal(what, self.body);
        }
        // Inside the wrapper a stray bracket is noticed late; alone it is noticed where it stands.
        let refusal = alone
            .filter(|alone| alone.offset < refusal.offset && closes_wrapper(self.body, alone))
            .unwrap_or(refusal);
        ScriptError::Syntax {
            message: self.more(refusal.message),
            at: source::place(self.text, refusal.offset),
        }
    }

    /// Adds to a parser's message what it cannot know.
    fn more(&self, message: String) -> String {
        if self
            .body
            .lines()
            .any(|line| line.trim_start().starts_with("```"))
        {
            return format!(
                "{message}. Send only the program, without text around the Markdown fence"
            );
        }
        match nesting::unclosed(self.body).filter(|_| message == parse::ENDS_EARLY) {
            Some(open) => {
                let bracket = self.body[open..].chars().next().unwrap_or('{');
                let (line, column) = source::position(self.body, open);
                format!(
                    "{message}: the `{bracket}` of line {line}, column {column} is never closed"
                )
            }
            None => message,
        }
    }

    fn module_access(&self, access: &Access, offset: usize) -> ScriptError {
        ScriptError::ModuleAccess {
            what: access.what.clone(),
            advice: advice(access.module.as_deref()),
            at: source::place(self.text, offset),
        }
    }

    fn finish<'a>(
        &self,
        program: &'a Program<'a>,
        language: Language,
        inferred: bool,
    ) -> Result<Prepared, ScriptError> {
        let survey = Survey::of(program);
        if let Some(access) = survey.module_access() {
            return Err(self.module_access(access, parse::shift(access.offset)));
        }
        if let Some(offset) = survey
            .decorator
            .filter(|_| language == Language::JavaScript)
        {
            let message = "decorators are not supported; call the function around the class or method instead".to_owned();
            return Err(ScriptError::Syntax {
                message,
                at: source::place(self.text, parse::shift(offset)),
            });
        }
        let Some(body) = parse::body(program) else {
            return Err(ScriptError::Blank);
        };
        if let Some(what) = foreign::of_parsed(self.body, body, |name| survey.binds(name)) {
            return Err(foreign::refusal(what, self.body));
        }
        let mut code = match language {
            Language::JavaScript => blank_html_comments(self.body, program),
            Language::TypeScript => self.javascript(program)?,
        };
        let (prefix, suffix, functions) = match shape::of(body) {
            Shape::Statements => ("", "", 1),
            Shape::Function { end } => {
                blank_semicolons(&mut code, parse::shift(end));
                ("return await (", ")()", 2)
            }
        };
        Ok(Prepared {
            prefix: prefix.to_owned(),
            body: code,
            suffix: suffix.to_owned(),
            language,
            inferred,
            directive: crate::Directive::default(),
            warnings: Vec::new(),
            hint: shape::hint(body),
            calls: match survey.names_tools() {
                true => calls::of(program, &survey, functions),
                false => ToolCalls::default(),
            },
            uses: survey.uses(),
        })
    }

    /// The JavaScript of a TypeScript program, checked by parsing it once more.
    fn javascript<'a>(&self, program: &'a Program<'a>) -> Result<String, ScriptError> {
        let fail = |failure: typescript::Failure| ScriptError::TypeScript {
            message: failure.message,
            at: source::place(self.text, parse::shift(failure.offset)),
        };
        let wrapped = typescript::transform(program).map_err(fail)?;
        let allocator = Allocator::default();
        match parse::parse(&allocator, &wrapped, Language::JavaScript) {
            Ok(checked) => Ok(blank_html_comments(parse::unwrap(&wrapped), checked)),
            Err(refusal) => {
                let (line, column) = source::position(parse::unwrap(&wrapped), refusal.offset);
                let message = format!(
                    "this TypeScript cannot be turned into JavaScript: {}",
                    refusal.message
                );
                let at = crate::Place {
                    line,
                    column,
                    frame: source::frame(self.text, line, column),
                };
                Err(ScriptError::TypeScript { message, at })
            }
        }
    }
}

/// Turns a module of TypeScript into JavaScript; modules stay as they are. For tests of the transform.
///
/// # Errors
/// What does not parse or cannot be turned into JavaScript, in words.
#[doc(hidden)]
pub fn strip_types(text: &str) -> Result<String, String> {
    let allocator = Allocator::default();
    let (program, refusal) = parse::as_module(&allocator, text);
    if let Some(refusal) = refusal {
        return Err(refusal.message);
    }
    typescript::transform(program).map_err(|failure| failure.message)
}

fn advice(module: Option<&str>) -> String {
    let name = module.unwrap_or("").trim_start_matches("node:");
    let instead = match name.split('/').next().unwrap_or("") {
        "fs" | "path" | "glob" | "fast-glob" | "fs-extra" => {
            "use tools.read, tools.write, tools.find or tools.grep"
        }
        "child_process" | "execa" | "zx" => {
            "run commands through a shell tool, for example tools.exec"
        }
        "http" | "https" | "axios" | "node-fetch" | "undici" | "got" => {
            "fetch through a tool, for example tools.web_fetch"
        }
        "crypto" | "uuid" => "crypto.randomUUID() is a global",
        "url" => "URL and URLSearchParams are globals",
        "util" => "TextEncoder, TextDecoder and structuredClone are globals",
        "timers" => "setTimeout and clearTimeout are globals",
        _ => {
            "a cell has no modules; call tools instead (tools.search finds them) and return the result"
        }
    };
    instead.to_owned()
}

/// Whether an error of the text alone is about a bracket, so that the wrapper hid it.
fn closes_wrapper(body: &str, refusal: &Refusal) -> bool {
    body.as_bytes()
        .get(refusal.offset)
        .is_some_and(|byte| matches!(byte, b'}' | b')' | b']'))
}

/// Replaces semicolons behind a lone function by blanks, comments left alone.
fn blank_semicolons(code: &mut String, mut from: usize) {
    loop {
        from = typescript::scan::skip_trivia(code, from);
        if code.as_bytes().get(from) != Some(&b';') {
            return;
        }
        code.replace_range(from..=from, " ");
    }
}

/// Replaces `<!--` and `-->` comments by blanks, so that no engine can read them in another way.
fn blank_html_comments(body: &str, program: &Program<'_>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut done = 0;
    for comment in &program.comments {
        let (start, end) = (
            parse::shift(comment.span.start),
            parse::shift(comment.span.end),
        );
        let html = body
            .get(start..end)
            .is_some_and(|text| text.starts_with("<!--") || text.starts_with("-->"));
        if html && start >= done {
            out.push_str(&body[done..start]);
            envelope::push_blank(&mut out, &body[start..end]);
            done = end;
        }
    }
    out.push_str(&body[done..]);
    out
}
