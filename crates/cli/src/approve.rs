//! Approvals and forms on the terminal: one question at a time, everything that is shown made visible.
//!
//! A person is asked only when stdin or stderr is a terminal: otherwise nobody is looking. What is
//! shown is the very input that is dispatched after a yes. Everything but a clear yes is a no.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use codecell_catalog::ToolId;
use codecell_tools::approval::{FormAnswer, FormRequest, escape_for_display};
use codecell_tools::{ApprovalRequest, Approver, Decision};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{QueueSelector, tcflush};

use crate::escape::{self, visible_line};
use crate::fill;
use crate::render::json;
use crate::streams::Streams;

/// Lines of arguments that a question shows at first.
const SHOWN_LINES: usize = 24;
/// Characters of arguments that a question shows at first.
const SHOWN_CHARS: usize = 2_000;
/// Answers that are no answer before the question counts as denied.
pub(crate) const MAX_UNCLEAR_ANSWERS: usize = 5;
/// The longest line that is read from a terminal, in bytes.
const MAX_ANSWER_BYTES: usize = 4096;

/// What to do when nobody could be asked about a change.
const MISSED_CHANGE: &str = "a tool that changes things had to be approved, and there is no terminal to ask on; \
    run the command again with --approve always to allow it";

/// What to do when nobody could be asked about a site.
const MISSED_SITE: &str = "web_fetch only reads, but asks once for each site, and there is no terminal to ask on; \
    add the site's host to tools.webFetch.allowHosts in the configuration, or run the command again with --approve always";

/// Whether this tool, though it only reads, asks about every site that it has not asked about.
pub(crate) fn asks_per_site(tool: &ToolId) -> bool {
    tool.as_str() == "openclaw:core:web_fetch"
}

/// Asks the person at the terminal.
pub(crate) struct TerminalApprover {
    streams: Arc<Streams>,
    missed_change: AtomicBool,
    missed_site: AtomicBool,
}

impl TerminalApprover {
    /// An approver for the terminal of this process, if it has one.
    pub(crate) fn new(streams: Arc<Streams>) -> Self {
        Self {
            streams,
            missed_change: AtomicBool::new(false),
            missed_site: AtomicBool::new(false),
        }
    }

    /// What to do about the questions that there was nobody to ask.
    pub(crate) fn advice(&self) -> impl Iterator<Item = &'static str> {
        [
            (&self.missed_change, MISSED_CHANGE),
            (&self.missed_site, MISSED_SITE),
        ]
        .into_iter()
        .filter(|(missed, _)| missed.load(Ordering::Relaxed))
        .map(|(_, text)| text)
    }

    /// Asks at the terminal, on a thread that may wait; `None` when there is none.
    async fn at_terminal<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut Terminal) -> T + Send + 'static,
    ) -> Option<T> {
        let (woken, waker) = io::pipe().ok()?;
        let file = self.streams.can_ask().then(open_terminal).flatten()?;
        let _hold = self.streams.hold_progress();
        let mut terminal = Terminal { file, woken };
        let asked = tokio::task::spawn_blocking(move || ask(&mut terminal));
        let answer = asked.await.ok()?;
        // Dropped earlier when the call is aborted: the thread that reads then stops.
        drop(waker);
        Some(answer)
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn ask(&self, request: &ApprovalRequest) -> Decision {
        let question = Question::of(request);
        let asked = self.at_terminal(move |terminal| terminal.decide(&question));
        let decision = asked.await.unwrap_or(Decision::Unavailable);
        if decision == Decision::Unavailable {
            let missed = if asks_per_site(&request.tool) {
                &self.missed_site
            } else {
                &self.missed_change
            };
            missed.store(true, Ordering::Relaxed);
        }
        decision
    }

    async fn fill(&self, request: &FormRequest) -> FormAnswer {
        let request = request.clone();
        let asked = self.at_terminal(move |terminal| fill::at(terminal, &request));
        asked.await.unwrap_or(FormAnswer::Unavailable)
    }
}

/// A question as it is shown.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    heading: String,
    arguments: String,
    covers: String,
    in_cell: bool,
}

impl Question {
    fn of(request: &ApprovalRequest) -> Self {
        Self {
            heading: format!(
                "{} wants to run: it {}",
                visible_line(request.tool.as_str()),
                visible_line(&request.need.reason)
            ),
            arguments: json::indent(&escape_for_display(request.input.text())),
            covers: visible_line(&request.need.covers),
            in_cell: request.cell_id.is_some(),
        }
    }

    /// The question with its arguments, cut to a readable size unless `whole`.
    fn text(&self, whole: bool) -> String {
        let cut = escape::cut(
            &self.arguments,
            if whole { usize::MAX } else { SHOWN_LINES },
            if whole { usize::MAX } else { SHOWN_CHARS },
        );
        let mut text = format!("\n{}\n", self.heading);
        for line in cut.shown.lines() {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        }
        if cut.hidden_chars > 0 {
            text.push_str(&format!(
                "  … {} more characters: answer v to see them\n",
                cut.hidden_chars
            ));
        }
        text
    }

    fn choices(&self) -> String {
        let cell = if self.in_cell {
            "  [c] for this cell"
        } else {
            ""
        };
        format!(
            "Allow?  [y] once{cell}  [t] {}  [n] no, because ...  > ",
            self.covers
        )
    }

