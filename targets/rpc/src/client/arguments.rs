//! Arguments of remote calls, as the values of a request.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView, ensure, error};

use super::function::RemoteFunction;
use super::module::RemoteModule;
use super::object::RemoteObject;
use super::session::Connected;
use crate::wire::{Item, OBJECT_REF, TensorItem};

/// Arguments of a call, with the objects that the caller moved into them.
pub(super) struct Arguments<'a> {
    session: &'a Connected,
    views: &'a [AnyView<'a>],
    /// Objects of the arguments that are rvalue references, in order.
    moved: Buffer<Any>,
}

impl<'a> Arguments<'a> {
    /// Takes the arguments of a call.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(session: &'a Connected, views: &'a [AnyView<'a>]) -> Result<Arguments<'a>> {
        let mut moved = Buffer::new();
        for view in views.iter().filter(|view| is_rvalue(view)) {
            moved.try_push(view.to_owned()?)?;
        }
        Ok(Arguments { session, views, moved })
    }

    /// Converts the arguments to values of a request.
    ///
    /// # Errors
    /// ValueError for an argument that a session cannot send, or that belongs to this process or to
    /// another session; MemoryError.
    pub(super) fn items(&self) -> Result<Buffer<Item<'_>>> {
        ensure!(
            i32::try_from(self.views.len()).is_ok(),
            ValueError,
            "A remote call cannot have {} arguments",
            self.views.len()
        );
        let mut items = Buffer::try_with_capacity(self.views.len())?;
        let mut moved = self.moved.iter();
        for (index, view) in self.views.iter().enumerate() {
            let owned = if is_rvalue(view) { moved.next() } else { None };
            let item = self.item(index, owned.map_or(view, Any::as_view))?;
            items.try_push(item)?;
        }
        Ok(items)
    }

    fn item<'b>(&self, index: usize, view: &'b AnyView<'b>) -> Result<Item<'b>> {
        let kind = view.type_index();
        Ok(match kind {
            type_index::NONE => Item::None,
            type_index::INT | type_index::BOOL | type_index::FLOAT | type_index::OPAQUE_PTR => {
                Item::Word(kind, view.payload_bits())
            }
            type_index::DATA_TYPE => Item::dtype(view.get()?),
            type_index::DEVICE => Item::device(self.session.strip_mask(view.get()?)?),
            _ => return self.content(index, view),
        })
    }

    /// Converts an argument that has content: a string, a tensor, or an object of the server.
    fn content<'b>(&self, index: usize, view: &'b AnyView<'b>) -> Result<Item<'b>> {
        if let Some(text) = view.bytes_of_string() {
            return Ok(Item::string(text));
        }
        if let Some(bytes) = view.bytes_of_bytes() {
            return Ok(Item::Bytes(type_index::BYTE_ARRAY_PTR, bytes));
        }
        if let Some(tensor) = TensorRef::from_view(view) {
            return self.tensor(index, tensor);
        }
        self.handle(view)?.ok_or_else(|| refusal(index, view))
    }

    fn tensor<'b>(&self, index: usize, tensor: TensorRef<'b>) -> Result<Item<'b>> {
        let device = self.session.strip_mask(tensor.device())?;
        ensure!(
            tensor.is_contiguous(),
            ValueError,
            "Cannot pass argument {index}: remote calls take contiguous tensors only"
        );
        Ok(Item::Tensor(TensorItem {
            data: tensor.data_ptr().addr() as u64,
            device,
            dtype: tensor.dtype(),
            shape: tensor.shape(),
            byte_offset: tensor.byte_offset(),
        }))
    }

    /// Converts a function, module or object of the server; returns `None` for others.
    fn handle(&self, view: &AnyView<'_>) -> Result<Option<Item<'static>>> {
        if let Some(function) = RemoteFunction::of(view) {
            let handle = self.own(function.session(), function.handle())?;
            return Ok(Some(Item::Word(type_index::FUNCTION, handle)));
        }
        if let Some(object) = RemoteObject::of(view) {
            let handle = self.own(object.session(), object.handle())?;
            return Ok(Some(Item::ObjectRef(handle)));
        }
        match RemoteModule::of_view(view) {
            Some(module) => {
                let module = RemoteModule::of(&module)?;
                let handle = self.own(module.session(), module.handle())?;
                Ok(Some(Item::Word(type_index::MODULE, handle)))
            }
            None => Ok(None),
        }
    }

    /// Returns the handle of an object, which must belong to the session.
    fn own(&self, owner: &Connected, handle: u64) -> Result<u64> {
        ensure!(
            core::ptr::eq(owner, self.session),
            ValueError,
            "Cannot pass an object of one RPC session to another"
        );
        Ok(handle)
    }
}

const _: () = assert!(OBJECT_REF == super::object::TYPE_INDEX);

fn is_rvalue(view: &AnyView<'_>) -> bool {
    view.type_index() == type_index::OBJECT_RVALUE_REF
}

#[cold]
fn refusal(index: usize, view: &AnyView<'_>) -> Error {
    let kind = view.type_index();
    let key = str::from_utf8(type_table::type_key_of(kind)).unwrap_or("unknown");
    error!(ValueError, "Cannot pass argument {index}, type {key} (type_index = {kind})")
}
