//! The arguments of each command.

use clap::{Args, Subcommand, ValueEnum};
use codecell_protocol::Language;

/// `codecell exec`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell exec 'const r = await tools.grep({ pattern: \"TODO\" }); return r.matches.length'\n  codecell exec --approve always cleanup.ts",
    about = "Run one cell over the tools of this workspace",
    long_about = "Run one cell over the tools of this workspace.\n\n\
        The program is the body of an async function: `await` and `return` work at its top level. \
        The returned value goes to stdout, a string as it is and anything else as indented JSON; \
        what the program writes with `text`, `json` and `console` goes to stdout before it. \
        A `null` after such output is left out. Everything else goes to stderr.\n\n\
        The command goes on waiting until the cell ends, the deadline of `--timeout-ms` passes, or \
        you press Ctrl-C, which stops the cell and says which calls had effects."
)]
pub(crate) struct ExecArgs {
    /// The program, the file that holds it, or `-` for stdin
    ///
    /// An argument that names an existing file is that file; a single word that ends like a script
    /// (`job.js`, `job.ts`) and names no file is an error; anything else is the program itself.
    /// `-v` says what was chosen. A file that ends in `.ts` or `.mts` is TypeScript.
    #[arg(value_name = "CODE | FILE | -")]
    pub(crate) program: Option<String>,
    /// The program's language [default: JavaScript, or TypeScript when only that parses]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) language: Option<LanguageArg>,
    /// Give the whole command this many milliseconds; also the limit of one leg, up to a minute
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    pub(crate) timeout_ms: Option<u64>,
    /// Set a configuration key for this run, such as tools.codeMode.maxOutputBytes=1048576
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// What this run may do
    #[command(flatten)]
    pub(crate) rights: RightsArgs,
    /// Exit with code 3 when the first leg ends and calls are outstanding, instead of waiting
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Write what `codecell replay` needs to this new file: everything that the program saw, in the clear
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<std::path::PathBuf>,
}

/// Which tools there are: shared by the commands that look at the catalog.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Remove a tool from the catalog: a name, an id, a group or a glob
    #[arg(long, value_name = "TOOL")]
    pub(crate) deny: Vec<String>,
    /// Keep only these tools, of those that the configuration allows
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<String>,
}

/// Who may do what: shared by the commands that call tools.
#[derive(Debug, Clone, Args)]
pub(crate) struct RightsArgs {
    /// Which tools there are.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Before a tool changes anything: `ask` on the terminal, `never` do it, or `always` go ahead
    #[arg(long, value_enum, default_value_t = ApproveMode::Ask, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) approve: ApproveMode,
}

/// Who answers questions about tools that change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveMode {
    /// Ask on the terminal; without one the configured fallback answers, by default a refusal.
    Ask,
    /// Refuse.
    Never,
    /// Go ahead, within what the configuration allows.
    Always,
}

/// A cell's language, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LanguageArg {
    /// JavaScript.
    #[value(alias = "js")]
    Javascript,
    /// TypeScript.
    #[value(alias = "ts")]
    Typescript,
}

impl From<LanguageArg> for Language {
    fn from(arg: LanguageArg) -> Self {
        match arg {
            LanguageArg::Javascript => Self::JavaScript,
            LanguageArg::Typescript => Self::TypeScript,
        }
    }
}

/// `codecell wait`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell wait cm_0f8fad5b-d9cb-469f-a165-70867728950e\n  codecell wait cm_0f8fad5b-d9cb-469f-a165-70867728950e --json",
    about = "Resume a suspended cell",
    long_about = "Resume a suspended cell.\n\n\
        With `tools.codeMode.snapshotStore` configured, a suspended cell outlives the command that \
        started it; this one goes on with it, in the same workspace and for the same agent, with the \
        tools, rules and limits of now. A cell whose process died is brought back to where it was: \
        calls that were under way count as unknown. Without a store this command says how to run the \
        cell to its end instead."
)]
pub(crate) struct WaitArgs {
    /// The `runId` of a waiting result
    #[arg(value_name = "CELL_ID")]
    pub(crate) cell_id: String,
    /// Give the result that followed this suspension (its `seq`), again if it was given before
    #[arg(long, value_name = "SEQ")]
    pub(crate) after: Option<u64>,
    /// What this run may do
    #[command(flatten)]
    pub(crate) rights: RightsArgs,
    /// Exit with code 3 when the leg ends and calls are outstanding, instead of waiting
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `codecell replay`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell replay cell.record\n  codecell replay cell.record --until 3 --fork",
    about = "Run a recorded cell again without calling any tool",
    long_about = "Run a recorded cell again without calling any tool.\n\n\
        `codecell exec --record FILE` writes the record. The program gets the same random numbers, \
        clock and results in the same order, and has to do the same: a difference is an error. \
        A fork goes on with real calls where the record, or the part that `--until` keeps, ends."
)]
pub(crate) struct ReplayArgs {
    /// The record
    #[arg(value_name = "RECORD")]
    pub(crate) record: std::path::PathBuf,
    /// Deliver only this many results of calls, then stop
    #[arg(long, value_name = "N")]
    pub(crate) until: Option<u64>,
    /// Go on from there with real calls
    #[arg(long)]
    pub(crate) fork: bool,
    /// What a fork may do
    #[command(flatten)]
    pub(crate) rights: RightsArgs,
}

