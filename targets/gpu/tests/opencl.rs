//! Tests OpenCL on the driver of this machine: hand-written kernels, bad input, and threads. `./ci.sh gpu-opencl` prints what
//! to install.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Device, DeviceTensor, Event, Stream};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, Shape, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::opencl::OpenCl;
use ferrite_gpu::payload::Writer;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 4, device_id: 0 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Module from TVM's compiler.
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/opencl/module.bin");

fn load(bytes: &[u8]) -> Result<Module> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    OpenCl.set_device(0)?;
    DeviceModule::<OpenCl>::load(Bytes::new(bytes)?)
}

/// Loads a module with one kernel `k`, which has two buffers and a number, and is launched along x.
fn module_of(format: &str, code: &str) -> Result<Module> {
    let mut payload = Writer::new();
    payload.text(format.as_bytes())?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(3)?;
    [HANDLE, HANDLE, I32].into_iter().try_for_each(|dtype| payload.dtype(dtype))?;
    payload.count(2)?;
    payload.text(b"blockIdx.x")?;
    payload.text(b"threadIdx.x")?;
    payload.count(0)?;
    payload.text(code.as_bytes())?;
    load(payload.finish()?.as_bytes())
}

const ADD: &str = "// Function: k\n\
    __kernel void k(__global float* x, __global float* y, int n) { int i = get_global_id(0); y[i] = x[i] + n; }\n";

fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(module.get_function(&String::new(name)?, false)?.expect("the module has the function"))
}

fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

fn refused(result: Result<Any>, kind: &str) -> std::string::String {
    let error = result.map(drop).expect_err("an error");
    assert_eq!(std::str::from_utf8(error.kind_bytes()), Ok(kind), "{}", message(&error));
    message(&error)
}

fn on_device(values: &[f32]) -> Result<Tensor> {
    let shape = [values.len() as i64];
    let (host, there) = (Tensor::from_slice(values, &shape)?, device::empty(&shape, F32, HERE)?);
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(host.dl_tensor(), there.dl_tensor(), core::ptr::null_mut())? };
    Ok(there)
}

fn values_of(tensor: &Tensor) -> Result<Vec<f32>> {
    let host = device::empty(tensor.shape(), F32, CPU)?;
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(tensor.dl_tensor(), host.dl_tensor(), core::ptr::null_mut())? };
    Ok(host.as_slice::<f32>()?.to_vec())
}

fn data(tensor: &Tensor) -> Any {
    // SAFETY: kernels that get the address find the memory of a tensor or workspace there.
    Any::from(unsafe { ferrite_core::value::convert::OpaquePtr::new(tensor.dl_tensor().data) })
}

fn add(kernel: &Function, x: &Tensor, y: &Tensor, n: i64, blocks: i64) -> Result<Any> {
    kernel.call_packed(&[data(x).view(), data(y).view(), n.into(), blocks.into(), 8i64.into()])
}

