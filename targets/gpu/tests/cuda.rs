//! Tests CUDA on a real driver if a GPU is found, otherwise on the stand-in: hand-written kernels,
//! bad input, streams, contexts, threads. `./ci.sh gpu-cuda` prints what to install.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_alloc_ext::env::stream;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::cuda::{Cuda, CudaHost};
use ferrite_gpu::module::DeviceModule;
use support::cuda::stand_in::Geometry;
use support::cuda::*;

const AXES: &[&str] = &["blockIdx.x", "threadIdx.x"];
const ADD_ONE: &[DLDataType] = &[HANDLE, HANDLE];
const SECOND: DLDevice = DLDevice { device_id: 1, ..HERE };

/// Returns the code of the PTX fixture.
fn ptx() -> &'static [u8] {
    let start = PTX_MODULE
        .windows(3)
        .position(|bytes| bytes == b"//\n")
        .expect("PTX begins with a comment");
    &PTX_MODULE[start..]
}

/// Loads one kernel of the PTX fixture, declared with these types and tags.
fn one_kernel(name: &str, types: &[DLDataType], tags: &[&str]) -> Result<Function> {
    kernel_of(payload_of("ptx", ptx(), name, types, tags)?.as_bytes(), name)
}

fn call<'a>(kernel: &Function, args: &[AnyView<'a>]) -> Result<Any> {
    kernel.call_packed(args)
}

fn set_stream(stream: *mut c_void) -> Result<*mut c_void> {
    // SAFETY: the tests keep their streams while they are set.
    unsafe { stream::set(stream::DeviceKey::new(2, 0), stream) }
}

fn empty(elements: i64, device: DLDevice) -> Result<Tensor> {
    device::empty(&[elements], F32, device)
}

#[test]
fn kernels_are_launched() -> Result<()> {
    let _session = Session::begin();
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let x = on_device(&(0..128).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on_device(&[0.0; 128])?;
    add_one(&kernel, &x, &y, 2)?;
    assert_eq!(values_of(&y)?, (1..129).map(|i| i as f32).collect::<Vec<_>>());
    // A size of 0 counts as 1: one block.
    let z = on_device(&[0.0; 128])?;
    add_one(&kernel, &x, &z, 0)?;
    let expected: Vec<_> = (0..128).map(|i| if i < 64 { i as f32 + 1.0 } else { 0.0 }).collect();
    assert_eq!(values_of(&z)?, expected);
    // Tensors are accepted as arguments, too.
    call(&kernel, &[(&y).into(), (&z).into(), 2i64.into(), 64i64.into()])?;
    assert_eq!(values_of(&z)?[127], 129.0);
    Ok(())
}

#[test]
fn every_form_of_code_runs() -> Result<()> {
    let session = Session::begin();
    let modules: &[(&str, &[u8])] =
        &[("source", SOURCE_MODULE), ("ptx", PTX_MODULE), ("cubin", CUBIN_MODULE)];
    let capability = Cuda.attribute(0, Attribute::ComputeVersion)?.get::<String>()?;
    for (form, module) in modules {
        if *form == "cubin" && capability.as_bytes() != b"9.0" {
            println!("not run: the cubin of the fixtures is for capability 9.0");
            continue;
        }
        let module = load(module)?;
        let x = on_device(&[1.5; 64])?;
        let y = on_device(&[0.0; 64])?;
        add_one(&function(&module, "add_one_kernel")?, &x, &y, 1)?;
        assert_eq!(values_of(&y)?, [2.5; 64], "{form}");
        axpy(&function(&module, "axpy_dyn_kernel")?, &x, &y, (2.0, -1, 10))?;
        assert_eq!(values_of(&y)?[8..12], [2.0, 2.0, 2.5, 2.5], "{form}");
    }
    let where_ = if session.driver.is_stand_in { "the stand-in" } else { "a GPU" };
    println!("source, ptx and cubin ran on {where_}");
    Ok(())
}

const SCALARS: &str = "extern \"C\" __global__ void scalars_kernel(double* out, double d, float f, long long l, int i, unsigned u) {\n\
    out[0] = d; out[1] = f; ((long long*)out)[2] = l; ((long long*)out)[3] = i; ((long long*)out)[4] = u; }\n";

#[test]
fn scalars_arrive_as_they_are() -> Result<()> {
    let _session = Session::begin();
    let types = [HANDLE, F64, F32, I64, I32, U32];
    let payload = payload_of("cuda", SCALARS.as_bytes(), "scalars_kernel", &types, &[])?;
    let kernel = kernel_of(payload.as_bytes(), "scalars_kernel")?;
    let out = device::empty(&[5], F64, HERE)?;
    let long = (1i64 << 40) + 7;
    call(
        &kernel,
        &[
            (&out).into(),
            1.25f64.into(),
            0.5f64.into(),
            long.into(),
            (-3i64).into(),
            0xffff_fff0i64.into(),
        ],
    )?;
    let host = device::empty(&[5], F64, CPU)?;
    copy(&out, &host)?;
    wait()?;
    let values = host.as_slice::<f64>()?;
    assert_eq!(values[..2], [1.25, 0.5]);
    assert_eq!(
        values[2..].iter().map(|value| value.to_bits().cast_signed()).collect::<Vec<_>>(),
        [long, -3, 0xffff_fff0]
    );
    Ok(())
}

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    let session = Session::begin();
    let kernel = one_kernel("axpy_dyn_kernel", &[HANDLE, HANDLE, F32, I32, I32], AXES)?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[2.0; 64])?);
    let (px, py) = (data(&x), data(&y));
    let (one, half) = (AnyView::from(1i64), AnyView::from(0.5f64));
    let refused_as = |kind: &str, args: &[AnyView<'_>]| refused(call(&kernel, args), kind);
    refused_as("TypeError", &[]);
    refused_as("TypeError", &[px.view(), py.view(), half, one, one, one]);
    refused_as("TypeError", &[px.view(), py.view(), half, one, one, one, one, one]);
    refused_as("TypeError", &[one, py.view(), half, one, one, one, one]);
    refused_as("TypeError", &[px.view(), py.view(), half, half, one, one, one]);
    for size in [1i64 << 32, -1, i64::MAX] {
        refused_as("ValueError", &[px.view(), py.view(), half, one, one, size.into(), one]);
        refused_as("ValueError", &[px.view(), py.view(), half, one, one, one, size.into()]);
    }
    // Errors that only the driver detects: a block that is too large for the kernel, one too large
    // for any kernel, a grid that is too large along y.
    let large = refused_as(
        "InternalError",
        &[px.view(), py.view(), half, one, one, 3i64.into(), 128i64.into()],
    );
    assert!(large.starts_with("CUDALaunch Error: CUDA_ERROR_"), "{large}");
    assert!(
        large.contains("grid=(3,1,1),  block=(128,1,1)")
            && large.contains("kernel axpy_dyn_kernel"),
        "{large}"
    );
    refused_as("InternalError", &[px.view(), py.view(), half, one, one, one, 2048i64.into()]);
    let tall = one_kernel("add_one_kernel", ADD_ONE, &["blockIdx.y", "threadIdx.x"])?;
    refused(call(&tall, &[px.view(), py.view(), 65536i64.into(), one]), "InternalError");
    let host = Tensor::from_slice(&[0f32; 8], &[8])?;
    let text = refused_as("ValueError", &[(&host).into(), (&y).into(), half, one, one, one, one]);
    assert!(text.contains("argument #0 is on device 1:0"), "{text}");
    let mut moved = *x.dl_tensor();
    moved.byte_offset = 4;
    // SAFETY: the record outlives the view, and is refused.
    let moved = unsafe { ferrite_core::tensor::TensorView::new((&mut moved).into()) };
    refused_as("ValueError", &[AnyView::from(moved), (&y).into(), half, one, one, one, one]);
    if session.driver.is_stand_in {
        let there = empty(8, SECOND)?;
        let text =
            refused_as("ValueError", &[(&x).into(), (&there).into(), half, one, one, one, one]);
        assert!(text.contains("argument #1 is on device 2:1"), "{text}");
    }
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}

