//! Registration of classes in the type table, of this binary or of the loaded `libtvm_ffi`.

use core::sync::atomic::Ordering;

use crate::abi::{
    TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeMetadata,
    kTVMFFIFieldFlagBitMaskIsStaticMethod, type_index,
};
use crate::call::export::metadata_text;
use crate::call::function::Function;
use crate::class::registration::at_load;
use crate::error::Result;
use crate::names::type_table::{self, NewTypeRequest};
use crate::platform::sync::{critical, current_thread, pause};
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::value::convert::TypeText;
use crate::{plain_ensure, plain_error};

use super::access::call_creator;
use super::binding::UNREGISTERED;
use super::description::{Class, Default, Field, Method, MethodKind};
use super::elsewhere;

/// Flag of a field whose accessors respect the borrows of the object, as in classes in Rust.
/// Upstream has no such bit.
pub(super) const BORROWS: i64 = 1 << 62;
/// Flag of a field of a class whose objects are borrowed exclusively.
pub(super) const MUTABLE: i64 = 1 << 61;

/// Progress of a registration that has not begun, or that failed.
pub(super) const NEW: usize = 0;
/// Progress of a complete registration.
const DONE: usize = 1;
/// Progress while a thread that cannot be identified registers the class. Other values are the
/// identities of threads.
const RUNNING: usize = 2;

impl Class {
    /// Returns the type index. Registers the class if it is not registered. Returns an index that
    /// no object has if that fails.
    pub(super) fn index(&'static self) -> i32 {
        self.registered_index().unwrap_or(UNREGISTERED)
    }

    /// Returns the type index. Registers the class if it is not registered.
    ///
    /// # Errors
    /// The errors of [`register`](Class::register).
    #[inline]
    pub(super) fn registered_index(&'static self) -> Result<i32> {
        if !self.is_registered() {
            self.register()?;
        }
        Ok(self.binding.index())
    }

    /// Returns the type index of new objects. Registers the class if it is not registered.
    ///
    /// # Errors
    /// The errors of [`register`](Class::register); TypeError if only another language creates
    /// objects of the class.
    #[inline]
    pub(super) fn creation_index(&'static self) -> Result<i32> {
        if !self.is_registered() {
            self.register()?;
        }
        match self.creation.load(Ordering::Acquire) {
            UNREGISTERED => Err(self.not_created_here()),
            index => Ok(index),
        }
    }

    #[cold]
    fn not_created_here(&self) -> crate::Error {
        plain_error!(
            TYPE_ERROR,
            "Objects of class `{}` are created by the language that defines it: call its constructor",
            self.key;
            "`{}` is not made here",
            self.key
        )
    }

    /// Returns `true` if the registration is complete.
    #[inline]
    pub(super) fn is_registered(&self) -> bool {
        self.progress.load(Ordering::Acquire) == DONE
    }

    /// Returns `true` if Rust code may create and change objects of the class, which is registered.
    #[inline]
    pub(super) fn creates(&self) -> bool {
        self.creation.load(Ordering::Acquire) != UNREGISTERED
    }

    /// Registers the class and its ancestors, unless they are registered. If another thread
    /// registers the class, waits until it has finished. A default value that uses the class while
    /// this thread registers it sees the members registered so far.
    ///
    /// # Errors
    /// The errors of [`Object::register`](super::Object::register). A later call resumes the
    /// registration.
    #[cold]
    pub fn register(&'static self) -> Result<()> {
        let me = current_thread().map_or(RUNNING, |thread| thread.get().max(RUNNING));
        let mut round = 0;
        loop {
            // Cores without compare-and-swap exchange it in a critical section.
            let found = critical(|| {
                let found = self.progress.load(Ordering::Acquire);
                if found == NEW {
                    self.progress.store(me, Ordering::Release);
                }
                found
            });
            match found {
                DONE => return Ok(()),
                NEW => break,
                // This thread, or interrupts, which must not wait for what they interrupted.
                other if other == me => return self.allocate_index().map(|_index| ()),
                _ => pause(round),
            }
            round += 1;
        }
        let outcome = self.register_members();
        self.progress.store(if outcome.is_ok() { DONE } else { NEW }, Ordering::Release);
        outcome
    }

    /// Registers the class when the library that defines it is loaded. A failure is logged.
    pub fn register_at_load(&'static self) {
        at_load(self.key, || self.register());
    }

