//! Device memory, at addresses that the CPU cannot read, and pinned host memory.

use std::alloc::Layout;
use std::collections::BTreeMap;

use crate::faults::{Fault, Outcome, complain};

/// Address of the first block of device 0. Nothing is mapped there.
const FIRST_ADDRESS: u64 = 0x2000_0000_0000;
/// Size of the address range of each device.
const ADDRESSES_OF_DEVICE: u64 = 0x100_0000_0000;
/// Alignment of blocks, and size of the gap after each block.
const ALIGNMENT: u64 = 256;
/// Byte that fills new blocks, whose content must not be assumed to be zero.
const GARBAGE: u8 = 0xa5;

/// A block of main memory, aligned to a page.
struct Backing {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the backing owns the bytes, and the machine's lock guards them.
unsafe impl Send for Backing {}

impl Backing {
    fn new(bytes: usize) -> Option<Backing> {
        let layout = Layout::from_size_align(bytes.max(1), 4096).ok()?;
        // SAFETY: the size is not 0.
        let start = unsafe { std::alloc::alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the block is new and has this size.
        unsafe { start.write_bytes(GARBAGE, layout.size()) };
        Some(Backing { start, layout })
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: the block came from `alloc` with this layout.
        unsafe { std::alloc::dealloc(self.start, self.layout) };
    }
}

struct Block {
    backing: Backing,
    bytes: usize,
    device: usize,
    is_pinned: bool,
    /// Whether the block comes from the device's pool.
    is_pooled: bool,
    /// Whether the block is freed when the commands before that have run.
    is_freed: bool,
}

/// The rest of a block, from an address to the end.
#[derive(Clone, Copy)]
pub struct View {
    start: *mut u8,
    bytes: usize,
}

impl View {
    fn at<T>(self, index: i64, what: &str) -> Outcome<*mut T> {
        let size = size_of::<T>();
        let start = usize::try_from(index).ok().and_then(|index| index.checked_mul(size));
        match start {
            Some(start) if start + size <= self.bytes => {
                // SAFETY: the element is in the block.
                Ok(unsafe { self.start.add(start) }.cast())
            }
            _ => Err(complain(
                Fault::IllegalAddress,
                format!("{what} element {index} outside of its memory"),
            )),
        }
    }

    /// Reads element `index` of an array that begins here.
    pub fn load<T: Copy>(self, index: i64) -> Outcome<T> {
        let element = self.at::<T>(index, "a kernel reads")?;
        // SAFETY: the element is in a live block.
        Ok(unsafe { element.read_unaligned() })
    }

    /// Writes element `index` of an array that begins here.
    pub fn store<T: Copy>(self, index: i64, value: T) -> Outcome<()> {
        let element = self.at::<T>(index, "a kernel writes")?;
        // SAFETY: as for `load`.
        unsafe { element.write_unaligned(value) };
        Ok(())
    }
}

/// Memory of the machine.
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    /// Size of the used part of each device's address range. Addresses are not reused.
    used_addresses: Vec<u64>,
    /// Bytes that the pool of each device keeps.
    kept: Vec<u64>,
    /// Memory limit of each device in bytes.
    pub limit: u64,
}

impl Memory {
    pub fn new(devices: usize) -> Memory {
        Memory {
            blocks: BTreeMap::new(),
            used_addresses: vec![0; devices],
            kept: vec![0; devices],
            limit: 256 << 20,
        }
    }

    /// Returns the bytes in use on a device, including those that its pool keeps.
    pub fn used(&self, device: usize) -> u64 {
        let blocks =
            self.blocks.values().filter(|block| block.device == device && !block.is_pinned);
        let kept = self.kept.get(device).copied().unwrap_or_default();
        kept + blocks.map(|block| block.bytes as u64).sum::<u64>()
    }

    /// Returns the number of live blocks of device memory or of pinned memory.
    pub fn live(&self, is_pinned: bool) -> usize {
        let blocks = self.blocks.values();
        blocks.filter(|block| block.is_pinned == is_pinned && !block.is_freed).count()
    }

