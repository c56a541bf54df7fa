//! Payloads of device modules of every kind, whatever their bytes: a module or an error, and launch plans or errors. What is read
//! is written back as the same. The same bytes are declarations of a SPIR-V shader, too.
#![no_main]

use ferrite_core::Bytes;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_gpu::elf;
use ferrite_gpu::launch::{LaunchPlan, write_access};
use ferrite_gpu::opencl_source;
use ferrite_gpu::payload::{CodeLayout, Layout, Payload, Writer, read_binaries};
use ferrite_gpu::spirv;
use libfuzzer_sys::fuzz_target;

const LAYOUTS: [&Layout; 6] =
    [&Layout::CUDA, &Layout::OPENCL, &Layout::HIP, &Layout::METAL, &Layout::VULKAN, &Layout::WEBGPU];

/// A payload whose only kernel has two buffers, a number, and a shader with these declarations.
fn with_declarations(flags: u32, declarations: &[u8]) -> Result<Payload> {
    let header = [0x0723_0203, 0x0001_0000, 0, 100, 0];
    let entry_point = [4 << 16 | 15, 5, 1, u32::from(b'k')];
    let function_end = [1 << 16 | 56];
    let mut code: Vec<u8> = header.iter().chain(&entry_point).flat_map(|word| word.to_le_bytes()).collect();
    code.extend_from_slice(&declarations[..declarations.len() / 4 * 4]);
    code.extend(function_end.iter().flat_map(|word: &u32| word.to_le_bytes()));
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(3)?;
    let types = [(3, 64), (3, 64), (0, 32)];
    types.into_iter().try_for_each(|(code, bits)| payload.dtype(DLDataType { code, bits, lanes: 1 }))?;
    payload.count(0)?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.shader(flags, &code)?;
    Payload::read(&Layout::VULKAN, payload.finish()?)
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let layout = LAYOUTS[usize::from(*choice) % LAYOUTS.len()];
    let _ = read_binaries(bytes);
    let _ = elf::check(layout.kind, bytes);
    let _ = spirv::read_shaders(&with_declarations((*choice).into(), bytes).expect("a payload"));
    let Ok(payload) = Payload::read(layout, Bytes::new(bytes).expect("memory")) else { return };
    for kernel in payload.kernels() {
        assert!(payload.find(payload.name_of(kernel)).is_some());
        let _ = LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, payload.tags_of(kernel));
        payload.tags_of(kernel).for_each(|tag| drop(write_access(tag)));
    }
    let _ = opencl_source::split(&payload);
    let _ = spirv::read_shaders(&payload);
    let again = payload.rewrite(layout).expect("memory");
    // Codes may come in another order.
    assert_eq!(again.as_bytes().len(), bytes.len());
    if layout.code == CodeLayout::Whole {
        assert_eq!(again.as_bytes(), bytes);
    }
});
