//! From results to what a person reads. Pure: strings in, strings out.

pub(crate) mod cell;
pub(crate) mod json;
pub(crate) mod table;
