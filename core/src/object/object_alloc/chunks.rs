//! Chunks: arenas in which objects created in sequence lie side by side. The last object of a chunk
//! to be destroyed frees the chunk.
//!
//! Allocation advances an offset and release decrements a count; neither calls the heap. The cost:
//! an object that outlives its neighbours retains their memory. The retained memory is at most
//! [`MAX_BYTES`], and at most the size of all objects allocated before the chunk.
//!
//! ```text
//! living  bytes | chunk  delete_space  object ... | chunk  delete_space  object ... |
//! ```
//!
//! Objects in chunks have the usual ABI allocation header, which says how their memory is released.
//! While a chunk is being filled, its count of living objects includes a large surplus, so that
//! allocation need not change the count; the surplus is subtracted when the chunk is full.

use core::alloc::Layout;
use core::ffi::c_void;
use core::mem;
use core::ptr::{self, NonNull};

use super::chunk_reserve::{ChunkReserve, SLOTS};
use super::{BODY_ALIGNMENT, RecordLayout, Space, object_bytes, set_up, source};
use crate::abi::TVMFFIObjectAllocHeader;
use crate::error::{self, Result};
use crate::platform::memory;
use crate::platform::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::platform::sync::{is_single_threaded, single_instruction};

/// Size of the largest chunk in bytes: the most memory that one surviving object retains.
const MAX_BYTES: usize = 16 << 10;

/// Size of the smallest chunk in bytes. Objects are allocated individually until their total
/// reaches it.
const MIN_BYTES: usize = 1 << 10;

/// Minimum ratio of a new chunk's size to the size of the object that starts it. Larger objects are
/// allocated individually, so that little of a chunk stays unused.
const PART: usize = 8;

/// Reserve of free chunks of [`MAX_BYTES`].
static RESERVE: ChunkReserve =
    ChunkReserve::new([const { AtomicPtr::new(ptr::null_mut()) }; SLOTS], AtomicUsize::new(0));

/// Header of a chunk.
#[repr(C)]
struct Chunk {
    /// Number of objects in the chunk that still use their memory, plus [`FILLING`] while the chunk
    /// is being filled.
    living: AtomicUsize,
    /// Size of the chunk in bytes.
    bytes: usize,
}

/// Amount added to a chunk's object count while the chunk is being filled; exceeds the number of
/// objects in any chunk.
const FILLING: usize = 1 << 31;

const CHUNK_BYTES: usize = size_of::<Chunk>();

/// Header of an object in a chunk: the chunk, and the ABI's allocation header.
#[repr(C)]
struct Front {
    chunk: NonNull<Chunk>,
    header: TVMFFIObjectAllocHeader,
}

const FRONT_BYTES: usize = size_of::<Front>();

/// Alignment of objects in chunks.
const ALIGNMENT: usize = BODY_ALIGNMENT;

const _: () = {
    assert!(FRONT_BYTES.is_multiple_of(ALIGNMENT));
    assert!(CHUNK_BYTES.is_multiple_of(ALIGNMENT) && align_of::<Chunk>() <= ALIGNMENT);
};

/// Chunks of memory for objects created in sequence, as by a parser. The first chunk is small; each
/// further one doubles the total, up to 16 KiB per chunk.
///
/// With a custom allocator, every object is allocated individually, since the allocator receives
/// the size and type of each.
///
/// Ownership: the objects own the memory; they may outlive this value and be destroyed on any
/// thread.
#[derive(Default)]
pub struct Chunks {
    /// The chunk that is being filled.
    chunk: Option<NonNull<Chunk>>,
    /// Number of bytes in use in the chunk.
    used: usize,
    /// Size of the chunk in bytes.
    bytes: usize,
    /// Number of objects allocated in the chunk.
    made: usize,
    /// Total number of bytes allocated for objects so far.
    total: usize,
}

// SAFETY: a part of a chunk has one user, and `set_up` writes the header; other memory comes from
// `Apart`.
unsafe impl Space for Chunks {
    #[inline]
    fn allocate(
        &mut self,
        class: &RecordLayout,
        type_index: i32,
        trailing_bytes: usize,
    ) -> Result<NonNull<u8>> {
        let Some(size) = object_bytes(class, trailing_bytes) else {
            return Err(error::out_of_memory(usize::MAX));
        };
        match self.take(size, class, type_index) {
            Some(body) => Ok(set_up(body, class, type_index)),
            None => Err(source::allocation_error(size)),
        }
    }
}

