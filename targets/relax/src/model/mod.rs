//! Models for embedding in programs: an executable with an initialized machine, whose inputs have
//! names.
//!
//! | file | content |
//! |---|---|
//! | `record` | [`Model`], the model object |
//! | `load` | models from files, bytes and modules |
//! | `linked_library` | system libraries in builds without modules |
//! | `kernels` | [`Kernels`], the source of a model's kernels |
//! | `function` | [`ModelFunction`] and [`Input`]: names, element types and shapes |
//! | `inputs` | [`Inputs`], inputs by name |
//! | `parameters` | [`Parameters`], weights in a file of their own |
//! | `profile` | time per operator |

mod function;
mod inputs;
mod kernels;
#[cfg(any(not(feature = "all-builtins"), test))]
mod linked_library;
#[cfg(feature = "all-builtins")]
mod load;
mod parameters;
#[cfg(feature = "std")]
mod profile;
mod record;

#[cfg(feature = "all-builtins")]
use ferrite_alloc_ext::module::system_lib;
#[cfg(feature = "all-builtins")]
use ferrite_core::String;
use ferrite_core::error::Result;

pub use crate::executable::TensorType;
#[cfg(feature = "std")]
pub use crate::machine::{OperatorTime, Profile};
pub use ferrite_alloc_ext::containers::MapObject;
pub use function::{Input, ModelFunction};
pub use inputs::Inputs;
pub use kernels::{Kernel, Kernels};
#[cfg(not(feature = "all-builtins"))]
pub use linked_library::register as register_system_symbol;
pub use parameters::Parameters;
#[cfg(feature = "all-builtins")]
pub(crate) use parameters::load_params;
#[cfg(feature = "std")]
pub(crate) use parameters::load_params_from_file;
pub use record::Model;

impl Model {
    /// Creates a model from a system library: objects that TVM compiled with `system_lib` and that
    /// are linked into the program. `prefix` is the library's `system_lib_prefix`, empty by
    /// default.
    ///
    /// # Errors
    /// InternalError for a malformed executable and for a missing kernel; TypeError if no library
    /// with a model is registered under the prefix, InternalError in builds without modules;
    /// MemoryError.
    ///
    /// # Upstream
    /// `relax.VirtualMachine(tvm.runtime.system_lib(prefix), tvm.cpu())`.
    pub fn from_system_library(prefix: impl AsRef<[u8]>) -> Result<Model> {
        #[cfg(not(feature = "all-builtins"))]
        return linked_library::model(prefix.as_ref());
        #[cfg(feature = "all-builtins")]
        Model::from_module(&system_lib::module(&String::from_bytes(prefix.as_ref())?)?)
    }
}
