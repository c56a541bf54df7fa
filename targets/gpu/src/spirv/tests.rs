use super::*;
use crate::payload::{Layout, Writer};
use ferrite_core::Bytes;
use ferrite_core::abi::DLDataType;
use std::string::String;
use std::vec::Vec;

const HANDLE: DLDataType = DLDataType { code: 3, bits: 64, lanes: 1 };
const I32: DLDataType = DLDataType { code: 0, bits: 32, lanes: 1 };

/// Kernel `k` with two buffers and a scalar, in push constants or in a uniform buffer.
const ADD: &[u8] = include_bytes!("../../../../tests/programs/device/vulkan/shaders/add.spv");
const ADD_UNIFORM: &[u8] =
    include_bytes!("../../../../tests/programs/device/vulkan/shaders/add_uniform.spv");
const TYPES: &[u8] = include_bytes!("../../../../tests/programs/device/vulkan/shaders/types.spv");
/// Modules with several kernels from TVM's compiler.
const MODULES: [&[u8]; 2] = [
    include_bytes!("../../../../tests/programs/device/vulkan/module.bin"),
    include_bytes!("../../../../tests/programs/device/vulkan/module_ubo.bin"),
];

/// Validates the shader of a kernel `k`.
fn read(parameters: &[DLDataType], flags: u32, code: &[u8]) -> Result<Shader> {
    read_with_tags(parameters, &[], flags, code)
}

fn read_with_tags(
    parameters: &[DLDataType],
    extra: &[u32],
    flags: u32,
    code: &[u8],
) -> Result<Shader> {
    let mut payload = Writer::new();
    payload.text(b"vulkan")?;
    payload.count(1)?;
    payload.kernel_name(b"k")?;
    payload.count(parameters.len())?;
    parameters.iter().try_for_each(|dtype| payload.dtype(*dtype))?;
    payload.count(0)?;
    payload.count(extra.len())?;
    extra.iter().try_for_each(|tag| payload.word(*tag))?;
    payload.count(1)?;
    payload.text(b"k")?;
    payload.shader(flags, code)?;
    let mut shaders = read_shaders(&Payload::read(&Layout::VULKAN, payload.finish()?)?)?;
    Ok(shaders.pop().unwrap())
}

#[test]
fn the_needs_of_a_shader_are_read() -> Result<()> {
    let add = read(&[HANDLE, HANDLE, I32], 0, ADD)?;
    assert_eq!((add.version, add.capabilities.as_slice(), add.block), (0x100, &[1][..], [8, 1, 1]));
    assert_eq!((add.buffer_count, add.scalar_count, add.has_uniform), (2, 1, false));
    assert!(read(&[HANDLE, HANDLE, I32], 1, ADD_UNIFORM)?.has_uniform);
    let types = read(&[HANDLE, HANDLE, HANDLE, I32], 0, TYPES)?;
    assert_eq!(
        (types.version, types.capabilities.as_slice()),
        (0x103, &[1, 9, 11, 39, 4433, 4448][..])
    );
    // Without scalars, the flag has no meaning.
    for module in MODULES {
        let payload = Payload::read(&Layout::VULKAN, Bytes::new(module)?)?;
        assert_eq!(read_shaders(&payload)?.len(), payload.kernels().len());
    }
    Ok(())
}

/// Returns the code with one operand replaced: that at `at`, in the first instruction of `opcode`
/// whose operands begin with `start`.
fn with_operand(code: &[u8], opcode: u32, start: &[u32], at: usize, value: u32) -> Vec<u8> {
    let mut words: Vec<u32> =
        code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut index = 5;
    while index < words.len() {
        let len = (words[index] >> 16) as usize;
        let operands = &mut words[index + 1..index + len];
        if words_match(opcode, start, code, index, operands) {
            operands[at] = value;
            return words.iter().flat_map(|word| word.to_le_bytes()).collect();
        }
        index += len;
    }
    panic!("no instruction {opcode} with {start:?}");
}

fn words_match(opcode: u32, start: &[u32], code: &[u8], index: usize, operands: &[u32]) -> bool {
    let first = u32::from_le_bytes(code.as_chunks().0[index]);
    first & 0xffff == opcode
        && operands.len() >= start.len()
        && operands.iter().zip(start).all(|(found, wanted)| *wanted == ANY || found == wanted)
}

/// Wildcard for an operand.
const ANY: u32 = u32::MAX;