impl Chunks {
    /// Creates an empty space; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates memory for an object of `size` bytes, preceded by its allocation header. Returns
    /// `None` when out of memory.
    #[inline]
    fn take(&mut self, size: usize, class: &RecordLayout, type_index: i32) -> Option<NonNull<u8>> {
        // Sizes are below half the address space.
        let bytes = (size + FRONT_BYTES).next_multiple_of(ALIGNMENT);
        let may_share = class.alignment <= ALIGNMENT && source::uses_builtin();
        match self.chunk {
            Some(chunk) if bytes <= self.bytes - self.used && may_share => {
                Some(self.place(chunk, bytes))
            }
            _ if may_share && bytes <= self.next_bytes() / PART => self.place_in_next(bytes),
            _ => {
                self.total = self.total.saturating_add(bytes);
                source::allocate_object(size, class, type_index)
            }
        }
    }

    /// Returns the size of the next chunk in bytes, or 0 if too few objects exist for a chunk.
    fn next_bytes(&self) -> usize {
        if self.total < MIN_BYTES { 0 } else { self.total.min(MAX_BYTES) }
    }

    /// Allocates `bytes` bytes in the chunk, which has that much free space.
    #[inline]
    fn place(&mut self, chunk: NonNull<Chunk>, bytes: usize) -> NonNull<u8> {
        // SAFETY: the chunk has this much space after the bytes in use, whose number is a multiple
        // of the alignment; it is not shared yet.
        let body = unsafe {
            let front = chunk.byte_add(self.used).cast::<Front>();
            front.write(Front {
                chunk,
                header: TVMFFIObjectAllocHeader { delete_space: Some(give_back) },
            });
            front.add(1).cast()
        };
        self.used += bytes;
        self.made += 1;
        body
    }

    /// Allocates `bytes` bytes in a new chunk. Returns `None` when out of memory.
    #[cold]
    fn place_in_next(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let next_bytes = self.next_bytes();
        let layout = Layout::from_size_align(next_bytes, ALIGNMENT).ok()?;
        let waiting = if next_bytes == MAX_BYTES { RESERVE.take() } else { None };
        let chunk = waiting.or_else(|| memory::allocate(layout))?.cast::<Chunk>();
        // SAFETY: the chunk is owned exclusively and has space for its header.
        unsafe { chunk.write(Chunk { living: AtomicUsize::new(FILLING), bytes: next_bytes }) };
        self.finish();
        (self.chunk, self.used, self.bytes) = (Some(chunk), CHUNK_BYTES, next_bytes);
        self.total = self.total.saturating_add(next_bytes);
        Some(self.place(chunk, bytes))
    }

    /// Closes the chunk being filled: subtracts the surplus from its count of objects.
    fn finish(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            // SAFETY: the chunk is alive while it is being filled, and gets no more objects.
            unsafe { count_down(chunk, FILLING - mem::take(&mut self.made)) };
        }
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.finish();
    }
}

// SAFETY: the chunk being filled has no other owner except its objects, which only decrement its
// count.
unsafe impl Send for Chunks {}

/// Releases the memory of an object in a chunk. Called through the object's allocation header.
///
/// # Safety
/// The body must come from [`Chunks::place`], and must no longer be used.
pub(super) unsafe extern "C" fn give_back(body: *mut c_void) {
    // SAFETY: the header precedes the body, and its chunk counts this object.
    unsafe { count_down((*body.cast::<Front>().sub(1)).chunk, 1) };
}

/// Subtracts `gone` objects from the count of a chunk. Frees the chunk when none is left.
///
/// # Safety
/// The chunk must count these objects, and they must no longer be used.
#[inline]
unsafe fn count_down(chunk: NonNull<Chunk>, gone: usize) {
    // SAFETY: the chunk is alive while it counts objects.
    let Chunk { living, .. } = unsafe { chunk.as_ref() };
    // All uses of other objects happen before the memory is released, as with reference counts.
    if take_off(living, gone) == gone {
        let _ = living.load(Ordering::Acquire);
        // SAFETY: no object is left.
        unsafe { release(chunk) };
    }
}

/// Subtracts `number` from a count and returns the previous value.
#[inline]
fn take_off(count: &AtomicUsize, number: usize) -> usize {
    if is_single_threaded() {
        single_instruction::fetch_sub_size(count, number)
    } else {
        count.fetch_sub(number, Ordering::Release)
    }
}

