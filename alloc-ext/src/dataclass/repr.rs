//! The text of a value, as users read it.
#![forbid(unsafe_code)]

use core::mem;
use core::ops::{ControlFlow, Range};

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskReprOff;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::memory::Buffer;
use ferrite_core::string::String;
use ferrite_core::{type_index, type_table};

use super::enums::{enum_class, is_enum};
use super::environment::wants_addresses;
use super::repr_leaf::{write_address, write_leaf_object, write_plain};
use crate::walk::{
    Children, ChildrenKind, Entered, Fold, HookState, Hooks, Seen, Slot, fold, for_each_field, lend,
};

/// The text of a value and everything in it.
///
/// Array `(1,)`, List `[1]`, maps `{k: v}`, enums `KEY.NAME`, other objects `KEY(field=value)` or what the hook
/// `__ffi_repr__` of their type answers; `...` stands for an object inside itself. On hosts, objects have their address
/// behind them when the environment has `TVM_FFI_REPR_WITH_ADDR=1`.
///
/// # Errors
///
/// Those of hooks and getters; ValueError beyond the depths of [`crate::walk`]; MemoryError.
///
/// # Examples
///
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
///
/// `ReprPrint` in `extra/dataclass.h`.
pub fn repr_print(value: &Any) -> Result<String> {
    let mut printer =
        Printer { hooks: Hooks::new("__ffi_repr__"), enum_class: enum_class(), ..Printer::default() };
    printer.with_address = wants_addresses();
    fold(&mut printer, value.clone())?;
    String::from_bytes(&printer.text)
}

#[derive(Default)]
struct Printer {
    /// What is being written: the text of the whole value, or of one that a hook asked for.
    text: Buffer<u8>,
    text_number: usize,
    /// All texts by number, but for the one that is being written.
    texts: Buffer<Buffer<u8>>,
    seen: Seen<State>,
    hooks: Hooks,
    enum_class: Option<i32>,
    with_address: bool,
}

/// What is known of an object.
enum State {
    Unknown,
    Open,
    /// Its text is part of the text with that number.
    Done(usize, Range<usize>),
}

struct Frame {
    value: Any,
    children: Children,
    start: usize,
}

impl HookState for Printer {}

impl Fold for Printer {
    type Node = Any;
    type Frame = Frame;
    type Value = ();
    const NAME: &'static str = "ObjectGraphDFS";

    fn enter(&mut self, value: Any) -> Result<Entered<Frame, ()>> {
        let start = self.text.len();
        if self.write_leaf(&value)? || self.write_seen(&value)? {
            return Ok(Entered::Value(()));
        }
        if self.write_by_hook(&value)? || self.write_enum(&value)? {
            self.done(&value, start)?;
            return Ok(Entered::Value(()));
        }
        let children = Children::of(&value, kTVMFFIFieldFlagBitMaskReprOff as i64)?;
        self.begin(&value, &children)?;
        self.seen.set(&value, State::Open)?;
        Ok(Entered::Frame(Frame { value, children, start }))
    }

    /// The next child that has something inside; others are written on the way.
    fn next(&mut self, frame: &mut Frame) -> Result<Option<Any>> {
        let children = &mut frame.children;
        loop {
            skip_hidden(children);
            let Some(child) = children.peek() else { return Ok(None) };
            self.write_lead(children)?;
            if !self.write_leaf(child)? {
                return Ok(children.take());
            }
            children.advance();
        }
    }

    fn feed(&mut self, _: &mut Frame, (): ()) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<()> {
        self.end(frame)?;
        self.done(&frame.value, frame.start)
    }

    fn abandon(&mut self, frame: Frame) {
        self.forget(&frame.value);
    }
}

/// Passes fields that have the name of one of an ancestor.
fn skip_hidden(children: &mut Children) {
    let is_hidden = |children: &Children| {
        let (before, rest) = children.fields().split_at(children.passed().min(children.fields().len()));
        rest.first().is_some_and(|field| before.iter().any(|other| other.name() == field.name()))
    };
    while is_hidden(children) {
        children.advance();
    }
}

impl Printer {
    /// Appends a value that has nothing inside; answers false for others.
    fn write_leaf(&mut self, value: &Any) -> Result<bool> {
        Ok(write_plain(&mut self.text, value)?
            || write_leaf_object(&mut self.text, value, self.with_address)?)
    }

    /// Appends what comes in front of the next child.
    fn write_lead(&mut self, children: &Children) -> Result<()> {
        let place = children.passed();
        if place > 0 {
            let is_value = children.kind == ChildrenKind::Map && place % 2 == 1;
            self.text.try_extend_from_slice(if is_value { b": " } else { b", " })?;
        }
        let Some(field) = children.fields().get(place) else { return Ok(()) };
        self.text.try_extend_from_slice(field.name())?;
        self.text.try_push(b'=')
    }

