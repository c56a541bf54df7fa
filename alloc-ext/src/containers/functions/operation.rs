//! Global functions on containers: what each takes is data, checked for all of them by one body.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::typed::Callee;
use ferrite_core::{type_index, type_table};

use crate::containers::{ArrayObject, Dict, DictObject, List, ListObject, MapObject, cell, convert};

/// The most arguments that an operation has.
const MOST: usize = 4;

/// A function whose first argument is a container.
pub(super) struct Operation {
    /// Name and types, for messages.
    pub(super) callee: Callee<'static>,
    /// What it takes.
    pub(super) params: &'static [Param],
    /// What it does.
    pub(super) verb: Verb,
    /// The body of all operations on containers of that layout.
    pub(super) run: Run,
}

/// Does what a verb says with operands, and puts the answer into the result cell.
pub(super) type Run = unsafe fn(Verb, &Operands<'_>, *mut TVMFFIAny) -> Result<()>;

/// What an operation does with a container; each layout has some of them.
#[derive(Clone, Copy)]
pub(super) enum Verb {
    Size,
    GetItem,
    GetItemOrMissing,
    Contains,
    Count,
    ForwardIterFunctor,
    SetItem,
    Append,
    Insert,
    Pop,
    Erase,
    EraseRange,
    ReplaceSlice,
    Reverse,
    Clear,
    Reserve,
}

impl Verb {
    /// Index of the last argument that it uses.
    pub(super) const fn last_operand(self) -> usize {
        match self {
            Verb::Size | Verb::ForwardIterFunctor | Verb::Reverse | Verb::Clear => 0,
            Verb::GetItem | Verb::GetItemOrMissing | Verb::Contains | Verb::Count => 1,
            Verb::Append | Verb::Pop | Verb::Erase | Verb::Reserve => 1,
            Verb::SetItem | Verb::Insert | Verb::EraseRange => 2,
            Verb::ReplaceSlice => 3,
        }
    }
}

/// What an argument may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Param {
    Any,
    Integer,
    /// An object of the class of this index.
    Object(i32),
    /// A List or Dict; an Array or Map is copied into one.
    Changeable(i32),
}

/// A type that arguments may have.
pub(super) trait Operand {
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
    ArrayObject: Param::Object(type_index::ARRAY);
    ListObject: Param::Object(type_index::LIST);
    List: Param::Changeable(type_index::LIST);
    MapObject: Param::Object(type_index::MAP);
    DictObject: Param::Object(type_index::DICT);
    Dict: Param::Changeable(type_index::DICT);
}

impl Param {
    /// Whether an argument is used as it lies.
    #[inline(always)]
    fn accepts(self, arg: &AnyView<'_>) -> bool {
        match self {
            Param::Any => !cell::is_borrowed_form(arg),
            Param::Integer => matches!(arg.type_index(), type_index::INT | type_index::BOOL),
            Param::Object(class) | Param::Changeable(class) => {
                arg.object_ptr().is_some() && type_table::is_instance(arg.type_index(), class)
            }
        }
    }

    /// An owned value of the type, made of an argument; None when that is of another type.
    fn convert(self, arg: &AnyView<'_>) -> Result<Option<Any>> {
        let arg = if self == Param::Any { *arg } else { convert::referent(*arg) };
        if self.accepts(&arg) || self == Param::Any {
            return arg.to_owned().map(Some);
        }
        match self {
            Param::Changeable(type_index::LIST) => {
                let array = ArrayObject::try_from_view(arg)?;
                array.map(|array| Ok(ListObject::from_slice(array.as_slice())?.into_any())).transpose()
            }
            Param::Changeable(_) => {
                let map = MapObject::try_from_view(arg)?;
                map.map(|map| Ok(DictObject::copy_of(&map)?.into_any())).transpose()
            }
            _ => Ok(None),
        }
    }
}

