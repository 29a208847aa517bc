//! The WebAssembly engine's configuration. Everything that shapes compiled code is fixed here, so
//! that one compiled guest serves every configuration of the product.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

use crate::error::SandboxError;

/// Native stack that guest code may use, in bytes. Sixteen times the engine's own limit: JavaScript
/// frames take more room here than that limit counts.
pub(crate) const WASM_STACK_BYTES: usize = 8 << 20;

/// Stack of a guest thread, in bytes: a WebAssembly stack larger than its thread's would let guest
/// code crash the process.
pub(crate) const THREAD_STACK_BYTES: usize = WASM_STACK_BYTES + (4 << 20);

/// Stack that the host's own code may use on a guest thread while no guest runs on it, in bytes.
pub const FREE_STACK_BYTES: usize = WASM_STACK_BYTES;

/// Address space of a slot: every 32-bit address lies inside, so no bounds checks are compiled.
const RESERVATION_BYTES: u64 = 4 << 30;

/// Table memory that stays mapped between guests, in bytes.
const TABLE_KEEP_RESIDENT_BYTES: usize = 64 << 10;

/// What the pool has to reserve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolShape {
    pub(crate) slots: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) keep_resident: bool,
}

/// Makes the engine.
pub(crate) fn make(shape: PoolShape) -> Result<Engine, SandboxError> {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .memory_init_cow(true)
        .memory_reservation(RESERVATION_BYTES)
        // No stack of this kind is ever made, but the engine compares the two sizes.
        .async_stack_size(WASM_STACK_BYTES)
        .max_wasm_stack(WASM_STACK_BYTES)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(shape)));
    config.wasm_backtrace_max_frames(None);
    Engine::new(&config).map_err(|error| SandboxError::Engine(format!("{error:#}")))
}

fn pool(shape: PoolShape) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let memory_bytes = shape.memory_bytes.min(RESERVATION_BYTES);
    pool.total_core_instances(shape.slots)
        .total_memories(shape.slots)
        .total_tables(shape.slots)
        .max_memory_size(usize::try_from(memory_bytes).unwrap_or(usize::MAX))
        .max_memories_per_module(1)
        .max_tables_per_module(1);
    if shape.keep_resident {
        pool.table_keep_resident(TABLE_KEEP_RESIDENT_BYTES);
    }
    // The memory of an instance that is dropped goes back to the kernel. The engine could put back only the
    // pages that the kernel's page map reports as present; one that is being moved or is swapped out at that
    // moment is not reported, and the next guest of the slot would find what the last one wrote there.
    // Instances worth keeping are kept, and put back, by `kept`.
    pool.pagemap_scan(Enabled::No);
    pool
}
