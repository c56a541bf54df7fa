//! Functions of a model, and the declared types of their inputs and results.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView};

use super::Model;
use crate::executable::{FunctionInfo, FunctionKind, Program, TensorType};

/// A function of a model, found by name.
///
/// # Threads
/// Same rules as for [`Model`].
///
/// # Examples
/// ```
/// # use ferrite::relax::model::Model;
/// # fn main() -> ferrite::Result<()> {
/// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
/// # if !cfg!(all(target_arch = "x86_64", target_os = "linux")) { return Ok(()); } // the libraries' machine code
/// let main = Model::load("cnn/bytecode.so")?.function("main")?;
/// for input in main.inputs() {
///     let tensor = input.tensor_type();
///     println!("{}: {:?} {:?}", input.name(), tensor.dtype(), tensor.shape().collect::<Vec<_>>());
/// }
/// assert_eq!((main.input_position("x"), main.output_count()), (Some(0), Some(1)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ModelFunction {
    model: Model,
    index: usize,
}

impl Model {
    /// Returns a function of the model by name.
    ///
    /// # Errors
    /// ValueError if the model has no such function.
    pub fn function(&self, name: impl AsRef<[u8]>) -> Result<ModelFunction> {
        let index = self.machine().find(name.as_ref())?;
        Ok(ModelFunction { model: self.clone(), index })
    }

    /// Returns the names of the functions that the model defines. Some may be auxiliary functions
    /// of the compiler.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        let executable = self.machine().executable();
        let own = executable.functions().iter().filter(|info| info.kind != FunctionKind::Packed);
        own.map(|info| text(executable.name(info)))
    }
}

impl ModelFunction {
    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    fn program(&self) -> &Program {
        self.model.machine().executable()
    }

    fn info(&self) -> &FunctionInfo {
        &self.program().functions()[self.index]
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        text(self.program().name(self.info()))
    }

    /// Returns the inputs in order.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Input<'_>> {
        let (program, info) = (self.program(), self.info());
        let names = program.parameters(info).enumerate();
        names.map(move |(index, name)| Input { program, info, index, name: text(name) })
    }

    /// Returns the position of an input; `None` if the function has no input of this name.
    pub fn input_position(&self, name: impl AsRef<[u8]>) -> Option<usize> {
        self.program().parameters(self.info()).position(|input| input == name.as_ref())
    }

    /// Returns the number of results; `None` if it is not known before a call, as in functions that
    /// are native code. A function with several results, or with a tuple of one, returns an array.
    /// Results have no names.
    pub fn output_count(&self) -> Option<usize> {
        self.program().output_count(self.info())
    }

    /// Calls the function, with its inputs in order.
    ///
    /// # Errors
    /// Errors of [`Machine::call`](crate::machine::Machine::call). The model can be used after an
    /// error.
    pub fn call_packed(&self, args: &[AnyView<'_>]) -> Result<Any> {
        self.model.machine().call(self.index, args)
    }
}

/// An input of a function.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    program: &'a Program,
    info: &'a FunctionInfo,
    index: usize,
    name: &'a str,
}

impl<'a> Input<'a> {
    /// Returns the name.
    pub fn name(self) -> &'a str {
        self.name
    }

    /// Returns the declared type and shape. Inputs that are tuples, and those of native functions,
    /// declare none.
    pub fn tensor_type(self) -> TensorType<'a> {
        self.program.input_type(self.info, self.index)
    }

    /// Returns the element type; `None` if it is not known.
    pub fn dtype(self) -> Option<DLDataType> {
        self.tensor_type().dtype()
    }
}

/// Returns a name as text; empty if it is not UTF-8.
pub(super) fn text(name: &[u8]) -> &str {
    core::str::from_utf8(name).unwrap_or_default()
}
