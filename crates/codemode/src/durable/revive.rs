//! Cells on their way into the store and back out of it.
//!
//! A cell that comes back is checked before anything of it is used: its records open only in their
//! own place, its scope is the caller's, its journal is in order, its snapshot is of this guest and is
//! the one that is due. The invariant: what a cell did to the world is told even when the cell itself
//! cannot go on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::{ContentHash, ToolId};
use codecell_protocol::{CellId, CellResult, EffectKind, Effects};
use codecell_sandbox::{CatalogImage, Expected, Method, RestoreError, StoredSnapshot};
use codecell_tools::toolset::StartingTools;

use super::journal::Journal;
use super::record::{Ended, Fate, Identity, Record, Start, Suspended};
use super::rerun::Beginning;
use super::state::{self, State};
use super::store::{Ownership, RowState, SnapshotStore, StoreError, StoredCell};
use super::tape::{Base, Outside, Tape};
use crate::calls::{CallBounds, Calls, HostCall, NewCall};
use crate::cell::{Cell, Stage};
use crate::code_mode::bounds;
use crate::failure::CellError;
use crate::held::Held;
use crate::history::History;
use crate::leg::Body;
use crate::limits::CELL_LIFE_SECONDS;
use crate::outcome::CellOutcome;
use crate::results;
use crate::run_state::RunState;
use crate::scope::{RunContext, Scope};
use crate::services::{Place, Services};

/// How long the last word of a cell is kept that did something to the world and never said so to
/// anybody, in seconds.
const LOST_EFFECTS_SECONDS: u64 = 7 * 24 * 60 * 60;

const DAMAGED: CellError = CellError::Stored(StoreError::Damaged("its journal is out of order"));

/// Stores a suspension; with a store, waits until it is there.
pub(crate) fn suspend(cell: &Cell, body: &Body, outcome: &CellOutcome) -> Result<(), CellError> {
    let Some(journal) = cell.journal() else {
        return Ok(());
    };
    let (mut snapshot, mut snapshot_seq) = (Vec::new(), 0);
    if let (Some(store), Some(held)) = (journal.store(), &body.held) {
        let encoded = held.encode(&cell.services.parts.sandbox, store.snapshot_key());
        (snapshot, snapshot_seq) = encoded.map_err(CellError::Restore)?;
    }
    let identity = cell.identity(&body.source, body.catalog_entries());
    let options = &body.options;
    let shared = cell.lock();
    let idle_seconds = match shared.calls.any_waits_for_approval() {
        true => options
            .approval_ttl_seconds
            .max(options.snapshot_ttl_seconds),
        false => options.snapshot_ttl_seconds,
    };
    journal.set_row(
        RowState::Suspended,
        in_seconds(&cell.services, idle_seconds),
    );
    journal.append(&Record::Suspended(
        Box::new(Suspended {
            identity,
            seq: shared.history.next_seq(),
            state: Box::new(State::of(body, &shared, outcome, cell.run.counts())),
            snapshot_seq,
        }),
        snapshot,
    ));
    drop(shared);
    journal.commit().map_err(CellError::Store)
}

/// Stores the last result of a cell, along with what comes next, and lets go of the cell.
pub(crate) fn end(cell: &Cell, outcome: &CellOutcome, last_seq: u64, ttl_seconds: u64) {
    let Some(journal) = cell.journal() else {
        return;
    };
    let effects = effects_of(&outcome.result);
    let keep_seconds = match (effects, last_seq) {
        (Some(effects), _) if effects.unknown > 0 => LOST_EFFECTS_SECONDS,
        (None, 0) => 0,
        _ => ttl_seconds,
    };
    journal.set_row(RowState::Ended, in_seconds(&cell.services, keep_seconds));
    journal.append(&Record::Ended(Ended {
        scope: scope_parts(&cell.run.scope),
        result: state::to_json(&outcome.result),
        seq: last_seq,
    }));
    journal.finish();
}

fn effects_of(result: &CellResult) -> Option<&Effects> {
    match result {
        CellResult::Completed(completed) => completed.effects.as_ref(),
        CellResult::Waiting(waiting) => waiting.effects.as_ref(),
        CellResult::Failed(failed) => failed.effects.as_ref(),
    }
}

fn in_seconds(services: &Services, seconds: u64) -> u64 {
    services
        .unix_us()
        .saturating_add(seconds.saturating_mul(1_000_000))
}

