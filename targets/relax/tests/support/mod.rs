//! Executables built by tests, and kernels that compute nothing.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

use ferrite_core::error::Result;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView, Bytes, Function};
use ferrite_relax::executable::{Executable, Source};
use ferrite_relax::machine::Machine;
use ferrite_relax::memory::Kind;

/// Register number that reads as None.
pub const VOID: i64 = 1 << 54;
/// Register number that reads as the machine.
pub const MACHINE: i64 = VOID + 1;

/// Returns an argument word for an integer.
pub fn immediate(value: i64) -> i64 {
    1 << 56 | (value & ((1 << 56) - 1))
}

/// Returns an argument word for a constant.
pub fn constant(index: i64) -> i64 {
    2 << 56 | index
}

/// Returns an argument word for a function.
pub fn function(index: i64) -> i64 {
    3 << 56 | index
}

/// Returns the words of a call.
pub fn call(destination: i64, function: i64, args: &[i64]) -> Vec<i64> {
    [&[1, destination, function, args.len() as i64], args].concat()
}

/// Returns the words of a return.
pub fn ret(register: i64) -> Vec<i64> {
    vec![2, register]
}

/// Description of a function of an executable to be built.
pub struct Draft<'a> {
    pub name: &'a str,
    /// Kind of the function: 0 packed, 1 bytecode, 2 native code.
    pub kind: i32,
    pub arguments: i64,
    pub registers: i64,
    pub parameters: &'a [&'a str],
    /// Words of each instruction.
    pub body: Vec<Vec<i64>>,
}

/// Describes a packed function.
pub fn packed(name: &str) -> Draft<'_> {
    Draft { name, kind: 0, arguments: -2, registers: 0, parameters: &[], body: Vec::new() }
}

/// Describes a bytecode function.
pub fn bytecode<'a>(
    name: &'a str,
    parameters: &'a [&'a str],
    registers: i64,
    body: Vec<Vec<i64>>,
) -> Draft<'a> {
    Draft { name, kind: 1, arguments: parameters.len() as i64, registers, parameters, body }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Serialises an executable with these functions and integer constants.
pub fn executable(functions: &[Draft<'_>], constants: &[i64]) -> Vec<u8> {
    let mut out = 0xD225_DE2F_4214_151E_u64.to_le_bytes().to_vec();
    text(&mut out, "0.14");
    out.extend((functions.len() as u64).to_le_bytes());
    let (mut offsets, mut words) = (Vec::new(), Vec::new());
    for function in functions {
        let start = offsets.len() as i64;
        for instruction in &function.body {
            offsets.push(words.len() as i64);
            words.extend(instruction);
        }
        let end = offsets.len() as i64;
        let range = if function.kind == 1 { [start, end] } else { [0, 0] };
        out.extend(function.kind.to_le_bytes());
        text(&mut out, function.name);
        for number in [range[0], range[1], function.arguments, function.registers] {
            out.extend(number.to_le_bytes());
        }
        out.extend((function.parameters.len() as u64).to_le_bytes());
        function.parameters.iter().for_each(|name| text(&mut out, name));
    }
    out.extend(0u64.to_le_bytes());
    out.extend((constants.len() as u64).to_le_bytes());
    for constant in constants {
        out.extend(1i32.to_le_bytes());
        out.extend(constant.to_le_bytes());
    }
    for list in [offsets, words] {
        out.extend((list.len() as u64).to_le_bytes());
        list.iter().for_each(|word| out.extend(word.to_le_bytes()));
    }
    out
}

/// Loads an executable.
pub fn load(bytes: &[u8]) -> Result<Executable> {
    Executable::load(Source::Bytes(Bytes::new(bytes)?))
}

/// Returns a kernel that fills the bytes of its last argument: with ones for comparisons, so that
/// recursions end, otherwise with zeros.
pub fn stub(name: &[u8]) -> Result<Function> {
    let fill = u8::from(name.starts_with(b"less"));
    Function::from_packed(move |args: &[AnyView<'_>]| {
        if let Some(tensor) = args.last().and_then(TensorRef::from_view) {
            let bytes = tensor.size_bytes().unwrap_or_default();
            if bytes <= 1 << 20 && !tensor.data_ptr().is_null() {
                // SAFETY: kernels own the tensors that they write.
                unsafe {
                    tensor
                        .data_ptr()
                        .cast::<u8>()
                        .add(tensor.byte_offset() as usize)
                        .write_bytes(fill, bytes)
                };
            }
        }
        Ok(Any::NONE)
    })
}

/// Creates a machine whose kernels are stubs.
pub fn machine(bytes: &[u8]) -> Result<Machine> {
    let machine = Machine::new(load(bytes)?);
    machine.initialize_on_cpu(Kind::Naive, &|name| stub(name).map(Some))?;
    Ok(machine)
}

/// Returns the executable of a fixture.
pub fn fixture(model: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/relax/models");
    std::fs::read(format!("{root}/{model}/bytecode.vm")).expect("a fixture")
}

/// Returns the kind and message of an error.
pub fn texts<T>(result: Result<T>) -> (String, String) {
    let error = match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(error.kind_bytes()), text(error.message_bytes()))
}
