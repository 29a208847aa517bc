//! Hooks around `exec` itself: what they see, and what they may change.
//!
//! `code` and `command` mirror each other: whatever a hook does to one is done to both, so no hook
//! can be passed by looking at the other name. Hooks around the tools that a cell calls are the
//! executor's business.

use async_trait::async_trait;
use codecell_protocol::Language;

use crate::scope::RunContext;

/// The `toolKind` of the event.
pub const EXEC_TOOL_KIND: &str = "code_mode_exec";

/// An `exec` that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecEvent {
    /// Always [`EXEC_TOOL_KIND`].
    pub tool_kind: &'static str,
    /// `javascript` or `typescript`.
    pub tool_input_kind: &'static str,
    /// The program under its own name.
    pub code: String,
    /// The program under its other name; equal to `code` before each hook.
    pub command: String,
}

impl ExecEvent {
    pub(crate) fn new(code: String, language: Option<Language>) -> Self {
        Self {
            tool_kind: EXEC_TOOL_KIND,
            tool_input_kind: language.unwrap_or_default().as_str(),
            command: code.clone(),
            code,
        }
    }

    /// Makes both names say what the hook changed: the changed one wins, a blanked one blanks both.
    fn mirror(&mut self, before: &str) {
        let changed = if self.code == before {
            self.command.clone()
        } else {
            self.code.clone()
        };
        let is_blank = self.code.trim().is_empty() || self.command.trim().is_empty();
        self.code = if is_blank { String::new() } else { changed };
        self.command.clone_from(&self.code);
    }
}

/// One look-on at every `exec`.
#[async_trait]
pub trait ExecHook: Send + Sync {
    /// Looks at an `exec` before anything runs, and may change the program.
    ///
    /// # Errors
    /// A text for the model: the `exec` is refused with it.
    async fn before_exec(&self, event: &mut ExecEvent, ctx: &RunContext) -> Result<(), String>;
}

/// Runs the hooks in order and gives the program that is left; blank when one of them blanked it.
pub(crate) async fn run_hooks(
    hooks: &[std::sync::Arc<dyn ExecHook>],
    code: String,
    language: Option<Language>,
    ctx: &RunContext,
) -> Result<String, String> {
    if hooks.is_empty() {
        return Ok(code);
    }
    let mut event = ExecEvent::new(code, language);
    for hook in hooks {
        let before = event.code.clone();
        hook.before_exec(&mut event, ctx).await?;
        event.mirror(&before);
    }
    Ok(event.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_either_name_changes_both() {
        let cases = [
            ("b", "a", "b"),
            ("a", "b", "b"),
            ("", "a", ""),
            ("a", " ", ""),
            ("a", "a", "a"),
        ];
        for (code, command, expected) in cases {
            let mut event = ExecEvent::new("a".into(), None);
            (event.code, event.command) = (code.into(), command.into());
            event.mirror("a");
            assert_eq!(
                (event.code.as_str(), event.command.as_str()),
                (expected, expected)
            );
        }
    }
}
