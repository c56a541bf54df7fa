//! Tests Vulkan on the driver of this machine: hand-written kernels, bad input, and threads.
//! `./ci.sh gpu-vulkan` prints what to install.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod support;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Function, String, Tensor};
use ferrite_gpu::payload::Writer;
use ferrite_gpu::vulkan::Vulkan;

use support::calls::*;
use support::cases::{self, cases};
use support::kind::*;

/// SPIR-V of a kernel as [`VULKAN_ADD`], whose scalars are in a uniform buffer.
const ADD_UNIFORM: &[u8] =
    include_bytes!("../../../tests/programs/device/vulkan/shaders/add_uniform.spv");
/// SPIR-V of a kernel with numbers of 8, 16 and 64 bits.
const TYPES: &[u8] = include_bytes!("../../../tests/programs/device/vulkan/shaders/types.spv");
const HERE: DLDevice = Vulkan::HERE;

cases!(Vulkan: kernels_are_launched,
    device_ids_that_do_not_exist_are_errors,
    a_kernel_outlives_its_module_and_a_module_its_launches,
    eight_threads_launch_the_kernels_of_one_module,
    workspaces_are_reused,
    memory_that_the_device_lacks_is_a_memory_error,
    devices_are_used_by_global_functions);

/// Returns a property by which TVM describes a target.
fn property(device: DLDevice, name: &str) -> Result<Any> {
    let ask =
        Function::find_global("device_api.vulkan.get_target_property")?.expect("a global function");
    ask.call_packed(&[(&device).into(), (&String::new(name)?).into()])
}

#[test]
fn scalars_come_in_a_uniform_buffer_if_the_shader_says_so() -> Result<()> {
    let kernel = function(&vulkan_module(&[HANDLE, HANDLE, I32], 1, ADD_UNIFORM)?, "k")?;
    let (x, y) = (on_device::<Vulkan>(&[1.0; 64])?, on_device::<Vulkan>(&[0.0; 64])?);
    // Each launch keeps its own scalars, although all are queued together, and more than a batch
    // has staging memory for.
    let many: Vec<_> = (0..600).map(|_| on_device::<Vulkan>(&[0.0; 8])).collect::<Result<_>>()?;
    for (n, y) in many.iter().enumerate() {
        add(&kernel, &x, y, n as i64, 1)?;
    }
    for (n, y) in many.iter().enumerate() {
        assert_eq!(values_of(y)?, [n as f32 + 1.0; 8]);
    }
    add(&kernel, &x, &y, -5, 8)?;
    assert_eq!(values_of(&y)?, [-4.0; 64]);
    Ok(())
}

#[test]
fn numbers_of_8_16_and_64_bits() -> Result<()> {
    ferrite_gpu::install();
    Vulkan.set_device(0)?;
    let kernel = function(&vulkan_module(&[HANDLE, HANDLE, HANDLE, I64], 0, TYPES)?, "k")?;
    let tensor = |code, bits| device::empty(&[8], DLDataType { code, bits, lanes: 1 }, HERE);
    let (x, y, z) = (tensor(0, 8)?, tensor(0, 64)?, tensor(2, 16)?);
    let copy = |from: &Tensor, to: &Tensor| {
        // SAFETY: both tensors are live.
        unsafe { device::copy_tensor(from.dl_tensor(), to.dl_tensor(), core::ptr::null_mut()) }
    };
    copy(&Tensor::from_slice(&[-4i8, -3, -2, -1, 0, 1, 2, 3], &[8])?, &x)?;
    kernel.call_packed(&[
        (&x).into(),
        (&y).into(),
        (&z).into(),
        (1i64 << 40).into(),
        1i64.into(),
        8i64.into(),
    ])?;
    let (longs, halves) =
        (Tensor::from_slice(&[0i64; 8], &[8])?, Tensor::from_slice(&[0u16; 8], &[8])?);
    copy(&y, &longs)?;
    assert_eq!(longs.as_slice::<i64>()?, [-4, -3, -2, -1, 0, 1, 2, 3].map(|i| (1i64 << 40) + i));
    let host = device::empty(&[8], DLDataType { code: 2, bits: 16, lanes: 1 }, CPU)?;
    copy(&z, &host)?;
    drop(halves);
    // SAFETY: the tensor has 8 elements of 16 bits.
    let bits = unsafe { core::slice::from_raw_parts(host.dl_tensor().data.cast::<u16>(), 8) };
    assert_eq!(bits, [0xc000, 0xbe00, 0xbc00, 0xb800, 0, 0x3800, 0x3c00, 0x3e00]);
    Ok(())
}

