//! Samples, their percentiles, and how a report looks.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

/// Samples of one operation.
#[derive(Default)]
pub(crate) struct Samples {
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
}

/// When an operation began.
pub(crate) struct Start {
    wall: Instant,
    cpu: Duration,
}

/// Marks the beginning of an operation.
pub(crate) fn start() -> Start {
    Start {
        cpu: process_time(),
        wall: Instant::now(),
    }
}

impl Start {
    /// Processor time since then.
    pub(crate) fn cpu_elapsed(&self) -> Duration {
        process_time().saturating_sub(self.cpu)
    }
}

impl Samples {
    /// Adds a duration that the cell itself has measured, if it has.
    pub(crate) fn add_wall_ms(&mut self, ms: Option<f64>) {
        self.wall
            .extend(ms.map(|ms| Duration::from_secs_f64(ms / 1e3)));
    }

    /// Marks its end.
    pub(crate) fn end(&mut self, start: &Start) {
        self.wall.push(start.wall.elapsed());
        self.cpu.push(process_time().saturating_sub(start.cpu));
    }
}

/// Processor time of all threads of this process.
fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Resident memory of this process in bytes.
pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| anyhow::anyhow!("/proc/self/status has no VmRSS"))
}

/// What a benchmark found: a title, and rows of named figures.
pub(crate) struct Report {
    title: String,
    rows: Vec<(String, Map<String, Value>)>,
}

impl Report {
    /// An empty report.
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            rows: Vec::new(),
        }
    }

    /// Adds the percentiles of samples, in microseconds.
    pub(crate) fn add_samples(&mut self, name: &str, mut samples: Samples) {
        let mut row = Map::new();
        for (clock, times) in [("wall", &mut samples.wall), ("cpu", &mut samples.cpu)] {
            times.sort_unstable();
            if times.is_empty() {
                continue;
            }
            for percent in [50, 99] {
                let time = times[(times.len() - 1) * percent / 100];
                row.insert(
                    format!("{clock} p{percent} us"),
                    json!((time.as_secs_f64() * 1e7).round() / 10.0),
                );
            }
        }
        self.rows.push((name.to_owned(), row));
    }

    /// Adds one figure.
    pub(crate) fn add_figure(&mut self, name: &str, unit: &str, value: impl Into<Value>) {
        self.rows.push((
            name.to_owned(),
            Map::from_iter([(unit.to_owned(), value.into())]),
        ));
    }

    /// Adds a row of figures.
    pub(crate) fn add_row<const N: usize>(&mut self, name: &str, figures: [(&str, Value); N]) {
        let figures = figures.map(|(figure, value)| (figure.to_owned(), value));
        self.rows.push((name.to_owned(), Map::from_iter(figures)));
    }

    /// Prints a table or JSON.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        if json {
            let rows: Map<_, _> = self
                .rows
                .iter()
                .map(|(name, row)| (name.clone(), Value::Object(row.clone())))
                .collect();
            writeln!(out, "{}", json!({ "title": self.title, "rows": rows }))?;
            return Ok(());
        }
        writeln!(out, "{}", self.title)?;
        for (name, row) in &self.rows {
            write!(out, "  {name:<44}")?;
            for (figure, value) in row {
                write!(out, "  {figure} {value:<9}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