#[test]
fn device_ids_that_do_not_exist_are_errors() -> Result<()> {
    let _session = Session::begin();
    for id in [-1, 31, 32, i32::MAX, i32::MIN] {
        let text = refused(Cuda.set_device(id), "ValueError");
        assert!(text.starts_with(&format!("Invalid CUDA device_id={id}: there are ")), "{text}");
        assert!(Cuda.allocate(id, 8, 64).is_err() && CudaHost.allocate(id, 8, 64).is_err());
        assert!(alloc_workspace(2, id, 8).is_err() && Cuda.create_stream(id).is_err());
        assert_eq!(Cuda.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        assert!(Cuda.attribute(id, Attribute::DeviceName).is_err());
        assert!(empty(1, DLDevice { device_id: id, ..HERE }).is_err());
        // SAFETY: null is the default stream of every device.
        unsafe {
            assert!(Cuda.synchronize(id, null()).is_err() && Cuda.set_stream(id, null()).is_err());
            assert!(
                Cuda.order_streams(id, null(), null()).is_err()
                    && Cuda.free_stream(id, null()).is_err()
            );
        }
    }
    Ok(())
}

#[test]
fn code_that_the_driver_refuses_is_an_error_with_its_log() -> Result<()> {
    let _session = Session::begin();
    let x = on_device(&[1.0; 64])?;
    let broken =
        payload_of("ptx", b".version 7.0\n.target sm_52\nthis is no PTX\n", "k", ADD_ONE, AXES)?;
    let kernel = kernel_of(broken.as_bytes(), "k")?;
    for _ in 0..2 {
        let text = refused(add_one(&kernel, &x, &x, 1), "CUDAError");
        assert!(
            text.starts_with("cuModuleLoadDataEx failed with error: CUDA_ERROR_INVALID_"),
            "{text}"
        );
        assert!(text.contains("\nptxas "), "{text}");
    }
    let kernel = one_kernel("no_such_kernel", ADD_ONE, AXES)?;
    let text = refused(add_one(&kernel, &x, &x, 1), "CUDAError");
    assert_eq!(text, "cuModuleGetFunction no_such_kernel failed with error: CUDA_ERROR_NOT_FOUND");
    let nul = payload_of("ptx", ptx(), "add_one\0kernel", ADD_ONE, AXES)?;
    refused(add_one(&kernel_of(nul.as_bytes(), "add_one\0kernel")?, &x, &x, 1), "InternalError");
    Ok(())
}

#[test]
fn payloads_that_lie_about_parameters_are_errors() -> Result<()> {
    let session = Session::begin();
    let x = on_device(&[1.0; 64])?;
    let calls = session.driver.is_stand_in.then(|| session.driver.calls(c"cuLaunchKernelEx"));
    for types in [&[HANDLE][..], &[HANDLE; 3], &[HANDLE, I32], &[]] {
        let kernel = one_kernel("add_one_kernel", types, &[])?;
        let handle = data(&x);
        let args =
            types.iter().map(|dtype| if *dtype == HANDLE { handle.view() } else { 1i64.into() });
        let text = refused(call(&kernel, &args.collect::<Vec<_>>()), "InternalError");
        let parameters = format!("the {} parameters that its module tells", types.len());
        assert!(
            text.starts_with("The kernel add_one_kernel does not have")
                && text.contains(&parameters),
            "{text}"
        );
    }
    if let Some(calls) = calls {
        assert_eq!(session.driver.calls(c"cuLaunchKernelEx"), calls, "nothing was launched");
    }
    Ok(())
}

#[test]
fn code_that_is_not_complete_is_refused_when_it_is_loaded() -> Result<()> {
    let _session = Session::begin();
    let start = CUBIN_MODULE.windows(4).position(|bytes| bytes == b"\x7fELF").expect("an ELF file");
    let cubin = &CUBIN_MODULE[start..];
    let load_as =
        |format: &str, code: &[u8]| load(payload_of(format, code, "k", ADD_ONE, AXES)?.as_bytes());
    load_as("cubin", cubin)?;
    for len in [0, 3, 4, 63, 64, 1000, cubin.len() / 2, cubin.len() - 1] {
        for format in ["cubin", "fatbin"] {
            let text = refused(load_as(format, &cubin[..len]), "InternalError");
            assert_eq!(text, "Malformed cuda module: the ELF file is truncated or damaged");
        }
    }
    refused(load_as("cubin", ptx()), "InternalError");
    refused(load_as("ptx", cubin), "InternalError");
    refused(load_as("ptx", b""), "InternalError");
    refused(load_as("fatbin", b"\x50\xed\x55\xba\x01\0\x10\0\x40\0\0\0\0\0\0\0"), "InternalError");
    assert_eq!(refused(load_as("ltoir", b""), "InternalError"), "Unknown CUDA format ltoir");
    for len in [0, 7, 40, PTX_MODULE.len() - 1] {
        refused(load(&PTX_MODULE[..len]), "InternalError");
    }
    Ok(())
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let _session = Session::begin();
    let text = |text: &str| String::new(text).unwrap();
    for (bytes, format, code) in
        [(PTX_MODULE, "ptx", ptx()), (CUBIN_MODULE, "cubin", &b"\x7fELF"[..])]
    {
        let module = load(bytes)?;
        assert_eq!((module.kind()?, module.property_mask()?), (c"cuda", 3));
        assert_eq!(module.save_to_bytes()?.as_bytes(), bytes);
        assert!(module.inspect_source(&text(format))?.as_bytes().starts_with(code));
        assert_eq!(module.inspect_source(&text(""))?.as_bytes().is_empty(), format == "cubin");
        assert!(module.inspect_source(&text("cuda"))?.as_bytes().is_empty());
        assert!(module.write_formats()?.is_empty());
        let error = module.write_to_file(&text(""), &text("")).unwrap_err();
        assert_eq!(message(&error), "Module[cuda] does not support WriteToFile");
        assert!(module.get_function(&text("no_such_kernel"), true)?.is_none());
        assert!(module.implements_function(&text("mlp_kernel_1"), false)?);
    }
    let module = load(SOURCE_MODULE)?;
    assert_eq!(module.save_to_bytes()?.as_bytes(), SOURCE_MODULE);
    for format in ["", "cuda"] {
        let source = module.inspect_source(&text(format))?;
        assert!(source.as_bytes().starts_with(b"\n#ifdef __CUDACC_RTC__"), "{source:?}");
    }
    assert!(module.inspect_source(&text("cubin"))?.as_bytes().starts_with(b"\x7fELF"));
    let loader = global("ffi.Module.load_from_bytes.cuda")?;
    let again = loader
        .call_packed(&[(&Bytes::new(PTX_MODULE)?).into()])?
        .get::<ferrite_alloc_ext::module::Module>()?;
    assert_eq!(again.save_to_bytes()?.as_bytes(), PTX_MODULE);
    refused(loader.call_packed(&[]), "TypeError");
    global("ffi.Module.create.cuda")?;
    Ok(())
}

#[test]
fn source_that_does_not_compile_is_an_error_with_the_log() -> Result<()> {
    let _session = Session::begin();
    let broken =
        payload_of("cuda", b"extern \"C\" __global__ void k() { undeclared = 1; }", "k", &[], &[])?;
    let text = refused(load(broken.as_bytes()), "CUDAError");
    assert!(
        text.starts_with("nvrtcCompileProgram failed with error: NVRTC_ERROR_COMPILATION\n"),
        "{text}"
    );
    assert!(text.contains("module.cu(1): error: identifier \"undeclared\" is undefined"), "{text}");
    refused(load(payload_of("cuda", b"a\0b", "k", &[], &[])?.as_bytes()), "InternalError");
    Ok(())
}

#[test]
fn source_from_the_compiler_waits_for_its_first_use() -> Result<()> {
    let _session = Session::begin();
    let create = DeviceModule::<Cuda>::create;
    let x = on_device(&[1.0; 64])?;
    // The compiling machine may have no NVRTC, so nothing is compiled there.
    let broken = payload_of("cuda", b"nonsense", "add_one_kernel", ADD_ONE, AXES)?;
    let module = create(broken, None)?;
    for _ in 0..2 {
        let text =
            refused(module.get_function(&String::new("add_one_kernel")?, false), "CUDAError");
        assert!(text.starts_with("nvrtcCompileProgram failed"), "{text}");
    }
    let module = create(Bytes::new(SOURCE_MODULE)?, None)?;
    let cubin = String::new("cubin")?;
    assert!(module.inspect_source(&cubin)?.as_bytes().is_empty());
    add_one(&function(&module, "add_one_kernel")?, &x, &x, 1)?;
    assert_eq!(values_of(&x)?, [2.0; 64]);
    assert!(module.inspect_source(&cubin)?.as_bytes().starts_with(b"\x7fELF"));
    Ok(())
}

#[test]
fn a_registered_compiler_takes_the_place_of_nvrtc() -> Result<()> {
    let _session = Session::begin();
    let name = "tvm_callback_cuda_compile";
    let source = payload_of("cuda", b"any text", "add_one_kernel", ADD_ONE, AXES)?;
    let compiler = Function::from_typed(|source: String| {
        assert_eq!(source.as_bytes(), b"any text");
        Bytes::new(ptx())
    })?;
    Function::set_global(name, &compiler, true)?;
    let module = load(source.as_bytes());
    let failing = Function::from_typed(|_: String| -> Result<Bytes> {
        ferrite_core::bail!(ValueError, "no compiler")
    })?;
    Function::set_global(name, &failing, true)?;
    let failed = load(source.as_bytes());
    let odd = Function::from_typed(|_: String| Bytes::new(b"neither"))?;
    Function::set_global(name, &odd, true)?;
    let refused_code = load(source.as_bytes());
    ferrite_core::names::global_table::remove(name.as_bytes())?;
    let module = module?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&function(&module, "add_one_kernel")?, &x, &y, 1)?;
    assert_eq!(values_of(&y)?, [2.0; 64]);
    assert_eq!(module.inspect_source(&String::new("ptx")?)?.as_bytes(), ptx());
    assert_eq!(refused(failed, "ValueError"), "no compiler");
    refused(refused_code, "InternalError");
    Ok(())
}