/// The arguments of an operation, of the types that it takes, as they lie with the caller: using them costs no reference.
pub(super) struct Operands<'a>(&'a [AnyView<'a>]);

impl<'a> Operands<'a> {
    /// The argument at `index`.
    ///
    /// # Safety
    ///
    /// The operation has it.
    #[inline(always)]
    pub(super) unsafe fn value(&self, index: usize) -> &'a AnyView<'a> {
        // SAFETY: there are as many as the operation has.
        unsafe { self.0.get_unchecked(index) }
    }

    /// The argument at `index`, an integer.
    ///
    /// # Safety
    ///
    /// The operation has it.
    #[inline(always)]
    pub(super) unsafe fn integer(&self, index: usize) -> i64 {
        // SAFETY: passed on.
        unsafe { self.value(index) }.payload_bits() as i64
    }

    /// The argument at `index`, an object.
    ///
    /// # Safety
    ///
    /// The operation has it, and it is of class `T`, or only used in ways that its own class has, too.
    #[inline(always)]
    pub(super) unsafe fn object<T: ObjectClass>(&self, index: usize) -> &'a T {
        // SAFETY: containers are accepted with their object; its address lies in the cell, and references are transparent.
        unsafe { &*(&raw const self.value(index).as_raw().payload).cast() }
    }
}

/// Checks the arguments of an operation and runs it.
///
/// # Errors
///
/// TypeError; what conversions and the operation raise.
///
/// # Safety
///
/// `result` is valid for writing.
#[cfg_attr(feature = "std", inline(always))]
#[cfg_attr(not(feature = "std"), inline(never))]
pub(super) unsafe fn call(
    operation: &'static Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    if args.len() != operation.params.len() {
        return Err(operation.callee.wrong_count(args.len()));
    }
    if operation.params.iter().zip(args).all(|(param, arg)| param.accepts(arg)) {
        // SAFETY: they are what the operation takes; the caller vouches for the result.
        return unsafe { (operation.run)(operation.verb, &Operands(args), result) };
    }
    // SAFETY: passed on.
    unsafe { call_converted(operation, args, result) }
}

/// As [`call`], with arguments that have to be converted.
///
/// # Safety
///
/// As [`call`].
#[cold]
#[inline(never)]
unsafe fn call_converted(
    operation: &'static Operation,
    args: &[AnyView<'_>],
    result: *mut TVMFFIAny,
) -> Result<()> {
    let mut owned = [const { Any::NONE }; MOST];
    for (index, ((param, arg), owned)) in operation.params.iter().zip(args).zip(&mut owned).enumerate() {
        match param.convert(arg)? {
            Some(value) => *owned = value,
            None => return Err(operation.callee.wrong_type(index, *arg)),
        }
    }
    // SAFETY: as in `call`.
    unsafe { (operation.run)(operation.verb, &Operands(&owned.each_ref().map(Any::view)), result) }
}

/// Makes a static function of an operation, of its verb and the module with the body for containers of its layout.
macro_rules! operation {
    ($layout:ident::$verb:ident, $name:literal, ($($operand:ty),*) -> $result:ty) => {{
        use ferrite_core::typed::{Callee, TypedFn};
        use $crate::containers::functions::operation::{self, Operand, Operation, Verb};
        const OPERATION: &Operation = {
            let params = &[$(<$operand as Operand>::PARAM),*];
            assert!(params.len() > Verb::$verb.last_operand());
            let signature = <fn($($operand),*) -> $result as TypedFn<($($operand,)*)>>::SIGNATURE;
            &Operation { callee: Callee { name: $name, signature }, params, verb: Verb::$verb, run: $layout::run }
        };
        unsafe fn body(
            args: &[ferrite_core::AnyView<'_>],
            result: *mut ferrite_core::abi::TVMFFIAny,
        ) -> ferrite_core::Result<()> {
            // SAFETY: the result of a call is valid for writing.
            unsafe { operation::call(OPERATION, args, result) }
        }
        ferrite_core::static_function!(in_place $name, OPERATION.callee.signature, body)
    }};
}
pub(super) use operation;
