//! From the frames of one turn to calls: what the host answers itself, what goes to the executor,
//! what is refused.
//!
//! A turn is admitted or refused as a whole, before anything of it is dispatched. The guest's
//! words are names only: every id is looked up among the tools that the run may use.

use std::sync::Arc;
use std::time::Instant;

use codecell_catalog::{McpLookupError, ResolveError, Scope, ToolId};
use codecell_protocol::EffectKind;
use codecell_sandbox::Method;
use codecell_tools::toolset::LookupError;
use serde_json::value::RawValue;

use crate::calls::{Answer, HostCall, NewCall};
use crate::cell::effect_of;
use crate::durable::{self, Fate, Journal};
use crate::failure::CellError;
use crate::host_calls;
use crate::leg::Leg;
use crate::limits::QUEUED_CALLS;
use crate::mcp_api;
use crate::reply::Rejection;

/// A call as the guest made it.
pub(crate) struct GuestCall {
    pub(crate) id: u32,
    pub(crate) method: Method,
    pub(crate) target: Box<str>,
    pub(crate) arguments: Box<str>,
}

/// Takes in the calls of one turn.
///
/// # Errors
/// When the guest uses the id of a call that is outstanding: it is broken.
pub(crate) fn turn(
    leg: &mut Leg<'_>,
    turn: Vec<GuestCall>,
    refused: bool,
) -> Result<(), CellError> {
    if turn.is_empty() {
        return Ok(());
    }
    if let Some(recorded) = leg.body.tape.as_mut().and_then(|tape| tape.next_turn()) {
        return leg.replay_turn(turn, &recorded);
    }
    let journal = leg.cell.journal().cloned();
    // Replies to refused calls are stored with the turn that they belong to, or not at all.
    let _together = journal.as_deref().map(Journal::hold);
    let mut fates = Vec::new();
    let admitted = !refused && {
        let bytes = turn.iter().map(|call| call.arguments.len() as u64).sum();
        let to_tools = turn
            .iter()
            .filter(|call| call.method.goes_to_tool())
            .count();
        leg.cell.lock().calls.admits(to_tools, bytes)
    };
    leg.body.note_refused(!admitted);
    for call in turn {
        if leg.cell.lock().calls.is_live(call.id) {
            return Err(CellError::Internal("the engine used a call's id twice"));
        }
        let id = call.id;
        let fate = match admitted {
            true => one(leg, call),
            false => refuse(leg, &call, Rejection::too_many(QUEUED_CALLS)),
        };
        if journal.is_some() {
            fates.push((id, fate));
        }
    }
    if let Some(journal) = &journal {
        durable::note_turn(journal, !admitted, fates);
    }
    Ok(())
}

/// Counts a call that is made again as it was counted the first time.
pub(crate) fn count(leg: &Leg<'_>, method: Method, fate: &Fate) {
    let run = &leg.cell.run;
    match (fate, method) {
        (Fate::Tool { .. }, _) => run.count_call(),
        (Fate::Host, Method::Search | Method::ApiSearch) => run.count_search(),
        (Fate::Host, Method::Describe | Method::McpApi) => run.count_describe(),
        _ => {}
    }
}

/// Takes note of calls that a stopped guest has made: none of them is dispatched.
pub(crate) fn never_started(leg: &Leg<'_>, calls: &[GuestCall]) {
    let now_us = leg.cell.unix_us();
    for call in calls.iter().filter(|call| call.method.goes_to_tool()) {
        let rejection = Rejection::not_started(
            "aborted",
            "the cell was stopped before this call was made",
            None,
        );
        let (tool, effect) = named(leg, call);
        leg.cell
            .lock()
            .calls
            .refuse(call.id, &tool, effect, rejection, now_us);
    }
}

