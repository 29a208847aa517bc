//! The single checks: each looks at one thing and adds what it found.

use std::path::Path;
use std::sync::Arc;

use codecell_config::keys::CODE_MODE;
use codecell_config::{KeyPath, Origin};
use codecell_sandbox::{CacheState, SandboxInfo};

use super::{Findings, Status};
use crate::compose::Base;
use crate::compose::settings::Settings;
use crate::compose::tooling::{open_core, sources, unknown_denials};
use crate::machine::{Machine, can_write, readable_bytes};
use crate::surroundings::Surroundings;

/// The raw delta of a cell that has done nothing, in bytes: below it every suspension fails.
/// Source: the contract's note on `maxSnapshotBytes`.
const TRIVIAL_SNAPSHOT_BYTES: u64 = 112 * 1024;

/// Address space that the engine reserves for one guest, with room around it, in bytes.
const ADDRESS_SPACE_BYTES: u64 = 6 << 30;

/// File descriptors below which tools that walk folders run out.
const FEW_FILES: u64 = 256;

/// The file, its keys, and where values came from.
pub(super) fn config(base: &Base, settings: &Settings, findings: &mut Findings) {
    let report = &settings.loaded.report;
    let origin = base.config_file().ok().flatten();
    match (&report.file, origin) {
        (Some(file), Some(origin)) => {
            let found = format!("{}, named by {}", file.display(), origin.origin.as_str());
            findings.add("config", Status::Ok, found);
        }
        (_, Some(origin)) => {
            let found = format!("no file at {}: the defaults hold", origin.path.display());
            findings.add("config", Status::Ok, found);
        }
        _ => findings.add(
            "config",
            Status::Ok,
            "no home folder, no file: the defaults hold",
        ),
    }
    for (key, value, origin) in set_values(settings) {
        findings.add(
            "config",
            Status::Note,
            format!("{key} = {value}, from {origin}"),
        );
    }
    for clamped in &report.clamped {
        let found = format!(
            "{} is {}; used is {}",
            clamped.path, clamped.given, clamped.used
        );
        let advice = format!("choose a number from {} to {}", clamped.min, clamped.max);
        findings.advise("config", Status::Warning, found, &advice);
    }
    let denials = open_core(base, settings).and_then(|core| {
        let sources = sources(&Arc::new(core), None);
        unknown_denials(&sources, settings, &[])
    });
    for denial in denials.unwrap_or_default() {
        findings.add("config", Status::Warning, denial.to_string());
    }
    for key in &report.ignored {
        findings.advise(
            "config",
            Status::Note,
            format!("{key} is ignored"),
            "codecell has no part for this key; it can stay or go",
        );
    }
}

/// Keys of code mode that somebody set, with their values and where.
fn set_values(settings: &Settings) -> Vec<(String, String, String)> {
    let config = &settings.loaded.config;
    let looked_up = CODE_MODE.iter().filter_map(|key| {
        let path = KeyPath::parse("tools.codeMode").ok()?.key(key.name);
        let setting = config.get(&path).ok()?;
        let is_set = setting.origin != Origin::Default;
        is_set.then(|| {
            (
                path.to_string(),
                setting.value.to_string(),
                setting.origin.to_string(),
            )
        })
    });
    looked_up.collect()
}

/// State, cache and workspace.
pub(super) fn folders(base: &Base, settings: &Settings, findings: &mut Findings) {
    match &settings.state_dir {
        Some(folder) => writable(
            "state",
            folder,
            "commands work, but nothing can be kept there; set CODECELL_STATE_DIR",
            findings,
        ),
        None => findings.advise(
            "state",
            Status::Warning,
            "there is no home folder",
            "set CODECELL_STATE_DIR",
        ),
    }
    if let Some(folder) = &settings.cache_dir {
        let advice = "every command compiles the engine anew, which takes seconds; set XDG_CACHE_HOME or CODECELL_STATE_DIR";
        writable("cache", folder, advice, findings);
    }
    writable(
        "workspace",
        &settings.workspace,
        "reading works; tools that write will fail",
        findings,
    );
    if base.surroundings.home.as_deref() == Some(settings.workspace.as_path()) {
        findings.advise(
            "workspace",
            Status::Warning,
            "the workspace is the whole home folder",
            "file tools can read everything in it; start codecell in a project, or name one with --workspace",
        );
    }
}

fn writable(name: &str, folder: &Path, advice: &str, findings: &mut Findings) {
    match can_write(folder) {
        Ok(()) => findings.add(name, Status::Ok, folder.display().to_string()),
        Err(error) => {
            let found = format!("{} cannot be written to: {error}", folder.display());
            findings.advise(name, Status::Warning, found, advice);
        }
    }
}

