//! Tests payloads of every kind from TVM, intact, truncated and altered.

use std::vec::Vec;

use super::*;
use crate::launch::LaunchPlan;
use ferrite_core::Error;

macro_rules! fixture {
    ($file:literal) => {
        include_bytes!(concat!("../../../../tests/programs/device/payloads/", $file))
    };
}

/// A module from TVM for each layout, and its number of kernels.
const FIXTURES: [(&Layout, &[u8], usize); 8] = [
    (&Layout::CUDA, fixture!("cuda.bin"), 8),
    (&Layout::CUDA, fixture!("cuda_ptx.bin"), 8),
    (&Layout::OPENCL, include_bytes!("../../../../tests/programs/device/opencl/module.bin"), 7),
    (&Layout::HIP, fixture!("hip.bin"), 5),
    (&Layout::METAL, fixture!("metal.bin"), 7),
    (&Layout::VULKAN, fixture!("vulkan.bin"), 6),
    (&Layout::VULKAN, fixture!("vulkan_ubo.bin"), 6),
    (&Layout::WEBGPU, include_bytes!("../../../../tests/programs/device/webgpu/module.bin"), 6),
];

fn read(layout: &Layout, bytes: &[u8]) -> Result<Payload> {
    Payload::read(layout, Bytes::new(bytes).unwrap())
}

#[test]
fn payloads_of_every_kind_are_read_and_written_back() {
    for (layout, bytes, kernels) in FIXTURES {
        let payload = read(layout, bytes).unwrap();
        assert_eq!(payload.kernels().len(), kernels, "{layout:?}");
        let again = payload.rewrite(layout).unwrap();
        assert_eq!(again.as_bytes().len(), bytes.len(), "{layout:?}");
        // TVM writes codes in another order than kernels.
        if layout.code == CodeLayout::Whole {
            assert_eq!(again.as_bytes(), bytes, "{layout:?}");
        }
        let reread = Payload::read(layout, again).unwrap();
        for (index, kernel) in payload.kernels().iter().enumerate() {
            let name = payload.name_of(kernel);
            assert_eq!(payload.find(name), Some(index));
            let other = &reread.kernels()[reread.find(name).unwrap()];
            assert_eq!(payload.code_of(kernel), reread.code_of(other));
            LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, payload.tags_of(kernel))
                .unwrap();
        }
        assert_eq!(payload.find(b"no_such_kernel"), None);
    }
}

#[test]
fn what_is_in_a_payload_is_found() {
    let payload = read(&Layout::OPENCL, FIXTURES[2].1).unwrap();
    let kernel = &payload.kernels()[payload.find(b"axpy_dyn_kernel").unwrap()];
    assert_eq!(payload.format(), b"cl");
    let codes: Vec<_> =
        kernel.parameters.iter().map(|dtype| (dtype.code, dtype.bits, dtype.lanes)).collect();
    assert_eq!(codes, [(3, 64, 1), (3, 64, 1), (2, 32, 1), (0, 32, 1), (0, 32, 1)]);
    let tags: Vec<_> = payload.tags_of(kernel).collect();
    assert_eq!(tags, [&b"blockIdx.x"[..], b"threadIdx.x"]);
    let payload = read(&Layout::VULKAN, FIXTURES[6].1).unwrap();
    let kernel = &payload.kernels()[payload.find(b"axpy_dyn_kernel").unwrap()];
    assert_eq!(kernel.flags & 1, 1);
    assert_eq!(payload.code_of(kernel)[..4], 0x0723_0203u32.to_le_bytes());
}

#[test]
fn names_are_utf8() {
    for (layout, bytes, _) in FIXTURES {
        let text =
            |error: Error| std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
        let payload = read(layout, bytes).unwrap();
        let kernel = &payload.kernels()[0];
        let tag = kernel.tags.first().copied();
        let spans = [Some(("kernel key", kernel.name)), tag.map(|tag| ("launch tag", tag))];
        for (what, span) in spans.into_iter().flatten() {
            let mut damaged = bytes.to_vec();
            // The key comes before the name, with a length between them.
            let at = if what == "kernel key" { span.start - span.len - 8 } else { span.start };
            damaged[at] = 0xff;
            let expected = std::format!(
                "Malformed {} module: {what} at offset {at} is not UTF-8",
                layout.kind
            );
            assert_eq!(read(layout, &damaged).map(drop).map_err(text), Err(expected));
        }
        if layout.has_format {
            let mut damaged = bytes.to_vec();
            damaged[8] = 0x80;
            let expected =
                std::format!("Malformed {} module: format at offset 8 is not UTF-8", layout.kind);
            assert_eq!(read(layout, &damaged).map(drop).map_err(text), Err(expected));
        }
    }
}

#[test]
fn names_for_drivers_end_in_a_zero_and_have_no_other() {
    let payload = read(&Layout::HIP, FIXTURES[3].1).unwrap();
    let kernel = &payload.kernels()[payload.find(b"mlp_kernel_1").unwrap()];
    assert_eq!(payload.c_name_of(kernel).unwrap().as_slice(), b"mlp_kernel_1\0");
    let mut bytes = FIXTURES[3].1.to_vec();
    for at in 0..bytes.len() - 12 {
        if bytes[at..].starts_with(b"mlp_kernel_1") {
            bytes[at + 3] = 0;
        }
    }
    let payload = read(&Layout::HIP, &bytes).unwrap();
    let kernel = &payload.kernels()[payload.find(b"mlp\0kernel_1").unwrap()];
    assert_eq!(payload.c_name_of(kernel).unwrap_err().kind_bytes(), b"InternalError");
}

