//! Fuzzes the import of managed tensors: arbitrary metadata is accepted or rejected, and exported
//! unchanged.

use core::ptr;

use arbitrary::Arbitrary;
use ferrite_core::Tensor;
use ferrite_core::abi::{DLDataType, DLDevice, DLManagedTensorVersioned, DLPackVersion, DLTensor};

#[derive(Arbitrary, Debug)]
struct Source {
    major: bool,
    flags: u8,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    dtype: (u8, u8, u16),
    byte_offset: u64,
    alignment: i32,
    contiguous: bool,
    null_data: bool,
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some(source) = super::arbitrary::<Source>(input) else { return };
    let mut data = [0u64; 8];
    let mut shape = source.shape.clone();
    let mut strides = source.strides.clone().map(|mut strides| {
        strides.resize(shape.len(), 1);
        strides
    });
    let mut managed = DLManagedTensorVersioned {
        version: DLPackVersion { major: if source.major { 1 } else { 9 }, minor: 3 },
        manager_ctx: ptr::null_mut(),
        deleter: None,
        flags: source.flags.into(),
        dl_tensor: DLTensor {
            data: if source.null_data { ptr::null_mut() } else { data.as_mut_ptr().cast() },
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: shape.len() as i32,
            dtype: DLDataType { code: source.dtype.0, bits: source.dtype.1, lanes: source.dtype.2 },
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut().map_or(ptr::null_mut(), |strides| strides.as_mut_ptr()),
            byte_offset: source.byte_offset,
        },
    };
    // SAFETY: the managed tensor outlives the tensor, and the elements are not read.
    let Ok(tensor) = (unsafe {
        Tensor::from_dlpack_versioned(&mut managed, source.alignment, source.contiguous)
    }) else {
        return;
    };
    assert_eq!(tensor.shape(), source.shape);
    let exported = tensor.to_dlpack_versioned().expect("memory");
    // SAFETY: the export is owned until its deleter is called.
    unsafe {
        assert_eq!(exported.as_ref().flags, u64::from(source.flags));
        let deleter = exported.as_ref().deleter.expect("exports have a deleter");
        deleter(exported.as_ptr());
    }
}