#[test]
fn nvshmem_is_told_of_modules() -> Result<()> {
    let _session = Session::begin();
    let name = "runtime.nvshmem.cumodule_init";
    let seen = std::sync::Arc::new(std::sync::Mutex::new(0usize));
    let told = seen.clone();
    let init =
        Function::from_typed(move |module: *mut c_void| *told.lock().unwrap() = module.addr())?;
    Function::set_global(name, &init, true)?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let launched = add_one(&kernel_of(PTX_MODULE, "add_one_kernel")?, &x, &y, 1);
    let failing = Function::from_typed(|_: *mut c_void| -> Result<()> {
        ferrite_core::bail!(ValueError, "no NVSHMEM")
    })?;
    Function::set_global(name, &failing, true)?;
    let failed = add_one(&kernel_of(PTX_MODULE, "add_one_kernel")?, &x, &y, 1);
    ferrite_core::names::global_table::remove(name.as_bytes())?;
    launched?;
    assert_ne!(*seen.lock().unwrap(), 0);
    assert_eq!(refused(failed, "ValueError"), "no NVSHMEM");
    Ok(())
}

#[test]
fn a_module_that_is_released_ends_its_launches() -> Result<()> {
    let session = Session::begin();
    let (x, y) = (on_device(&[1.0; 1 << 14])?, on_device(&[0.0; 1 << 14])?);
    let kernel = kernel_of(PTX_MODULE, "axpy_dyn_kernel")?;
    for k in 0..50 {
        axpy(&kernel, &x, &y, (1.0, k, 1 << 14))?;
    }
    if session.driver.is_stand_in {
        assert!(session.driver.pending() >= 50, "the launches are queued");
    }
    drop(kernel);
    assert_eq!(values_of(&y)?, [50.0; 1 << 14]);
    // Memory may be freed while it is in use, too.
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    add_one(&kernel, &x, &y, 1)?;
    drop((x, y));
    drop(kernel);
    wait()
}

