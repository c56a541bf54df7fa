//! Reads a sequence of values into the memory for arguments, as cells that a function takes.

use core::ptr;
use core::slice;

use ferrite_core::AnyView;
use ferrite_core::abi::{DLDevice, DLTensor, TVMFFIAny, TVMFFIByteArray, type_index};
use ferrite_core::tensor::TensorRef;

use super::failure::{Failure, MALFORMED, refused, too_long};
use super::handles::Handles;
use super::region::DataRegion;
use crate::wire::{OBJECT_REF, Packet, Stream};

/// Size of a word of memory in bytes.
const WORD: usize = size_of::<u64>();
/// Number of words of a cell.
const CELL_WORDS: usize = size_of::<TVMFFIAny>() / WORD;
/// Maximum number of words, beside the cell, that a value takes and the wire does not carry: a
/// tensor's record, or the record and the last zero of a string.
const RECORD_WORDS: usize = size_of::<DLTensor>() / WORD + 1;
/// Whether tensors have strides, as DLPack demands since 1.2. Compiled kernels accept both.
const HAS_STRIDES: bool = cfg!(feature = "alloc");
/// Minimum number of bytes of a value on the wire.
const LEAST_VALUE_BYTES: u64 = 4;

const _: () = assert!(size_of::<TVMFFIAny>() == 2 * WORD && align_of::<TVMFFIAny>() <= WORD);
const _: () = assert!(size_of::<DLTensor>().is_multiple_of(WORD) && align_of::<DLTensor>() <= WORD);

/// Unused memory for arguments.
struct Space<'a>(&'a mut [u64]);

impl<'a> Space<'a> {
    fn take(&mut self, words: usize) -> Result<&'a mut [u64], Failure> {
        match core::mem::take(&mut self.0).split_at_mut_checked(words) {
            Some((taken, rest)) => {
                self.0 = rest;
                Ok(taken)
            }
            None => Err(too_long(words)),
        }
    }

    /// Stores a record. Returns its address.
    fn store<T>(&mut self, record: T) -> Result<*mut T, Failure> {
        const { assert!(align_of::<T>() <= WORD) };
        let place = self.take(size_of::<T>().div_ceil(WORD))?.as_mut_ptr().cast::<T>();
        // SAFETY: the words have the size and the alignment of the record, and belong to it.
        unsafe { place.write(record) };
        Ok(place)
    }
}

/// The values of a sequence. Their strings, bytes and tensors are in the memory for arguments;
/// their objects are borrowed from the table of handles.
pub(super) struct Arguments<'a> {
    cells: &'a mut [TVMFFIAny],
}

/// Returns the number of bytes of memory that the sequence in the rest of a packet takes, of which
/// the count was read.
pub(super) fn memory_bytes(count: u32, left: u64) -> Result<usize, Failure> {
    // The first word of a packet was its code: a count beyond this is not in it.
    if u64::from(count) > left / LEAST_VALUE_BYTES {
        return Err(MALFORMED);
    }
    let content = usize::try_from(left).unwrap_or(usize::MAX);
    let records = (count as usize).saturating_mul((CELL_WORDS + RECORD_WORDS) * WORD);
    Ok(content.saturating_mul(if HAS_STRIDES { 2 } else { 1 }).saturating_add(records))
}

