//! Fuzzes Relax executables: any bytes are rejected or give an executable that survives
//! serialisation, and whose functions return a result or an error.
//!
//! An input is either the bytes of an executable, or edits to a fixture of `tests/programs/relax`,
//! so that all parts of an executable are reached.

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Bytes, Function, Shape, Tensor};
use ferrite_relax::executable::{Executable, FunctionKind, Source};
use ferrite_relax::machine::Machine;
use ferrite_relax::memory::Kind;

macro_rules! model {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/programs/relax/models/", $name, "/bytecode.vm"))
    };
}

/// Fixtures that are small and contain instructions of every kind. They are in the program, since a
/// fuzzer runs without the repository.
const MODELS: [&[u8]; 4] =
    [model!("control"), model!("mlp_dyn"), model!("mlp_i8"), model!("values")];

/// Returns the fixture that the first byte selects, with one byte replaced for each three further
/// bytes; or the input itself if there is no such fixture.
fn executable_of(input: &[u8]) -> Vec<u8> {
    let Some((first, edits)) = input.split_first() else { return Vec::new() };
    let Some(fixture) = MODELS.get(usize::from(*first)) else { return input.to_vec() };
    let mut bytes = fixture.to_vec();
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[at] = edit[2];
    }
    bytes
}

/// Loads an executable, and calls its functions with kernels that do nothing.
fn run_executable(bytes: &[u8]) -> Result<()> {
    let executable = Executable::load(Source::Bytes(Bytes::new(bytes)?))?;
    let text = executable.as_text()?;
    executable.as_python()?;
    let _ = executable.stats();
    let saved =
        Executable::load(Source::Bytes(executable.save()?)).expect("what was saved is loaded");
    assert_eq!(saved.as_text()?.as_bytes(), text.as_bytes());
    let machine = Machine::new(executable);
    machine
        .initialize_on_cpu(Kind::Naive, &|_| Function::from_packed(|_| Ok(Any::NONE)).map(Some))?;
    let values: [Any; 3] = [
        Tensor::from_slice(&[1.0f32; 4], &[4])?.into(),
        Tensor::from_slice(&[0i64], &[])?.into(),
        Shape::from_slice(&[2, 3])?.into(),
    ];
    for (index, function) in machine.executable().functions().iter().enumerate() {
        // Native code would be called with lists that fit only its own library.
        if function.kind == FunctionKind::Bytecode && function.arguments <= 8 {
            let args: Vec<AnyView<'_>> =
                values.iter().cycle().take(function.arguments).map(Any::view).collect();
            let _ = machine.call(index, &args);
        }
    }
    Ok(())
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let _ = run_executable(&executable_of(input));
}