#[test]
fn eight_threads_launch_the_kernels_of_one_module() -> Result<()> {
    let session = Session::begin();
    let module = load(PTX_MODULE)?;
    let loads = session.driver.is_stand_in.then(|| session.driver.calls(c"cuModuleLoadDataEx"));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let module = module.clone();
                scope.spawn(move || -> Result<()> {
                    // A thread without a context uses device 0; half of the threads use a stream of
                    // their own.
                    let stream = if thread % 2 == 0 { null() } else { Cuda.create_stream(0)? };
                    set_stream(stream)?;
                    let kernel = function(&module, "axpy_dyn_kernel")?;
                    let (x, y) = (on_device(&[thread as f32; 64])?, on_device(&[0.0; 64])?);
                    for k in 0..100 {
                        axpy(&kernel, &x, &y, (1.0, k, 64))?;
                        if k % 10 == 0 {
                            assert_eq!(values_of(&y)?, [thread as f32 + k as f32; 64]);
                        }
                    }
                    drop((x, y));
                    set_stream(null())?;
                    // SAFETY: the stream is owned, and no longer in use.
                    unsafe { Cuda.free_stream(0, stream) }
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    if let Some(loads) = loads {
        assert_eq!(
            session.driver.calls(c"cuModuleLoadDataEx"),
            loads + 1,
            "the module is loaded once"
        );
    }
    Ok(())
}

#[test]
fn work_is_queued_on_the_streams_of_the_environment() -> Result<()> {
    let Some(session) = Session::on_stand_in("streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    assert_eq!(session.driver.last_launch().1, 0, "the default stream");
    let device = AnyView::from(&HERE);
    let made = global("runtime.Device_StreamCreate")?.call_packed(&[device])?.get::<i64>()?;
    global("runtime.Device_SetStream")?.call_packed(&[device, made.into()])?;
    add_one(&kernel, &x, &y, 1)?;
    assert_eq!(session.driver.last_launch().1, made as u64);
    assert_eq!(
        global("runtime.get_cuda_stream")?.call_packed(&[])?.get::<*mut c_void>()?.addr() as i64,
        made
    );
    // `TVMFFIEnvSetStream` affects the calling thread only.
    std::thread::scope(|scope| {
        scope.spawn(|| add_one(&kernel, &x, &y, 1).map(drop)).join().expect("no panic")
    })?;
    assert_eq!(session.driver.last_launch().1, 0);
    assert!(session.driver.pending() >= 2, "nobody waited");
    wait()?;
    assert_eq!(values_of(&y)?, [2.0; 64]);
    // Copies of pinned memory use the device's stream.
    let pinned = empty(64, PINNED)?;
    add_one(&kernel, &y, &y, 1)?;
    copy(&y, &pinned)?;
    wait()?;
    assert_eq!(pinned_values(&pinned), [3.0; 64]);
    copy(&Tensor::from_slice(&[9f32; 64], &[64])?, &pinned)?;
    copy(&pinned, &y)?;
    assert_eq!(values_of(&y)?, [9.0; 64]);
    global("runtime.Device_SetStream")?.call_packed(&[device, 0i64.into()])?;
    global("runtime.Device_StreamFree")?.call_packed(&[device, made.into()])?;
    wait()
}

fn pinned_values(tensor: &Tensor) -> &[f32] {
    // SAFETY: pinned memory is main memory, with an element for each extent.
    unsafe {
        core::slice::from_raw_parts(
            tensor.dl_tensor().data.cast::<f32>(),
            tensor.shape()[0] as usize,
        )
    }
}

#[test]
fn streams_are_ordered_by_events() -> Result<()> {
    let session = Session::begin();
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y, z) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?, on_device(&[0.0; 64])?);
    let (first, second) = (Cuda.create_stream(0)?, Cuda.create_stream(0)?);
    let chain = |is_ordered: bool| -> Result<Vec<f32>> {
        set_stream(first)?;
        copy(&on_device(&[0.0; 64])?, &y)?;
        wait()?;
        add_one(&kernel, &x, &y, 1)?;
        if is_ordered {
            // SAFETY: both streams belong to the device.
            unsafe { Cuda.order_streams(0, first, second)? };
        }
        set_stream(second)?;
        add_one(&kernel, &y, &z, 1)?;
        values_of(&z)
    };
    let ordered = chain(true)?;
    assert_eq!(ordered, [3.0; 64]);
    if session.driver.is_stand_in {
        // Without ordering, the second stream reads before the first has written, which the
        // stand-in makes visible.
        assert_eq!(chain(false)?, [1.0; 64]);
    }
    set_stream(null())?;
    // SAFETY: the streams are owned, and no longer in use.
    unsafe {
        Cuda.free_stream(0, first)?;
        Cuda.free_stream(0, second)?;
    }
    wait()
}

#[test]
fn the_primary_context_is_shared_with_other_libraries() -> Result<()> {
    let Some(session) = Session::on_stand_in("foreign contexts") else { return Ok(()) };
    let driver = session.driver;
    let primary = driver.retain_primary(0);
    assert_eq!(driver.current_context(), primary, "that of `__tvm_set_device`");
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    // Memory and streams created by another library in the primary context.
    let (mut memory, mut foreign_stream) = (0u64, 0u64);
    // SAFETY: the types are those of libcuda.
    unsafe {
        let allocate =
            driver.function::<unsafe extern "C" fn(*mut u64, usize) -> i32>(c"cuMemAlloc_v2");
        let create =
            driver.function::<unsafe extern "C" fn(*mut u64, u32) -> i32>(c"cuStreamCreate");
        assert_eq!((allocate(&mut memory, 256), create(&mut foreign_stream, 0)), (0, 0));
    }
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let pointer =
        Any::from(unsafe { OpaquePtr::new(ptr::without_provenance_mut(memory as usize)) });
    set_stream(ptr::without_provenance_mut(foreign_stream as usize))?;
    call(&kernel, &[data(&x).view(), pointer.view(), 1i64.into(), 64i64.into()])?;
    call(&kernel, &[pointer.view(), data(&y).view(), 1i64.into(), 64i64.into()])?;
    assert_eq!(values_of(&y)?, [3.0; 64]);
    set_stream(null())?;
    // A context other than the primary one: work on devices leaves it current, launches do not use
    // it.
    let foreign = driver.foreign_context(0);
    driver.set_current_context(foreign);
    let z = on_device(&[0.0; 64])?;
    assert_eq!(driver.current_context(), foreign);
    add_one(&kernel, &y, &z, 1)?;
    assert_eq!(driver.current_context(), primary);
    assert_eq!(values_of(&z)?, [4.0; 64]);
    // Without a context, the thread uses device 0.
    driver.set_current_context(0);
    add_one(&kernel, &z, &z, 1)?;
    assert_eq!((driver.current_context(), values_of(&z)?[0]), (primary, 5.0));
    // SAFETY: the types are those of libcuda.
    unsafe {
        assert_eq!(driver.function::<extern "C" fn(u64) -> i32>(c"cuMemFree_v2")(memory), 0);
        assert_eq!(
            driver.function::<extern "C" fn(u64) -> i32>(c"cuStreamDestroy_v2")(foreign_stream),
            0
        );
    }
    Ok(())
}

#[test]
fn modules_are_loaded_on_each_device() -> Result<()> {
    let Some(session) = Session::on_stand_in("two devices") else { return Ok(()) };
    let driver = session.driver;
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let loads = driver.calls(c"cuModuleLoadDataEx");
    add_one(&kernel, &x, &y, 1)?;
    add_one(&kernel, &x, &y, 1)?;
    let (there, result) = (empty(64, SECOND)?, empty(64, SECOND)?);
    copy(&y, &there)?;
    wait()?;
    // A context made current by another library selects the device like `__tvm_set_device`.
    for choose in [&(|| Cuda.set_device(1)) as &dyn Fn() -> Result<()>, &|| {
        driver.set_current_context(driver.retain_primary(1));
        Ok(())
    }] {
        choose()?;
        call(&kernel, &[(&there).into(), (&result).into(), 1i64.into(), 64i64.into()])?;
        refused(
            call(&kernel, &[(&x).into(), (&y).into(), 1i64.into(), 64i64.into()]),
            "ValueError",
        );
    }
    assert_eq!(driver.calls(c"cuModuleLoadDataEx"), loads + 2, "once on each device");
    assert_eq!(values_of(&result)?, [3.0; 64]);
    // Memory is allocated on its device whichever context is current, and leaves that context
    // current.
    let current = driver.current_context();
    drop(on_device(&[1.0; 8])?);
    assert_eq!(driver.current_context(), current);
    Cuda.set_device(0)?;
    add_one(&kernel, &x, &y, 1).map(drop)
}

#[test]
fn dynamic_shared_memory_is_asked_for_whenever_it_grows() -> Result<()> {
    let session = Session::begin();
    let tags = ["blockIdx.x", "threadIdx.x", "tirx.use_dyn_shared_memory"];
    let kernel = one_kernel("reverse_dynshared_kernel", ADD_ONE, &tags)?;
    let x = on_device(&(0..64).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on_device(&[0.0; 64])?;
    let asked = || session.driver.is_stand_in.then(|| session.driver.calls(c"cuFuncSetAttribute"));
    let run = |bytes: i64| {
        call(&kernel, &[(&x).into(), (&y).into(), 1i64.into(), 64i64.into(), bytes.into()])
    };
    let before = asked();
    for (bytes, times) in [
        (256, 0),
        (48 << 10, 0),
        ((48 << 10) + 1, 1),
        (50_000, 2),
        (49_500, 2),
        (60_000, 3),
        (60_000, 3),
    ] {
        run(bytes)?;
        assert_eq!(values_of(&y)?[..3], [63.0, 62.0, 61.0]);
        assert_eq!(asked(), before.map(|before| before + times), "{bytes} bytes");
    }
    let text = refused(run(1 << 30), "InternalError");
    assert!(
        text.starts_with("Failed to set the allowed dynamic shared memory size to 1073741824: "),
        "{text}"
    );
    refused(run(1 << 32), "ValueError");
    run(256).map(drop)
}

#[test]
fn launch_attributes_are_set_when_they_are_needed() -> Result<()> {
    let Some(session) = Session::on_stand_in("launch attributes") else { return Ok(()) };
    let (x, y) = (on_device(&[1.0; 2048])?, on_device(&[0.0; 2048])?);
    let clusters = ["clusterCtaIdx.x", "clusterCtaIdx.y", "preferredClusterCtaIdx.x"];
    let flags = ["tirx.use_programtic_dependent_launch", "tirx.use_cooperative_launch"];
    let launch = |extra: &[&str], blocks: i64, sizes: &[i64]| -> Result<Geometry> {
        let tags: Vec<_> = AXES.iter().chain(extra).copied().collect();
        let kernel = one_kernel("add_one_kernel", ADD_ONE, &tags)?;
        let mut args: Vec<AnyView<'_>> =
            vec![(&x).into(), (&y).into(), blocks.into(), 64i64.into()];
        args.extend(sizes.iter().map(|size| AnyView::from(*size)));
        call(&kernel, &args)?;
        Ok(session.driver.last_launch().0)
    };
    let plain = Geometry { grid: [16, 1, 1], block: [64, 1, 1], ..Geometry::default() };
    assert_eq!(launch(&[], 16, &[])?, plain);
    assert_eq!(launch(&clusters, 16, &[1, 1, 1])?, plain);
    assert_eq!(
        launch(&clusters, 16, &[2, 1, 4])?,
        Geometry { cluster: [2, 1, 1], preferred_cluster: [4, 1, 1], ..plain }
    );
    assert_eq!(
        launch(&flags, 16, &[])?,
        Geometry { is_programmatic: 1, is_cooperative: 1, ..plain }
    );
    // Clusters of more than 8 blocks must be allowed first.
    let asked = session.driver.calls(c"cuFuncSetAttribute");
    assert_eq!(launch(&clusters, 16, &[8, 1, 1])?.cluster, [8, 1, 1]);
    assert_eq!(session.driver.calls(c"cuFuncSetAttribute"), asked);
    assert_eq!(launch(&clusters, 16, &[16, 1, 1])?.cluster, [16, 1, 1]);
    assert_eq!(session.driver.calls(c"cuFuncSetAttribute"), asked + 1);
    // Clusters that do not divide the grid, or are too large for every device.
    for sizes in [[3, 1, 1], [32, 1, 1]] {
        let text = refused(launch(&clusters, 16, &sizes), "InternalError");
        assert!(text.starts_with("CUDALaunch Error: CUDA_ERROR_INVALID_VALUE"), "{text}");
    }
    refused(launch(&flags, 1 << 20, &[]), "InternalError");
    wait()
}

#[repr(C, align(64))]
struct TensorMap([u64; 17]);

#[test]
fn tensor_maps_are_made_and_passed_by_address() -> Result<()> {
    let Some(session) = Session::on_stand_in("tensor maps") else { return Ok(()) };
    let encode = global("runtime.cuTensorMapEncodeTiled")?;
    let mut map = TensorMap([0; 17]);
    let x = empty(4096, HERE)?;
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new(ptr::from_mut(&mut map).cast()) });
    let address = data(&x);
    let text = String::new("float16")?;
    let shape = [64i64, 32, 128, 64, 16, 1, 1, 0, 3, 2, 0];
    let with = |change: Option<(usize, AnyView<'_>)>, numbers: &[i64]| {
        let mut args: Vec<AnyView<'_>> =
            vec![place.view(), (&text).into(), 2i64.into(), address.view()];
        args.extend(numbers.iter().map(|number| AnyView::from(*number)));
        if let Some((at, value)) = change {
            args[at] = value;
        }
        encode.call_packed(&args)
    };
    with(None, &shape)?;
    assert_eq!(map.0[0], x.dl_tensor().data.addr() as u64);
    let mut forced = shape.to_vec();
    forced.push(11);
    with(None, &forced)?;
    // Numbers out of range, one at a time.
    let bad = [
        (0, 0),
        (0, (1 << 32) + 1),
        (2, 8),
        (2, -16),
        (2, 1 << 40),
        (3, 0),
        (3, 257),
        (5, 0),
        (5, 9),
        (7, 3),
        (8, 7),
        (9, 4),
        (10, 2),
    ];
    for (at, number) in bad {
        let mut numbers = shape.to_vec();
        numbers[at] = number;
        refused(with(None, &numbers), "ValueError");
    }
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let misaligned = Any::from(unsafe { OpaquePtr::new(ptr::from_mut(&mut map.0[1]).cast()) });
    refused(with(Some((0, misaligned.view())), &shape), "ValueError");
    refused(with(Some((0, Any::from(OpaquePtr::NULL).view())), &shape), "ValueError");
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let odd = Any::from(unsafe {
        OpaquePtr::new(ptr::without_provenance_mut(x.dl_tensor().data.addr() + 8))
    });
    refused(with(Some((3, odd.view())), &shape), "ValueError");
    for rank in [0i64, 6, -1, i64::MAX] {
        refused(with(Some((2, rank.into())), &shape), "ValueError");
    }
    refused(with(Some((2, 3i64.into())), &shape), "TypeError");
    refused(with(Some((5, 1.5f64.into())), &shape), "TypeError");
    refused(with(Some((1, (&String::new("int16")?).into())), &shape), "InternalError");
    refused(encode.call_packed(&[]), "TypeError");
    // The kernel receives the map itself, not its address.
    let source = b"extern \"C\" __global__ void tensor_map_kernel(float* out) {}".as_slice();
    let payload = payload_with_extra_tags(
        "cuda",
        source,
        "tensor_map_kernel",
        &[HANDLE, HANDLE],
        &[],
        &[0, 1],
    )?;
    let kernel = kernel_of(payload.as_bytes(), "tensor_map_kernel")?;
    let out = device::empty(&[1], I64, HERE)?;
    call(&kernel, &[(&out).into(), place.view()])?;
    let host = device::empty(&[1], I64, CPU)?;
    copy(&out, &host)?;
    wait()?;
    assert_eq!(host.as_slice::<i64>()?[0], x.dl_tensor().data.addr() as i64);
    refused(call(&kernel, &[(&out).into(), misaligned.view()]), "ValueError");
    refused(call(&kernel, &[(&out).into(), Any::from(OpaquePtr::NULL).view()]), "TypeError");
    refused(call(&kernel, &[(&out).into(), (&out).into()]), "TypeError");
    assert!(session.driver.calls(c"cuTensorMapEncodeTiled") >= 2);
    Ok(())
}