pub(crate) fn scope_parts(scope: &Scope) -> [Arc<str>; 4] {
    [
        &scope.owner,
        &scope.agent_id,
        &scope.session_key,
        &scope.run_id,
    ]
    .map(Arc::clone)
}

/// A cell as its journal tells of it.
struct Found {
    base: Base,
    tape: Tape,
    last_number: u64,
    expires_us: u64,
}

impl Found {
    fn read(stored: StoredCell) -> Result<Self, CellError> {
        let last_number = stored.records.last().map_or(0, |record| record.number);
        let records = stored
            .records
            .iter()
            .map(|one| Record::decode(one.kind, &one.bytes));
        let records: Vec<Record> = records.collect::<Result<_, _>>().map_err(|_| DAMAGED)?;
        let (base, tape) = Tape::since_last_stop(records).map_err(|_| DAMAGED)?;
        Ok(Self {
            base,
            tape,
            last_number,
            expires_us: stored.row.expires_us,
        })
    }

    fn scope(&self) -> &[Arc<str>; 4] {
        match &self.base {
            Base::Start(start) => &start.identity.scope,
            Base::Suspended(suspended, _) => &suspended.identity.scope,
            Base::Ended(ended) => &ended.scope,
        }
    }
}

/// Why a cell does not come back, and what it had done.
pub(crate) struct NotRevived {
    pub(crate) error: CellError,
    pub(crate) effects: Option<Box<Effects>>,
}

impl From<CellError> for NotRevived {
    fn from(error: CellError) -> Self {
        Self {
            error,
            effects: None,
        }
    }
}

/// Brings a cell back, suspended or ended, if the store has it and it is the caller's.
pub(crate) fn revive(
    services: &Arc<Services>,
    run: &Arc<RunState>,
    id: CellId,
    ctx: &RunContext,
) -> Result<Arc<Cell>, NotRevived> {
    let Some(store) = &services.parts.store else {
        return Err(CellError::UnknownRun.into());
    };
    let found = look_up(store, id, ctx)?;
    if let Base::Ended(ended) = &found.base {
        return ended_cell(services, run, id, ctx, ended);
    }
    let owner = store.own(&id).map_err(CellError::Stored)?;
    let owner = owner.ok_or(CellError::HeldElsewhere)?;
    // Read again, now that nobody else can change it.
    let found = look_up(store, id, ctx)?;
    if let Base::Ended(ended) = &found.base {
        return ended_cell(services, run, id, ctx, ended);
    }
    if found.expires_us <= services.unix_us() {
        let effects = bury(services, store, id, found, owner);
        return Err(NotRevived {
            error: CellError::Expired,
            effects: effects.map(Box::new),
        });
    }
    let effects = books(&found).map(Box::new);
    let seam = (Arc::clone(store), owner);
    bring_back(services, run, id, ctx, found, seam).map_err(|error| NotRevived { error, effects })
}

fn look_up(
    store: &Arc<dyn SnapshotStore>,
    id: CellId,
    ctx: &RunContext,
) -> Result<Found, CellError> {
    let stored = store.read(&id).map_err(CellError::Stored)?;
    let found = Found::read(stored.ok_or(CellError::UnknownRun)?)?;
    match *found.scope() == scope_parts(&ctx.scope) {
        true => Ok(found),
        false => Err(CellError::WrongScope),
    }
}

/// A cell that can only give its last result again.
fn ended_cell(
    services: &Arc<Services>,
    run: &Arc<RunState>,
    id: CellId,
    ctx: &RunContext,
    ended: &Ended,
) -> Result<Arc<Cell>, NotRevived> {
    let result = CellResult::from_json(&ended.result).map_err(|_| DAMAGED)?;
    let cell = Cell::returned(services, run, ctx, id, None, bounds(&ctx.options));
    let mut shared = cell.lock();
    shared.stage = Stage::Ended;
    let outcome = Arc::new(CellOutcome::plain(result));
    shared.history = History::restored(ended.seq, vec![(ended.seq, outcome)], true);
    drop(shared);
    Ok(Arc::new(cell))
}

