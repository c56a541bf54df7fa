//! Answers: values as a sequence, objects as new handles.

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use ferrite_core::{Any, Tensor};

use super::failure::{Failure, refused};
use super::handles::Content;
use super::session::Session;
use crate::wire::{Item, Stream, TensorItem, code, send};

/// Returns a handle as a value. Only answers contain it, never a call.
pub(super) fn handle_value(handle: u64) -> Any {
    let payload = TVMFFIAnyPayload { v_uint64: handle };
    let cell = TVMFFIAny { type_index: type_index::OPAQUE_PTR, small_str_len: 0, payload };
    // SAFETY: the cell is plain data.
    unsafe { Any::from_raw(cell) }
}

/// Returns a string by its content. Clients end raw strings at the first zero byte, so that strings
/// with zero bytes are sent as objects.
fn string(text: &[u8]) -> Item<'_> {
    if cfg!(feature = "alloc") && text.contains(&0) {
        Item::Object(type_index::STR, text)
    } else {
        Item::string(text)
    }
}

impl Session {
    /// Sends a Return. The result of a call is preceded by its type index; objects are sent as new
    /// handles, and tensors also by their shape.
    pub(super) fn answer(
        &mut self,
        stream: &mut impl Stream,
        value: &Any,
        is_call: bool,
    ) -> Result<(), Failure> {
        let (view, index) = (value.view(), value.type_index());
        let mut items = [Item::int(index.into()), Item::None, Item::None];
        let mut end = 2;
        if let Some(object) = value.as_object() {
            let pointer = match view.content_of_object() {
                Some(_) => 0,
                None => self.handles.insert(Content::Object(object.clone()))?,
            };
            items[1] = Item::pointer(pointer);
            if let Some(tensor) = object.as_class::<Tensor>() {
                // The first element is at the start of the data of the handle.
                (items[1], items[2], end) = (tensor_item(tensor, pointer), items[1], 3);
            }
        } else if (type_index::INT..=type_index::DEVICE).contains(&index) {
            items[1] = Item::Word(index, view.payload_bits());
        } else if index > type_index::SMALL_BYTES {
            return Err(refused!(
                "TypeError: cannot return a value of this type",
                "TypeError: result"
            ));
        }
        if let Some(text) = view.bytes_of_string() {
            items[1] = string(text);
        } else if let Some(bytes) = view.bytes_of_bytes() {
            items[1] = Item::Bytes(type_index::BYTE_ARRAY_PTR, bytes);
        }
        if is_call && index == type_index::OPAQUE_PTR && view.payload_bits() != 0 {
            return Err(refused!("TypeError: cannot return a pointer"));
        }
        let items = items.get(usize::from(!is_call)..end).unwrap_or_default();
        Ok(send(stream, code::RETURN, b"", items)?)
    }
}

fn tensor_item(tensor: &Tensor, handle: u64) -> Item<'_> {
    Item::Tensor(TensorItem {
        data: handle,
        device: tensor.device(),
        dtype: tensor.dtype(),
        shape: tensor.shape(),
        byte_offset: 0,
    })
}
