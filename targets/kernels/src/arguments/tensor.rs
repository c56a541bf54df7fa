//! Tensor arguments: compact, in main memory, of an element type that the kernels have.

use core::slice;

use ferrite_core::abi::{DLDataType, DLTensor, TVMFFIObject, kDLCPU, type_index};

use super::{Arguments, Result, raise};

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 32-bit float.
    F32,
    /// 16-bit IEEE float.
    F16,
    /// bfloat16.
    Bf16,
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 32-bit signed integer.
    I32,
}

impl Kind {
    fn of(dtype: DLDataType) -> Option<Self> {
        match (dtype.code, dtype.bits, dtype.lanes) {
            (2, 32, 1) => Some(Kind::F32),
            (2, 16, 1) => Some(Kind::F16),
            (4, 16, 1) => Some(Kind::Bf16),
            (0, 8, 1) => Some(Kind::I8),
            (1, 8, 1) => Some(Kind::U8),
            (0, 32, 1) => Some(Kind::I32),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Kind::F32 | Kind::I32 => 4,
            Kind::F16 | Kind::Bf16 => 2,
            Kind::I8 | Kind::U8 => 1,
        }
    }
}

/// Compact tensor in main memory, borrowed from the caller.
#[derive(Clone, Copy)]
pub struct Tensor<'a> {
    function: &'static str,
    name: &'static str,
    data: *mut u8,
    kind: Kind,
    shape: &'a [i64],
    len: usize,
}

