//! Executables of TVM's Relax compiler.

use ferrite::relax::executable::{Executable as Program, FunctionInfo, FunctionKind, Source};
use ferrite::{Any, Bytes, Result, Tensor};

use super::report::{Executable, RelaxFunction};

/// Describes a serialised executable.
pub fn describe(payload: &[u8]) -> Result<Executable> {
    let program = Program::load(Source::Bytes(Bytes::new(payload)?))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (calls, functions): (Vec<_>, Vec<_>) =
        program.functions().iter().partition(|function| function.kind == FunctionKind::Packed);
    let function = |function: &FunctionInfo| RelaxFunction {
        name: text(program.name(function)),
        kind: if function.kind == FunctionKind::Compiled { "compiled" } else { "bytecode" },
        parameters: program.parameters(function).map(text).collect(),
        registers: function.registers,
        instructions: function.instructions.len(),
    };
    let functions: Vec<_> = functions.into_iter().map(function).collect();
    Ok(Executable {
        constants: program.constants().len(),
        constant_bytes: program.constants().iter().map(tensor_bytes).sum(),
        instructions: functions.iter().map(|function| function.instructions).sum(),
        calls: calls.into_iter().map(|function| text(program.name(function))).collect(),
        functions,
    })
}

/// Returns the size of a tensor's data; 0 for other values.
fn tensor_bytes(value: &Any) -> usize {
    let tensor = value.try_get::<Tensor>().ok().flatten();
    tensor.and_then(|tensor| tensor.as_tensor_ref().size_bytes()).unwrap_or(0)
}
