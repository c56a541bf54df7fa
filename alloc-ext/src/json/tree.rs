//! Tree of a parsed JSON document, stored in flat buffers, for callers that need no objects.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use super::parser;
use super::value_builder::{Builder, ValueBuilder};
use ferrite_core::platform::words;

/// A parsed JSON document.
pub(crate) struct Tree<'t> {
    text: &'t [u8],
    parts: TreeBuffers,
    root: TreeValue,
}

/// Buffers that tree values refer to by range.
#[derive(Default)]
struct TreeBuffers {
    /// Children of all containers: elements of arrays, and alternating keys and values of objects.
    contents: Buffer<TreeValue>,
    /// Decoded contents of all strings with escapes.
    unescaped: Buffer<u8>,
}

/// A value of the document.
#[derive(Clone, Copy, Default)]
pub(crate) enum TreeValue {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A string of up to eight nonzero bytes, padded with zeros.
    Short(Word),
    /// A string without escapes: a range of the document's text.
    Literal(Range),
    /// A string with escapes: a range of `TreeBuffers::unescaped`.
    Unescaped(Range),
    /// An array: the range of its elements in `TreeBuffers::contents`.
    Array(Range),
    /// An object: the range of its alternating keys and values in `TreeBuffers::contents`.
    Object(Range),
}

const _: () = assert!(size_of::<TreeValue>() == 16);

/// Eight bytes with the alignment of a word, so that values are copied word by word.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(crate) struct Word([u8; 8]);

/// A range of the document's text or of a buffer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Range {
    start: u32,
    len: u32,
}

impl Range {
    /// Creates a range. Both numbers must fit in 32 bits.
    fn new(start: usize, len: usize) -> Self {
        Self { start: start as u32, len: len as u32 }
    }

    fn of<T>(self, whole: &[T]) -> &[T] {
        whole
            .get(self.start as usize..)
            .and_then(|rest| rest.get(..self.len as usize))
            .unwrap_or_default()
    }
}

impl<'t> Tree<'t> {
    /// Returns `true` if a tree can represent the text, which must be shorter than 4 GiB.
    pub(crate) fn may_have(text: &[u8]) -> bool {
        u32::try_from(text.len()).is_ok()
    }

    /// Parses JSON text that satisfies [`may_have`](Self::may_have).
    ///
    /// # Errors
    /// Errors of [`parse`](super::parse).
    pub(crate) fn parse(text: &'t [u8]) -> Result<Self> {
        let mut parts = TreeBuffers::default();
        let root = parser::build(text, &mut parts)?;
        Ok(Self { text, parts, root })
    }

    /// Returns the root value.
    pub(crate) fn root(&self) -> &TreeValue {
        &self.root
    }

    /// Returns the elements of an array; `None` for other values.
    pub(crate) fn elements(&self, value: &TreeValue) -> Option<&[TreeValue]> {
        match value {
            TreeValue::Array(range) => Some(range.of(&self.parts.contents)),
            _ => None,
        }
    }

    /// Returns the entries of an object; `None` for other values.
    pub(crate) fn entries(&self, value: &TreeValue) -> Option<&[[TreeValue; 2]]> {
        match value {
            TreeValue::Object(range) => Some(range.of(&self.parts.contents).as_chunks().0),
            _ => None,
        }
    }

    /// Returns the content of a string; `None` for other values.
    #[inline]
    pub(crate) fn string<'a>(&'a self, value: &'a TreeValue) -> Option<&'a [u8]> {
        match value {
            TreeValue::Short(word) => word.0.get(..short_len(*word)),
            TreeValue::Literal(range) => Some(range.of(self.text)),
            TreeValue::Unescaped(range) => Some(range.of(&self.parts.unescaped)),
            _ => None,
        }
    }

    /// Returns `true` if the value is a string with the content `expected`.
    #[inline]
    pub(crate) fn is_string(&self, value: &TreeValue, expected: &[u8]) -> bool {
        match value {
            TreeValue::Short(word) => {
                words::pack_short(expected) == Some(u64::from_le_bytes(word.0))
            }
            _ => self.string(value) == Some(expected),
        }
    }

