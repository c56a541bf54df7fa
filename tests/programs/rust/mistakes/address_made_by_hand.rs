//! An address for C code, which is not known to be what that code expects.

fn main() {
    let _address = ferrite::convert::OpaquePtr::new(std::ptr::without_provenance_mut(8)); //~ call to unsafe function `OpaquePtr::new` is unsafe and requires unsafe block
}
