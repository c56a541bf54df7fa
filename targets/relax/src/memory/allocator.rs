//! Allocators of storages, one for each device and kind.

use core::alloc::Layout;
use core::ffi::c_void;
use core::fmt;

use ferrite_core::abi::DLDevice;
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::plain_bail;
use ferrite_core::platform::memory;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::value::device::kind::CPU;

use super::device_memory;
use super::free_lists::FreeLists;

/// Granularity of pooled blocks in bytes.
const PAGE: usize = 4096;

/// Strategy of an allocator for freed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Returns freed memory to the device immediately.
    Naive = 1,
    /// Keeps freed memory for requests of the same size, until the device is out of memory or
    /// [`clear`] is called. Sizes are rounded up to multiples of 4096 bytes.
    Pooled = 2,
}

impl Kind {
    /// Converts the number of a kind in the arguments of `vm_initialization`.
    ///
    /// # Errors
    /// InternalError for any other number.
    pub fn from_number(number: i64) -> Result<Kind> {
        match number {
            1 => Ok(Kind::Naive),
            2 => Ok(Kind::Pooled),
            _ => plain_bail!(INTERNAL_ERROR, "Unknown allocator type: {}", &number),
        }
    }
}

/// Memory usage of an allocator, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of the blocks in use.
    pub used: usize,
    /// Maximum of `used` so far.
    pub peak: usize,
    /// Bytes allocated from the device: `used`, and the free blocks of a pooled allocator.
    pub reserved: usize,
}