    /// Converts a value to an [`Any`], with the same result as [`parse`](super::parse).
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn to_any(&self, value: TreeValue) -> Result<Any> {
        if let Some(value) = scalar(value) {
            return Ok(value);
        }
        let (mut builder, mut values) = (ValueBuilder::default(), Buffer::new());
        // Containers that are not complete, with the index of their next child and of their first
        // element in `values`.
        let mut open: Buffer<(TreeValue, usize, usize)> = Buffer::new();
        let mut value = value;
        loop {
            match value {
                TreeValue::Short(_) | TreeValue::Literal(_) | TreeValue::Unescaped(_) => {
                    let content = self.string(&value).unwrap_or_default();
                    values.try_push(String::from_bytes(content)?.into_any())?;
                }
                TreeValue::Array(_) | TreeValue::Object(_) => {
                    open.try_push((value, 0, values.len()))?
                }
                _ => values.try_push(scalar(value).unwrap_or_default())?,
            }
            value = loop {
                let Some((container, next, first)) = open.last_mut() else {
                    return Ok(values.pop().unwrap_or_default());
                };
                let (range, is_object) = match *container {
                    TreeValue::Object(range) => (range, true),
                    TreeValue::Array(range) => (range, false),
                    _ => (Range::default(), false),
                };
                if let Some(child) = range.of(&self.parts.contents).get(*next) {
                    *next += 1;
                    break *child;
                }
                let first = *first;
                let made = if is_object {
                    builder.object(&mut values, first)?
                } else {
                    builder.array(&mut values, first)?
                };
                open.pop();
                values.try_push(made)?;
            };
        }
    }
}

/// Converts a value that is not stored in an object; `None` for other values.
#[inline]
fn scalar(value: TreeValue) -> Option<Any> {
    Some(match value {
        TreeValue::Null => Any::NONE,
        TreeValue::Bool(value) => value.into(),
        TreeValue::Int(value) => value.into(),
        TreeValue::Float(value) => value.into(),
        TreeValue::Short(word) if short_len(word) <= String::SHORT_MAX => {
            String::of_word(u64::from_le_bytes(word.0), short_len(word)).into_any()
        }
        _ => return None,
    })
}

/// Returns the length of a short string, without its padding.
#[inline]
fn short_len(word: Word) -> usize {
    word.0.len() - (u64::from_le_bytes(word.0).leading_zeros() / u8::BITS) as usize
}

impl From<bool> for TreeValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for TreeValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for TreeValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl Builder for TreeBuffers {
    type Value = TreeValue;

    #[inline]
    fn short(word: u64, len: usize) -> TreeValue {
        TreeValue::Short(Word((word & ((1 << (8 * len)) - 1)).to_le_bytes()))
    }

    #[inline]
    fn literal(&mut self, text: &[u8], start: usize, len: usize, _: bool) -> Result<TreeValue> {
        let content = text.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default();
        // A literal has no control characters, hence no 0.
        let short =
            words::pack_short(content).map(|word| TreeValue::Short(Word(word.to_le_bytes())));
        Ok(short.unwrap_or_else(|| TreeValue::Literal(Range::new(start, len))))
    }

    fn unescaped(&mut self, content: &[u8]) -> Result<TreeValue> {
        let range = Range::new(self.unescaped.len(), content.len());
        self.unescaped.try_extend_from_slice(content)?;
        Ok(TreeValue::Unescaped(range))
    }

    fn array(&mut self, values: &mut Buffer<TreeValue>, first: usize) -> Result<TreeValue> {
        self.take(values, first).map(TreeValue::Array)
    }

    fn object(&mut self, values: &mut Buffer<TreeValue>, first: usize) -> Result<TreeValue> {
        self.take(values, first).map(TreeValue::Object)
    }
}

impl TreeBuffers {
    fn take(&mut self, values: &mut Buffer<TreeValue>, first: usize) -> Result<Range> {
        let content = values.get(first..).unwrap_or_default();
        let range = Range::new(self.contents.len(), content.len());
        self.contents.try_extend_from_slice(content)?;
        values.truncate(first);
        Ok(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_tree_is_what_parsing_gives() -> Result<()> {
        for text in [
            "null",
            r#"[1,-2.5,true,false,null,[],{},"","seven..","eight...","nine bytes"]"#,
            r#"{"a\n":{"b":[{"c":"\u0000"},[[2]]]},"twice":1,"more than eight":[false],"twice":"\u00e9"}"#,
        ] {
            let tree = Tree::parse(text.as_bytes())?;
            let (value, expected) = (tree.to_any(*tree.root())?, json::parse(text.as_bytes())?);
            assert_eq!(json::stringify(&value, None)?, json::stringify(&expected, None)?);
        }
        Ok(())
    }

    #[test]
    fn strings_are_known_in_every_form() -> Result<()> {
        let tree = Tree::parse(br#"["","data","eight...","nine bytes","\n",1]"#)?;
        let elements = tree.elements(tree.root()).expect("an array");
        let contents: [&[u8]; 5] = [b"", b"data", b"eight...", b"nine bytes", b"\n"];
        for (number, element) in elements.iter().enumerate() {
            assert_eq!(tree.string(element), contents.get(number).copied());
            for (other, content) in contents.iter().enumerate() {
                assert_eq!(tree.is_string(element, content), number == other, "{number} {other}");
            }
        }
        Ok(())
    }
}