/// Returns the code with one operand replaced: that at `at`, in the first instruction of `opcode`
/// whose operands begin with `start`.
fn with_operand(code: &[u8], opcode: u32, start: &[u32], at: usize, value: u32) -> Vec<u8> {
    let mut words: Vec<u32> =
        code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut index = 5;
    while index < words.len() {
        let len = (words[index] >> 16) as usize;
        let operands = &mut words[index + 1..index + len];
        if words_match(opcode, start, code, index, operands) {
            operands[at] = value;
            return words.iter().flat_map(|word| word.to_le_bytes()).collect();
        }
        index += len;
    }
    panic!("no instruction {opcode} with {start:?}");
}

fn words_match(opcode: u32, start: &[u32], code: &[u8], index: usize, operands: &[u32]) -> bool {
    let first = u32::from_le_bytes(code.as_chunks().0[index]);
    first & 0xffff == opcode
        && operands.len() >= start.len()
        && operands.iter().zip(start).all(|(found, wanted)| *wanted == ANY || found == wanted)
}

/// Wildcard for an operand.
const ANY: u32 = u32::MAX;

#[test]
fn shaders_that_need_more_than_the_device_has_are_errors() -> Result<()> {
    const CAPABILITY: u32 = 17;
    const MODE: u32 = 16;
    ferrite_gpu::install();
    Vulkan.set_device(0)?;
    let x = on_device::<Vulkan>(&[1.0; 8])?;
    for (code, expected) in [
        (with_operand(VULKAN_ADD, CAPABILITY, &[1], 0, 2), "needs the SPIR-V capability 2"),
        ([&VULKAN_ADD[..4], &[0, 0, 9, 0], &VULKAN_ADD[8..]].concat(), "is SPIR-V 9.0, but"),
        (
            with_operand(VULKAN_ADD, MODE, &[ANY, 17], 2, 1 << 30),
            "has blocks of 1073741824 x 1 x 1 threads",
        ),
    ] {
        let kernel = function(&vulkan_module(&[HANDLE, HANDLE, I32], 0, &code)?, "k")?;
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(text.contains(expected), "{text}");
    }
    let mut many = vec![HANDLE, HANDLE];
    many.extend([HANDLE; 400]);
    many.push(I32);
    let kernel = function(&vulkan_module(&many, 0, VULKAN_ADD)?, "k")?;
    let mut args = vec![data(&x); 402];
    args.extend([Any::from(1i64), Any::from(1i64), Any::from(8i64)]);
    let result = kernel.call_packed(&args.iter().map(Any::view).collect::<Vec<_>>());
    if result.is_ok() {
        println!("the device binds 402 buffers: no error was seen");
    } else {
        let text = refused(result, "InternalError");
        assert!(text.contains("has 402 buffers, but"), "{text}");
    }
    let mut many = vec![HANDLE, HANDLE];
    many.extend([I32; 60]);
    let kernel = function(&vulkan_module(&many, 0, VULKAN_ADD)?, "k")?;
    let mut args = vec![data(&x), data(&x)];
    args.extend(vec![Any::from(1i64); 62]);
    let text = refused(
        kernel.call_packed(&args.iter().map(Any::view).collect::<Vec<_>>()),
        "InternalError",
    );
    assert!(text.contains("has 480 bytes of scalars, but"), "{text}");
    assert_eq!(message(&load_other_format()?), "Unknown Vulkan format spirv");
    Ok(())
}

