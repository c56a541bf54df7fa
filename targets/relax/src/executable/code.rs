//! Instructions, decoded and validated when an executable is loaded: every register, constant,
//! function and jump is in range.
#![forbid(unsafe_code)]

use core::ops::Range;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::function::{FunctionInfo, FunctionKind};
use super::reader::{Words, malformed};

/// Register number that reads as None; writes to it are discarded.
const VOID_REGISTER: i64 = 1 << 54;
/// Register number that reads as a pointer to the machine.
const MACHINE_REGISTER: i64 = VOID_REGISTER + 1;

/// Number of recent immediates among which an equal one is searched before a new one is stored.
const RECENT_IMMEDIATES: usize = 16;

/// An instruction. Jump targets are instruction indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Calls a function of the function table.
    Call {
        /// Number of arguments.
        count: u16,
        /// Index of the function.
        function: u32,
        /// Index of the first argument among all operands.
        first: u32,
        /// Register for the result.
        destination: Destination,
    },
    /// Sets a register to None: a call of `vm.builtin.null_value`.
    Clear {
        /// Index of the function.
        function: u32,
        /// Register to clear.
        destination: Destination,
    },
    /// Places a tensor in a storage: a call of `vm.builtin.alloc_tensor` with four arguments.
    Place {
        /// Index of the function.
        function: u32,
        /// Index of the first argument among all operands.
        first: u32,
        /// Register for the tensor.
        destination: Destination,
    },
    /// Returns a value from the function.
    Return {
        /// The returned value.
        value: Operand,
    },
    /// Jumps unconditionally.
    Jump {
        /// Index of the next instruction.
        target: u32,
    },
    /// Jumps if a condition is zero; otherwise continues with the next instruction.
    Branch {
        /// The condition.
        condition: Operand,
        /// Index of the next instruction if the condition is zero.
        target: u32,
    },
}

impl Instruction {
    /// Returns the instruction as the executable encodes it: `Clear` and `Place` become calls.
    pub fn plain(self) -> Instruction {
        match self {
            Instruction::Clear { function, destination } => {
                Instruction::Call { count: 0, function, first: 0, destination }
            }
            Instruction::Place { function, first, destination } => {
                Instruction::Call { count: PLACE_ARGUMENTS, function, first, destination }
            }
            other => other,
        }
    }
}

/// Number of arguments of [`Instruction::Place`].
pub const PLACE_ARGUMENTS: u16 = 4;

/// Indices of the builtins with dedicated instructions, in the function table.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    /// Index of `vm.builtin.null_value`.
    pub null_value: Option<usize>,
    /// Index of `vm.builtin.alloc_tensor`.
    pub alloc_tensor: Option<usize>,
}

/// Destination of a result: a register or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination(u32);

impl Destination {
    /// No register: the result is dropped.
    pub const NONE: Destination = Destination(u32::MAX);

    /// Returns the index of the register; `None` if the result is dropped.
    #[inline]
    pub fn register(self) -> Option<usize> {
        if self == Destination::NONE { None } else { Some(self.0 as usize) }
    }
}

/// An operand: a register, or one of the machine's literals.
///
/// The literals are the constants, the functions, None, the machine, and the immediates, in this
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(u32);

const LITERAL: u32 = 1 << 31;

impl Operand {
    /// Returns `true` if the operand is a literal, not a register.
    #[inline]
    pub fn is_literal(self) -> bool {
        self.0 & LITERAL != 0
    }

    /// Returns the index of the register or of the literal.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & !LITERAL) as usize
    }

    fn literal(index: usize) -> Option<Operand> {
        u32::try_from(index)
            .ok()
            .filter(|index| index & LITERAL == 0)
            .map(|index| Operand(index | LITERAL))
    }
}

/// A decoded operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A register.
    Register(usize),
    /// A constant, by index.
    Constant(usize),
    /// A function, by index.
    Function(usize),
    /// None.
    Void,
    /// A pointer to the machine.
    Machine,
    /// An immediate integer.
    Immediate(i64),
}

/// The instructions of all functions.
pub struct Code {
    instructions: Buffer<Instruction>,
    operands: Buffer<Operand>,
    immediates: Buffer<i64>,
    constants: usize,
    functions: usize,
}

