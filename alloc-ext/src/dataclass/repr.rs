//! Recursive repr: the human-readable text of a value.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::mem;
use core::ops::{ControlFlow, Range};

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskReprOff, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::upstream_release;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::String;

use super::enums::{enum_class, is_enum};
use super::repr_leaf::{write_address, write_leaf_object, write_plain};
use crate::walk::{
    CallbackState, Children, ChildrenKind, Entered, Fold, HookState, Hooks, IdentityMap,
    MaybeOwned, fold, for_each_field, with_callback,
};

/// Returns the repr of a value: human-readable text, recursively.
///
/// Arrays print as `(1,)`, Lists as `[1]`, maps as `{k: v}`, enums as `KEY.NAME`, and other objects
/// as `KEY(field=value)` or by the `__ffi_repr__` hook of their type. An object that contains
/// itself prints as `...` at the inner occurrence. On hosts, objects are followed by their address
/// if the environment variable `TVM_FFI_REPR_WITH_ADDR` is `1`.
///
/// # Errors
/// Errors of hooks and getters; ValueError beyond the maximum depths of [`crate::walk`];
/// MemoryError.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{dataclass, json};
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let value = json::parse(br#"[1, 2.5, {"name": null}]"#)?;
/// assert_eq!(dataclass::repr_print(&value)?, r#"(1, 2.5, {"name": None})"#);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `ReprPrint` in `extra/dataclass.h`.
pub fn repr_print(value: &Any) -> Result<String> {
    let mut printer = Printer {
        hooks: Hooks::new("__ffi_repr__"),
        enum_class: enum_class(),
        ..Printer::default()
    };
    printer.with_address = wants_addresses();
    printer.text.try_resize(String::LEAD_BYTES, 0)?;
    printer.print(MaybeOwned::Borrowed(value))?;
    String::from_buffer(printer.text, String::LEAD_BYTES)
}

/// Returns `true` if objects are printed with their address, because the environment variable
/// `TVM_FFI_REPR_WITH_ADDR` is `1`. Always `false` without `std`.
fn wants_addresses() -> bool {
    #[cfg(feature = "std")]
    let wanted = std::env::var_os("TVM_FFI_REPR_WITH_ADDR").is_some_and(|value| value == "1");
    #[cfg(not(feature = "std"))]
    let wanted = false;
    wanted
}

#[derive(Default)]
struct Printer {
    /// Current output buffer: the text of the whole value, or of a value that a hook prints.
    text: Buffer<u8>,
    text_number: usize,
    /// Other output buffers, indexed by number.
    texts: Buffer<Buffer<u8>>,
    /// States of the objects that the walk may reach again.
    visited: IdentityMap<ReprState>,
    hooks: Hooks,
    enum_class: Option<i32>,
    with_address: bool,
}

/// State of a visited object.
enum ReprState {
    Unknown,
    Open,
    /// Finished: number of the output buffer, and the range of the object's text in it.
    Done(usize, Range<usize>),
}

/// A walk that prints a borrowed value.
struct ReprWalk<'p, 'w> {
    printer: &'p mut Printer,
    borrowed: PhantomData<&'w Any>,
}

struct ReprFrame<'w> {
    children: Children<'w>,
    start: usize,
}

impl HookState for Printer {}

