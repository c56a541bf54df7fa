//! Tests OpenCL on the driver of this machine: hand-written kernels, bad input, and threads.
//! `./ci.sh gpu-opencl` prints what to install.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

mod support;

use ferrite_alloc_ext::device::{Attribute, Backend, Device, DeviceTensor, Event, Stream};
use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, Shape, String, Tensor};
use ferrite_gpu::opencl::OpenCl;

use support::calls::*;
use support::cases::{self, cases};
use support::kind::*;

cases!(OpenCl: kernels_are_launched,
    device_ids_that_do_not_exist_are_errors,
    a_kernel_outlives_its_module_and_a_module_its_launches,
    eight_threads_launch_the_kernels_of_one_module,
    workspaces_are_reused,
    memory_that_the_device_lacks_is_a_memory_error);

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    cases::bad_arguments::<OpenCl>(|kernel, x, y| {
        // The driver rejects a work group that is too large. A null buffer, which the kernel would
        // read, is not launched here.
        let text = refused(
            kernel.call_packed(&[
                x.view(),
                y.view(),
                1i64.into(),
                1i64.into(),
                (1i64 << 30).into(),
            ]),
            "InternalError",
        );
        assert!(text.starts_with("OpenCL Error, code=-5"), "{text}");
    })
}

#[test]
fn source_that_does_not_compile_is_an_error_with_the_log() -> Result<()> {
    let broken = "// Function: k\n__kernel void k(__global float* x, __global float* y, int n) { undeclared = 1; }\n";
    let module = opencl_module("cl", broken)?;
    let kernel = function(&module, "k")?;
    let x = on_device::<OpenCl>(&[1.0; 8])?;
    for _ in 0..2 {
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(text.starts_with("OpenCL build error for device="), "{text}");
        assert!(text.contains("CL_BUILD_PROGRAM_FAILURE") && text.contains("undeclared"), "{text}");
    }
    let renamed = OPENCL_ADD.replace("void k(", "void other(");
    let kernel = function(&opencl_module("cl", &renamed)?, "k")?;
    let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
    assert!(text.contains("CL_INVALID_KERNEL_NAME"), "{text}");
    Ok(())
}

#[test]
fn binaries_that_are_none_are_errors() -> Result<()> {
    let x = on_device::<OpenCl>(&[1.0; 8])?;
    for format in ["xclbin", "aocx"] {
        let kernel = function(&opencl_module(format, "no binary")?, "k")?;
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(
            text.starts_with("OpenCL Error") || text.starts_with("OpenCL build error"),
            "{text}"
        );
    }
    assert_eq!(
        message(&opencl_module("spirv", "").map(drop).unwrap_err()),
        "Unknown OpenCL format spirv"
    );
    Ok(())
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let module = cases::module_of_the_kind::<OpenCl>()?;
    assert!(module.inspect_source(&String::new("")?)?.as_bytes().starts_with(b"// Function: "));
    assert!(module.inspect_source(&String::new("cl")?)?.as_bytes().is_empty());
    Ok(())
}

#[test]
fn programs_are_saved_as_binaries() -> Result<()> {
    let module = OpenCl::load_add()?;
    let saved =
        function(&module, "opencl.GetPreCompiledPrograms")?.call_packed(&[])?.get::<Bytes>()?;
    assert_eq!(saved.as_bytes()[..17], *b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0k");
    // The other module's source does not compile, so the binary must be what runs.
    let other = opencl_module("cl", "// Function: k\nnonsense\n")?;
    let restore = function(&other, "opencl.SetPreCompiledPrograms")?;
    for malformed in
        [&b""[..], b"\x01\0\0\0\0\0\0\0", &saved.as_bytes()[..saved.as_bytes().len() - 1]]
    {
        refused(restore.call_packed(&[(&Bytes::new(malformed)?).into()]), "InternalError");
    }
    let mut other_name = saved.as_bytes().to_vec();
    other_name[16] = b'q';
    refused(restore.call_packed(&[(&Bytes::new(&other_name)?).into()]), "InternalError");
    restore.call_packed(&[(&saved).into()])?;
    let (x, y) = (on_device::<OpenCl>(&[1.0; 8])?, on_device::<OpenCl>(&[0.0; 8])?);
    add(&function(&other, "k")?, &x, &y, 1, 1)?;
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    cases::attributes_of_the_kind::<OpenCl>()?;
    let number = |attribute| OpenCl.attribute(0, attribute)?.get::<i64>();
    assert!(number(Attribute::TotalGlobalMemory)? > 1 << 20);
    assert!(number(Attribute::MultiProcessorCount)? > 0);
    assert_eq!(number(Attribute::ApiVersion)?, 120);
    Ok(())
}

#[test]
fn devices_are_used_by_global_functions() -> Result<()> {
    install();
    let enabled = Function::from_typed(|_: String| false)?;
    Function::set_global("runtime.RuntimeEnabled", &enabled, false)?;
    let enabled = |target: &str| {
        global("runtime.RuntimeEnabled")?.call_packed(&[(&String::new(target)?).into()])
    };
    assert!(enabled("opencl")?.get::<bool>()? && !enabled("cpu")?.get::<bool>()?);
    assert!(!enabled("no such target")?.get::<bool>()?, "the other runtime's to refuse");
    let shared = Function::from_typed(|_: Tensor, _: Tensor| 42i64)?;
    Function::set_global("runtime.TVMTensorIsStorageShared", &shared, false)?;
    let shared = global("runtime.TVMTensorIsStorageShared")?;
    let (x, here) = (on_device::<OpenCl>(&[1.0])?, Tensor::from_slice(&[0f32], &[1])?);
    assert_eq!(shared.call_packed(&[(&x).into(), (&x).into()])?.get::<i64>()?, 1);
    assert_eq!(shared.call_packed(&[(&here).into(), (&here).into()])?.get::<i64>()?, 42);
    cases::devices_are_used_by_global_functions::<OpenCl>()
}

#[test]
fn programs_in_rust_use_devices_streams_and_events() -> Result<()> {
    install();
    let device = Device::parse("opencl:0")?;
    assert!(device.exists() && device.name()?.is_some() && Device::all().any(|one| one == device));
    let kernel = function(&OpenCl::load_add()?, "k")?;
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
            kernel.call_packed(&[
                (&source).into(),
                (&target).into(),
                round.into(),
                8i64.into(),
                8i64.into(),
            ])
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
    install();
    let create = global("runtime.TVMTensorCreateView")?;
    let tensor = on_device::<OpenCl>(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
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
