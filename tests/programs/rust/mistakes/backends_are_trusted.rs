//! A back end whose memory is at no valid address.
use std::ffi::c_void;
use std::ptr::{NonNull, without_provenance_mut};

use ferrite::device::{Attribute, Backend, Region};
use ferrite::{Any, Result};

struct Nowhere;

impl Backend for Nowhere { //~ the trait `Backend` requires an `unsafe impl` declaration
    fn device_type(&self) -> i32 {
        ferrite::device::kind::CUDA_HOST
    }

    fn set_device(&self, _: i32) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, _: i32, _: usize, _: usize) -> Result<*mut c_void> {
        Ok(without_provenance_mut(64))
    }

    unsafe fn free(&self, _: i32, _: *mut c_void) {}

    unsafe fn copy(&self, _: Region, _: Region, _: usize, _: *mut c_void) -> Result<()> {
        Ok(())
    }

    unsafe fn synchronize(&self, _: i32, _: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn attribute(&self, _: i32, _: Attribute) -> Result<Any> {
        Ok(Any::NONE)
    }

    fn allocate_workspace(&self, _: i32, _: usize) -> Result<NonNull<c_void>> {
        Ok(NonNull::dangling())
    }

    unsafe fn free_workspace(&self, _: i32, _: NonNull<c_void>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