fn bring_back(
    services: &Arc<Services>,
    run: &Arc<RunState>,
    id: CellId,
    ctx: &RunContext,
    found: Found,
    seam: (Arc<dyn SnapshotStore>, Box<dyn Ownership>),
) -> Result<Arc<Cell>, CellError> {
    let (base, tape) = (found.base, found.tape);
    let place = Place::take(services, ctx.options.max_suspended_runs);
    let place = place.ok_or(CellError::TooManySuspended)?;
    let store = Arc::clone(&seam.0);
    let expires_us = in_seconds(services, CELL_LIFE_SECONDS);
    let keeps_all = services.parts.keep_records;
    let journal = Journal::new(
        id,
        Some(seam),
        None,
        keeps_all,
        (found.last_number, expires_us),
    );
    let (identity, mut parts) = match base {
        Base::Start(start) => from_start(*start)?,
        Base::Suspended(suspended, snapshot) => {
            from_suspension(services, &store, id, *suspended, &snapshot)?
        }
        Base::Ended(_) => return Err(DAMAGED),
    };
    check_image(services, &identity)?;
    let cell = Cell::returned(
        services,
        run,
        ctx,
        id,
        Some(&identity),
        bounds(&parts.options),
    );
    let facts = services.facts.of(cell.start_tools.catalog());
    let mut body = match &mut parts.state {
        Some(state) => state.body(Arc::clone(&identity.source), facts),
        None => parts.first_body(&identity, facts),
    };
    body.catalog = catalog_of(&identity)?;
    body.held = parts.held.take();
    body.beginning = parts.beginning.take();
    body.tape = Some(Box::new(tape));
    let ttl = Duration::from_secs(body.options.snapshot_ttl_seconds);
    let calls_bounds = bounds(&body.options);
    let now = services.now();
    let mut shared = cell.lock();
    if let Some(state) = parts.state.take() {
        run.add_counts(state.counts);
        let results = state.results().ok_or(DAMAGED)?;
        shared.history = History::restored(parts.seq, results, false);
        shared.calls = Calls::restored(calls_bounds, state.calls, now).map_err(|_| DAMAGED)?;
    }
    shared.idle.restart(ttl, now);
    shared.place = Some(place);
    shared.stage = Stage::Suspended(body);
    drop(shared);
    cell.set_journal(Arc::new(journal));
    let cell = Arc::new(cell);
    let due = cell.due(&cell.lock());
    services.shelve(id, &cell, due);
    Ok(cell)
}

/// What a cell that comes back is made of, besides its identity.
struct Parts {
    options: crate::options::CodeModeOptions,
    seq: u64,
    state: Option<Box<State>>,
    held: Option<Arc<Held>>,
    beginning: Option<Box<Beginning>>,
    start: Option<(
        Option<String>,
        Option<codecell_protocol::Language>,
        Vec<codecell_protocol::Warning>,
    )>,
}

impl Parts {
    /// The body of a cell whose first leg died.
    fn first_body(
        &mut self,
        identity: &Identity,
        facts: Arc<crate::catalog_facts::CatalogFacts>,
    ) -> Box<Body> {
        let mut body = Body::new(Arc::clone(&identity.source), self.options.clone(), facts);
        if let Some((hint, inferred, warnings)) = self.start.take() {
            (body.hint, body.inferred, body.warnings) = (hint, inferred, warnings);
        }
        Box::new(body)
    }
}

fn from_start(start: Start) -> Result<(Identity, Parts), CellError> {
    let beginning = Beginning {
        unit: start.unit,
        injection: start.injection,
    };
    let parts = Parts {
        options: start.options.clamped(),
        seq: 0,
        state: None,
        held: None,
        beginning: Some(Box::new(beginning)),
        start: Some((start.hint, start.inferred, start.warnings)),
    };
    Ok((start.identity, parts))
}

fn from_suspension(
    services: &Arc<Services>,
    store: &Arc<dyn SnapshotStore>,
    id: CellId,
    suspended: Suspended,
    snapshot: &[u8],
) -> Result<(Identity, Parts), CellError> {
    let options = suspended.state.options().clone().clamped();
    let expected = Expected {
        image: services.parts.sandbox.image(),
        binding: crate::leg::binding_of(&id, suspended.snapshot_seq),
        key: Some(store.snapshot_key()),
        max_raw_bytes: options.max_snapshot_bytes,
    };
    let stored = StoredSnapshot::decode(snapshot, &expected).map_err(CellError::Restore)?;
    let parts = Parts {
        options,
        seq: suspended.seq,
        held: Some(Held::stored(services, stored)),
        state: Some(suspended.state),
        beginning: None,
        start: None,
    };
    Ok((suspended.identity, parts))
}

