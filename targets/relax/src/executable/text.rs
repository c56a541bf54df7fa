//! Text output of executables: an assembly listing, and Python code that rebuilds the executable.
#![forbid(unsafe_code)]

use ferrite_core::String;
use ferrite_core::error::Result;
use ferrite_core::platform::text::Writer;

use super::code::{Destination, Instruction, Operand, Value};
use super::{FunctionInfo, FunctionKind, Program};

/// The numbers of the special registers.
const VOID: i64 = 1 << 54;
const MACHINE: i64 = VOID + 1;

/// Writes text, padded with spaces to `width` bytes.
fn padded(out: &mut Writer<'_>, width: usize, write: impl FnOnce(&mut Writer<'_>)) {
    let end = out.wanted + width;
    write(out);
    while out.wanted < end {
        out.put(b" ");
    }
}

impl Program {
    /// Returns the assembly listing of all functions.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::AsText` in `src/runtime/vm/executable.cc`.
    pub fn as_text(&self) -> Result<String> {
        String::compose(&|out| {
            for function in self.functions() {
                out.put(b"@");
                out.put(self.name(function));
                match function.kind {
                    FunctionKind::Packed => out.put(b" packed_func;\n"),
                    FunctionKind::Compiled => {
                        out.put(b" num_inputs=");
                        out.put_word(function.arguments);
                        out.put(b" vm_tir_func;\n");
                    }
                    FunctionKind::Bytecode => {
                        out.put(b":\n");
                        self.each_instruction(function, |number, instruction| {
                            self.write_assembly(number, instruction, out);
                        });
                    }
                }
                out.put(b"\n");
            }
        })
    }

    /// Returns Python code that rebuilds the functions.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `VMExecutable::AsPython` in `src/runtime/vm/executable.cc`.
    pub fn as_python(&self) -> Result<String> {
        String::compose(&|out| {
            out.put(b"ib = rx.Builder()\n");
            for function in
                self.functions().iter().filter(|function| function.kind == FunctionKind::Bytecode)
            {
                out.put(b"with ib.function(\"");
                out.put(self.name(function));
                out.put(b"\", num_inputs=");
                out.put_word(function.arguments);
                out.put(b"):\n");
                self.each_instruction(function, |number, instruction| {
                    self.write_python(number, instruction, out);
                });
            }
        })
    }

    fn each_instruction(&self, function: &FunctionInfo, mut write: impl FnMut(usize, Instruction)) {
        let range = function.instructions.clone();
        for (number, instruction) in range.clone().zip(&self.code().instructions()[range]) {
            write(number, instruction.plain());
        }
    }

    fn name_of(&self, function: usize) -> &[u8] {
        self.functions().get(function).map_or(b"", |function| self.name(function))
    }

    fn write_assembly(&self, number: usize, instruction: Instruction, out: &mut Writer<'_>) {
        out.put(b"  ");
        match instruction {
            // `plain` makes them calls.
            Instruction::Clear { .. } | Instruction::Place { .. } => {}
            Instruction::Call { count, function, first, destination } => {
                padded(out, 6, |out| out.put(b"call"));
                padded(out, 16, |out| out.put(self.name_of(function as usize)));
                out.put(b" in: ");
                padded(out, 12, |out| {
                    self.write_list(first, count, out, |value, out| self.write_value(value, out))
                });
                out.put(b" dst: ");
                self.write_value(register(destination), out);
            }
            Instruction::Return { value } => {
                padded(out, 6, |out| out.put(b"ret "));
                self.write_value(self.code().value(value), out);
            }
            Instruction::Jump { target } => {
                padded(out, 6, |out| out.put(b"goto"));
                out.put_number(i64::from(target) - number as i64);
            }
            Instruction::Branch { condition, target } => {
                padded(out, 6, |out| out.put(b"If"));
                self.write_value(self.code().value(condition), out);
                out.put(b", ");
                out.put_number(i64::from(target) - number as i64);
            }
        }
        out.put(b"\n");
    }

    fn write_list(
        &self,
        first: u32,
        count: u16,
        out: &mut Writer<'_>,
        write: impl Fn(Value, &mut Writer<'_>),
    ) {
        for (index, operand) in self.code().arguments(first, count).iter().enumerate() {
            if index > 0 {
                out.put(b", ");
            }
            write(self.code().value(*operand), out);
        }
    }

    fn write_value(&self, value: Value, out: &mut Writer<'_>) {
        match value {
            Value::Register(register) => {
                out.put(b"%");
                out.put_word(register);
            }
            Value::Void => out.put(b"%void"),
            Value::Machine => out.put(b"%vm"),
            Value::Immediate(number) => {
                out.put(b"i");
                out.put_number(number);
            }
            Value::Constant(constant) => {
                out.put(b"c[");
                out.put_word(constant);
                out.put(b"]");
            }
            Value::Function(function) => {
                out.put(b"f[");
                out.put(self.name_of(function));
                out.put(b"]");
            }
        }
    }

    fn write_python(&self, number: usize, instruction: Instruction, out: &mut Writer<'_>) {
        out.put(b"    ib.emit_");
        match instruction {
            Instruction::Clear { .. } | Instruction::Place { .. } => {}
            Instruction::Call { count, function, first, destination } => {
                out.put(b"call(\"");
                out.put(self.name_of(function as usize));
                out.put(b"\", args=[");
                self.write_list(first, count, out, |value, out| {
                    self.write_python_value(value, out)
                });
                out.put(b"]");
                if let Some(register) = destination.register() {
                    out.put(b", dst=ib.r(");
                    out.put_word(register);
                    out.put(b")");
                }
            }
            Instruction::Return { value } => {
                out.put(b"ret(");
                self.write_python_register(value, out);
            }
            Instruction::Jump { target } => {
                out.put(b"goto(");
                out.put_number(i64::from(target) - number as i64);
            }
            Instruction::Branch { condition, target } => {
                out.put(b"if(");
                self.write_python_register(condition, out);
                out.put(b", ");
                out.put_number(i64::from(target) - number as i64);
            }
        }
        out.put(b")\n");
    }

    /// Writes the register number of an operand.
    fn write_python_register(&self, operand: Operand, out: &mut Writer<'_>) {
        out.put(b"ib.r(");
        out.put_number(match self.code().value(operand) {
            Value::Register(register) => register as i64,
            Value::Machine => MACHINE,
            _ => VOID,
        });
        out.put(b")");
    }

    fn write_python_value(&self, value: Value, out: &mut Writer<'_>) {
        let number = match value {
            Value::Machine => return out.put(b"ib.r(vm)"),
            Value::Function(function) => {
                out.put(b"ib.f(\"");
                out.put(self.name_of(function));
                return out.put(b"\")");
            }
            Value::Register(register) => {
                out.put(b"ib.r(");
                register as i64
            }
            Value::Void => {
                out.put(b"ib.r(");
                VOID
            }
            Value::Immediate(number) => {
                out.put(b"ib.imm(");
                number
            }
            Value::Constant(constant) => {
                out.put(b"ib.c(");
                constant as i64
            }
        };
        out.put_number(number);
        out.put(b")");
    }
}

fn register(destination: Destination) -> Value {
    destination.register().map_or(Value::Void, Value::Register)
}
