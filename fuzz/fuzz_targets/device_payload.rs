//! Payloads of device modules of every kind, whatever their bytes: a module or an error, and launch plans or errors. What is read
//! is written back as the same.
#![no_main]

use ferrite_core::Bytes;
use ferrite_gpu::elf;
use ferrite_gpu::launch::{LaunchPlan, write_access};
use ferrite_gpu::opencl_source;
use ferrite_gpu::payload::{CodeLayout, Layout, Payload, read_binaries};
use libfuzzer_sys::fuzz_target;

const LAYOUTS: [&Layout; 6] =
    [&Layout::CUDA, &Layout::OPENCL, &Layout::HIP, &Layout::METAL, &Layout::VULKAN, &Layout::WEBGPU];

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let layout = LAYOUTS[usize::from(*choice) % LAYOUTS.len()];
    let _ = read_binaries(bytes);
    let _ = elf::check(layout.kind, bytes);
    let Ok(payload) = Payload::read(layout, Bytes::new(bytes).expect("memory")) else { return };
    for kernel in payload.kernels() {
        assert!(payload.find(payload.name_of(kernel)).is_some());
        let _ = LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, payload.tags_of(kernel));
        payload.tags_of(kernel).for_each(|tag| drop(write_access(tag)));
    }
    let _ = opencl_source::split(&payload);
    let again = payload.rewrite(layout).expect("memory");
    // Codes may come in another order.
    assert_eq!(again.as_bytes().len(), bytes.len());
    if layout.code == CodeLayout::Whole {
        assert_eq!(again.as_bytes(), bytes);
    }
});
