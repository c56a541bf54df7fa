//! Tests the functions `runtime.*` that need no device, and their coexistence with those of another
//! runtime.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::tensor::Element;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, Function, Shape, String, Tensor, plain_bail};
use std::sync::Mutex;

const HEXAGON: i32 = 16;

const DELAYED: i32 = ferrite_core::value::device::kind::ONE_API;

/// A back end in main memory, whose copies run when their stream is synchronised.
struct Delayed;

/// A copy that was queued.
struct Copy {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

// SAFETY: copies run while the tensors are borrowed, or in main memory that no test uses.
unsafe impl Send for Copy {}

static QUEUED: Mutex<Vec<Copy>> = Mutex::new(Vec::new());

/// Tensor that must be borrowed while a copy runs, and whether for writing.
static BORROWED: Mutex<Option<(Tensor, bool)>> = Mutex::new(None);

// SAFETY: memory is that of the global allocator, and stays; there are no streams or events.
unsafe impl Backend for Delayed {
    fn device_type(&self) -> i32 {
        DELAYED
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        Ok(Vec::leak(vec![0u64; bytes.div_ceil(8)]).as_mut_ptr().cast())
    }

    unsafe fn free(&self, _id: i32, _data: *mut c_void) {}

    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, _: *mut c_void) -> Result<()> {
        let [from, to] = [from, to].map(|region| region.data.wrapping_byte_add(region.offset));
        QUEUED.lock().expect("no panic").push(Copy { from: from.cast(), to: to.cast(), bytes });
        Ok(())
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        if let Some((tensor, writes)) = &*BORROWED.lock().expect("no panic") {
            assert!(tensor.borrow_mut::<f32>().is_err(), "it is borrowed");
            assert_eq!(tensor.as_slice::<f32>().is_err(), *writes);
        }
        for Copy { from, to, bytes } in QUEUED.lock().expect("no panic").drain(..) {
            // SAFETY: the caller of `copy` keeps both until its stream is synchronised.
            unsafe { from.copy_to(to, bytes) };
        }
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(1i64.into())
    }

