//! Tests ROCm on the GPU of this machine, or on the stand-in: kernels, bad input, streams, devices
//! and threads.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::rocm::{Rocm, RocmHost};

use support::rocm::stand_in::Geometry;
use support::rocm::*;

const NULL: *mut c_void = ptr::null_mut();

#[test]
fn kernels_are_launched_with_their_arguments_and_sizes() -> Result<()> {
    let session = Session::begin();
    let module = load(FIXTURE)?;
    let x = on(HERE, &(0..1024).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on(HERE, &[0.0; 1024])?;
    add_one(&function(&module, "add_one_kernel")?, &x, &y, 16)?;
    assert_eq!(values_of(&y)?, (1..1025).map(|i| i as f32).collect::<Vec<_>>());
    // Scalars of 4 bytes after pointers, and a grid whose last block masks itself.
    let y = on(HERE, &[7.0; 1024])?;
    axpy(&function(&module, "axpy_dyn_kernel")?, &x, &y, (2.5, -3, 100))?;
    let expected: Vec<_> =
        (0..1024).map(|i| if i < 100 { 2.5 * i as f32 - 3.0 } else { 7.0 }).collect();
    assert_eq!(values_of(&y)?, expected);
    if let Some(stand_in) = session.stand_in {
        let (geometry, stream) = stand_in.last_launch();
        assert_eq!(
            geometry,
            Geometry { grid: [2, 1, 1], block: [64, 1, 1], ..Geometry::default() }
        );
        assert_eq!(stream, 0);
    }
    Ok(())
}

#[test]
fn axes_go_to_their_places() -> Result<()> {
    let Some((_session, stand_in)) = Session::on_stand_in("axes_go_to_their_places") else {
        return Ok(());
    };
    let a = on(HERE, &[1.0; 4096])?;
    let tags =
        ["threadIdx.z", "blockIdx.y", "blockIdx.z", "threadIdx.x", "blockIdx.x", "threadIdx.y"];
    let dynamic = [&tags[..], &["tirx.use_dyn_shared_memory"]].concat();
    let payload = payload_of("hsaco", &code_object()?, "matmul_kernel", &[HANDLE; 3], &dynamic)?;
    let kernel = function(&load(payload.as_bytes())?, "matmul_kernel")?;
    let sizes = [2i64, 3, 4, 5, 6, 7, 256];
    let mut args: Vec<AnyView<'_>> = vec![(&a).into(), (&a).into(), (&a).into()];
    args.extend(sizes.iter().map(|size| AnyView::from(*size)));
    // The kernel would access memory outside its matrices, so it does not run.
    kernel.call_packed(&args)?;
    let expected = Geometry {
        grid: [6, 3, 4],
        block: [5, 7, 2],
        dynamic_shared_bytes: 256,
        ..Geometry::default()
    };
    assert_eq!(stand_in.last_launch().0, expected);
    refused(wait(), "InternalError");
    assert!(stand_in.complaint().expect("a complaint").contains("outside of its memory"));
    Ok(())
}

#[test]
fn every_type_of_scalar_is_passed() -> Result<()> {
    let Some((_session, _)) = Session::on_stand_in("every_type_of_scalar_is_passed") else {
        return Ok(());
    };
    // The stand-in implements this kernel; the code object only has to name it.
    let code = code_object_with("axpy_dyn_kernel", "scalars_kernel\0")?;
    let types = [HANDLE, F64, F32, I64, I32, U32];
    let payload = payload_of("hsaco", &code, "scalars_kernel", &types, &[])?;
    let kernel = function(&load(payload.as_bytes())?, "scalars_kernel")?;
    let out = on(HERE, &[0.0; 10])?;
    let numbers: [AnyView<'_>; 5] = [
        (-0.25f64).into(),
        1.5f64.into(),
        (-(1i64 << 40)).into(),
        (-7i64).into(),
        4_000_000_000i64.into(),
    ];
    let mut args: Vec<AnyView<'_>> = vec![(&out).into()];
    args.extend(numbers);
    kernel.call_packed(&args)?;
    let words: Vec<u64> = values_of(&out)?
        .chunks(2)
        .map(|pair| u64::from(pair[0].to_bits()) | u64::from(pair[1].to_bits()) << 32)
        .collect();
    let expected =
        [(-0.25f64).to_bits(), 1.5f64.to_bits(), -(1i64 << 40) as u64, -7i64 as u64, 4_000_000_000];
    assert_eq!(words, expected);
    Ok(())
}

#[test]
fn kernels_with_many_parameters_are_launched() -> Result<()> {
    let Some((_session, stand_in)) = Session::on_stand_in("kernels_with_many_parameters") else {
        return Ok(());
    };
    // 512 parameters, of which the stand-in's kernel has 2: it reports the size of the argument
    // buffer.
    let payload = payload_of("hsaco", &code_object()?, "add_one_kernel", &[I64; 512], &[])?;
    let kernel = function(&load(payload.as_bytes())?, "add_one_kernel")?;
    let text = refused(kernel.call_packed(&[AnyView::from(1i64); 512]), "InternalError");
    assert!(text.contains("hipModuleLaunchKernel failed with error: invalid argument"), "{text}");
    let complaint = stand_in.complaint().expect("a complaint");
    assert!(
        complaint.contains("add_one_kernel takes 16 bytes of arguments or more, not 4096"),
        "{complaint}"
    );
    let payload = payload_of("hsaco", &code_object()?, "add_one_kernel", &[I64; 513], &[])?;
    refused(
        load(payload.as_bytes())?.get_function(&String::new("add_one_kernel")?, false),
        "InternalError",
    );
    Ok(())
}

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    let _session = Session::begin();
    let kernel = kernel("axpy_dyn_kernel")?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[2.0; 64])?);
    let (px, py) = (data(&x), data(&y));
    let (a, k, n, one) =
        (AnyView::from(1.0f64), AnyView::from(1i64), AnyView::from(64i64), AnyView::from(1i64));
    let call = |args: &[AnyView<'_>]| kernel.call_packed(args);
    refused(call(&[]), "TypeError");
    refused(call(&[px.view(), py.view(), a, k, n, one]), "TypeError");
    refused(call(&[px.view(), py.view(), a, k, n, one, n, one]), "TypeError");
    refused(call(&[one, py.view(), a, k, n, one, n]), "TypeError");
    refused(call(&[px.view(), py.view(), a, a, n, one, n]), "TypeError");
    refused(call(&[px.view(), py.view(), px.view(), k, n, one, n]), "TypeError");
    refused(call(&[px.view(), py.view(), a, k, n, a, n]), "TypeError");
    for size in [1i64 << 32, -1, i64::MAX, i64::MIN] {
        refused(call(&[px.view(), py.view(), a, k, n, size.into(), n]), "ValueError");
        refused(call(&[px.view(), py.view(), a, k, n, one, size.into()]), "ValueError");
    }
    // Sizes that only the driver rejects.
    let text =
        refused(call(&[px.view(), py.view(), a, k, n, one, 4096i64.into()]), "InternalError");
    assert!(
        text.starts_with("ROCM HIP Error: hipModuleLaunchKernel failed with error: "),
        "{text}"
    );
    assert!(text.ends_with("grid=(1,1,1), block=(4096,1,1)"), "{text}");
    let host = Tensor::from_slice(&[0f32; 64], &[64])?;
    let text = refused(call(&[(&host).into(), (&y).into(), a, k, n, one, n]), "ValueError");
    assert!(text.contains("argument #0 is on device 1:0"), "{text}");
    let mut moved = *x.dl_tensor();
    moved.byte_offset = 4;
    // SAFETY: the record outlives the view, and is refused.
    let moved = unsafe { ferrite_core::tensor::TensorView::new((&mut moved).into()) };
    let text = refused(call(&[AnyView::from(moved), (&y).into(), a, k, n, one, n]), "ValueError");
    assert!(text.contains("byte_offset"), "{text}");
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}

