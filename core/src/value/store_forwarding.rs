//! Copies of recently written records that do not defeat store forwarding.
//!
//! A processor forwards a pending store to a later load only if that single store covers the whole
//! load. A load wider than the stored fields stalls until the stores retire, which takes about a
//! dozen cycles: as long as a whole call. Compilers turn assignments into such wide copies;
//! volatile reads prevent it. Records that are read as a whole are composed in a register and
//! stored once.

use core::mem;

use crate::abi::{DLDataType, DLTensor, TVMFFIAny};
use crate::value::any::AnyView;

/// Whether copies preserve store forwarding. Size-optimised builds copy records by assignment:
/// their processors have no store buffer that would stall, and the word copies take 64 bytes of
/// flash.
const FORWARDS: bool = cfg!(feature = "speed");

/// Joins two 32-bit fields into a word, in memory order.
#[inline(always)]
fn word(first: u32, second: u32) -> u64 {
    let [low, high] =
        if cfg!(target_endian = "little") { [first, second] } else { [second, first] };
    u64::from(low) | u64::from(high) << 32
}

/// Composes a data type in a register, since readers load it as one word.
#[inline(always)]
pub(crate) fn dtype(dtype: DLDataType) -> DLDataType {
    if !FORWARDS {
        return dtype;
    }
    let DLDataType { code, bits, lanes } = dtype;
    // SAFETY: the record consists of these four bytes in this order, and every combination is
    // valid.
    unsafe { mem::transmute::<u32, DLDataType>(dtype_word(code, bits, lanes)) }
}

/// Joins the fields of a data type into a word, in memory order.
#[inline(always)]
fn dtype_word(code: u8, bits: u8, lanes: u16) -> u32 {
    let [first, second] = lanes.to_ne_bytes();
    u32::from_ne_bytes([code, bits, first, second])
}

/// Copies a value as two words composed in registers, since readers load whole words or fields
/// within them.
///
/// # Safety
/// `from` must be valid for reading, and `to` for writing.
#[inline(always)]
pub(crate) unsafe fn copy_any(from: *const TVMFFIAny, to: *mut TVMFFIAny) {
    // SAFETY: the caller guarantees both records; the first two fields are one word.
    unsafe {
        if !FORWARDS {
            return to.write(from.read());
        }
        let type_index = (&raw const (*from).type_index).read_volatile();
        // Between two volatile reads this one stays apart, too, and is left out where nobody uses
        // it.
        let len = (*from).small_str_len;
        let payload = (&raw const (*from).payload).read_volatile();
        to.cast::<u64>().write(word(type_index as u32, len));
        (*to).payload = payload;
    }
}

/// Copies an argument word by word through registers.
#[inline(always)]
pub fn view<'a>(from: &AnyView<'a>) -> AnyView<'a> {
    if !FORWARDS {
        return *from;
    }
    let mut raw = TVMFFIAny::NONE;
    // SAFETY: both are complete cells; the copy borrows the same content for the same lifetime.
    unsafe {
        copy_any(from.as_raw(), &mut raw);
        AnyView::from_raw(raw)
    }
}

/// Copies a DLTensor in the words in which readers load it.
///
/// # Safety
/// `from` must be valid for reading, and `to` for writing.
#[inline(always)]
pub(crate) unsafe fn copy_dl_tensor(from: *const DLTensor, to: *mut DLTensor) {
    // SAFETY: the caller guarantees both records, which do not overlap.
    unsafe {
        if !FORWARDS {
            return to.copy_from_nonoverlapping(from, 1);
        }
        (*to).data = (&raw const (*from).data).read_volatile();
        let device_type = (&raw const (*from).device.device_type).read_volatile();
        let device_id = (&raw const (*from).device.device_id).read_volatile();
        let device = word(device_type as u32, device_id as u32);
        (&raw mut (*to).device).cast::<u64>().write_unaligned(device);
        let ndim = (&raw const (*from).ndim).read_volatile();
        let code = (&raw const (*from).dtype.code).read_volatile();
        let bits = (&raw const (*from).dtype.bits).read_volatile();
        let lanes = (&raw const (*from).dtype.lanes).read_volatile();
        let dtype = dtype_word(code, bits, lanes);
        (&raw mut (*to).ndim).cast::<u64>().write_unaligned(word(ndim as u32, dtype));
        (*to).shape = (&raw const (*from).shape).read_volatile();
        (*to).strides = (&raw const (*from).strides).read_volatile();
        (*to).byte_offset = (&raw const (*from).byte_offset).read_volatile();
    }
}

