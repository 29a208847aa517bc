//! Changing files: prepared beside their target, then put in place in one step each, or all taken back.
//!
//! A new content is written to a temporary file in the target's own directory, synced, and exchanged with
//! the target. After the exchange the temporary name holds what was really replaced: if that is not
//! the file that the change was made from, or a later change of the same set fails, it is exchanged back.
//! Where the file system cannot exchange, the target is compared immediately before a plain rename.
//! Nothing is ever opened for writing by the target's name, so a link that appears there is replaced, never followed.
//! A killed process can leave a temporary file (`.codecell-…`) behind, never half a target.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::files::require_regular;
use super::open::Identity;
use super::resolve::MadeDirectories;
use super::{Place, Workspace, shown};
use crate::core::error::CoreError;

/// Permission bits that a replaced file keeps; set-user-id and its kin are dropped.
const KEPT_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const NAME_ATTEMPTS: usize = 64;

static NEXT_TEMP: AtomicU64 = AtomicU64::new(0);

/// What has to be at the target for a change to go ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect {
    /// Anything: the content is replaced unseen.
    Anything,
    /// Nothing.
    Nothing,
    /// This very file in this very state.
    Same(Stat),
}

/// One prepared change.
#[derive(Debug)]
pub(crate) enum Change {
    /// Puts a prepared file in place.
    Put(Staged),
    /// Removes a file.
    Remove(Place, Stat),
}

/// A finished file under a temporary name, removed if it is never put in place.
#[derive(Debug)]
pub(crate) struct Staged {
    dir: OwnedFd,
    temp: OsString,
    name: OsString,
    shown: String,
    expect: Expect,
    keep: bool,
    /// Dropped after the temporary name is gone.
    _made: MadeDirectories,
}

impl Workspace {
    /// Writes `content` beside `place`, making the directories above it.
    ///
    /// `mode` is that of the new file; without one it keeps that of the file it replaces, or what the process's mask gives.
    pub(crate) fn stage(
        &self,
        place: Place,
        content: &[u8],
        expect: Expect,
        mode: Option<Mode>,
    ) -> Result<Staged, CoreError> {
        let mut made = MadeDirectories::default();
        let place = self.make_parents(place, &mut made)?;
        let path = shown(&place.path);
        if let Some(stat) = &place.stat {
            require_regular(&path, stat)?;
        }
        let (file, temp) = self
            .temporary(&place)
            .map_err(|e| CoreError::io(&path, e))?;
        let staged = Staged {
            dir: place.dir,
            temp,
            name: place.name,
            shown: path,
            expect,
            keep: false,
            _made: made,
        };
        let old = place.stat.as_ref();
        let mode = mode.or_else(|| old.map(|stat| Mode::from_raw_mode(stat.st_mode) & KEPT_MODE));
        fill(file, content, mode, old).map_err(|e| CoreError::io(&staged.shown, e))?;
        Ok(staged)
    }

