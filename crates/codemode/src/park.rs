//! The journey of a parked cell: to bytes, wherever the transport takes them, and back to life.
//!
//! Used by tests of suspension only; see [`Park::EveryAwait`](crate::Park::EveryAwait).

use codecell_sandbox::{
    Binding, CatalogImage, Expected, Guest, Snapshot, SnapshotKey, StoredSnapshot,
};

use crate::failure::CellError;
use crate::services::CodeModeParts;

/// Encodes, ships, decodes and restores.
pub(crate) fn journey(
    parts: &CodeModeParts,
    snapshot: &Snapshot,
    binding: Binding,
    catalog: Option<&CatalogImage>,
) -> Result<Guest, CellError> {
    let sandbox = &parts.sandbox;
    let key = SnapshotKey::new(parts.randomness.seed());
    let stored = sandbox
        .compress(snapshot)
        .map_err(|_| CellError::Internal("a parked cell could not be compressed"))?;
    let mut bytes = stored.encode(Some(&key));
    if let Some(transport) = &parts.transport {
        bytes = transport
            .ship(bytes)
            .map_err(|_| CellError::Internal("a parked cell was lost on its way"))?;
    }
    let max_raw_bytes = snapshot.limits().snapshot_bytes;
    let expected = Expected {
        image: sandbox.image(),
        binding,
        key: Some(&key),
        max_raw_bytes,
    };
    let stored = StoredSnapshot::decode(&bytes, &expected).map_err(CellError::Restore)?;
    let snapshot = sandbox.expand(&stored).map_err(CellError::Restore)?;
    sandbox
        .restore(&snapshot, catalog)
        .map_err(CellError::Restore)
}