#[test]
fn kernels_are_launched() -> Result<()> {
    let kernel = function(&module_of("cl", ADD)?, "k")?;
    let x = on_device(&(0..64).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on_device(&[0.0; 64])?;
    add(&kernel, &x, &y, 3, 8)?;
    assert_eq!(values_of(&y)?, (3..67).map(|i| i as f32).collect::<Vec<_>>());
    // A size of 0 counts as 1: one block.
    let z = on_device(&[0.0; 64])?;
    add(&kernel, &x, &z, 1, 0)?;
    let expected: Vec<_> = (0..64).map(|i| if i < 8 { i as f32 + 1.0 } else { 0.0 }).collect();
    assert_eq!(values_of(&z)?, expected);
    // Tensors are accepted as arguments, too.
    kernel.call_packed(&[(&x).into(), (&z).into(), 5i64.into(), 8i64.into(), 8i64.into()])?;
    assert_eq!(values_of(&z)?[63], 68.0);
    Ok(())
}

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    let kernel = function(&module_of("cl", ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 8])?, on_device(&[2.0; 8])?);
    let (px, py) = (data(&x), data(&y));
    let call = |args: &[AnyView<'_>]| kernel.call_packed(args);
    let one = AnyView::from(1i64);
    refused(call(&[]), "TypeError");
    refused(call(&[px.view(), py.view(), one, one]), "TypeError");
    refused(call(&[px.view(), py.view(), one, one, one, one]), "TypeError");
    refused(call(&[one, py.view(), one, one, one]), "TypeError");
    refused(call(&[px.view(), py.view(), 1.5f64.into(), one, one]), "TypeError");
    for size in [1i64 << 32, -1, i64::MAX] {
        refused(call(&[px.view(), py.view(), one, size.into(), one]), "ValueError");
    }
    // The driver rejects a work group that is too large. A null buffer, which the kernel would read, is not launched here.
    let text = refused(call(&[px.view(), py.view(), one, one, (1i64 << 30).into()]), "InternalError");
    assert!(text.starts_with("OpenCL Error, code=-5"), "{text}");
    let host = Tensor::from_slice(&[0f32; 8], &[8])?;
    let text = refused(call(&[(&host).into(), (&y).into(), one, one, one]), "ValueError");
    assert!(text.contains("argument #0 is on device 1:0"), "{text}");
    let mut moved = *x.dl_tensor();
    moved.byte_offset = 4;
    // SAFETY: the record outlives the view, and is refused.
    let moved = unsafe { ferrite_core::tensor::TensorView::new((&mut moved).into()) };
    refused(call(&[AnyView::from(moved), (&y).into(), one, one, one]), "ValueError");
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn device_ids_that_do_not_exist_are_errors() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    for id in [-1, 31, 32, i32::MAX, i32::MIN] {
        let error = OpenCl.set_device(id).expect_err("no such device");
        assert_eq!(message(&error), format!("Invalid OpenCL device_id={id}. "));
        assert!(OpenCl.allocate(id, 8, 64).is_err() && alloc_workspace(4, id, 8).is_err());
        assert_eq!(OpenCl.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        assert!(OpenCl.attribute(id, Attribute::DeviceName).is_err());
        assert!(device::empty(&[1], F32, DLDevice { device_id: id, ..HERE }).is_err());
        // SAFETY: null is the default stream of every device.
        assert!(unsafe { OpenCl.synchronize(id, core::ptr::null_mut()) }.is_err());
    }
    Ok(())
}

#[test]
fn source_that_does_not_compile_is_an_error_with_the_log() -> Result<()> {
    let broken =
        "// Function: k\n__kernel void k(__global float* x, __global float* y, int n) { undeclared = 1; }\n";
    let module = module_of("cl", broken)?;
    let kernel = function(&module, "k")?;
    let x = on_device(&[1.0; 8])?;
    for _ in 0..2 {
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(text.starts_with("OpenCL build error for device="), "{text}");
        assert!(text.contains("CL_BUILD_PROGRAM_FAILURE") && text.contains("undeclared"), "{text}");
    }
    let renamed = ADD.replace("void k(", "void other(");
    let kernel = function(&module_of("cl", &renamed)?, "k")?;
    let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
    assert!(text.contains("CL_INVALID_KERNEL_NAME"), "{text}");
    Ok(())
}

#[test]
fn binaries_that_are_none_are_errors() -> Result<()> {
    let x = on_device_after_install(&[1.0; 8])?;
    for format in ["xclbin", "aocx"] {
        let kernel = function(&module_of(format, "no binary")?, "k")?;
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(text.starts_with("OpenCL Error") || text.starts_with("OpenCL build error"), "{text}");
    }
    assert_eq!(message(&module_of("spirv", "").map(drop).unwrap_err()), "Unknown OpenCL format spirv");
    Ok(())
}

fn on_device_after_install(values: &[f32]) -> Result<Tensor> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    on_device(values)
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let module = load(FIXTURE)?;
    let empty = String::new("")?;
    assert_eq!((module.kind()?, module.property_mask()?), (c"opencl", 3));
    assert_eq!(module.save_to_bytes()?.as_bytes(), FIXTURE);
    assert!(module.inspect_source(&empty)?.as_bytes().starts_with(b"// Function: "));
    assert!(module.inspect_source(&String::new("cl")?)?.as_bytes().is_empty());
    assert!(module.write_formats()?.is_empty());
    let error = module.write_to_file(&empty, &empty).unwrap_err();
    assert_eq!(message(&error), "Module[opencl] does not support WriteToFile");
    assert!(module.get_function(&String::new("no_such_kernel")?, true)?.is_none());
    assert!(module.implements_function(&String::new("mlp_kernel_1")?, false)?);
    // The loader is also in the table that loads libraries.
    let loader = Function::find_global("ffi.Module.load_from_bytes.opencl")?.expect("a loader");
    let again = loader.call_packed(&[(&Bytes::new(FIXTURE)?).into()])?.get::<Module>()?;
    assert_eq!(again.save_to_bytes()?.as_bytes(), FIXTURE);
    refused(loader.call_packed(&[(&Bytes::new(&FIXTURE[..100])?).into()]), "InternalError");
    refused(loader.call_packed(&[]), "TypeError");
    refused(loader.call_packed(&[1i64.into()]), "TypeError");
    Ok(())
}

