//! Tensor parameters of functions: inputs, which a function reads, and outputs, which it writes.

use super::check::Argument;
use super::reader::is_direct_address;
use super::{Element, TensorCheck, TensorRef, TensorView, read_only};
use crate::error::Result;
use crate::plain_error;
use crate::value::any::AnyView;
use crate::value::callee::{Call, TensorUse};
use crate::value::convert::{ArgumentPlace, Described, Param, TypeText};

/// A parameter that a function reads, with the checks of [`TensorCheck`].
///
/// It takes tensor objects and DLTensor pointers, of any device, and keeps nothing alive. Its
/// messages name the parameter and the function if the function is exported by the attribute
/// `export`. The call borrows the elements of a tensor object until the function returns: other
/// code cannot write them meanwhile, and an existing writer makes the call a RuntimeError. The
/// elements of a DLTensor pointer are not tracked: the caller in C is trusted not to write them.
///
/// # Examples
/// ```
/// use ferrite_core::tensor::{Input, Output};
/// use ferrite_core::{Function, Result, Tensor};
///
/// fn double(x: Input<'_>, mut out: Output<'_>) -> Result<()> {
///     let ([len], x) = x.array::<f32, 1>()?;
///     for (out, x) in out.elements_mut(&[len])?.iter_mut().zip(x) {
///         *out = 2.0 * x;
///     }
///     Ok(())
/// }
///
/// # fn main() -> Result<()> {
/// let (x, out) = (Tensor::from_slice(&[1.0f32, 2.0], &[2])?, Tensor::from_slice(&[0.0f32; 2], &[2])?);
/// let double = Function::from_typed(double)?;
/// double.call::<()>((&x, &out))?;
/// assert_eq!(out.as_slice::<f32>()?, [2.0, 4.0]);
/// assert!(double.call::<()>((&x, &x)).is_err()); // the output overlaps the input
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// A parameter `TensorView` of a function in C++, and the checks of `ferrite/kernel.h`.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    call: &'a Call<'a>,
    /// Index of the argument, which is a tensor.
    index: usize,
}

impl<'a> Input<'a> {
    /// Borrows the tensor.
    pub fn tensor(self) -> TensorRef<'a> {
        // SAFETY: the argument is a tensor, which was checked when it was converted.
        unsafe { TensorRef::from_view(self.call.args.get_unchecked(self.index)).unwrap_unchecked() }
    }

    /// Begins checks of the tensor.
    pub fn check(self) -> TensorCheck<'a, Argument> {
        // SAFETY: the call has borrowed the elements of an input for reading, or of an output, of
        // which the check is not `'a`.
        unsafe { self.tensor().check_argument(self.call, self.index) }
    }

    /// Performs the checks of [`TensorCheck::array`].
    ///
    /// # Errors
    /// Errors of [`TensorCheck::array`].
    #[inline(never)]
    pub fn array<T: Element, const N: usize>(self) -> Result<([usize; N], &'a [T])> {
        let tensor = self.tensor();
        if let (Some(elements), Ok(shape)) =
            (self.plain_elements(), <&[i64; N]>::try_from(tensor.shape()))
        {
            // They are positive.
            return Ok((shape.map(|extent| extent as usize), elements));
        }
        self.check().array()
    }

    /// Fast path: borrows the elements of a tensor that passes all checks and is not empty.
    #[inline(always)]
    fn plain_elements<T: Element>(self) -> Option<&'a [T]> {
        let (data, len) = self.tensor().elements_on_host()?;
        // SAFETY: address and length were checked, and the call has borrowed the elements.
        Some(unsafe { core::slice::from_raw_parts(data, len) })
    }

    /// Performs the checks of [`TensorCheck::elements`].
    ///
    /// # Errors
    /// Errors of [`TensorCheck::elements`].
    #[inline(never)]
    pub fn elements<T: Element>(self, shape: &[usize]) -> Result<&'a [T]> {
        if let Some(elements) = self.plain_elements().filter(|_| has_shape(self.tensor(), shape)) {
            return Ok(elements);
        }
        self.check().elements(shape)
    }
}

