//! The cases that kinds have in common. [`cases!`] makes tests of them.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{self, Attribute};
use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::DLDevice;
use ferrite_core::call::backend::{alloc_workspace, free_workspace};
use ferrite_core::error::Result;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::{Any, AnyView, Bytes, Function, String, Tensor};

use super::calls::*;
use super::kind::*;

/// A type of which no build has devices.
const NO_DEVICES: i64 = 14;

/// Defines tests that run cases of the same names for a kind.
macro_rules! cases {
    ($kind:ty: $($case:ident),* $(,)?) => {
        $(
            #[test]
            fn $case() -> ferrite_core::error::Result<()> {
                support::cases::$case::<$kind>()
            }
        )*
    };
}
pub(crate) use cases;

/// Returns the name of a kind in global functions.
fn name<K: Kind>() -> &'static str {
    K::KIND.to_str().expect("UTF-8")
}

pub fn kernels_are_launched<K: Kind>() -> Result<()> {
    let kernel = function(&K::load_add()?, "k")?;
    let x = on_device::<K>(&(0..64).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = on_device::<K>(&[0.0; 64])?;
    add(&kernel, &x, &y, 3, 8)?;
    assert_eq!(values_of(&y)?, (3..67).map(|i| i as f32).collect::<Vec<_>>());
    // A size of 0 counts as 1: one block.
    let z = on_device::<K>(&[0.0; 64])?;
    add(&kernel, &x, &z, 1, 0)?;
    let expected: Vec<_> = (0..64).map(|i| if i < 8 { i as f32 + 1.0 } else { 0.0 }).collect();
    assert_eq!(values_of(&z)?, expected);
    // Tensors are accepted as arguments, too.
    kernel.call_packed(&[(&x).into(), (&z).into(), 5i64.into(), 8i64.into(), 8i64.into()])?;
    assert_eq!(values_of(&z)?[63], 68.0);
    Ok(())
}

/// Checks arguments that every kind refuses. `refuse_more` gets the kernel and its buffers, for
/// those of one kind.
pub fn bad_arguments<K: Kind>(refuse_more: impl FnOnce(&Function, &Any, &Any)) -> Result<()> {
    let kernel = function(&K::load_add()?, "k")?;
    let (x, y) = (on_device::<K>(&[1.0; 8])?, on_device::<K>(&[2.0; 8])?);
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
    refuse_more(&kernel, &px, &py);
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

pub fn device_ids_that_do_not_exist_are_errors<K: Kind>() -> Result<()> {
    install();
    for id in [-1, 31, 32, i32::MAX, i32::MIN] {
        let error = K::BACKEND.set_device(id).expect_err("no such device");
        assert_eq!(message(&error), format!("Invalid {} device_id={id}. ", K::NAME));
        assert!(
            K::BACKEND.allocate(id, 8, 64).is_err()
                && alloc_workspace(K::DEVICE_TYPE, id, 8).is_err()
        );
        assert_eq!(K::BACKEND.attribute(id, Attribute::Exists)?.get::<i64>()?, 0);
        assert!(K::BACKEND.attribute(id, Attribute::DeviceName).is_err());
        assert!(device::empty(&[1], F32, DLDevice { device_id: id, ..K::HERE }).is_err());
        // SAFETY: null is the default stream of every device.
        assert!(unsafe { K::BACKEND.synchronize(id, ptr::null_mut()) }.is_err());
    }
    Ok(())
}

/// Checks what modules of every kind answer, and returns one.
pub fn module_of_the_kind<K: Kind>() -> Result<Module> {
    let module = load::<K>(K::FIXTURE)?;
    let empty = String::new("")?;
    assert_eq!((module.kind()?, module.property_mask()?), (K::KIND, 3));
    assert_eq!(module.save_to_bytes()?.as_bytes(), K::FIXTURE);
    assert!(module.write_formats()?.is_empty());
    let error = module.write_to_file(&empty, &empty).unwrap_err();
    assert_eq!(message(&error), format!("Module[{}] does not support WriteToFile", name::<K>()));
    assert!(module.get_function(&String::new("no_such_kernel")?, true)?.is_none());
    assert!(module.implements_function(&String::new("mlp_kernel_1")?, false)?);
    // The loader is also in the table that loads libraries.
    let loader = global(&format!("ffi.Module.load_from_bytes.{}", name::<K>()))?;
    let again = loader.call_packed(&[(&Bytes::new(K::FIXTURE)?).into()])?.get::<Module>()?;
    assert_eq!(again.save_to_bytes()?.as_bytes(), K::FIXTURE);
    for cut in [0, 8, 100, K::FIXTURE.len() - 1] {
        refused(loader.call_packed(&[(&Bytes::new(&K::FIXTURE[..cut])?).into()]), "InternalError");
    }
    refused(loader.call_packed(&[]), "TypeError");
    refused(loader.call_packed(&[1i64.into()]), "TypeError");
    Ok(module)
}

pub fn a_kernel_outlives_its_module_and_a_module_its_launches<K: Kind>() -> Result<()> {
    let kernel = function(&K::load_add()?, "k")?;
    let (x, y) = (on_device::<K>(&[1.0; 1 << 16])?, on_device::<K>(&[0.0; 1 << 16])?);
    for n in 0..50 {
        add(&kernel, &x, &y, n, 1 << 13)?;
    }
    drop(kernel);
    assert_eq!(values_of(&y)?, [50.0; 1 << 16]);
    // Memory may be freed while it is in use, too.
    let kernel = function(&K::load_add()?, "k")?;
    add(&kernel, &x, &y, 1, 1 << 13)?;
    drop((kernel, x, y));
    // SAFETY: null is the device's default stream.
    unsafe { K::BACKEND.synchronize(0, ptr::null_mut()) }
}

pub fn eight_threads_launch_the_kernels_of_one_module<K: Kind>() -> Result<()> {
    let module = K::load_add()?;
    let (shared, sum) = (on_device::<K>(&[3.0; 64])?, on_device::<K>(&[0.0; 64])?);
    std::thread::scope(|scope| {
        let (module, shared, sum) = (&module, &shared, &sum);
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                scope.spawn(move || -> Result<()> {
                    K::BACKEND.set_device(0)?;
                    let kernel = function(module, "k")?;
                    let (x, y) =
                        (on_device::<K>(&[thread as f32; 64])?, on_device::<K>(&[0.0; 64])?);
                    for n in 0..200 {
                        add(&kernel, &x, &y, n, 8)?;
                        // All threads use the same buffers and numbers.
                        add(&kernel, shared, sum, 4, 8)?;
                        if n % 20 == 0 {
                            assert_eq!(values_of(&y)?, [(thread as f32) + n as f32; 64]);
                            let workspace = alloc_workspace(K::DEVICE_TYPE, 0, 4096)?;
                            // SAFETY: the workspace was just allocated.
                            unsafe { free_workspace(K::DEVICE_TYPE, 0, workspace)? };
                        }
                    }
                    assert_eq!(values_of(&y)?, [(thread as f32) + 199.0; 64]);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(values_of(&sum)?, [7.0; 64]);
    Ok(())
}

pub fn workspaces_are_reused<K: Kind>() -> Result<()> {
    install();
    let kind = K::DEVICE_TYPE;
    let (first, second) = (alloc_workspace(kind, 0, 5000)?, alloc_workspace(kind, 0, 5000)?);
    assert_ne!(first, second);
    // SAFETY: each workspace is freed once; pointers that are not workspaces are rejected.
    unsafe {
        free_workspace(kind, 0, first)?;
        assert_eq!(alloc_workspace(kind, 0, 8192)?, first, "sizes are rounded up to 4096");
        free_workspace(kind, 0, first)?;
        free_workspace(kind, 0, second)?;
        assert!(free_workspace(kind, 0, second).is_err(), "a workspace is given back once");
        assert!(free_workspace(kind, 0, NonNull::<c_void>::dangling()).is_err());
    }
    assert_eq!(alloc_workspace(kind, 0, u64::MAX).unwrap_err().kind_bytes(), b"MemoryError");
    Ok(())
}

pub fn memory_that_the_device_lacks_is_a_memory_error<K: Kind>() -> Result<()> {
    install();
    refused(device::empty(&[1 << 46], F32, K::HERE), "MemoryError");
    Ok(())
}

/// Checks the attributes that devices of every kind have.
pub fn attributes_of_the_kind<K: Kind>() -> Result<()> {
    install();
    let get = |attribute| K::BACKEND.attribute(0, attribute);
    assert_eq!(get(Attribute::Exists)?.get::<i64>()?, 1);
    assert!(get(Attribute::MaxThreadsPerBlock)?.get::<i64>()? >= 64);
    assert!(get(Attribute::SharedMemoryPerBlock)?.get::<i64>()? > 0);
    let extents = get(Attribute::MaxThreadDimensions)?.get::<String>()?;
    assert!(extents.as_bytes().starts_with(b"[") && extents.as_bytes().ends_with(b"]"));
    assert!(!get(Attribute::DeviceName)?.get::<String>()?.as_bytes().is_empty());
    assert!(get(Attribute::GcnArch)?.is_none());
    println!("ran on {}", get(Attribute::DeviceName)?.get::<String>()?.as_str().unwrap_or("?"));
    Ok(())
}

pub fn devices_are_used_by_global_functions<K: Kind>() -> Result<()> {
    install();
    let kind = AnyView::from(i64::from(K::DEVICE_TYPE));
    let zero = AnyView::from(0i64);
    global("__tvm_set_device")?.call_packed(&[kind, zero])?;
    refused(global("__tvm_set_device")?.call_packed(&[kind, 77i64.into()]), "InternalError");
    refused(global("__tvm_set_device")?.call_packed(&[NO_DEVICES.into(), zero]), "InternalError");
    let device = AnyView::from(&K::HERE);
    assert_eq!(global("runtime.Device_StreamCreate")?.call_packed(&[device])?.get::<i64>()?, 0);
    global("runtime.Device_StreamSync")?.call_packed(&[device, zero])?;
    global("runtime.Device_SetStream")?.call_packed(&[device, zero])?;
    refused(
        global("runtime.Device_StreamSync")?.call_packed(&[device, 8i64.into()]),
        "RuntimeError",
    );
    let attribute = global("runtime.GetDeviceAttr")?;
    assert_eq!(attribute.call_packed(&[NO_DEVICES.into(), zero, zero])?.get::<i64>()?, 0);
    let (x, y) = (on_device::<K>(&[1.0, 2.0])?, on_device::<K>(&[0.0, 0.0])?);
    copy(&x, &y)?;
    assert_eq!(values_of(&y)?, [1.0, 2.0]);
    let mut bytes = [0f32; 2];
    // SAFETY: the function that gets the address finds there what it documents, or refuses it.
    let place = Any::from(unsafe { OpaquePtr::new((&raw mut bytes).cast()) });
    let read = global("runtime.TVMTensorCopyToBytes")?;
    refused(read.call_packed(&[(&x).into(), place.view(), 4i64.into()]), "ValueError");
    read.call_packed(&[(&x).into(), place.view(), 8i64.into()])?;
    assert_eq!(bytes, [1.0, 2.0]);
    // A runtime that registers these names receives the calls, except those for devices that it
    // lacks.
    let other = Function::from_typed(|_: i64, _: i64, _: i64| 42i64)?;
    Function::set_global("runtime.GetDeviceAttr", &other, false)?;
    let attribute = global("runtime.GetDeviceAttr")?;
    assert_eq!(attribute.call_packed(&[1i64.into(), zero, zero])?.get::<i64>()?, 42);
    assert_eq!(attribute.call_packed(&[kind, zero, zero])?.get::<i64>()?, 1);
    Function::set_global(&format!("device_api.{}", name::<K>()), &other, false)?;
    assert_eq!(attribute.call_packed(&[kind, zero, zero])?.get::<i64>()?, 42);
    assert!(Function::set_global("runtime.GetDeviceAttr", &other, false).is_err());
    Ok(())
}
