//! Walking a directory tree by descriptors, in a stable order, with ignore rules.
//!
//! Links are named to the visitor and never entered, so there are no loops; depth and number of entries are bounded all the same,
//! because file systems can be mounted into each other. Denied directories are passed over in silence: a search
//! must not fail because the workspace happens to hold one.
//!
//! Rules come from `.gitignore`, `.ignore` and `.rgignore` of every directory from the root down, and from
//! `.git/info/exclude`; nothing outside the workspace is asked. In one directory the later of these files wins,
//! and a deeper directory wins over a higher one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, Stat};

use super::open::Identity;
use super::{Resolved, Workspace};
use crate::core::error::CoreError;
use crate::core::stop::Stop;

/// Deepest directory entered, counted from where the walk starts.
const MAX_DEPTH: usize = 128;
/// Longest ignore file that is obeyed.
const MAX_IGNORE_BYTES: u64 = 256 * 1024;
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".rgignore"];

/// How a tree is walked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeOptions {
    /// Also entries whose name begins with a dot. `.git` is never entered.
    pub(crate) hidden: bool,
    /// Obeys ignore rules.
    pub(crate) ignore: bool,
    /// Enters directories.
    pub(crate) recurse: bool,
    /// Most entries looked at.
    pub(crate) max_entries: usize,
}

/// What an entry is, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// One entry of an opened directory.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a OsStr,
    /// Below the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
    dir: BorrowedFd<'a>,
    tree: &'a Tree<'a>,
}

/// A walk over one directory of the workspace.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    workspace: &'a Workspace,
    stop: &'a Stop,
    options: TreeOptions,
    denied: Vec<Identity>,
}

/// Whether a walk saw everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Everything, or as much as the visitor wanted.
    All,
    /// The limit of entries or depth cut it short.
    Part,
}

type Visitor<'v> = dyn FnMut(&Entry<'_>) -> Result<ControlFlow<()>, CoreError> + 'v;

struct Frame {
    fd: OwnedFd,
    path: PathBuf,
    names: std::vec::IntoIter<(OsString, FileType, u64)>,
    rules: Option<Rc<Rules>>,
}

struct Rules {
    own: Gitignore,
    above: Option<Rc<Rules>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(workspace: &'a Workspace, stop: &'a Stop, options: TreeOptions) -> Self {
        Self {
            workspace,
            stop,
            options,
            denied: workspace.denied_now(),
        }
    }

    /// Visits everything under the directory `fd` at `path`, depth first, names in the order of their bytes.
    pub(crate) fn walk(
        &self,
        fd: OwnedFd,
        path: PathBuf,
        visit: &mut Visitor<'_>,
    ) -> Result<Seen, CoreError> {
        let mut left = self.options.max_entries;
        let mut seen = Seen::All;
        let rules = if self.options.ignore {
            self.rules_above(&path)
        } else {
            None
        };
        let mut frames = vec![self.frame(fd, path, rules, &mut left)?];
        loop {
            self.stop.check()?;
            let depth = frames.len();
            let Some(frame) = frames.last_mut() else {
                break;
            };
            let Some((name, kind, ino)) = frame.names.next() else {
                frames.pop();
                continue;
            };
            let Some(kind) = self.admit(frame, &name, kind, ino) else {
                continue;
            };
            let entry = Entry {
                name: &name,
                path: frame.path.join(&name),
                kind,
                dir: frame.fd.as_fd(),
                tree: self,
            };
            if visit(&entry)?.is_break() {
                return Ok(Seen::All);
            }
            if kind == EntryKind::Directory && self.options.recurse {
                if depth >= MAX_DEPTH || left == 0 {
                    seen = Seen::Part;
                    continue;
                }
                let below = self.below(frame, &name, &mut left);
                frames.extend(below);
            }
        }
        Ok(if left == 0 { Seen::Part } else { seen })
    }

    /// The directory `name` as a frame, unless it is denied, unreadable or gone.
    fn below(&self, frame: &Frame, name: &OsStr, left: &mut usize) -> Option<Frame> {
        let fd = self
            .workspace
            .opener
            .directory(frame.fd.as_fd(), name)
            .ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        if self.denied.contains(&Identity::of(&stat)) {
            return None;
        }
        self.frame(fd, frame.path.join(name), frame.rules.clone(), left)
            .ok()
    }

