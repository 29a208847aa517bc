//! The guest host: compile, instantiate, evaluate, snapshot, restore, limits
