//! Global functions that come in families: the arguments of each are data, and one body checks them all.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::{AnyCompatible, TargetTexts, TypeText};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::object::ObjectClass;
use ferrite_core::typed::{Callee, Signature};
use ferrite_core::{String, type_index, type_table};

use crate::containers::{self, Array, ArrayObject, Dict, DictObject, List, ListObject, MapObject};
use crate::module::Module;
use crate::structural::any_arg::AnyArg;

#[cfg_attr(not(feature = "speed"), path = "operation/as_data.rs")]
#[cfg_attr(feature = "speed", path = "operation/in_line.rs")]
mod entry;
mod key;
mod verb;

pub(crate) use entry::*;
pub(crate) use key::Key;
pub(crate) use verb::Verb;

/// The most arguments that an operation has.
pub(crate) const MOST: usize = 4;

/// One function of a family.
pub(crate) struct Operation {
    /// The name, for messages.
    pub(crate) name: &'static str,
    /// What it takes and gives.
    pub(crate) types: Types,
    /// What it does.
    pub(crate) verb: Verb,
    /// What does it.
    pub(crate) family: &'static Family,
}

/// What operations on one kind of values share.
pub(crate) struct Family {
    /// The body.
    pub(crate) run: Run,
    /// Copies an Array or Map for an operation that changes a List or Dict. Data, so that it costs nothing where none does.
    pub(crate) copy: Option<Copying>,
}