    fn temporary(&self, place: &Place) -> io::Result<(File, OsString)> {
        let mode = if place.stat.is_some() { 0o600 } else { 0o666 };
        for _ in 0..NAME_ATTEMPTS {
            let temp = temporary_name();
            match self
                .opener
                .creating(place.dir.as_fd(), &temp, Mode::from_raw_mode(mode))
            {
                Ok(fd) => return Ok((File::from(fd), temp)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn temporary_name() -> OsString {
    let count = NEXT_TEMP.fetch_add(1, Ordering::Relaxed);
    format!(".codecell-{}-{count}.tmp", std::process::id()).into()
}

fn fill(mut file: File, content: &[u8], mode: Option<Mode>, old: Option<&Stat>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(old) = old {
        keep_owner(&file, old);
    }
    if let Some(mode) = mode {
        rustix::fs::fchmod(&file, mode)?;
    }
    file.sync_all()
}

/// Only the superuser can give files away; for everybody else the new file is theirs, as with any editor.
fn keep_owner(file: &File, old: &Stat) {
    let _refused = rustix::fs::fchown(
        file,
        Some(Uid::from_raw(old.st_uid)),
        Some(Gid::from_raw(old.st_gid)),
    );
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.keep {
            let _gone = rustix::fs::unlinkat(&self.dir, &self.temp, AtFlags::empty());
        }
    }
}

/// What was done, and how to take it back.
enum Done {
    /// The temporary name holds the old file.
    Exchanged(Staged),
    /// The target is new; the temporary name is gone.
    Created(Staged),
    /// The target was replaced in a way that cannot be undone: the whole of a set of one.
    Replaced(Staged),
    /// The target is under the temporary name.
    Removed(Staged),
}

/// Makes all `changes` or none.
///
/// # Errors
/// [`CoreError::Changed`] if a target is not what its change expects; errors of the system. In both cases everything is
/// as before, unless the error is [`CoreError::HalfDone`].
pub(crate) fn commit_all(changes: Vec<Change>) -> Result<(), CoreError> {
    let alone = changes.len() == 1;
    let mut done: Vec<Done> = Vec::new();
    for change in changes {
        match commit(change, alone) {
            Ok(step) => done.push(step),
            Err(error) => return Err(take_back(done, error)),
        }
    }
    done.iter().for_each(|step| step.staged().sync_directory());
    Ok(())
}

fn commit(change: Change, alone: bool) -> Result<Done, CoreError> {
    match change {
        Change::Put(staged) => match staged.expect {
            Expect::Anything => staged.rename_over(),
            Expect::Nothing => staged.create(),
            Expect::Same(stat) => staged.exchange(&stat, alone),
        },
        Change::Remove(place, stat) => remove(place, stat),
    }
}

impl Staged {
    fn error(&self, error: Errno) -> CoreError {
        CoreError::io(&self.shown, error)
    }

    fn changed(&self) -> CoreError {
        CoreError::Changed {
            path: self.shown.clone(),
        }
    }

    /// Makes the new name durable where the file system lets directories be synced.
    fn sync_directory(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let _best_effort =
            rustix::fs::openat(&self.dir, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
    }

    fn rename_over(self) -> Result<Done, CoreError> {
        rustix::fs::renameat(&self.dir, &self.temp, &self.dir, &self.name)
            .map_err(|e| self.error(e))?;
        Ok(Done::Replaced(self))
    }

    fn create(self) -> Result<Done, CoreError> {
        match self.move_to_free(&self.temp, &self.name) {
            Ok(()) => Ok(Done::Created(self)),
            Err(Errno::EXIST) => Err(self.changed()),
            Err(error) => Err(self.error(error)),
        }
    }

    fn holds(&self, name: &OsStr, expected: &Stat) -> bool {
        rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|now| same(&now, expected))
    }

    fn exchange(self, expected: &Stat, alone: bool) -> Result<Done, CoreError> {
        if !self.holds(&self.name, expected) {
            return Err(self.changed());
        }
        match self.rename(&self.temp, &self.name, RenameFlags::EXCHANGE) {
            Ok(()) if self.holds(&self.temp, expected) => Ok(Done::Exchanged(self)),
            Ok(()) => {
                let changed = self.changed();
                Err(take_back(vec![Done::Exchanged(self)], changed))
            }
            Err(Errno::NOENT) => Err(self.changed()),
            Err(Errno::INVAL | Errno::NOSYS) if alone => self.rename_over(),
            Err(error) => Err(self.error(error)),
        }
    }

    fn rename(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> Result<(), Errno> {
        rustix::fs::renameat_with(&self.dir, from, &self.dir, to, flags)
    }

    /// Renames only if nothing has the name `to`; by a hard link where the file system knows no such rename.
    fn move_to_free(&self, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
        match self.rename(from, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::linkat(&self.dir, from, &self.dir, to, AtFlags::empty())?;
                rustix::fs::unlinkat(&self.dir, from, AtFlags::empty())
            }
            other => other,
        }
    }
}

fn remove(place: Place, stat: Stat) -> Result<Done, CoreError> {
    let staged = Staged {
        shown: shown(&place.path),
        dir: place.dir,
        temp: temporary_name(),
        name: place.name,
        expect: Expect::Same(stat),
        keep: false,
        _made: MadeDirectories::default(),
    };
    if !staged.holds(&staged.name, &stat) {
        return Err(staged.changed());
    }
    staged
        .move_to_free(&staged.name, &staged.temp)
        .map_err(|e| staged.error(e))?;
    if staged.holds(&staged.temp, &stat) {
        return Ok(Done::Removed(staged));
    }
    let changed = staged.changed();
    Err(take_back(vec![Done::Removed(staged)], changed))
}

impl Done {
    fn staged(&self) -> &Staged {
        match self {
            Self::Exchanged(s) | Self::Created(s) | Self::Replaced(s) | Self::Removed(s) => s,
        }
    }

    fn undo(&self) -> Result<(), Errno> {
        let s = self.staged();
        match self {
            Self::Exchanged(_) => s.rename(&s.temp, &s.name, RenameFlags::EXCHANGE),
            Self::Created(_) => s.move_to_free(&s.name, &s.temp),
            Self::Removed(_) => s.move_to_free(&s.temp, &s.name),
            Self::Replaced(_) => Ok(()),
        }
    }

    /// Leaves what is under the temporary name where it is, so that nothing is lost.
    fn keep(mut self) -> String {
        let (Self::Exchanged(s) | Self::Created(s) | Self::Replaced(s) | Self::Removed(s)) =
            &mut self;
        s.keep = true;
        format!(
            "{} (its old content is beside it in {})",
            s.shown,
            s.temp.to_string_lossy()
        )
    }
}

/// Undoes `done`, last first, and answers with `cause`, or with what could not be undone.
fn take_back(done: Vec<Done>, cause: CoreError) -> CoreError {
    let mut left = Vec::new();
    for step in done.into_iter().rev() {
        if step.undo().is_err() {
            left.push(step.keep());
        }
    }
    if left.is_empty() {
        cause
    } else {
        CoreError::HalfDone {
            cause: cause.to_string(),
            left: left.join(", "),
        }
    }
}

/// Whether two looks saw the same file in the same state. The change time is left out: a rename sets it.
fn same(a: &Stat, b: &Stat) -> bool {
    Identity::of(a) == Identity::of(b)
        && a.st_size == b.st_size
        && a.st_mtime == b.st_mtime
        && a.st_mtime_nsec == b.st_mtime_nsec
        && a.st_mode == b.st_mode
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::core::stop::Stop;
    use crate::core::workspace::OpenMethod;

    fn workspace(dir: &Path) -> Arc<Workspace> {
        Workspace::open(dir, Vec::new(), OpenMethod::Detect).unwrap()
    }

    fn put(workspace: &Workspace, name: &str, content: &str) -> Change {
        let stop = Stop::new(CancellationToken::new());
        let old = workspace.read_text(name, 100, &stop).unwrap();
        let expect = Expect::Same(old.stat);
        Change::Put(
            workspace
                .stage(old.place, content.as_bytes(), expect, None)
                .unwrap(),
        )
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = workspace(dir.path());
        fs::write(dir.path().join("f"), "old").unwrap();
        let change = put(&workspace, "f", "mine");
        fs::write(dir.path().join("f"), "theirs").unwrap();
        assert!(matches!(
            commit_all(vec![change]),
            Err(CoreError::Changed { .. })
        ));
        assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "theirs");
        assert_eq!(names(dir.path()), ["f"]);
    }

    #[test]
    fn changes_made_before_the_one_that_fails_are_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = workspace(dir.path());
        for name in ["a", "b", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let inode = fs::metadata(dir.path().join("a"))
            .map(|m| std::os::unix::fs::MetadataExt::ino(&m))
            .unwrap();
        let gone = workspace.open_file("b").unwrap();
        let fresh = match workspace.resolve("new/dir/file").unwrap() {
            crate::core::workspace::Resolved::Missing(place) => {
                workspace.stage(place, b"x", Expect::Nothing, None).unwrap()
            }
            other => panic!("{other:?}"),
        };
        let changes = vec![
            put(&workspace, "a", "A"),
            Change::Remove(gone.place, gone.stat),
            Change::Put(fresh),
            put(&workspace, "c", "C"),
        ];
        fs::write(dir.path().join("c"), "theirs").unwrap();
        assert!(matches!(
            commit_all(changes),
            Err(CoreError::Changed { .. })
        ));
        assert_eq!(names(dir.path()), ["a", "b", "c"]);
        for (name, text) in [("a", "a"), ("b", "b"), ("c", "theirs")] {
            assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), text);
        }
        let after = fs::metadata(dir.path().join("a"))
            .map(|m| std::os::unix::fs::MetadataExt::ino(&m))
            .unwrap();
        assert_eq!(inode, after, "the very file is back");
    }

    #[test]
    fn a_name_taken_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = workspace(dir.path());
        let crate::core::workspace::Resolved::Missing(place) = workspace.resolve("f").unwrap()
        else {
            panic!("it is free")
        };
        let staged = workspace
            .stage(place, b"mine", Expect::Nothing, None)
            .unwrap();
        fs::write(dir.path().join("f"), "theirs").unwrap();
        assert!(matches!(
            commit_all(vec![Change::Put(staged)]),
            Err(CoreError::Changed { .. })
        ));
        assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "theirs");
        assert_eq!(names(dir.path()), ["f"]);
    }
}