#[test]
fn pinned_memory_is_main_memory() -> Result<()> {
    let session = Session::begin();
    let pinned = empty(64, PINNED)?;
    assert_eq!(pinned.device().device_type, 3);
    let host = Tensor::from_slice(&[7f32; 64], &[64])?;
    copy(&host, &pinned)?;
    assert_eq!(pinned_values(&pinned), [7.0; 64]);
    let there = empty(64, HERE)?;
    copy(&pinned, &there)?;
    assert_eq!(values_of(&there)?, [7.0; 64]);
    // Empty tensors have no memory.
    for device in [HERE, PINNED] {
        let none = empty(0, device)?;
        assert!(none.dl_tensor().data.is_null());
        copy(&none, &empty(0, HERE)?)?;
    }
    if session.driver.is_stand_in {
        assert!(session.driver.live().pinned > 0);
    }
    assert!(
        alloc_workspace(3, 0, 100)
            .and_then(|block| {
                // SAFETY: the workspace is freed once.
                unsafe { free_workspace(3, 0, block) }
            })
            .is_ok()
    );
    Ok(())
}

#[test]
fn workspaces_are_reused_on_their_stream_only() -> Result<()> {
    let session = Session::begin();
    // The workspaces cached by this test are freed with the stream that they belong to.
    let (one, other) = (Cuda.create_stream(0)?, Cuda.create_stream(0)?);
    set_stream(one)?;
    let (first, second) = (alloc_workspace(2, 0, 5000)?, alloc_workspace(2, 0, 5000)?);
    assert_ne!(first, second);
    // SAFETY: each workspace is freed once; pointers that are not workspaces are rejected.
    unsafe {
        free_workspace(2, 0, first)?;
        assert_eq!(alloc_workspace(2, 0, 8192)?, first, "sizes are rounded up to 4096");
        free_workspace(2, 0, first)?;
        set_stream(other)?;
        let third = alloc_workspace(2, 0, 5000)?;
        assert!(
            third != first && third != second,
            "kernels of the first stream may still use the others"
        );
        free_workspace(2, 0, second)?;
        assert_eq!(
            alloc_workspace(2, 0, 100)?,
            second,
            "the stream on which it was given back counts"
        );
        free_workspace(2, 0, second)?;
        free_workspace(2, 0, third)?;
        refused(free_workspace(2, 0, second), "ValueError");
        refused(free_workspace(2, 0, NonNull::<c_void>::dangling()), "ValueError");
    }
    refused(alloc_workspace(2, 0, u64::MAX), "MemoryError");
    if session.driver.is_stand_in {
        session.driver.limit_memory(64 << 10);
        // The pool frees its unused workspaces when the device is out of memory.
        let large = alloc_workspace(2, 0, 60 << 10)?;
        refused(alloc_workspace(2, 0, 60 << 10), "MemoryError");
        // SAFETY: the workspace is freed once.
        unsafe { free_workspace(2, 0, large)? };
        session.driver.limit_memory(256 << 20);
    }
    set_stream(null())?;
    // SAFETY: the streams are owned, and no longer in use.
    unsafe {
        Cuda.free_stream(0, one)?;
        Cuda.free_stream(0, other)
    }
}

