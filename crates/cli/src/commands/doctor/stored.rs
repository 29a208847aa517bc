//! What the store holds: cells to go on with, and those whose process died in the middle of a leg.
//!
//! What such a cell did to the world is told here, so that it is not lost with whoever started it.

use codecell_codemode::{CellReport, RowState, survey};
use codecell_protocol::Effects;

use super::{Findings, Status};
use crate::compose::settings::Settings;
use crate::compose::store;

/// Cells that are told of one by one.
const SHOWN: usize = 32;

/// Looks at the configured store, if there is one.
pub(super) fn look(settings: &Settings, findings: &mut Findings) {
    let opened = match store::open(settings) {
        Ok(None) => return,
        Ok(Some(opened)) => opened,
        Err(error) => {
            let advice = error.hint().unwrap_or_default();
            return findings.advise("store", Status::Broken, error.to_string(), &advice);
        }
    };
    let cells = match survey(&opened) {
        Ok(cells) => cells,
        Err(error) => {
            let advice = "move the database away to start with an empty one";
            return findings.advise("store", Status::Broken, error.to_string(), advice);
        }
    };
    findings.add("store", Status::Ok, summary(&cells));
    let told: Vec<&CellReport> = cells.iter().filter(|cell| matters(cell)).collect();
    for cell in told.iter().take(SHOWN) {
        tell(cell, findings);
    }
    if told.len() > SHOWN {
        findings.add(
            "cell",
            Status::Note,
            format!("and {} more", told.len() - SHOWN),
        );
    }
}

fn summary(cells: &[CellReport]) -> String {
    let count = |state| cells.iter().filter(|cell| cell.state == state).count();
    format!(
        "{} suspended, {} in a leg, {} ended",
        count(RowState::Suspended),
        count(RowState::Running),
        count(RowState::Ended)
    )
}

/// Whether somebody may want to do something about it.
fn matters(cell: &CellReport) -> bool {
    let is_unclear = cell
        .effects
        .as_ref()
        .is_some_and(|effects| effects.unknown > 0);
    cell.damage.is_some() || cell.state != RowState::Ended || is_unclear
}

fn tell(cell: &CellReport, findings: &mut Findings) {
    let id = cell.id;
    let did = cell.effects.as_ref().map_or_else(String::new, did);
    if let Some(damage) = &cell.damage {
        let advice = "what it did is unknown; it is swept when its time is over";
        return findings.advise("cell", Status::Warning, format!("{id}: {damage}"), advice);
    }
    let go_on = format!("codecell wait {id} goes on with it");
    match (cell.state, cell.is_owned) {
        (_, true) => findings.add(
            "cell",
            Status::Note,
            format!("{id} is with another process{did}"),
        ),
        (RowState::Running, false) => findings.advise(
            "cell",
            Status::Warning,
            format!("{id}: its process died in the middle of a leg{did}"),
            &go_on,
        ),
        (RowState::Suspended, false) => {
            findings.advise(
                "cell",
                Status::Note,
                format!("{id} is suspended{did}"),
                &go_on,
            );
        }
        (RowState::Ended, false) => findings.advise(
            "cell",
            Status::Warning,
            format!("{id} has ended{did}"),
            "look whether the calls took effect before you make them again",
        ),
    }
}

fn did(effects: &Effects) -> String {
    format!(
        "; its calls: {} took effect, {} unknown",
        effects.committed, effects.unknown
    )
}