impl<'w> Fold for ReprWalk<'_, 'w> {
    type Node = MaybeOwned<'w, ObjectRef>;
    type Frame = ReprFrame<'w>;
    type Value = ();
    const NAME: &'static str = "ObjectGraphDFS";

    /// Enters an object with children. Never called with a leaf.
    fn enter(
        &mut self,
        object: MaybeOwned<'w, ObjectRef>,
        _: &mut Buffer<ReprFrame<'w>>,
    ) -> Result<Entered<ReprFrame<'w>, ()>> {
        let printer = &mut *self.printer;
        let start = printer.text.len();
        if !object.is_unshared() && printer.write_visited(&object)? {
            return Ok(Entered::Value(()));
        }
        if printer.write_by_hook(&object)? || printer.write_enum(&object)? {
            printer
                .visited
                .insert(&object, ReprState::Done(printer.text_number, start..printer.text.len()))?;
            return Ok(Entered::Value(()));
        }
        let children = Children::of(object, kTVMFFIFieldFlagBitMaskReprOff as i64)?;
        printer.begin(&children)?;
        if !children.object().is_unshared() {
            printer.visited.insert(children.object(), ReprState::Open)?;
        }
        Ok(Entered::Frame(ReprFrame { children, start }))
    }

    /// Prints leaves, then returns the next child that is not a leaf.
    fn next(&mut self, frame: &mut ReprFrame<'w>) -> Result<Option<MaybeOwned<'w, ObjectRef>>> {
        let children = &mut frame.children;
        loop {
            skip_hidden(children);
            let Some(child) = children.contiguous().first() else { return Ok(None) };
            self.printer.write_lead(children)?;
            if !self.printer.write_leaf(child)? {
                return Ok(children.take().and_then(MaybeOwned::into_object));
            }
            children.advance(1);
        }
    }

    fn feed(&mut self, _: &mut ReprFrame<'w>, (): ()) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut ReprFrame<'w>) -> Result<()> {
        self.printer.end(&frame.children)?;
        let (printer, object) = (&mut *self.printer, frame.children.object());
        if object.is_unshared() {
            return Ok(());
        }
        printer
            .visited
            .insert(object, ReprState::Done(printer.text_number, frame.start..printer.text.len()))
    }

    fn abandon(&mut self, frame: ReprFrame<'w>) {
        self.printer.visited.update(frame.children.object(), ReprState::Unknown);
    }
}

/// Skips fields hidden by an ancestor's field of the same name.
fn skip_hidden(children: &mut Children<'_>) {
    let is_hidden = |children: &Children<'_>| {
        let (before, rest) =
            children.fields().split_at(children.visited_count().min(children.fields().len()));
        rest.first().is_some_and(|field| before.iter().any(|other| other.name() == field.name()))
    };
    while is_hidden(children) {
        children.advance(1);
    }
}

impl Printer {
    fn print(&mut self, value: MaybeOwned<'_>) -> Result<()> {
        if self.write_leaf(&value)? {
            return Ok(());
        }
        match value.into_object() {
            Some(object) => fold(&mut ReprWalk { printer: self, borrowed: PhantomData }, object),
            None => Ok(()),
        }
    }

    /// Appends a leaf. Returns `false` for other values, without appending anything.
    fn write_leaf(&mut self, value: &Any) -> Result<bool> {
        Ok(write_plain(&mut self.text, value)?
            || write_leaf_object(&mut self.text, value, self.with_address)?)
    }

    /// Appends the separator before the next child and, for fields, the field name.
    fn write_lead(&mut self, children: &Children<'_>) -> Result<()> {
        let place = children.visited_count();
        if place > 0 {
            let is_value = children.kind == ChildrenKind::Map && place % 2 == 1;
            self.text.try_extend_from_slice(if is_value { b": " } else { b", " })?;
        }
        let Some(field) = children.fields().get(place) else { return Ok(()) };
        self.text.try_extend_from_slice(field.name())?;
        Ok(self.text.try_push(b'=')?)
    }

    fn begin(&mut self, children: &Children<'_>) -> Result<()> {
        match children.object().type_index() {
            type_index::ARRAY => Ok(self.text.try_push(b'(')?),
            type_index::LIST => Ok(self.text.try_push(b'[')?),
            type_index::MAP | type_index::DICT => Ok(self.text.try_push(b'{')?),
            other => {
                self.text.try_extend_from_slice(type_table::type_key_of(other))?;
                if self.with_address {
                    write_address(&mut self.text, children.object())?;
                }
                if children.is_empty() { Ok(()) } else { Ok(self.text.try_push(b'(')?) }
            }
        }
    }

    fn end(&mut self, children: &Children<'_>) -> Result<()> {
        match children.object().type_index() {
            type_index::ARRAY if children.len() == 1 => {
                self.text.try_extend_from_slice(b",)")?;
            }
            type_index::ARRAY => self.text.try_push(b')')?,
            type_index::LIST => self.text.try_push(b']')?,
            type_index::MAP | type_index::DICT => self.text.try_push(b'}')?,
            _ if children.is_empty() => return Ok(()),
            _ => return Ok(self.text.try_push(b')')?),
        }
        if self.with_address { write_address(&mut self.text, children.object()) } else { Ok(()) }
    }