fn load_other_format() -> Result<Error> {
    let mut payload = Writer::new();
    payload.text(b"spirv")?;
    payload.count(0)?;
    payload.count(0)?;
    Ok(load::<Vulkan>(payload.finish()?.as_bytes()).map(drop).expect_err("an unknown format"))
}

#[test]
fn copies_of_any_size_and_place() -> Result<()> {
    ferrite_gpu::install();
    Vulkan.set_device(0)?;
    // More bytes than the staging memory, and not a multiple of its size.
    let values: Vec<f32> = (0..1_234_567).map(|i| i as f32).collect();
    let x = on_device::<Vulkan>(&values)?;
    assert_eq!(values_of(&x)?, values);
    let shape = [values.len() as i64];
    let y = device::empty(&shape, F32, HERE)?;
    // SAFETY: both tensors are live.
    unsafe { device::copy_tensor(x.dl_tensor(), y.dl_tensor(), core::ptr::null_mut())? };
    assert_eq!(values_of(&y)?, values);
    // Overlapping ranges of one buffer.
    let region = |offset| device::Region { device: HERE, data: x.dl_tensor().data, offset };
    // SAFETY: the regions are within the tensor.
    unsafe { device::copy(region(0), region(4), 4_000_000, core::ptr::null_mut())? };
    assert_eq!(values_of(&x)?[1..1_000_001], values[..1_000_000]);
    // Beyond the buffer, which the driver would not notice.
    for offset in [4 * values.len() - 3, usize::MAX - 1] {
        // SAFETY: the copy is rejected.
        let outcome = unsafe { device::copy(region(offset), region(0), 4, core::ptr::null_mut()) };
        assert_eq!(outcome.unwrap_err().kind_bytes(), b"ValueError");
    }
    Ok(())
}

#[test]
fn launches_that_nobody_waits_for_are_submitted() -> Result<()> {
    let kernel = function(&Vulkan::load_add()?, "k")?;
    let (x, mut y) = (on_device::<Vulkan>(&[0.0; 64])?, on_device::<Vulkan>(&[0.0; 64])?);
    let mut x = x;
    for _ in 0..5000 {
        add(&kernel, &x, &y, 1, 8)?;
        std::mem::swap(&mut x, &mut y);
    }
    assert_eq!(values_of(&x)?, [5000.0; 64]);
    Ok(())
}

#[test]
fn events_wait_for_what_was_queued_before() -> Result<()> {
    let kernel = function(&Vulkan::load_add()?, "k")?;
    let (x, y) = (on_device::<Vulkan>(&[1.0; 64])?, on_device::<Vulkan>(&[0.0; 64])?);
    let event = Vulkan.create_event(0, false)?;
    let none = core::ptr::null_mut();
    // SAFETY: the event belongs to the device, and only this thread uses it; the stream is the
    // default one.
    unsafe {
        // An event without a record is complete.
        Vulkan.synchronize_event(0, event)?;
        add(&kernel, &x, &y, 1, 8)?;
        Vulkan.record_event(0, event, none)?;
        Vulkan.wait_for_event(0, event, none)?;
        Vulkan.synchronize_event(0, event)?;
        assert_eq!(values_of(&y)?, [2.0; 64]);
        assert!(Vulkan.elapsed(0, event, event)?.is_none());
        assert_eq!(
            Vulkan
                .record_event(0, event, (&raw const event).cast_mut().cast())
                .unwrap_err()
                .kind_bytes(),
            b"RuntimeError"
        );
        Vulkan.free_event(0, event);
    }
    Ok(())
}

#[test]
fn memory_is_freed_while_launches_use_it() -> Result<()> {
    let kernel = function(&Vulkan::load_add()?, "k")?;
    let mut x = on_device::<Vulkan>(&[0.0; 4096])?;
    for n in 0..1000 {
        let y = device::empty(&[4096 + n % 7], F32, HERE)?;
        add(&kernel, &x, &y, 1, 512)?;
        x = y;
    }
    assert_eq!(values_of(&x)?[..4096], [1000.0; 4096]);
    Ok(())
}

