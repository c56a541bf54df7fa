//! Fuzzes payloads of device modules of every kind. Any bytes give a module or an error, and launch
//! plans or errors. A parsed payload serialises to the same content. The bytes also serve as
//! declarations of a SPIR-V shader.
//!
//! An input is either the bytes of a payload, or edits to a fixture of `tests/programs/device`, so
//! that all parts of a payload are reached.

use std::sync::OnceLock;

use ferrite_core::Bytes;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_gpu::elf;
use ferrite_gpu::launch::{LaunchPlan, write_access};
use ferrite_gpu::opencl_source;
use ferrite_gpu::payload::{CodeLayout, Layout, Payload, Writer, read_binaries};
use ferrite_gpu::spirv;

const LAYOUTS: [&Layout; 6] = [
    &Layout::CUDA,
    &Layout::OPENCL,
    &Layout::HIP,
    &Layout::METAL,
    &Layout::VULKAN,
    &Layout::WEBGPU,
];

/// Returns a payload with one kernel, which has two buffers, a number, and a shader with these
/// declarations.
fn with_declarations(flags: u32, declarations: &[u8]) -> Result<Payload> {
    let header = [0x0723_0203, 0x0001_0000, 0, 100, 0];
    let entry_point = [4 << 16 | 15, 5, 1, u32::from(b'k')];
    let function_end = [1 << 16 | 56];
    let mut code: Vec<u8> =
        header.iter().chain(&entry_point).flat_map(|word| word.to_le_bytes()).collect();
    code.extend_from_slice(&declarations[..declarations.len() / 4 * 4]);
    code.extend(function_end.iter().flat_map(|word: &u32| word.to_le_bytes()));
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(3)?;
    let types = [(3, 64), (3, 64), (0, 32)];
    types
        .into_iter()
        .try_for_each(|(code, bits)| payload.dtype(DLDataType { code, bits, lanes: 1 }))?;
    payload.count(0)?;
    payload.count(0)?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.shader(flags, &code)?;
    Payload::read(&Layout::VULKAN, payload.finish()?)
}

macro_rules! file {
    ($path:literal) => {
        include_bytes!(concat!("../../../tests/programs/device/", $path))
    };
}

/// The files of the tests. They are in the program, since a fuzzer runs without the repository.
const FILES: &[&[u8]] = &[
    file!("cuda/library_bin.bin"),
    file!("cuda/library_bin_cubin.bin"),
    file!("cuda/library_bin_ptx.bin"),
    file!("cuda/module_cubin.bin"),
    file!("opencl/library_bin.bin"),
    file!("opencl/module.bin"),
    file!("payloads/cuda.bin"),
    file!("payloads/cuda_ptx.bin"),
    file!("payloads/hip.bin"),
    file!("payloads/metal.bin"),
    file!("payloads/vulkan.bin"),
    file!("payloads/vulkan_ubo.bin"),
    file!("rocm/library_bin.bin"),
    file!("vulkan/library_bin.bin"),
    file!("vulkan/library_bin_ubo.bin"),
    file!("vulkan/module.bin"),
    file!("vulkan/module_ubo.bin"),
    file!("webgpu/library_bin.bin"),
    file!("webgpu/module.bin"),
];

/// Index of a layout, and a payload in that layout.
type Fixture = (usize, &'static [u8]);

/// Returns the fixtures of every kind.
fn fixtures() -> &'static [Fixture] {
    static FIXTURES: OnceLock<Vec<Fixture>> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let kinds = LAYOUTS.into_iter().enumerate();
        let found: Vec<_> = kinds
            .flat_map(|(kind, layout)| {
                let is_one = |bytes: &&[u8]| {
                    Payload::read(layout, Bytes::new(bytes).expect("memory")).is_ok()
                };
                FILES.iter().copied().filter(is_one).map(move |bytes| (kind, bytes))
            })
            .collect();
        for kind in 0..LAYOUTS.len() {
            assert!(found.iter().any(|(of, _)| *of == kind), "layout {kind} has no fixture");
        }
        found
    })
}

/// Applies edits to a payload; each consists of a position, an operation and a byte.
fn edited(payload: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    for edit in edits.chunks_exact(4) {
        let place = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (bytes.len() + 1);
        match edit[2] % 4 {
            0 => bytes.insert(place, edit[3]),
            1 if place < bytes.len() => drop(bytes.remove(place)),
            2 if place < bytes.len() => bytes[place] = edit[3],
            // Truncation is rare, so that edits reach the later parts.
            3 if edit[2] == 255 => bytes.truncate(place),
            _ => {}
        }
    }
    bytes
}

fn read(layout: &'static Layout, bytes: &[u8]) {
    let _ = read_binaries(bytes);
    let _ = elf::check(layout.kind, bytes);
    let Ok(payload) = Payload::read(layout, Bytes::new(bytes).expect("memory")) else { return };
    for kernel in payload.kernels() {
        assert!(payload.find(payload.name_of(kernel)).is_some());
        let _ = LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, payload.tags_of(kernel));
        payload.tags_of(kernel).for_each(|tag| drop(write_access(tag)));
    }
    let _ = opencl_source::split(&payload);
    let _ = spirv::read_shaders(&payload);
    let again = payload.rewrite(layout).expect("memory");
    // The order of the codes may differ.
    assert_eq!(again.as_bytes().len(), bytes.len());
    if layout.code == CodeLayout::Whole {
        assert_eq!(again.as_bytes(), bytes);
    }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    let choice = usize::from(*choice);
    if choice < 128 {
        let _ = spirv::read_shaders(&with_declarations(choice as u32, rest).expect("a payload"));
        return read(LAYOUTS[choice % LAYOUTS.len()], rest);
    }
    let (kind, payload) = &fixtures()[choice % fixtures().len()];
    read(LAYOUTS[*kind], &edited(payload, rest));
}
