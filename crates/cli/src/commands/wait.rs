//! `codecell wait`: resume a suspended cell.
//!
//! With a store configured the cell comes from there, in this workspace and for this agent, with the
//! tools, rules and limits of now. Without one no cell outlives the command that started it; the
//! result is then the one that the contract has for a cell that is gone.

use codecell_protocol::{
    CellId, CellResult, Failed, Failure, FailureKind, Phase, Telemetry, WaitInput, texts,
};

use super::exec::{Errand, First};
use crate::args::WaitArgs;
use crate::compose::{Base, store};
use crate::error::{CliError, Exit};
use crate::render::cell;

const ADVICE: &str = "Cells live in the command that started them and end with it, because no store for \
suspended cells is configured. Run the program again without --no-wait: codecell exec then waits until \
the cell ends.";

/// Goes on with the cell, or says that it is gone.
pub(crate) fn run(base: &Base, args: WaitArgs) -> Result<Exit, CliError> {
    if args.cell_id.parse::<CellId>().is_err() {
        return Err(CliError::Argument {
            message: format!("`{}` is no cell id", crate::escape::one_line(&args.cell_id, 80)),
            hint: "pass the runId of a waiting result, such as cm_0f8fad5b-d9cb-469f-a165-70867728950e".to_owned(),
        });
    }
    // A broken configuration is the better answer: with it repaired there may be a store.
    let settings = base.settings(&[])?;
    if store::places(&settings)?.is_none() {
        return gone(base);
    }
    let input = WaitInput {
        run_id: args.cell_id,
        after: args.after,
    };
    let errand = Errand {
        first: First::Wait(input),
        time: None,
        no_wait: args.no_wait,
        record: None,
    };
    errand.run(base, settings, &args.rights)
}

fn gone(base: &Base) -> Result<Exit, CliError> {
    let gone = CellResult::Failed(Failed {
        error: format!("{} {ADVICE}", texts::RUN_UNAVAILABLE),
        code: FailureKind::UnknownRun.code(),
        failure: Failure::new(FailureKind::UnknownRun, Phase::Input),
        output: Vec::new(),
        effects: None,
        warnings: Vec::new(),
        telemetry: Telemetry::default(),
    });
    if base.streams.json() {
        base.streams.out_json(&gone)?;
    } else {
        base.streams.failure(&cell::remarks(&base.streams, &gone));
    }
    Ok(Exit::Failed)
}