impl<'a> Arguments<'a> {
    /// Returns a tensor, as a `DLTensor*` or a Tensor object.
    ///
    /// # Errors
    /// TypeError for a value or elements of a different type, ValueError for memory of a device,
    /// strides, misaligned elements, or a shape whose size overflows.
    pub fn tensor(&self, at: usize, name: &'static str) -> Result<Tensor<'a>> {
        let value = &self.values[at];
        // SAFETY: the type index says which pointer the payload has; the caller keeps the tensor
        // alive during the call. The `DLTensor` of a Tensor object follows its header.
        let tensor = unsafe {
            match value.type_index {
                type_index::DL_TENSOR_PTR => &*value.payload.v_ptr.cast::<DLTensor>(),
                type_index::TENSOR => &*value.payload.v_obj.cast::<TVMFFIObject>().add(1).cast(),
                _ => return Err(self.mistyped(name, "a tensor", value)),
            }
        };
        Tensor::new(self.function, name, tensor)
    }

    /// Returns a tensor, or `None` for one without elements.
    ///
    /// # Errors
    /// Same errors as `tensor`.
    pub fn optional(&self, at: usize, name: &'static str) -> Result<Option<Tensor<'a>>> {
        Ok(Some(self.tensor(at, name)?).filter(|tensor| tensor.len != 0))
    }
}

impl<'a> Tensor<'a> {
    fn new(function: &'static str, name: &'static str, tensor: &'a DLTensor) -> Result<Self> {
        let dtype = tensor.dtype;
        let Some(kind) = Kind::of(dtype) else {
            let DLDataType { code, bits, lanes } = dtype;
            return Err(raise!(
                Type,
                "{function}: {name} has elements of an unsupported type (code {code}, {bits} bits, \
                 {lanes} lanes)"
            ));
        };
        if tensor.device.device_type != kDLCPU {
            return Err(raise!(Value, "{function}: {name} is not in main memory"));
        }
        let rank = usize::try_from(tensor.ndim).unwrap_or(0);
        // SAFETY: `shape` has `ndim` extents, and so has `strides` unless it is null.
        let (shape, strides): (&[i64], _) = unsafe {
            (
                if rank == 0 { &[] } else { slice::from_raw_parts(tensor.shape, rank) },
                (rank != 0 && !tensor.strides.is_null())
                    .then(|| slice::from_raw_parts(tensor.strides, rank)),
            )
        };
        let Some(len) = count(shape).filter(|len| len.checked_mul(kind.bytes()).is_some()) else {
            return Err(raise!(Value, "{function}: {name} has a negative or too large extent"));
        };
        if len != 0 && strides.is_some_and(|strides| !is_compact(shape, strides)) {
            return Err(raise!(Value, "{function}: {name} is not compact"));
        }
        let data = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
        if data.addr() % kind.bytes() != 0 {
            return Err(raise!(Value, "{function}: {name} is not aligned to its elements"));
        }
        if len != 0 && tensor.data.is_null() {
            return Err(raise!(Value, "{function}: {name} has no memory"));
        }
        Ok(Self { function, name, data, kind, shape, len })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the element type.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the extents.
    pub fn shape(&self) -> &'a [i64] {
        self.shape
    }

    /// Returns an extent by its axis.
    pub fn extent(&self, axis: usize) -> usize {
        self.shape[axis] as usize
    }

    /// Returns the first element.
    pub fn data<T>(&self) -> *mut T {
        self.data.cast()
    }

    /// Returns the product of all extents but the last one.
    pub fn leading(&self) -> usize {
        self.shape.iter().rev().skip(1).map(|extent| *extent as usize).product()
    }

    /// Checks that there are at least `rank` axes.
    ///
    /// # Errors
    /// ValueError for fewer.
    pub fn expect_axes(self, rank: usize) -> Result<Self> {
        let (function, name, got) = (self.function, self.name, self.shape.len());
        if got >= rank {
            return Ok(self);
        }
        Err(raise!(Value, "{function}: {name} has {got} axes, expected at least {rank}"))
    }

    /// Checks the rank.
    ///
    /// # Errors
    /// ValueError for a different one.
    pub fn expect_rank(self, rank: usize) -> Result<Self> {
        let (function, name, got) = (self.function, self.name, self.shape.len());
        if got == rank {
            return Ok(self);
        }
        Err(raise!(Value, "{function}: {name} has {got} axes, expected {rank}"))
    }

    /// Checks the element type.
    ///
    /// # Errors
    /// TypeError for a different one.
    pub fn expect_kind(self, kind: Kind) -> Result<Self> {
        let (function, name, got) = (self.function, self.name, self.kind);
        if got == kind {
            return Ok(self);
        }
        Err(raise!(Type, "{function}: {name} has elements of type {got:?}, expected {kind:?}"))
    }

    /// Checks that the element type is one of some, and returns it.
    ///
    /// # Errors
    /// TypeError for a different one.
    pub fn expect_kinds(&self, kinds: &[Kind]) -> Result<Kind> {
        let (function, name, got) = (self.function, self.name, self.kind);
        if kinds.contains(&got) {
            return Ok(got);
        }
        Err(raise!(
            Type,
            "{function}: {name} has elements of type {got:?}, expected one of {kinds:?}"
        ))
    }

    /// Checks the extents.
    ///
    /// # Errors
    /// ValueError for others.
    pub fn expect_shape(self, shape: &[usize]) -> Result<Self> {
        let (function, name, got) = (self.function, self.name, self.shape);
        if got.len() == shape.len() && got.iter().zip(shape).all(|(a, b)| *a as usize == *b) {
            return Ok(self);
        }
        Err(raise!(Value, "{function}: {name} has the shape {got:?}, expected {shape:?}"))
    }

    /// Checks the number of elements.
    ///
    /// # Errors
    /// ValueError for a different one.
    pub fn expect_len(self, len: usize) -> Result<Self> {
        let (function, name, got) = (self.function, self.name, self.len);
        if got == len {
            return Ok(self);
        }
        Err(raise!(Value, "{function}: {name} has {got} elements, expected {len}"))
    }
}

fn count(shape: &[i64]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1_usize, |count, &extent| count.checked_mul(usize::try_from(extent).ok()?))
}

fn is_compact(shape: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(&extent, &stride)| {
        let fits = extent == 1 || stride == expected;
        expected *= extent;
        fits
    })
}
