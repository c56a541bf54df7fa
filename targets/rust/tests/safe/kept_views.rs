//! DLTensor pointers: a caller in C passes one for the duration of a call, and nothing keeps it
//! longer.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use ferrite::tensor::TensorView;
use ferrite::{Any, AnyView, Dict, ErrorKind, Function, List, Module, Result, Shape, type_table};

/// Returns the module of the C code.
fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libsafe_kept_views.so");
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
        compiler
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-I"])
            .arg(package.join("../../include"));
        compiler.arg(package.join("tests/safe/kept_views.c")).arg("-o").arg(&library);
        let status = compiler.status().expect("a C compiler");
        assert!(status.success(), "{compiler:?}");
        Module::load(&library).expect("the library loads")
    })
}

/// Calls a function with a DLTensor pointer, which is freed after the call.
fn call(function: &Function) -> Result<Any> {
    module().get("call_with_pointer")?.call((function,))
}

/// Calls a packed function with a DLTensor pointer.
fn with_pointer(body: impl Fn(AnyView<'_>) -> Result<Any> + Send + Sync + 'static) -> Result<Any> {
    call(&Function::from_packed(move |args: &[AnyView<'_>]| body(args[0]))?)
}

/// Asserts that a call was refused because of the pointer.
fn refused<T>(outcome: Result<T>) {
    let error = outcome.map(drop).expect_err("nothing keeps the pointer");
    assert_eq!(error.kind(), ErrorKind::TypeError, "{error}");
    let message = error.to_string();
    assert!(message.contains("use a Tensor, or take an AnyView or TensorView"), "{message}");
}

#[test]
fn the_call_itself_reads_the_tensor() -> Result<()> {
    let sum = Function::from_typed(|x: TensorView<'_>| -> Result<f64> {
        Ok(x.as_slice::<f32>()?.iter().map(|x| f64::from(*x)).sum())
    })?;
    let inner = sum.clone();
    assert_eq!(call(&sum)?.get::<f64>()?, 0.0);
    // A function passes it on.
    assert_eq!(with_pointer(move |x| inner.call_packed(&[x]))?.get::<f64>()?, 0.0);
    Ok(())
}

#[test]
fn views_do_not_become_owned() {
    static KEPT: Mutex<Any> = Mutex::new(Any::NONE);
    refused(with_pointer(|x| x.to_owned()));
    refused(with_pointer(|x| x.get::<Any>()));
    refused(with_pointer(|x| x.try_get::<Any>().map(|found| found.unwrap_or_default())));
    refused(with_pointer(|x| x.get::<Option<Any>>().map(|found| found.unwrap_or_default())));
    with_pointer(|x| {
        assert!(x.retain().is_none() && !x.has_owned_form());
        Ok(Any::NONE)
    })
    .expect("the fast path declines");
    let keep = |x: Any| *KEPT.lock().expect("no panic") = x;
    refused(Function::from_typed(keep).and_then(|keep| call(&keep)));
    let optional = |x: Option<Any>| *KEPT.lock().expect("no panic") = x.unwrap_or_default();
    refused(Function::from_typed(optional).and_then(|keep| call(&keep)));
    assert!(KEPT.lock().expect("no panic").is_none());
}

#[test]
fn containers_refuse_them() {
    use ferrite::containers::{ArrayObject, ListObject};
    refused(with_pointer(|x| ArrayObject::from_views(&[AnyView::from(1), x]).map(Any::from)));
    refused(with_pointer(|x| ListObject::from_views(&[x]).map(Any::from)));
}

#[test]
fn functions_of_the_library_refuse_them() -> Result<()> {
    for name in ["ffi.Array", "ffi.List"] {
        let function = Function::global(name)?;
        refused(with_pointer(move |x| function.call_packed(&[x])));
    }
    for name in ["ffi.Map", "ffi.Dict"] {
        let (of_value, of_key) = (Function::global(name)?, Function::global(name)?);
        refused(with_pointer(move |x| of_value.call_packed(&[AnyView::from(1), x])));
        refused(with_pointer(move |x| of_key.call_packed(&[x, AnyView::from(1)])));
        // As many as are built in bulk.
        let many = Function::global(name)?;
        refused(with_pointer(move |x| {
            let mut pairs = Vec::new();
            (0..20i64).for_each(|key| pairs.extend([AnyView::from(key), AnyView::from(key)]));
            pairs[31] = x;
            many.call_packed(&pairs)
        }));
    }
    let (list, dict) = (List::<Any>::new()?, Dict::<i64, Any>::new()?);
    list.push(Any::from(0))?;
    for (name, before) in [("Append", 0), ("Insert", 1), ("SetItem", 1)] {
        let function = Function::global(&format!("ffi.List{name}"))?;
        let list = list.clone();
        refused(with_pointer(move |x| {
            let all = [AnyView::from(&list), AnyView::from(0), x];
            if before == 0 {
                function.call_packed(&[all[0], x])
            } else {
                function.call_packed(&all)
            }
        }));
    }
    let (set, held) = (Function::global("ffi.DictSetItem")?, dict.clone());
    refused(with_pointer(move |x| set.call_packed(&[(&held).into(), AnyView::from(1), x])));
    assert_eq!((list.len(), dict.len()), (1, 0));
    Ok(())
}

#[test]
fn foreign_functions_do_not_return_them() -> Result<()> {
    let function = module().get("as_it_is")?;
    let shape = Shape::from_slice(&[1])?;
    assert_eq!(function.call::<Shape>((&shape,))?.as_slice(), [1]);
    let typed = function.clone();
    refused(with_pointer(move |x| function.call_packed(&[x])));
    refused(with_pointer(move |x| typed.call::<Any>((x,))));
    // A C caller gets what it passed.
    refused(call(&module().get("as_it_is")?));
    Ok(())
}

#[test]
fn attributes_refuse_them() -> Result<()> {
    let index = Any::from(Shape::from_slice(&[1])?).type_index();
    refused(with_pointer(move |x| {
        type_table::register_attr(index, b"__safe_kept_view__", x).map(|()| Any::NONE)
    }));
    Ok(())
}