pub(crate) fn one(leg: &Leg<'_>, call: GuestCall) -> Fate {
    let run = &leg.cell.run;
    match call.method {
        Method::Search | Method::ApiSearch => run.count_search(),
        Method::Describe | Method::McpApi => run.count_describe(),
        _ => {}
    }
    if call.method.goes_to_tool() {
        return to_tool(leg, call);
    }
    let queued = HostCall {
        guest_id: call.id,
        method: call.method,
        target: call.target,
        arguments: call.arguments,
    };
    let now = leg.cell.services.now();
    leg.cell.lock().calls.enqueue_host(queued, now);
    Fate::Host
}

/// Answers calls that are the host's own business: as many as there is room for, no more than
/// `max_calls`, and none once the leg must not start guest code any more.
///
/// # Errors
/// When the cell is stopped, or has used up its processor time with these answers.
pub(crate) fn answer_host_calls(leg: &mut Leg<'_>, max_calls: u64) -> Result<(), CellError> {
    for _ in 0..max_calls {
        leg.check_stopped()?;
        if !leg.may_start() {
            return Ok(());
        }
        let Some(call) = leg.cell.lock().calls.next_for_host() else {
            return Ok(());
        };
        let before = Instant::now();
        let answer = host_answer(leg, &call);
        leg.charge(before.elapsed())?;
        let now_us = leg.cell.unix_us();
        leg.cell.lock().calls.answer(call.guest_id, answer, now_us);
    }
    Ok(())
}

/// Does what a program that has ended left to do: saving and deleting have effects, the rest has
/// nobody left to read it.
pub(crate) fn finish_host_calls(leg: &Leg<'_>) {
    while let Some(call) = leg.take_host_call() {
        if matches!(call.method, Method::ResultsSave | Method::ResultsDelete) {
            host_answer(leg, &call);
        }
    }
}

fn host_answer(leg: &Leg<'_>, call: &HostCall) -> Answer {
    let options = &leg.body.options;
    let catalog = leg.cell.start_tools.catalog();
    let run = &leg.cell.run;
    match call.method {
        Method::Search => host_calls::search(catalog, options, &call.arguments),
        Method::ApiSearch => host_calls::api_search(catalog, options, &call.arguments),
        Method::Describe => host_calls::describe(catalog, &call.target),
        Method::McpApi => mcp_api::describe(catalog, &call.target, &call.arguments),
        Method::ResultsSave => host_calls::save(run, options, &call.arguments),
        Method::ResultsLoad => host_calls::load(run, &call.target),
        Method::ResultsDelete => host_calls::delete(run, &call.target),
        _ => Answer::Reject(Rejection::not_started(
            "unavailable",
            "the host has no answer to this call",
            None,
        )),
    }
}

fn to_tool(leg: &Leg<'_>, mut call: GuestCall) -> Fate {
    let services = &leg.cell.services;
    let resolved = resolve(leg, &call).and_then(|found| {
        one_object(&mut call, &found.0)?;
        Ok(found)
    });
    match resolved {
        Ok((id, effect)) => {
            leg.cell.run.count_call();
            let tool: Arc<str> = id.as_str().into();
            let new = NewCall {
                guest_id: call.id,
                method: call.method,
                tool: Arc::clone(&tool),
                effect,
                arguments: call.arguments,
            };
            leg.cell.lock().calls.enqueue(new, services.now());
            Fate::Tool { tool, effect }
        }
        Err(rejection) => refuse(leg, &call, rejection),
    }
}

/// Takes the one object out of the arguments of an MCP call; other calls have theirs already.
fn one_object(call: &mut GuestCall, tool: &ToolId) -> Result<(), Rejection> {
    if call.method != Method::Mcp {
        return Ok(());
    }
    call.arguments = only_object(&call.arguments).map_err(|found| {
        let message = format!(
            "MCP.{} takes one object with named arguments, or nothing; it was given {found}",
            shown(&call.target)
        );
        let tool: Arc<str> = tool.as_str().into();
        Rejection::not_started("invalid_arguments", message, Some(&tool))
    })?;
    Ok(())
}

