//! `codecell tools`: the catalog as a person looks at it, and one call through the executor.

use std::io::Read as _;
use std::sync::Arc;

use codecell_catalog::{
    CompactEntry, Entry, Hit, Scope, SearchRequest, input_signature, output_signature,
};
use codecell_tools::{CallFailure, CallReport, CallRequest, EffectKind, NoProgress};
use serde::Serialize;
use serde_json::{Value, json};

use crate::approve::asks_per_site;
use crate::args::{ApproveMode, FilterArgs, RightsArgs, ToolsArgs, ToolsCommand};
use crate::compose::Base;
use crate::compose::runtime::{block_on, unavailable};
use crate::compose::settings::Settings;
use crate::compose::tooling::{Audience, Tooling, direct_context};
use crate::error::{CliError, Exit};
use crate::escape::{one_line, visible};
use crate::interrupt::Interrupts;
use crate::render::{json, table::table};
use crate::streams::style;

/// The longest arguments that are read from stdin, in bytes. Source: the limit of one bridge message.
const MAX_INPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The longest signature that a table shows, in characters.
const SHOWN_SIGNATURE_CHARS: usize = 160;

/// The longest description that a table shows, in characters.
const SHOWN_DESCRIPTION_CHARS: usize = 120;

/// Runs one of the subcommands.
pub(crate) fn run(base: &Base, args: ToolsArgs) -> Result<Exit, CliError> {
    match args.command.unwrap_or(ToolsCommand::List {
        filter: FilterArgs::default(),
    }) {
        ToolsCommand::List { filter } => list(base, &filter),
        ToolsCommand::Search { query, limit } => search(base, query, limit),
        ToolsCommand::Describe { id } => describe(base, &id),
        ToolsCommand::Call { id, input, rights } => call(base, &id, input.as_deref(), &rights),
    }
}

/// The catalog, to be looked at: the servers behind it are not needed any more.
fn open(base: &Base, filter: &FilterArgs) -> Result<(Settings, Tooling), CliError> {
    let settings = base.settings(&[])?;
    let tooling = block_on(async {
        let tooling = Tooling::build(
            base,
            &settings,
            filter,
            ApproveMode::Never,
            Audience::Person,
        )
        .await?;
        tooling.close_servers().await;
        Ok(tooling)
    })?;
    Ok((settings, tooling))
}

fn list(base: &Base, filter: &FilterArgs) -> Result<Exit, CliError> {
    let (_, tooling) = open(base, filter)?;
    let entries = tooling.set.catalog().entries();
    if base.streams.json() {
        let entries: Vec<CompactEntry<'_>> = entries.iter().map(Entry::compact).collect();
        base.streams.out_json(&entries)?;
        return Ok(Exit::Done);
    }
    let rows = entries.iter().map(|entry| {
        vec![
            visible(entry.name()),
            effect(&tooling, entry).to_owned(),
            one_line(first_sentence(&entry.description), SHOWN_DESCRIPTION_CHARS),
        ]
    });
    base.streams.out(&table(
        &["TOOL", "EFFECT", "WHAT IT DOES"],
        rows.collect(),
        base.streams.width(),
    ))?;
    base.streams
        .explain("codecell tools describe TOOL shows input and output");
    Ok(Exit::Done)
}

/// What a person has to know before a call: whether it asks.
fn effect(tooling: &Tooling, entry: &Entry) -> &'static str {
    let effect = tooling
        .set
        .get(&entry.id)
        .map(|tool| tool.definition().effect());
    if asks_per_site(&entry.id) {
        "asks per site"
    } else if effect == Some(EffectKind::Read) {
        "reads"
    } else {
        "asks first"
    }
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |at| &text[..=at])
}

/// A search result as `tools.search` in a cell gives it.
#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    entry: CompactEntry<'a>,
    input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

fn search(base: &Base, queries: Vec<String>, limit: Option<usize>) -> Result<Exit, CliError> {
    let (settings, tooling) = open(base, &FilterArgs::default())?;
    let options = &settings.agent.code_mode;
    let default = usize::try_from(options.search_default_limit()).unwrap_or(usize::MAX);
    let most = usize::try_from(options.max_search_limit()).unwrap_or(usize::MAX);
    let limit = limit.unwrap_or(default).clamp(1, most);
    let hits = tooling.set.catalog().search(&SearchRequest {
        queries,
        limit,
        scope: Scope::All,
    });
    if base.streams.json() {
        let found = |hit: &Hit<'_>| {
            serde_json::to_value(Found {
                entry: hit.entry.compact(),
                input: &hit.input,
                output: hit.output.as_deref(),
            })
        };
        let found: Result<Vec<Value>, _> = hits.iter().map(found).collect();
        base.streams
            .out_json(&found.map_err(|error| CliError::Output(error.into()))?)?;
        return Ok(Exit::Done);
    }
    if hits.is_empty() {
        base.streams
            .note("no tool fits; codecell tools lists them all");
    }
    for hit in &hits {
        base.streams.out(&hit_text(base, hit))?;
    }
    Ok(Exit::Done)
}

