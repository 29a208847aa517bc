//! The room's integration tests: one binary.