/// Allocator of one kind for one device, shared by all machines of the process.
///
/// # Threads
/// Callable from any thread. A lock is held while counters and free lists change, but not while the
/// device allocates.
///
/// # Upstream
/// `NaiveAllocator` and `PooledAllocator` of `src/runtime/memory`.
#[derive(Clone, Copy)]
pub struct Allocator(&'static AllocatorRecord);

/// State of an allocator; never freed.
struct AllocatorRecord {
    device: DLDevice,
    kind: Kind,
    state: ObjectMutex<AllocatorState>,
    /// Record created before this one.
    next: Option<&'static AllocatorRecord>,
}

struct AllocatorState {
    usage: Usage,
    free: FreeLists,
}

/// Naive allocator of main memory, which needs no creation: most microcontroller programs use no
/// other.
static HOST: AllocatorRecord =
    AllocatorRecord::new(DLDevice { device_type: CPU, device_id: 0 }, Kind::Naive, None);

/// Record created last, the head of the list of all records.
static NEWEST: ObjectMutex<&'static AllocatorRecord> = ObjectMutex::new(&HOST);

impl AllocatorRecord {
    const fn new(
        device: DLDevice,
        kind: Kind,
        next: Option<&'static AllocatorRecord>,
    ) -> AllocatorRecord {
        let usage = Usage { used: 0, peak: 0, reserved: 0 };
        AllocatorRecord {
            device,
            kind,
            state: ObjectMutex::new(AllocatorState { usage, free: FreeLists::new() }),
            next,
        }
    }

    fn is_of(&self, device: DLDevice) -> bool {
        (self.device.device_type, self.device.device_id) == (device.device_type, device.device_id)
    }

    /// Iterates over this record and those created before it.
    fn chain(&'static self) -> impl Iterator<Item = &'static AllocatorRecord> {
        core::iter::successors(Some(self), |record| record.next)
    }
}

impl Allocator {
    /// Returns the allocator of a kind for a device. Creates it if there is none.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; MemoryError.
    pub fn new(device: DLDevice, kind: Kind) -> Result<Allocator> {
        device_memory::check(device)?;
        let layout = Layout::new::<AllocatorRecord>();
        let record = NEWEST.with_mut(|newest| {
            let mut records = newest.chain();
            if let Some(found) = records.find(|record| record.kind == kind && record.is_of(device))
            {
                return Some(found);
            }
            let block = memory::allocate(layout)?;
            let created = AllocatorRecord::new(device, kind, Some(*newest));
            // SAFETY: the block is fresh, of this layout, and never freed.
            *newest = unsafe {
                let place = block.cast::<AllocatorRecord>();
                place.write(created);
                place.as_ref()
            };
            Some(*newest)
        });
        record.map(Allocator).ok_or_else(|| out_of_memory(layout.size()))
    }

    /// Returns the naive allocator of main memory.
    pub fn host() -> Allocator {
        Allocator(&HOST)
    }

    /// Returns the device.
    pub fn device(self) -> DLDevice {
        self.0.device
    }

    /// Returns the kind.
    pub fn kind(self) -> Kind {
        self.0.kind
    }

    /// Returns a snapshot of the counters.
    pub fn usage(self) -> Usage {
        self.0.state.with_mut(|state| state.usage)
    }

    /// Sets the peak to the bytes in use.
    pub fn reset_peak(self) {
        self.0.state.with_mut(|AllocatorState { usage, .. }| usage.peak = usage.used);
    }

    /// Allocates at least `bytes` bytes, aligned to [`ALIGNMENT`](super::ALIGNMENT). Main memory is
    /// initialised with zeros, or with the content of an earlier block of a pooled allocator.
    ///
    /// # Errors
    /// MemoryError; errors of the driver.
    pub fn allocate(self, bytes: usize) -> Result<Block> {
        if self.kind() == Kind::Naive {
            return self.take_from_device(bytes);
        }
        let Some(bytes) = bytes.checked_next_multiple_of(PAGE) else {
            return Err(out_of_memory(bytes));
        };
        match self.take_from_lists(bytes) {
            Some(data) => Ok(Block { data, bytes, allocator: self }),
            None => self.take_from_device_or_cleared(bytes),
        }
    }

    fn take_from_lists(self, bytes: usize) -> Option<*mut c_void> {
        self.0.state.with_mut(|AllocatorState { usage, free }| {
            let data = free.take(bytes)?;
            usage.count_use(bytes);
            Some(data)
        })
    }

    fn take_from_device(self, bytes: usize) -> Result<Block> {
        let data = device_memory::allocate(self.device(), bytes)?;
        self.0.state.with_mut(|AllocatorState { usage, .. }| {
            usage.reserved += bytes;
            usage.count_use(bytes);
        });
        Ok(Block { data, bytes, allocator: self })
    }

    /// Allocates like [`take_from_device`](Self::take_from_device). If that fails, returns all free
    /// blocks to the device and tries again.
    #[cold]
    fn take_from_device_or_cleared(self, bytes: usize) -> Result<Block> {
        match self.take_from_device(bytes) {
            Err(_) if self.clear() => self.take_from_device(bytes),
            result => result,
        }
    }

    /// Frees a block of `bytes` bytes: keeps it in a free list or returns it to the device.
    ///
    /// # Safety
    /// The memory must be a block of this allocator and size, and must not be used afterwards.
    unsafe fn free(self, data: *mut c_void, bytes: usize) {
        let is_kept = self.0.state.with_mut(|AllocatorState { usage, free }| {
            usage.used -= bytes;
            // Without memory for the list, the block goes back to the device.
            let is_kept = self.kind() == Kind::Pooled && free.put(data, bytes);
            usage.reserved -= if is_kept { 0 } else { bytes };
            is_kept
        });
        if !is_kept {
            // SAFETY: as the caller guarantees.
            unsafe { device_memory::free(self.device(), data, bytes) };
        }
    }

    /// Returns all free blocks to the device. Returns `true` if there were any.
    pub fn clear(self) -> bool {
        let mut cleared = false;
        while let Some((data, bytes)) = self.take_kept() {
            // SAFETY: the block came from this device, and the lists had the only pointer to it.
            unsafe { device_memory::free(self.device(), data, bytes) };
            cleared = true;
        }
        cleared
    }

    /// Takes a free block from the lists. Returns it with its size.
    fn take_kept(self) -> Option<(*mut c_void, usize)> {
        self.0.state.with_mut(|AllocatorState { usage, free }| {
            let (data, bytes) = free.take_any()?;
            usage.reserved -= bytes;
            Some((data, bytes))
        })
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocator")
            .field("device", &self.device())
            .field("kind", &self.kind())
            .finish()
    }
}

impl Usage {
    fn count_use(&mut self, bytes: usize) {
        self.used += bytes;
        self.peak = self.peak.max(self.used);
    }
}

/// Owned block of device memory, which returns to its allocator when dropped.
#[derive(Debug)]
pub struct Block {
    data: *mut c_void,
    bytes: usize,
    allocator: Allocator,
}

// SAFETY: the block is the only owner of its memory, which any thread may use and free.
unsafe impl Send for Block {}
// SAFETY: a shared block only tells its address and size.
unsafe impl Sync for Block {}

impl Block {
    /// Returns the start of the memory. It may be addressable only by the device.
    pub fn data(&self) -> *mut c_void {
        self.data
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the device of the memory.
    pub fn device(&self) -> DLDevice {
        self.allocator.device()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block came from this allocator, and goes away.
        unsafe { self.allocator.free(self.data, self.bytes) };
    }
}

/// Returns the free blocks of all pooled allocators to their devices, and these the memory that
/// they keep to their drivers.
///
/// # Upstream
/// `MemoryManager::Clear` of `src/runtime/memory/memory_manager.cc`.
pub fn clear() {
    let newest = NEWEST.with_mut(|newest| *newest);
    newest.chain().for_each(|record| {
        Allocator(record).clear();
    });
    newest.chain().for_each(|record| device_memory::release_unused(record.device));
}

/// Returns the sum of the counters of both allocators of a device. The sum of the peaks is an upper
/// bound of the joint peak.
pub fn usage(device: DLDevice) -> Usage {
    let newest = NEWEST.with_mut(|newest| *newest);
    let mut total = Usage::default();
    for record in newest.chain().filter(|record| record.is_of(device)) {
        let Usage { used, peak, reserved } = Allocator(record).usage();
        total.used += used;
        total.peak += peak;
        total.reserved += reserved;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ALIGNMENT;

    /// Creates an allocator of main memory that no other test uses.
    fn allocator(kind: Kind, device_id: i32) -> Allocator {
        Allocator::new(DLDevice { device_type: CPU, device_id }, kind).unwrap()
    }

    #[test]
    fn there_is_one_allocator_for_each_device_and_kind() {
        let same = |one: Allocator, other: Allocator| core::ptr::eq(one.0, other.0);
        let [naive, pooled] = [Kind::Naive, Kind::Pooled].map(|kind| allocator(kind, 100));
        assert!(same(naive, allocator(Kind::Naive, 100)));
        assert!(same(pooled, allocator(Kind::Pooled, 100)));
        assert!(!same(naive, pooled));
        assert!(!same(naive, allocator(Kind::Naive, 101)));
        assert!(core::ptr::eq(allocator(Kind::Naive, 0).0, &HOST));
    }

    #[test]
    fn naive_blocks_have_their_size_and_go_back_at_once() {
        let naive = allocator(Kind::Naive, 102);
        let [first, second] = [100, 50].map(|bytes| naive.allocate(bytes).unwrap());
        assert_eq!([first.bytes(), second.bytes()], [100, 50]);
        assert!(
            [&first, &second].iter().all(|block| block.data().addr().is_multiple_of(ALIGNMENT))
        );
        assert_eq!(naive.usage(), Usage { used: 150, peak: 150, reserved: 150 });
        drop((first, second));
        assert_eq!(naive.usage(), Usage { used: 0, peak: 150, reserved: 0 });
    }

    #[test]
    fn pooled_blocks_are_used_again_for_the_same_number_of_pages() {
        let pooled = allocator(Kind::Pooled, 103);
        let first = pooled.allocate(4097).unwrap();
        let data = first.data();
        assert_eq!(first.bytes(), 8192);
        drop(first);
        assert_eq!(pooled.usage(), Usage { used: 0, peak: 8192, reserved: 8192 });
        let other = pooled.allocate(1).unwrap();
        assert_ne!(other.data(), data);
        let again = pooled.allocate(8192).unwrap();
        assert_eq!(again.data(), data);
        assert_eq!(pooled.usage(), Usage { used: 12288, peak: 12288, reserved: 12288 });
        drop((other, again));
        assert_eq!(usage(pooled.device()), Usage { used: 0, peak: 12288, reserved: 12288 });
        assert!(pooled.clear());
        assert_eq!(pooled.usage(), Usage { used: 0, peak: 12288, reserved: 0 });
        pooled.reset_peak();
        assert_eq!(pooled.usage(), Usage::default());
        assert!(!pooled.clear());
    }

    #[test]
    fn a_refusal_is_a_memory_error_and_counts_nothing() {
        for kind in [Kind::Naive, Kind::Pooled] {
            let allocator = allocator(kind, 104);
            for bytes in [isize::MAX as usize - 8191, usize::MAX - 4096, usize::MAX] {
                assert_eq!(allocator.allocate(bytes).unwrap_err().kind_bytes(), b"MemoryError");
            }
            assert_eq!(allocator.usage(), Usage::default());
        }
    }

    #[cfg(feature = "devices")]
    #[test]
    fn free_blocks_go_back_when_the_device_refuses() {
        use crate::memory::testing::{CAPACITY, device};

        let pooled = Allocator::new(device(), Kind::Pooled).unwrap();
        let blocks = [4096, 8192].map(|bytes| pooled.allocate(bytes).unwrap());
        drop(blocks);
        assert_eq!(pooled.usage(), Usage { used: 0, peak: 12288, reserved: 12288 });
        let whole = pooled.allocate(CAPACITY).unwrap();
        assert_eq!(pooled.usage(), Usage { used: CAPACITY, peak: CAPACITY, reserved: CAPACITY });
        assert_eq!(pooled.allocate(1).unwrap_err().kind_bytes(), b"MemoryError");
        drop(whole);
        assert_eq!(pooled.allocate(2 * CAPACITY).unwrap_err().kind_bytes(), b"MemoryError");
        assert_eq!(pooled.usage().reserved, 0);
    }

    #[cfg(feature = "devices")]
    #[test]
    fn clearing_gives_memory_back_to_drivers() {
        use crate::memory::testing::{RELEASES, device};
        use core::sync::atomic::Ordering;

        Allocator::new(device(), Kind::Naive).unwrap();
        let before = RELEASES.load(Ordering::Relaxed);
        clear();
        assert!(RELEASES.load(Ordering::Relaxed) > before);
    }

    #[cfg(feature = "devices")]
    #[test]
    fn a_device_without_a_back_end_has_no_allocator() {
        let metal =
            DLDevice { device_type: ferrite_core::value::device::kind::METAL, device_id: 0 };
        let error = Allocator::new(metal, Kind::Naive).unwrap_err();
        assert_eq!(error.kind_bytes(), b"InternalError");
        let text = b"Check failed: (allow_missing) is false: Device API metal is not enabled.";
        assert_eq!(error.message_bytes(), text);
    }

    #[test]
    fn kinds_have_the_numbers_of_tvm() {
        assert_eq!(Kind::from_number(1).unwrap(), Kind::Naive);
        assert_eq!(Kind::from_number(2).unwrap(), Kind::Pooled);
        for number in [0, 3, -1] {
            let error = Kind::from_number(number).unwrap_err();
            assert_eq!(
                error.message_bytes(),
                std::format!("Unknown allocator type: {number}").as_bytes()
            );
        }
    }
}