    /// Allocates device memory. Returns its address, which is not readable by the CPU.
    pub fn allocate(&mut self, device: usize, bytes: u64) -> Outcome<u64> {
        if bytes == 0 {
            return Err(complain(Fault::InvalidValue, "an allocation of 0 bytes".into()));
        }
        if bytes > self.limit.saturating_sub(self.used(device)) {
            return Err(Fault::OutOfMemory);
        }
        let used = self.used_addresses.get_mut(device).ok_or(Fault::InvalidDevice)?;
        let address = FIRST_ADDRESS + device as u64 * ADDRESSES_OF_DEVICE + *used;
        let backing = Backing::new(bytes as usize).ok_or(Fault::OutOfMemory)?;
        *used += bytes.next_multiple_of(ALIGNMENT) + ALIGNMENT;
        let block = Block {
            backing,
            bytes: bytes as usize,
            device,
            is_pinned: false,
            is_pooled: false,
            is_freed: false,
        };
        self.blocks.insert(address, block);
        Ok(address)
    }

    /// Allocates device memory from the pool, out of the bytes that it keeps if they suffice.
    pub fn allocate_pooled(&mut self, device: usize, bytes: u64) -> Outcome<u64> {
        let kept = self.kept.get(device).copied().ok_or(Fault::InvalidDevice)?;
        if kept >= bytes {
            self.kept[device] -= bytes;
        }
        let allocated = self.allocate(device, bytes);
        match allocated.as_ref().ok().and_then(|address| self.blocks.get_mut(address)) {
            Some(block) => block.is_pooled = true,
            None => self.kept[device] = kept,
        }
        allocated
    }

    /// Marks a block of a pool, so that it is not freed twice.
    pub fn begin_free(&mut self, address: u64) -> Outcome<()> {
        match self.blocks.get_mut(&address) {
            Some(block) if block.is_pooled && !block.is_freed => {
                block.is_freed = true;
                Ok(())
            }
            _ => {
                let text = format!("{address:#x} is freed to a pool, but is not a block of it");
                Err(complain(Fault::InvalidValue, text))
            }
        }
    }

    /// Frees a block of a pool, which keeps its bytes.
    pub fn end_free(&mut self, address: u64) {
        if let Some(block) = self.blocks.remove(&address) {
            self.kept[block.device] += block.bytes as u64;
        }
    }

    /// Returns the bytes that a device's pool keeps above a limit to the device.
    pub fn trim(&mut self, device: usize, limit: u64) {
        if let Some(kept) = self.kept.get_mut(device) {
            *kept = limit.min(*kept);
        }
    }

    /// Allocates pinned host memory.
    pub fn allocate_pinned(&mut self, bytes: u64) -> Outcome<*mut u8> {
        if bytes == 0 {
            return Err(complain(Fault::InvalidValue, "a pinned allocation of 0 bytes".into()));
        }
        if bytes > self.limit {
            return Err(Fault::OutOfMemory);
        }
        let backing = Backing::new(bytes as usize).ok_or(Fault::OutOfMemory)?;
        let start = backing.start;
        let block = Block {
            backing,
            bytes: bytes as usize,
            device: usize::MAX,
            is_pinned: true,
            is_pooled: false,
            is_freed: false,
        };
        self.blocks.insert(start.addr() as u64, block);
        Ok(start)
    }

    /// Frees a block by its first address.
    pub fn free(&mut self, address: u64, is_pinned: bool) -> Outcome<()> {
        match self.blocks.get(&address) {
            Some(block) if block.is_pinned == is_pinned && !block.is_pooled => {
                self.blocks.remove(&address);
                Ok(())
            }
            _ => {
                let text =
                    format!("{address:#x} is freed, but is not a block, or was freed before");
                Err(complain(Fault::InvalidValue, text))
            }
        }
    }

    /// Returns the memory that begins at a device address, and the device's index.
    pub fn view(&self, address: u64, bytes: u64) -> Option<(View, usize)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        if block.is_pinned || offset.checked_add(bytes)? > block.bytes as u64 {
            return None;
        }
        // SAFETY: the offset is in the block.
        let start = unsafe { block.backing.start.add(offset as usize) };
        Some((View { start, bytes: block.bytes - offset as usize }, block.device))
    }

    /// Returns a CPU pointer to `bytes` bytes at a device address, and the device's index.
    pub fn pointer(&self, address: u64, bytes: u64) -> Option<(*mut u8, usize)> {
        self.view(address, bytes).map(|(view, device)| (view.start, device))
    }
}
