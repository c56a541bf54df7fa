//! Global functions that come in families: the arguments of each are data, and one body checks them all.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::typed::Callee;
use ferrite_core::{String, type_index, type_table};

use crate::containers::{self, ArrayObject, Dict, DictObject, List, ListObject, MapObject};
use crate::module::Module;

#[cfg_attr(not(feature = "std"), path = "operation/as_data.rs")]
#[cfg_attr(feature = "std", path = "operation/in_line.rs")]
mod entry;
mod verb;

pub(crate) use entry::*;
pub(crate) use verb::Verb;

/// The most arguments that an operation has.
pub(crate) const MOST: usize = 4;

/// One function of a family.
pub(crate) struct Operation {
    /// Name and types, for messages.
    pub(crate) callee: Callee<'static>,
    /// What it takes.
    pub(crate) params: &'static [Param],
    /// What it does.
    pub(crate) verb: Verb,
    /// The body of the family.
    pub(crate) run: Run,
}

/// Does what a verb says with operands, and puts the answer into the result cell.
pub(crate) type Run = unsafe fn(Verb, Operands<'_>, *mut TVMFFIAny) -> Result<()>;

/// What an argument may be.
#[derive(Clone, Copy)]
pub(crate) enum Param {
    Any,
    /// An int or a bool.
    Integer,
    /// As that, or None.
    IntegerOrNone,
    /// Text, short or long.
    Text,
    /// An object of the class of this index.
    Object(i32),
    /// A List or Dict; an Array or Map is copied into one.
    Changeable(&'static Changeable),
}

/// A class of changeable containers. Data, so that it costs nothing where no operation takes one.
pub(crate) struct Changeable {
    class: i32,
    /// The class of which objects are copied.
    source: i32,
    /// Copies the operand at 0, which is of that class.
    copy: unsafe fn(Operands<'_>) -> Result<Any>,
}

/// What takes a List.
const LIST: &Changeable = &Changeable {
    class: type_index::LIST,
    source: type_index::ARRAY,
    // SAFETY: the caller passes an Array.
    copy: |array| unsafe { ListObject::from_slice(array.object::<ArrayObject>(0).as_slice()).map(Any::from) },
};

/// What takes a Dict.
const DICT: &Changeable = &Changeable {
    class: type_index::DICT,
    source: type_index::MAP,
    // SAFETY: the caller passes a Map.
    copy: |map| unsafe { DictObject::copy_of(map.object(0)).map(Any::from) },
};

/// A type that arguments may have.
pub(crate) trait Operand {
    /// As data.
    const PARAM: Param;
}

macro_rules! operands {
    ($($type:ty: $param:expr;)*) => {$(
        impl Operand for $type {
            const PARAM: Param = $param;
        }
    )*};
}

operands! {
    Any: Param::Any;
    i64: Param::Integer;
    bool: Param::Integer;
    Option<i32>: Param::IntegerOrNone;
    String: Param::Text;
    Module: Param::Object(type_index::MODULE);
    ArrayObject: Param::Object(type_index::ARRAY);
    ListObject: Param::Object(type_index::LIST);
    List: Param::Changeable(LIST);
    MapObject: Param::Object(type_index::MAP);
    DictObject: Param::Object(type_index::DICT);
    Dict: Param::Changeable(DICT);
}

impl Param {
    /// Whether an argument is used as it lies.
    #[inline(always)]
    fn accepts(self, arg: &AnyView<'_>) -> bool {
        match self {
            Param::Any => !containers::is_borrowed_form(arg),
            Param::Text => match arg.type_index() {
                type_index::SMALL_STR => arg.as_raw().small_str_len <= 7,
                type_index::STR => arg.object_ptr().is_some(),
                _ => false,
            },
            Param::Integer => matches!(arg.type_index(), type_index::INT | type_index::BOOL),
            Param::IntegerOrNone => {
                matches!(arg.type_index(), type_index::NONE | type_index::INT | type_index::BOOL)
            }
            Param::Object(class) | Param::Changeable(&Changeable { class, .. }) => is_instance(arg, class),
        }
    }

    /// An owned value of the type, made of an argument; None when that is of another type.
    fn convert(self, arg: &AnyView<'_>) -> Result<Option<Any>> {
        let arg = match self {
            Param::Any => return arg.to_owned().map(Some),
            Param::Text => return Ok(String::try_from_view(*arg)?.map(String::into_any)),
            _ => containers::referent(*arg),
        };
        if self.accepts(&arg) {
            return arg.to_owned().map(Some);
        }
        match self {
            Param::Changeable(kind) if is_instance(&arg, kind.source) => {
                // SAFETY: just checked.
                unsafe { (kind.copy)(Operands(&raw const arg)).map(Some) }
            }
            _ => Ok(None),
        }
    }
}

/// Whether a value is an object of a class.
#[cfg_attr(feature = "std", inline(always))]
fn is_instance(arg: &AnyView<'_>, class: i32) -> bool {
    arg.object_ptr().is_some() && type_table::is_instance(arg.type_index(), class)
}

/// The arguments of an operation, of the types that it takes, as they lie with the caller: using them costs no reference.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a>(*const AnyView<'a>);

impl<'a> Operands<'a> {
    /// The argument at `index`.
    ///
    /// # Safety
    ///
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn value(&self, index: usize) -> &'a AnyView<'a> {
        // SAFETY: there are as many as the operation has, and the caller of the function holds them.
        unsafe { &*self.0.add(index) }
    }

    /// The argument at `index` as an owned value, which is only lent.
    ///
    /// # Safety
    ///
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn any(&self, index: usize) -> &'a Any {
        // SAFETY: arguments are accepted in forms that owned values have; both types are transparent over a cell.
        unsafe { &*core::ptr::from_ref(self.value(index)).cast() }
    }

    /// The argument at `index`, an integer.
    ///
    /// # Safety
    ///
    /// The operation has it.
    #[inline(always)]
    pub(crate) unsafe fn integer(&self, index: usize) -> i64 {
        // SAFETY: passed on.
        unsafe { self.value(index) }.payload_bits() as i64
    }

    /// The argument at `index`, a text.
    ///
    /// # Safety
    ///
    /// The operation has it, and it is a text.
    #[inline(always)]
    pub(crate) unsafe fn text(&self, index: usize) -> &'a String {
        // SAFETY: references to text are transparent over a cell, which the caller of the function holds.
        unsafe { &*core::ptr::from_ref(self.value(index)).cast() }
    }

    /// The argument at `index`, an object.
    ///
    /// # Safety
    ///
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
///
/// TypeError; what conversions and the operation raise.
///
/// # Safety
///
/// `result` is valid for writing.
#[cfg_attr(feature = "std", cold, inline(never))]
unsafe fn call_converted(
    operation: &'static Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    let mut owned = NOTHING;
    convert(&operation.callee, operation.params, args, &mut owned)?;
    // SAFETY: they are what the operation takes, and both forms of values are transparent over a cell; the caller vouches for the
    // result.
    unsafe { (operation.run)(operation.verb, Operands(owned.as_ptr().cast()), result) }
}

/// Room for the arguments of an operation.
pub(crate) const NOTHING: [Any; MOST] = [const { Any::NONE }; MOST];

/// Makes owned values of the arguments of a function whose types are given as those of an operation.
///
/// # Errors
///
/// TypeError; what conversions raise.
#[inline(never)]
pub(crate) fn convert(
    callee: &Callee<'_>,
    params: &[Param],
    args: &[AnyView<'_>],
    owned: &mut [Any; MOST],
) -> Result<()> {
    if args.len() != params.len() {
        return Err(callee.wrong_count(args.len()));
    }
    for (index, ((param, arg), owned)) in params.iter().zip(args).zip(owned).enumerate() {
        match param.convert(arg)? {
            Some(value) => *owned = value,
            None => return Err(callee.wrong_type(index, *arg)),
        }
    }
    Ok(())
}

/// Makes a static function of an operation, of its verb and the module with the body of the family. On hosts, `hot` ones have
/// a body of their own.
macro_rules! operation {
    (hot $($operation:tt)*) => { $crate::operation::operation!(@ serve_hot, $($operation)*) };
    (@ $serve:ident, $family:ident::$verb:ident, $name:literal, ($($operand:ty),*) -> $result:ty) => {{
        use ferrite_core::typed::{Callee, TypedFn};
        use $crate::operation::{Operand, Operation, Verb};
        const OPERATION: &Operation = {
            let params = &[$(<$operand as Operand>::PARAM),*];
            assert!(params.len() <= $crate::operation::MOST);
            assert!(params.len() > Verb::$verb.last_operand());
            let signature = <fn($($operand),*) -> $result as TypedFn<($($operand,)*)>>::SIGNATURE;
            let callee = Callee { name: $name, signature };
            &Operation { callee, params, verb: Verb::$verb, run: $family::run }
        };
        ferrite_core::builtins::StaticFunction {
            callee: &OPERATION.callee,
            entry: $crate::operation::operation_entry!($serve),
        }
    }};
    ($($operation:tt)*) => { $crate::operation::operation!(@ serve, $($operation)*) };
}
pub(crate) use operation;
