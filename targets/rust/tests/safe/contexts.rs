//! Machines of models, whose address builtins receive: a program keeps it, and passes it when the
//! machine is gone.
#![cfg(feature = "relax")]

use std::sync::{Arc, Mutex};

use ferrite::convert::OpaquePtr;
use ferrite::relax::executable::{Executable, Source};
use ferrite::relax::machine::{Closure, Context, Machine};
use ferrite::tensor::Element;
use ferrite::{Any, AnyView, Bytes, Function, Result, Shape, String};

/// Creates a machine whose executable has no functions.
fn machine() -> Result<Machine> {
    let mut bytes = 0xD225_DE2F_4214_151E_u64.to_le_bytes().to_vec();
    bytes.extend(4u64.to_le_bytes());
    bytes.extend(b"0.14");
    bytes.extend([0; 5 * 8]);
    Ok(Machine::new(Executable::load(Source::Bytes(Bytes::new(&bytes)?))?))
}

/// Returns the machine as a closure receives it.
fn address_of(machine: &Machine) -> Result<Any> {
    let kept = Arc::new(Mutex::new(Any::NONE));
    let keep = {
        let kept = kept.clone();
        Function::from_packed(move |args: &[AnyView<'_>]| {
            *kept.lock().expect("no panic") = args[0].to_owned()?;
            Ok(Any::NONE)
        })?
    };
    Closure::new(String::new("keep")?, keep)?.call(machine, &[])?;
    let kept = kept.lock().expect("no panic").clone();
    Ok(kept)
}

#[test]
fn builtins_refuse_a_machine_that_is_gone() -> Result<()> {
    let machine = Box::new(machine()?);
    let address = address_of(&machine)?;
    drop(machine);
    let shape = Shape::from_slice(&[4])?;
    let allocate = Function::global("vm.builtin.alloc_storage")?;
    let error =
        allocate.call::<Any>((&address, &shape, 0, f32::DTYPE, "global")).expect_err("it is gone");
    assert_eq!(error.kind().as_str(), "TypeError");
    let invoke = Function::global("vm.builtin.invoke_closure")?;
    let error = invoke.call::<Any>((&address, &invoke)).expect_err("it is gone");
    assert_eq!(error.kind().as_str(), "TypeError");
    Ok(())
}

#[test]
fn a_closure_uses_the_machine_that_calls_it() -> Result<()> {
    let machine = machine()?;
    let functions = |machine: OpaquePtr| {
        Context::with(machine.as_ptr(), |context| {
            Ok(context.machine().executable().functions().len() as i64)
        })
    };
    let closure = Closure::new(String::new("functions")?, Function::from_typed(functions)?)?;
    assert_eq!(closure.call(&machine, &[])?.get::<i64>()?, 0);
    // It is alive, but runs no call.
    let error = closure.function().call::<i64>((&address_of(&machine)?,)).expect_err("no call");
    assert_eq!(error.kind().as_str(), "TypeError");
    Ok(())
}
