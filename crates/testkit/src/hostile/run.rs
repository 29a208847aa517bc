//! Runs a class, or a set of foreign programs, in this process, beside a bystander and a victim.

use std::future::Future;
use std::time::{Duration, Instant};

use codecell_codemode::{CellOutcome, CodeModeOptions};
use codecell_sandbox::Sandbox;

use super::canary::{Canaries, Log};
use super::case::{self, Case};
use super::driven::{self, Driven};
use super::house::{House, Plan, Visit, text_of, waiting_id};
use super::judge;
use super::probe::Probe;
use super::report::{Report, Verdict};
use crate::places::workspace_root;

/// A cell that has not answered after so long hangs the host.
const HUNG: Duration = Duration::from_secs(150);

/// How far a leg may go beyond its timeout on a machine that tests everything at once. The goal is
/// 5 ms, the suite's margin 50; the figures themselves are printed.
const MAX_OVERRUN_MS: f64 = 5000.0;

/// How long a bystander's cell may take on such a machine.
const MAX_LATENCY_MS: f64 = 5000.0;

/// What a class may leave behind: what allocators and the pool keep for later.
const MAX_GROWTH_BYTES: u64 = 192 << 20;

/// Bystanders measured before the attack.
const ALONE: Duration = Duration::from_millis(500);

/// Everything around the attacks.
#[derive(Debug)]
pub struct Scene {
    /// The process under attack.
    pub house: House,
    /// Where everything it says is heard.
    pub log: Log,
    /// What must not be seen.
    pub canaries: Canaries,
}

/// A session with a secret, suspended while the attacks go on.
struct Victim {
    visit: Visit,
    cell: String,
}

impl Scene {
    /// Sets it up in this process; once.
    ///
    /// # Errors
    /// In words.
    pub fn new(sandbox: Sandbox) -> Result<Self, String> {
        let log = Log::default();
        log.listen()?;
        let house = House::new(sandbox, &log, Plan::default())?;
        let mark = codecell_codemode::Randomness::bits(&codecell_codemode::OsRandomness::new()?);
        Ok(Self {
            house,
            log,
            canaries: Canaries::new(format!("canary{mark:032x}")),
        })
    }

    /// Runs the programs and driven cases of a class.
    ///
    /// # Errors
    /// In words, when the class cannot be run at all.
    pub async fn class(&self, letter: char, only: &str) -> Result<Report, String> {
        let mut cases = case::load(&workspace_root().join("crates/testkit/hostile"), letter)?;
        cases.retain(|case| case.id.contains(only));
        let mut driven = driven::of(letter);
        driven.retain(|case| case.id.contains(only));
        self.report(letter.to_string(), async |verdicts| {
            for case in &cases {
                verdicts.push(self.verdict(case).await);
            }
            for case in &driven {
                verdicts.push(self.drive(case).await);
            }
        })
        .await
    }

    /// Runs `attack` beside the bystander and the victim, and looks at the process afterwards.
    ///
    /// # Errors
    /// In words, when bystander or victim cannot begin.
    pub async fn report(
        &self,
        class: String,
        attack: impl AsyncFnOnce(&mut Vec<Verdict>),
    ) -> Result<Report, String> {
        let victim = self.victim().await?;
        let probe = Probe::start(&self.house)?;
        tokio::time::sleep(ALONE).await;
        let alone = probe.stop().await?;
        let mut report = Report {
            class,
            alone,
            resident_before: resident_bytes(),
            ..Report::default()
        };
        let probe = Probe::start(&self.house)?;
        attack(&mut report.verdicts).await;
        report.beside = probe.stop().await?;
        report.faults = self.aftermath(&victim).await;
        report.resident_after = resident_bytes();
        if report.resident_after > report.resident_before + MAX_GROWTH_BYTES {
            report.faults.push("memory did not come back".to_owned());
        }
        for latency in [&report.alone, &report.beside] {
            let wrong = latency
                .wrong
                .iter()
                .map(|said| format!("a bystander was answered {said}"));
            report.faults.extend(wrong);
            if latency.p99_ms > MAX_LATENCY_MS {
                let text = format!("a bystander waited {:.0} ms", latency.p99_ms);
                report.faults.push(text);
            }
        }
        report.killed = self.house.sandbox.info().killed;
        Ok(report)
    }

    /// A session that keeps the canary in its memory, its saved results, its calls and its source.
    async fn victim(&self) -> Result<Victim, String> {
        let mark = self.canaries.session();
        let code = format!(
            "const mine = '{mark}'.repeat(100); globalThis.mine = mine;
             await results.save(mine); await tools.note_w({{token: mine.slice(0, 64)}});
             await yield_control(); text(mine === globalThis.mine); return mine.length"
        );
        let visit = self.house.visit(CodeModeOptions::default())?;
        let outcome = visit.exec(&code).await;
        let cell = waiting_id(&outcome).ok_or_else(|| judge::shown(&outcome))?;
        Ok(Victim { visit, cell })
    }