/// Frees a chunk or stores it in the reserve.
///
/// # Safety
/// The chunk must have no object left.
#[cold]
unsafe fn release(chunk: NonNull<Chunk>) {
    // SAFETY: this thread owns the chunk exclusively.
    let bytes = unsafe { (*chunk.as_ptr()).bytes };
    let gone = if bytes == MAX_BYTES { RESERVE.put(chunk.cast()) } else { Some(chunk.cast()) };
    if let Some(gone) = gone {
        // SAFETY: the chunk came from the heap, and an exchange with the reserve makes this thread
        // its only owner.
        unsafe { memory::release(gone, Layout::new::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::object::weak::WeakObjectRef;
    use crate::value::any::Any;
    use crate::value::convert::AnyCompatible;
    use crate::value::string::String;
    use std::format;
    use std::vec::Vec;

    const TEXTS: usize = 400;

    fn text(number: usize) -> std::string::String {
        format!(
            "the text of number {number}, and some bytes behind it: {:>number$}",
            "x",
            number = number % 50
        )
    }

    /// Makes a string, and returns it with the chunk that contains it, if any.
    fn string(text: &str, chunks: &mut Chunks) -> Result<(String, Option<NonNull<Chunk>>)> {
        let string = String::from_bytes_in(text.as_bytes(), chunks)?;
        let address = string.view().object_ptr().expect("an object").addr().get();
        let is_in = |chunk: &NonNull<Chunk>| {
            (0..chunks.used).contains(&address.wrapping_sub(chunk.addr().get()))
        };
        Ok((string, chunks.chunk.filter(is_in)))
    }

    fn strings() -> Result<Vec<(String, Option<NonNull<Chunk>>)>> {
        let mut chunks = Chunks::new();
        (0..TEXTS).map(|number| string(&text(number), &mut chunks)).collect()
    }

    fn living(chunk: NonNull<Chunk>) -> usize {
        // SAFETY: the tests call this while an object is left.
        unsafe { chunk.as_ref() }.living.load(Ordering::Relaxed)
    }

    #[test]
    fn chunks_count_their_objects() -> Result<()> {
        let strings = strings()?;
        assert!(
            strings.first().is_some_and(|(_, chunk)| chunk.is_none()),
            "one object needs no chunk"
        );
        let mut most = 0;
        for chunk in strings.iter().filter_map(|(_, chunk)| *chunk) {
            let here = strings.iter().filter(|(_, other)| *other == Some(chunk)).count();
            assert_eq!(living(chunk), here);
            most = most.max(here);
        }
        assert!(most > 50, "{most}");
        for (number, (string, _)) in strings.iter().enumerate() {
            assert_eq!(*string, text(number).as_str());
        }
        Ok(())
    }

    #[test]
    fn what_outlives_its_chunk_is_whole() -> Result<()> {
        let mut strings = strings()?;
        let (last, chunk) = strings.pop().expect("the last one");
        drop(strings);
        assert_eq!((chunk.map(living), &last), (Some(1), &String::new(&text(TEXTS - 1))?));
        Ok(())
    }

    #[test]
    fn a_weak_reference_keeps_the_memory() -> Result<()> {
        let mut strings = strings()?;
        let (last, chunk) = strings.pop().expect("the last one");
        let last = Any::new(last);
        let weak = WeakObjectRef::new(last.as_object().expect("an object"));
        drop((strings, last));
        assert_eq!((chunk.map(living), weak.upgrade().is_none()), (Some(1), true));
        Ok(())
    }

    #[test]
    #[cfg_attr(not(feature = "std"), ignore = "without std, objects end on one thread")]
    fn objects_end_on_any_thread_while_others_are_made() -> Result<()> {
        let mut chunks = Chunks::new();
        let mut threads = Vec::new();
        for round in 0..4 {
            let strings: Result<Vec<Any>> = (0..TEXTS / 4)
                .map(|number| Ok(Any::new(string(&text(round + number), &mut chunks)?.0)))
                .collect();
            let strings = strings?;
            threads.push(std::thread::spawn(move || drop(strings)));
        }
        drop(chunks);
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        Ok(())
    }

    #[test]
    fn large_objects_lie_apart() -> Result<()> {
        let mut chunks = Chunks::new();
        let large = format!("{:>size$}", "x", size = MAX_BYTES / PART);
        for _ in 0..20 {
            assert_eq!(string(&large, &mut chunks)?.1, None);
        }
        assert!(string("a short text", &mut chunks)?.1.is_some());
        Ok(())
    }
}