#[test]
fn shaders_that_do_not_fit_their_kernels_are_errors() -> Result<()> {
    const MEMBER: u32 = 72;
    const DECORATE: u32 = 71;
    const BINDING: u32 = 33;
    const SET: u32 = 34;
    let header = |at: usize, value: u32| {
        let mut code = ADD.to_vec();
        code[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        code
    };
    let refused = |parameters: &[DLDataType], flags, code: &[u8], expected: &str| {
        let error = read(parameters, flags, code).map(drop).expect_err(expected);
        let text = String::from_utf8_lossy(error.message_bytes()).into_owned();
        assert!(error.kind_bytes() == b"InternalError" && text.contains(expected), "{text}");
    };
    let usual = [HANDLE, HANDLE, I32];
    refused(&usual, 0, b"", "does not begin as SPIR-V does");
    refused(&usual, 0, &ADD[..16], "does not begin as SPIR-V does");
    refused(&usual, 0, &header(0, 0x0302_2307), "does not begin as SPIR-V does");
    // An instruction of length 0, and one that extends beyond the end.
    refused(&usual, 0, &header(5, 17), "an instruction has no words, or more");
    refused(&usual, 0, &header(5, 0xffff_0011), "an instruction has no words, or more");
    refused(&usual, 0, &ADD[..ADD.len() - 4], "it does not end with a function");
    refused(&usual, 0, &ADD[..20], "it does not end with a function");
    let renamed = with_operand(ADD, 15, &[5, ANY], 2, u32::from(b'j'));
    refused(&usual, 0, &renamed, "it has no entry point of that name");
    let fragment = with_operand(ADD, 15, &[5], 0, 4);
    refused(&usual, 0, &fragment, "it has no entry point of that name");
    // Bindings and sets that the layout of the kernel lacks.
    refused(
        &[HANDLE, I32],
        0,
        ADD,
        "has a storage buffer at binding 1 of set 0; the kernel has 1 buffers",
    );
    let far = with_operand(ADD, DECORATE, &[ANY, BINDING], 2, 9);
    refused(&usual, 0, &far, "at binding 9 of set 0");
    let other_set = with_operand(ADD, DECORATE, &[ANY, SET], 2, 3);
    refused(&usual, 0, &other_set, "of set 3");
    let unbound = with_operand(ADD, DECORATE, &[ANY, BINDING], 1, 99);
    refused(&usual, 0, &unbound, "a buffer has no binding");
    // Scalars that the kernel lacks, or that are passed in another way.
    refused(&[HANDLE, HANDLE], 0, ADD, "that is not a scalar of the kernel, which has 0");
    let beyond = with_operand(ADD, MEMBER, &[ANY, 0, 35, 0], 3, 0);
    assert_eq!(beyond, ADD);
    let scalars = scalars_structure(ADD);
    let beyond = with_operand(ADD, MEMBER, &[scalars, 0, 35], 3, 8);
    refused(&usual, 0, &beyond, "at offset 8 that is not a scalar");
    refused(&usual, 1, ADD, "it has push constants, but its scalars are in a uniform buffer");
    refused(&usual, 0, ADD_UNIFORM, "has a uniform buffer at binding 2");
    let scalars = scalars_structure(ADD_UNIFORM);
    let beyond = with_operand(ADD_UNIFORM, MEMBER, &[scalars, 0, 35], 3, 1 << 20);
    refused(&usual, 1, &beyond, "at offset 1048576 that is not a scalar");
    refused(&[I32; MAX_PARAMETERS + 1], 0, ADD, "has 513 parameters, more than 512");
    let described = read_with_tags(&usual, &[1, 0, 0], 0, ADD).unwrap_err();
    assert!(described.message_bytes().ends_with(b"in a form that shaders do not have"));
    // A storage class that kernels do not use: images.
    let image = with_operand(ADD, 59, &[ANY, ANY, 2], 2, 0);
    refused(&usual, 0, &image, "has a variable of storage class 0");
    // Member lists that do not end.
    let unstructured = with_operand(ADD, 30, &[scalars_structure(ADD)], 0, 9999);
    refused(&usual, 0, &unstructured, "its scalars are in no structure");
    let unplaced = with_operand(ADD, MEMBER, &[scalars_structure(ADD), 0, 35], 2, 99);
    refused(&usual, 0, &unplaced, "a scalar has no offset, or two");
    let plain = with_operand(ADD, DECORATE, &[ANY, 3], 1, 99);
    refused(&usual, 0, &plain, "a buffer has no block");
    Ok(())
}

/// Returns the id of the structure of scalars, found by its name in the source.
fn scalars_structure(code: &[u8]) -> u32 {
    let mut index = 5;
    let word = |index: usize| u32::from_le_bytes(code.as_chunks().0[index]);
    while index < code.len() / 4 {
        let len = (word(index) >> 16) as usize;
        if word(index) & 0xffff == 5 && code[4 * (index + 2)..].starts_with(b"Scalars\0") {
            return word(index + 1);
        }
        index += len;
    }
    panic!("no structure of scalars");
}