impl<'a> Arguments<'a> {
    /// Reads `count` values and the end of the packet. Unless `has_handles`, pointers are null: an
    /// address of the client means nothing to a function.
    pub(super) fn read<S: Stream>(
        packet: &mut Packet<'_, S>,
        count: u32,
        handles: &'a Handles,
        memory: &'a mut [u64],
        has_handles: bool,
    ) -> Result<Arguments<'a>, Failure> {
        let mut space = Space(memory);
        let words = space.take((count as usize).saturating_mul(CELL_WORDS))?;
        // SAFETY: the words have the size and alignment of the cells, and any bytes are a cell.
        let cells = unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), count as usize) };
        cells.fill(TVMFFIAny::NONE);
        let arguments = Arguments { cells };
        let mut reader = Reader { packet, handles, space, has_handles };
        for cell in arguments.cells.iter_mut() {
            reader.value(cell)?;
        }
        reader.packet.finish()?;
        Ok(arguments)
    }

    /// Borrows the values as those of a call.
    pub(super) fn views(&self) -> &[AnyView<'_>] {
        // SAFETY: each cell is a value whose content the arguments or the table of handles keep.
        unsafe { AnyView::slice_from_raw(self.cells.as_ptr(), self.cells.len()) }
    }

    /// Checks the types of the first values, four bits for each from the lowest on. A handle may
    /// be None, and so may a string.
    pub(super) fn check(&self, mut types: u16) -> Result<(), Failure> {
        for cell in self.cells.iter() {
            let (expected, index) = ((types & 15).into(), cell.type_index);
            let may_be_none = matches!(expected, type_index::OPAQUE_PTR | type_index::RAW_STR);
            if types != 0 && index != expected && !(may_be_none && index == type_index::NONE) {
                return Err(MALFORMED);
            }
            types >>= 4;
        }
        if types == 0 { Ok(()) } else { Err(MALFORMED) }
    }

    /// Returns the eight bytes of a value; 0 if there are fewer values.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.views().get(at).map_or(0, |view| view.payload_bits())
    }

    /// Returns a device, whose type was checked.
    pub(super) fn device(&self, at: usize) -> DLDevice {
        let word = self.word(at);
        DLDevice { device_type: word as i32, device_id: (word >> 32) as i32 }
    }

    fn tensor_at(&self, at: usize) -> Result<&DLTensor, Failure> {
        match self.cells.get(at) {
            // SAFETY: a cell with this type index has the address of a record in the memory for
            // arguments, which the arguments borrow.
            Some(cell) if cell.type_index == type_index::DL_TENSOR_PTR => unsafe {
                Ok(&*cell.payload.v_ptr.cast())
            },
            _ => Err(MALFORMED),
        }
    }

    /// Returns the memory of a tensor.
    pub(super) fn region(&self, at: usize) -> Result<DataRegion, Failure> {
        self.tensor_at(at).map(DataRegion::of)
    }

    /// Returns the device of a tensor.
    pub(super) fn tensor_device(&self, at: usize) -> Result<DLDevice, Failure> {
        Ok(self.tensor_at(at)?.device)
    }

    /// Borrows the content of a string; empty for other values.
    pub(super) fn string(&self, at: usize) -> &[u8] {
        self.views().get(at).and_then(AnyView::bytes_of_string).unwrap_or_default()
    }
}

/// Releases the strings that have zero bytes, the only cells that own their object: the table of
/// handles has no strings, which are returned by content.
#[cfg(feature = "alloc")]
impl Drop for Arguments<'_> {
    fn drop(&mut self) {
        for cell in self.cells.iter_mut() {
            if cell.type_index == type_index::STR {
                let cell = core::mem::replace(cell, TVMFFIAny::NONE);
                // SAFETY: the cell owned its object, and was replaced.
                drop(unsafe { ferrite_core::Any::from_raw(cell) });
            }
        }
    }
}

/// A reader of the values of one sequence.
struct Reader<'r, 'p, 'a, S: Stream> {
    packet: &'r mut Packet<'p, S>,
    handles: &'a Handles,
    space: Space<'a>,
    has_handles: bool,
}

const UNKNOWN_TYPE: Failure =
    refused!("TypeError: a value has an unknown type", "TypeError: unknown type");

impl<'a, S: Stream> Reader<'_, '_, 'a, S> {
    /// Reads a value into a cell, which is None.
    fn value(&mut self, cell: &mut TVMFFIAny) -> Result<(), Failure> {
        let mut index = self.packet.next_i32();
        let is_handle = matches!(index, type_index::FUNCTION | type_index::MODULE);
        if matches!(index, type_index::SMALL_STR | type_index::SMALL_BYTES)
            || (index >= type_index::STATIC_OBJECT_BEGIN && !is_handle)
        {
            // An object of the client, by its content, or of the server.
            index = match self.packet.next_i32() {
                type_index::STR => type_index::RAW_STR,
                type_index::BYTES => type_index::BYTE_ARRAY_PTR,
                OBJECT_REF => type_index::OBJECT,
                _ => return Err(UNKNOWN_TYPE),
            };
        }
        cell.type_index = index;
        match index {
            type_index::NONE => {}
            type_index::INT..=type_index::DEVICE => {
                cell.payload.v_uint64 = self.word(index)?;
            }
            type_index::DL_TENSOR_PTR => cell.payload.v_ptr = self.read_tensor()?.cast(),
            type_index::RAW_STR => self.string(cell)?,
            type_index::BYTE_ARRAY_PTR => {
                cell.payload.v_ptr = self.byte_array()?.cast();
            }
            type_index::OBJECT => self.object(0, cell)?,
            _ if is_handle => self.object(index, cell)?,
            _ => {
                cell.type_index = type_index::NONE;
                return Err(UNKNOWN_TYPE);
            }
        }
        Ok(())
    }

