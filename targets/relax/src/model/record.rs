//! The model object.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{ObjectRecord, allocate};
use ferrite_core::{Any, AnyView, object_class};

use super::Kernels;
use crate::class::Class;
use crate::executable::Executable;
use crate::machine::Machine;
use crate::memory::{Kind, Usage};

static CLASS: Class = Class::new("ferrite.Model");

object_class! {
    /// A whole model that runs on the CPU: an executable with an initialized machine. A shared
    /// reference: its clones use the same machine.
    ///
    /// # Threads
    /// `Send` and `Sync`. One thread at a time may run a model: a call from another thread
    /// meanwhile is a RuntimeError. Give each thread a [`duplicate`](Model::duplicate), which has a
    /// separate machine over the same weights and kernels.
    ///
    /// # Examples
    /// ```
    /// use ferrite::relax::model::Model;
    /// use ferrite::{AnyView, Tensor};
    ///
    /// # fn main() -> ferrite::Result<()> {
    /// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
    /// # if !cfg!(all(target_arch = "x86_64", target_os = "linux")) { return Ok(()); } // the libraries' machine code
    /// let model = Model::load("cnn/bytecode.so")?; // written by TVM's export_library
    /// let x = Tensor::from_slice(&[0f32; 64], &[1, 1, 8, 8])?;
    /// let scores: Tensor = model.call_packed("main", &[AnyView::from(&x)])?.get()?;
    /// assert_eq!(scores.shape(), [1, 10]);
    /// println!("{:?}", scores.as_slice::<f32>()?);
    /// # Ok(())
    /// # }
    /// ```
    pub struct Model, CLASS.index(), "ferrite.Model"
}

#[repr(C)]
struct ModelRecord {
    header: TVMFFIObject,
    content: ManuallyDrop<ModelContent>,
}

struct ModelContent {
    machine: Machine,
    kernels: Kernels,
    kind: Kind,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ModelRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<ModelRecord>()).content) };
    }
}

impl Model {
    /// Creates a model from an executable, the kind of its allocator and the source of its kernels.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; otherwise, same errors as
    /// [`Machine::initialize_on_cpu`].
    pub fn new(executable: Executable, kind: Kind, kernels: Kernels) -> Result<Model> {
        Model::create(executable, kind, kernels).map_err(Error::with_numbers)
    }

    fn create(executable: Executable, kind: Kind, kernels: Kernels) -> Result<Model> {
        let index = CLASS.register()?;
        let content = ModelContent { machine: Machine::new(executable), kernels, kind };
        // SAFETY: the record has room for the content.
        let init = move |record: *mut ModelRecord| unsafe {
            (&raw mut (*record).content).write(ManuallyDrop::new(content));
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        let model = unsafe { Model::from_object_unchecked(allocate(index, 0, init)?) };
        // Once it is in its place: its address is its identity.
        let ModelContent { machine, kernels, kind } = model.content();
        machine.initialize_on_cpu(*kind, &|name| kernels.find(name))?;
        Ok(model)
    }

    fn content(&self) -> &ModelContent {
        // SAFETY: the object is a model, whose content stays while it lives.
        unsafe { &(*self.as_object().as_ptr().cast::<ModelRecord>()).content }
    }

    /// Creates a model with a separate machine over the same executable, weights and kernels, for
    /// use by another thread. May be called while another thread runs this model.
    ///
    /// # Errors
    /// Same errors as [`Machine::initialize_on_cpu`].
    ///
    /// # Examples
    /// ```
    /// # use ferrite::relax::model::Model;
    /// # use ferrite::{AnyView, Result, Tensor};
    /// # fn main() -> Result<()> {
    /// # std::env::set_current_dir("../../tests/programs/relax/models").unwrap();
    /// # if !cfg!(all(target_arch = "x86_64", target_os = "linux")) { return Ok(()); } // the libraries' machine code
    /// let model = Model::load("cnn/bytecode.so")?;
    /// let threads = (0..4).map(|_| {
    ///     let model = model.duplicate()?;
    ///     Ok(std::thread::spawn(move || {
    ///         let x = Tensor::from_slice(&[0f32; 64], &[1, 1, 8, 8])?;
    ///         model.call_packed("main", &[AnyView::from(&x)])
    ///     }))
    /// });
    /// for thread in threads.collect::<Result<Vec<_>>>()? {
    ///     thread.join().unwrap()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate(&self) -> Result<Model> {
        let ModelContent { machine, kernels, kind } = self.content();
        Model::new(machine.executable().clone(), *kind, kernels.clone())
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        &self.content().machine
    }

    /// Calls a function of the model by name, with its inputs in order.
    ///
    /// Tensors are used in place. The result is a tensor, or an array of values; it stays valid
    /// after the model is gone.
    ///
    /// # Errors
    /// ValueError for an unknown function; errors of [`Machine::call`]. The model can be used after
    /// an error.
    pub fn call_packed(&self, function: impl AsRef<[u8]>, args: &[AnyView<'_>]) -> Result<Any> {
        let machine = self.machine();
        // The memory of the call is free again.
        machine.call(machine.find(function.as_ref())?, args).map_err(Error::with_numbers)
    }

    /// Returns the bytes of storages in use, and their peak since the start or the last
    /// [`reset_peak_memory`](Model::reset_peak_memory). The counters are those of an allocator that
    /// all models of the process share.
    ///
    /// # Errors
    /// RuntimeError while another thread runs the model.
    pub fn memory(&self) -> Result<Usage> {
        Ok(self.machine().allocator(0)?.usage())
    }

    /// Sets the peak of [`memory`](Model::memory) to the bytes in use.
    ///
    /// # Errors
    /// Same errors as [`memory`](Model::memory).
    pub fn reset_peak_memory(&self) -> Result<()> {
        self.machine().allocator(0)?.reset_peak();
        Ok(())
    }
}
