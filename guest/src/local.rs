//! Statics of a module that has one thread.

use core::ops::Deref;

/// A static that needs no synchronisation, because the module has neither threads nor shared memory.
pub struct Local<T>(T);

// SAFETY: the target has one thread and no shared memory; the module imports nothing that could add one.
unsafe impl<T> Sync for Local<T> {}

impl<T> Local<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