fn hit_text(base: &Base, hit: &Hit<'_>) -> String {
    let name = base
        .streams
        .styled(style::HEADING, visible(hit.entry.name()));
    format!(
        "{name} {}\n    {}\n",
        one_line(&hit.input, SHOWN_SIGNATURE_CHARS),
        one_line(
            first_sentence(&hit.entry.description),
            SHOWN_DESCRIPTION_CHARS
        )
    )
}

fn describe(base: &Base, id: &str) -> Result<Exit, CliError> {
    let (_, tooling) = open(base, &FilterArgs::default())?;
    let entry = tooling
        .set
        .catalog()
        .resolve_in(id, Scope::All)
        .map_err(|error| not_found(&error))?;
    if base.streams.json() {
        base.streams.out_json(&entry.describe())?;
    } else {
        base.streams.out(&description(base, &tooling, entry))?;
    }
    Ok(Exit::Done)
}

fn not_found(error: &dyn std::error::Error) -> CliError {
    CliError::NotFound {
        message: error.to_string(),
        hint: "codecell tools lists what there is, codecell tools search WORDS finds it".to_owned(),
    }
}

fn description(base: &Base, tooling: &Tooling, entry: &Entry) -> String {
    let heading = |text: &str| base.streams.styled(style::HEADING, text);
    let mut text = format!(
        "{}  ({}, {})\n{}\n\n{}\n  {}\n",
        heading(&visible(entry.name())),
        visible(entry.id.as_str()),
        effect(tooling, entry),
        visible(&entry.description),
        heading("Input"),
        visible(&input_signature(&entry.parameters)),
    );
    if let Some(output) = &entry.output_schema {
        text.push_str(&format!(
            "\n{}\n  {}\n",
            heading("Value"),
            visible(&output_signature(Some(output)))
        ));
    }
    text.push_str(&format!("\n{}\n", heading("Input schema")));
    text.push_str(&visible(&json::indent(&entry.parameters.to_string())));
    text.push('\n');
    text
}

fn call(base: &Base, id: &str, input: Option<&str>, rights: &RightsArgs) -> Result<Exit, CliError> {
    let args = arguments(input)?;
    let settings = base.settings(&[])?;
    let report = block_on(async {
        let tooling = Tooling::build(
            base,
            &settings,
            &rights.filter,
            rights.approve,
            Audience::Person,
        )
        .await?;
        let core = Arc::clone(&tooling.core);
        let interrupts = Interrupts::listen(Arc::clone(&base.streams), move || core.kill_all())
            .map_err(|error| unavailable("to listen for signals", &error))?;
        let mut ctx = direct_context(&settings);
        ctx.abort = interrupts.asked().clone();
        let request = CallRequest {
            call_id: "call-1".into(),
            tool: id.into(),
            scope: Scope::All,
            args,
            ctx,
        };
        let call = tooling
            .executor
            .call(&tooling.set, request, Arc::new(NoProgress));
        let report = tooling.activity.show_while(&base.streams, call).await;
        tooling.close_servers().await;
        Ok((report, interrupts.asked().is_cancelled(), tooling))
    });
    let (report, interrupted, tooling) = report?;
    if let Some(failure) = report.failure() {
        return Err(failed(&report, failure, interrupted, &tooling));
    }
    let value = report.value().unwrap_or_default();
    match &*value {
        Value::String(text) if !base.streams.json() => base.streams.out_foreign(text)?,
        value if base.streams.json() => base.streams.out_json(value)?,
        value => base
            .streams
            .out_foreign(&json::indent(&value.to_string()))?,
    }
    Ok(Exit::Done)
}

fn failed(
    report: &CallReport,
    failure: CallFailure,
    interrupted: bool,
    tooling: &Tooling,
) -> CliError {
    let advice = if let Some(advice) = tooling.approver.advice().next() {
        advice
    } else {
        match (report.effect, failure.effect_status) {
            (_, codecell_tools::CallState::NotStarted) => "",
            (EffectKind::Read, _) | (_, codecell_tools::CallState::Failed) => "nothing was changed",
            _ => "whether anything was changed is unknown: look before you call it again",
        }
    };
    CliError::Tool {
        message: failure.message,
        code: failure.code,
        hint: advice.to_owned(),
        interrupted,
    }
}

fn arguments(input: Option<&str>) -> Result<Value, CliError> {
    let text = match input {
        None => return Ok(json!({})),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin()
                .lock()
                .take(MAX_INPUT_BYTES)
                .read_to_string(&mut text);
            read.map_err(|error| wrong_input(&error.to_string()))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    let value: Value =
        serde_json::from_str(&text).map_err(|error| wrong_input(&error.to_string()))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(wrong_input("it is no object"))
    }
}

fn wrong_input(reason: &str) -> CliError {
    CliError::Argument {
        message: format!("the arguments are not one JSON object: {reason}"),
        hint: "write for example: codecell tools call read '{\"path\": \"README.md\"}'".to_owned(),
    }
}
