//! A program's life, never parked or parked at every await: two ways that must show the same.
//!
//! [`Live`] keeps the guest. [`Ferry`] drops it at every pause: what is left of it are the bytes of its
//! snapshot, which one of two worker processes restores, runs on and hands back.

mod drive;
mod ferry;
mod live;
mod step;

pub use drive::{Answer, Call, drive};
pub use ferry::{Ferry, WORKER_IS_GONE, serve};
pub use live::Live;
pub use step::{Pause, Reply, Step};

/// One way to live through a program.
pub trait Life {
    /// Starts it.
    fn start(&mut self, source: &str, now_us: u64) -> Step;

    /// Delivers replies and goes on.
    fn go_on(&mut self, replies: &[Reply], now_us: u64) -> Step;
}
