//! Tests WebGPU on the Vulkan driver of this machine: hand-written kernels, bad input, and threads.
//! `./ci.sh gpu-webgpu` prints what to install.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

mod support;

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Function, String};
use ferrite_gpu::webgpu::WebGpu;

use support::calls::*;
use support::cases::{self, cases};
use support::kind::*;

const U8: DLDataType = DLDataType { code: 1, bits: 8, lanes: 1 };
const HERE: DLDevice = WebGpu::HERE;

cases!(WebGpu: kernels_are_launched,
    device_ids_that_do_not_exist_are_errors,
    a_kernel_outlives_its_module_and_a_module_its_launches,
    eight_threads_launch_the_kernels_of_one_module,
    workspaces_are_reused,
    memory_that_the_device_lacks_is_a_memory_error,
    devices_are_used_by_global_functions);

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    cases::bad_arguments::<WebGpu>(|_, _, _| ())
}

fn number(value: usize) -> Any {
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    Any::from(unsafe { OpaquePtr::new(core::ptr::without_provenance_mut(value)) })
}

#[test]
fn launches_see_the_arguments_of_their_own() -> Result<()> {
    let kernel = function(&WebGpu::load_add()?, "k")?;
    // Each launch reads the output of the previous one: with other numbers, with alternating
    // buffers, and with both.
    let tensors: Vec<_> = (0..40).map(|_| on_device::<WebGpu>(&[0.0; 8])).collect::<Result<_>>()?;
    for round in 0..3 {
        for n in 1..40 {
            add(&kernel, &tensors[n - 1], &tensors[n], n as i64 + round, 1)?;
        }
    }
    for (n, tensor) in tensors.iter().enumerate() {
        assert_eq!(values_of(tensor)?, [(n * (n + 1) / 2 + 2 * n) as f32; 8]);
    }
    let (x, y) = (&tensors[0], &tensors[1]);
    for n in [1, 1, -7, 7, 1 << 24] {
        add(&kernel, x, y, n, 1)?;
        add(&kernel, y, x, 0, 1)?;
        add(&kernel, x, y, -n, 1)?;
        add(&kernel, y, x, 0, 1)?;
    }
    assert_eq!(values_of(x)?, [0.0; 8]);
    // Only the grid differs: the shader masks blocks beyond the number that it gets.
    let (x, y) = (on_device::<WebGpu>(&[1.0; 64])?, on_device::<WebGpu>(&[0.0; 64])?);
    for blocks in [1, 8] {
        add(&kernel, &x, &y, 1, blocks)?;
    }
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}

#[test]
fn numbers_of_no_buffer_are_errors() -> Result<()> {
    let kernel = function(&WebGpu::load_add()?, "k")?;
    let (x, y) = (on_device::<WebGpu>(&[1.0; 8])?, on_device::<WebGpu>(&[2.0; 8])?);
    let one = AnyView::from(1i64);
    let launch = |from: &Any| kernel.call_packed(&[from.view(), data(&y).view(), one, one, one]);
    for bad in [usize::MAX, 1 << 20, 0xdead_beef_0000_0001, core::ptr::from_ref(&x).addr()] {
        let text = refused(launch(&number(bad)), "ValueError");
        assert_eq!(text, format!("There is no WebGPU buffer of the number {bad}"));
    }
    let text = refused(launch(&Any::NONE), "ValueError");
    assert_eq!(text, "Kernel argument #0 is null, not a WebGPU buffer");
    // The number of a freed buffer is invalid, even if the buffer was bound before; its slot gets
    // another number.
    let gone = data(&x);
    launch(&gone)?;
    drop(x);
    let next = on_device::<WebGpu>(&[5.0; 8])?;
    refused(launch(&gone), "InternalError");
    refused(launch(&gone), "ValueError");
    assert_eq!(values_of(&y)?, [2.0; 8]);
    launch(&data(&next))?;
    assert_eq!(values_of(&y)?, [6.0; 8]);
    let region = |data, device| Region { device, data, offset: 0 };
    let mut bytes = [0u8; 64];
    let main = region((&raw mut bytes).cast(), CPU);
    for (bytes, bad) in
        [(4, core::ptr::null_mut()), (4, gone.get::<*mut c_void>()?), (64, y.dl_tensor().data)]
    {
        // SAFETY: main memory has `bytes` bytes, and buffer numbers are validated.
        unsafe {
            refused(
                WebGpu.copy(region(bad, HERE), main, bytes, core::ptr::null_mut()),
                "ValueError",
            );
            refused(
                WebGpu.copy(main, region(bad, HERE), bytes, core::ptr::null_mut()),
                "ValueError",
            );
        }
    }
    Ok(())
}