    async fn aftermath(&self, victim: &Victim) -> Vec<String> {
        let mut faults = Vec::new();
        let outcome = victim.visit.wait(&victim.cell).await;
        let expected = self.canaries.session().len() * 100;
        if !text_of(&outcome).contains(&format!("\"status\":\"completed\",\"value\":{expected},")) {
            faults.push(format!(
                "the victim was answered {}",
                judge::shown(&outcome)
            ));
        }
        victim.visit.end();
        faults.extend(self.house.is_empty_but_for(0, 0).await.err());
        if self.house.code_mode.suspended_bytes() != 0 {
            faults.push("bytes of snapshots are left".to_owned());
        }
        let info = self.house.sandbox.info();
        if info.dead_entries != 0 {
            faults.push(format!(
                "{} entries into stopped instances",
                info.dead_entries
            ));
        }
        if self.canaries.seen_in(&self.log.take()) {
            faults.push("a canary was logged".to_owned());
        }
        faults
    }

    /// Runs one program and judges it.
    pub async fn verdict(&self, case: &Case) -> Verdict {
        let started = Instant::now();
        let mut verdict = Verdict {
            id: case.id.clone(),
            end: String::new(),
            faults: Vec::new(),
            wall_ms: 0.0,
            overrun_ms: 0.0,
        };
        match self.life(case, &mut verdict).await {
            Ok(()) => {}
            Err(fault) => verdict.faults.push(fault),
        }
        verdict.wall_ms = started.elapsed().as_secs_f64() * 1000.0;
        verdict
    }

    async fn life(&self, case: &Case, verdict: &mut Verdict) -> Result<(), String> {
        let visit = self.house.visit_with(case.options.clone(), case.servers)?;
        let timeout_ms = case.options.timeout_ms as f64;
        let mut said = String::new();
        let mut outcome = leg(
            visit.exec_as(&case.code, case.language),
            timeout_ms,
            verdict,
        )
        .await?;
        for _ in 0..case.waits {
            said.push_str(&text_of(&outcome));
            let Some(cell) = waiting_id(&outcome) else {
                break;
            };
            outcome = leg(visit.wait(&cell), timeout_ms, verdict).await?;
        }
        said.push_str(&text_of(&outcome));
        verdict.end = judge::word(&outcome).to_owned();
        let faults = &mut verdict.faults;
        faults.extend(judge::ending(case, &outcome).err());
        if verdict.end != "waiting" {
            faults.extend(judge::ledger(&outcome, visit.books.counts()).err());
        }
        if judge::is_our_fault(&outcome) {
            faults.push(format!(
                "the host takes the blame: {}",
                judge::shown(&outcome)
            ));
        }
        if verdict.overrun_ms > MAX_OVERRUN_MS {
            faults.push(format!("{:.0} ms beyond its deadline", verdict.overrun_ms));
        }
        if self.canaries.seen_in(&said) || self.canaries.seen_in(&visit.books.heard()) {
            faults.push("a canary was seen".to_owned());
        }
        visit.end();
        // The bystander has a guest, the victim a suspended cell.
        faults.extend(self.house.is_empty_but_for(1, 1).await.err());
        Ok(())
    }

    async fn drive(&self, driven: &Driven) -> Verdict {
        let started = Instant::now();
        let result = tokio::time::timeout(HUNG, (driven.run)(self)).await;
        let mut faults: Vec<String> = match result {
            Ok(Ok(())) => Vec::new(),
            Ok(Err(fault)) => vec![fault],
            Err(_) => vec!["it never ended".to_owned()],
        };
        faults.extend(self.house.is_empty_but_for(1, 1).await.err());
        Verdict {
            id: driven.id.to_owned(),
            end: if faults.is_empty() {
                "as driven"
            } else {
                "otherwise"
            }
            .to_owned(),
            faults,
            wall_ms: started.elapsed().as_secs_f64() * 1000.0,
            overrun_ms: 0.0,
        }
    }
}

async fn leg(
    leg: impl Future<Output = CellOutcome>,
    timeout_ms: f64,
    verdict: &mut Verdict,
) -> Result<CellOutcome, String> {
    let started = Instant::now();
    let outcome = tokio::time::timeout(HUNG, leg).await;
    let over = started.elapsed().as_secs_f64() * 1000.0 - timeout_ms;
    verdict.overrun_ms = verdict.overrun_ms.max(over);
    outcome.map_err(|_| "the host did not answer".to_owned())
}

/// Resident memory of this process, in bytes.
#[must_use]
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
