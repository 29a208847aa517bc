//! Walking a path from the root's descriptor, one component at a time.
//!
//! Invariant: the walk holds the descriptor of every directory between the root and where it stands, and `..`
//! gives up the last of them, so no sequence of renames and links makes it climb above the root.
//! Every entry stepped on is compared with the denied directories by device and inode.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode, Stat};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::open::{Identity, Opener};
use super::{MAX_COMPONENTS, MAX_LINKS, Tree, TreeOptions, Workspace, components_of, shown};
use crate::core::error::CoreError;
use crate::core::stop::Stop;

/// Entries looked at for near names, names given, and how alike they are at least (Jaro-Winkler).
const NEAR_ENTRIES: usize = 2000;
const NEAR_NAMES: usize = 3;
const NEAR_SCORE: f64 = 0.85;

/// How often one component is looked at again when it changes between two calls of the kernel.
const RETRIES: usize = 16;

/// A name in an opened directory.
#[derive(Debug)]
pub(crate) struct Place {
    /// The directory.
    pub(crate) dir: OwnedFd,
    /// The last component.
    pub(crate) name: OsString,
    /// The real path below the root, links resolved.
    pub(crate) path: PathBuf,
    /// What the name was at the time of the walk; `None` when nothing had it.
    pub(crate) stat: Option<Stat>,
    /// Directories still to make above `name`; empty when `dir` is its parent.
    pub(super) above: Vec<OsString>,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// A directory.
    Directory {
        /// Opened for walking.
        fd: OwnedFd,
        /// The real path below the root.
        path: PathBuf,
    },
    /// Anything that is neither directory nor link.
    File(Place),
    /// Nothing yet.
    Missing(Place),
}

/// Directories that were made for a file; those still empty at the end are removed again.
#[derive(Debug, Default)]
pub(super) struct MadeDirectories(Vec<(OwnedFd, OsString)>);

impl MadeDirectories {
    fn add(&mut self, parent: BorrowedFd<'_>, name: &OsStr) {
        self.0.extend(
            parent
                .try_clone_to_owned()
                .ok()
                .map(|parent| (parent, name.to_owned())),
        );
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for (parent, name) in self.0.iter().rev() {
            let _in_use = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
}

struct Walk<'a> {
    workspace: &'a Workspace,
    given: &'a str,
    denied: Vec<Identity>,
    stack: Vec<(OwnedFd, OsString)>,
    queue: VecDeque<OsString>,
    links: usize,
    steps: usize,
}

enum Step {
    Inside,
    Link,
    File(OsString, Stat),
    Missing(OsString),
}

impl Workspace {
    /// Follows `path` from the root.
    pub(crate) fn resolve(&self, path: &str) -> Result<Resolved, CoreError> {
        Walk {
            workspace: self,
            given: path,
            denied: self.denied_now(),
            stack: Vec::new(),
            queue: self.components(path)?.into(),
            links: 0,
            steps: 0,
        }
        .run()
    }

    /// [`Resolved::Missing`] as an error, with the nearest names of the directory where the walk ended.
    pub(crate) fn missing(&self, path: &str) -> CoreError {
        let near = match self.resolve(path) {
            Ok(Resolved::Missing(place)) => self.near(place),
            _ => Vec::new(),
        };
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("; near names are {}", near.join(", "))
        };
        CoreError::Missing {
            path: path.to_owned(),
            hint,
        }
    }

    fn near(&self, place: Place) -> Vec<String> {
        let wanted = place
            .above
            .first()
            .unwrap_or(&place.name)
            .to_string_lossy()
            .to_lowercase();
        let above = place
            .path
            .iter()
            .count()
            .saturating_sub(place.above.len() + 1);
        let path: PathBuf = place.path.iter().take(above).collect();
        let stop = Stop::new(CancellationToken::new());
        let options = TreeOptions {
            hidden: true,
            ignore: false,
            recurse: false,
            max_entries: NEAR_ENTRIES,
        };
        let mut scored: Vec<(f64, String)> = Vec::new();
        let _partial = Tree::new(self, &stop, options).walk(place.dir, path, &mut |entry| {
            let score = strsim::jaro_winkler(&entry.name.to_string_lossy().to_lowercase(), &wanted);
            if score >= NEAR_SCORE {
                scored.push((score, format!("`{}`", shown(&entry.path))));
            }
            Ok(ControlFlow::Continue(()))
        });
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored
            .into_iter()
            .take(NEAR_NAMES)
            .map(|(_, name)| name)
            .collect()
    }

    /// Makes the directories that are missing above `place`, so that its `dir` is its parent; `made` gets what is new.
    pub(super) fn make_parents(
        &self,
        mut place: Place,
        made: &mut MadeDirectories,
    ) -> Result<Place, CoreError> {
        let path = shown(&place.path);
        for name in std::mem::take(&mut place.above) {
            match rustix::fs::mkdirat(&place.dir, &name, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.add(place.dir.as_fd(), &name),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(CoreError::io(&path, error)),
            }
            let next = self
                .opener
                .directory(place.dir.as_fd(), &name)
                .map_err(|_| CoreError::Changed { path: path.clone() })?;
            let stat = rustix::fs::fstat(&next).map_err(|e| CoreError::io(&path, e))?;
            if self.denied_now().contains(&Identity::of(&stat)) {
                return Err(CoreError::Denied { path });
            }
            place.dir = next;
        }
        Ok(place)
    }
}