    fn begin(&mut self, value: &Any, children: &Children) -> Result<()> {
        match value.type_index() {
            type_index::ARRAY => self.text.try_push(b'('),
            type_index::LIST => self.text.try_push(b'['),
            type_index::MAP | type_index::DICT => self.text.try_push(b'{'),
            other => {
                self.text.try_extend_from_slice(type_table::type_key_of(other))?;
                if self.with_address {
                    write_address(&mut self.text, value)?;
                }
                if children.is_empty() { Ok(()) } else { self.text.try_push(b'(') }
            }
        }
    }

    fn end(&mut self, frame: &Frame) -> Result<()> {
        match frame.value.type_index() {
            type_index::ARRAY if frame.children.len() == 1 => {
                self.text.try_extend_from_slice(b",)")?;
            }
            type_index::ARRAY => self.text.try_push(b')')?,
            type_index::LIST => self.text.try_push(b']')?,
            type_index::MAP | type_index::DICT => self.text.try_push(b'}')?,
            _ if frame.children.is_empty() => return Ok(()),
            _ => return self.text.try_push(b')'),
        }
        if self.with_address { write_address(&mut self.text, &frame.value) } else { Ok(()) }
    }

    /// Notes where the text of an object is, which ends here.
    fn done(&mut self, value: &Any, start: usize) -> Result<()> {
        self.seen.set(value, State::Done(self.text_number, start..self.text.len()))
    }

    fn forget(&mut self, value: &Any) {
        // Memory is needed only for objects that were not met before.
        let _ = self.seen.set(value, State::Unknown);
    }

    /// Appends the text of an object that has been met; answers false when it has not.
    fn write_seen(&mut self, value: &Any) -> Result<bool> {
        match self.seen.get(value) {
            None | Some(State::Unknown) => Ok(false),
            Some(State::Open) => {
                self.text.try_extend_from_slice(b"...")?;
                if self.with_address {
                    write_address(&mut self.text, value)?;
                }
                Ok(true)
            }
            Some(State::Done(number, range)) => {
                let (number, range) = (*number, range.clone());
                self.repeat(number, range)?;
                Ok(true)
            }
        }
    }

    /// Appends a part of one of the texts.
    fn repeat(&mut self, number: usize, range: Range<usize>) -> Result<()> {
        if number != self.text_number {
            let part = self.texts.get(number).and_then(|text| text.get(range));
            return self.text.try_extend_from_slice(part.unwrap_or_default());
        }
        self.text.try_reserve(range.len())?;
        for place in range {
            let byte = self.text.get(place).copied().unwrap_or_default();
            self.text.try_push(byte)?;
        }
        Ok(())
    }

    /// Appends the text of an enum: its type and its name.
    fn write_enum(&mut self, value: &Any) -> Result<bool> {
        if !is_enum(value, self.enum_class) {
            return Ok(false);
        }
        let mut name = Any::NONE;
        for_each_field(value.type_index(), |field| {
            if field.name() == b"_str_index" {
                name = field.get(value)?;
            }
            Ok(())
        })?;
        self.text.try_extend_from_slice(type_table::type_key_of(value.type_index()))?;
        self.text.try_push(b'.')?;
        self.text.try_extend_from_slice(name.view().bytes_of_string().unwrap_or_default())?;
        if self.with_address {
            write_address(&mut self.text, value)?;
        }
        Ok(true)
    }

    /// Appends what the hook of the object's type answers; answers false when there is none.
    fn write_by_hook(&mut self, value: &Any) -> Result<bool> {
        let Some(hook) = self.hooks.of(value)? else { return Ok(false) };
        self.seen.set(value, State::Open)?;
        let answer = lend(self, Self::callback, |callback| {
            hook.call(&[value.view(), callback.into()])?.get::<String>()
        });
        match answer {
            Ok(text) => self.text.try_extend_from_slice(text.as_bytes())?,
            Err(error) => {
                self.forget(value);
                return Err(error);
            }
        }
        Ok(true)
    }

    fn callback(slot: Slot<Self>) -> Result<Function> {
        Function::from_typed(move |value: Any| slot.with(|printer| printer.print_aside(value)))
    }

    /// The text of a value that a hook asks for.
    fn print_aside(&mut self, value: Any) -> Result<String> {
        let outer = self.text_number;
        if self.texts.is_empty() {
            self.texts.try_push(Buffer::new())?;
        }
        self.texts.try_push(Buffer::new())?;
        self.switch_text(self.texts.len() - 1);
        let outcome = fold(self, value);
        let text = outcome.and_then(|()| String::from_bytes(&self.text));
        self.switch_text(outer);
        text
    }

    /// Puts the present text to the others and goes on with another one.
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