    /// Returns the type index, which the type table assigns on the first call. Decides whether this
    /// class defines the type: it does if the key is not registered, or only declared, as C++ code
    /// declares the classes that it uses.
    fn allocate_index(&'static self) -> Result<i32> {
        let known = self.binding.index();
        if known != UNREGISTERED {
            return Ok(known);
        }
        let parent_type_index = self.parent_index()?;
        let is_open =
            type_table::key_to_index(self.key.as_bytes()).is_none_or(elsewhere::is_only_declared);
        plain_ensure!(
            !is_open || self.parent_creates(),
            TYPE_ERROR,
            "The class `{}` cannot be derived from a class that another language defines: only that creates its content",
            self.key;
            "`{}` has another parent",
            self.key
        );
        let index = type_table::get_or_alloc_index(&NewTypeRequest {
            type_key: self.key.as_bytes(),
            static_type_index: -1,
            type_depth: self.depth(),
            num_child_slots: self.options.child_slots,
            child_slots_can_overflow: true,
            parent_type_index,
        })?;
        plain_ensure!(
            type_index::is_dynamic(index),
            TYPE_ERROR,
            "The type key `{}` belongs to a built-in type",
            self.key;
            "`{}` is built in",
            self.key
        );
        self.binding.bind(index, self.key.as_bytes())?;
        // Others may have begun to make objects of the type meanwhile.
        let claimed = self
            .check_ancestor(index)
            .and_then(
                |()| if is_open { elsewhere::claim_for_class(self, index) } else { Ok(false) },
            )
            .inspect_err(|_| self.binding.unbind())?;
        if claimed {
            self.creation.store(index, Ordering::Release);
        }
        Ok(index)
    }

    /// Registers the parent and returns its type index.
    fn parent_index(&self) -> Result<i32> {
        self.options.parent.map_or(Ok(type_index::OBJECT), |parent| parent().registered_index())
    }

    /// Returns `true` if Rust code may create objects of the parent, which is registered.
    pub(super) fn parent_creates(&self) -> bool {
        self.options.parent.is_none_or(|parent| parent().creates())
    }

    /// Checks that a type found by its key has the parent of this class.
    pub(super) fn check_ancestor(&self, index: i32) -> Result<()> {
        let parent = self.parent_index()?;
        let fits = type_table::depth(index) == Some(self.depth())
            && type_table::is_instance(index, parent);
        plain_ensure!(
            fits,
            TYPE_ERROR,
            "The class `{}` is defined elsewhere with another parent: not a class of depth {} that descends from `{}`",
            self.key,
            self.depth(),
            Lossy(type_table::type_key_of(parent));
            "`{}` has another parent",
            self.key
        );
        Ok(())
    }

    /// Registers the members of the class, or verifies those that another binary or language has
    /// registered.
    fn register_members(&'static self) -> Result<()> {
        let index = self.allocate_index()?;
        if self.creates() {
            return self.define(index);
        }
        // Another class may have the key if this one is not that of the objects.
        let creates = elsewhere::verify(self, index).inspect_err(|_| self.binding.unbind())?;
        if creates {
            self.creation.store(index, Ordering::Release);
        }
        Ok(())
    }

    /// Registers fields, methods, attributes and metadata. Members that a failed registration added
    /// are skipped.
    fn define(&'static self, index: i32) -> Result<()> {
        let found = type_table::members(index);
        let options = &self.options;
        options
            .fields
            .iter()
            .skip(found.fields)
            .try_for_each(|field| field.register(index, self.mutable))?;
        let methods = options.methods.iter().filter(|method| method.kind != MethodKind::Hook);
        methods.skip(found.methods).try_for_each(|method| method.register(index))?;
        options.methods.iter().try_for_each(|method| method.register_attr(index))?;
        self.register_attrs(index)?;
        let metadata = TVMFFITypeMetadata {
            doc: bytes(options.doc.as_bytes()),
            creator: options.creator,
            total_size: self.size as i32,
            structural_eq_hash_kind: options.structural,
        };
        // SAFETY: the doc is static.
        unsafe { type_table::register_metadata(index, &metadata)? };
        // Another binary may have begun to define the same key at the same time.
        plain_ensure!(
            type_table::members(index).fields == options.fields.len(),
            TYPE_ERROR,
            "The class `{}` is being defined elsewhere, too",
            self.key;
            "another `{}` exists",
            self.key
        );
        self.register_constructors(index)
    }

    /// Registers finality and the copy function.
    fn register_attrs(&self, index: i32) -> Result<()> {
        if let Some(copy) = self.options.copy {
            register_once(index, b"__ffi_shallow_copy__", || Ok(copy()?.into()))?;
        }
        register_once(index, b"__ffi_type_final__", || Ok(self.options.is_final.into()))
    }

    /// Registers the constructors that follow from the creator: one without arguments, and, for a
    /// class without a constructor, one that takes the fields, where the library offers it.
    fn register_constructors(&self, index: i32) -> Result<()> {
        let Some(creator) = self.options.creator else { return Ok(()) };
        let new = || Function::from_packed(move |_| call_creator(creator).map(Any::from));
        register_once(index, b"__ffi_new__", || Ok(new()?.into()))?;
        if self.options.methods.iter().any(|method| method.kind == MethodKind::Constructor) {
            return Ok(());
        }
        match Function::find_global("ffi._RegisterFFIInit")? {
            Some(register) => register_init(&register, index),
            None => Ok(()),
        }
    }
}

