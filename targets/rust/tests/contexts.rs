//! Pointers that builtins of models take for a machine.
#![cfg(feature = "relax")]
#![allow(missing_docs, reason = "each test's name says it")]
#![allow(clippy::expect_used, reason = "helpers of tests")]

use std::ffi::c_void;
use std::ptr::{self, without_provenance_mut};

use ferrite::convert::OpaquePtr;
use ferrite::relax::machine::{Closure, Context};
use ferrite::tensor::Element;
use ferrite::{Function, Result, Shape, String};

/// Returns addresses at which there is no machine: one is not mapped, the other one is in a number
/// of this program.
fn no_machines(number: &mut u64) -> [OpaquePtr; 2] {
    // SAFETY: builtins compare the addresses with those of machines, and do not follow them.
    [without_provenance_mut(64), ptr::from_mut(number).cast()]
        .map(|address| unsafe { OpaquePtr::new(address) })
}

#[test]
fn builtins_refuse_pointers_to_no_machine() -> Result<()> {
    let shape = Shape::from_slice(&[4])?;
    let mut magic = u64::from_le_bytes(*b"ferrelax");
    for machine in no_machines(&mut magic) {
        let allocate = Function::global("vm.builtin.alloc_storage")?;
        let dtype = f32::DTYPE;
        let error =
            allocate.call::<()>((machine, &shape, 0, dtype, "global")).expect_err("no machine");
        assert_eq!(error.kind().as_str(), "TypeError");
        let invoke = Function::global("vm.builtin.invoke_closure")?;
        let error = invoke.call::<()>((machine, &invoke)).expect_err("no machine");
        assert_eq!(error.kind().as_str(), "TypeError");
    }
    Ok(())
}

#[test]
fn closures_of_ones_own_find_no_machine() -> Result<()> {
    let function = Function::from_typed(|machine: *mut c_void| Context::with(machine, |_| Ok(1)))?;
    let closure = Closure::new(String::new("one")?, function)?;
    // SAFETY: the function does not follow the address.
    let machine = unsafe { OpaquePtr::new(without_provenance_mut(8)) };
    let error = closure.function().call::<i64>((machine,)).expect_err("no machine");
    assert_eq!(error.kind().as_str(), "TypeError");
    Ok(())
}
