//! A bystander: a session whose small cells go on while others do harm, and how long each takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use codecell_codemode::CodeModeOptions;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::house::{House, Visit, text_of};

/// A pause between cells: a bystander that never pauses is an attacker.
const PAUSE: Duration = Duration::from_millis(2);

/// Latency of the bystander's cells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Cells that completed.
    pub cells: usize,
    /// Half of them took at most so long, in milliseconds.
    pub p50_ms: f64,
    /// All but one in a hundred took at most so long, in milliseconds.
    pub p99_ms: f64,
    /// The longest, in milliseconds.
    pub max_ms: f64,
    /// What the first cell that did not complete said.
    pub wrong: Option<String>,
}

/// A running bystander.
#[derive(Debug)]
pub struct Probe {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Latency>,
}

impl Probe {
    /// Starts one.
    ///
    /// # Errors
    /// In words, when its run cannot be made.
    pub fn start(house: &House) -> Result<Self, String> {
        let visit = house.visit(CodeModeOptions {
            timeout_ms: 60_000,
            ..CodeModeOptions::default()
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(run(visit, Arc::clone(&stop)));
        Ok(Self { stop, task })
    }

    /// Stops it.
    ///
    /// # Errors
    /// In words, when it broke.
    pub async fn stop(self) -> Result<Latency, String> {
        self.stop.store(true, Ordering::Release);
        self.task.await.map_err(|error| error.to_string())
    }
}

async fn run(visit: Visit, stop: Arc<AtomicBool>) -> Latency {
    let mut taken = Vec::new();
    let mut wrong = None;
    while !stop.load(Ordering::Acquire) && wrong.is_none() {
        let started = Instant::now();
        let outcome = visit.exec("return 1 + 1").await;
        taken.push(started.elapsed());
        let text = text_of(&outcome);
        if !text.contains("\"status\":\"completed\",\"value\":2") {
            wrong = Some(text);
        }
        tokio::time::sleep(PAUSE).await;
    }
    latency(taken, wrong)
}

fn latency(mut taken: Vec<Duration>, wrong: Option<String>) -> Latency {
    taken.sort();
    let at = |share: f64| {
        let index = (taken.len() as f64 * share) as usize;
        let found = taken.get(index).or(taken.last());
        found.map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    Latency {
        cells: taken.len(),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        max_ms: at(1.0),
        wrong,
    }
}