/// A parameter that a function writes. Before the function begins, the call checks that the tensor
/// shares no memory with another tensor argument, and that it is not known to be read-only.
///
/// The call borrows the elements of a tensor object exclusively until the function returns. If the
/// elements are already borrowed (by the caller through
/// [`Tensor::as_slice`](super::Tensor::as_slice), by another thread, by a calling function), the
/// call is a RuntimeError that names the parameter. The function itself cannot borrow them again
/// through a captured reference or a tensor in a container: that is a RuntimeError, too. The
/// elements of a DLTensor pointer come from a caller in C, who is trusted not to use them elsewhere
/// during the call.
///
/// # Examples
/// See [`Input`].
pub struct Output<'a>(Input<'a>);

impl Output<'_> {
    /// Begins checks of the tensor.
    pub fn check(&self) -> TensorCheck<'_, Argument> {
        self.0.check()
    }

    /// Checks the number of dimensions and all that a slice of the elements needs, and returns the
    /// extents and the elements, to be written.
    ///
    /// # Errors
    /// The errors of [`TensorCheck::array`].
    pub fn array_mut<T: Element, const N: usize>(&mut self) -> Result<([usize; N], &mut [T])> {
        let extents = self.check().extents()?;
        Ok((extents, self.as_mut_slice()?))
    }

    /// Checks all extents and all that a slice of the elements needs, and borrows these for
    /// writing.
    ///
    /// # Errors
    /// The errors of [`TensorCheck::elements`].
    #[inline(never)]
    pub fn elements_mut<T: Element>(&mut self, shape: &[usize]) -> Result<&mut [T]> {
        if !has_shape(self.0.tensor(), shape) {
            self.check().extents_are(shape)?;
        }
        self.as_mut_slice()
    }

    /// Checks all that a slice of the elements needs, and borrows them for writing. They may be
    /// read first, to work in place.
    ///
    /// # Errors
    /// The errors of [`TensorCheck::as_slice`].
    #[inline(never)]
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        if let Some((data, len)) = self.0.tensor().elements_on_host() {
            // SAFETY: address and length were checked; otherwise as below.
            return Ok(unsafe { core::slice::from_raw_parts_mut(data, len) });
        }
        let check = self.check();
        // SAFETY: the call has borrowed the elements exclusively, no argument overlaps them, and
        // each argument becomes one output, which is borrowed exclusively here. A caller in C that
        // passes a DLTensor pointer permits writing its elements.
        match unsafe { check.tensor().as_mut_slice() } {
            Ok(elements) if check.is_on_host() => Ok(elements),
            other => check.explained::<T>().and(other),
        }
    }
}

impl Described for Input<'_> {
    const TYPE: &'static TypeText = TensorView::TYPE;

    fn accepts(view: &AnyView<'_>) -> bool {
        TensorView::accepts(view)
    }
}

impl Described for Output<'_> {
    const TYPE: &'static TypeText = TensorView::TYPE;

    fn accepts(view: &AnyView<'_>) -> bool {
        TensorView::accepts(view)
    }
}

impl Param for Input<'_> {
    type In<'a> = Input<'a>;

    const TENSOR_USE: TensorUse = TensorUse::Read;

    /// Refuses all values: an input is an argument of a call.
    fn param<'a>(_: &'a AnyView<'a>) -> Result<Option<Input<'a>>> {
        Ok(None)
    }

    #[inline(always)]
    fn argument<'a>(call: &'a Call<'a>, place: ArgumentPlace) -> Result<Input<'a>> {
        input(call, place.used_for(call, TensorUse::Read)?)
    }
}

