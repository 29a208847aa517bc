//! The guest image: its name, its checks, and its memory before any program ran.
//!
//! An image is checked once per process. Everything that snapshots rest on is checked here: no
//! import, one mutable global, one memory, one table, a constant control block.

use std::fmt;

use wasmtime::{ExternType, Module, ModuleExport, Mutability, ValType};

use crate::error::SandboxError;

/// BLAKE3 of a guest image's WebAssembly bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageHash(pub(crate) [u8; 32]);

impl ImageHash {
    /// The image of these WebAssembly bytes.
    #[must_use]
    pub fn of(wasm: &[u8]) -> Self {
        Self(*blake3::hash(wasm).as_bytes())
    }

    /// The image of this hash, as it was kept somewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash in full, 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

/// Prints the first 16 hexadecimal digits.
impl fmt::Display for ImageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ImageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageHash({self})")
    }
}

/// Where the exports that the host uses are.
#[derive(Clone, Copy)]
pub(crate) struct ExportIndices {
    pub(crate) memory: ModuleExport,
    pub(crate) stack_pointer: ModuleExport,
    pub(crate) control: ModuleExport,
    pub(crate) input: ModuleExport,
    pub(crate) catalog: ModuleExport,
    pub(crate) eval: ModuleExport,
    pub(crate) resume: ModuleExport,
}

/// What is the same for all fresh instances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Address of the control block, checked to lie in the memory.
    pub(crate) control: u32,
    /// The stack pointer when no guest code is on the stack.
    pub(crate) stack_pointer: u32,
    /// Lowest address of the shadow stack.
    pub(crate) stack_low: u32,
    /// Size of the memory in bytes.
    pub(crate) memory_bytes: u64,
}

/// Checks an image's shape and finds its exports.
pub(crate) fn check_module(module: &Module, wasm: &[u8]) -> Result<ExportIndices, SandboxError> {
    if let Some(import) = module.imports().next() {
        return Err(refuse(format!(
            "it imports {}.{}",
            import.module(),
            import.name()
        )));
    }
    check_resources(module)?;
    check_exports(module)?;
    if mutable_globals(wasm) != Some(1) {
        return Err(refuse(
            "it must have one mutable global, the stack pointer".to_owned(),
        ));
    }
    let function = |name: &str, parameters: usize| {
        let found = module.get_export(name);
        let Some(ExternType::Func(kind)) = found else {
            return Err(refuse(format!("function {name} is missing")));
        };
        let words = |mut types: Box<dyn Iterator<Item = ValType> + '_>| {
            types.all(|item| matches!(item, ValType::I32))
        };
        let shape = kind.params().len() == parameters && kind.results().len() == 1;
        if !shape || !words(Box::new(kind.params())) || !words(Box::new(kind.results())) {
            return Err(refuse(format!("function {name} has another type")));
        }
        index(module, name)
    };
    Ok(ExportIndices {
        memory: index(module, "memory")?,
        stack_pointer: index(module, "__stack_pointer")?,
        control: function("cc_control", 0)?,
        input: function("cc_input", 1)?,
        catalog: function("cc_catalog", 1)?,
        eval: function("cc_eval", 1)?,
        resume: function("cc_resume", 1)?,
    })
}

fn check_resources(module: &Module) -> Result<(), SandboxError> {
    let needs = module.resources_required();
    if needs.num_memories != 1 || needs.num_tables > 1 {
        return Err(refuse(format!(
            "it has {} memories and {} tables",
            needs.num_memories, needs.num_tables
        )));
    }
    Ok(())
}

fn check_exports(module: &Module) -> Result<(), SandboxError> {
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => {}
        _ => {
            return Err(refuse(
                "its memory is missing or of another kind".to_owned(),
            ));
        }
    }
    for export in module.exports() {
        let ExternType::Global(global) = export.ty() else {
            continue;
        };
        let mutable = global.mutability() == Mutability::Var;
        if mutable
            && (export.name() != "__stack_pointer" || !matches!(global.content(), ValType::I32))
        {
            return Err(refuse(format!("it has a mutable global {}", export.name())));
        }
    }
    Ok(())
}

/// How many mutable globals the module defines; `None` when that cannot be told.
///
/// The engine's interface shows exported globals only, and one that is not exported would be missing
/// from every snapshot, so the global section itself is counted.
fn mutable_globals(wasm: &[u8]) -> Option<u32> {
    const GLOBAL_SECTION: u8 = 6;
    let mut rest = wasm.get(8..)?;
    while let Some((&id, tail)) = rest.split_first() {
        let (size, tail) = leb(tail)?;
        let (body, tail) = tail.split_at_checked(size as usize)?;
        if id == GLOBAL_SECTION {
            return count_mutable(body);
        }
        rest = tail;
    }
    Some(0)
}

/// Counts the mutable ones of a global section whose initial values are `i32` constants.
fn count_mutable(body: &[u8]) -> Option<u32> {
    const I32: u8 = 0x7f;
    const I32_CONST: u8 = 0x41;
    const END: u8 = 0x0b;
    let (count, mut rest) = leb(body)?;
    let mut mutable = 0;
    for _ in 0..count {
        let [I32, flag, I32_CONST, tail @ ..] = rest else {
            return None;
        };
        let (_, tail) = leb(tail)?;
        let [END, tail @ ..] = tail else { return None };
        mutable += u32::from(*flag == 1);
        rest = tail;
    }
    rest.is_empty().then_some(mutable)
}

/// An unsigned LEB128 of at most five bytes (or the bits of a signed one), and what follows it.
fn leb(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0u32;
    for (at, &byte) in bytes.iter().take(5).enumerate() {
        value |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

fn index(module: &Module, name: &str) -> Result<ModuleExport, SandboxError> {
    module
        .get_export_index(name)
        .ok_or_else(|| refuse(format!("export {name} is missing")))
}

pub(crate) fn refuse(reason: String) -> SandboxError {
    SandboxError::Image(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 8] = *b"\0asm\x01\0\0\0";

    fn module(sections: &[u8]) -> Vec<u8> {
        [&HEADER[..], sections].concat()
    }

    #[test]
    fn mutable_globals_are_counted_whether_exported_or_not() {
        assert_eq!(mutable_globals(&module(&[])), Some(0));
        let two = [6, 11, 2, 0x7f, 1, 0x41, 0, 0x0b, 0x7f, 0, 0x41, 7, 0x0b];
        assert_eq!(mutable_globals(&module(&two)), Some(1));
        let both = [6, 11, 2, 0x7f, 1, 0x41, 0, 0x0b, 0x7f, 1, 0x41, 7, 0x0b];
        assert_eq!(mutable_globals(&module(&both)), Some(2));
    }

    #[test]
    fn other_globals_and_damage_cannot_be_told() {
        let wide = [6, 6, 1, 0x7e, 1, 0x42, 0, 0x0b];
        assert_eq!(mutable_globals(&module(&wide)), None);
        assert_eq!(mutable_globals(&module(&[6, 200])), None);
        assert_eq!(mutable_globals(b""), None);
    }
}