impl Code {
    pub(super) const fn new() -> Code {
        Code {
            instructions: Buffer::new(),
            operands: Buffer::new(),
            immediates: Buffer::new(),
            constants: 0,
            functions: 0,
        }
    }

    /// Returns all instructions.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns all operands.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
    }

    /// Returns the arguments of a call.
    pub fn arguments(&self, first: u32, count: u16) -> &[Operand] {
        self.operands.get(first as usize..first as usize + usize::from(count)).unwrap_or_default()
    }

    /// Returns the integers among the literals.
    pub fn immediates(&self) -> &[i64] {
        &self.immediates
    }

    /// Decodes an operand.
    pub fn value(&self, operand: Operand) -> Value {
        let index = operand.index();
        if !operand.is_literal() {
            return Value::Register(index);
        }
        let Some(function) = index.checked_sub(self.constants) else {
            return Value::Constant(index);
        };
        match function.checked_sub(self.functions) {
            None => Value::Function(function),
            Some(0) => Value::Void,
            Some(1) => Value::Machine,
            Some(immediate) => {
                Value::Immediate(self.immediates.get(immediate - 2).copied().unwrap_or_default())
            }
        }
    }

    /// Decodes the instructions, and validates them against the functions that contain them.
    ///
    /// # Errors
    /// InternalError for a malformed section; MemoryError.
    pub(super) fn decode(
        &mut self,
        offsets: Words<'_>,
        words: Words<'_>,
        functions: &mut [FunctionInfo],
        known: Known,
        constants: usize,
    ) -> Result<()> {
        (self.constants, self.functions) = (constants, functions.len());
        self.instructions.try_reserve(offsets.len())?;
        for number in 0..offsets.len() {
            let start = offsets.get(number).and_then(|offset| usize::try_from(offset).ok());
            let Some(start) = start else { return Err(malformed("instr offset")) };
            let instruction =
                InstructionDecoder { code: self, words, known, number, at: start }.instruction()?;
            self.instructions.try_push(instruction)?;
        }
        self.check(functions)
    }

    fn check(&self, functions: &mut [FunctionInfo]) -> Result<()> {
        // Functions do not share instructions, which bounds the work.
        let mut checked = 0;
        for function in functions {
            if function.kind != FunctionKind::Bytecode {
                continue;
            }
            let range = function.instructions.clone();
            let Some(body) = self.instructions.get(range.clone()) else {
                return Err(malformed("Global Section"));
            };
            checked += body.len();
            if checked > self.instructions.len() || body.is_empty() {
                return Err(malformed("Global Section"));
            }
            for (number, instruction) in range.clone().zip(body) {
                let instruction = instruction.plain();
                if !self.fits(instruction, number, &range, function.registers) {
                    return Err(malformed("instr data"));
                }
                if let Instruction::Call { count, .. } = instruction {
                    function.call_arguments = function.call_arguments.max(usize::from(count));
                }
            }
        }
        Ok(())
    }

    /// Returns `true` if the registers and jump targets of an instruction are within its function.
    fn fits(
        &self,
        instruction: Instruction,
        number: usize,
        range: &Range<usize>,
        registers: usize,
    ) -> bool {
        let is_value = |operand: Operand| operand.is_literal() || operand.index() < registers;
        let is_place = |target: usize| range.contains(&target);
        match instruction {
            Instruction::Clear { .. } | Instruction::Place { .. } => false,
            Instruction::Call { count, first, destination, .. } => {
                destination.register().is_none_or(|register| register < registers)
                    && self.arguments(first, count).iter().copied().all(is_value)
                    && is_place(number + 1)
            }
            Instruction::Return { value } => is_value(value),
            // Compilers jump forward only, since models have no loops: so every function ends.
            Instruction::Jump { target } => target as usize > number && is_place(target as usize),
            Instruction::Branch { condition, target } => {
                is_value(condition) && is_place(target as usize) && is_place(number + 1)
            }
        }
    }

    /// Returns the operand for an immediate. Stores the immediate among the literals if necessary.
    fn immediate(&mut self, value: i64) -> Result<Option<Operand>> {
        let recent = self.immediates.len().saturating_sub(RECENT_IMMEDIATES);
        let known = self.immediates.iter().skip(recent).position(|known| *known == value);
        let index = match known {
            Some(position) => recent + position,
            None => {
                self.immediates.try_push(value)?;
                self.immediates.len() - 1
            }
        };
        Ok(Operand::literal(self.constants + self.functions + 2 + index))
    }
}

