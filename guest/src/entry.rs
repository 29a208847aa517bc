//! The exports: pre-initialisation, the buffers, and the two entries that run a program.

use core::cell::RefCell;

use crate::abi::{self, ErrorSource, Status, control as at, eval_field as field, eval_flag, fault};
use crate::engine::{self, Refused};
use crate::js;
use crate::limits::Header;
use crate::local::Local;
use crate::run::{self, Settlement, Stopped};
use crate::{
    alloc, catalog, clock, conformance, control, dynamic, errors, frames, globals, inject,
    intrinsics, limits, random,
};

static INPUT: Local<RefCell<Vec<u8>>> = Local::new(RefCell::new(Vec::new()));

/// Builds engine, context and globals. Called once, before the module becomes an image.
#[unsafe(no_mangle)]
pub extern "C" fn cc_init() {
    control::set_u32(at::ABI, abi::ABI_VERSION);
    frames::init();
    let made = engine::init()
        .and_then(|()| intrinsics::init().ok())
        .and_then(|()| globals::init().ok());
    if made.is_none() {
        let thrown = js::take_exception();
        errors::report(ErrorSource::Program, &thrown, &[]);
        control::add_fault(fault::INTERNAL);
    }
}

/// Address of the control block.
#[unsafe(no_mangle)]
pub extern "C" fn cc_control() -> u32 {
    control::address()
}

/// A buffer for `len` bytes of input; 0 when there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn cc_input(len: u32) -> u32 {
    let mut input = INPUT.borrow_mut();
    input.clear();
    // One byte more: the JSON parser wants a NUL behind a payload.
    if input.try_reserve_exact(len as usize + 1).is_err() {
        return 0;
    }
    input.as_ptr() as usize as u32
}

/// Takes the bytes that the host has written into the buffer.
fn take_input(len: u32) -> Option<Vec<u8>> {
    let mut input = INPUT.take();
    if len as usize >= input.capacity().max(1) {
        return None;
    }
    // SAFETY: the capacity suffices, and the host has written `len` bytes; what it has not written is
    // whatever the allocator left there, which is initialised memory of this module.
    unsafe { input.set_len(len as usize) };
    Some(input)
}

/// A page-aligned region for catalog bytes; 0 when refused.
#[unsafe(no_mangle)]
pub extern "C" fn cc_catalog(len: u32) -> u32 {
    catalog::reserve(len)
}

/// Runs the program that the input describes.
#[unsafe(no_mangle)]
pub extern "C" fn cc_eval(len: u32) -> u32 {
    frames::reset();
    let status = take_input(len).map_or(Status::Internal, |input| evaluate(&input));
    leave(status)
}

/// Delivers the settlements in the input.
#[unsafe(no_mangle)]
pub extern "C" fn cc_resume(len: u32) -> u32 {
    frames::reset();
    let status = take_input(len).map_or(Status::Internal, |input| resume(&input));
    leave(status)
}

fn leave(status: Status) -> u32 {
    if matches!(status, Status::Internal) {
        control::add_fault(fault::INTERNAL);
    }
    run::publish_memory();
    status as u32
}

/// What each entry takes from the control block.
fn enter() {
    if let Some(seed) = control::take_seed() {
        random::reseed(&seed);
    }
    engine::set_stack_limit(limits::get(field::STACK_LIMIT_BYTES) as u32);
}

fn evaluate(input: &[u8]) -> Status {
    let Some(header) = Header::parse(input) else {
        return Status::Internal;
    };
    let rest = &input[abi::EVAL_HEADER_BYTES as usize..];
    let source_len = header.get(field::SOURCE_BYTES) as usize;
    let Some((source, injection)) = rest.split_at_checked(source_len) else {
        return Status::Internal;
    };
    if injection.len() != header.get(field::INJECTION_BYTES) as usize {
        return Status::Internal;
    }
    limits::set(header);
    alloc::set_limit(header.get(field::MEMORY_LIMIT_BYTES) as usize);
    clock::start(control::get_u64(at::NOW_US));
    enter();
    if prepare(injection, header).is_err() {
        return refuse(Refused::Thrown);
    }
    launch(source, header)
}

/// Applies injection and flags.
fn prepare(injection: &[u8], header: Header) -> js::Js<()> {
    inject::take(injection)?;
    let flags = header.get(field::FLAGS);
    if flags & eval_flag::DYNAMIC_CODE != 0 {
        dynamic::allow()?;
    }
    if flags & eval_flag::SCRIPT != 0 {
        conformance::init()?;
        run::judge_leniently();
    }
    Ok(())
}

fn launch(source: &[u8], header: Header) -> Status {
    let line = header.get(field::FIRST_LINE) as i32;
    let flags = header.get(field::FLAGS);
    let started = if flags & eval_flag::SCRIPT != 0 {
        engine::run_script(source, line)
    } else {
        engine::start_program(source, line)
    };
    match started {
        Ok(program) => run::start(program),
        Err(refused) => return refuse(refused),
    }
    match run::finish_macrotask() {
        Ok(()) => run::conclude(),
        Err(Stopped) => Status::Interrupted,
    }
}

fn refuse(refused: Refused) -> Status {
    let thrown = js::take_exception();
    if errors::is_uncatchable(&thrown) {
        return Status::Interrupted;
    }
    let source = match refused {
        Refused::Syntax => ErrorSource::Syntax,
        Refused::Thrown => ErrorSource::Program,
    };
    errors::report(source, &thrown, &[]);
    Status::Done
}

fn resume(input: &[u8]) -> Status {
    enter();
    let Some(settlements) = parse_settlements(input) else {
        return Status::Internal;
    };
    for settlement in &settlements {
        match run::deliver(settlement) {
            Ok(true) => {}
            Ok(false) => return Status::Internal,
            Err(Stopped) => return Status::Interrupted,
        }
    }
    let now = control::get_u64(at::NOW_US);
    if run::fire_timers(now).is_err() {
        return Status::Interrupted;
    }
    clock::advance_to(now);
    run::conclude()
}

fn parse_settlements(input: &[u8]) -> Option<Vec<Settlement<'_>>> {
    let count = u32_at(input, 0)?;
    let mut rest = input.get(8..)?;
    let mut settlements = Vec::new();
    for _ in 0..count {
        let payload_len = u32_at(rest, 16)? as usize;
        let body = rest.get(abi::SETTLEMENT_HEADER_BYTES as usize..)?;
        let (payload, after) = body.split_at_checked(payload_len)?;
        settlements.push(Settlement {
            id: u32_at(rest, 0)?,
            kind: u32_at(rest, 4)?,
            arrival_us: u64::from(u32_at(rest, 8)?) | u64::from(u32_at(rest, 12)?) << 32,
            payload,
        });
        rest = after;
    }
    rest.is_empty().then_some(settlements)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}