impl Walk<'_> {
    fn run(mut self) -> Result<Resolved, CoreError> {
        while let Some(name) = self.queue.pop_front() {
            self.steps += 1;
            if self.steps > MAX_COMPONENTS {
                return Err(CoreError::BadPath {
                    path: self.given(),
                    reason: "it has more than 128 components",
                });
            }
            if name == ".." {
                self.stack.pop().ok_or_else(|| self.outside())?;
                continue;
            }
            match self.step(name)? {
                Step::Inside | Step::Link => {}
                Step::File(name, stat) => return self.file(name, stat),
                Step::Missing(name) => return self.nothing(name),
            }
        }
        let path = self.path();
        let fd = self.take_top()?;
        Ok(Resolved::Directory { fd, path })
    }

    fn step(&mut self, name: OsString) -> Result<Step, CoreError> {
        for _ in 0..RETRIES {
            let stat = match rustix::fs::statat(self.top(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => return Ok(Step::Missing(name)),
                Err(error) => return Err(CoreError::io(self.given, error)),
            };
            self.refuse_denied(&stat)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => match rustix::fs::readlinkat(self.top(), &name, Vec::new()) {
                    Ok(target) => return self.follow(OsString::from_vec(target.into_bytes())),
                    Err(Errno::INVAL | Errno::NOENT) => {}
                    Err(error) => return Err(CoreError::io(self.given, error)),
                },
                FileType::Directory => match self.workspace.opener.directory(self.top(), &name) {
                    Ok(fd) => return self.enter(fd, name),
                    Err(error) if is_swap(&error) => {}
                    Err(error) => return Err(CoreError::io(self.given, error)),
                },
                _ => return Ok(Step::File(name, stat)),
            }
        }
        Err(CoreError::Changed { path: self.given() })
    }

    fn enter(&mut self, fd: OwnedFd, name: OsString) -> Result<Step, CoreError> {
        let stat = rustix::fs::fstat(&fd).map_err(|e| CoreError::io(self.given, e))?;
        self.refuse_denied(&stat)?;
        self.stack.push((fd, name));
        Ok(Step::Inside)
    }

    fn follow(&mut self, target: OsString) -> Result<Step, CoreError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(CoreError::Loop { path: self.given() });
        }
        let target = PathBuf::from(target);
        if target.is_absolute() {
            self.stack.clear();
        }
        let inside = self
            .workspace
            .relativise(&target)
            .ok_or_else(|| self.outside())?;
        for name in components_of(&inside).into_iter().rev() {
            self.queue.push_front(name);
        }
        Ok(Step::Link)
    }

    fn file(mut self, name: OsString, stat: Stat) -> Result<Resolved, CoreError> {
        if !self.queue.is_empty() {
            return Err(CoreError::NotADirectory { path: self.given() });
        }
        Ok(Resolved::File(self.place(name, Some(stat), Vec::new())?))
    }

    fn nothing(mut self, first: OsString) -> Result<Resolved, CoreError> {
        let mut above = vec![first];
        above.extend(std::mem::take(&mut self.queue));
        if above.iter().any(|name| name == "..") {
            return Err(CoreError::Missing {
                path: self.given(),
                hint: String::new(),
            });
        }
        let name = above.pop().unwrap_or_default();
        Ok(Resolved::Missing(self.place(name, None, above)?))
    }

    fn place(
        &mut self,
        name: OsString,
        stat: Option<Stat>,
        above: Vec<OsString>,
    ) -> Result<Place, CoreError> {
        let mut path = self.path();
        path.extend(&above);
        path.push(&name);
        Ok(Place {
            dir: self.take_top()?,
            name,
            path,
            stat,
            above,
        })
    }

    fn top(&self) -> BorrowedFd<'_> {
        self.stack
            .last()
            .map_or(self.workspace.root(), |(fd, _)| fd.as_fd())
    }

    fn take_top(&mut self) -> Result<OwnedFd, CoreError> {
        match self.stack.pop() {
            Some((fd, _)) => Ok(fd),
            None => self
                .workspace
                .root
                .try_clone()
                .map_err(|e| CoreError::io(self.given, e)),
        }
    }

    fn path(&self) -> PathBuf {
        self.stack.iter().map(|(_, name)| name).collect()
    }

    fn refuse_denied(&self, stat: &Stat) -> Result<(), CoreError> {
        if self.denied.contains(&Identity::of(stat)) {
            Err(CoreError::Denied { path: self.given() })
        } else {
            Ok(())
        }
    }

    fn given(&self) -> String {
        self.given.to_owned()
    }

    fn outside(&self) -> CoreError {
        CoreError::Outside { path: self.given() }
    }
}

/// The entry became something else between two calls: look again.
pub(super) fn is_swap(error: &std::io::Error) -> bool {
    let raw = error.raw_os_error();
    [Errno::LOOP, Errno::NOTDIR, Errno::NOENT, Errno::XDEV]
        .iter()
        .any(|e| raw == Some(e.raw_os_error()))
}

impl Opener {
    /// Opens `name` for reading and returns its state too; a link or a special file is left closed.
    pub(super) fn open_regular(
        self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
    ) -> std::io::Result<(OwnedFd, Stat)> {
        let fd = self.reading(dir, name)?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((fd, stat))
    }
}
