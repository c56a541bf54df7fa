//! Tests Vulkan on the driver of this machine: hand-written kernels, bad input, and threads. `./ci.sh gpu-vulkan` prints what
//! to install.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::Writer;
use ferrite_gpu::vulkan::Vulkan;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 7, device_id: 0 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Module from TVM's compiler.
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/vulkan/module.bin");

fn load(bytes: &[u8]) -> Result<Module> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    Vulkan.set_device(0)?;
    DeviceModule::<Vulkan>::load(Bytes::new(bytes)?)
}

/// SPIR-V of kernels `k` that add a number to each element of `x`, in blocks of 8.
const ADD: &[u8] = include_bytes!("../../../tests/programs/device/vulkan/shaders/add.spv");
const ADD_UNIFORM: &[u8] = include_bytes!("../../../tests/programs/device/vulkan/shaders/add_uniform.spv");
/// SPIR-V of a kernel with numbers of 8, 16 and 64 bits.
const TYPES: &[u8] = include_bytes!("../../../tests/programs/device/vulkan/shaders/types.spv");

/// Loads a module with one kernel `k`, which has these parameters and is launched along x.
fn module_with(parameters: &[DLDataType], flags: u32, code: &[u8]) -> Result<Module> {
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(parameters.len())?;
    parameters.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(2)?;
    payload.text(b"blockIdx.x")?;
    payload.text(b"threadIdx.x")?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.shader(flags, code)?;
    load(payload.finish()?.as_bytes())
}

/// Loads a module with one kernel `k`, which has two buffers and a number, and is launched along x.
fn module_of(code: &[u8]) -> Result<Module> {
    module_with(&[HANDLE, HANDLE, I32], 0, code)
}

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

/// Returns a property by which TVM describes a target.
fn property(device: DLDevice, name: &str) -> Result<Any> {
    let ask = Function::find_global("device_api.vulkan.get_target_property")?.expect("a global function");
    ask.call_packed(&[(&device).into(), (&String::new(name)?).into()])
}

#[test]
fn kernels_are_launched() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
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
fn scalars_come_in_a_uniform_buffer_if_the_shader_says_so() -> Result<()> {
    let kernel = function(&module_with(&[HANDLE, HANDLE, I32], 1, ADD_UNIFORM)?, "k")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    // Each launch keeps its own scalars, although all are queued together, and more than a batch has staging memory for.
    let many: Vec<_> = (0..600).map(|_| on_device(&[0.0; 8])).collect::<Result<_>>()?;
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
    let kernel = function(&module_with(&[HANDLE, HANDLE, HANDLE, I64], 0, TYPES)?, "k")?;
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
    let (longs, halves) = (Tensor::from_slice(&[0i64; 8], &[8])?, Tensor::from_slice(&[0u16; 8], &[8])?);
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

/// Returns the code with one operand replaced: that at `at`, in the first instruction of `opcode` whose operands begin with
/// `start`.
fn with_operand(code: &[u8], opcode: u32, start: &[u32], at: usize, value: u32) -> Vec<u8> {
    let mut words: Vec<u32> = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
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
    let x = on_device(&[1.0; 8])?;
    for (code, expected) in [
        (with_operand(ADD, CAPABILITY, &[1], 0, 2), "needs the SPIR-V capability 2"),
        ([&ADD[..4], &[0, 0, 9, 0], &ADD[8..]].concat(), "is SPIR-V 9.0, but"),
        (with_operand(ADD, MODE, &[ANY, 17], 2, 1 << 30), "has blocks of 1073741824 x 1 x 1 threads"),
    ] {
        let kernel = function(&module_of(&code)?, "k")?;
        let text = refused(add(&kernel, &x, &x, 1, 1), "InternalError");
        assert!(text.contains(expected), "{text}");
    }
    let mut many = vec![HANDLE, HANDLE];
    many.extend([HANDLE; 400]);
    many.push(I32);
    let kernel = function(&module_with(&many, 0, ADD)?, "k")?;
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
    let kernel = function(&module_with(&many, 0, ADD)?, "k")?;
    let mut args = vec![data(&x), data(&x)];
    args.extend(vec![Any::from(1i64); 62]);
    let text = refused(kernel.call_packed(&args.iter().map(Any::view).collect::<Vec<_>>()), "InternalError");
    assert!(text.contains("has 480 bytes of scalars, but"), "{text}");
    assert_eq!(message(&load_other_format()?), "Unknown Vulkan format spirv");
    Ok(())
}

fn load_other_format() -> Result<Error> {
    let mut payload = Writer::new();
    payload.text(b"spirv")?;
    payload.count(0)?;
    payload.count(0)?;
    Ok(load(payload.finish()?.as_bytes()).map(drop).expect_err("an unknown format"))
}

#[test]
fn copies_of_any_size_and_place() -> Result<()> {
    ferrite_gpu::install();
    Vulkan.set_device(0)?;
    // More bytes than the staging memory, and not a multiple of its size.
    let values: Vec<f32> = (0..1_234_567).map(|i| i as f32).collect();
    let x = on_device(&values)?;
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
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, mut y) = (on_device(&[0.0; 64])?, on_device(&[0.0; 64])?);
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
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    let event = Vulkan.create_event(0, false)?;
    let none = core::ptr::null_mut();
    // SAFETY: the event belongs to the device, and only this thread uses it; the stream is the default one.
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
            Vulkan.record_event(0, event, (&raw const event).cast_mut().cast()).unwrap_err().kind_bytes(),
            b"RuntimeError"
        );
        Vulkan.free_event(0, event);
    }
    Ok(())
}