/// Does what a verb says with operands, and puts the answer into the result cell.
pub(crate) type Run = unsafe fn(Verb, Operands<'_>, *mut TVMFFIAny) -> Result<()>;

/// Makes a List or Dict of the operand at 0, which is an Array or Map.
pub(crate) type Copying = unsafe fn(Operands<'_>) -> Result<Any>;

impl Family {
    /// A family whose operations change none of their operands.
    pub(crate) const fn new(run: Run) -> Family {
        Family { run, copy: None }
    }
}

/// A type of Rust that operations take or give.
pub(crate) trait Operand {
    /// The type as data.
    const TYPE: Type;
}

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        /// A type that operations take or give, in one byte.
        #[derive(Clone, Copy)]
        #[repr(u8)]
        pub(crate) enum Type {
            $($(#[$doc])* $name),*
        }

        impl Type {
            /// What messages and schemas say of it.
            const fn text(self) -> &'static TypeText {
                match self {
                    $(Type::$name => <$type as AnyCompatible>::RESULT_TEXT),*
                }
            }
        }

        $(impl Operand for $type {
            const TYPE: Type = Type::$name;
        })*
    };
}

types! {
    Void: ();
    Any: Any;
    AnyView: AnyArg;
    /// A value that is compared with others. If it may have hooks, all arguments are owned while the operation runs.
    Key: Key;
    /// An int or a bool.
    Int: i64;
    Bool: bool;
    /// As that, or None.
    OptionalInt: Option<i32>;
    /// Text, short or long.
    Text: String;
    OptionalText: Option<String>;
    Texts: Array<String>;
    Function: Function;
    OptionalFunction: Option<Function>;
    Module: Module;
    Array: ArrayObject;
    List: ListObject;
    /// A List; an Array is copied into one.
    ChangedList: List;
    Map: MapObject;
    Dict: DictObject;
    /// A Dict; a Map is copied into one.
    ChangedDict: Dict;
}

/// The types of the parameters and of the result of an operation.
pub(crate) struct Types {
    params: [Type; MOST],
    params_len: u8,
    result: Type,
}

impl Types {
    /// The types of a function of these parameters and this result.
    pub(crate) const fn new(types: &[Type], result: Type) -> Types {
        let mut params = [Type::Void; MOST];
        params.split_at_mut(types.len()).0.copy_from_slice(types);
        let mut at = 0;
        while at < types.len() {
            assert!(types[at].is_taken(), "no operation takes an argument of this type");
            at += 1;
        }
        Types { params, params_len: types.len() as u8, result }
    }

    /// The types of the parameters.
    #[inline(always)]
    pub(crate) fn params(&self) -> &[Type] {
        self.params.get(..usize::from(self.params_len)).unwrap_or_default()
    }

    /// Calls `then` with name and types of a function, put together for messages and schemas.
    ///
    /// # Errors
    /// Those of `then`.
    #[inline(never)]
    pub(crate) fn with_callee(
        &self,
        name: &str,
        then: &mut dyn FnMut(&Callee<'_>) -> Result<()>,
    ) -> Result<()> {
        let params = self.params.map(|param| TargetTexts::of_text(param.text()));
        let params = params.get(..usize::from(self.params_len)).unwrap_or_default();
        then(&Callee { name, signature: &Signature::new(params, self.result.text()) })
    }
}

impl Type {
    /// Whether an argument is used as it lies.
    #[cfg_attr(feature = "speed", inline(always))]
    fn accepts(self, arg: &AnyView<'_>) -> bool {
        match self {
            Type::Any | Type::AnyView => !type_index::is_view_only(arg.type_index()),
            Type::Key => !type_index::is_view_only(arg.type_index()) && !key::may_have_hooks(arg),
            Type::Text => match arg.type_index() {
                type_index::SMALL_STR => arg.as_raw().small_str_len <= 7,
                type_index::STR => arg.object_ptr().is_some(),
                _ => false,
            },
            Type::Int | Type::Bool => matches!(arg.type_index(), type_index::INT | type_index::BOOL),
            Type::OptionalInt => {
                matches!(arg.type_index(), type_index::NONE | type_index::INT | type_index::BOOL)
            }
            _ => is_instance(arg, self.class()),
        }
    }

    /// Whether operations have parameters of this type. The others are only types of results.
    const fn is_taken(self) -> bool {
        let is_plain = matches!(
            self,
            Type::Any | Type::AnyView | Type::Key | Type::Int | Type::Bool | Type::OptionalInt | Type::Text
        );
        is_plain || self.class() != type_index::NONE
    }

    /// The class that an argument must be an instance of; that of None, which no object is, for all other types.
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

    /// Makes an owned value of the type of an argument; false when that is of another type.
    fn convert(self, arg: &AnyView<'_>, copy: Option<Copying>, owned: &mut Any) -> Result<bool> {
        let (mut arg, mut accepted) = (*arg, true);
        match self {
            Type::Any | Type::AnyView | Type::Key => {}
            Type::Text => {
                let is_owned_form = matches!(arg.type_index(), type_index::SMALL_STR | type_index::STR);
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
                // SAFETY: just checked.
                *owned = unsafe { copy(Operands(&raw const arg)) }?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Whether a value is an object of a class.
#[cfg_attr(feature = "speed", inline(always))]
fn is_instance(arg: &AnyView<'_>, class: i32) -> bool {
    arg.object_ptr().is_some() && type_table::is_instance(arg.type_index(), class)
}

/// The arguments of an operation, of the types that it takes, as they lie with the caller: using them costs no reference. The
/// caller's references may be gone once code of users has run: an operation owns what it uses after that.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a>(*const AnyView<'a>);

impl<'a> Operands<'a> {
    /// The argument at `index`.
    ///
    /// # Safety
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn value(&self, index: usize) -> &'a AnyView<'a> {
        // SAFETY: there are as many as the operation has, and the caller of the function holds them.
        unsafe { &*self.0.add(index) }
    }

    /// The argument at `index` as an owned value, which is only lent.
    ///
    /// # Safety
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn any(&self, index: usize) -> &'a Any {
        // SAFETY: arguments are accepted in forms that owned values have; both types are transparent over a cell.
        unsafe { &*core::ptr::from_ref(self.value(index)).cast() }
    }

    /// The argument at `index`, an integer.
    ///
    /// # Safety
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn integer(&self, index: usize) -> i64 {
        // SAFETY: passed on.
        unsafe { self.value(index) }.payload_bits() as i64
    }

    /// The argument at `index`, a text.
    ///
    /// # Safety
    /// The operation has it, and it is a text.
    #[inline(always)]
    pub(crate) unsafe fn text(&self, index: usize) -> &'a String {
        // SAFETY: references to text are transparent over a cell, which the caller of the function holds.
        unsafe { &*core::ptr::from_ref(self.value(index)).cast() }
    }

    /// The argument at `index`, an object.
    ///
    /// # Safety
    /// The operation has it, and it is of class `T`, or only used in ways that its own class has, too.
    #[inline(always)]
    pub(crate) unsafe fn object<T: ObjectClass>(&self, index: usize) -> &'a T {
        // SAFETY: objects are accepted with their address; its address lies in the cell, and references are transparent.
        unsafe { &*(&raw const self.value(index).as_raw().payload).cast() }
    }
}

/// Converts the arguments of an operation and runs it.
///
/// # Errors
/// TypeError; what conversions and the operation raise.
///
/// # Safety
/// `result` is valid for writing.
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe fn call_converted(operation: &Operation, args: &[AnyView<'_>], result: *mut TVMFFIAny) -> Result<()> {
    let mut owned = NOTHING;
    convert(operation.name, &operation.types, operation.family.copy, args, &mut owned)?;
    // SAFETY: they are what the operation takes, and both forms of values are transparent over a cell; the caller vouches for
    // the result.
    unsafe { (operation.family.run)(operation.verb, Operands(owned.as_ptr().cast()), result) }
}

/// Room for the arguments of an operation.
pub(crate) const NOTHING: [Any; MOST] = [const { Any::NONE }; MOST];

/// Makes owned values of the arguments of a function whose types are given as those of an operation.
///
/// # Errors
/// TypeError; what conversions raise.
#[inline(never)]
pub(crate) fn convert(
    name: &str,
    types: &Types,
    copy: Option<Copying>,
    args: &[AnyView<'_>],
    owned: &mut [Any; MOST],
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

/// Makes a static function of an operation, of its verb and the module with the family. On hosts, `hot` ones have a body of
/// their own.
macro_rules! operation {
    (hot $($operation:tt)*) => { $crate::operation::operation!(@ serve_hot, $($operation)*) };
    (@ $serve:ident, $family:ident::$verb:ident, $name:literal, ($($operand:ty),*) -> $result:ty) => {{
        use $crate::operation::{Operand, Operation, Types, Verb};
        const OPERATION: &Operation = {
            let params = &[$(<$operand as Operand>::TYPE),*];
            assert!(params.len() > Verb::$verb.last_operand());
            let types = Types::new(params, <$result as Operand>::TYPE);
            &Operation { name: $name, types, verb: Verb::$verb, family: &$family::FAMILY }
        };
        $crate::operation::static_operation!($serve, fn($($operand),*) -> $result, ($($operand,)*))
    }};
    ($($operation:tt)*) => { $crate::operation::operation!(@ serve, $($operation)*) };
}
pub(crate) use operation;