#[test]
fn a_kernel_outlives_its_module_and_a_module_its_launches() -> Result<()> {
    let kernel = function(&module_of("cl", ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 1 << 16])?, on_device(&[0.0; 1 << 16])?);
    for n in 0..50 {
        add(&kernel, &x, &y, n, 1 << 13)?;
    }
    drop(kernel);
    assert_eq!(values_of(&y)?, [50.0; 1 << 16]);
    // Memory may be freed while it is in use, too.
    let kernel = function(&module_of("cl", ADD)?, "k")?;
    add(&kernel, &x, &y, 1, 1 << 13)?;
    drop((kernel, x, y));
    // SAFETY: null is the device's default stream.
    unsafe { OpenCl.synchronize(0, core::ptr::null_mut()) }
}

#[test]
fn eight_threads_launch_the_kernels_of_one_module() -> Result<()> {
    let module = module_of("cl", ADD)?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let module = module.clone();
                scope.spawn(move || -> Result<()> {
                    OpenCl.set_device(0)?;
                    let kernel = function(&module, "k")?;
                    let (x, y) = (on_device(&[thread as f32; 64])?, on_device(&[0.0; 64])?);
                    for n in 0..200 {
                        add(&kernel, &x, &y, n, 8)?;
                        if n % 20 == 0 {
                            assert_eq!(values_of(&y)?, [(thread as f32) + n as f32; 64]);
                        }
                    }
                    assert_eq!(values_of(&y)?, [(thread as f32) + 199.0; 64]);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

#[test]
fn programs_are_saved_as_binaries() -> Result<()> {
    let module = module_of("cl", ADD)?;
    let saved = function(&module, "opencl.GetPreCompiledPrograms")?.call_packed(&[])?.get::<Bytes>()?;
    assert_eq!(saved.as_bytes()[..17], *b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0k");
    // The other module's source does not compile, so the binary must be what runs.
    let other = module_of("cl", "// Function: k\nnonsense\n")?;
    let restore = function(&other, "opencl.SetPreCompiledPrograms")?;
    for malformed in [&b""[..], b"\x01\0\0\0\0\0\0\0", &saved.as_bytes()[..saved.as_bytes().len() - 1]] {
        refused(restore.call_packed(&[(&Bytes::new(malformed)?).into()]), "InternalError");
    }
    let mut other_name = saved.as_bytes().to_vec();
    other_name[16] = b'q';
    refused(restore.call_packed(&[(&Bytes::new(&other_name)?).into()]), "InternalError");
    restore.call_packed(&[(&saved).into()])?;
    let (x, y) = (on_device(&[1.0; 8])?, on_device(&[0.0; 8])?);
    add(&function(&other, "k")?, &x, &y, 1, 1)?;
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn workspaces_are_reused() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let first = alloc_workspace(4, 0, 5000)?;
    let second = alloc_workspace(4, 0, 5000)?;
    assert_ne!(first, second);
    // SAFETY: each workspace is freed once; pointers that are no workspaces are rejected.
    unsafe {
        free_workspace(4, 0, first)?;
        assert_eq!(alloc_workspace(4, 0, 8192)?, first, "sizes are rounded up to 4096");
        free_workspace(4, 0, first)?;
        free_workspace(4, 0, second)?;
        assert!(free_workspace(4, 0, second).is_err(), "a workspace is given back once");
        let other = core::ptr::NonNull::<c_void>::dangling();
        assert!(free_workspace(4, 0, other).is_err());
    }
    assert_eq!(alloc_workspace(4, 0, u64::MAX).unwrap_err().kind_bytes(), b"MemoryError");
    Ok(())
}

#[test]
fn memory_that_the_device_lacks_is_a_memory_error() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let error = device::empty(&[1 << 46], F32, HERE).map(drop).unwrap_err();
    assert_eq!(error.kind_bytes(), b"MemoryError", "{}", message(&error));
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let get = |attribute| OpenCl.attribute(0, attribute);
    assert_eq!(get(Attribute::Exists)?.get::<i64>()?, 1);
    assert!(get(Attribute::MaxThreadsPerBlock)?.get::<i64>()? >= 64);
    assert!(get(Attribute::TotalGlobalMemory)?.get::<i64>()? > 1 << 20);
    assert!(get(Attribute::SharedMemoryPerBlock)?.get::<i64>()? > 0);
    assert!(get(Attribute::MultiProcessorCount)?.get::<i64>()? > 0);
    assert_eq!(get(Attribute::ApiVersion)?.get::<i64>()?, 120);
    let extents = get(Attribute::MaxThreadDimensions)?.get::<String>()?;
    assert!(extents.as_bytes().starts_with(b"[") && extents.as_bytes().ends_with(b"]"));
    assert!(!get(Attribute::DeviceName)?.get::<String>()?.as_bytes().is_empty());
    assert!(get(Attribute::GcnArch)?.is_none());
    println!("ran on {}", get(Attribute::DeviceName)?.get::<String>()?.as_str().unwrap_or("?"));
    Ok(())
}

#[test]
fn devices_are_used_by_global_functions() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let global = |name: &str| Ok::<_, Error>(Function::find_global(name)?.expect("a global function"));
    global("__tvm_set_device")?.call_packed(&[4i64.into(), 0i64.into()])?;
    refused(global("__tvm_set_device")?.call_packed(&[4i64.into(), 77i64.into()]), "InternalError");
    refused(global("__tvm_set_device")?.call_packed(&[7i64.into(), 0i64.into()]), "InternalError");
    let device = AnyView::from(&HERE);
    assert_eq!(global("runtime.Device_StreamCreate")?.call_packed(&[device])?.get::<i64>()?, 0);
    global("runtime.Device_StreamSync")?.call_packed(&[device, 0i64.into()])?;
    global("runtime.Device_SetStream")?.call_packed(&[device, 0i64.into()])?;
    refused(global("runtime.Device_StreamSync")?.call_packed(&[device, 8i64.into()]), "RuntimeError");
    let attribute = global("runtime.GetDeviceAttr")?;
    assert_eq!(attribute.call_packed(&[7i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 0);
    let (x, y) = (on_device(&[1.0, 2.0])?, on_device(&[0.0, 0.0])?);
    global("runtime.TVMTensorCopyFromTo")?.call_packed(&[(&x).into(), (&y).into()])?;
    assert_eq!(values_of(&y)?, [1.0, 2.0]);
    let mut bytes = [0f32; 2];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new((&raw mut bytes).cast()) });
    refused(
        global("runtime.TVMTensorCopyToBytes")?.call_packed(&[(&x).into(), place.view(), 4i64.into()]),
        "ValueError",
    );
    global("runtime.TVMTensorCopyToBytes")?.call_packed(&[(&x).into(), place.view(), 8i64.into()])?;
    assert_eq!(bytes, [1.0, 2.0]);
    // A runtime that registers these names receives the calls, except those for devices that it lacks.
    let other = Function::from_typed(|_: i64, _: i64, _: i64| 42i64)?;
    Function::set_global("runtime.GetDeviceAttr", &other, false)?;
    let attribute = global("runtime.GetDeviceAttr")?;
    assert_eq!(attribute.call_packed(&[1i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 42);
    assert_eq!(attribute.call_packed(&[4i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 1);
    let enabled = Function::from_typed(|_: String| false)?;
    Function::set_global("runtime.RuntimeEnabled", &enabled, false)?;
    let enabled =
        |target: &str| global("runtime.RuntimeEnabled")?.call_packed(&[(&String::new(target)?).into()]);
    assert!(enabled("opencl")?.get::<bool>()? && !enabled("cpu")?.get::<bool>()?);
    assert!(!enabled("no such target")?.get::<bool>()?, "the other runtime's to refuse");
    let shared = Function::from_typed(|_: Tensor, _: Tensor| 42i64)?;
    Function::set_global("runtime.TVMTensorIsStorageShared", &shared, false)?;
    let shared = global("runtime.TVMTensorIsStorageShared")?;
    let here = Tensor::from_slice(&[0f32], &[1])?;
    assert_eq!(shared.call_packed(&[(&x).into(), (&x).into()])?.get::<i64>()?, 1);
    assert_eq!(shared.call_packed(&[(&here).into(), (&here).into()])?.get::<i64>()?, 42);
    Function::set_global("device_api.opencl", &other, false)?;
    assert_eq!(attribute.call_packed(&[4i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 42);
    assert!(Function::set_global("runtime.GetDeviceAttr", &other, false).is_err());
    Ok(())
}

#[test]
fn programs_in_rust_use_devices_streams_and_events() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let device = Device::parse("opencl:0")?;
    assert!(device.exists() && device.name()?.is_some() && Device::all().any(|one| one == device));
    let kernel = function(&module_of("cl", ADD)?, "k")?;
    let source = DeviceTensor::from_slice(device, &[1.0f32; 64], &[64])?;
    let target = DeviceTensor::empty(device, &[64], source.dtype())?;
    let stream = Stream::new(device)?;
    let (mut before, mut after) = (Event::with_timing(device)?, Event::with_timing(device)?);
    // An event without a record is complete.
    after.synchronize()?;
    stream.wait_for_event(&before)?;
    for round in 1..=3i64 {
        before.record(&stream)?;
        let launched = stream.scope(|| {
            kernel.call_packed(&[(&source).into(), (&target).into(), round.into(), 8i64.into(), 8i64.into()])
        })?;
        launched?;
        after.record(&stream)?;
        stream.wait_for_event(&after)?;
        stream.wait_for(&Stream::default_of(device))?;
        after.synchronize()?;
        assert_eq!(target.read::<f32>()?.to_vec(), [round as f32 + 1.0; 64]);
    }
    // The queue is created without profiling, so events measure no time.
    assert_eq!(after.elapsed_since(&before)?, None);
    let copy = DeviceTensor::empty(device, &[8, 8], source.dtype())?;
    copy.copy_from(&target)?;
    drop((target, before, after));
    device.synchronize()?;
    assert_eq!(*copy.to_device(Device::CPU)?.read::<f32>()?, [4.0; 64]);
    let error = Device::new(4, 77).name().expect_err("no such device");
    assert_eq!(message(&error), "Invalid OpenCL device_id=77. ");
    Ok(())
}

#[test]
fn views_are_a_part_of_their_tensor() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let global = |name: &str| Ok::<_, Error>(Function::find_global(name)?.expect("a global function"));
    let create = global("runtime.TVMTensorCreateView")?;
    let tensor = on_device(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    let shape = Shape::from_slice(&[2, 2])?;
    let view = create
        .call_packed(&[(&tensor).into(), (&shape).into(), (&F32).into(), 8i64.into()])?
        .get::<Tensor>()?;
    drop(tensor);
    let view = DeviceTensor::try_from(view)?;
    assert_eq!(*view.read::<f32>()?, [2.0, 3.0, 4.0, 5.0]);
    view.copy_from_slice(&[9.0f32; 4])?;
    assert_eq!(*view.read::<f32>()?, [9.0; 4]);
    Ok(())
}