    /// What an answer means; `None` when it is unclear.
    fn judge(&self, answer: &str) -> Option<Answer> {
        let answer = answer.trim();
        let (word, rest) = answer
            .split_once(char::is_whitespace)
            .unwrap_or((answer, ""));
        Some(match word.to_ascii_lowercase().as_str() {
            "y" | "yes" if rest.is_empty() => Answer::Decided(Decision::Once),
            "c" if self.in_cell && rest.is_empty() => Answer::Decided(Decision::ThisCell),
            "t" if rest.is_empty() => Answer::Decided(Decision::ThisTool),
            "v" => Answer::ShowAll,
            "" => Answer::Decided(Decision::Deny { reason: None }),
            "n" | "no" => {
                let reason = rest.trim().trim_start_matches("because").trim();
                let reason = (!reason.is_empty()).then(|| visible_line(reason));
                Answer::Decided(Decision::Deny { reason })
            }
            _ => return None,
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Decided(Decision),
    ShowAll,
}

fn open_terminal() -> Option<File> {
    let mut options = File::options();
    options.read(true).write(true).open("/dev/tty").ok()
}

/// The terminal of this process, opened for one question.
struct Terminal {
    file: File,
    /// Closed when nobody waits for the answer any more.
    woken: io::PipeReader,
}

/// A person at a terminal.
pub(crate) trait Person {
    /// Forgets what was typed before the question was seen: it is no answer to it.
    fn forget_typed(&mut self);

    /// Shows a text.
    fn write(&mut self, text: &str) -> io::Result<()>;

    /// One line; `None` at the end of input, on an error, or when nobody waits for it any more.
    fn read_line(&mut self) -> Option<String>;
}

impl Terminal {
    /// Asks until there is an answer, the terminal is gone, or nobody waits any more.
    fn decide(&mut self, question: &Question) -> Decision {
        let denied = Decision::Deny { reason: None };
        self.forget_typed();
        if self.write(&question.text(false)).is_err() {
            return Decision::Unavailable;
        }
        for _ in 0..MAX_UNCLEAR_ANSWERS {
            if self.write(&question.choices()).is_err() {
                return Decision::Unavailable;
            }
            let Some(line) = self.read_line() else {
                return denied;
            };
            match question.judge(&line) {
                Some(Answer::Decided(decision)) => return decision,
                Some(Answer::ShowAll) => {
                    let _ = self.write(&question.text(true));
                }
                None => {
                    let _ = self.write("Please answer with one of the letters.\n");
                }
            }
        }
        denied
    }
}

impl Person for Terminal {
    fn forget_typed(&mut self) {
        let _ = tcflush(&self.file, QueueSelector::IFlush);
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())
    }

    fn read_line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let mut block = [0u8; 256];
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(self.file.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return None,
                Ok(_) if !fds[1].revents().is_empty() => return None,
                Ok(_) => {}
            }
            let count = self.file.read(&mut block).ok().filter(|count| *count > 0)?;
            line.extend_from_slice(&block[..count]);
            if line.ends_with(b"\n") {
                return String::from_utf8(line).ok();
            }
            if line.len() > MAX_ANSWER_BYTES {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codecell_tools::{ApprovalNeed, ToolInput};
    use serde_json::json;

    fn request(input: serde_json::Value) -> ApprovalRequest {
        ApprovalRequest {
            call_id: "1".into(),
            tool: codecell_catalog::ToolId::parse("openclaw:core:write").unwrap(),
            input: ToolInput::new(input),
            need: ApprovalNeed {
                key: "call".into(),
                reason: "can change things outside the sandbox".into(),
                covers: "every call of write".into(),
                asked_once: false,
            },
            agent_id: "main".into(),
            session_key: "s".into(),
            run_id: "r".into(),
            cell_id: Some("cm".into()),
            parent_call: None,
        }
    }

    #[test]
    fn nothing_in_the_arguments_steers_the_terminal() {
        let question = Question::of(&request(
            json!({"path": "a\u{1b}[2J\u{202e}b", "content": "x\ny"}),
        ));
        assert_eq!(
            question.text(false),
            "\nopenclaw:core:write wants to run: it can change things outside the sandbox\n  {\n    \
             \"path\": \"a\\u001b[2J\\u202eb\",\n    \"content\": \"x\\ny\"\n  }\n"
        );
    }

    #[test]
    fn long_arguments_are_cut_and_shown_whole_on_request() {
        let question = Question::of(&request(json!({"content": "z".repeat(5000)})));
        assert!(
            question
                .text(false)
                .contains("more characters: answer v to see them")
        );
        assert!(question.text(true).contains(&"z".repeat(5000)));
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let question = Question::of(&request(json!({})));
        let decided = |answer: &str| question.judge(answer);
        assert_eq!(decided("y\n"), Some(Answer::Decided(Decision::Once)));
        assert_eq!(decided("c\n"), Some(Answer::Decided(Decision::ThisCell)));
        assert_eq!(decided("T"), Some(Answer::Decided(Decision::ThisTool)));
        assert_eq!(decided("v"), Some(Answer::ShowAll));
        assert_eq!(
            decided("\n"),
            Some(Answer::Decided(Decision::Deny { reason: None }))
        );
        assert_eq!(
            decided("n because it is mine\n"),
            Some(Answer::Decided(Decision::Deny {
                reason: Some("it is mine".into())
            }))
        );
        for unclear in ["x", "yes please", "yn", "1"] {
            assert_eq!(decided(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn a_call_outside_of_a_cell_has_no_answer_for_its_cell() {
        let mut request = request(json!({}));
        request.cell_id = None;
        let question = Question::of(&request);
        assert_eq!(question.judge("c"), None);
        assert!(!question.choices().contains("[c]"));
    }
}
