//! The C library's heap under guest threads, which come and go.
//!
//! glibc gives threads arenas of their own, eight for each processor, and what was freed in one is of no
//! use in another: a process that runs many cells holds several times the memory it needs, and slowly more.

/// Lets this process have no more arenas than processors. For a program to call before it starts threads;
/// a library leaves the heap to the program. Does nothing where the C library is another.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(processors).unwrap_or(libc::c_int::MAX);
        // SAFETY: the call takes two numbers and only sets a parameter of the allocator under its own lock.
        // That it is refused means that the heap stays as it is.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas.max(2)) };
    }
}