#[test]
fn memory_is_freed_while_launches_use_it() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let mut x = on_device(&[0.0; 4096])?;
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
    let tensors: Vec<_> = (0..8192).map(|i| on_device(&[i as f32; 3])).collect::<Result<_>>()?;
    for (i, tensor) in tensors.iter().enumerate().step_by(97) {
        assert_eq!(values_of(tensor)?, [i as f32; 3]);
    }
    Ok(())
}

#[test]
fn buffers_above_the_limit_of_shaders_are_errors() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let most = property(HERE, "max_storage_buffer_range")?.get::<i64>()?;
    let y = on_device(&[0.0; 8])?;
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
    let kernel = function(&module_of(ADD)?, "k")?;
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
    // Drivers would crash on these launches.
    let text = refused(call(&[px.view(), py.view(), one, u32::MAX.into(), one]), "ValueError");
    assert!(text.starts_with("The grid has 4294967295 blocks along axis 0, but"), "{text}");
    let text = refused(call(&[px.view(), AnyView::NONE, one, one, one]), "ValueError");
    assert_eq!(text, "Kernel argument #1 is null");
    let mut other = [0u64; 16];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let other = Any::from(unsafe { OpaquePtr::new((&raw mut other).cast()) });
    let text = refused(call(&[other.view(), py.view(), one, one, one]), "ValueError");
    assert_eq!(text, "Kernel argument #0 is memory of another device");
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
        let error = Vulkan.set_device(id).expect_err("no such device");
        assert_eq!(message(&error), format!("Invalid Vulkan device_id={id}. "));
        assert!(Vulkan.allocate(id, 8, 64).is_err() && alloc_workspace(7, id, 8).is_err());
        assert_eq!(Vulkan.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        assert!(Vulkan.attribute(id, Attribute::DeviceName).is_err());
        assert!(device::empty(&[1], F32, DLDevice { device_id: id, ..HERE }).is_err());
        // SAFETY: null is the default stream of every device.
        assert!(unsafe { Vulkan.synchronize(id, core::ptr::null_mut()) }.is_err());
    }
    Ok(())
}

#[test]
fn modules_are_what_they_should_be() -> Result<()> {
    let module = load(FIXTURE)?;
    let empty = String::new("")?;
    assert_eq!((module.kind()?, module.property_mask()?), (c"vulkan", 3));
    assert_eq!(module.save_to_bytes()?.as_bytes(), FIXTURE);
    assert!(module.inspect_source(&empty)?.as_bytes().is_empty());
    assert!(module.inspect_source(&String::new("vulkan")?)?.as_bytes().is_empty());
    assert!(module.write_formats()?.is_empty());
    let error = module.write_to_file(&empty, &empty).unwrap_err();
    assert_eq!(message(&error), "Module[vulkan] does not support WriteToFile");
    assert!(module.get_function(&String::new("no_such_kernel")?, true)?.is_none());
    assert!(module.implements_function(&String::new("mlp_kernel_1")?, false)?);
    // The loader is also in the table that loads libraries.
    let loader = Function::find_global("ffi.Module.load_from_bytes.vulkan")?.expect("a loader");
    let again = loader.call_packed(&[(&Bytes::new(FIXTURE)?).into()])?.get::<Module>()?;
    assert_eq!(again.save_to_bytes()?.as_bytes(), FIXTURE);
    refused(loader.call_packed(&[(&Bytes::new(&FIXTURE[..100])?).into()]), "InternalError");
    refused(loader.call_packed(&[]), "TypeError");
    refused(loader.call_packed(&[1i64.into()]), "TypeError");
    Ok(())
}

