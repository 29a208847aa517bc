//! Code mode: exec and wait, cells, the bridge, the ledger, suspended runs
