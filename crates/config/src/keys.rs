//! The table of keys: every key that a configuration may have, with its type, default, clamp and
//! meaning.
//!
//! It is the one place where keys are listed. Checking, clamping, `config get`, the JSON Schema and
//! the documentation all read it. A key is one of three things: used, with a type; known to the
//! contract but not part of this program ([`Kind::Ignored`], accepted and named once at start); or
//! restricting rights in a way that this program does not enforce ([`Kind::Restricting`],
//! [`Kind::OnlyOpen`]), which refuses to start.

/// A key of an object.
#[derive(Debug)]
pub struct Key {
    /// The name.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What it is for, in one sentence; empty for keys that are not used.
    pub doc: &'static str,
}

/// The bounds of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clamp {
    /// What holds when the key is not set; `None` when it depends on the machine.
    pub default: Option<u64>,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    /// What is counted.
    pub unit: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum Kind {
    /// `true` or `false`, with its default.
    Flag(bool),
    /// `true`, `false` or one of these words.
    FlagOr(&'static [&'static str]),
    /// A whole number; outside its bounds it is clamped.
    Integer(Clamp),
    /// Any text.
    Text,
    /// One of these words, with the default if there is one.
    Choice(&'static [&'static str], Option<&'static str>),
    /// Some of these words, at least one; by default all.
    Choices(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// An object with these keys.
    Object(&'static [Key]),
    /// An object with these keys, or `true` or `false` for its `enabled`.
    FlagOrObject(&'static [Key]),
    /// An object with free keys and values of one kind.
    Map(&'static Kind),
    /// A list of values of one kind.
    List(&'static Kind),
    /// An MCP server: an object with the keys of [`SERVER`], one of `command` and `url` among them.
    Server,
    /// Anything; not looked at.
    Free,
    /// Known and not part of this program: accepted, not looked at, named once at start.
    Ignored,
    /// Restricts rights and is not enforced: refused. The text says what to do instead.
    Restricting(&'static str),
    /// As `Restricting`, except for these words, which restrict nothing.
    OnlyOpen(&'static [&'static str], &'static str),
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, doc }
}

const fn ignored(name: &'static str) -> Key {
    key(name, Kind::Ignored, "")
}

const fn number(
    name: &'static str,
    [default, min, max]: [u64; 3],
    unit: &'static str,
    doc: &'static str,
) -> Key {
    let default = Some(default);
    key(
        name,
        Kind::Integer(Clamp {
            default,
            min,
            max,
            unit,
        }),
        doc,
    )
}

/// A bound for the whole process whose default is a share of the machine's memory.
const fn of_machine(name: &'static str, doc: &'static str) -> Key {
    let clamp = Clamp {
        default: None,
        min: 1_048_576,
        max: 1_125_899_906_842_624,
        unit: "bytes",
    };
    key(name, Kind::Integer(clamp), doc)
}

/// `tools.codeMode`: all its keys with defaults and clamps.
pub const CODE_MODE: &[Key] = &[
    key(
        "enabled",
        Kind::FlagOr(&["auto"]),
        "Whether models see `exec` and `wait` instead of their tools; `\"auto\"` for the models that prefer it.",
    ),
    key(
        "runtime",
        Kind::Choice(&["quickjs-wasi"], Some("quickjs-wasi")),
        "The engine of cells.",
    ),
    key(
        "mode",
        Kind::Choice(&["only"], Some("only")),
        "What stands beside `exec` and `wait`: nothing.",
    ),
    key(
        "languages",
        Kind::Choices(&["javascript", "typescript"]),
        "The languages that cells may be written in.",
    ),
    number(
        "timeoutMs",
        [10_000, 100, 60_000],
        "ms",
        "Wall clock of one `exec` or `wait`.",
    ),
    number(
        "memoryLimitBytes",
        [67_108_864, 1_048_576, 1_073_741_824],
        "bytes",
        "What the engine may allocate for one cell.",
    ),
    number(
        "maxOutputBytes",
        [65_536, 1_024, 10_485_760],
        "bytes",
        "Value, output and error of a result together, as UTF-8.",
    ),
    number(
        "maxSnapshotBytes",
        [10_485_760, 1_024, 268_435_456],
        "bytes",
        "The raw difference of a suspended cell to the image.",
    ),
    number(
        "maxPendingToolCalls",
        [16, 1, 128],
        "calls",
        "Tool calls of one cell in flight.",
    ),
    number(
        "snapshotTtlSeconds",
        [900, 1, 86_400],
        "s",
        "Idle time after which a suspended cell expires.",
    ),
    number(
        "searchDefaultLimit",
        [8, 1, 50],
        "hits",
        "Hits of a search that names no limit; at most `maxSearchLimit`.",
    ),
    number(
        "maxSearchLimit",
        [50, 1, 50],
        "hits",
        "The most hits of one search.",
    ),
    number(
        "maxSuspendedRuns",
        [64, 1, 1_000_000],
        "cells",
        "Suspended cells in one process.",
    ),
    key(
        "outputOverflow",
        Kind::Choice(&["fail", "truncate"], Some("fail")),
        "What becomes of output beyond `maxOutputBytes`.",
    ),
    number(
        "promptIndexChars",
        [8_000, 0, 65_536],
        "characters",
        "The index of tools in the description of `exec`.",
    ),
    number(
        "maxGuestMs",
        [30_000, 100, 600_000],
        "ms",
        "Guest processor time of one cell over all its legs.",
    ),
    number(
        "maxRunningCells",
        [64, 1, 4_096],
        "cells",
        "Cells that run at once in one process; more queue.",
    ),
    number(
        "approvalHoldMs",
        [30_000, 0, 600_000],
        "ms",
        "How long an answer is held back for a pending approval; unlimited on a terminal.",
    ),
    number(
        "approvalTtlSeconds",
        [86_400, 60, 604_800],
        "s",
        "How long a pending approval lives.",
    ),
    of_machine(
        "maxGuestMemoryBytes",
        "Memory of all guests in one process; by default half of the machine's.",
    ),
    of_machine(
        "maxSuspendedBytes",
        "Bytes of all suspended cells in one process; by default a quarter of the machine's memory.",
    ),
    key(
        "records",
        Kind::FlagOr(&["off", "on"]),
        "Whether replay records are kept, encrypted.",
    ),
    key(
        "snapshotStore",
        Kind::Object(SNAPSHOT_STORE),
        "Where suspended cells are kept when they are to outlive the process; by default nowhere.",
    ),
];

const SNAPSHOT_STORE: &[Key] = &[
    key(
        "kind",
        Kind::Choice(&["sqlite", "redis", "postgres"], None),
        "The kind of store.",
    ),
    key("path", Kind::Text, "The file of an sqlite store."),
    key(
        "url",
        Kind::Text,
        "The address of a Redis or PostgreSQL server.",
    ),
];

const EXEC: &[Key] = &[
    key(
        "askFallback",
        Kind::Choice(&["deny", "allowlist", "full"], Some("deny")),
        "The answer to an approval when nobody can be asked.",
    ),
    number(
        "timeoutMs",
        [120_000, 100, 3_600_000],
        "ms",
        "The time of a command that names none.",
    ),
    key(
        "mode",
        Kind::OnlyOpen(
            &["ask", "auto", "full"],
            "Put `exec` into tools.deny to forbid the shell.",
        ),
        "",
    ),
    key(
        "security",
        Kind::OnlyOpen(&["full"], "Put `exec` into tools.deny to forbid the shell."),
        "",
    ),
    key(
        "ask",
        Kind::OnlyOpen(
            &["off", "on-miss"],
            "Every command asks unless it is approved ahead; use --approve ask.",
        ),
        "",
    ),
    key(
        "host",
        Kind::OnlyOpen(
            &["auto", "gateway"],
            "Commands run on this machine; put `exec` into tools.deny to forbid them.",
        ),
        "",
    ),
    key(
        "applyPatch",
        Kind::Restricting("Put `apply_patch` into tools.deny to forbid it."),
        "",
    ),
    key(
        "strictInlineEval",
        Kind::Restricting("Put `exec` into tools.deny to forbid the shell."),
        "",
    ),
    ignored("backgroundMs"),
    ignored("cleanupMs"),
    ignored("node"),
    ignored("notifyOnExit"),
    ignored("pathPrepend"),
    ignored("safeBins"),
    ignored("timeoutSec"),
];

const WEB_FETCH: &[Key] = &[
    key(
        "allowHosts",
        Kind::Texts,
        "Hosts that are fetched from without asking, each `host`, `*.host` or `host:port`.",
    ),
    key(
        "allowPrivateNetwork",
        Kind::Flag(false),
        "Whether addresses of private networks may be fetched from.",
    ),
];

const USE_DENY: &str = "Say the same with tools.allow and tools.deny, then remove the key.";

const TOOLS: &[Key] = &[
    key("codeMode", Kind::FlagOrObject(CODE_MODE), "Code mode."),
    key(
        "allow",
        Kind::Texts,
        "Only these tools, groups and globs; an empty list means no tools on purpose.",
    ),
    key(
        "alsoAllow",
        Kind::Texts,
        "These in addition to the profile; not together with `allow`.",
    ),
    key(
        "deny",
        Kind::Texts,
        "None of these tools, groups and globs.",
    ),
    key(
        "profile",
        Kind::Choice(PROFILES, None),
        "A named set of tools.",
    ),
    key("exec", Kind::Object(EXEC), "The shell tool."),
    key("webFetch", Kind::Object(WEB_FETCH), "The `web_fetch` tool."),
    key("byProvider", Kind::Restricting(USE_DENY), ""),
    key("toolsBySender", Kind::Restricting(USE_DENY), ""),
    key("sandbox", Kind::Restricting(USE_DENY), ""),
    ignored("agentToAgent"),
    ignored("elevated"),
    ignored("fs"),
    ignored("links"),
    ignored("loopDetection"),
    ignored("media"),
    ignored("message"),
    ignored("sessions"),
    ignored("sessions_spawn"),
    ignored("subagents"),
    ignored("toolSearch"),
    ignored("web"),
];

const PROFILES: &[&str] = &["minimal", "coding", "messaging", "full"];

const AGENT_TOOLS: &[Key] = &[
    key(
        "codeMode",
        Kind::FlagOrObject(CODE_MODE),
        "Code mode for this agent; its fields replace the global ones.",
    ),
    key(
        "allow",
        Kind::Texts,
        "Only these tools, in addition to what the global rules say.",
    ),
    key(
        "alsoAllow",
        Kind::Texts,
        "These in addition to the profile; not together with `allow`.",
    ),
    key("deny", Kind::Texts, "None of these tools."),
    key(
        "profile",
        Kind::Choice(PROFILES, None),
        "The profile that replaces the global one.",
    ),
    key("byProvider", Kind::Restricting(USE_DENY), ""),
    key("toolsBySender", Kind::Restricting(USE_DENY), ""),
    key("sandbox", Kind::Restricting(USE_DENY), ""),
    key(
        "exec",
        Kind::Restricting("Set tools.exec for all agents instead."),
        "",
    ),
    key("fs", Kind::Ignored, ""),
    ignored("elevated"),
    ignored("loopDetection"),
    ignored("message"),
    ignored("toolSearch"),
];

const SANDBOX: &[Key] = &[
    key(
        "mode",
        Kind::OnlyOpen(
            &["off"],
            "Set it to \"off\", or run the whole program in a container.",
        ),
        "",
    ),
    ignored("backend"),
    ignored("browser"),
    ignored("docker"),
    ignored("perSession"),
    ignored("prune"),
    ignored("scope"),
    ignored("sessionToolsVisibility"),
    ignored("ssh"),
    ignored("workspaceAccess"),
    ignored("workspaceRoot"),
];

const MODEL: &[Key] = &[
    key(
        "codeMode",
        Kind::Flag(false),
        "Whether code mode is on for this model, before what the global key says.",
    ),
    ignored("alias"),
    ignored("params"),
    ignored("streaming"),
];

const AGENT_DEFAULTS: &[Key] = &[
    key(
        "models",
        Kind::Map(&Kind::Object(MODEL)),
        "Models by `provider/model`.",
    ),
    key(
        "sandbox",
        Kind::Object(SANDBOX),
        "Containers for runs; this program has none.",
    ),
    ignored("blockStreamingBreak"),
    ignored("blockStreamingChunk"),
    ignored("blockStreamingCoalesce"),
    ignored("blockStreamingDefault"),
    ignored("bootstrapMaxChars"),
    ignored("bootstrapTotalMaxChars"),
    ignored("cliBackends"),
    ignored("compaction"),
    ignored("contextPruning"),
    ignored("contextTokens"),
    ignored("elevatedDefault"),
    ignored("envelopeElapsed"),
    ignored("envelopeTimestamp"),
    ignored("envelopeTimezone"),
    ignored("heartbeat"),
    ignored("humanDelay"),
    ignored("imageModel"),
    ignored("llm"),
    ignored("maxConcurrent"),
    ignored("mediaMaxMb"),
    ignored("memorySearch"),
    ignored("model"),
    ignored("repoRoot"),
    ignored("skills"),
    ignored("skipBootstrap"),
    ignored("subagents"),
    ignored("thinkingDefault"),
    ignored("timeFormat"),
    ignored("timeoutSeconds"),
    ignored("typingIntervalSeconds"),
    ignored("typingMode"),
    ignored("userTimezone"),
    ignored("verboseDefault"),
    ignored("workspace"),
];

const AGENT: &[Key] = &[
    key("id", Kind::Text, "The agent's id."),
    key(
        "default",
        Kind::Flag(false),
        "Whether this agent is meant when none is named.",
    ),
    key(
        "tools",
        Kind::Object(AGENT_TOOLS),
        "The agent's own rules about tools.",
    ),
    key(
        "sandbox",
        Kind::Object(SANDBOX),
        "Containers for runs; this program has none.",
    ),
    ignored("agentDir"),
    ignored("groupChat"),
    ignored("heartbeat"),
    ignored("humanDelay"),
    ignored("identity"),
    ignored("memorySearch"),
    ignored("model"),
    ignored("name"),
    ignored("params"),
    ignored("runtime"),
    ignored("skills"),
    ignored("subagents"),
    ignored("thinkingDefault"),
    ignored("verboseDefault"),
    ignored("workspace"),
];

const AGENTS: &[Key] = &[
    key(
        "defaults",
        Kind::Object(AGENT_DEFAULTS),
        "What holds for all agents.",
    ),
    key("list", Kind::List(&Kind::Object(AGENT)), "The agents."),
];

const TOOL_FILTER: &[Key] = &[
    key(
        "include",
        Kind::Texts,
        "Only tools with these names; `*` is any run of characters.",
    ),
    key("exclude", Kind::Texts, "No tools with these names."),
];

/// `mcp.servers.<name>`: all its keys. Each server has `command` or `url`.
pub const SERVER: &[Key] = &[
    key(
        "command",
        Kind::Text,
        "The program to start: a path, or a name to be found in PATH.",
    ),
    key("args", Kind::Texts, "Its arguments."),
    key(
        "env",
        Kind::Map(&Kind::Text),
        "Variables of its environment; besides these it gets PATH, HOME and the like, and nothing else.",
    ),
    key(
        "cwd",
        Kind::Text,
        "The folder to start it in; by default the workspace.",
    ),
    key("url", Kind::Text, "The address of a server to reach."),
    key(
        "transport",
        Kind::Choice(&["stdio", "streamable-http", "sse"], None),
        "How it is spoken with; by default stdio with `command`, streamable-http with `url`.",
    ),
    key(
        "headers",
        Kind::Map(&Kind::Text),
        "Headers of every request.",
    ),
    key(
        "auth",
        Kind::Choice(&["oauth"], None),
        "How the server learns who asks, where a header is not enough: by a login, made with `codecell mcp login`.",
    ),
    key(
        "oauth",
        Kind::Object(OAUTH),
        "How the login is made, where the server does not say it all; goes with `auth: \"oauth\"`, and implies it.",
    ),
    server_number("timeout", [1, 86_400], "s", REQUEST_TIME),
    server_number("requestTimeoutMs", [100, 86_400_000], "ms", REQUEST_TIME),
    server_number("connectTimeout", [1, 3_600], "s", CONNECT_TIME),
    server_number("connectionTimeoutMs", [100, 3_600_000], "ms", CONNECT_TIME),
    key(
        "supportsParallelToolCalls",
        Kind::Flag(true),
        "Whether calls may overlap; with false they take turns.",
    ),
    key(
        "sslVerify",
        Kind::Flag(true),
        "Whether the server's certificate is checked.",
    ),
    key(
        "clientCert",
        Kind::Text,
        "The file of our certificate, in PEM form.",
    ),
    key(
        "clientKey",
        Kind::Text,
        "The file of its key, in PEM form; by default in the certificate's file.",
    ),
    key(
        "toolFilter",
        Kind::Object(TOOL_FILTER),
        "Which of its tools exist.",
    ),
    key(
        "enabled",
        Kind::Flag(true),
        "Whether the server is used at all.",
    ),
];

const OAUTH: &[Key] = &[
    key(
        "clientId",
        Kind::Text,
        "Our id at the authorization server; by default we register at each login.",
    ),
    key(
        "clientSecret",
        Kind::Text,
        "The secret that goes with it, if there is one.",
    ),
    key(
        "scope",
        Kind::Text,
        "The scopes to ask for, separated by blanks; by default those that the server names.",
    ),
    key(
        "callbackPort",
        Kind::Integer(Clamp {
            default: None,
            min: 1,
            max: 65_535,
            unit: "port",
        }),
        "The port of `http://127.0.0.1:PORT/callback`, to which the browser comes back; by default a free one.",
    ),
];

const REQUEST_TIME: &str = "How long one request may take; by default 60 s.";
const CONNECT_TIME: &str = "How long starting and listing may take; by default 30 s.";

/// A bound of one server that is left open where it is not set.
const fn server_number(
    name: &'static str,
    [min, max]: [u64; 2],
    unit: &'static str,
    doc: &'static str,
) -> Key {
    let clamp = Clamp {
        default: None,
        min,
        max,
        unit,
    };
    key(name, Kind::Integer(clamp), doc)
}

const MCP: &[Key] = &[
    key("servers", Kind::Map(&Kind::Server), "MCP servers by name."),
    number(
        "sessionIdleTtlMs",
        [600_000, 0, 86_400_000],
        "ms",
        "How long a server that nobody calls stays up; 0 keeps it up.",
    ),
];

/// The whole configuration.
pub const ROOT: Kind = Kind::Object(&[
    key(
        "$schema",
        Kind::Free,
        "The schema that an editor checks this file with.",
    ),
    key(
        "tools",
        Kind::Object(TOOLS),
        "Tools, their rules and code mode.",
    ),
    key("mcp", Kind::Object(MCP), "MCP servers."),
    key("agents", Kind::Object(AGENTS), "Agents."),
    ignored("acp"),
    ignored("approvals"),
    ignored("audio"),
    ignored("auth"),
    ignored("bindings"),
    ignored("broadcast"),
    ignored("browser"),
    ignored("canvasHost"),
    ignored("channels"),
    ignored("cli"),
    ignored("commands"),
    ignored("cron"),
    ignored("diagnostics"),
    ignored("discovery"),
    ignored("env"),
    ignored("gateway"),
    ignored("hooks"),
    ignored("logging"),
    ignored("media"),
    ignored("memory"),
    ignored("messages"),
    ignored("meta"),
    ignored("models"),
    ignored("nodeHost"),
    ignored("nodes"),
    ignored("plugins"),
    ignored("secrets"),
    ignored("session"),
    ignored("skills"),
    ignored("talk"),
    ignored("ui"),
    ignored("update"),
    ignored("web"),
    ignored("wizard"),
]);

/// The key of a list with this name.
pub(crate) fn find(keys: &'static [Key], name: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.name == name)
}

impl Kind {
    /// The keys of an object, if this is one.
    pub(crate) fn keys(&self) -> Option<&'static [Key]> {
        match self {
            Self::Object(keys) | Self::FlagOrObject(keys) => Some(keys),
            Self::Server => Some(SERVER),
            _ => None,
        }
    }
}
