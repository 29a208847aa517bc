//! Wire and durable shapes of codecell: exec and wait, failures, ids
