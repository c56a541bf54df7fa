//! Tests WebGPU on the Vulkan driver of this machine: hand-written kernels, bad input, and threads. `./ci.sh gpu-webgpu` prints
//! what to install.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::{Error, Result};
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};
use ferrite_gpu::module::DeviceModule;
use ferrite_gpu::payload::Writer;
use ferrite_gpu::webgpu::WebGpu;

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };
const I64: DLDataType = DLDataType { code: 0, bits: 64, lanes: 1 };
const U8: DLDataType = DLDataType { code: 1, bits: 8, lanes: 1 };
const HERE: DLDevice = DLDevice { device_type: 15, device_id: 0 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Module from TVM's compiler.
const FIXTURE: &[u8] = include_bytes!("../../../tests/programs/device/webgpu/module.bin");

fn install() {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
}

fn load(bytes: &[u8]) -> Result<Module> {
    install();
    WebGpu.set_device(0)?;
    DeviceModule::<WebGpu>::load(Bytes::new(bytes)?)
}

/// Loads a module with one kernel `k`, launched along x.
fn module_with(types: &[DLDataType], tags: &[&str], code: &[u8]) -> Result<Module> {
    let mut payload = Writer::new();
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(types.len())?;
    types.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(2 + tags.len())?;
    ["blockIdx.x", "threadIdx.x"].iter().chain(tags).try_for_each(|tag| payload.text(tag.as_bytes()))?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.text(code)?;
    load(payload.finish()?.as_bytes())
}

/// Loads a module with one kernel, which reads a buffer, writes another, and has a number.
fn module_of(code: &str) -> Result<Module> {
    module_with(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,1]"], code.as_bytes())
}

/// Source in TVM's form: `y[i] = x[i] + n`, in blocks of 8.
const ADD: &str = "
@group(0) @binding(0) var<storage, read> x : array<f32>;
@group(0) @binding(1) var<storage, read_write> y : array<f32>;
struct Scalars { n: i32, blocks: u32 }
@group(0) @binding(2) var<uniform> scalars : Scalars;
@compute @workgroup_size(8, 1, 1)
fn k(@builtin(workgroup_id) block : vec3<u32>, @builtin(num_workgroups) grid : vec3<u32>,
    @builtin(local_invocation_id) thread : vec3<u32>) {
  let b = block.z * grid.x + block.x;
  if (b >= scalars.blocks) { return; }
  y[b * 8u + thread.x] = x[b * 8u + thread.x] + f32(scalars.n);
}
";

fn function(module: &Module, name: &str) -> Result<Function> {
    Ok(module.get_function(&String::new(name)?, false)?.expect("the module has the function"))
}

fn message(error: &Error) -> std::string::String {
    std::string::String::from_utf8_lossy(error.message_bytes()).into_owned()
}

fn refused<T>(result: Result<T>, kind: &str) -> std::string::String {
    let error = result.map(drop).expect_err("an error");
    assert_eq!(std::str::from_utf8(error.kind_bytes()), Ok(kind), "{}", message(&error));
    message(&error)
}

fn on_device(values: &[f32]) -> Result<Tensor> {
    install();
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

fn number(value: usize) -> Any {
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    Any::from(unsafe { OpaquePtr::new(core::ptr::without_provenance_mut(value)) })
}

fn add(kernel: &Function, x: &Tensor, y: &Tensor, n: i64, blocks: i64) -> Result<Any> {
    kernel.call_packed(&[data(x).view(), data(y).view(), n.into(), blocks.into(), 8i64.into()])
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
fn launches_see_the_arguments_of_their_own() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    // Each launch reads the output of the previous one: with other numbers, with alternating buffers, and with both.
    let tensors: Vec<_> = (0..40).map(|_| on_device(&[0.0; 8])).collect::<Result<_>>()?;
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
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    for blocks in [1, 8] {
        add(&kernel, &x, &y, 1, blocks)?;
    }
    assert_eq!(values_of(&y)?, [2.0; 64]);
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
fn numbers_of_no_buffer_are_errors() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 8])?, on_device(&[2.0; 8])?);
    let one = AnyView::from(1i64);
    let launch = |from: &Any| kernel.call_packed(&[from.view(), data(&y).view(), one, one, one]);
    for bad in [usize::MAX, 1 << 20, 0xdead_beef_0000_0001, core::ptr::from_ref(&x).addr()] {
        let text = refused(launch(&number(bad)), "ValueError");
        assert_eq!(text, format!("There is no WebGPU buffer of the number {bad}"));
    }
    let text = refused(launch(&Any::NONE), "ValueError");
    assert_eq!(text, "Kernel argument #0 is null, not a WebGPU buffer");
    // The number of a freed buffer is invalid, even if the buffer was bound before; its slot gets another number.
    let gone = data(&x);
    launch(&gone)?;
    drop(x);
    let next = on_device(&[5.0; 8])?;
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
            refused(WebGpu.copy(region(bad, HERE), main, bytes, core::ptr::null_mut()), "ValueError");
            refused(WebGpu.copy(main, region(bad, HERE), bytes, core::ptr::null_mut()), "ValueError");
        }
    }
    Ok(())
}