/// `codecell tools`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell tools\n  codecell tools search \"read a file\" --json",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct ToolsArgs {
    /// What to do; `list` if left out.
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
}

/// What can be done with the catalog.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that a cell can call
    #[command(
        before_help = "Examples:\n  codecell tools list\n  codecell tools list --deny group:fs --json"
    )]
    List {
        /// Restrict the catalog.
        #[command(flatten)]
        filter: FilterArgs,
    },
    /// Search the catalog as `tools.search` in a cell does
    #[command(
        before_help = "Examples:\n  codecell tools search \"replace text in a file\"\n  codecell tools search grep --limit 3 --json"
    )]
    Search {
        /// Words to look for; several arguments are several queries
        #[arg(value_name = "QUERY", required = true)]
        query: Vec<String>,
        /// How many tools to show [default: tools.codeMode.searchDefaultLimit]
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Show one tool with the schemas of its input and output
    #[command(
        before_help = "Examples:\n  codecell tools describe read\n  codecell tools describe openclaw:core:grep --json"
    )]
    Describe {
        /// The tool's id or unambiguous name
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Call one tool and print its value
    #[command(
        before_help = "Examples:\n  codecell tools call grep '{\"pattern\": \"TODO\"}'\n  codecell tools call write '{\"path\": \"note.txt\", \"content\": \"hi\"}' --approve always"
    )]
    Call {
        /// The tool's id or unambiguous name
        #[arg(value_name = "ID")]
        id: String,
        /// The arguments as one JSON object, or `-` for stdin [default: {}]
        #[arg(value_name = "JSON")]
        input: Option<String>,
        /// What this call may do.
        #[command(flatten)]
        rights: RightsArgs,
    },
}

/// `codecell api`.
#[derive(Debug, Args)]
#[command(before_help = "Examples:\n  codecell api\n  codecell api mcp/index.d.ts")]
pub(crate) struct ApiArgs {
    /// The file to print; without it, the list of files
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<String>,
}

/// `codecell config`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell config get tools.codeMode\n  codecell config set tools.codeMode.timeoutMs 30000",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What can be done with the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective value of a key, or of everything
    #[command(
        before_help = "Examples:\n  codecell config get\n  codecell config get tools.codeMode.timeoutMs --json"
    )]
    Get {
        /// The key's path, such as tools.codeMode.timeoutMs
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
    /// Change one key in the configuration file, and keep the rest of it as it is
    #[command(
        before_help = "Examples:\n  codecell config set tools.codeMode.timeoutMs 30000\n  codecell config set tools.deny '[\"web_fetch\"]'"
    )]
    Set {
        /// The key's path
        #[arg(value_name = "KEY")]
        key: String,
        /// The value, as JSON5; a text that is no JSON5 is taken as a string
        #[arg(value_name = "VALUE", allow_negative_numbers = true)]
        value: String,
    },
    /// Check a configuration file
    #[command(
        before_help = "Examples:\n  codecell config validate\n  codecell config validate ./codecell.json --json"
    )]
    Validate {
        /// The file [default: the one that the other commands would read]
        #[arg(value_name = "FILE")]
        file: Option<std::path::PathBuf>,
    },
    /// Print the JSON Schema of the configuration
    #[command(
        before_help = "Examples:\n  codecell config schema\n  codecell config schema > codecell.schema.json"
    )]
    Schema,
}

/// `codecell doctor`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell doctor\n  codecell doctor --json",
    about = "Check engine, configuration and this machine",
    long_about = "Check engine, configuration and this machine.\n\n\
        Every line says what was found and, where something is wrong, what to do. \
        The exit code is 1 when something is broken."
)]
pub(crate) struct DoctorArgs {}

/// `codecell completions`.
#[derive(Debug, Args)]
#[command(
    before_help = "Examples:\n  codecell completions bash > ~/.local/share/bash-completion/completions/codecell\n  codecell completions fish > ~/.config/fish/completions/codecell.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: CompletionShell,
}

/// A shell that completions exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
}