#[test]
fn memory_that_the_device_lacks_is_a_memory_error() {
    let session = Session::begin();
    let text = refused(empty(1 << 46, HERE), "MemoryError");
    assert_eq!(
        text,
        format!("The CUDA device 0 has no {} bytes: CUDA_ERROR_OUT_OF_MEMORY", 1u64 << 48)
    );
    if session.driver.is_stand_in {
        refused(empty(1 << 46, PINNED), "MemoryError");
    }
    refused(Cuda.allocate(0, 8, 512), "ValueError");
}

#[test]
fn copies_need_memory() -> Result<()> {
    let _session = Session::begin();
    let x = on_device(&[1.0; 8])?;
    let region = |data: *mut c_void, device| device::Region { device, data, offset: 0 };
    let there = x.dl_tensor().data;
    // SAFETY: null pointers are rejected.
    unsafe {
        refused(Cuda.copy(region(null(), HERE), region(there, HERE), 8, null()), "ValueError");
        refused(Cuda.copy(region(there, HERE), region(null(), CPU), 8, null()), "ValueError");
        Cuda.copy(region(null(), HERE), region(there, HERE), 0, null())?;
        refused(CudaHost.copy(region(there, CPU), region(there, CPU), 8, null()), "InternalError");
        refused(Cuda.copy(region(there, CPU), region(there, CPU), 8, null()), "InternalError");
    }
    Ok(())
}

