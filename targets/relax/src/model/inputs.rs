//! Calls with inputs that are given by name.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::{Any, AnyView, plain_error};

use super::{ModelFunction, Parameters};
use crate::machine::with_views;

/// The inputs of a function by name, kept from one call to the next.
///
/// # Examples
/// ```
/// use ferrite::Tensor;
/// use ferrite::relax::model::{Inputs, Model, Parameters};
///
/// # fn main() -> ferrite::Result<()> {
/// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
/// # if !cfg!(all(target_arch = "x86_64", target_os = "linux")) { return Ok(()); } // the libraries' machine code
/// let model = Model::load("mlp_i8/bytecode.so")?;
/// let mut inputs = Inputs::new(&model.function("main")?)?;
/// inputs.set_parameters(&Parameters::load("mlp_i8/params.bin")?)?; // the weights
/// for picture in [[0i8; 64], [127i8; 64]] {
///     inputs.set("x", Tensor::from_slice(&picture, &[1, 64])?)?;
///     let scores: Tensor = inputs.call()?.get()?;
///     assert_eq!(scores.shape(), [1, 10]);
/// }
/// assert!(inputs.set("y", 1).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Inputs {
    function: ModelFunction,
    values: Buffer<Any>,
    /// Whether each input was set.
    is_set: Buffer<bool>,
}

impl Inputs {
    /// Creates the inputs of a function. None is set.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(function: &ModelFunction) -> Result<Inputs> {
        let count = function.inputs().len();
        let (mut values, mut is_set) =
            (Buffer::try_with_capacity(count)?, Buffer::try_with_capacity(count)?);
        for _ in 0..count {
            values.try_push(Any::NONE)?;
            is_set.try_push(false)?;
        }
        Ok(Inputs { function: function.clone(), values, is_set })
    }

    /// Sets an input. A tensor is used in place.
    ///
    /// # Errors
    /// ValueError if the function has no input of this name.
    pub fn set(&mut self, name: impl AsRef<[u8]>, value: impl AnyCompatible) -> Result<()> {
        self.set_any(name.as_ref(), value.into_any())
    }

    /// Sets an input to a value of any type.
    ///
    /// # Errors
    /// ValueError if the function has no input of this name.
    pub fn set_any(&mut self, name: &[u8], value: Any) -> Result<()> {
        match self.function.input_position(name) {
            Some(position) => {
                self.put(position, value);
                Ok(())
            }
            None => Err(plain_error!(
                VALUE_ERROR,
                "The function {} has no input {}",
                self.function.name().as_bytes(),
                name
            )),
        }
    }

    fn put(&mut self, position: usize, value: Any) {
        if let (Some(place), Some(is_set)) =
            (self.values.get_mut(position), self.is_set.get_mut(position))
        {
            (*place, *is_set) = (value, true);
        }
    }

    /// Sets every input that has the name of a parameter. Returns their number; other parameters
    /// are ignored.
    ///
    /// # Errors
    /// MemoryError.
    pub fn set_parameters(&mut self, parameters: &Parameters) -> Result<usize> {
        let mut count = 0;
        for (name, tensor) in parameters.iter() {
            if let Some(position) = self.function.input_position(name) {
                self.put(position, tensor.clone().into());
                count += 1;
            }
        }
        Ok(count)
    }

    /// Calls the function. The inputs stay set.
    ///
    /// # Errors
    /// ValueError naming an input that is not set; errors of [`ModelFunction::call_packed`].
    pub fn call(&self) -> Result<Any> {
        if let Some(missing) = self.is_set.iter().position(|is_set| !is_set) {
            let name = self.function.inputs().nth(missing).map_or("", super::Input::name);
            return Err(plain_error!(
                VALUE_ERROR,
                "The input {} of the function {} is not set",
                name.as_bytes(),
                self.function.name().as_bytes()
            ));
        }
        with_views(&self.values, |args: &[AnyView<'_>]| self.function.call_packed(args))
    }
}
