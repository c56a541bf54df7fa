//! Objects that are made one after the other lie side by side in chunks of memory; the last one to go gives its chunk back.
//!
//! Making such an object moves an offset, and ending it counts down: neither asks the heap. The price is that an object which
//! outlives its neighbours keeps their memory: never more than [`MOST_BYTES`], and never more than all objects that were made
//! before the chunk took.
//!
//! ```text
//! living  bytes | chunk  delete_space  object ... | chunk  delete_space  object ... |
//! ```
//!
//! An object looks like any other one: the allocation header, which the ABI puts in front of it, says how its memory is given
//! back. While a chunk is filled it has a great number of living objects, so that no count has to be changed for those
//! that are made; the difference is taken off when the chunk is full.

use core::alloc::Layout;
use core::ffi::c_void;
use core::mem;
use core::ptr::NonNull;

use super::chunk_reserve::ChunkReserve;
use super::{BODY_ALIGNMENT, RecordLayout, Space, object_bytes, set_up, source};
use crate::abi::TVMFFIObjectAllocHeader;
use crate::error::{self, Result};
use crate::memory;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{is_single_threaded, single_instruction};

/// Bytes of the largest chunk: what one object at most keeps that outlives all others.
const MOST_BYTES: usize = 16 << 10;

/// Bytes of the smallest chunk: for fewer, objects lie apart.
const LEAST_BYTES: usize = 1 << 10;

/// Objects above this part of a chunk lie apart, so that little of a chunk is left empty.
const PART: usize = 8;

/// Chunks of [`MOST_BYTES`].
static RESERVE: ChunkReserve = ChunkReserve::new();

/// What a chunk has in front of its objects.
#[repr(C)]
struct Chunk {
    /// Objects whose memory is in use; [`FILLING`] more until no other object will be made here.
    living: AtomicUsize,
    /// Bytes of all of it.
    bytes: usize,
}

/// More than the objects of any chunk.
const FILLING: usize = 1 << 31;

const CHUNK_BYTES: usize = size_of::<Chunk>();

/// What an object of a chunk has in front of it.
#[repr(C)]
struct Front {
    chunk: NonNull<Chunk>,
    header: TVMFFIObjectAllocHeader,
}

const FRONT_BYTES: usize = size_of::<Front>();

/// The alignment of all objects here.
const ALIGNMENT: usize = BODY_ALIGNMENT;

const _: () = {
    assert!(FRONT_BYTES.is_multiple_of(ALIGNMENT));
    assert!(CHUNK_BYTES.is_multiple_of(ALIGNMENT) && align_of::<Chunk>() <= ALIGNMENT);
};

/// Chunks of memory for objects that are made in one go. The first is small; each further one doubles the whole, up to
/// 16 KiB at once.
///
/// Objects of a custom allocator lie apart, since it is told the size and type of each.
///
/// Ownership: memory belongs to the objects in it; they may outlive this, and end on any thread.
#[derive(Default)]
pub struct Chunks {
    /// The chunk that is being filled.
    chunk: Option<NonNull<Chunk>>,
    /// Bytes of it that are in use, and all that it has.
    used: usize,
    bytes: usize,
    /// Objects in it.
    made: usize,
    /// Bytes of all objects so far.
    total: usize,
}

impl Space for Chunks {
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
            None => Err(source::refusal(size)),
        }
    }
}

impl Chunks {
    /// No chunks; asks for no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory for an object of `size` bytes, with its allocation header in front; None when there is none.
    #[inline]
    fn take(&mut self, size: usize, class: &RecordLayout, type_index: i32) -> Option<NonNull<u8>> {
        // Sizes are below half the address space.
        let bytes = (size + FRONT_BYTES).next_multiple_of(ALIGNMENT);
        let may_share = class.alignment <= ALIGNMENT && source::uses_builtin();
        match self.chunk {
            Some(chunk) if bytes <= self.bytes - self.used && may_share => Some(self.place(chunk, bytes)),
            _ if may_share && bytes <= self.next_bytes() / PART => self.place_in_next(bytes),
            _ => {
                self.total = self.total.saturating_add(bytes);
                source::object(size, class, type_index)
            }
        }
    }

    /// Bytes of the next chunk, or 0 while there are too few objects.
    fn next_bytes(&self) -> usize {
        if self.total < LEAST_BYTES { 0 } else { self.total.min(MOST_BYTES) }
    }

    /// Room for an object of so many bytes, which the chunk has.
    #[inline]
    fn place(&mut self, chunk: NonNull<Chunk>, bytes: usize) -> NonNull<u8> {
        // SAFETY: the chunk has these bytes behind those in use, which are a multiple of the alignment, and nobody else knows
        // them.
        let body = unsafe {
            let front = chunk.byte_add(self.used).cast::<Front>();
            front.write(Front { chunk, header: TVMFFIObjectAllocHeader { delete_space: Some(give_back) } });
            front.add(1).cast()
        };
        self.used += bytes;
        self.made += 1;
        body
    }

