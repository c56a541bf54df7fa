//! Arguments of a tvm-ffi call, converted to the legacy API for a callback or a compiled function.

use core::ffi::c_int;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::argument;
use super::crossing::Views;
use super::result::InlineByteArray;
use ferrite_core::abi::packed::TVMValue;

/// Maximum number of arguments that are stored without heap memory.
const INLINE: usize = 8;

/// Uninitialised array for arguments, stored inline up to [`INLINE`] elements.
struct Slots<T> {
    inline: [MaybeUninit<T>; INLINE],
    heap: Buffer<T>,
}

impl<T> Slots<T> {
    const fn new() -> Slots<T> {
        Slots { inline: [const { MaybeUninit::uninit() }; INLINE], heap: Buffer::new() }
    }

    /// Returns the address of an array of `count` elements, in heap memory if they do not fit
    /// inline.
    ///
    /// # Errors
    /// MemoryError.
    fn first(&mut self, count: usize) -> Result<*mut T> {
        if count <= INLINE {
            return Ok(self.inline.as_mut_ptr().cast());
        }
        self.heap.try_reserve(count)?;
        Ok(self.heap.as_mut_ptr())
    }
}

/// Storage for converted arguments. It must not move while they are used.
pub(super) struct ArgumentStorage {
    values: Slots<TVMValue>,
    codes: Slots<c_int>,
    bytes: Slots<InlineByteArray>,
    views: Views,
}

/// Converted arguments: values, type codes and their number. Borrows the storage and the original
/// arguments.
pub(super) struct ConvertedArguments<'a> {
    pub(super) values: *mut TVMValue,
    pub(super) codes: *mut c_int,
    pub(super) count: c_int,
    lifetime: PhantomData<&'a mut ArgumentStorage>,
}

impl ArgumentStorage {
    /// Creates empty storage.
    pub(super) const fn new() -> ArgumentStorage {
        ArgumentStorage {
            values: Slots::new(),
            codes: Slots::new(),
            bytes: Slots::new(),
            views: Views::new(),
        }
    }

    /// Converts arguments to values and type codes in this storage.
    ///
    /// # Errors
    /// TypeError for a value that has no type code in the legacy API; MemoryError.
    pub(super) fn convert<'a>(
        &'a mut self,
        args: &'a [AnyView<'_>],
    ) -> Result<ConvertedArguments<'a>> {
        let count = args.len();
        let (values, codes, bytes) =
            (self.values.first(count)?, self.codes.first(count)?, self.bytes.first(count)?);
        for (index, argument) in args.iter().enumerate() {
            // SAFETY: both arrays have `count` elements; arguments are valid for the life of the
            // result.
            unsafe {
                let temporary = bytes.add(index);
                temporary.write(InlineByteArray { data: ptr::null(), size: 0 });
                let (value, code) =
                    argument::to_tvm_value(argument.as_raw(), &mut *temporary, &mut self.views)?;
                values.add(index).write(value);
                codes.add(index).write(code);
            }
        }
        Ok(ConvertedArguments { values, codes, count: count as c_int, lifetime: PhantomData })
    }
}