#[test]
fn tensors_of_another_device_are_refused() -> Result<()> {
    let Some((_session, _)) = Session::on_stand_in("tensors_of_another_device_are_refused") else {
        return Ok(());
    };
    let kernel = kernel("add_one_kernel")?;
    let (here, there) = (on(HERE, &[1.0; 64])?, on(SECOND, &[1.0; 64])?);
    let sizes = [AnyView::from(1i64), AnyView::from(64i64)];
    let text = refused(
        kernel.call_packed(&[(&here).into(), (&there).into(), sizes[0], sizes[1]]),
        "ValueError",
    );
    assert!(
        text.contains("argument #1 is on device 10:1, but the kernel is launched on 10:0"),
        "{text}"
    );
    Ok(())
}

#[test]
fn device_ids_that_do_not_exist_are_errors() -> Result<()> {
    let session = Session::begin();
    for id in [-1, 31, 32, 64, i32::MAX, i32::MIN] {
        let text = refused(Rocm.set_device(id), "ValueError");
        assert!(text.starts_with(&format!("Invalid ROCm device_id={id}: there are ")), "{text}");
        refused(Rocm.allocate(id, 8, 64), "ValueError");
        refused(RocmHost.allocate(id, 8, 64), "ValueError");
        refused(alloc_workspace(10, id, 8), "ValueError");
        refused(alloc_workspace(11, id, 8), "ValueError");
        refused(Rocm.create_stream(id), "ValueError");
        refused(Rocm.create_event(id, false), "ValueError");
        assert_eq!(Rocm.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        refused(Rocm.attribute(id, Attribute::DeviceName), "ValueError");
        refused(device::empty(&[1], F32, DLDevice { device_id: id, ..HERE }), "ValueError");
        refused(device::empty(&[1], F32, DLDevice { device_id: id, ..PINNED }), "ValueError");
        // SAFETY: null is the default stream of every device.
        unsafe {
            refused(Rocm.synchronize(id, NULL), "ValueError");
            refused(Rocm.order_streams(id, NULL, NULL), "ValueError");
            refused(Rocm.free_stream(id, NULL), "ValueError");
            refused(Rocm.set_stream(id, NULL), "ValueError");
        }
        let set = global("__tvm_set_device")?;
        refused(set.call_packed(&[10i64.into(), i64::from(id).into()]), "ValueError");
    }
    if let Some(stand_in) = session.stand_in {
        assert_eq!(stand_in.calls(c"hipGetDeviceCount"), 1, "devices are counted once");
    }
    Ok(())
}

#[test]
fn truncated_and_lying_payloads_are_errors() -> Result<()> {
    let _session = Session::begin();
    for len in (0..FIXTURE.len()).step_by(7) {
        refused(load(&FIXTURE[..len]), "InternalError");
    }
    let code = code_object()?;
    for len in (0..code.len()).step_by(97) {
        let payload = payload_of("hsaco", &code[..len], "add_one_kernel", &[HANDLE; 2], &[])?;
        let text = refused(load(payload.as_bytes()), "InternalError");
        assert_eq!(text, "Malformed hip module: the ELF file is truncated or damaged");
    }
    for format in ["", "HSACO", "ptx", "cl"] {
        let payload = payload_of(format, &code, "add_one_kernel", &[HANDLE; 2], &[])?;
        assert_eq!(
            refused(load(payload.as_bytes()), "InternalError"),
            format!("Unknown ROCm format {format}")
        );
    }
    Ok(())
}

#[test]
fn kernels_that_the_code_object_lacks_are_errors() -> Result<()> {
    let _session = Session::begin();
    let x = on(HERE, &[1.0; 64])?;
    for name in ["no_such_kernel", ""] {
        let payload = payload_of(
            "hsaco",
            &code_object()?,
            name,
            &[HANDLE; 2],
            &["blockIdx.x", "threadIdx.x"],
        )?;
        let kernel = function(&load(payload.as_bytes())?, name)?;
        for _ in 0..2 {
            let text = refused(add_one(&kernel, &x, &x, 1), "ROCMError");
            assert!(
                text.starts_with(&format!("hipModuleGetFunction {name} failed with error: ")),
                "{text}"
            );
        }
    }
    let payload =
        payload_of("hsaco", &code_object()?, "a\0b", &[HANDLE; 2], &["blockIdx.x", "threadIdx.x"])?;
    let kernel = function(&load(payload.as_bytes())?, "a\0b")?;
    assert!(refused(add_one(&kernel, &x, &x, 1), "InternalError").contains("has a NUL byte"));
    Ok(())
}

#[test]
fn code_for_another_architecture_is_an_error_that_names_the_device() -> Result<()> {
    let Some((_session, stand_in)) = Session::on_stand_in("code_for_another_architecture") else {
        return Ok(());
    };
    let (x, kernel) = (on(HERE, &[1.0; 64])?, kernel("add_one_kernel")?);
    // The first call of a launch queries the device, the next two select it for loading.
    let calls = stand_in.calls(c"hipGetDevice");
    stand_in.fail(3, 209);
    let text = refused(add_one(&kernel, &x, &x, 1), "InternalError");
    assert_eq!(stand_in.failed().as_deref(), Some("hipModuleLoadData"));
    assert_eq!(stand_in.calls(c"hipGetDevice") - calls, 2);
    let expected = "ROCM HIP Error: hipModuleLoadData failed with error: \
                    no kernel image is available for execution on the device (the device is gfx1100)";
    assert_eq!(text, expected);
    // The failure leaves no state behind: the next launch loads the code object.
    add_one(&kernel, &x, &x, 1)?;
    wait()
}

#[test]
fn other_users_of_hip_do_not_see_failures() -> Result<()> {
    let Some((_session, stand_in)) = Session::on_stand_in("other_users_of_hip_do_not_see_failures")
    else {
        return Ok(());
    };
    let (x, kernel) = (on(HERE, &[1.0; 64])?, kernel("add_one_kernel")?);
    refused(add_one(&kernel, &x, &x, 1 << 31), "InternalError");
    refused(device::empty(&[1 << 50], F32, HERE), "MemoryError");
    // SAFETY: the type is that of HIP.
    let last = unsafe { stand_in.function::<extern "C" fn() -> c_int>(c"hipGetLastError")() };
    assert_eq!(last, 0);
    Ok(())
}

#[test]
fn a_driver_that_is_shutting_down_is_no_error() -> Result<()> {
    let Some((_session, stand_in)) =
        Session::on_stand_in("a_driver_that_is_shutting_down_is_no_error")
    else {
        return Ok(());
    };
    let kernel = kernel("add_one_kernel")?;
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    wait()?;
    let calls: [(&str, &dyn Fn() -> Result<()>); 3] = [
        ("hipModuleLaunchKernel", &|| add_one(&kernel, &x, &y, 1).map(drop)),
        ("hipStreamSynchronize", &wait),
        ("hipMemcpyAsync", &|| copy(&x, &y)),
    ];
    for (name, body) in calls {
        // The first call queries the current device.
        stand_in.fail(2, 4);
        body()?;
        assert_eq!(stand_in.failed().as_deref(), Some(name));
        stand_in.fail(2, 999);
        let text = refused(body(), "InternalError");
        assert!(text.contains(name) && text.contains("unknown error"), "{text}");
        stand_in.fail(1, 4);
        body()?;
        assert_eq!(stand_in.failed().as_deref(), Some("hipGetDevice"));
    }
    // A driver that is shutting down creates nothing.
    stand_in.fail(2, 4);
    let text = refused(Rocm.create_stream(0), "InternalError");
    assert_eq!(
        text,
        "ROCM HIP Error: hipStreamCreateWithFlags failed with error: driver shutting down"
    );
    wait()
}

#[test]
fn errors_of_kernels_are_reported_by_the_next_wait() -> Result<()> {
    let Some((_session, stand_in)) =
        Session::on_stand_in("errors_of_kernels_are_reported_by_the_next_wait")
    else {
        return Ok(());
    };
    let (x, kernel) = (on(HERE, &[1.0; 64])?, kernel("add_one_kernel")?);
    // One block more than the memory holds elements for.
    add_one(&kernel, &x, &x, 2)?;
    let text = refused(wait(), "InternalError");
    let expected = "ROCM HIP Error: hipStreamSynchronize failed with error: an illegal memory access was encountered";
    assert_eq!(text, expected);
    assert!(stand_in.complaint().expect("a complaint").contains("outside of its memory"));
    Ok(())
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let _session = Session::begin();
    let empty = String::new("")?;
    // The loader is also in the table that loads libraries, under both names of the kind.
    for name in ["ffi.Module.load_from_bytes.hip", "ffi.Module.load_from_bytes.hsaco"] {
        let loader = global(name)?;
        let module = loader.call_packed(&[(&Bytes::new(FIXTURE)?).into()])?.get::<Module>()?;
        assert_eq!((module.kind()?, module.property_mask()?), (c"hip", 3));
        assert_eq!(module.save_to_bytes()?.as_bytes(), FIXTURE);
        assert!(module.inspect_source(&empty)?.as_bytes().is_empty());
        assert_eq!(module.inspect_source(&String::new("hsaco")?)?.as_bytes(), code_object()?);
        assert!(module.write_formats()?.is_empty());
        let text = refused(module.write_to_file(&empty, &empty), "RuntimeError");
        assert_eq!(text, "Module[hip] does not support WriteToFile");
        assert!(module.get_function(&String::new("no_such_kernel")?, true)?.is_none());
        assert!(module.implements_function(&String::new("mlp_kernel_1")?, false)?);
        refused(loader.call_packed(&[(&Bytes::new(&FIXTURE[..100])?).into()]), "InternalError");
        refused(loader.call_packed(&[]), "TypeError");
    }
    refused(global("ffi.Module.create.rocm")?.call_packed(&[1i64.into()]), "TypeError");
    Ok(())
}

#[test]
fn a_kernel_outlives_its_module_and_a_module_its_launches() -> Result<()> {
    let session = Session::begin();
    let (x, y) = (on(HERE, &[1.0; 1 << 12])?, on(HERE, &[0.0; 1 << 12])?);
    let kernel = kernel("axpy_dyn_kernel")?;
    for n in 0..50 {
        axpy(&kernel, &x, &y, (1.0, n, 1 << 12))?;
    }
    if let Some(stand_in) = session.stand_in {
        assert!(stand_in.pending() >= 50, "kernels are queued");
    }
    // The module is released while its kernels are queued.
    drop(kernel);
    assert_eq!(values_of(&y)?, [50.0; 1 << 12]);
    // Memory may be freed while it is in use, too.
    let kernel = support::rocm::kernel("axpy_dyn_kernel")?;
    axpy(&kernel, &x, &y, (1.0, 1, 1 << 12))?;
    drop((kernel, x, y));
    wait()
}

#[test]
fn eight_threads_launch_the_kernels_of_one_module() -> Result<()> {
    let session = Session::begin();
    let loads = session.stand_in.map(|stand_in| stand_in.calls(c"hipModuleLoadData"));
    let module = load(FIXTURE)?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let module = module.clone();
                scope.spawn(move || -> Result<()> {
                    Rocm.set_device(0)?;
                    // Half of the threads use streams of their own.
                    let stream = if thread % 2 == 0 { NULL } else { Rocm.create_stream(0)? };
                    set_stream(stream);
                    let kernel = function(&module, "axpy_dyn_kernel")?;
                    let (x, y) = (on(HERE, &[thread as f32; 64])?, on(HERE, &[0.0; 64])?);
                    for n in 0..100 {
                        axpy(&kernel, &x, &y, (1.0, n, 64))?;
                        if n % 20 == 0 {
                            assert_eq!(values_of(&y)?, [(thread + n) as f32; 64]);
                        }
                    }
                    assert_eq!(values_of(&y)?, [(thread + 99) as f32; 64]);
                    set_stream(NULL);
                    // SAFETY: the thread owns the stream.
                    unsafe { Rocm.free_stream(0, stream) }
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    if let (Some(stand_in), Some(loads)) = (session.stand_in, loads) {
        assert_eq!(stand_in.calls(c"hipModuleLoadData") - loads, 1, "the module is loaded once");
    }
    Ok(())
}

#[test]
fn launches_go_to_the_stream_of_the_thread() -> Result<()> {
    let session = Session::begin();
    let stream = Rocm.create_stream(0)?;
    set_stream(stream);
    let (x, y) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?);
    add_one(&kernel("add_one_kernel")?, &x, &y, 1)?;
    if let Some(stand_in) = session.stand_in {
        assert_eq!(stand_in.last_launch().1, stream.addr() as u64);
    }
    assert_eq!(global("runtime.get_rocm_stream")?.call_packed(&[])?.get::<*mut c_void>()?, stream);
    assert_eq!(values_of(&y)?, [2.0; 64]);
    set_stream(NULL);
    assert!(global("runtime.get_rocm_stream")?.call_packed(&[])?.get::<*mut c_void>()?.is_null());
    // SAFETY: the test owns the stream.
    unsafe { Rocm.free_stream(0, stream) }
}

#[test]
fn streams_are_used_by_global_functions() -> Result<()> {
    let session = Session::begin();
    let device = AnyView::from(&HERE);
    let create = global("runtime.Device_StreamCreate")?;
    let (first, second) = (
        create.call_packed(&[device])?.get::<i64>()?,
        create.call_packed(&[device])?.get::<i64>()?,
    );
    assert!(first != 0 && second != 0 && first != second);
    let (x, y, z) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?, on(HERE, &[0.0; 64])?);
    let kernel = kernel("add_one_kernel")?;
    // Commands of the second stream run after those of the first one.
    global("runtime.Device_SetStream")?.call_packed(&[device, first.into()])?;
    add_one(&kernel, &x, &y, 1)?;
    global("runtime.Device_StreamSyncFromTo")?.call_packed(&[
        device,
        first.into(),
        second.into(),
    ])?;
    global("runtime.TVMSetStream")?.call_packed(&[
        10i64.into(),
        0i64.into(),
        // SAFETY: the function that gets the address finds there what it documents, or refuses it.
        Any::from(unsafe { OpaquePtr::new(second as *mut c_void) }).view(),
    ])?;
    add_one(&kernel, &y, &z, 1)?;
    if let Some(stand_in) = session.stand_in {
        assert!(stand_in.pending() > 0, "ordering does not wait");
    }
    global("runtime.Device_StreamSync")?.call_packed(&[device, second.into()])?;
    assert_eq!(values_of(&z)?, [3.0; 64]);
    global("runtime.Device_SetStream")?.call_packed(&[device, 0i64.into()])?;
    for stream in [first, second] {
        global("runtime.Device_StreamFree")?.call_packed(&[device, stream.into()])?;
    }
    global("runtime.Device_StreamSync")?.call_packed(&[device, 0i64.into()])?;
    Ok(())
}

#[test]
fn events_order_streams_and_tell_time() -> Result<()> {
    let _session = Session::begin();
    let (one, two) = (Rocm.create_stream(0)?, Rocm.create_stream(0)?);
    let (start, end, plain) =
        (Rocm.create_event(0, true)?, Rocm.create_event(0, true)?, Rocm.create_event(0, false)?);
    let (x, y, z) = (on(HERE, &[1.0; 64])?, on(HERE, &[0.0; 64])?, on(HERE, &[0.0; 64])?);
    let kernel = kernel("add_one_kernel")?;
    // SAFETY: the test owns the streams and events.
    unsafe {
        assert_eq!(Rocm.elapsed(0, start, end)?, None, "nothing was recorded");
        Rocm.synchronize_event(0, end)?;
        Rocm.record_event(0, start, one)?;
        set_stream(one);
        add_one(&kernel, &x, &y, 1)?;
        Rocm.record_event(0, end, one)?;
        Rocm.record_event(0, plain, one)?;
        Rocm.wait_for_event(0, plain, two)?;
        set_stream(two);
        add_one(&kernel, &y, &z, 1)?;
        Rocm.synchronize(0, two)?;
        assert_eq!(values_of(&z)?, [3.0; 64]);
        Rocm.synchronize_event(0, end)?;
        let time = Rocm.elapsed(0, start, end)?.expect("a time");
        assert!(!time.is_zero());
        assert_eq!(Rocm.elapsed(0, end, start)?, Some(core::time::Duration::ZERO));
        assert_eq!(Rocm.elapsed(0, start, plain)?, None, "an event without timing");
        set_stream(NULL);
        for event in [start, end, plain] {
            Rocm.free_event(0, event);
        }
        Rocm.free_stream(0, one)?;
        Rocm.free_stream(0, two)
    }
}

#[test]
fn copies_with_pinned_memory_wait_for_the_stream() -> Result<()> {
    let Some((_session, stand_in)) =
        Session::on_stand_in("copies_with_pinned_memory_wait_for_the_stream")
    else {
        return Ok(());
    };
    let stream = Rocm.create_stream(0)?;
    set_stream(stream);
    let x = on(HERE, &[5.0; 64])?;
    // Memory that earlier tests freed.
    let others = stand_in.pending();
    // Pinned memory is main memory: the copy uses the device's stream.
    let pinned = device::empty(&[64], F32, PINNED)?;
    copy(&x, &pinned)?;
    assert_eq!(stand_in.pending(), others, "main memory is borrowed until the copy is complete");
    assert_eq!(values_of(&pinned)?, [5.0; 64]);
    let y = on(HERE, &[0.0; 64])?;
    copy(&pinned, &y)?;
    assert_eq!(stand_in.pending(), others, "pinned memory is borrowed until the copy is complete");
    assert_eq!(values_of(&y)?, [5.0; 64]);
    set_stream(NULL);
    // SAFETY: the test owns the stream.
    unsafe { Rocm.free_stream(0, stream) }
}

#[test]
fn copies_of_parts_and_between_devices() -> Result<()> {
    let session = Session::begin();
    let x = on(HERE, &(0..64).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on(HERE, &[0.0; 64])?;
    let region = |tensor: &Tensor, offset| {
        let record = tensor.dl_tensor();
        Region { device: record.device, data: record.data, offset }
    };
    // SAFETY: the regions are within their tensors.
    unsafe { device::copy(region(&x, 40), region(&y, 200), 56, NULL)? };
    let values = values_of(&y)?;
    assert_eq!(values[50..], (10..24).map(|i| i as f32).collect::<Vec<_>>());
    assert_eq!(values[..50], [0.0; 50]);
    let nowhere = Region { device: HERE, data: NULL, offset: 0 };
    // SAFETY: null is rejected.
    unsafe {
        refused(device::copy(nowhere, region(&y, 0), 4, NULL), "ValueError");
        refused(device::copy(region(&y, 0), nowhere, 4, NULL), "ValueError");
        device::copy(nowhere, nowhere, 0, NULL)?;
        let other = Region { device: DLDevice { device_id: 77, ..HERE }, ..region(&y, 0) };
        refused(device::copy(region(&x, 0), other, 4, NULL), "ValueError");
    }
    if session.stand_in.is_some() {
        let there = on(SECOND, &[0.0; 64])?;
        copy(&x, &there)?;
        wait()?;
        assert_eq!(values_of(&there)?, values_of(&x)?);
    }
    Ok(())
}

#[test]
fn modules_are_loaded_for_each_device() -> Result<()> {
    let Some((_session, stand_in)) = Session::on_stand_in("modules_are_loaded_for_each_device")
    else {
        return Ok(());
    };
    let kernel = kernel("add_one_kernel")?;
    let loads = stand_in.calls(c"hipModuleLoadData");
    for device in [HERE, SECOND, HERE, SECOND] {
        let (x, y) = (on(device, &[1.0; 64])?, on(device, &[0.0; 64])?);
        global("__tvm_set_device")?
            .call_packed(&[10i64.into(), i64::from(device.device_id).into()])?;
        add_one(&kernel, &x, &y, 1)?;
        assert_eq!(values_of(&y)?, [2.0; 64]);
    }
    assert_eq!(stand_in.calls(c"hipModuleLoadData") - loads, 2);
    // Work on another device does not change the current device.
    Rocm.set_device(0)?;
    let there = on(SECOND, &[1.0; 8])?;
    drop(there);
    let mut current = -1;
    // SAFETY: the type is that of HIP.
    unsafe {
        stand_in.function::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"hipGetDevice")(
            &mut current,
        )
    };
    assert_eq!(current, 0);
    Ok(())
}

#[test]
fn workspaces_are_kept_for_their_stream() -> Result<()> {
    let _session = Session::begin();
    for device_type in [10, 11] {
        let stream = Rocm.create_stream(0)?;
        set_stream(stream);
        let first = alloc_workspace(device_type, 0, 5000)?;
        let second = alloc_workspace(device_type, 0, 5000)?;
        assert_ne!(first, second);
        // SAFETY: each workspace is freed once; other pointers are rejected.
        unsafe {
            free_workspace(device_type, 0, first)?;
            assert_eq!(
                alloc_workspace(device_type, 0, 8192)?,
                first,
                "sizes are rounded up to 4096"
            );
            free_workspace(device_type, 0, first)?;
            // Kernels on this stream may still use the workspace.
            set_stream(NULL);
            let other = alloc_workspace(device_type, 0, 5000)?;
            assert_ne!(other, first);
            free_workspace(device_type, 0, other)?;
            assert_eq!(alloc_workspace(device_type, 0, 5000)?, other);
            set_stream(stream);
            free_workspace(device_type, 0, other)?;
            free_workspace(device_type, 0, second)?;
            refused(free_workspace(device_type, 0, second), "ValueError");
            refused(free_workspace(device_type, 0, NonNull::<c_void>::dangling()), "ValueError");
            refused(alloc_workspace(device_type, 0, u64::MAX), "MemoryError");
            set_stream(NULL);
            // Workspaces cached for the stream are freed with it.
            Rocm.free_stream(0, stream)?;
        }
    }
    Ok(())
}

#[test]
fn memory_that_the_device_lacks_is_a_memory_error() -> Result<()> {
    let session = Session::begin();
    let text = refused(device::empty(&[1 << 50], F32, HERE), "MemoryError");
    assert!(text.starts_with("The ROCm device 0 has no 4503599627370496 bytes: "), "{text}");
    refused(device::empty(&[1 << 50], F32, PINNED), "MemoryError");
    refused(Rocm.allocate(0, 64, 512), "ValueError");
    // Empty tensors have no memory.
    let nothing = device::empty(&[0], F32, HERE)?;
    assert!(nothing.dl_tensor().data.is_null());
    if let Some(stand_in) = session.stand_in {
        // Cached workspaces are freed when the device is out of memory.
        let workspaces = [alloc_workspace(10, 0, 1 << 20)?, alloc_workspace(10, 0, 1 << 20)?];
        for workspace in workspaces {
            // SAFETY: each is freed once.
            unsafe { free_workspace(10, 0, workspace)? };
        }
        stand_in.limit_memory(3 << 20);
        let large = alloc_workspace(10, 0, 5 << 19)?;
        // SAFETY: as above.
        unsafe { free_workspace(10, 0, large)? };
        refused(alloc_workspace(10, 0, 4 << 20), "MemoryError");
        stand_in.limit_memory(256 << 20);
    }
    Ok(())
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    let session = Session::begin();
    let get = |attribute| Rocm.attribute(0, attribute);
    let number = |attribute| get(attribute)?.get::<i64>();
    let text = |attribute| -> Result<std::string::String> {
        Ok(std::string::String::from_utf8_lossy(get(attribute)?.get::<String>()?.as_bytes())
            .into_owned())
    };
    assert_eq!(number(Attribute::Exists)?, 1);
    let extents = text(Attribute::MaxThreadDimensions)?;
    assert!(extents.starts_with('[') && extents.ends_with(']'), "{extents}");
    assert!(number(Attribute::AvailableGlobalMemory)? <= number(Attribute::TotalGlobalMemory)?);
    assert!(get(Attribute::ImagePitchAlignment)?.is_none());
    println!("ran on {}", text(Attribute::DeviceName)?);
    if session.stand_in.is_some() {
        let numbers = [
            (Attribute::MaxThreadsPerBlock, 1024),
            (Attribute::WarpSize, 32),
            (Attribute::SharedMemoryPerBlock, 48 << 10),
            (Attribute::MaxClockRate, 2_500_000),
            (Attribute::MultiProcessorCount, 48),
            (Attribute::MaxRegistersPerBlock, 65536),
            (Attribute::ApiVersion, 60342134),
            (Attribute::DriverVersion, 60342134),
            (Attribute::L2CacheBytes, 6 << 20),
            (Attribute::TotalGlobalMemory, 256 << 20),
        ];
        for (attribute, expected) in numbers {
            assert_eq!(number(attribute)?, expected, "{attribute:?}");
        }
        assert_eq!(text(Attribute::ComputeVersion)?, "11.0");
        assert_eq!(text(Attribute::DeviceName)?, "Stand-in for a GPU");
        assert_eq!(extents, "[1024, 1024, 64]");
        assert_eq!(text(Attribute::GcnArch)?, "gfx1100");
    }
    assert_eq!(RocmHost.attribute(0, Attribute::Exists)?.get::<i64>()?, 1);
    let attribute = Function::find_global("runtime.GetDeviceAttr")?.expect("a global function");
    assert_eq!(attribute.call_packed(&[10i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 1);
    assert_eq!(attribute.call_packed(&[10i64.into(), 99i64.into(), 0i64.into()])?.get::<i64>()?, 0);
    Ok(())
}