#[test]
fn a_buffer_that_a_kernel_writes_cannot_come_twice() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let x = on_device(&[1.0; 8])?;
    let text = refused(add(&kernel, &x, &x, 1, 1), "ValueError");
    assert_eq!(text, "Kernel arguments #0 and #1 are the same WebGPU buffer, and the kernel writes it");
    // A buffer that is only read may be passed twice.
    let code = ADD
        .replace("+ f32(scalars.n)", "+ z[0]")
        .replace("struct", "@group(0) @binding(2) var<storage, read> z : array<f32>;\nstruct");
    let code = code.replace("binding(2) var<uniform>", "binding(3) var<uniform>").replace("n: i32, ", "");
    let module = module_with(&[HANDLE; 3], &["paramWriteAccess:[0,1,0]"], code.as_bytes())?;
    let y = on_device(&[0.0; 8])?;
    let one = AnyView::from(1i64);
    function(&module, "k")?.call_packed(&[(&x).into(), (&y).into(), (&x).into(), one, one])?;
    assert_eq!(values_of(&y)?, [2.0; 8]);
    Ok(())
}

#[test]
fn scalars_of_64_bits_must_fit_32() -> Result<()> {
    let module = module_with(&[HANDLE, HANDLE, I64], &["paramWriteAccess:[0,1]"], ADD.as_bytes())?;
    let kernel = function(&module, "k")?;
    let (x, y) = (on_device(&[1.0; 8])?, on_device(&[0.0; 8])?);
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
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 8 * BLOCKS as usize])?, on_device(&[0.0; 8 * BLOCKS as usize])?);
    add(&kernel, &x, &y, 1, BLOCKS)?;
    assert_eq!(values_of(&y)?, vec![2.0; 8 * BLOCKS as usize]);
    let text = refused(add(&kernel, &x, &y, 1, i64::from(u32::MAX)), "ValueError");
    assert!(text.starts_with("A grid of WebGPU cannot have"), "{text}");
    Ok(())
}