impl Param for Output<'_> {
    type In<'a> = Output<'a>;

    const TENSOR_USE: TensorUse = TensorUse::Write;

    /// Returns `None`: an output is compared with the other arguments, which
    /// [`argument`](Param::argument) can do.
    fn param<'a>(_: &'a AnyView<'a>) -> Result<Option<Output<'a>>> {
        Ok(None)
    }

    #[inline(always)]
    fn argument<'a>(call: &'a Call<'a>, place: ArgumentPlace) -> Result<Output<'a>> {
        output(call, place.used_for(call, TensorUse::Write)?)
    }
}

/// Converts an argument whose elements the call has borrowed.
#[inline(never)]
fn input<'a>(call: &'a Call<'a>, index: usize) -> Result<Input<'a>> {
    match call.args.get(index).and_then(TensorRef::from_view) {
        Some(_) => Ok(Input { call, index }),
        None => call.convert::<Input<'_>>(index),
    }
}

/// Converts an argument whose elements the call has borrowed exclusively, and compares it with the
/// other ones.
#[inline(never)]
fn output<'a>(call: &'a Call<'a>, index: usize) -> Result<Output<'a>> {
    let input = input(call, index)?;
    let (tensor, check) = (input.tensor(), input.check());
    let span = tensor.span();
    for (other_index, other) in call.args.iter().enumerate() {
        let Some(other) = TensorRef::from_view(other).filter(|_| other_index != index) else {
            continue;
        };
        check.pass(
            !overlap(tensor, span, other),
            || {
                plain_error!(
                    VALUE_ERROR,
                    "Overlapping {}, expected memory apart from argument #{}",
                    check.name(),
                    other_index
                )
            },
            |out| out.put(b", got common bytes"),
        )?;
    }
    check.pass(
        !call.args.get(index).map_or(Ok(false), |arg| read_only::is_read_only(*arg))?,
        || plain_error!(VALUE_ERROR, "Read-only {}, expected a writable tensor", check.name()),
        |out| out.put(b", got one with the read-only flag"),
    )?;
    Ok(Output(input))
}

/// Returns whether a tensor has these extents.
#[inline(always)]
fn has_shape(tensor: TensorRef<'_>, shape: &[usize]) -> bool {
    let actual = tensor.shape();
    actual.len() == shape.len()
        && actual.iter().zip(shape).all(|(actual, expected)| *actual == *expected as i64)
}