/// A cell of another guest image cannot go on, however it is stored.
fn check_image(services: &Services, identity: &Identity) -> Result<(), CellError> {
    let expected = services.parts.sandbox.image();
    if identity.image == hex(expected.as_bytes()) {
        return Ok(());
    }
    let found = codecell_sandbox::ImageHash::from_bytes(unhex(&identity.image).ok_or(DAMAGED)?);
    Err(CellError::Restore(RestoreError::Image { found, expected }))
}

fn catalog_of(identity: &Identity) -> Result<Option<CatalogImage>, CellError> {
    let image = |entries: &Vec<String>| CatalogImage::new(entries.iter().map(String::as_str));
    identity
        .catalog
        .as_ref()
        .map(image)
        .transpose()
        .map_err(CellError::Engine)
}

/// The tools of a cell's start, as they are stored.
pub(crate) fn tools_to_text(tools: &StartingTools) -> BTreeMap<String, String> {
    let text = |(id, hash): (&ToolId, &ContentHash)| (id.as_str().to_owned(), hash.to_string());
    tools.0.iter().map(text).collect()
}

/// The tools of a cell's start. One that cannot be read is none that it may use.
pub(crate) fn tools_of_text(tools: &BTreeMap<String, String>) -> StartingTools {
    let read = |(id, hash): (&String, &String)| {
        Some((
            ToolId::parse(id).ok()?,
            ContentHash::from_bytes(unhex(hash)?),
        ))
    };
    StartingTools(tools.iter().filter_map(read).collect())
}

pub(crate) fn hex(bytes: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*bytes).to_hex().to_string()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(text)
        .ok()
        .map(|hash| *hash.as_bytes())
}

/// What a stored cell had done, with everything under way counted as at the end.
fn books(found: &Found) -> Option<Effects> {
    if let Base::Ended(ended) = &found.base {
        let result = CellResult::from_json(&ended.result).ok()?;
        return effects_of(&result).cloned();
    }
    let bounds = CallBounds {
        in_flight: usize::MAX,
        queued_bytes: u64::MAX,
        undelivered_bytes: u64::MAX,
        message_bytes: u64::MAX,
    };
    let now = std::time::Instant::now();
    let mut calls = match &found.base {
        Base::Suspended(suspended, _) => {
            Calls::restored(bounds, suspended.state.calls.clone(), now).ok()?
        }
        _ => Calls::new(bounds),
    };
    for part in &found.tape.parts {
        for (id, fate) in part.turns.iter().flat_map(|turn| &turn.calls) {
            open(&mut calls, *id, fate, now);
        }
        for event in &part.outside {
            match event {
                // The payload does not matter to the books.
                Outside::Replied(head, _) => drop(calls.replay_reply(head, String::new())),
                Outside::Step(call, step) => calls.replay_step(*call, *step),
                Outside::Suspended => {}
            }
        }
    }
    calls.finish();
    calls.ledger().effects()
}

fn open(calls: &mut Calls, guest_id: u32, fate: &Fate, now: std::time::Instant) {
    let call = NewCall {
        guest_id,
        method: Method::Call,
        tool: "".into(),
        effect: EffectKind::Write,
        arguments: Box::default(),
    };
    let host = HostCall {
        guest_id,
        method: Method::Search,
        target: Box::default(),
        arguments: Box::default(),
    };
    calls.replay_call(call, host, fate, now);
}

/// Ends a stored cell whose time is over. What it did to the world stays readable for a while.
fn bury(
    services: &Services,
    store: &Arc<dyn SnapshotStore>,
    id: CellId,
    found: Found,
    owner: Box<dyn Ownership>,
) -> Option<Effects> {
    let effects = books(&found);
    if effects.is_none() {
        if let Err(error) = store.remove(&id) {
            tracing::warn!(cell = %id, %error, "an expired cell could not be removed");
        }
        return None;
    }
    let outcome = results::refused(
        &CellError::Expired,
        effects.clone(),
        results::bare_telemetry(None),
    );
    let seq = match &found.base {
        Base::Suspended(suspended, _) => suspended.seq,
        _ => 0,
    };
    let expires_us = in_seconds(services, LOST_EFFECTS_SECONDS);
    let seam = Some((Arc::clone(store), owner));
    let journal = Journal::new(id, seam, None, false, (found.last_number, expires_us));
    journal.set_row(RowState::Ended, expires_us);
    journal.append(&Record::Ended(Ended {
        scope: found.scope().clone(),
        result: state::to_json(&outcome.result),
        seq,
    }));
    journal.finish();
    effects
}