    fn frame(
        &self,
        fd: OwnedFd,
        path: PathBuf,
        above: Option<Rc<Rules>>,
        left: &mut usize,
    ) -> Result<Frame, CoreError> {
        let shown = super::shown(&path);
        let listing = self
            .workspace
            .opener
            .listing(fd.as_fd())
            .map_err(|e| CoreError::io(&shown, e))?;
        let dir = Dir::new(listing).map_err(|e| CoreError::io(&shown, e))?;
        let mut names = Vec::new();
        for entry in dir {
            let entry = entry.map_err(|e| CoreError::io(&shown, e))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if *left == 0 {
                break;
            }
            *left -= 1;
            self.stop.check()?;
            names.push((name.to_owned(), entry.file_type(), entry.ino()));
        }
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let rules = if self.options.ignore {
            self.rules_of(fd.as_fd(), &path, above)
        } else {
            None
        };
        Ok(Frame {
            fd,
            path,
            names: names.into_iter(),
            rules,
        })
    }

    fn admit(&self, frame: &Frame, name: &OsStr, kind: FileType, ino: u64) -> Option<EntryKind> {
        let hidden = name.as_bytes().starts_with(b".");
        if hidden && (!self.options.hidden || (self.options.recurse && name == ".git")) {
            return None;
        }
        let looked = (kind == FileType::Unknown || self.denied.iter().any(|d| d.has_inode(ino)))
            .then(|| rustix::fs::statat(&frame.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok());
        let kind = match looked {
            None => kind,
            Some(stat) => {
                let stat = stat.filter(|stat| !self.denied.contains(&Identity::of(stat)))?;
                FileType::from_raw_mode(stat.st_mode)
            }
        };
        let kind = match kind {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let path = frame.path.join(name);
        let ignored = frame
            .rules
            .as_ref()
            .is_some_and(|rules| rules.ignore(&path, kind == EntryKind::Directory));
        (!ignored).then_some(kind)
    }

    /// The rules of the directories above `path`, the root's first.
    fn rules_above(&self, path: &Path) -> Option<Rc<Rules>> {
        let exclude = self.lines(".git/info/exclude");
        let mut rules = build(Path::new(""), &[exclude], None);
        let above: Vec<_> = path.ancestors().skip(1).collect();
        for dir in above.into_iter().rev() {
            if let Ok(Resolved::Directory { fd, path }) = self.workspace.resolve(&super::shown(dir))
            {
                rules = self.rules_of(fd.as_fd(), &path, rules);
            }
        }
        rules
    }

    fn rules_of(
        &self,
        dir: BorrowedFd<'_>,
        path: &Path,
        above: Option<Rc<Rules>>,
    ) -> Option<Rc<Rules>> {
        let texts = IGNORE_FILES.map(|name| {
            let (fd, stat) = self
                .workspace
                .opener
                .open_regular(dir, OsStr::new(name))
                .ok()?;
            self.text(File::from(fd), &stat)
        });
        build(path, &texts, above)
    }

    fn lines(&self, path: &str) -> Option<String> {
        let opened = self.workspace.open_file(path).ok()?;
        self.text(opened.file, &opened.stat)
    }

    fn text(&self, mut file: File, stat: &Stat) -> Option<String> {
        super::files::require_regular("", stat).ok()?;
        let bytes =
            super::files::read_bounded(&mut file, 0, "", MAX_IGNORE_BYTES, self.stop).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A line that is no valid glob is passed over, as git does.
fn build(dir: &Path, texts: &[Option<String>], above: Option<Rc<Rules>>) -> Option<Rc<Rules>> {
    if texts.iter().all(Option::is_none) {
        return above;
    }
    let mut builder = GitignoreBuilder::new(Path::new("/").join(dir));
    for line in texts.iter().flatten().flat_map(|text| text.lines()) {
        let _invalid = builder.add_line(None, line);
    }
    match builder.build() {
        Ok(own) => Some(Rc::new(Rules { own, above })),
        Err(_) => above,
    }
}

impl Rules {
    fn ignore(&self, path: &Path, is_dir: bool) -> bool {
        let path = Path::new("/").join(path);
        let mut rules = Some(self);
        while let Some(level) = rules {
            match level.own.matched(&path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = level.above.as_deref(),
            }
        }
        false
    }
}

impl Entry<'_> {
    /// Opens the entry if it is a regular file that is not denied; its absence, or a change of its kind, is `None`.
    pub(crate) fn open(&self) -> Option<(File, Stat)> {
        let (fd, stat) = self
            .tree
            .workspace
            .opener
            .open_regular(self.dir, self.name)
            .ok()?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        (regular && !self.tree.denied.contains(&Identity::of(&stat)))
            .then(|| (File::from(fd), stat))
    }

    /// The state of the entry itself.
    pub(crate) fn stat(&self) -> Option<Stat> {
        rustix::fs::statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}
