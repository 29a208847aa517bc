//! From module to image: pre-initialisation, and the invariants that snapshots rely on.
//!
//! The initialised memory becomes the image's data. The dead part of the shadow stack, below its pointer,
//! is zeroed first, so that it is no part of the image. Checked of every image: no imports, one memory,
//! one table, one mutable global (the stack pointer), the exports of the bridge, no instruction that changes
//! anything else than memory and globals.

use std::future::Future;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use anyhow::{Context, Result, bail, ensure};
use wasmparser::{FunctionBody, Operator, Parser, Payload};
use wasmtime::{Config, Engine, ExternType, Instance, Module, Mutability, Store, Val, ValType};
use wasmtime_wizer::{InstanceState, SnapshotVal, Wizer};

const INIT: &str = "cc_init";
const EXPORTS: [&str; 5] = [
    "cc_control",
    "cc_input",
    "cc_catalog",
    "cc_eval",
    "cc_resume",
];
/// Fault bits of the control block.
const FAULTS_OFFSET: usize = 16;
/// Address and length of the output buffer in the control block.
const OUTPUT_OFFSET: usize = 8;

/// Runs the initialisation and gives the image.
pub(crate) fn make(module: &[u8]) -> Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func(INIT).keep_init_func(false);
    let (context, instrumented) = wizer.instrument(module).map_err(flat)?;
    let engine = Engine::new(&Config::new()).map_err(flat)?;
    let compiled = Module::new(&engine, &instrumented).map_err(flat)?;
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &compiled, &[]).map_err(flat)?;
    let init = instance
        .get_typed_func::<(), ()>(&mut store, INIT)
        .map_err(flat)?;
    init.call(&mut store, ())
        .map_err(flat)
        .context("pre-initialisation trapped")?;
    check_faults(&mut store, instance)?;
    zero_dead_stack(&mut store, instance)?;
    let mut state = State { store, instance };
    let image = ready(wizer.snapshot(&context, &mut state))?.map_err(flat)?;
    check(&image)?;
    Ok(image)
}

fn flat(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

/// Polls a future that never waits.
fn ready<T>(future: impl Future<Output = T>) -> Result<T> {
    match pin!(future).poll(&mut TaskContext::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => bail!("taking the image waited for something"),
    }
}

struct State {
    store: Store<()>,
    instance: Instance,
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: wasmtime_wizer::ValType) -> SnapshotVal {
        match self
            .instance
            .get_global(&mut self.store, name)
            .map(|global| global.get(&mut self.store))
        {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(value)) => SnapshotVal::F32(value),
            Some(Val::F64(value)) => SnapshotVal::F64(value),
            _ => SnapshotVal::I32(0),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(memory) = self.instance.get_memory(&mut self.store, name) {
            contents(memory.data(&self.store));
        }
    }
}

fn memory(store: &mut Store<()>, instance: Instance) -> Result<wasmtime::Memory> {
    instance
        .get_memory(store, "memory")
        .context("the guest exports no memory")
}

fn check_faults(store: &mut Store<()>, instance: Instance) -> Result<()> {
    let control = instance
        .get_typed_func::<(), u32>(&mut *store, "cc_control")
        .map_err(flat)?;
    let at = control.call(&mut *store, ()).map_err(flat)? as usize;
    let memory = memory(store, instance)?;
    let bytes = memory.data(&*store);
    let word = |offset: usize| -> Result<usize> {
        let word = bytes.get(at + offset..at + offset + 4);
        let word = word.context("the control block is outside memory")?;
        Ok(u32::from_le_bytes(word.try_into()?) as usize)
    };
    let faults = word(FAULTS_OFFSET)?;
    if faults != 0 {
        let start = word(OUTPUT_OFFSET)?;
        let said = bytes.get(start..start + word(OUTPUT_OFFSET + 4)?);
        let said = String::from_utf8_lossy(said.unwrap_or_default());
        bail!("pre-initialisation failed (faults {faults}): {said}");
    }
    Ok(())
}