#[test]
fn every_truncation_is_an_error() {
    for (layout, bytes, _) in FIXTURES {
        // Every length up to the end of the headers, and some in the code.
        for len in (0..bytes.len()).filter(|len| *len < 1500 || len % 97 == 0) {
            let error = read(layout, &bytes[..len]).map(drop).unwrap_err();
            assert_eq!(error.kind_bytes(), b"InternalError", "{layout:?} {len}");
        }
        let mut longer = bytes.to_vec();
        longer.push(0);
        assert_eq!(read(layout, &longer).map(drop).unwrap_err().kind_bytes(), b"InternalError");
    }
}

#[test]
fn lying_numbers_are_errors_or_harmless() {
    for (layout, bytes, _) in FIXTURES {
        for at in (0..bytes.len() - 8).filter(|at| *at < 700 || at % 501 == 0) {
            for lie in [u64::MAX, 1 << 63, 1 << 32, bytes.len() as u64, 0] {
                let mut changed = bytes.to_vec();
                changed[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                // Some changes only alter a string or code.
                if let Ok(payload) = read(layout, &changed) {
                    for kernel in payload.kernels() {
                        let tags = payload.tags_of(kernel);
                        let _ = LaunchPlan::new(&kernel.parameters, &kernel.extra_tags, tags);
                    }
                    let _ = crate::opencl_source::split(&payload);
                }
            }
        }
    }
}

#[test]
fn counts_beyond_the_payload_allocate_nothing() {
    // The last count is the number of bytes left, but each kernel needs more than one.
    for count in [u64::MAX, 1 << 40, 1 << 33, 64] {
        let mut bytes = std::vec![0u8; 8];
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&[0; 64]);
        let error = read(&Layout::OPENCL, &bytes).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"InternalError", "{count}");
        let text = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
        assert!(
            text.starts_with("Malformed opencl module: kernel count at offset 8 is "),
            "{text}"
        );
    }
}

/// Parses a payload with minimal kernels: only names and codes.
fn minimal(layout: &Layout, names: &[&[u8]], codes: &[&[u8]]) -> Result<Payload> {
    let mut writer = Writer::new();
    if layout.has_format {
        writer.text(b"f")?;
    }
    writer.count(names.len())?;
    for name in names {
        writer.kernel_name(name)?;
        (0..3).try_for_each(|_| writer.count(0))?;
    }
    if layout.code == CodeLayout::Whole {
        writer.text(codes.first().copied().unwrap_or_default())?;
    } else {
        writer.count(codes.len())?;
        for name in codes {
            writer.text(name)?;
            match layout.code {
                CodeLayout::Shaders => writer.shader(0, b"word")?,
                _ => writer.text(b"code")?,
            }
        }
    }
    Payload::read(layout, writer.finish()?)
}

#[test]
fn names_of_kernels_and_codes_must_agree() {
    for layout in [&Layout::METAL, &Layout::VULKAN, &Layout::WEBGPU] {
        assert!(minimal(layout, &[b"a", b"b"], &[b"b", b"a"]).is_ok());
        for (names, codes) in [
            (&[&b"a"[..], b"a"][..], &[&b"a"[..]][..]),
            (&[b"a"], &[b"b"]),
            (&[b"a"], &[b"a", b"a"]),
            (&[b"a", b"b"], &[b"a"]),
            (&[], &[b"a"]),
        ] {
            let error = minimal(layout, names, codes).map(drop).unwrap_err();
            assert_eq!(error.kind_bytes(), b"InternalError", "{names:?} {codes:?}");
        }
    }
}

#[test]
fn opencl_source_is_split_by_kernel() {
    let split = |code: &[u8]| {
        let payload = minimal(&Layout::OPENCL, &[b"a", b"b"], &[code]).unwrap();
        crate::opencl_source::split(&payload).map(|programs| {
            let text = |range: &core::ops::Range<usize>| {
                std::string::String::from_utf8_lossy(&code[range.clone()]).into_owned()
            };
            programs.iter().map(text).collect::<Vec<_>>()
        })
    };
    let programs =
        split(b"dropped\n// Function: b\nfor b\n// Function: a\nfor a\nand more").unwrap();
    assert_eq!(programs, ["for a\nand more", "for b\n"]);
    assert_eq!(split(b"// Function: a\r\n// Function: b").unwrap(), ["", ""]);
    for malformed in [
        &b""[..],
        b"no title",
        b"// Function: a\n",
        b"// Function: a\n// Function: a\n",
        b"// Function: a\n// Function: b\n// Function: c\n",
        b"// Function: ",
    ] {
        assert_eq!(split(malformed).unwrap_err().kind_bytes(), b"InternalError");
    }
    let payload = read(&Layout::OPENCL, FIXTURES[2].1).unwrap();
    let programs = crate::opencl_source::split(&payload).unwrap();
    assert_eq!(programs.len(), 7);
    for (kernel, program) in payload.kernels().iter().zip(programs.iter()) {
        let program = &payload.code()[program.clone()];
        let body = std::format!("void {}(", std::str::from_utf8(payload.name_of(kernel)).unwrap());
        let definitions = std::str::from_utf8(program).unwrap().matches(&body).count();
        assert_eq!(definitions, 2, "a declaration and the definition");
    }
}