#[test]
fn a_buffer_that_a_kernel_writes_cannot_come_twice() -> Result<()> {
    let kernel = function(&WebGpu::load_add()?, "k")?;
    let x = on_device::<WebGpu>(&[1.0; 8])?;
    let text = refused(add(&kernel, &x, &x, 1, 1), "ValueError");
    assert_eq!(
        text,
        "Kernel arguments #0 and #1 are the same WebGPU buffer, and the kernel writes it"
    );
    // A buffer that is only read may be passed twice.
    let code = WEBGPU_ADD
        .replace("+ f32(scalars.n)", "+ z[0]")
        .replace("struct", "@group(0) @binding(2) var<storage, read> z : array<f32>;\nstruct");
    let code =
        code.replace("binding(2) var<uniform>", "binding(3) var<uniform>").replace("n: i32, ", "");
    let module = webgpu_module(&[HANDLE; 3], &["paramWriteAccess:[0,1,0]"], code.as_bytes())?;
    let y = on_device::<WebGpu>(&[0.0; 8])?;
    let one = AnyView::from(1i64);
    function(&module, "k")?.call_packed(&[(&x).into(), (&y).into(), (&x).into(), one, one])?;
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn scalars_of_64_bits_must_fit_32() -> Result<()> {
    let module =
        webgpu_module(&[HANDLE, HANDLE, I64], &["paramWriteAccess:[0,1]"], WEBGPU_ADD.as_bytes())?;
    let kernel = function(&module, "k")?;
    let (x, y) = (on_device::<WebGpu>(&[1.0; 8])?, on_device::<WebGpu>(&[0.0; 8])?);
    add(&kernel, &x, &y, -5, 1)?;
    assert_eq!(values_of(&y)?, [-4.0; 8]);
    for n in [1i64 << 31, -(1 << 31) - 1, i64::MAX] {
        let text = refused(add(&kernel, &x, &y, n, 1), "ValueError");
        assert!(text.contains(&n.to_string()) && text.contains("32 bits"), "{text}");
    }
    add(&kernel, &x, &y, 3, 1)?;
    assert_eq!(values_of(&y)?, [4.0; 8]);
    Ok(())
}

#[test]
fn wide_grids_are_split() -> Result<()> {
    const BLOCKS: i64 = 65_536 * 2 + 1;
    let kernel = function(&WebGpu::load_add()?, "k")?;
    let (x, y) = (
        on_device::<WebGpu>(&[1.0; 8 * BLOCKS as usize])?,
        on_device::<WebGpu>(&[0.0; 8 * BLOCKS as usize])?,
    );
    add(&kernel, &x, &y, 1, BLOCKS)?;
    assert_eq!(values_of(&y)?, vec![2.0; 8 * BLOCKS as usize]);
    let text = refused(add(&kernel, &x, &y, 1, i64::from(u32::MAX)), "ValueError");
    assert!(text.starts_with("A grid of WebGPU cannot have"), "{text}");
    Ok(())
}

#[test]
fn shaders_that_do_not_compile_are_errors_with_the_compilers_text() -> Result<()> {
    let x = on_device::<WebGpu>(&[1.0; 8])?;
    let y = on_device::<WebGpu>(&[2.0; 8])?;
    let text_of = |code: &[u8]| -> Result<std::string::String> {
        let module = webgpu_module(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,1]"], code)?;
        let kernel = function(&module, "k")?;
        // A failure leaves no state behind: the second launch reports the same error.
        let first = refused(add(&kernel, &x, &y, 1, 1), "InternalError");
        assert_eq!(refused(add(&kernel, &x, &y, 1, 1), "InternalError"), first);
        assert!(first.starts_with("WebGPU build error for device="), "{first}");
        assert!(first.contains("kernel k"), "{first}");
        Ok(first)
    };
    let undeclared = text_of(WEBGPU_ADD.replace("f32(scalars.n)", "undeclared").as_bytes())?;
    assert!(undeclared.contains("undeclared") && undeclared.contains("wgsl:11:49"), "{undeclared}");
    assert!(text_of(b"nonsense")?.contains("expected"));
    assert!(text_of(b"")?.contains("entry point"), "no entry point");
    assert!(text_of(b"\xff\xfe")?.contains("not UTF-8"));
    assert!(text_of(WEBGPU_ADD.replace("fn k(", "fn other(").as_bytes())?.contains("entry point"));
    // A kernel that writes a buffer that its tag declares as read, and one with other bindings.
    let writes = WEBGPU_ADD.replace("storage, read>", "storage, read_write>");
    assert!(text_of(writes.as_bytes())?.contains("binding"));
    assert!(
        text_of(WEBGPU_ADD.replace("binding(1)", "binding(7)").as_bytes())?.contains("binding")
    );
    // A type error, and a block that no device supports.
    assert!(text_of(WEBGPU_ADD.replace("f32(scalars.n)", "scalars.n").as_bytes())?.contains("Add"));
    let huge = WEBGPU_ADD.replace("workgroup_size(8, 1, 1)", "workgroup_size(1000000, 1, 1)");
    assert!(text_of(huge.as_bytes())?.contains("Workgroup size"));
    let deep = format!("const c = {}1{};", "(".repeat(10_000), ")".repeat(10_000));
    text_of(deep.as_bytes())?;
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn more_buffers_than_the_device_binds_are_an_error() -> Result<()> {
    let count = 2000;
    let access = format!("paramWriteAccess:[{}0]", "0,".repeat(499));
    let module = webgpu_module(&[HANDLE; 500], &[&access], WEBGPU_ADD.as_bytes())?;
    let x = on_device::<WebGpu>(&[1.0; 8])?;
    let mut arguments = vec![data(&x); 500];
    arguments.extend([1i64.into(), 1i64.into()]);
    let views: Vec<_> = arguments.iter().map(Any::view).collect();
    let text = refused(function(&module, "k")?.call_packed(&views), "InternalError");
    // A device that binds 500 buffers refuses that the shader writes a buffer that is declared as
    // read.
    assert!(text.starts_with("WebGPU build error"), "{text}");
    assert!(
        text.contains("limit") || text.contains("is not available in the pipeline layout"),
        "{text}"
    );
    // Kernels with more parameters than any driver supports are rejected before the driver sees
    // them.
    let access = format!("paramWriteAccess:[{}0]", "0,".repeat(count - 1));
    let module = webgpu_module(&vec![HANDLE; count], &[&access], WEBGPU_ADD.as_bytes())?;
    refused(module.get_function(&String::new("k")?, false), "InternalError");
    Ok(())
}

#[test]
fn payloads_whose_write_access_lies_are_errors() -> Result<()> {
    let refuse = |types: &[DLDataType], tags: &[&str]| {
        let text = refused(webgpu_module(types, tags, WEBGPU_ADD.as_bytes()), "InternalError");
        assert!(text.contains("paramWriteAccess"), "{text}");
    };
    refuse(&[HANDLE, HANDLE, I32], &[]);
    refuse(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0]"]);
    refuse(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,1,1]"]);
    refuse(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,2]"]);
    refuse(&[HANDLE, HANDLE, I32], &["paramWriteAccess:0,1"]);
    refuse(&[HANDLE, I32, HANDLE], &["paramWriteAccess:[0,1]"]);
    Ok(())
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let module = cases::module_of_the_kind::<WebGpu>()?;
    for format in ["", "wgsl"] {
        let source = module.inspect_source(&String::new(format)?)?;
        assert!(source.as_bytes().starts_with(b"// Function: "));
        assert_eq!(source.as_str().expect("UTF-8").matches("@compute").count(), 6);
    }
    assert!(module.inspect_source(&String::new("spirv")?)?.as_bytes().is_empty());
    let information = module.inspect_source(&String::new("func_info")?)?;
    let map = function(&module, "webgpu.get_fmap")?.call_packed(&[])?.get::<String>()?;
    assert_eq!(map, information);
    let of_one = "\"axpy_dyn_kernel\":{\"name\":\"axpy_dyn_kernel\",\"arg_types\":[\"handle\",\"handle\",\"float32\",\
        \"int32\",\"int32\"],\"launch_param_tags\":[\"blockIdx.x\",\"threadIdx.x\",\"paramWriteAccess:[0,1]\"],\
        \"arg_extra_tags\":[]}";
    assert!(map.as_str().expect("UTF-8").contains(of_one), "{map:?}");
    let shader = function(&module, "webgpu.get_shader")?;
    let text = shader.call_packed(&[(&String::new("mlp_kernel_1")?).into()])?.get::<String>()?;
    assert!(text.as_str().expect("UTF-8").contains("fn mlp_kernel_1("));
    assert_eq!(
        refused(shader.call_packed(&[(&String::new("nothing")?).into()]), "InternalError"),
        "There is no shader nothing"
    );
    assert!(Function::find_global("ffi.Module.create.webgpu")?.is_some());
    Ok(())
}

#[test]
fn functions_take_the_place_of_kernels() -> Result<()> {
    let module = load::<WebGpu>(WebGpu::FIXTURE)?;
    let other = Function::from_typed(|| 42i64)?;
    let update = function(&module, "webgpu.update_prebuild")?;
    for name in ["mlp_kernel", "no_kernel"] {
        update.call_packed(&[(&String::new(name)?).into(), (&other).into()])?;
        assert_eq!(function(&module, name)?.call_packed(&[])?.get::<i64>()?, 42);
    }
    let another = Function::from_typed(|| 43i64)?;
    update.call_packed(&[(&String::new("mlp_kernel")?).into(), (&another).into()])?;
    assert_eq!(function(&module, "mlp_kernel")?.call_packed(&[])?.get::<i64>()?, 43);
    refused(function(&module, "mlp_kernel_1")?.call_packed(&[]), "TypeError");
    refused(update.call_packed(&[(&String::new("mlp_kernel")?).into(), 1i64.into()]), "TypeError");
    Ok(())
}

#[test]
fn copies_of_any_bytes_change_no_others() -> Result<()> {
    install();
    let there = device::empty(&[37], U8, HERE)?;
    let elsewhere = device::empty(&[37], U8, HERE)?;
    let region = |data, device, offset| Region { device, data, offset };
    let (there, elsewhere) = (there.dl_tensor().data, elsewhere.dl_tensor().data);
    let copy = |from, to, bytes| {
        // SAFETY: the regions have `bytes` bytes.
        unsafe { WebGpu.copy(from, to, bytes, core::ptr::null_mut()) }
    };
    for at in 0..9 {
        for bytes in (0..=37 - at).filter(|bytes| *bytes < 12 || at + bytes > 35) {
            let mut old: [u8; 37] = core::array::from_fn(|index| index as u8);
            let mut new: [u8; 37] = core::array::from_fn(|index| 100 + index as u8);
            let mut found = [0u8; 37];
            let main = |array: &mut [u8; 37], at| region(array.as_mut_ptr().cast(), CPU, at);
            // From main memory, to main memory, and on the device.
            copy(main(&mut old, 0), region(there, HERE, 0), 37)?;
            copy(main(&mut new, at), region(there, HERE, at), bytes)?;
            copy(region(there, HERE, 0), main(&mut found, 0), 37)?;
            let mut expected = old;
            expected[at..at + bytes].copy_from_slice(&new[at..at + bytes]);
            assert_eq!(found, expected, "{bytes} bytes to {at}");
            let mut part = [0xffu8; 37];
            copy(region(there, HERE, at), main(&mut part, 0), bytes)?;
            assert_eq!(part[..bytes], expected[at..at + bytes], "{bytes} bytes from {at}");
            assert!(part[bytes..].iter().all(|byte| *byte == 0xff));
            copy(main(&mut old, 0), region(elsewhere, HERE, 0), 37)?;
            copy(region(there, HERE, at), region(elsewhere, HERE, at), bytes)?;
            copy(region(elsewhere, HERE, 0), main(&mut found, 0), 37)?;
            assert_eq!(found, expected, "{bytes} bytes at {at} on the device");
        }
    }
    // Within one buffer.
    let (mut before, mut after) = ([0u8; 37], [0u8; 37]);
    copy(region(there, HERE, 0), region((&raw mut before).cast(), CPU, 0), 37)?;
    copy(region(there, HERE, 0), region(there, HERE, 4), 8)?;
    copy(region(there, HERE, 0), region((&raw mut after).cast(), CPU, 0), 37)?;
    before.copy_within(0..8, 4);
    assert_eq!(after, before);
    Ok(())
}

#[test]
fn large_tensors_are_copied_in_pieces() -> Result<()> {
    let values: Vec<_> = (0..(9 << 20)).map(|i| i as f32).collect();
    assert_eq!(values_of(&on_device::<WebGpu>(&values)?)?, values);
    Ok(())
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    cases::attributes_of_the_kind::<WebGpu>()?;
    let get = |attribute| WebGpu.attribute(0, attribute);
    assert!(get(Attribute::MaxThreadsPerBlock)?.get::<i64>()? >= 256);
    assert!(get(Attribute::SharedMemoryPerBlock)?.get::<i64>()? >= 16384);
    assert!(get(Attribute::WarpSize)?.get::<i64>()? >= 1);
    for none in [Attribute::TotalGlobalMemory, Attribute::MaxClockRate] {
        assert!(get(none)?.is_none());
    }
    Ok(())
}

#[test]
fn events_are_over_when_what_was_queued_before_them_is() -> Result<()> {
    let kernel = function(&WebGpu::load_add()?, "k")?;
    let (x, y) = (on_device::<WebGpu>(&[1.0; 64])?, on_device::<WebGpu>(&[0.0; 64])?);
    let event = WebGpu.create_event(0, true)?;
    let null = core::ptr::null_mut::<c_void>();
    // SAFETY: the event belongs to the device until it is freed, and null is the default stream.
    unsafe {
        WebGpu.synchronize_event(0, event)?;
        WebGpu.wait_for_event(0, event, null)?;
        add(&kernel, &x, &y, 1, 8)?;
        WebGpu.record_event(0, event, null)?;
        WebGpu.wait_for_event(0, event, null)?;
        WebGpu.synchronize_event(0, event)?;
        refused(
            WebGpu.record_event(0, event, core::ptr::without_provenance_mut(8)),
            "RuntimeError",
        );
        assert!(WebGpu.elapsed(0, event, event)?.is_none());
        WebGpu.free_event(0, event);
    }
    assert!(WebGpu.create_event(99, false).is_err());
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}