    fn word(&mut self, index: i32) -> Result<u64, Failure> {
        let word = self.packet.next_u64();
        match index {
            type_index::BOOL => Ok((word != 0).into()),
            // The other half is padding.
            type_index::DATA_TYPE => Ok((word as u32).into()),
            type_index::OPAQUE_PTR if word != 0 && !self.has_handles => {
                Err(refused!("TypeError: cannot pass a pointer"))
            }
            _ => Ok(word),
        }
    }

    /// Reads the handle of an object, which has the type `index` unless that is 0. The handle 0 is
    /// None.
    fn object(&mut self, index: i32, cell: &mut TVMFFIAny) -> Result<(), Failure> {
        cell.type_index = type_index::NONE;
        let handle = self.packet.next_u64();
        if handle != 0 {
            let object = self.handles.object(handle, index)?;
            cell.type_index = object.type_index();
            cell.payload.v_obj = object.as_ptr();
        }
        Ok(())
    }

    /// Reads bytes, and adds a zero.
    fn read_bytes(&mut self) -> Result<&'a mut [u8], Failure> {
        let size = self.packet.next_size();
        let words = self.space.take(size / WORD + 1)?.as_mut_ptr();
        // SAFETY: the words have more than `size` bytes, any of which is valid, and no other user.
        let bytes = unsafe { slice::from_raw_parts_mut(words.cast::<u8>(), size + 1) };
        if let Some((zero, content)) = bytes.split_last_mut() {
            self.packet.next_bytes(content);
            *zero = 0;
        }
        Ok(bytes)
    }

    fn byte_array(&mut self) -> Result<*mut TVMFFIByteArray, Failure> {
        let bytes = self.read_bytes()?;
        let record = TVMFFIByteArray { data: bytes.as_ptr().cast(), size: bytes.len() - 1 };
        self.space.store(record)
    }

    /// Reads a string. One with zero bytes becomes a String object, since a C string would end at
    /// the first.
    fn string(&mut self, cell: &mut TVMFFIAny) -> Result<(), Failure> {
        let bytes = self.read_bytes()?;
        if bytes.iter().position(|byte| *byte == 0) == bytes.len().checked_sub(1) {
            cell.payload.v_c_str = bytes.as_ptr().cast();
            return Ok(());
        }
        cell.type_index = type_index::NONE;
        self.packet.check()?;
        if let Some((_, text)) = bytes.split_last() {
            *cell = string_with_zeros(text)?;
        }
        Ok(())
    }

    fn read_tensor(&mut self) -> Result<*mut DLTensor, Failure> {
        let head = self.packet.next_tensor();
        let ndim = head.ndim as usize;
        let shape = self.space.take(ndim)?;
        for extent in shape.iter_mut() {
            *extent = self.packet.next_u64();
        }
        let byte_offset = self.packet.next_size();
        self.packet.check()?;
        let mut tensor = DLTensor {
            data: ptr::null_mut(),
            device: head.device,
            ndim: head.ndim as i32,
            dtype: head.dtype,
            shape: shape.as_mut_ptr().cast(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        // SAFETY: the shape has `ndim` extents.
        let Some(bytes) = unsafe { TensorRef::from_raw(&tensor) }.size_bytes() else {
            return Err(refused!("ValueError: a tensor has no valid size", "ValueError: shape"));
        };
        // A request may have a tensor without data, of which it reads the size.
        if head.data != 0 || !self.has_handles {
            let region = self.handles.region(head.data, head.device)?;
            (tensor.data, tensor.byte_offset) = region.part(byte_offset, bytes)?.address();
        }
        if HAS_STRIDES {
            tensor.strides = self.strides(shape)?;
        }
        self.space.store(tensor)
    }

    fn strides(&mut self, shape: &[u64]) -> Result<*mut i64, Failure> {
        let strides = self.space.take(shape.len())?;
        let mut stride = 1u64;
        for (place, extent) in strides.iter_mut().zip(shape).rev() {
            *place = stride;
            // Overflows only if the tensor has no elements.
            stride = stride.wrapping_mul(*extent);
        }
        Ok(strides.as_mut_ptr().cast())
    }
}

#[cfg(feature = "alloc")]
fn string_with_zeros(text: &[u8]) -> Result<TVMFFIAny, Failure> {
    Ok(ferrite_core::Any::new(ferrite_core::String::from_bytes(text)?).into_raw())
}

#[cfg(not(feature = "alloc"))]
fn string_with_zeros(_: &[u8]) -> Result<TVMFFIAny, Failure> {
    Err(refused!("ValueError: a string has zero bytes"))
}
