//! A value of any address.

use std::ffi::c_void;

fn main() {
    let address: *mut c_void = std::ptr::without_provenance_mut(8);
    let _value = ferrite::Any::from(address); //~ the trait bound `ferrite::Any: From<*mut c_void>` is not satisfied
}
