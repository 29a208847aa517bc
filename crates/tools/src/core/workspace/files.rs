//! Reading regular files, whole and bounded.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{FileType, Stat};

use super::open::kind_name;
use super::resolve::is_swap;
use super::{Place, Resolved, Workspace};
use crate::core::error::CoreError;
use crate::core::stop::Stop;

/// Bytes between two looks at the abort signal.
const BLOCK_BYTES: usize = 256 * 1024;

/// A regular file, opened for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The file; reads do not block on anything but the disk.
    pub(crate) file: File,
    /// Its state when it was opened.
    pub(crate) stat: Stat,
    /// Where it is.
    pub(crate) place: Place,
}

/// A text file, read whole, with what is needed to replace it.
#[derive(Debug)]
pub(crate) struct FileText {
    /// The content.
    pub(crate) text: String,
    /// Its state when it was read.
    pub(crate) stat: Stat,
    /// Where it is.
    pub(crate) place: Place,
}

impl Opened {
    /// The size when it was opened.
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }

    /// The real path below the root.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.place.path
    }

    /// Everything, if it is at most `limit_bytes`, however the file grows meanwhile.
    pub(crate) fn read_all(
        &mut self,
        given: &str,
        limit_bytes: u64,
        stop: &Stop,
    ) -> Result<Vec<u8>, CoreError> {
        let len_bytes = self.len();
        read_bounded(&mut self.file, len_bytes, given, limit_bytes, stop)
    }
}

/// Everything in `file`, whose size was `len_bytes`, if it is at most `limit_bytes`.
pub(super) fn read_bounded(
    file: &mut File,
    len_bytes: u64,
    given: &str,
    limit_bytes: u64,
    stop: &Stop,
) -> Result<Vec<u8>, CoreError> {
    let too_large = |bytes| CoreError::TooLarge {
        path: given.to_owned(),
        bytes,
        limit_bytes,
        advice: "find the lines that matter with `grep`, or cut it with the shell",
    };
    if len_bytes > limit_bytes {
        return Err(too_large(len_bytes));
    }
    let mut bytes = Vec::new();
    while read_block(file, &mut bytes).map_err(|e| CoreError::io(given, e))? > 0 {
        stop.check()?;
        if bytes.len() as u64 > limit_bytes {
            return Err(too_large(bytes.len() as u64));
        }
    }
    Ok(bytes)
}

fn read_block(file: &mut File, into: &mut Vec<u8>) -> io::Result<usize> {
    file.take(BLOCK_BYTES as u64).read_to_end(into)
}

impl Workspace {
    /// Opens the regular file `path` for reading; a named pipe, device or socket is refused without being waited for.
    pub(crate) fn open_file(&self, path: &str) -> Result<Opened, CoreError> {
        for _ in 0..16 {
            let place = match self.resolve(path)? {
                Resolved::File(place) => place,
                Resolved::Missing(_) => return Err(self.missing(path)),
                Resolved::Directory { .. } => return Err(not_a_file(path, FileType::Directory)),
            };
            if let Some(stat) = &place.stat {
                require_regular(path, stat)?;
            }
            match self.opener.open_regular(place.dir.as_fd(), &place.name) {
                Ok((fd, stat)) => return self.opened(path, place, File::from(fd), stat),
                Err(error) if is_swap(&error) => {}
                Err(error) => return Err(CoreError::io(path, error)),
            }
        }
        Err(CoreError::Changed {
            path: path.to_owned(),
        })
    }

    fn opened(
        &self,
        path: &str,
        place: Place,
        file: File,
        stat: Stat,
    ) -> Result<Opened, CoreError> {
        require_regular(path, &stat)?;
        if self.denied_now().contains(&super::Identity::of(&stat)) {
            return Err(CoreError::Denied {
                path: path.to_owned(),
            });
        }
        Ok(Opened { file, stat, place })
    }

    /// Reads the UTF-8 file `path` whole, to change it.
    pub(crate) fn read_text(
        &self,
        path: &str,
        limit_bytes: u64,
        stop: &Stop,
    ) -> Result<FileText, CoreError> {
        let mut opened = self.open_file(path)?;
        let bytes = opened.read_all(path, limit_bytes, stop)?;
        let len = bytes.len() as u64;
        let text = String::from_utf8(bytes).map_err(|_| CoreError::Binary {
            path: path.to_owned(),
            bytes: len,
            reason: "some of it is not UTF-8",
            verb: "changed",
        })?;
        Ok(FileText {
            text,
            stat: opened.stat,
            place: opened.place,
        })
    }
}

fn not_a_file(path: &str, kind: FileType) -> CoreError {
    CoreError::NotAFile {
        path: path.to_owned(),
        kind: kind_name(kind),
    }
}

/// Refuses everything but a regular file.
pub(super) fn require_regular(path: &str, stat: &Stat) -> Result<(), CoreError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        kind => Err(not_a_file(path, kind)),
    }
}