/// Decoder of one instruction.
struct InstructionDecoder<'a> {
    code: &'a mut Code,
    words: Words<'a>,
    known: Known,
    /// Index of the instruction.
    number: usize,
    /// Index of the next word to read.
    at: usize,
}

impl InstructionDecoder<'_> {
    fn instruction(mut self) -> Result<Instruction> {
        match self.word()? {
            1 => self.call(),
            2 => {
                let register = self.word()?;
                Ok(Instruction::Return { value: self.register(register)? })
            }
            3 => Ok(Instruction::Jump { target: self.target()? }),
            4 => {
                let register = self.word()?;
                let condition = self.register(register)?;
                let target = self.target()?;
                if target as usize <= self.number + 1 {
                    return Err(malformed("instr data"));
                }
                Ok(Instruction::Branch { condition, target })
            }
            _ => Err(malformed("instr data")),
        }
    }

    fn call(mut self) -> Result<Instruction> {
        let destination = match self.word()? {
            VOID_REGISTER.. => Destination::NONE,
            register => Destination(self.small(register)?),
        };
        let function = self.word()?;
        let function = self.below(function, self.code.functions)?;
        let count = u16::try_from(self.word()?).map_err(|_| malformed("instr data"))?;
        // Instructions that share words would make more of them than there are.
        if self.code.operands.len() + usize::from(count) > self.words.len() {
            return Err(malformed("instr data"));
        }
        let first = self.small(self.code.operands.len() as i64)?;
        for _ in 0..count {
            let word = self.word()?;
            let operand = self.operand(word)?;
            self.code.operands.try_push(operand)?;
        }
        Ok(match (Some(function as usize), count) {
            (known, 0) if known == self.known.null_value => {
                Instruction::Clear { function, destination }
            }
            (known, PLACE_ARGUMENTS) if known == self.known.alloc_tensor => {
                Instruction::Place { function, first, destination }
            }
            _ => Instruction::Call { count, function, first, destination },
        })
    }

    /// Decodes an argument word: the kind in the top eight bits, a signed number in the others.
    fn operand(&mut self, word: i64) -> Result<Operand> {
        let value = (word << 8) >> 8;
        let constants = self.code.constants;
        let literal = match word.cast_unsigned() >> 56 {
            0 => return self.register(value),
            1 => self.code.immediate(value)?,
            2 => Operand::literal(self.below(value, constants)? as usize),
            3 => Operand::literal(constants + self.below(value, self.code.functions)? as usize),
            _ => None,
        };
        literal.ok_or_else(|| malformed("instr data"))
    }

    fn register(&self, register: i64) -> Result<Operand> {
        let special = self.code.constants + self.code.functions;
        match register {
            VOID_REGISTER => Operand::literal(special),
            MACHINE_REGISTER => Operand::literal(special + 1),
            _ => Some(Operand(self.small(register)?)),
        }
        .ok_or_else(|| malformed("instr data"))
    }

    /// Reads the next word, a distance from this instruction, and returns the index of the target.
    fn target(&mut self) -> Result<u32> {
        let offset = self.word()?;
        self.small(offset.saturating_add(self.number as i64))
    }

    /// Converts a number to 32 bits, of which the top bit must be free to mark literals.
    fn small(&self, number: i64) -> Result<u32> {
        u32::try_from(number)
            .ok()
            .filter(|number| number & LITERAL == 0)
            .ok_or_else(|| malformed("instr data"))
    }

    fn below(&self, number: i64, end: usize) -> Result<u32> {
        let number = self.small(number)?;
        if (number as usize) < end { Ok(number) } else { Err(malformed("instr data")) }
    }

    fn word(&mut self) -> Result<i64> {
        let word = self.words.get(self.at).ok_or_else(|| malformed("instr data"))?;
        self.at += 1;
        Ok(word)
    }
}