    /// Appends the text of an object that is finished or on the current path. Returns `false` for
    /// other objects.
    fn write_visited(&mut self, object: &MaybeOwned<'_, ObjectRef>) -> Result<bool> {
        match self.visited.get(object) {
            None | Some(ReprState::Unknown) => Ok(false),
            Some(ReprState::Open) => {
                self.text.try_extend_from_slice(b"...")?;
                if self.with_address {
                    write_address(&mut self.text, object)?;
                }
                Ok(true)
            }
            Some(ReprState::Done(number, range)) => {
                let (number, range) = (*number, range.clone());
                self.repeat(number, range)?;
                Ok(true)
            }
        }
    }

    /// Appends a range of an output buffer.
    fn repeat(&mut self, number: usize, range: Range<usize>) -> Result<()> {
        if number != self.text_number {
            let part = self.texts.get(number).and_then(|text| text.get(range));
            return Ok(self.text.try_extend_from_slice(part.unwrap_or_default())?);
        }
        self.text.try_reserve(range.len())?;
        for place in range {
            let byte = self.text.get(place).copied().unwrap_or_default();
            self.text.try_push(byte)?;
        }
        Ok(())
    }

    /// Appends an enum: its type key and its name. Returns `false` for other objects.
    fn write_enum(&mut self, object: &ObjectRef) -> Result<bool> {
        if !is_enum(object.type_index(), self.enum_class) {
            return Ok(false);
        }
        let mut name = Any::NONE;
        for_each_field(object.type_index(), |field| {
            if field.name() == upstream_release::name_of_enums() {
                field.read(object, &mut name)?;
            }
            Ok(())
        })?;
        self.text.try_extend_from_slice(type_table::type_key_of(object.type_index()))?;
        self.text.try_push(b'.')?;
        self.text.try_extend_from_slice(name.view().bytes_of_string().unwrap_or_default())?;
        if self.with_address {
            write_address(&mut self.text, object)?;
        }
        Ok(true)
    }

    /// Appends the result of the type's `__ffi_repr__` hook. Returns `false` if the type has none.
    fn write_by_hook(&mut self, object: &MaybeOwned<'_, ObjectRef>) -> Result<bool> {
        let Some(hook) = self.hooks.of_type(object.type_index())? else { return Ok(false) };
        self.visited.insert(object, ReprState::Open)?;
        let answer = with_callback(self, Self::callback, |callback| {
            hook.call_packed(&[AnyView::from(&**object), callback.into()])?.get::<String>()
        });
        match answer {
            Ok(text) => self.text.try_extend_from_slice(text.as_bytes())?,
            Err(error) => {
                self.visited.update(object, ReprState::Unknown);
                return Err(error);
            }
        }
        Ok(true)
    }

    fn callback(slot: CallbackState<Self>) -> Result<Function> {
        Function::from_typed(move |value: Any| slot.with(|printer| printer.print_aside(value)))
    }

    /// Prints a value for a hook, into a separate output buffer. Returns the text.
    fn print_aside(&mut self, value: Any) -> Result<String> {
        let outer = self.text_number;
        if self.texts.is_empty() {
            self.texts.try_push(Buffer::new())?;
        }
        self.texts.try_push(Buffer::new())?;
        self.switch_text(self.texts.len() - 1);
        let outcome = self.print(MaybeOwned::Owned(value));
        let text = outcome.and_then(|()| String::from_bytes(&self.text));
        self.switch_text(outer);
        text
    }

    /// Stores the current output buffer and switches to another one.
    fn switch_text(&mut self, number: usize) {
        if let Some(place) = self.texts.get_mut(self.text_number) {
            mem::swap(place, &mut self.text);
        }
        self.text_number = number;
        if let Some(place) = self.texts.get_mut(number) {
            mem::swap(place, &mut self.text);
        }
    }
}