/// Looks after every stored cell whose time is over and that nobody owns.
pub(crate) fn sweep(services: &Services) {
    let Some(store) = &services.parts.store else {
        return;
    };
    let now_us = services.unix_us();
    let rows = store
        .rows()
        .and_then(|rows| store.sweep_values(now_us).map(|()| rows));
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return tracing::warn!(%error, "the store could not be swept"),
    };
    for row in rows.into_iter().filter(|row| row.expires_us <= now_us) {
        let Ok(Some(owner)) = store.own(&row.id) else {
            continue;
        };
        match store.read(&row.id) {
            Ok(Some(stored)) if stored.row.expires_us > now_us => {}
            Ok(Some(stored)) if stored.row.state == RowState::Ended => drop(store.remove(&row.id)),
            Ok(Some(stored)) => match Found::read(stored) {
                Ok(found) => drop(bury(services, store, row.id, found, owner)),
                Err(error) => {
                    tracing::warn!(cell = %row.id, %error, "a stored cell cannot be read")
                }
            },
            Ok(None) => {}
            Err(error) => tracing::warn!(cell = %row.id, %error, "a stored cell cannot be read"),
        }
    }
}

/// What a store holds of one cell, for people.
#[derive(Clone, Debug)]
pub struct CellReport {
    /// Its id.
    pub id: CellId,
    /// What its row says.
    pub state: RowState,
    /// A process has it now.
    pub is_owned: bool,
    /// When it may be swept, in microseconds since the Unix epoch.
    pub expires_us: u64,
    /// Whose it is: owner, agent, session key, run. Empty when the cell cannot be read.
    pub scope: [Arc<str>; 4],
    /// What it did to the world so far; calls under way count as unknown.
    pub effects: Option<Effects>,
    /// Why it cannot be read.
    pub damage: Option<String>,
}

/// Tells of every cell in a store. Nothing is changed.
///
/// # Errors
/// When the store cannot be read; a single cell that cannot is in the list.
pub fn survey(store: &Arc<dyn SnapshotStore>) -> Result<Vec<CellReport>, StoreError> {
    let report = |row: super::store::StoredRow| {
        let owner = store.own(&row.id)?;
        let mut report = CellReport {
            id: row.id,
            state: row.state,
            is_owned: owner.is_none(),
            expires_us: row.expires_us,
            scope: Default::default(),
            effects: None,
            damage: None,
        };
        let found = match store.read(&row.id) {
            Ok(Some(stored)) => Found::read(stored),
            Ok(None) => return Ok(None),
            Err(error) => Err(CellError::Stored(error)),
        };
        match found {
            Ok(found) => {
                report.scope = found.scope().clone();
                report.effects = books(&found);
            }
            Err(error) => report.damage = Some(error.to_string()),
        }
        Ok(Some(report))
    };
    let reports = store.rows()?.into_iter().map(report);
    reports.filter_map(Result::transpose).collect()
}

/// Has a suspended cell wait for another process: its calls are told to stop, what no tool has heard
/// of is left for later, and the cell is let go.
pub(crate) fn park(cell: &Cell) -> bool {
    if !cell.journal().is_some_and(|journal| journal.is_durable()) {
        return false;
    }
    let mut shared = cell.lock();
    if !matches!(shared.stage, Stage::Suspended(_)) {
        return false;
    }
    shared.calls.park();
    true
}

/// Lets go of a parked cell, once its tools have ended.
pub(crate) fn let_go(cell: &Cell) {
    if let Some(journal) = cell.journal() {
        journal.release();
    }
}

/// The age of a cell that comes back.
pub(crate) fn age(services: &Services, born_us: u64) -> Duration {
    Duration::from_micros(services.unix_us().saturating_sub(born_us))
        .min(Duration::from_secs(CELL_LIFE_SECONDS))
}

#[cfg(test)]
mod tests {
    #[test]
    fn hexadecimal_digits_are_read_back() {
        let bytes = [0xa5; 32];
        assert_eq!(super::unhex(&super::hex(&bytes)), Some(bytes));
        assert_eq!(super::unhex("zz"), None);
    }
}
