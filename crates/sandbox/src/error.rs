//! What can go wrong at the sandbox's boundary, one type per kind of request.

use crate::image::ImageHash;

/// Why a sandbox or a guest could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The WebAssembly engine refused its configuration or could not reserve its memory.
    #[error("the sandbox engine cannot start: {0}")]
    Engine(String),
    /// The guest image does not compile.
    #[error("the guest image does not compile: {0}")]
    Compile(String),
    /// The guest image is not one that this host may run.
    #[error("the guest image is refused: {0}")]
    Image(String),
    /// All slots hold a guest.
    #[error("all {max_guests} guest slots are in use; try again when a cell has ended")]
    NoSlot {
        /// How many slots there are.
        max_guests: u32,
    },
    /// The instance could not be made.
    #[error("a guest cannot be instantiated: {0}")]
    Instantiate(String),
    /// The program's memory limit is larger than a slot.
    #[error("the memory limit of {bytes} bytes is above the sandbox's largest, {max_bytes} bytes")]
    MemoryLimit {
        /// The limit that was asked for.
        bytes: u64,
        /// The largest that the sandbox's slots allow.
        max_bytes: u64,
    },
    /// Source, injection or catalog do not fit.
    #[error("the program's {what} has {bytes} bytes, at most {max_bytes} are allowed")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The most that is allowed.
        max_bytes: u64,
    },
    /// The operating system gave no thread.
    #[error("no guest thread can be started: {0}")]
    Thread(String),
}

/// Why a guest was not entered. The guest is unharmed: nothing was written or run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The guest has ended, was stopped, or was asked for the wrong step.
    #[error("the guest cannot be entered: {0}")]
    WrongStage(&'static str),
    /// One reply passes the message limit.
    #[error("the reply to call {call} has {bytes} bytes, at most {max_bytes} are delivered")]
    PayloadTooLarge {
        /// The call.
        call: u32,
        /// Size of its payload.
        bytes: u64,
        /// [`crate::Limits::message_bytes`].
        max_bytes: u64,
    },
    /// The batch as a whole cannot be addressed or would not fit the guest's memory.
    #[error("the batch of replies has {bytes} bytes, at most {max_bytes} are delivered at once")]
    BatchTooLarge {
        /// Size of the batch.
        bytes: u64,
        /// The most that fits.
        max_bytes: u64,
    },
}

/// Why no snapshot was made. The guest is unharmed unless the error says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The raw delta passes [`crate::Limits::snapshot_bytes`].
    #[error("the snapshot needs {bytes} bytes, at most {max_bytes} are allowed")]
    LimitExceeded {
        /// What the snapshot needs; a lower bound when counting stopped early.
        bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The guest has not been evaluated, has ended or was stopped.
    #[error("the guest cannot be suspended: {0}")]
    WrongStage(&'static str),
    /// The guest's own bookkeeping contradicts itself; it must be discarded.
    #[error("the guest's state is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// Compression failed.
    #[error("the snapshot cannot be compressed: {0}")]
    Compress(String),
    /// The pristine memory that a snapshot is compared with cannot be read.
    #[error("the guest image's memory cannot be read: {0}")]
    Baseline(String),
}

impl From<SandboxError> for SnapshotError {
    fn from(error: SandboxError) -> Self {
        Self::Baseline(error.to_string())
    }
}

/// Why a snapshot was refused or could not be brought back to life.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// It does not start with the format's magic bytes.
    #[error("this is not a snapshot")]
    Magic,
    /// It was written in another version of the format.
    #[error("the snapshot has format version {found}, this host reads {supported}")]
    Version {
        /// The version found.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
    /// It belongs to another guest image.
    #[error("the snapshot belongs to guest image {found}, this host runs {expected}")]
    Image {
        /// The image that it was taken from.
        found: ImageHash,
        /// The image of this host.
        expected: ImageHash,
    },
    /// It belongs to another scope.
    #[error("the snapshot belongs to another owner")]
    Owner,
    /// It is not the one that is due.
    #[error("the snapshot has sequence number {found}, {expected} is due")]
    Sequence {
        /// The number found.
        found: u64,
        /// The number that is due.
        expected: u64,
    },
    /// Its authentication code does not match.
    #[error("the snapshot was changed or signed with another key")]
    Mac,
    /// A length, index or field contradicts another or leaves its bounds.
    #[error("the snapshot is malformed: {0}")]
    Malformed(&'static str),
    /// It is larger than this host accepts.
    #[error("the snapshot expands to {bytes} bytes, at most {max_bytes} are allowed")]
    TooLarge {
        /// Size after decompression.
        bytes: u64,
        /// The most that is accepted.
        max_bytes: u64,
    },
    /// The catalog that was given is not the one of the snapshot.
    #[error("the snapshot needs the catalog of its start")]
    Catalog,
    /// No instance could be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}
