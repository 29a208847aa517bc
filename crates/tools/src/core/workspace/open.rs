//! One step at a time: opening one named entry of an opened directory, never through a link.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat};

/// How the steps of a path are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenMethod {
    /// `openat2` where the kernel has it, else `openat` with `O_NOFOLLOW`.
    #[default]
    Detect,
    /// `openat` with `O_NOFOLLOW` only; what an old kernel or a strict seccomp filter gets.
    ComponentsOnly,
}

/// What [`OpenMethod`] came to on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opener {
    Kernel,
    Components,
}

/// A file's identity while it lives: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    dev: u64,
    ino: u64,
}

impl Identity {
    #[expect(
        clippy::unnecessary_cast,
        reason = "the widths of dev_t and ino_t differ between platforms"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
        }
    }

    /// Cheaper than a look at the file where a listing gives the inode.
    pub(super) fn has_inode(self, ino: u64) -> bool {
        self.ino == ino
    }
}

/// A directory to walk through. `O_PATH` needs no read permission and cannot have side effects.
#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::DIRECTORY;

const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Not blocking on a FIFO, not taking a terminal over.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

const CREATING: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOCTTY);

pub(super) fn root(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        path,
        DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

impl Opener {
    pub(super) fn detect(root: BorrowedFd<'_>, method: OpenMethod) -> Self {
        let kernel = Self::Kernel.open(root, OsStr::new("."), DIRECTORY, Mode::empty());
        if method == OpenMethod::Detect && kernel.is_ok() {
            Self::Kernel
        } else {
            Self::Components
        }
    }

    pub(super) fn directory(self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        self.open(dir, name, DIRECTORY, Mode::empty())
    }

    /// The directory `dir` itself, opened for listing.
    pub(super) fn listing(self, dir: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        self.open(dir, OsStr::new("."), LISTING, Mode::empty())
    }

    pub(super) fn reading(self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        self.open(dir, name, READING, Mode::empty())
    }

    pub(super) fn creating(
        self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        mode: Mode,
    ) -> io::Result<OwnedFd> {
        self.open(dir, name, CREATING, mode)
    }

    fn open(
        self,
        dir: BorrowedFd<'_>,
        name: &OsStr,
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match self {
            Self::Kernel => kernel_open(dir, name, flags, mode),
            Self::Components => Ok(rustix::fs::openat(dir, name, flags, mode)?),
        }
    }
}

#[cfg(target_os = "linux")]
fn kernel_open(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    Ok(rustix::fs::openat2(dir, name, flags, mode, resolve)?)
}

#[cfg(not(target_os = "linux"))]
fn kernel_open(_: BorrowedFd<'_>, _: &OsStr, _: OFlags, _: Mode) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What a thing that is no regular file is called in an error.
pub(super) fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        FileType::BlockDevice => "block device",
        _ => "special file",
    }
}