    /// As [`place`](Self::place) in a new chunk; None when the heap has none.
    #[cold]
    fn place_in_next(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let next_bytes = self.next_bytes();
        let layout = Layout::from_size_align(next_bytes, ALIGNMENT).ok()?;
        let waiting = if next_bytes == MOST_BYTES { RESERVE.take() } else { None };
        let chunk = waiting.or_else(|| memory::allocate(layout))?.cast::<Chunk>();
        // SAFETY: nobody else has the chunk, and it has room for this.
        unsafe { chunk.write(Chunk { living: AtomicUsize::new(FILLING), bytes: next_bytes }) };
        self.finish();
        (self.chunk, self.used, self.bytes) = (Some(chunk), CHUNK_BYTES, next_bytes);
        self.total = self.total.saturating_add(next_bytes);
        Some(self.place(chunk, bytes))
    }

    /// Makes the count of the chunk that of its objects.
    fn finish(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            // SAFETY: the chunk is there while it is being filled, and no more objects are placed there.
            unsafe { count_down(chunk, FILLING - mem::take(&mut self.made)) };
        }
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.finish();
    }
}

// SAFETY: the chunk that is being filled has no other owner but its objects, which only count it down.
unsafe impl Send for Chunks {}

/// Ends the memory of an object in a chunk.
///
/// # Safety
/// The body is that of an object that [`Chunks::place`] gave, and nobody uses it any more.
pub(super) unsafe extern "C" fn give_back(body: *mut c_void) {
    // SAFETY: the front is there, and its chunk counts this object.
    unsafe { count_down((*body.cast::<Front>().sub(1)).chunk, 1) };
}

/// Takes `gone` objects off; the last ones give the chunk back.
///
/// # Safety
/// The chunk counts these objects, and nobody uses them any more.
#[inline]
unsafe fn count_down(chunk: NonNull<Chunk>, gone: usize) {
    // SAFETY: the chunk is there as long as it counts objects.
    let Chunk { living, .. } = unsafe { chunk.as_ref() };
    // What was done with the others comes before the memory is given back: as in the counts of objects.
    if take_off(living, gone) == gone {
        let _ = living.load(Ordering::Acquire);
        // SAFETY: no object is left.
        unsafe { release(chunk) };
    }
}

/// Takes a number off a count, and gives what it was.
#[inline]
fn take_off(count: &AtomicUsize, number: usize) -> usize {
    if is_single_threaded() {
        single_instruction::fetch_sub_size(count, number)
    } else {
        count.fetch_sub(number, Ordering::Release)
    }
}

/// Gives a chunk back.
///
/// # Safety
/// No object is left in it.
#[cold]
unsafe fn release(chunk: NonNull<Chunk>) {
    // SAFETY: the chunk is this thread's alone.
    let bytes = unsafe { (*chunk.as_ptr()).bytes };
    let gone = if bytes == MOST_BYTES { RESERVE.put(chunk.cast()) } else { Some(chunk.cast()) };
    if let Some(gone) = gone {
        // SAFETY: the chunk is one of the heap, and whoever got it from the reserve has it alone.
        unsafe { memory::release(gone, Layout::new::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::any::Any;
    use crate::convert::AnyCompatible;
    use crate::string::String;
    use crate::weak::WeakObjectRef;
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

    /// A string, and the chunk that it lies in, if it does.
    fn string(text: &str, chunks: &mut Chunks) -> Result<(String, Option<NonNull<Chunk>>)> {
        let string = String::from_bytes_in(text.as_bytes(), chunks)?;
        let address = string.view().object_ptr().expect("an object").addr().get();
        let is_in =
            |chunk: &NonNull<Chunk>| (0..chunks.used).contains(&address.wrapping_sub(chunk.addr().get()));
        Ok((string, chunks.chunk.filter(is_in)))
    }

    fn strings() -> Result<Vec<(String, Option<NonNull<Chunk>>)>> {
        let mut chunks = Chunks::new();
        (0..TEXTS).map(|number| string(&text(number), &mut chunks)).collect()
    }

    fn living(chunk: NonNull<Chunk>) -> usize {
        // SAFETY: the tests ask while an object is left.
        unsafe { chunk.as_ref() }.living.load(Ordering::Relaxed)
    }

    #[test]
    fn chunks_count_their_objects() -> Result<()> {
        let strings = strings()?;
        assert!(strings.first().is_some_and(|(_, chunk)| chunk.is_none()), "one object needs no chunk");
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
        let large = format!("{:>size$}", "x", size = MOST_BYTES / PART);
        for _ in 0..20 {
            assert_eq!(string(&large, &mut chunks)?.1, None);
        }
        assert!(string("a short text", &mut chunks)?.1.is_some());
        Ok(())
    }
}
