//! The table of native functions: an index, the function, and how many values are bound to it.

use crate::js::Native;
use crate::{intrinsics, output, random, timers, tools, yields};

macro_rules! natives {
    ($($(#[$doc:meta])* $index:ident = ($function:path, $bound:expr),)*) => {
        /// Index of a native function in [`TABLE`].
        #[derive(Clone, Copy)]
        #[repr(u16)]
        pub enum Index {
            $($(#[$doc])* $index,)*
        }

        /// The functions by index.
        pub static TABLE: &[(Native, usize)] = &[$(($function, $bound)),*];
    };
}

natives! {
    /// Callback over a map.
    CollectPair = (intrinsics::collect_pair, 0),
    /// Callback over a set.
    CollectItem = (intrinsics::collect_item, 0),
    /// `tools.search`.
    ToolsSearch = (tools::search, 0),
    /// `tools.describe`.
    ToolsDescribe = (tools::describe, 0),
    /// `tools.call`.
    ToolsCall = (tools::call, 0),
    /// `tools.callRaw`.
    ToolsCallRaw = (tools::call_raw, 0),
    /// `tools.<name>`.
    ToolByName = (tools::by_name, 1),
    /// `setTimeout`.
    SetTimeout = (timers::set_timeout, 0),
    /// `clearTimeout`.
    ClearTimeout = (timers::clear_timeout, 0),
    /// `text`.
    Text = (output::text, 0),
    /// `json`.
    Json = (output::json, 0),
    /// `console.*`.
    Console = (output::console, 1),
    /// `print`.
    Print = (output::print, 0),
    /// `Math.random`.
    MathRandom = (random::math_random, 0),
    /// `crypto.randomUUID`.
    RandomUuid = (random::random_uuid, 0),
    /// `yield_control`.
    YieldControl = (yields::yield_control, 0),
}