fn zero_dead_stack(store: &mut Store<()>, instance: Instance) -> Result<()> {
    let pointer = instance
        .get_global(&mut *store, "__stack_pointer")
        .and_then(|global| global.get(&mut *store).i32())
        .context("the guest exports no stack pointer")?;
    let memory = memory(store, instance)?;
    let dead = memory
        .data_mut(store)
        .get_mut(..pointer as usize)
        .context("the stack is outside memory")?;
    dead.fill(0);
    Ok(())
}

/// Checks the invariants of an image.
pub(crate) fn check(image: &[u8]) -> Result<()> {
    let module = Module::new(&Engine::default(), image).map_err(flat)?;
    let imports: Vec<String> = module
        .imports()
        .map(|i| format!("{}.{}", i.module(), i.name()))
        .collect();
    ensure!(
        imports.is_empty(),
        "the guest imports {}",
        imports.join(", ")
    );
    let (mut memories, mut mutable) = (0, Vec::new());
    for export in module.exports() {
        match export.ty() {
            ExternType::Memory(_) => memories += 1,
            ExternType::Global(global) if global.mutability() == Mutability::Var => {
                ensure!(
                    matches!(global.content(), ValType::I32),
                    "a mutable global is no i32"
                );
                mutable.push(export.name().to_owned());
            }
            _ => {}
        }
    }
    ensure!(memories == 1, "the guest has {memories} exported memories");
    ensure!(
        mutable == ["__stack_pointer"],
        "mutable globals: {}",
        mutable.join(", ")
    );
    for name in EXPORTS {
        ensure!(
            module.get_export(name).is_some(),
            "the guest does not export {name}"
        );
    }
    check_inside(image)
}

/// Checks what exports do not show: one table, one memory, and no instruction that alters a table or lets
/// go of a segment. So the memory and the stack pointer are all that an instance can change, which is what
/// a host that keeps instances has to put back.
fn check_inside(image: &[u8]) -> Result<()> {
    let (mut tables, mut memories) = (0, 0);
    for payload in Parser::new(0).parse_all(image) {
        match payload? {
            Payload::TableSection(section) => tables += section.count(),
            Payload::MemorySection(section) => memories += section.count(),
            Payload::CodeSectionEntry(body) => check_code(&body)?,
            _ => {}
        }
    }
    ensure!(
        tables == 1 && memories == 1,
        "{tables} tables and {memories} memories"
    );
    Ok(())
}

fn check_code(body: &FunctionBody<'_>) -> Result<()> {
    for operator in body.get_operators_reader()? {
        let operator = operator?;
        ensure!(
            !matches!(
                operator,
                Operator::TableSet { .. }
                    | Operator::TableGrow { .. }
                    | Operator::TableFill { .. }
                    | Operator::TableCopy { .. }
                    | Operator::TableInit { .. }
                    | Operator::ElemDrop { .. }
                    | Operator::DataDrop { .. }
            ),
            "the guest changes more than its memory: {operator:?}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_changes_its_table_is_refused() {
        // (module (table 1 funcref) (memory 1) (func (drop (table.grow 0 (ref.null func) (i32.const 1)))))
        let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x04\x04\x01\x70\0\x01\
            \x05\x03\x01\0\x01\x0a\x0c\x01\x0a\0\xd0\x70\x41\x01\xfc\x0f\0\x1a\x0b";
        let refusal = check_inside(module).err().map(|error| error.to_string());
        assert!(refusal.is_some_and(|text| text.contains("TableGrow")));
    }

    #[test]
    fn an_image_with_an_import_is_refused() {
        // (module (import "a" "b" (func)))
        let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01a\x01b\0\0";
        let refusal = check(module).err().map(|error| error.to_string());
        assert_eq!(refusal.as_deref(), Some("the guest imports a.b"));
    }
}
