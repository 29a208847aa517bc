//! The control block and other reads and writes of guest memory, all bounds-checked.

use crate::abi::control;

/// Bytes of a guest's memory at an address that the guest or a snapshot named.
pub(crate) fn region(memory: &[u8], address: u32, length: u32) -> Option<&[u8]> {
    let start = address as usize;
    memory.get(start..start.checked_add(length as usize)?)
}

/// As [`region`], to be written.
pub(crate) fn region_mut(memory: &mut [u8], address: u32, length: u32) -> Option<&mut [u8]> {
    let start = address as usize;
    memory.get_mut(start..start.checked_add(length as usize)?)
}

/// The control block of an image. Its address is checked when the image is; memory never shrinks,
/// so a field outside it can only come from a caller's mistake and reads as 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    address: u32,
}

impl Control {
    pub(crate) fn new(address: u32) -> Self {
        Self { address }
    }

    pub(crate) fn read_u32(self, memory: &[u8], field: u32) -> u32 {
        let bytes = region(memory, self.address + field, 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    pub(crate) fn read_u64(self, memory: &[u8], field: u32) -> u64 {
        let bytes = region(memory, self.address + field, 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    pub(crate) fn write(self, memory: &mut [u8], field: u32, value: &[u8]) {
        if let Some(place) = region_mut(memory, self.address + field, value.len() as u32) {
            place.copy_from_slice(value);
        }
    }

    /// Prepares the block for an entry.
    pub(crate) fn enter(self, memory: &mut [u8], now_us: u64, seed: Option<&[u8; 32]>) {
        self.write(memory, control::INTERRUPT, &0u32.to_le_bytes());
        self.write(memory, control::OUTPUT_LEN, &0u32.to_le_bytes());
        self.write(memory, control::NOW_US, &now_us.to_le_bytes());
        if let Some(seed) = seed {
            self.write(memory, control::SEED, seed);
            self.write(memory, control::RESEED, &1u32.to_le_bytes());
        }
    }

    /// The committed output, or `None` when it leaves the memory.
    pub(crate) fn output(self, memory: &[u8]) -> Option<&[u8]> {
        let address = self.read_u32(memory, control::OUTPUT_PTR);
        region(memory, address, self.read_u32(memory, control::OUTPUT_LEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_end_with_the_memory() {
        let memory = [0u8; 16];
        assert_eq!(region(&memory, 12, 4).map(<[u8]>::len), Some(4));
        assert_eq!(region(&memory, 13, 4), None);
        assert_eq!(region(&memory, u32::MAX, u32::MAX), None);
    }

    #[test]
    fn output_that_leaves_the_memory_is_none() {
        let mut memory = vec![0u8; 4096];
        let control = Control::new(64);
        control.write(&mut memory, control::OUTPUT_PTR, &4000u32.to_le_bytes());
        control.write(&mut memory, control::OUTPUT_LEN, &96u32.to_le_bytes());
        assert_eq!(control.output(&memory).map(<[u8]>::len), Some(96));
        control.write(&mut memory, control::OUTPUT_LEN, &97u32.to_le_bytes());
        assert_eq!(control.output(&memory), None);
    }
}
