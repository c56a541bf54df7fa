//! An address as the argument of a call, which the function may follow.

use std::ffi::c_void;

fn main() -> ferrite::Result<()> {
    let make = ferrite::Function::global("ffi.FunctionFromExternC")?;
    let address: *mut c_void = std::ptr::without_provenance_mut(8);
    make.call::<ferrite::Function>((address, address, address)).map(drop) //~ `*mut c_void` cannot be passed to a function
}
