//! `codecell doctor`: engine, configuration and this machine, each with what to do.
//!
//! It looks and changes nothing, but for the compiled guest, which is put where every command looks
//! for it. A broken configuration is a finding, not the end.

mod checks;
mod stored;

use serde::Serialize;

use crate::compose::settings::Settings;
use crate::compose::{Base, engine};
use crate::error::{CliError, Exit};
use crate::machine::Machine;
use crate::render::table::table;
use crate::streams::{Streams, style};

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// All is well.
    Ok,
    /// Worth knowing.
    Note,
    /// Works, but not as well as it could.
    Warning,
    /// Commands fail because of it.
    Broken,
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }

    const fn style(self) -> anstyle::Style {
        match self {
            Self::Ok => style::GOOD,
            Self::Note => style::HINT,
            Self::Warning => style::WARNING,
            Self::Broken => style::ERROR,
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    /// What was looked at.
    pub(crate) name: String,
    /// How it is to be taken.
    pub(crate) status: Status,
    /// What was found.
    pub(crate) found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

/// Everything that was found, in the order in which it is told.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding that needs no advice.
    pub(crate) fn add(&mut self, name: &str, status: Status, found: impl Into<String>) {
        self.0.push(Finding {
            name: name.to_owned(),
            status,
            found: found.into(),
            advice: None,
        });
    }

    /// Adds a finding and what to do about it.
    pub(crate) fn advise(
        &mut self,
        name: &str,
        status: Status,
        found: impl Into<String>,
        advice: &str,
    ) {
        self.0.push(Finding {
            name: name.to_owned(),
            status,
            found: found.into(),
            advice: Some(advice.to_owned()),
        });
    }

    fn is_well(&self) -> bool {
        self.0
            .iter()
            .all(|finding| finding.status != Status::Broken)
    }
}

/// Looks at everything and tells.
pub(crate) fn run(base: &Base) -> Result<Exit, CliError> {
    let mut findings = Findings::default();
    findings.add(
        "codecell",
        Status::Ok,
        format!("version {}", env!("CARGO_PKG_VERSION")),
    );
    let machine = Machine::look();
    let settings = match base.settings(&[]) {
        Ok(settings) => Some(settings),
        Err(error) => {
            findings.advise(
                "config",
                Status::Broken,
                error.to_string(),
                &error.hint().unwrap_or_default(),
            );
            None
        }
    };
    if let Some(settings) = &settings {
        look_with_settings(base, settings, &mut findings);
    }
    checks::provider_keys(&base.surroundings, &mut findings);
    checks::machine(&machine, settings.as_ref(), &mut findings);
    print(&base.streams, &findings)?;
    Ok(if findings.is_well() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn look_with_settings(base: &Base, settings: &Settings, findings: &mut Findings) {
    checks::config(base, settings, findings);
    checks::folders(base, settings, findings);
    match engine::start(&base.streams, settings, engine::Cells::One) {
        Ok(sandbox) => checks::engine(&sandbox.info(), settings, findings),
        Err(error) => findings.advise(
            "engine",
            Status::Broken,
            error.to_string(),
            "see the lines on memory, address space and files below",
        ),
    }
    checks::limits(settings, findings);
    stored::look(settings, findings);
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    findings: &'a [Finding],
}

fn print(streams: &Streams, findings: &Findings) -> Result<(), CliError> {
    if streams.json() {
        return streams.out_json(&Report {
            ok: findings.is_well(),
            findings: &findings.0,
        });
    }
    let rows = findings.0.iter().map(|finding| {
        vec![
            finding.status.word().to_owned(),
            finding.name.clone(),
            text(finding),
        ]
    });
    let page = table(&[], rows.collect(), streams.width());
    streams.out(&coloured(streams, &page))?;
    streams.note(&verdict(findings));
    Ok(())
}

fn verdict(findings: &Findings) -> String {
    let warnings = findings
        .0
        .iter()
        .filter(|finding| finding.status == Status::Warning)
        .count();
    match (findings.is_well(), warnings) {
        (false, _) => "something is broken: see above".to_owned(),
        (true, 0) => "everything needed is there".to_owned(),
        (true, 1) => "codecell works, with 1 warning: see above".to_owned(),
        (true, count) => format!("codecell works, with {count} warnings: see above"),
    }
}

fn text(finding: &Finding) -> String {
    let found = crate::escape::visible(&finding.found);
    match &finding.advice {
        Some(advice) if !advice.is_empty() => {
            format!("{found}\n{}", crate::escape::visible(advice))
        }
        _ => found,
    }
}

/// The page with its first words in colour.
fn coloured(streams: &Streams, page: &str) -> String {
    let words = [Status::Ok, Status::Note, Status::Warning, Status::Broken];
    let line = |line: &str| {
        let status = words
            .into_iter()
            .find(|status| line.starts_with(&format!("{} ", status.word())));
        match status {
            Some(status) => {
                let word = status.word();
                format!(
                    "{}{}\n",
                    streams.styled(status.style(), word),
                    &line[word.len()..]
                )
            }
            None => format!("{line}\n"),
        }
    };
    page.lines().map(line).collect()
}