/// The engine, the guest and the cache of its compiled form.
pub(super) fn engine(info: &SandboxInfo, settings: &Settings, findings: &mut Findings) {
    findings.add("engine", Status::Ok, info.engine);
    findings.add(
        "guest",
        Status::Ok,
        format!("image {}", info.image.to_hex()),
    );
    match &info.cache {
        CacheState::Hit => findings.add("compiled guest", Status::Ok, "the compiled guest was found"),
        CacheState::Stored => findings.add("compiled guest", Status::Ok, "the guest was compiled and is kept"),
        CacheState::Unusable { reason } => findings.advise(
            "compiled guest",
            Status::Warning,
            format!("the compiled guest cannot be kept: {reason}"),
            "every command compiles it anew, which takes seconds; set XDG_CACHE_HOME to a folder that you own",
        ),
        CacheState::Disabled => findings.advise(
            "compiled guest",
            Status::Warning,
            "there is no folder for the compiled guest",
            "set CODECELL_STATE_DIR or XDG_CACHE_HOME",
        ),
    }
    let memory = settings.agent.code_mode.memory_limit_bytes();
    findings.add(
        "cell memory",
        Status::Ok,
        format!("a cell may have {}", readable_bytes(memory)),
    );
    if info.pagemap_scan {
        findings.add(
            "page tracking",
            Status::Ok,
            "the kernel tells which pages a guest has written",
        );
    } else {
        findings.advise(
            "page tracking",
            Status::Note,
            "the kernel does not tell which pages a guest has written",
            "suspending a cell takes a little longer; Linux 6.7 and later can",
        );
    }
}

/// Limits that are allowed and yet make cells fail.
pub(super) fn limits(settings: &Settings, findings: &mut Findings) {
    let options = &settings.agent.code_mode;
    if options.max_snapshot_bytes() < TRIVIAL_SNAPSHOT_BYTES {
        findings.advise(
            "limits",
            Status::Warning,
            format!(
                "tools.codeMode.maxSnapshotBytes is {}",
                readable_bytes(options.max_snapshot_bytes())
            ),
            "every suspension fails: even a trivial cell needs about 112 KiB",
        );
    }
}

/// Names of keys that are set, never their values.
pub(super) fn provider_keys(surroundings: &Surroundings, findings: &mut Findings) {
    let keys = surroundings.provider_keys.join(", ");
    if keys.is_empty() {
        findings.add(
            "keys",
            Status::Note,
            "no provider key is set; the commands of this version need none",
        );
    } else {
        findings.add("keys", Status::Ok, format!("{keys}; never given to tools"));
    }
}

/// Memory, processes, files and kernel features.
pub(super) fn machine(machine: &Machine, settings: Option<&Settings>, findings: &mut Findings) {
    memory(machine, settings, findings);
    if let Some(bytes) = machine
        .address_space_bytes
        .filter(|bytes| *bytes < ADDRESS_SPACE_BYTES)
    {
        findings.advise(
            "address space",
            Status::Broken,
            format!("this process may have {} of address space", readable_bytes(bytes)),
            "the engine reserves 4 GiB for a guest, without using it: raise the limit (ulimit -v unlimited)",
        );
    }
    match machine.max_files {
        Some(files) if files < FEW_FILES => findings.advise(
            "files",
            Status::Warning,
            format!("{files} file descriptors"),
            "tools that walk folders may run out: raise the limit (ulimit -n 1024)",
        ),
        Some(files) => findings.add("files", Status::Ok, format!("{files} file descriptors")),
        None => findings.add("files", Status::Ok, "no limit on file descriptors"),
    }
    if let Some(pids) = machine.max_pids {
        findings.add(
            "processes",
            Status::Ok,
            format!("{pids} processes and threads in this control group"),
        );
    }
    let kernel = format!("Linux {}", machine.kernel);
    if machine.openat2 {
        findings.add(
            "kernel",
            Status::Ok,
            format!("{kernel}, opens files beneath a folder in one step"),
        );
    } else {
        findings.advise(
            "kernel",
            Status::Note,
            format!("{kernel}, without openat2 (or it is blocked)"),
            "file tools check paths component by component instead: as safe, a little slower",
        );
    }
}

fn memory(machine: &Machine, settings: Option<&Settings>, findings: &mut Findings) {
    let Some(bytes) = machine.memory_bytes else {
        findings.add(
            "memory",
            Status::Note,
            "how much this machine has is unknown",
        );
        return;
    };
    let whose = if machine.memory_is_of_group {
        "this control group may have"
    } else {
        "this machine has"
    };
    let found = format!("{whose} {}", readable_bytes(bytes));
    let needed = settings.map_or(0, |settings| settings.agent.code_mode.memory_limit_bytes());
    if needed > bytes / 2 {
        findings.advise(
            "memory",
            Status::Warning,
            found,
            "a cell may ask for more than half of it: lower tools.codeMode.memoryLimitBytes",
        );
    } else {
        findings.add("memory", Status::Ok, found);
    }
}
