//! A function that returns an address, which others may follow.

use std::ffi::c_void;

fn anywhere() -> *mut c_void {
    std::ptr::without_provenance_mut(8)
}

fn main() -> ferrite::Result<()> {
    ferrite::Function::from_typed(anywhere).map(drop) //~ `fn() -> *mut c_void {anywhere}` cannot be called with values
}
