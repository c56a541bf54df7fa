//! Numbers of 16 bits of the crate `half`: elements of tensors; as arguments and results they are
//! floats.

use half::{bf16, f16};

use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::{any_from, any_texts};

macro_rules! numbers {
    ($($name:ident)*) => {$(
        /// A float, rounded to the nearest number of 16 bits when it is read.
        // SAFETY: a float cell points to nothing.
        unsafe impl AnyCompatible for $name {
            any_texts!("float", "float");

            fn view(&self) -> AnyView<'_> {
                AnyView::from(self.to_f64())
            }

            fn into_any(self) -> Any {
                self.to_f64().into_any()
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                Ok(f64::try_from_view(view)?.map($name::from_f64))
            }
        }
    )*};
}

numbers!(f16 bf16);

any_from!(f16, bf16);

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::abi::type_index;
    use crate::{Function, Tensor};
    use std::string::ToString;

    #[test]
    fn elements_have_dtypes_of_16_bits() -> Result<()> {
        let halves = Tensor::from_slice(&[f16::from_f32(1.5)], &[1])?;
        let brains = Tensor::from_slice(&[bf16::from_f32(1.5)], &[1])?;
        assert_eq!(crate::value::dtype::to_string(halves.dtype())?, "float16");
        assert_eq!(crate::value::dtype::to_string(brains.dtype())?, "bfloat16");
        assert_eq!(halves.as_slice::<f16>()?[0].to_bits(), 0x3e00);
        assert_eq!(brains.as_slice::<bf16>()?[0].to_bits(), 0x3fc0);
        let error = halves.as_slice::<bf16>().unwrap_err();
        assert_eq!(error.message(), "expected a tensor of dtype `bfloat16` but got `float16`");
        Ok(())
    }

    #[test]
    fn arguments_and_results_are_floats() -> Result<()> {
        let twice = Function::from_typed(|x: f16| x + x)?;
        let result: Any = twice.call((f16::from_f32(0.25),))?;
        assert_eq!(result.type_index(), type_index::FLOAT);
        assert_eq!(result.get::<f64>()?, 0.5);
        assert_eq!(twice.call::<bf16>((3,))?.to_f32(), 6.0);
        // Values beyond the range are infinite, as where `f64` becomes `f32`.
        assert_eq!(Any::from(1e6).get::<f16>()?, f16::INFINITY);
        let error = twice.call::<f16>(("x",)).unwrap_err();
        assert!(error.to_string().ends_with("Expected `float` but got `ffi.SmallStr`"), "{error}");
        Ok(())
    }
}
