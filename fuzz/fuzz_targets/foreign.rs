//! `foreign`: see `codecell_testkit::oracles`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecell_testkit::oracles::foreign(bytes));