/// The one object in the list of arguments that an MCP call was made with.
///
/// # Errors
/// What it was given instead, in words.
pub(crate) fn only_object(arguments: &str) -> Result<Box<str>, String> {
    let given: Vec<&RawValue> = serde_json::from_str(arguments).unwrap_or_default();
    let found = match given.as_slice() {
        [] => return Ok("{}".into()),
        [one] => match one.get().bytes().next() {
            Some(b'{') => return Ok(one.get().into()),
            Some(b'[') => "an array",
            Some(b'"') => "a text",
            Some(b'n') => "null",
            Some(b't' | b'f') => "a boolean",
            _ => "a number",
        },
        more => return Err(format!("{} arguments", more.len())),
    };
    Err(found.to_owned())
}

/// Answers a call that nobody is handed. What is asked of the cell is asked before its lock is taken.
fn refuse(leg: &Leg<'_>, call: &GuestCall, rejection: Rejection) -> Fate {
    let now_us = leg.cell.unix_us();
    if call.method.goes_to_tool() {
        let (tool, effect) = named(leg, call);
        leg.cell
            .lock()
            .calls
            .refuse(call.id, &tool, effect, rejection, now_us);
        Fate::Refused { tool, effect }
    } else {
        leg.cell
            .lock()
            .calls
            .answer(call.id, Answer::Reject(rejection), now_us);
        Fate::HostRefused
    }
}

/// What the ledger calls a call that is not made: the tool's id, or what was asked for.
fn named(leg: &Leg<'_>, call: &GuestCall) -> (Arc<str>, EffectKind) {
    match resolve(leg, call) {
        Ok((id, effect)) => (id.as_str().into(), effect),
        Err(_) => (shown(&call.target), EffectKind::Write),
    }
}

/// The tool that a call means, among those that may be used now.
fn resolve(leg: &Leg<'_>, call: &GuestCall) -> Result<(ToolId, EffectKind), Rejection> {
    let tools = leg.cell.lock_tools();
    let found = match call.method {
        Method::Call | Method::CallRaw => tools.resolve(&call.target, Scope::NonMcp),
        Method::CallByName => match tools
            .catalog()
            .by_safe_name(&call.target)
            .and_then(|entry| tools.get(&entry.id))
        {
            Some(tool) => Ok(tool),
            None => tools.resolve(&call.target, Scope::NonMcp),
        },
        Method::Mcp => tools.resolve_mcp(&call.target),
        _ => return Err(unavailable(call)),
    };
    match found {
        Ok(tool) => {
            let id = tool.definition().id.clone();
            let effect = effect_of(&tools, &id);
            Ok((id, effect))
        }
        Err(error) => Err(Rejection::not_started(
            lookup_code(&error),
            error.to_string(),
            Some(&shown(&call.target)),
        )),
    }
}

fn unavailable(call: &GuestCall) -> Rejection {
    let message = format!(
        "{} is not available in this run",
        crate::calls::method_name(call.method)
    );
    Rejection::not_started("unavailable", message, Some(&shown(&call.target)))
}

const fn lookup_code(error: &LookupError) -> &'static str {
    match error {
        LookupError::Resolve(ResolveError::Unknown { .. }) => "unknown_tool",
        LookupError::Resolve(ResolveError::Ambiguous { .. }) => "ambiguous_tool",
        LookupError::Resolve(ResolveError::Mcp { .. }) => "mcp_tool",
        LookupError::Gone { .. } => "tool_unavailable",
        LookupError::Mcp(McpLookupError::Server { .. }) => "unknown_server",
        LookupError::Mcp(McpLookupError::Tool { .. }) => "unknown_tool",
        LookupError::Mcp(McpLookupError::Unavailable { .. }) => "server_unavailable",
    }
}

/// A guest's name for a tool, cut to a length that a result can show.
fn shown(target: &str) -> Arc<str> {
    let short: String = target
        .chars()
        .filter(|c| !c.is_control())
        .take(120)
        .collect();
    short.into()
}
