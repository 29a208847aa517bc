//! Which errors the engine itself made because it ran out of stack or memory.
//!
//! The engine tells by a hook (see `c/engine.h`), so no text of an error is believed. The last error of
//! each kind is remembered by identity: the one that ends a program is the one that was made last.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;

use rquickjs_sys as sys;

use crate::abi::fault;
use crate::control;
use crate::js::{self, JSValue, Val};
use crate::local::Local;

struct Exhaustion {
    stack: RefCell<Option<Val>>,
    memory: RefCell<Option<Val>>,
    /// Memory was so short that no error object could be made; `null` is thrown instead.
    nameless: Cell<bool>,
}

static EXHAUSTION: Local<Exhaustion> = Local::new(Exhaustion {
    stack: RefCell::new(None),
    memory: RefCell::new(None),
    nameless: Cell::new(false),
});

/// Called by the engine after it has thrown such an error; gives `thrown` back.
#[unsafe(no_mangle)]
pub extern "C" fn codecell_engine_error(thrown: JSValue, kind: i32, _: *mut c_void) -> JSValue {
    if js::ctx().is_null() {
        return thrown;
    }
    let error = js::take_exception();
    let slot = if kind == 0 {
        control::add_fault(fault::STACK_OVERFLOW);
        &EXHAUSTION.stack
    } else {
        control::add_fault(fault::OUT_OF_MEMORY);
        EXHAUSTION.nameless.set(!js::is_object(error.raw()));
        &EXHAUSTION.memory
    };
    if js::is_object(error.raw()) {
        let old = slot.replace(Some(error.clone()));
        drop(old);
    }
    js::throw(error);
    thrown
}

fn is(slot: &RefCell<Option<Val>>, thrown: JSValue) -> bool {
    slot.borrow()
        .as_ref()
        .is_some_and(|error| error.raw() == thrown)
}

/// The fault bit that says that `thrown`, which ended the program, is the engine's own.
pub fn fault_of(thrown: JSValue) -> u32 {
    if is(&EXHAUSTION.stack, thrown) {
        return fault::ENDED_BY_STACK;
    }
    let nameless = js::tag(thrown) == sys::JS_TAG_NULL && EXHAUSTION.nameless.get();
    if nameless || is(&EXHAUSTION.memory, thrown) {
        return fault::ENDED_BY_MEMORY;
    }
    0
}