/// Copies two lists of `len` integers one after the other to `to`. Each integer is loaded alone. Up
/// to four integers need neither a loop nor a call of `memcpy`.
///
/// # Safety
/// Both lists must be valid for reading, and `to` for writing twice `len` integers.
#[inline(always)]
pub(crate) unsafe fn copy_lists(from: [*const i64; 2], to: *mut i64, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match len {
            1 => copy_each(from, to, 1),
            2 => copy_each(from, to, 2),
            3 => copy_each(from, to, 3),
            4 => copy_each(from, to, 4),
            _ => copy_each(from, to, len),
        }
    }
}

/// Copies two lists like [`copy_lists`], without a loop if `len` is a small constant.
///
/// # Safety
/// Same requirements as [`copy_lists`].
#[inline(always)]
unsafe fn copy_each([first, second]: [*const i64; 2], to: *mut i64, len: usize) {
    for index in 0..len {
        // SAFETY: the index is within the lists; the caller guarantees them.
        unsafe {
            to.add(index).write(first.add(index).read_volatile());
            to.add(len + index).write(second.add(index).read_volatile());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::DLDevice;

    #[test]
    fn lists_are_copied_one_after_the_other() {
        let mut copy = [0; 6];
        let (shape, strides) = ([2i64, -3, 4], [12i64, 4, 1]);
        // SAFETY: both lists have three integers, the copy six.
        unsafe { copy_lists([shape.as_ptr(), strides.as_ptr()], copy.as_mut_ptr(), 3) };
        assert_eq!(copy, [2, -3, 4, 12, 4, 1]);
    }

    #[test]
    fn values_are_copied_whole() {
        for value in [AnyView::from(-7i64), AnyView::from(true), AnyView::NONE] {
            let mut copy = TVMFFIAny { type_index: -1, small_str_len: 9, ..TVMFFIAny::NONE };
            // SAFETY: the view is alive, the copy a local record.
            unsafe { copy_any(value.as_raw(), &mut copy) };
            assert_eq!((copy.type_index, copy.small_str_len), (value.type_index(), 0));
            // SAFETY: a copy of a plain value.
            assert_eq!(unsafe { copy.payload.v_uint64 }, value.payload_bits());
        }
    }

    #[test]
    fn descriptions_are_copied_whole() {
        let mut extents = [2i64, 3];
        let tensor = DLTensor {
            data: extents.as_mut_ptr().cast(),
            device: DLDevice { device_type: 2, device_id: 5 },
            ndim: 2,
            dtype: DLDataType { code: 1, bits: 16, lanes: 4 },
            shape: extents.as_mut_ptr(),
            strides: core::ptr::null_mut(),
            byte_offset: 64,
        };
        let mut copy = DLTensor { ndim: 0, ..tensor };
        // SAFETY: local records.
        unsafe { copy_dl_tensor(&tensor, &mut copy) };
        assert_eq!(copy.data, tensor.data);
        assert_eq!((copy.device.device_type, copy.device.device_id), (2, 5));
        assert_eq!((copy.dtype.code, copy.dtype.bits, copy.dtype.lanes), (1, 16, 4));
        assert_eq!((copy.ndim, copy.byte_offset), (2, 64));
        assert_eq!((copy.shape, copy.strides), (tensor.shape, tensor.strides));
    }
}
