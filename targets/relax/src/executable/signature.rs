//! Types of inputs and numbers of results, derived from the code of a function, which begins with
//! checks of its inputs.
#![forbid(unsafe_code)]

use ferrite_core::abi::DLDataType;

use super::code::{Instruction, Operand, Value};
use super::{FunctionInfo, FunctionKind, Program};

/// Code of `vm.builtin.match_shape` for an extent that must equal a value.
const EQUAL: i64 = 0;

/// Declared type and shape of an input.
#[derive(Clone, Copy, Default)]
pub struct TensorType<'a> {
    dtype: Option<DLDataType>,
    ndim: Option<usize>,
    program: Option<&'a Program>,
    /// Operands of `vm.builtin.match_shape`: a code and a value for each extent.
    extents: &'a [Operand],
}

impl TensorType<'_> {
    /// Returns the element type; `None` if it is not known.
    pub fn dtype(&self) -> Option<DLDataType> {
        self.dtype
    }

    /// Returns the number of dimensions; `None` if it is not known.
    pub fn ndim(&self) -> Option<usize> {
        self.ndim
    }

    /// Returns the extents; `None` for each that may vary. Empty if the number of dimensions is not
    /// known.
    pub fn shape(&self) -> impl ExactSizeIterator<Item = Option<i64>> + '_ {
        (0..self.ndim.unwrap_or_default()).map(|axis| self.extent(axis))
    }

    fn extent(&self, axis: usize) -> Option<i64> {
        let code = self.program?.code();
        let [kind, value] = self.extents.get(2 * axis..2 * axis + 2)?.first_chunk()?;
        match (code.value(*kind), code.value(*value)) {
            (Value::Immediate(EQUAL), Value::Immediate(extent)) => Some(extent),
            _ => None,
        }
    }
}

impl Program {
    /// Returns the type that a function demands of an input.
    pub fn input_type(&self, function: &FunctionInfo, input: usize) -> TensorType<'_> {
        let mut found = TensorType { program: Some(self), ..TensorType::default() };
        // `match_shape` is for values of class Shape, too.
        let mut is_tensor = false;
        for (name, args, destination) in self.first_calls(function) {
            match (name, args.split_first()) {
                (b"vm.builtin.check_tensor_info", Some((value, rest)))
                    if self.is_input(*value, input) =>
                {
                    self.read_check(&mut found, rest);
                    is_tensor = true;
                }
                (
                    b"vm.builtin.match_shape",
                    Some((value, [_heap, _count, pairs @ .., _context])),
                ) if is_tensor && self.is_input(*value, input) => {
                    found.ndim = Some(pairs.len() / 2);
                    found.extents = pairs;
                }
                _ => {}
            }
            if destination == Some(input) {
                break;
            }
        }
        found
    }

    fn is_input(&self, operand: Operand, input: usize) -> bool {
        self.code.value(operand) == Value::Register(input)
    }

    /// Reads the operands of `vm.builtin.check_tensor_info` after the first: (ndim or -1[, dtype],
    /// context).
    fn read_check(&self, found: &mut TensorType<'_>, operands: &[Operand]) {
        let mut values = operands.iter().map(|operand| self.code.value(*operand));
        if let Some(Value::Immediate(ndim)) = values.next() {
            found.ndim = usize::try_from(ndim).ok();
        }
        if let (Some(Value::Constant(index)), true) = (values.next(), operands.len() > 2) {
            found.dtype =
                self.constants.get(index).and_then(|constant| constant.try_get().ok().flatten());
        }
    }

    /// Returns the number of results of a function: 1, or the length of the returned tuple. `None`
    /// if the number is not evident from the code, because the result comes from another call or
    /// from several places.
    pub fn output_count(&self, function: &FunctionInfo) -> Option<usize> {
        let mut made = None;
        let mut returned = None;
        let body = self.body(function);
        for instruction in body {
            if let Instruction::Return { value } = instruction {
                let Value::Register(register) = self.code.value(*value) else { return None };
                if returned.replace(register).is_some() {
                    return None;
                }
            }
        }
        let returned = returned?;
        for instruction in body {
            let (count, destination) = match *instruction {
                Instruction::Place { destination, .. } => (Some(1), destination),
                Instruction::Call { count, function, destination, .. } => {
                    let count = match self.function_name(function) {
                        b"vm.builtin.make_tuple" => Some(usize::from(count)),
                        b"vm.builtin.alloc_tensor" | b"vm.builtin.reshape" => Some(1),
                        _ => None,
                    };
                    (count, destination)
                }
                _ => continue,
            };
            if destination.register() == Some(returned) {
                made = count;
            }
        }
        made
    }

    /// Returns the calls of a function up to its first branch: the names, the arguments, and the
    /// destinations.
    fn first_calls<'a>(
        &'a self,
        function: &FunctionInfo,
    ) -> impl Iterator<Item = (&'a [u8], &'a [Operand], Option<usize>)> {
        self.body(function).iter().map_while(|instruction| match instruction.plain() {
            Instruction::Call { count, function, first, destination } => Some((
                self.function_name(function),
                self.code.arguments(first, count),
                destination.register(),
            )),
            _ => None,
        })
    }

    fn body(&self, function: &FunctionInfo) -> &[Instruction] {
        let range = match function.kind {
            FunctionKind::Bytecode => function.instructions.clone(),
            _ => 0..0,
        };
        self.code.instructions().get(range).unwrap_or_default()
    }

    fn function_name(&self, function: u32) -> &[u8] {
        self.functions.get(function as usize).map_or(b"", |info| self.name(info))
    }
}
