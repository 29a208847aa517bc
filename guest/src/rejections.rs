//! Rejections that nobody has handled yet; judged once, when the program has ended.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use std::collections::BTreeMap;

use rquickjs_sys as sys;

use crate::js::{self, JSValue, Val};
use crate::local::Local;

struct Rejection {
    order: u32,
    /// Keeps the promise's address from being used again.
    _promise: Val,
    reason: Val,
}

struct Rejections {
    open: RefCell<BTreeMap<JSValue, Rejection>>,
    next: Cell<u32>,
}

static REJECTIONS: Local<Rejections> = Local::new(Rejections {
    open: RefCell::new(BTreeMap::new()),
    next: Cell::new(0),
});

/// Called by the engine when a promise is rejected without a handler, or gets its first one later.
pub unsafe extern "C" fn track(
    _: *mut sys::JSContext,
    promise: JSValue,
    reason: JSValue,
    handled: bool,
    _: *mut c_void,
) {
    if handled {
        let gone = REJECTIONS.open.borrow_mut().remove(&promise);
        drop(gone);
        return;
    }
    let order = REJECTIONS.next.get();
    REJECTIONS.next.set(order.wrapping_add(1));
    let entry = Rejection {
        order,
        _promise: js::dup(promise),
        reason: js::dup(reason),
    };
    let old = REJECTIONS.open.borrow_mut().insert(promise, entry);
    drop(old);
}

/// The reasons of all open rejections but that of `program`, in the order in which they came.
pub fn take_others(program: JSValue) -> Vec<Val> {
    let open = REJECTIONS.open.take();
    let mut entries: Vec<_> = open
        .into_iter()
        .filter(|(promise, _)| *promise != program)
        .map(|(_, entry)| entry)
        .collect();
    entries.sort_by_key(|entry| entry.order);
    entries.into_iter().map(|entry| entry.reason).collect()
}