#[test]
fn small_tensors_share_allocations() -> Result<()> {
    ferrite_gpu::install();
    // Twice the number of allocations that some drivers support.
    let tensors: Vec<_> =
        (0..8192).map(|i| on_device::<Vulkan>(&[i as f32; 3])).collect::<Result<_>>()?;
    for (i, tensor) in tensors.iter().enumerate().step_by(97) {
        assert_eq!(values_of(tensor)?, [i as f32; 3]);
    }
    Ok(())
}

#[test]
fn buffers_above_the_limit_of_shaders_are_errors() -> Result<()> {
    let kernel = function(&Vulkan::load_add()?, "k")?;
    let most = property(HERE, "max_storage_buffer_range")?.get::<i64>()?;
    let y = on_device::<Vulkan>(&[0.0; 8])?;
    match device::empty(&[most / 4 + 1], F32, HERE) {
        Ok(x) => {
            let text = refused(add(&kernel, &x, &y, 1, 1), "ValueError");
            assert!(text.contains("storage buffers of at most"), "{text}");
        }
        // The device's size limit exceeds its memory.
        Err(error) => assert_eq!(error.kind_bytes(), b"MemoryError"),
    }
    Ok(())
}

#[test]
fn bad_arguments_are_errors() -> Result<()> {
    cases::bad_arguments::<Vulkan>(|kernel, x, y| {
        let call = |args: &[AnyView<'_>]| refused(kernel.call_packed(args), "ValueError");
        let one = AnyView::from(1i64);
        // Drivers would crash on these launches.
        let text = call(&[x.view(), y.view(), one, u32::MAX.into(), one]);
        assert!(text.starts_with("The grid has 4294967295 blocks along axis 0, but"), "{text}");
        assert_eq!(call(&[x.view(), AnyView::NONE, one, one, one]), "Kernel argument #1 is null");
        let mut other = [0u64; 16];
        // SAFETY: the function that gets the address finds there what it documents, or refuses it.
        let other = Any::from(unsafe { OpaquePtr::new((&raw mut other).cast()) });
        let text = call(&[other.view(), y.view(), one, one, one]);
        assert_eq!(text, "Kernel argument #0 is memory of another device");
    })
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let module = cases::module_of_the_kind::<Vulkan>()?;
    assert!(module.inspect_source(&String::new("")?)?.as_bytes().is_empty());
    assert!(module.inspect_source(&String::new("vulkan")?)?.as_bytes().is_empty());
    Ok(())
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    cases::attributes_of_the_kind::<Vulkan>()?;
    let get = |attribute| Vulkan.attribute(0, attribute);
    assert!(get(Attribute::TotalGlobalMemory)?.get::<i64>()? > 1 << 20);
    assert!(get(Attribute::ApiVersion)?.get::<i64>()? >= 1 << 22);
    assert!(get(Attribute::WarpSize)?.get::<i64>()? >= 1);
    assert!(get(Attribute::ComputeVersion)?.get::<String>()?.as_bytes().starts_with(b"1."));
    Ok(())
}

#[test]
fn a_target_is_described_by_the_properties_of_the_device() -> Result<()> {
    install();
    let get = |name: &str| property(HERE, name);
    // All properties that TVM's Python package queries.
    for name in [
        "supports_float16",
        "supports_int8",
        "supports_int16",
        "supports_int64",
        "supports_8bit_buffer",
        "supports_16bit_buffer",
        "supports_storage_buffer_storage_class",
    ] {
        get(name)?.get::<bool>()?;
    }
    assert!(get("supports_float32")?.get::<bool>()?);
    assert!(get("max_num_threads")?.get::<i64>()? >= 128);
    assert!(get("max_push_constants_size")?.get::<i64>()? >= 128);
    assert!(get("max_spirv_version")?.get::<i64>()? >= 0x1_0000);
    assert!(!get("device_name")?.get::<String>()?.as_bytes().is_empty());
    assert!(get("no_such_property")?.is_none());
    refused(property(CPU, "device_name"), "ValueError");
    refused(property(DLDevice { device_id: 77, ..HERE }, "device_name"), "InternalError");
    Ok(())
}
