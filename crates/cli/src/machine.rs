//! What this machine has and allows: memory, processes, files, kernel features.
//!
//! Everything is read from the kernel's own files and calls, and may be unknown: on another system
//! than Linux most of it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::process::{Resource, getrlimit};

/// What is known of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// Memory of the machine or of the control group around this process, the smaller, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// Whether the control group is what limits it.
    pub(crate) memory_is_of_group: bool,
    /// Processes and threads that the control group allows.
    pub(crate) max_pids: Option<u64>,
    /// File descriptors that this process may have.
    pub(crate) max_files: Option<u64>,
    /// Address space that this process may have, in bytes; `None` for no limit.
    pub(crate) address_space_bytes: Option<u64>,
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// Whether the kernel opens files beneath a folder in one step.
    pub(crate) openat2: bool,
}

impl Machine {
    /// Asks the kernel.
    pub(crate) fn look() -> Self {
        let total = machine_memory();
        let folders = group_folders();
        let group = smallest(&folders, "memory.max");
        Self {
            memory_bytes: total.into_iter().chain(group).min(),
            memory_is_of_group: group.is_some_and(|group| total.is_none_or(|total| group < total)),
            max_pids: smallest(&folders, "pids.max"),
            max_files: getrlimit(Resource::Nofile).current,
            address_space_bytes: getrlimit(Resource::As).current,
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
            openat2: has_openat2(),
        }
    }
}

/// Memory of the machine or of the control group around this process, the smaller, in bytes.
pub(crate) fn memory_bytes() -> Option<u64> {
    machine_memory()
        .into_iter()
        .chain(smallest(&group_folders(), "memory.max"))
        .min()
}

fn machine_memory() -> Option<u64> {
    total_memory(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn has_openat2() -> bool {
    let opened = openat2(
        CWD,
        ".",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH,
    );
    !matches!(
        opened,
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM)
    )
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The folders of the control groups around this process, the innermost first.
fn group_folders() -> Vec<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))
        .unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    root.join(own)
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_owned)
        .collect()
}

/// The smallest number that a file of these folders holds; `max` is no number.
fn smallest(folders: &[PathBuf], name: &str) -> Option<u64> {
    let read = |folder: &PathBuf| -> Option<u64> {
        fs::read_to_string(folder.join(name))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    folders.iter().filter_map(read).min()
}

/// Whether files can be made in a folder, or in the nearest one above it that exists.
///
/// # Errors
///
/// Why not.
pub(crate) fn can_write(folder: &Path) -> io::Result<()> {
    let existing = folder
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(folder);
    // A file without a name leaves nothing behind, whatever happens.
    tempfile::tempfile_in(existing).map(drop)
}

/// Bytes in the unit that a person would choose.
pub(crate) fn readable_bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fitting = units.iter().find(|(_, shift)| bytes >> shift >= 1);
    match fitting {
        Some((unit, shift)) if bytes.is_multiple_of(1 << shift) => {
            format!("{} {unit}", bytes >> shift)
        }
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1u32 << shift)),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(
            total_memory("MemFree: 1 kB\nMemTotal:       2048 kB\n"),
            Some(2 * 1024 * 1024)
        );
        assert_eq!(total_memory("nothing"), None);
    }

    #[test]
    fn bytes_are_readable() {
        let cases = [
            (5, "5 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (64 << 20, "64 MiB"),
            (3 << 29, "1.5 GiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(readable_bytes(bytes), text);
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_judged_by_the_one_around_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(can_write(&folder.path().join("a/b")).is_ok());
        assert!(can_write(Path::new("/proc/none")).is_err());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            0,
            "nothing is left behind"
        );
    }
}