#[test]
fn a_kernel_outlives_its_module_and_a_module_its_launches() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 1 << 16])?, on_device(&[0.0; 1 << 16])?);
    for n in 0..50 {
        add(&kernel, &x, &y, n, 1 << 13)?;
    }
    drop(kernel);
    assert_eq!(values_of(&y)?, [50.0; 1 << 16]);
    // Memory may be freed while it is in use, too.
    let kernel = function(&module_of(ADD)?, "k")?;
    add(&kernel, &x, &y, 1, 1 << 13)?;
    drop((kernel, x, y));
    // SAFETY: null is the device's default stream.
    unsafe { Vulkan.synchronize(0, core::ptr::null_mut()) }
}

#[test]
fn eight_threads_launch_the_kernels_of_one_module() -> Result<()> {
    let module = module_of(ADD)?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let module = module.clone();
                scope.spawn(move || -> Result<()> {
                    Vulkan.set_device(0)?;
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
fn workspaces_are_reused() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let first = alloc_workspace(7, 0, 5000)?;
    let second = alloc_workspace(7, 0, 5000)?;
    assert_ne!(first, second);
    // SAFETY: each workspace is freed once; pointers that are no workspaces are rejected.
    unsafe {
        free_workspace(7, 0, first)?;
        assert_eq!(alloc_workspace(7, 0, 8192)?, first, "sizes are rounded up to 4096");
        free_workspace(7, 0, first)?;
        free_workspace(7, 0, second)?;
        assert!(free_workspace(7, 0, second).is_err(), "a workspace is given back once");
        let other = core::ptr::NonNull::<c_void>::dangling();
        assert!(free_workspace(7, 0, other).is_err());
    }
    assert_eq!(alloc_workspace(7, 0, u64::MAX).unwrap_err().kind_bytes(), b"MemoryError");
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
    let get = |attribute| Vulkan.attribute(0, attribute);
    assert_eq!(get(Attribute::Exists)?.get::<i64>()?, 1);
    assert!(get(Attribute::MaxThreadsPerBlock)?.get::<i64>()? >= 64);
    assert!(get(Attribute::TotalGlobalMemory)?.get::<i64>()? > 1 << 20);
    assert!(get(Attribute::SharedMemoryPerBlock)?.get::<i64>()? > 0);
    assert!(get(Attribute::ApiVersion)?.get::<i64>()? >= 1 << 22);
    assert!(get(Attribute::WarpSize)?.get::<i64>()? >= 1);
    assert!(get(Attribute::ComputeVersion)?.get::<String>()?.as_bytes().starts_with(b"1."));
    let extents = get(Attribute::MaxThreadDimensions)?.get::<String>()?;
    assert!(extents.as_bytes().starts_with(b"[") && extents.as_bytes().ends_with(b"]"));
    assert!(!get(Attribute::DeviceName)?.get::<String>()?.as_bytes().is_empty());
    assert!(get(Attribute::GcnArch)?.is_none());
    println!("ran on {}", get(Attribute::DeviceName)?.get::<String>()?.as_str().unwrap_or("?"));
    Ok(())
}

#[test]
fn a_target_is_described_by_the_properties_of_the_device() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
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

#[test]
fn devices_are_used_by_global_functions() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let global = |name: &str| Ok::<_, Error>(Function::find_global(name)?.expect("a global function"));
    global("__tvm_set_device")?.call_packed(&[7i64.into(), 0i64.into()])?;
    refused(global("__tvm_set_device")?.call_packed(&[7i64.into(), 77i64.into()]), "InternalError");
    refused(global("__tvm_set_device")?.call_packed(&[14i64.into(), 0i64.into()]), "InternalError");
    let device = AnyView::from(&HERE);
    assert_eq!(global("runtime.Device_StreamCreate")?.call_packed(&[device])?.get::<i64>()?, 0);
    global("runtime.Device_StreamSync")?.call_packed(&[device, 0i64.into()])?;
    global("runtime.Device_SetStream")?.call_packed(&[device, 0i64.into()])?;
    refused(global("runtime.Device_StreamSync")?.call_packed(&[device, 8i64.into()]), "RuntimeError");
    let attribute = global("runtime.GetDeviceAttr")?;
    assert_eq!(attribute.call_packed(&[14i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 0);
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
    assert_eq!(attribute.call_packed(&[7i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 1);
    Function::set_global("device_api.vulkan", &other, false)?;
    assert_eq!(attribute.call_packed(&[7i64.into(), 0i64.into(), 0i64.into()])?.get::<i64>()?, 42);
    assert!(Function::set_global("runtime.GetDeviceAttr", &other, false).is_err());
    Ok(())
}