#[test]
fn device_ids_that_do_not_exist_are_errors() -> Result<()> {
    install();
    for id in [-1, 31, 32, i32::MAX, i32::MIN] {
        let error = WebGpu.set_device(id).expect_err("no such device");
        assert_eq!(message(&error), format!("Invalid WebGPU device_id={id}. "));
        assert!(WebGpu.allocate(id, 8, 64).is_err() && alloc_workspace(15, id, 8).is_err());
        assert_eq!(WebGpu.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        assert!(WebGpu.attribute(id, Attribute::DeviceName).is_err());
        assert!(device::empty(&[1], F32, DLDevice { device_id: id, ..HERE }).is_err());
        // SAFETY: null is the default stream of every device.
        assert!(unsafe { WebGpu.synchronize(id, core::ptr::null_mut()) }.is_err());
    }
    Ok(())
}

#[test]
fn shaders_that_do_not_compile_are_errors_with_the_compilers_text() -> Result<()> {
    let x = on_device(&[1.0; 8])?;
    let y = on_device(&[2.0; 8])?;
    let text_of = |code: &[u8]| -> Result<std::string::String> {
        let module = module_with(&[HANDLE, HANDLE, I32], &["paramWriteAccess:[0,1]"], code)?;
        let kernel = function(&module, "k")?;
        // A failure leaves no state behind: the second launch reports the same error.
        let first = refused(add(&kernel, &x, &y, 1, 1), "InternalError");
        assert_eq!(refused(add(&kernel, &x, &y, 1, 1), "InternalError"), first);
        assert!(first.starts_with("WebGPU build error for device="), "{first}");
        assert!(first.contains("kernel k"), "{first}");
        Ok(first)
    };
    let undeclared = text_of(ADD.replace("f32(scalars.n)", "undeclared").as_bytes())?;
    assert!(undeclared.contains("undeclared") && undeclared.contains("wgsl:11:49"), "{undeclared}");
    assert!(text_of(b"nonsense")?.contains("expected"));
    assert!(text_of(b"")?.contains("entry point"), "no entry point");
    assert!(text_of(b"\xff\xfe")?.contains("not UTF-8"));
    assert!(text_of(ADD.replace("fn k(", "fn other(").as_bytes())?.contains("entry point"));
    // A kernel that writes a buffer that its tag declares as read, and one with other bindings.
    let writes = ADD.replace("storage, read>", "storage, read_write>");
    assert!(text_of(writes.as_bytes())?.contains("binding"));
    assert!(text_of(ADD.replace("binding(1)", "binding(7)").as_bytes())?.contains("binding"));
    // A type error, and a block that no device supports.
    assert!(text_of(ADD.replace("f32(scalars.n)", "scalars.n").as_bytes())?.contains("Add"));
    let huge = ADD.replace("workgroup_size(8, 1, 1)", "workgroup_size(1000000, 1, 1)");
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
    let module = module_with(&[HANDLE; 500], &[&access], ADD.as_bytes())?;
    let x = on_device(&[1.0; 8])?;
    let mut arguments = vec![data(&x); 500];
    arguments.extend([1i64.into(), 1i64.into()]);
    let views: Vec<_> = arguments.iter().map(Any::view).collect();
    let text = refused(function(&module, "k")?.call_packed(&views), "InternalError");
    // A device that binds 500 buffers refuses that the shader writes a buffer that is declared as read.
    assert!(text.starts_with("WebGPU build error"), "{text}");
    assert!(text.contains("limit") || text.contains("is not available in the pipeline layout"), "{text}");
    // Kernels with more parameters than any driver supports are rejected before the driver sees them.
    let access = format!("paramWriteAccess:[{}0]", "0,".repeat(count - 1));
    let module = module_with(&vec![HANDLE; count], &[&access], ADD.as_bytes())?;
    refused(module.get_function(&String::new("k")?, false), "InternalError");
    Ok(())
}

#[test]
fn payloads_whose_write_access_lies_are_errors() -> Result<()> {
    let refuse = |types: &[DLDataType], tags: &[&str]| {
        let text = refused(module_with(types, tags, ADD.as_bytes()), "InternalError");
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
    let module = load(FIXTURE)?;
    let empty = String::new("")?;
    assert_eq!((module.kind()?, module.property_mask()?), (c"webgpu", 3));
    assert_eq!(module.save_to_bytes()?.as_bytes(), FIXTURE);
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
    assert!(module.write_formats()?.is_empty());
    let error = module.write_to_file(&empty, &empty).unwrap_err();
    assert_eq!(message(&error), "Module[webgpu] does not support WriteToFile");
    assert!(module.get_function(&String::new("no_such_kernel")?, true)?.is_none());
    assert!(module.implements_function(&String::new("mlp_kernel_1")?, false)?);
    // The loader is also in the table that loads libraries.
    let loader = Function::find_global("ffi.Module.load_from_bytes.webgpu")?.expect("a loader");
    let again = loader.call_packed(&[(&Bytes::new(FIXTURE)?).into()])?.get::<Module>()?;
    assert_eq!(again.save_to_bytes()?.as_bytes(), FIXTURE);
    for cut in [0, 8, 100, FIXTURE.len() - 1] {
        refused(loader.call_packed(&[(&Bytes::new(&FIXTURE[..cut])?).into()]), "InternalError");
    }
    refused(loader.call_packed(&[]), "TypeError");
    refused(loader.call_packed(&[1i64.into()]), "TypeError");
    assert!(Function::find_global("ffi.Module.create.webgpu")?.is_some());
    Ok(())
}

#[test]
fn functions_take_the_place_of_kernels() -> Result<()> {
    let module = load(FIXTURE)?;
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
    unsafe { WebGpu.synchronize(0, core::ptr::null_mut()) }
}

#[test]
fn eight_threads_launch_the_kernels_of_one_module() -> Result<()> {
    let module = module_of(ADD)?;
    let (shared, sum) = (on_device(&[3.0; 64])?, on_device(&[0.0; 64])?);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (module, shared, sum) = (module.clone(), shared.clone(), sum.clone());
                scope.spawn(move || -> Result<()> {
                    WebGpu.set_device(0)?;
                    let kernel = function(&module, "k")?;
                    let (x, y) = (on_device(&[thread as f32; 64])?, on_device(&[0.0; 64])?);
                    for n in 0..100 {
                        add(&kernel, &x, &y, n, 8)?;
                        // All threads use the same buffers and numbers.
                        add(&kernel, &shared, &sum, 4, 8)?;
                        if n % 20 == 0 {
                            assert_eq!(values_of(&y)?, [(thread as f32) + n as f32; 64]);
                            let workspace = alloc_workspace(15, 0, 4096)?;
                            // SAFETY: the workspace was just allocated.
                            unsafe { free_workspace(15, 0, workspace)? };
                        }
                    }
                    assert_eq!(values_of(&y)?, [(thread as f32) + 99.0; 64]);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(values_of(&sum)?, [7.0; 64]);
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
    assert_eq!(values_of(&on_device(&values)?)?, values);
    Ok(())
}

#[test]
fn workspaces_are_reused() -> Result<()> {
    install();
    let first = alloc_workspace(15, 0, 5000)?;
    let second = alloc_workspace(15, 0, 5000)?;
    assert_ne!(first, second);
    // SAFETY: each workspace is freed once; pointers that are no workspaces are rejected.
    unsafe {
        free_workspace(15, 0, first)?;
        assert_eq!(alloc_workspace(15, 0, 8192)?, first, "sizes are rounded up to 4096");
        free_workspace(15, 0, first)?;
        free_workspace(15, 0, second)?;
        assert!(free_workspace(15, 0, second).is_err(), "a workspace is given back once");
        let other = core::ptr::NonNull::<c_void>::dangling();
        assert!(free_workspace(15, 0, other).is_err());
    }
    assert_eq!(alloc_workspace(15, 0, u64::MAX).unwrap_err().kind_bytes(), b"MemoryError");
    Ok(())
}

#[test]
fn memory_that_the_device_lacks_is_a_memory_error() {
    install();
    let error = device::empty(&[1 << 46], F32, HERE).map(drop).unwrap_err();
    assert_eq!(error.kind_bytes(), b"MemoryError", "{}", message(&error));
}

#[test]
fn attributes_are_those_of_the_device() -> Result<()> {
    install();
    let get = |attribute| WebGpu.attribute(0, attribute);
    assert_eq!(get(Attribute::Exists)?.get::<i64>()?, 1);
    assert!(get(Attribute::MaxThreadsPerBlock)?.get::<i64>()? >= 256);
    assert!(get(Attribute::SharedMemoryPerBlock)?.get::<i64>()? >= 16384);
    assert!(get(Attribute::WarpSize)?.get::<i64>()? >= 1);
    let extents = get(Attribute::MaxThreadDimensions)?.get::<String>()?;
    assert!(extents.as_bytes().starts_with(b"[") && extents.as_bytes().ends_with(b"]"));
    assert!(!get(Attribute::DeviceName)?.get::<String>()?.as_bytes().is_empty());
    for none in [Attribute::GcnArch, Attribute::TotalGlobalMemory, Attribute::MaxClockRate] {
        assert!(get(none)?.is_none());
    }
    println!("ran on {}", get(Attribute::DeviceName)?.get::<String>()?.as_str().unwrap_or("?"));
    Ok(())
}

#[test]
fn events_are_over_when_what_was_queued_before_them_is() -> Result<()> {
    let kernel = function(&module_of(ADD)?, "k")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
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
        refused(WebGpu.record_event(0, event, core::ptr::without_provenance_mut(8)), "RuntimeError");
        assert!(WebGpu.elapsed(0, event, event)?.is_none());
        WebGpu.free_event(0, event);
    }
    assert!(WebGpu.create_event(99, false).is_err());
    assert_eq!(values_of(&y)?, [2.0; 64]);
    Ok(())
}

#[test]
fn devices_are_used_by_global_functions() -> Result<()> {
    install();
    let global = |name: &str| Ok::<_, Error>(Function::find_global(name)?.expect("a global function"));
    global("__tvm_set_device")?.call_packed(&[15i64.into(), 0i64.into()])?;
    refused(global("__tvm_set_device")?.call_packed(&[15i64.into(), 77i64.into()]), "InternalError");
    let device = AnyView::from(&HERE);
    assert_eq!(global("runtime.Device_StreamCreate")?.call_packed(&[device])?.get::<i64>()?, 0);
    global("runtime.Device_StreamSync")?.call_packed(&[device, 0i64.into()])?;
    global("runtime.Device_SetStream")?.call_packed(&[device, 0i64.into()])?;
    refused(global("runtime.Device_StreamSync")?.call_packed(&[device, 8i64.into()]), "RuntimeError");
    let (x, y) = (on_device(&[1.0, 2.0])?, on_device(&[0.0, 0.0])?);
    global("runtime.TVMTensorCopyFromTo")?.call_packed(&[(&x).into(), (&y).into()])?;
    assert_eq!(values_of(&y)?, [1.0, 2.0]);
    let mut bytes = [0f32; 2];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new((&raw mut bytes).cast()) });
    global("runtime.TVMTensorCopyToBytes")?.call_packed(&[(&x).into(), place.view(), 8i64.into()])?;
    assert_eq!(bytes, [1.0, 2.0]);
    Ok(())
}
