//! Configuration: JSON5 to raw to checked and clamped options