#[test]
fn errors_of_kernels_are_those_of_the_next_wait() -> Result<()> {
    let Some(session) = Session::on_stand_in("a kernel that fails") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let x = on_device(&[1.0; 64])?;
    // One block more than the memory holds elements for.
    add_one(&kernel, &x, &x, 2)?;
    let text = refused(wait(), "CUDAError");
    assert_eq!(text, "cuStreamSynchronize failed with error: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert!(session.driver.complaint().expect("a complaint").contains("outside of its memory"));
    Ok(())
}

#[test]
fn a_driver_that_is_shutting_down_is_no_error() -> Result<()> {
    let Some(session) = Session::on_stand_in("a driver that is shutting down") else {
        return Ok(());
    };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    wait()?;
    // Fails the second call of each function, since the first queries the current context.
    let calls: [(&str, &dyn Fn() -> Result<()>); 3] = [
        ("cuLaunchKernelEx", &|| add_one(&kernel, &x, &y, 1).map(drop)),
        ("cuStreamSynchronize", &|| wait()),
        ("cuMemcpyDtoDAsync_v2", &|| copy(&x, &y)),
    ];
    for (name, body) in calls {
        session.driver.fail(2, 4);
        body()?;
        assert_eq!(session.driver.failed().as_deref(), Some(name));
        session.driver.fail(2, 999);
        let text = message(&body().unwrap_err());
        assert!(text.contains("CUDA_ERROR_UNKNOWN"), "{text}");
    }
    // A driver that is shutting down creates nothing.
    session.driver.fail(2, 4);
    let text = refused(Cuda.create_stream(0), "CUDAError");
    assert_eq!(text, "cuStreamCreate failed with error: CUDA_ERROR_DEINITIALIZED");
    wait()
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    let session = Session::begin();
    let get = |attribute| Cuda.attribute(0, attribute);
    let number = |attribute| get(attribute)?.get::<i64>();
    assert_eq!(number(Attribute::Exists)?, 1);
    assert_eq!(number(Attribute::WarpSize)?, 32);
    assert_eq!(number(Attribute::MaxThreadsPerBlock)?, 1024);
    assert!(number(Attribute::SharedMemoryPerBlock)? >= 48 << 10);
    assert!(number(Attribute::MultiProcessorCount)? > 0 && number(Attribute::MaxClockRate)? > 0);
    assert!(number(Attribute::MaxRegistersPerBlock)? > 0 && number(Attribute::L2CacheBytes)? > 0);
    assert!(number(Attribute::ApiVersion)? >= 11080);
    let (total, free) =
        (number(Attribute::TotalGlobalMemory)?, number(Attribute::AvailableGlobalMemory)?);
    assert!(total >= free && free > 0);
    assert_eq!(
        get(Attribute::MaxThreadDimensions)?.get::<String>()?.as_bytes(),
        b"[1024, 1024, 64]"
    );
    assert!(get(Attribute::GcnArch)?.is_none() && get(Attribute::ImagePitchAlignment)?.is_none());
    let texts = [Attribute::ComputeVersion, Attribute::DeviceName, Attribute::DriverVersion];
    let texts = texts.map(|attribute| get(attribute).unwrap().get::<String>().unwrap());
    println!("ran on {}", texts[1].as_str().unwrap_or("?"));
    if session.driver.is_stand_in {
        assert_eq!(
            texts.each_ref().map(|text| text.as_bytes()),
            [&b"9.0"[..], b"Stand-in for a GPU", b"12.4"]
        );
        assert_eq!(number(Attribute::ApiVersion)?, 12040);
        assert_eq!(CudaHost.attribute(1, Attribute::Exists)?.get::<i64>()?, 1);
    }
    Ok(())
}

#[test]
fn devices_are_used_by_global_functions() -> Result<()> {
    let session = Session::begin();
    global("__tvm_set_device")?.call_packed(&[2i64.into(), 0i64.into()])?;
    global("__tvm_set_device")?.call_packed(&[3i64.into(), 0i64.into()])?;
    refused(global("__tvm_set_device")?.call_packed(&[2i64.into(), 77i64.into()]), "ValueError");
    let count = global("runtime.GetCudaDeviceCount")?.call_packed(&[])?.get::<i64>()?;
    assert!(count >= 1 && (count == 2 || !session.driver.is_stand_in));
    let text = global("runtime.GetCudaFreeMemory")?.call_packed(&[])?.get::<String>()?;
    let words: Vec<_> = text.as_str().unwrap_or_default().split(' ').collect();
    let numbers = [4, 9].map(|at: usize| words[at].parse::<u64>().unwrap());
    assert!(numbers[0] <= numbers[1] && numbers[0] > 0, "{text:?}");
    assert!(global("runtime.get_cuda_stream")?.call_packed(&[])?.get::<*mut c_void>()?.is_null());
    let device = AnyView::from(&HERE);
    let (a, b) = (global("runtime.Device_StreamCreate")?, global("runtime.Device_StreamFree")?);
    let streams = [0, 1].map(|_| a.call_packed(&[device]).unwrap().get::<i64>().unwrap());
    assert!(streams[0] != 0 && streams[0] != streams[1]);
    let order = global("runtime.Device_StreamSyncFromTo")?;
    order.call_packed(&[device, streams[0].into(), streams[1].into()])?;
    order.call_packed(&[device, 0i64.into(), streams[1].into()])?;
    global("runtime.Device_StreamSync")?.call_packed(&[device, streams[1].into()])?;
    for stream in streams {
        b.call_packed(&[device, stream.into()])?;
    }
    Ok(())
}

#[test]
fn events_order_streams_and_tell_time() -> Result<()> {
    let _session = Session::begin();
    let (one, two) = (Cuda.create_stream(0)?, Cuda.create_stream(0)?);
    let (start, end, plain) =
        (Cuda.create_event(0, true)?, Cuda.create_event(0, true)?, Cuda.create_event(0, false)?);
    let (x, y, z) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?, on_device(&[0.0; 64])?);
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    // SAFETY: the test owns the streams and events.
    unsafe {
        assert_eq!(Cuda.elapsed(0, start, end)?, None, "nothing was recorded");
        Cuda.synchronize_event(0, end)?;
        Cuda.record_event(0, start, one)?;
        set_stream(one)?;
        add_one(&kernel, &x, &y, 1)?;
        Cuda.record_event(0, end, one)?;
        Cuda.record_event(0, plain, one)?;
        Cuda.wait_for_event(0, plain, two)?;
        set_stream(two)?;
        add_one(&kernel, &y, &z, 1)?;
        Cuda.synchronize(0, two)?;
        assert_eq!(values_of(&z)?, [3.0; 64]);
        Cuda.synchronize_event(0, end)?;
        assert!(!Cuda.elapsed(0, start, end)?.expect("a time").is_zero());
        assert_eq!(Cuda.elapsed(0, start, plain)?, None, "an event without timing");
        set_stream(ptr::null_mut())?;
        for event in [start, end, plain] {
            Cuda.free_event(0, event);
        }
        Cuda.free_stream(0, one)?;
        Cuda.free_stream(0, two)
    }
}
