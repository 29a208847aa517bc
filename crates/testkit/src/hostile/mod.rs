//! Programs that mean harm, what each must come to, and the oracle that all of them share.
//!
//! Most are data: `crates/testkit/hostile/<class>/<line>.js`, several programs a file, see [`case`].
//! What a program alone cannot do, such as bending a snapshot or asking with a foreign id, is driven
//! from here, see [`driven`]. Both go through `exec` and `wait` and nothing else.
//!
//! The oracle, for every case: the host answers; a bystander's cells go on completing while it runs,
//! and their latency is recorded; the documented status and kind; the tools' own books agree with the
//! ledger; no canary of another run, the environment or the disk is in any answer, argument or log;
//! slots and suspended cells are given back; no stopped instance is entered again. Nothing here
//! decides what is hostile: the classes are the suite's, see [`class`].

pub mod canary;
pub mod case;
pub mod class;
pub mod driven;
pub mod escapes;
pub mod fakes;
pub mod house;
pub mod judge;
pub mod probe;
pub mod report;
pub mod run;
