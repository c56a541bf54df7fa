//! Tests the quick start's networks of every kind: each is loaded, even without a driver for it.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use ferrite_core::Bytes;
use ferrite_core::error::Result;
use ferrite_gpu::launch::LaunchPlan;
use ferrite_gpu::payload::{Layout, Payload};

/// Networks: the file's content, the kind of the module, its layout and its format.
const NETWORKS: [(&[u8], &str, &Layout, &str); 6] = [
    (include_bytes!("../../host/quickstart/gpu/cuda.bin"), "cuda", &Layout::CUDA, "ptx"),
    (include_bytes!("../../host/quickstart/gpu/metal.bin"), "metal", &Layout::METAL, "metal"),
    (include_bytes!("../../host/quickstart/gpu/opencl.bin"), "opencl", &Layout::OPENCL, "cl"),
    (include_bytes!("../../host/quickstart/gpu/rocm.bin"), "hip", &Layout::HIP, "hsaco"),
    (include_bytes!("../../host/quickstart/gpu/vulkan.bin"), "vulkan", &Layout::VULKAN, "vulkan"),
    (include_bytes!("../../host/quickstart/gpu/webgpu.bin"), "webgpu", &Layout::WEBGPU, ""),
];

/// Removes a length-prefixed byte string from the front, and returns it.
fn text<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let (len, rest) = bytes.split_first_chunk::<8>().expect("a length");
    let (text, rest) = rest.split_at(u64::from_le_bytes(*len) as usize);
    *bytes = rest;
    text
}

/// Returns the kind and the payload of the only module in an import tree.
fn module_of(tree: &[u8]) -> (&[u8], &[u8]) {
    // Skips seven numbers: the total length, and the import relation.
    let mut rest = &tree[8 * 7..];
    assert_eq!(text(&mut rest), b"_lib");
    let module = (text(&mut rest), text(&mut rest));
    assert!(rest.is_empty());
    module
}

#[test]
fn each_has_three_kernels_whose_arguments_are_known() -> Result<()> {
    for (tree, kind, layout, format) in NETWORKS {
        let (stored_kind, payload) = module_of(tree);
        assert_eq!(str::from_utf8(stored_kind), Ok(kind));
        let payload = Payload::read(layout, Bytes::new(payload)?)?;
        assert_eq!(str::from_utf8(payload.format()), Ok(format));
        assert_eq!(payload.kernels().len(), 3, "{kind}");
        for (name, buffers) in
            [("digits_kernel", 4), ("digits_kernel_1", 2), ("digits_kernel_2", 4)]
        {
            let index =
                payload.find(name.as_bytes()).unwrap_or_else(|| panic!("{kind} has no {name}"));
            let kernel = &payload.kernels()[index];
            assert_eq!(kernel.parameters.len(), buffers, "{kind}: {name}");
            LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, payload.tags_of(kernel))?;
        }
    }
    Ok(())
}
