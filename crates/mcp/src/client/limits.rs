//! Every bound of the client, in one table.
//!
//! A server is a stranger: whatever it sends is counted before it is kept. The bounds are generous
//! for servers that mean well, and small enough that one that does not costs a known amount.

use std::time::Duration;

/// What one server may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// One message of a server, as JSON text. Source: the contract's limit of one bridge message.
    pub max_message_bytes: usize,
    /// What is kept of a line that is no message, and of a process's stderr, for errors.
    pub max_noise_bytes: usize,
    /// What a process may write between two messages without ever sending one.
    pub max_skipped_bytes: usize,
    /// Tools of one server; more are left out.
    pub max_tools: usize,
    /// Pages of one list.
    pub max_pages: usize,
    /// All pages of one list together, as JSON text.
    pub max_list_bytes: usize,
    /// The definition of one tool, as JSON text; a larger one leaves the tool out.
    pub max_tool_bytes: usize,
    /// Calls of one server in flight; more wait for their turn.
    pub max_calls: usize,
    /// Questions to a person in one call, and rounds of one request.
    pub max_questions: usize,
    /// What a server has us give back with an answer to its question.
    pub max_state_bytes: usize,
    /// Notifications of one server that are looked at in one second; more are dropped.
    pub max_notifications_per_second: u32,
    /// How long a process may take to end after its stdin was closed, and again after `SIGTERM`.
    pub stop_patience: Duration,
    /// The first pause after a failed start; it doubles with each further failure.
    pub first_pause: Duration,
    /// The longest pause after failed starts.
    pub max_pause: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            max_message_bytes: 16 * MIB,
            max_noise_bytes: 8 * 1024,
            max_skipped_bytes: 64 * MIB,
            max_tools: 2_000,
            max_pages: 500,
            max_list_bytes: 32 * MIB,
            max_tool_bytes: MIB,
            max_calls: 64,
            max_questions: 10,
            max_state_bytes: MIB,
            max_notifications_per_second: 200,
            stop_patience: Duration::from_millis(500),
            first_pause: Duration::from_millis(250),
            max_pause: Duration::from_secs(30),
        }
    }
}
