//! `codecell replay`: a recorded cell once more, without its tools or on from some point with them.

use std::fs::File;
use std::io::Read as _;

use codecell_codemode::ReplayOptions;

use super::exec::{Errand, First};
use crate::args::ReplayArgs;
use crate::compose::Base;
use crate::error::{CliError, Exit};

/// The largest record that is read, in bytes.
const MAX_RECORD_BYTES: u64 = 4 << 30;

/// Replays the record.
pub(crate) fn run(base: &Base, args: ReplayArgs) -> Result<Exit, CliError> {
    let path = base.surroundings.folder.join(&args.record);
    let record = read(&path).map_err(|error| CliError::Argument {
        message: format!("cannot read the record {}: {error}", path.display()),
        hint: "codecell exec --record FILE writes one".to_owned(),
    })?;
    let settings = base.settings(&[])?;
    let options = ReplayOptions {
        until: args.until,
        fork: args.fork,
    };
    let errand = Errand {
        first: First::Replay(record, options),
        time: None,
        no_wait: false,
        record: None,
    };
    errand.run(base, settings, &args.rights)
}

fn read(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_RECORD_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
