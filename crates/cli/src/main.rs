//! The codecell command.

fn main() {}