/// Returns `true` if elements of two tensors with the given spans may share memory.
fn overlap(a: TensorRef<'_>, (a_start, a_end): (u64, u64), b: TensorRef<'_>) -> bool {
    // Where `data` is the handle of a buffer, spans are of offsets within it.
    let comparable = is_direct_address(a.device()) || a.data_ptr() == b.data_ptr();
    let (b_start, b_end) = b.span();
    a.device() == b.device() && comparable && a_start.max(b_start) < a_end.min(b_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::DLTensor;
    use crate::{Function, Tensor};
    use std::string::ToString;

    fn fill(x: Input<'_>, mut out: Option<Output<'_>>) -> Result<i64> {
        let sum = x.check().as_slice::<i32>()?.iter().sum();
        if let Some(out) = &mut out {
            out.as_mut_slice::<i32>()?.fill(sum);
        }
        Ok(sum.into())
    }

    /// Calls `fill` as an exported function does.
    fn call<'a>(x: impl Into<TensorView<'a>>, out: Option<TensorView<'_>>) -> Result<i64> {
        let names = "x, out";
        use crate::call::typed::Callee;
        let callee =
            Callee { name: "fill", signature: crate::call::typed::signature_of(&fill), names };
        let out = out.map_or(AnyView::NONE, AnyView::from);
        use crate::call::typed::TypedFn;
        fill.invoke(&callee, &[x.into().into(), out])?.get()
    }

    /// Returns the tensor with other bytes before its first element and other extents.
    fn moved(
        tensor: &Tensor,
        byte_offset: u64,
        shape: &mut [i64; 1],
        strides: &mut [i64; 1],
    ) -> DLTensor {
        let (shape, strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
        DLTensor { byte_offset, shape, strides, ..*tensor.dl_tensor() }
    }

    fn view(tensor: &DLTensor) -> TensorView<'_> {
        // SAFETY: the tests describe memory that outlives the record and that nothing else uses
        // during a call.
        unsafe { TensorView::new(core::ptr::NonNull::from(tensor)) }
    }

    #[test]
    fn outputs_are_written_and_may_be_absent() -> Result<()> {
        let (x, out) = (Tensor::from_slice(&[1, 2], &[2])?, Tensor::from_slice(&[0; 3], &[3])?);
        assert_eq!((call(&x, None)?, call(&x, Some((&out).into()))?), (3, 3));
        assert_eq!(out.as_slice::<i32>()?, [3; 3]);
        Ok(())
    }

    #[test]
    fn messages_have_the_place_of_the_argument() -> Result<()> {
        let x = Tensor::from_slice(&[1.0f32], &[1])?;
        assert_eq!(
            call(&x, None).unwrap_err().to_string(),
            "TypeError: Mismatched x.dtype on argument #0 when calling:\n  `fill(x: DLTensor*, out: Optional<DLTensor*>)`,\n  \
             expected int32, got float32"
        );
        let unnamed = Function::from_typed(fill)?.call::<i64>((&x, ())).unwrap_err();
        assert_eq!(
            unnamed.to_string(),
            "TypeError: Mismatched argument.dtype on argument #0 when calling:\n  `(0: DLTensor*, 1: Optional<DLTensor*>)`,\n  \
             expected int32, got float32"
        );
        Ok(())
    }

    #[test]
    fn shared_memory_is_refused_to_the_byte() -> Result<()> {
        let memory = Tensor::from_slice(&[1; 8], &[8])?;
        let (mut four, mut step) = ([4], [1]);
        let low = moved(&memory, 0, &mut four, &mut step);
        for (byte_offset, refused) in [(0, true), (12, true), (16, false)] {
            let (mut shape, mut strides) = ([4], [1]);
            let high = moved(&memory, byte_offset, &mut shape, &mut strides);
            let outcome =
                [call(view(&low), Some(view(&high))), call(view(&high), Some(view(&low)))];
            assert_eq!(outcome.map(|outcome| outcome.is_err()), [refused; 2], "{byte_offset}");
        }
        let error = call(view(&low), Some(view(&low))).unwrap_err().to_string();
        assert!(
            error.starts_with("ValueError: Overlapping out on argument #1 when calling:"),
            "{error}"
        );
        assert!(
            error.ends_with("expected memory apart from argument #0, got common bytes"),
            "{error}"
        );
        Ok(())
    }

    #[test]
    fn buffers_of_devices_are_told_apart_by_their_handles() -> Result<()> {
        let memory = Tensor::from_slice(&[1; 8], &[8])?;
        let device =
            crate::abi::DLDevice { device_type: crate::value::device::kind::OPENCL, device_id: 0 };
        let (mut shape, mut strides) = ([4], [1]);
        let on_device =
            |data| DLTensor { device, data, ..moved(&memory, 0, &mut shape, &mut strides) };
        let [x, same, other] = [8, 8, 12].map(core::ptr::without_provenance_mut).map(on_device);
        let [x, same, other] = [&x, &same, &other].map(|tensor| {
            // SAFETY: shape and strides are those of the records; memory of a device is not read.
            unsafe { TensorRef::from_raw(tensor) }
        });
        assert!(overlap(x, x.span(), same));
        assert!(!overlap(x, x.span(), other));
        Ok(())
    }

    #[test]
    fn spans_follow_strides_of_any_sign() -> Result<()> {
        let memory = Tensor::from_slice(&[1; 8], &[8])?;
        // Elements 7, 5, 3 and 1, and element 0; then the same with element 1.
        let (mut shape, mut strides) = ([4], [-2]);
        let backward = moved(&memory, 28, &mut shape, &mut strides);
        for (byte_offset, refused) in [(0, false), (4, true)] {
            let (mut one, mut step) = ([1], [1]);
            let out = moved(&memory, byte_offset, &mut one, &mut step);
            let error = call(view(&backward), Some(view(&out))).unwrap_err().to_string();
            assert_eq!(error.contains("Overlapping"), refused, "{error}");
        }
        Ok(())
    }

    #[test]
    fn read_only_tensors_are_refused() -> Result<()> {
        let (x, out) = (Tensor::from_slice(&[1], &[1])?, Tensor::from_slice(&[0], &[1])?);
        let managed = out.to_dlpack_versioned()?.as_ptr();
        // SAFETY: the managed tensor is ours, and the import takes it over.
        let out = unsafe {
            (*managed).flags = crate::abi::DLPACK_FLAG_BITMASK_READ_ONLY;
            Tensor::from_dlpack_versioned(managed, 0, false)?
        };
        let out = crate::Any::from(out);
        let fill = Function::from_typed(fill)?;
        let error = fill.call_packed(&[(&x).into(), out.view()]).unwrap_err().to_string();
        assert!(error.starts_with("ValueError: Read-only argument on argument #1"), "{error}");
        // Reading is fine.
        assert_eq!(fill.call::<i64>((out, ()))?, 0);
        Ok(())
    }

    #[test]
    fn each_message_has_what_was_given() -> Result<()> {
        let (x, y) =
            (Tensor::from_slice(&[1i32; 6], &[2, 3])?, Tensor::from_slice(&[1i32; 4], &[4])?);
        let function = |x: Input<'_>, y: Input<'_>, check: i64| -> Result<()> {
            match check {
                0 => x.check().ndim(1).map(drop),
                1 => x.elements::<i32>(&[2, 4]).map(drop),
                2 => y.check().same_extent(0, x.check(), 1).map(drop),
                3 => x.check().stride(0, 4).map(drop),
                4 => x.check().device_type(crate::value::device::kind::CUDA).map(drop),
                5 => y.check().indices::<i32>(1).map(drop),
                _ => y.check().ensure(false, "shape", format_args!("{}, got {}", 5, 4)).map(drop),
            }
        };
        let function = Function::from_typed(function)?;
        for (check, end) in [
            "expected 1, got 2",
            "expected 4, got 3",
            "expected to match argument.shape[1] = 3, got 4",
            "expected 4, got 3",
            "expected cuda, got cpu",
            "expected 0 to less than 1, got 1",
            "expected 5, got 4",
        ]
        .iter()
        .enumerate()
        {
            let error = function.call::<()>((&x, &y, check as i64)).unwrap_err().to_string();
            assert!(error.ends_with(&std::format!("`,\n  {end}")), "{error}");
        }
        let (mut shape, mut strides) = ([4], [2]);
        let spread = moved(&Tensor::from_slice(&[1; 8], &[8])?, 0, &mut shape, &mut strides);
        let error = call(view(&spread), None).unwrap_err().to_string();
        assert!(error.ends_with("expected to be compact array, got stride[0] = 2"), "{error}");
        let (mut shape, mut strides) = ([1], [1]);
        let odd = moved(&y, 2, &mut shape, &mut strides);
        let error = call(view(&odd), None).unwrap_err().to_string();
        assert!(
            error.ends_with("expected data alignment=4 bytes, got an address with remainder 2"),
            "{error}"
        );
        Ok(())
    }

    #[test]
    fn empty_tensors_share_nothing() -> Result<()> {
        let memory = Tensor::from_slice(&[1; 8], &[8])?;
        let (mut none, mut step) = ([0], [1]);
        let empty = moved(&memory, 4, &mut none, &mut step);
        assert_eq!(call(view(&empty), Some((&memory).into()))?, 0);
        Ok(())
    }
}
