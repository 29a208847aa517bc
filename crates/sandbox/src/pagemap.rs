//! Which pages of a guest's memory may have been written, as the kernel knows it.
//!
//! Only a hint that saves comparing: pages that are reported are still compared with the image. A page
//! of the image that was never written is backed by the image's file, one beyond it by nothing or the
//! zero page; everything else was written, now or by an earlier guest of the slot.

use std::ops::Range;

/// Whether the kernel can tell (Linux 6.7 and later).
pub(crate) fn is_supported() -> bool {
    let probe = [0u8; 1];
    system::scan(&probe, &mut |_| {}).is_some()
}

/// Ranges of pages of 4096 bytes, rising and apart; `None` when the kernel cannot tell.
///
/// The memory must be page-aligned, which linear memories are.
pub(crate) fn written_pages(memory: &[u8]) -> Option<Vec<Range<u32>>> {
    let mut ranges = Vec::with_capacity(32);
    system::scan(memory, &mut |range| ranges.push(range))?;
    Some(ranges)
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsRawFd;
    use std::sync::LazyLock;

    /// This process's page map. A child made by `fork` without `exec` would see its parent's, but
    /// guests are never entered in such a child.
    static PAGEMAP: LazyLock<Option<File>> =
        LazyLock::new(|| File::open("/proc/self/pagemap").ok());

    const PAGE: u64 = 4096;

    /// `PAGEMAP_SCAN`: `_IOWR('f', 16, struct pm_scan_arg)`, from linux/fs.h.
    const PAGEMAP_SCAN: u64 =
        (3 << 30) | ((size_of::<ScanArgument>() as u64) << 16) | ((b'f' as u64) << 8) | 16;

    const IS_FILE: u64 = 1 << 2;
    const IS_PRESENT: u64 = 1 << 3;
    const IS_SWAPPED: u64 = 1 << 4;
    const IS_ZERO_PAGE: u64 = 1 << 5;

    /// Regions that one call may report.
    const REGIONS: usize = 64;

    /// `struct pm_scan_arg` of linux/fs.h.
    #[repr(C)]
    #[derive(Default)]
    struct ScanArgument {
        size: u64,
        flags: u64,
        start: u64,
        end: u64,
        walk_end: u64,
        regions: u64,
        region_count: u64,
        max_pages: u64,
        inverted: u64,
        all_of: u64,
        any_of: u64,
        returned: u64,
    }

    /// `struct page_region` of linux/fs.h.
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Region {
        start: u64,
        end: u64,
        categories: u64,
    }

    /// Reports ranges of pages that exist and are neither backed by a file nor the zero page.
    pub(super) fn scan(memory: &[u8], report: &mut dyn FnMut(Range<u32>)) -> Option<()> {
        let pagemap = PAGEMAP.as_ref()?;
        let base = memory.as_ptr().addr() as u64 / PAGE * PAGE;
        let end = (memory.as_ptr().addr() + memory.len()) as u64;
        let end = end.next_multiple_of(PAGE);
        let mut regions = [Region::default(); REGIONS];
        let mut start = base;
        while start < end {
            let (count, walked) = step(pagemap, start..end, &mut regions)?;
            for region in regions.get(..count)? {
                report(page(region.start, base)..page(region.end, base));
            }
            if walked <= start {
                return None;
            }
            start = walked;
        }
        Some(())
    }

    /// One call: how many regions it filled, and how far it came.
    fn step(
        pagemap: &File,
        range: Range<u64>,
        regions: &mut [Region; REGIONS],
    ) -> Option<(usize, u64)> {
        let mut argument = ScanArgument {
            size: size_of::<ScanArgument>() as u64,
            start: range.start,
            end: range.end,
            // The kernel writes through this address: its provenance is handed over with it.
            regions: regions.as_mut_ptr().expose_provenance() as u64,
            region_count: REGIONS as u64,
            inverted: IS_FILE | IS_ZERO_PAGE,
            all_of: IS_FILE | IS_ZERO_PAGE,
            any_of: IS_PRESENT | IS_SWAPPED,
            ..ScanArgument::default()
        };
        // SAFETY: the descriptor is open for the whole call. The kernel reads and writes the argument,
        // a live `pm_scan_arg` whose size field is its size, and writes at most `region_count` entries
        // to `regions`, a live array of that many, exclusively borrowed. Without a flag set the call
        // changes nothing about the scanned range, which it does not dereference.
        let count =
            unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut argument) };
        Some((usize::try_from(count).ok()?, argument.walk_end))
    }

    fn page(address: u64, base: u64) -> u32 {
        (address.saturating_sub(base) / PAGE) as u32
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ops::Range;

    pub(super) fn scan(_: &[u8], _: &mut dyn FnMut(Range<u32>)) -> Option<()> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_written_page_is_reported() {
        if !is_supported() {
            return;
        }
        // Large enough to be mapped on its own, and not written by the allocator.
        let mut memory = vec![0u8; 4 << 20];
        let start = memory.as_ptr().addr().next_multiple_of(4096) - memory.as_ptr().addr();
        let written: Vec<u32> = (0..500).step_by(3).collect();
        for page in &written {
            memory[start + *page as usize * 4096 + 77] = 1;
        }
        let aligned = &memory[start..start + 1000 * 4096];
        // Again and again, because the kernel may be moving some of them: `echo 1 > /proc/sys/vm/compact_memory`
        // beside this makes it do so.
        for _ in 0..1000 {
            let ranges = written_pages(aligned).unwrap_or_default();
            let reported: Vec<u32> = ranges.iter().cloned().flatten().collect();
            assert!(reported.is_sorted());
            assert!(
                written
                    .iter()
                    .all(|page| reported.binary_search(page).is_ok())
            );
        }
    }
}