    fn allocate_workspace(&self, _id: i32, _bytes: usize) -> Result<NonNull<c_void>> {
        plain_bail!(RUNTIME_ERROR, "there are no workspaces")
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

static LATE: &dyn Backend = &Delayed;

/// A back end whose memory is never accessed.
struct Untouched;

// SAFETY: tests do not access the memory, and there are no streams or events.
unsafe impl Backend for Untouched {
    fn device_type(&self) -> i32 {
        HEXAGON
    }

    fn set_device(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _id: i32, _bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        Ok(core::ptr::without_provenance_mut(64))
    }

    unsafe fn free(&self, _id: i32, _data: *mut c_void) {}

    unsafe fn copy(&self, _: Region, _: Region, _: usize, _: *mut c_void) -> Result<()> {
        plain_bail!(RUNTIME_ERROR, "this memory is not touched")
    }

    unsafe fn synchronize(&self, _id: i32, _stream: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, _id: i32, _attribute: Attribute) -> Result<Any> {
        Ok(1i64.into())
    }

    fn allocate_workspace(&self, _id: i32, _bytes: usize) -> Result<NonNull<c_void>> {
        plain_bail!(RUNTIME_ERROR, "there are no workspaces")
    }

    unsafe fn free_workspace(&self, _id: i32, _workspace: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

static UNTOUCHED: &dyn Backend = &Untouched;

fn install() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    device::register(&UNTOUCHED).expect("a type that may have a back end");
    device::register(&LATE).expect("a type that may have a back end");
}

fn global(name: &str) -> Result<Function> {
    Ok(Function::find_global(name)?.expect("a global function"))
}

fn refused(result: Result<Any>, kind: &str) -> std::string::String {
    let error = result.map(drop).expect_err("an error");
    let text = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
    assert_eq!(std::str::from_utf8(error.kind_bytes()), Ok(kind), "{text}");
    text
}

fn view(source: &Tensor, shape: &[i64], dtype: DLDataType, offset: i64) -> Result<Tensor> {
    let shape = Shape::from_slice(shape)?;
    let args = [source.into(), (&shape).into(), (&dtype).into(), offset.into()];
    global("runtime.TVMTensorCreateView")?.call_packed(&args)?.get()
}

fn is_shared(one: &Tensor, other: &Tensor) -> Result<bool> {
    global("runtime.TVMTensorIsStorageShared")?.call_packed(&[one.into(), other.into()])?.get()
}

#[test]
fn a_view_has_a_part_of_the_bytes() -> Result<()> {
    install();
    let source = Tensor::from_slice(&[0i32, 1, 2, 3, 4, 5], &[2, 3])?;
    let part = view(&source, &[2, 2], i32::DTYPE, 8)?;
    assert_eq!((part.shape(), part.strides()), (&[2i64, 2][..], Some(&[2i64, 1][..])));
    assert_eq!(part.as_slice::<i32>()?, [2, 3, 4, 5]);
    // The offset of a nested view is relative to its parent, whose memory it keeps alive.
    let nested = view(&part, &[8], u8::DTYPE, 8)?;
    let scalar = view(&source, &[], i32::DTYPE, 4)?;
    assert!(is_shared(&source, &view(&source, &[6], f32::DTYPE, 0)?)?);
    assert!(!is_shared(&source, &part)? && !is_shared(&part, &nested)?);
    assert!(
        !is_shared(&source, &view(&source, &[5], i32::DTYPE, 0)?)?,
        "one ends before the other"
    );
    drop((source, part));
    assert_eq!(nested.as_slice::<u8>()?, [4, 0, 0, 0, 5, 0, 0, 0]);
    assert_eq!((&scalar.as_slice::<i32>()?[..], scalar.shape().len()), (&[1][..], 0));
    assert!(view(&nested, &[0, 7], f32::DTYPE, 8)?.as_slice::<f32>()?.is_empty());
    Ok(())
}

#[test]
fn views_beyond_their_tensor_are_errors() -> Result<()> {
    install();
    let source = Tensor::from_slice(&[0f32; 6], &[2, 3])?;
    for (shape, offset) in [
        (&[7i64][..], 0),
        (&[6], 1),
        (&[1], -4),
        (&[1], i64::MAX),
        (&[1], i64::MIN),
        (&[0], 25),
        (&[-1], 0),
        (&[i64::MAX, 8], 0),
    ] {
        let made = view(&source, shape, f32::DTYPE, offset);
        refused(made.map(Any::from), "ValueError");
    }
    let part = view(&source, &[2], f32::DTYPE, 8)?;
    refused(view(&part, &[3], f32::DTYPE, 0).map(Any::from), "ValueError");
    let strides = [1i64, 2];
    let mut transposed = *source.dl_tensor();
    transposed.strides = strides.as_ptr().cast_mut();
    // SAFETY: the view has two extents and strides, which stay within the data.
    let transposed = unsafe { source.create_unsafe_view(&transposed)? };
    refused(view(&transposed, &[1], f32::DTYPE, 0).map(Any::from), "InternalError");
    let create = global("runtime.TVMTensorCreateView")?;
    refused(create.call_packed(&[(&source).into()]), "TypeError");
    refused(create.call_packed(&[1i64.into(), 1i64.into(), 1i64.into(), 1i64.into()]), "TypeError");
    let shared = global("runtime.TVMTensorIsStorageShared")?;
    refused(shared.call_packed(&[(&source).into()]), "TypeError");
    refused(shared.call_packed(&[(&source).into(), 1i64.into()]), "TypeError");
    Ok(())
}

#[test]
fn devices_of_the_build_are_enabled() -> Result<()> {
    install();
    let enabled = |target: &str| {
        global("runtime.RuntimeEnabled")?.call_packed(&[(&String::new(target)?).into()])
    };
    assert!(enabled("cpu")?.get::<bool>()? && enabled("hexagon")?.get::<bool>()?);
    for target in ["llvm", "rpc"] {
        assert!(!enabled(target)?.get::<bool>()?, "{target}");
    }
    for (target, device_type) in
        [("cuda", 2), ("vulkan", 7), ("metal", 8), ("rocm", 10), ("webgpu", 15)]
    {
        let is_served = device::find(device_type).is_some();
        assert_eq!(enabled(target)?.get::<bool>()?, is_served, "{target}");
    }
    assert_eq!(enabled("opencl")?.get::<bool>()?, cfg!(feature = "opencl"));
    assert_eq!(enabled("cl")?.get::<bool>()?, cfg!(feature = "opencl"));
    for unknown in ["", "toaster", "opencl -device=adreno"] {
        let text = refused(enabled(unknown), "InternalError");
        assert_eq!(text, format!("Unknown optional runtime {unknown}"));
    }
    refused(global("runtime.RuntimeEnabled")?.call_packed(&[]), "TypeError");
    Ok(())
}

/// Uses a function name that no other test of this program uses, since all share the global table.
#[test]
fn other_runtimes_get_the_devices_that_they_have() -> Result<()> {
    install();
    let forty_two = || Function::from_packed(|_: &[AnyView<'_>]| Ok(42i64.into()));
    let own = device::empty(&[4], f32::DTYPE, DLDevice { device_type: HEXAGON, device_id: 0 })?;
    let here = Tensor::from_slice(&[0f32; 4], &[4])?;
    let copy = |tensor: &Tensor| {
        let null = Any::from(OpaquePtr::NULL);
        global("runtime.TVMTensorCopyToBytes")?.call_packed(&[
            tensor.into(),
            null.view(),
            16i64.into(),
        ])
    };
    Function::set_global("runtime.TVMTensorCopyToBytes", &forty_two()?, false)?;
    assert_eq!(copy(&here)?.get::<i64>()?, 42, "the CPU is the other runtime's");
    refused(copy(&own), "ValueError");
    Function::set_global("device_api.hexagon", &forty_two()?, false)?;
    assert_eq!(copy(&own)?.get::<i64>()?, 42, "a device of both is the other runtime's");
    let taken = Function::set_global("runtime.TVMTensorCopyToBytes", &forty_two()?, false);
    assert_eq!(
        taken.map_err(|error: Error| error.kind_bytes().to_vec()),
        Err(b"RuntimeError".to_vec())
    );
    Ok(())
}

/// Copies to and from main memory are complete, and borrow it until they are; copies within a
/// device are queued.
#[test]
fn copies_borrow_main_memory_until_they_are_complete() -> Result<()> {
    install();
    let copy = global("runtime.TVMTensorCopyFromTo")?;
    let late = DLDevice { device_type: DELAYED, device_id: 0 };
    let [there, other] = [0; 2].map(|_| device::empty(&[2], f32::DTYPE, late));
    let (there, other) = (there?, other?);
    let host = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    let pinned = {
        let device = DLDevice { device_type: kind::CUDA_HOST, device_id: 0 };
        // SAFETY: the tensor has the elements of `host`, which it keeps.
        unsafe {
            host.create_unsafe_view(&ferrite_core::abi::DLTensor { device, ..*host.dl_tensor() })?
        }
    };
    let expect = |tensor: &Tensor, writes: bool| {
        *BORROWED.lock().expect("no panic") = Some((tensor.clone(), writes));
    };
    let queued = || QUEUED.lock().expect("no panic").len();
    expect(&pinned, false);
    copy.call_packed(&[(&pinned).into(), (&there).into()])?;
    assert_eq!(queued(), 0, "the copy is complete");
    pinned.borrow_mut::<f32>()?.fill(0.0);
    expect(&pinned, true);
    copy.call_packed(&[(&there).into(), (&pinned).into()])?;
    assert_eq!((queued(), &pinned.as_slice::<f32>()?[..]), (0, &[1.0, 2.0][..]));
    *BORROWED.lock().expect("no panic") = None;
    copy.call_packed(&[(&there).into(), (&other).into()])?;
    assert_eq!(queued(), 1, "a copy within a device is queued");
    device::Device::from(late).synchronize()
}
