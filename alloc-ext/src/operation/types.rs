//! Runtime descriptors of parameter and result types: argument checks, conversions and signatures.

use ferrite_core::String;
use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::call::typed::{Callee, Signature};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{Described, TargetTexts, TypeText};

use super::key::{self, Key};
use crate::containers::{self, Array, ArrayObject, Dict, DictObject, List, ListObject, MapObject};
use crate::module::Module;
use crate::structural::any_arg::AnyArg;

/// Maximum number of parameters of an operation.
pub(crate) const MAX_PARAMS: usize = 4;

/// Function that copies an Array argument into a new List, or a Map argument into a new Dict.
pub(crate) type Copying = unsafe fn(&AnyView<'_>) -> Result<Any>;

/// A Rust type that is a parameter or result type of operations.
pub(crate) trait TypeOfRust {
    /// Runtime descriptor of this Rust type.
    const TYPE: Type;
}

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        /// Runtime descriptor of a parameter or result type, in one byte.
        #[derive(Clone, Copy)]
        #[repr(u8)]
        pub(crate) enum Type {
            $($(#[$doc])* $name),*
        }

        impl Type {
            /// Returns the name of the type in error messages and schemas.
            const fn text(self) -> &'static TypeText {
                match self {
                    $(Type::$name => <$type as Described>::RESULT_TYPE),*
                }
            }
        }

        $(impl TypeOfRust for $type {
            const TYPE: Type = Type::$name;
        })*
    };
}

types! {
    Void: ();
    Any: Any;
    AnyView: AnyArg;
    /// A value that is compared with others. If comparing it may call hooks, the operation runs on
    /// owned arguments.
    Key: Key;
    /// An int or a bool.
    Int: i64;
    Bool: bool;
    /// An int, a bool or None.
    OptionalInt: Option<i32>;
    /// A string, inline or on the heap.
    Text: String;
    OptionalText: Option<String>;
    Texts: Array<String>;
    Function: Function;
    OptionalFunction: Option<Function>;
    Module: Module;
    Array: ArrayObject;
    List: ListObject;
    /// A List to be changed. An Array is copied into a new List.
    ChangedList: List;
    Map: MapObject;
    Dict: DictObject;
    /// A Dict to be changed. A Map is copied into a new Dict.
    ChangedDict: Dict;
}

/// Parameter and result types of an operation.
pub(crate) struct Types {
    params: [Type; MAX_PARAMS],
    params_len: u8,
    result: Type,
}

impl Types {
    /// Creates the types of an operation from its parameter types and its result type.
    pub(crate) const fn new(types: &[Type], result: Type) -> Types {
        let mut params = [Type::Void; MAX_PARAMS];
        params.split_at_mut(types.len()).0.copy_from_slice(types);
        Types { params, params_len: types.len() as u8, result }
    }

    /// Returns the parameter types.
    #[inline(always)]
    pub(crate) fn params(&self) -> &[Type] {
        self.params.get(..usize::from(self.params_len)).unwrap_or_default()
    }

    /// Calls `then` with the name and signature of a function, for error messages and schemas.
    ///
    /// # Errors
    /// Errors of `then`.
    #[inline(never)]
    pub(crate) fn with_callee(
        &self,
        name: &str,
        then: &mut dyn FnMut(&Callee<'_>) -> Result<()>,
    ) -> Result<()> {
        let params = self.params.map(|param| TargetTexts::of_text(param.text()));
        let params = params.get(..usize::from(self.params_len)).unwrap_or_default();
        then(&Callee::new(name, &Signature::new(params, self.result.text())))
    }
}

impl Type {
    /// Returns `true` if an argument can be used without conversion.
    #[inline(always)]
    pub(super) fn accepts(self, arg: &AnyView<'_>) -> bool {
        match self {
            Type::Any | Type::AnyView => !type_index::is_view_only(arg.type_index()),
            Type::Key => !type_index::is_view_only(arg.type_index()) && !key::may_have_hooks(arg),
            Type::Text => match arg.type_index() {
                type_index::SMALL_STR => arg.as_raw().small_str_len <= 7,
                type_index::STR => arg.object_ptr().is_some(),
                _ => false,
            },
            Type::Int | Type::Bool => {
                matches!(arg.type_index(), type_index::INT | type_index::BOOL)
            }
            Type::OptionalInt => {
                matches!(arg.type_index(), type_index::NONE | type_index::INT | type_index::BOOL)
            }
            _ => is_instance(arg, self.class()),
        }
    }

    /// Returns the type index of the class that an argument must be an instance of. For types that
    /// are not classes, returns the index of None, which no object has.
    const fn class(self) -> i32 {
        match self {
            Type::Module => type_index::MODULE,
            Type::Array => type_index::ARRAY,
            Type::List | Type::ChangedList => type_index::LIST,
            Type::Map => type_index::MAP,
            Type::Dict | Type::ChangedDict => type_index::DICT,
            _ => type_index::NONE,
        }
    }

    /// Converts an argument into an owned value. Returns `false` if the argument has another type.
    fn convert(self, arg: &AnyView<'_>, copy: Option<Copying>, owned: &mut Any) -> Result<bool> {
        let (mut arg, mut accepted) = (*arg, true);
        match self {
            Type::Any | Type::AnyView | Type::Key => {}
            Type::Text => {
                let is_owned_form =
                    matches!(arg.type_index(), type_index::SMALL_STR | type_index::STR);
                accepted = is_owned_form || arg.bytes_of_string().is_some();
            }
            _ => {
                arg = containers::referent(arg);
                accepted = self.accepts(&arg);
            }
        }
        if accepted {
            *owned = arg.to_owned()?;
            return Ok(true);
        }
        let source = match self {
            Type::ChangedList => type_index::ARRAY,
            Type::ChangedDict => type_index::MAP,
            _ => return Ok(false),
        };
        match copy {
            Some(copy) if is_instance(&arg, source) => {
                // SAFETY: the argument is of the class that `copy` accepts.
                *owned = unsafe { copy(&arg) }?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Returns `true` if a value is an object of a class or of a derived class.
#[inline(always)]
fn is_instance(arg: &AnyView<'_>, class: i32) -> bool {
    arg.object_ptr().is_some() && type_table::is_instance(arg.type_index(), class)
}

/// Empty storage for converted arguments.
pub(crate) const NO_ARGUMENTS: [Any; MAX_PARAMS] = [const { Any::NONE }; MAX_PARAMS];

/// Converts the arguments of a call into owned values. `name` is for error messages.
///
/// # Errors
/// TypeError for a wrong number or type of arguments; errors of conversions.
#[inline(never)]
pub(crate) fn convert(
    name: &str,
    types: &Types,
    copy: Option<Copying>,
    args: &[AnyView<'_>],
    owned: &mut [Any; MAX_PARAMS],
) -> Result<()> {
    let params = types.params();
    let mut index = 0;
    if args.len() == params.len() {
        for ((param, arg), owned) in params.iter().zip(args).zip(owned) {
            if !param.convert(arg, copy, owned)? {
                break;
            }
            index += 1;
        }
        if index == args.len() {
            return Ok(());
        }
    }
    types.with_callee(name, &mut |callee| {
        Err(match args.get(index) {
            Some(arg) if args.len() == params.len() => callee.wrong_type(index, *arg),
            _ => callee.wrong_count(args.len()),
        })
    })
}