/// Returns `true` if a class in Rust defined a field, so that objects always have a value of its
/// type, and accessors borrow them.
pub fn is_of_rust(field: &TVMFFIFieldInfo) -> bool {
    field.flags & BORROWS != 0
}

/// Returns `true` if anyone has registered members of a type.
pub(super) fn has_members(index: i32) -> bool {
    type_table::members(index) != type_table::Members { fields: 0, methods: 0, total_size: None }
}

/// Registers the constructor that takes the fields, unless the type has a constructor.
fn register_init(register: &Function, index: i32) -> Result<()> {
    if type_table::attr(index, b"__ffi_init__").is_none() {
        register.call_packed(&[AnyView::from(index)])?;
    }
    Ok(())
}

/// Registers an attribute unless the type has it.
fn register_once(index: i32, name: &[u8], value: impl FnOnce() -> Result<Any>) -> Result<()> {
    if type_table::attr(index, name).is_none() {
        type_table::register_attr(index, name, value()?.view())?;
    }
    Ok(())
}

impl Field {
    fn register(&self, type_index: i32, is_mutable: bool) -> Result<()> {
        let metadata = metadata_text(&|out| self.text.write_schema(out))?;
        let default = match self.default {
            None => Any::NONE,
            Some(Default::Value(make)) => make()?,
            Some(Default::Factory(make)) => Function::from_packed(move |_| make())?.into(),
        };
        let info = TVMFFIFieldInfo {
            name: bytes(self.name.as_bytes()),
            doc: bytes(self.doc.as_bytes()),
            metadata: bytes(metadata.as_bytes()),
            flags: i64::from(self.flags) | BORROWS | if is_mutable { MUTABLE } else { 0 },
            size: self.size as i64,
            alignment: self.alignment as i64,
            offset: self.offset as i64,
            getter: Some(self.getter),
            setter: self.setter as *mut core::ffi::c_void,
            default_value_or_factory: *default.as_raw(),
            field_static_type_index: self
                .layout
                .map_or(type_index::ANY, |_| static_type_index(self.text)),
        };
        // SAFETY: strings and default outlive the call; the setter is a C function, as the flags
        // say.
        unsafe { type_table::register_field(type_index, &info) }
    }
}

impl Method {
    fn register(&self, type_index: i32) -> Result<()> {
        let described = (self.function)()?;
        let metadata = metadata_text(&|out| described.signature.write_schema(out))?;
        let info = TVMFFIMethodInfo {
            name: bytes(self.name.as_bytes()),
            doc: bytes(self.doc.as_bytes()),
            metadata: bytes(metadata.as_bytes()),
            flags: match self.kind {
                MethodKind::Instance | MethodKind::Hook => 0,
                MethodKind::Static | MethodKind::Constructor => {
                    i64::from(kTVMFFIFieldFlagBitMaskIsStaticMethod)
                }
            },
            method: *AnyView::from(&described.function).as_raw(),
        };
        // SAFETY: strings and function outlive the call.
        unsafe { type_table::register_method(type_index, &info) }
    }

    /// Registers the type attribute of a constructor or hook.
    fn register_attr(&self, type_index: i32) -> Result<()> {
        match self.kind {
            MethodKind::Constructor | MethodKind::Hook => {
                register_once(type_index, self.name.as_bytes(), || {
                    Ok((self.function)()?.function.into())
                })
            }
            MethodKind::Instance | MethodKind::Static => Ok(()),
        }
    }
}

/// Borrows bytes as a C byte array, whose pointer is null if there are none.
fn bytes(bytes: &[u8]) -> TVMFFIByteArray {
    let data = if bytes.is_empty() { core::ptr::null() } else { bytes.as_ptr().cast() };
    TVMFFIByteArray { data, size: bytes.len() }
}

/// Returns the declared type of a field, for its record.
///
/// # Upstream
/// `TypeToFieldStaticTypeIndex` in `type_traits.h`.
pub(super) fn static_type_index(text: &TypeText) -> i32 {
    match text.key() {
        "int" => type_index::INT,
        "float" => type_index::FLOAT,
        "bool" => type_index::BOOL,
        "void*" => type_index::OPAQUE_PTR,
        "DataType" => type_index::DATA_TYPE,
        "Device" => type_index::DEVICE,
        "ffi.Function" => type_index::FUNCTION,
        "ffi.Tensor" => type_index::TENSOR,
        "ffi.Array" => type_index::ARRAY,
        "ffi.List" => type_index::LIST,
        "ffi.Map" => type_index::MAP,
        "ffi.Dict" => type_index::DICT,
        _ => type_index::ANY,
    }
}
