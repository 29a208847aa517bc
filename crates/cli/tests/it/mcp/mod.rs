//! The MCP front as its clients meet it: the real binary, on pipes and over HTTP.

mod asking;
mod door;
mod forms;
mod front_doors;
mod noise;
mod pipes;
mod policy;
mod stdio;
mod stopping;
mod upstream;

use std::time::Duration;

/// Far longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(90);
