//! Modules of the server, and the session itself as a module: kind `rpc`.
#![forbid(unsafe_code)]

use core::ffi::CStr;
use std::sync::{Arc, OnceLock};

use ferrite_alloc_ext::module::{Module, ModuleImpl, RUNNABLE};
use ferrite_core::error::Result;
use ferrite_core::{AnyView, Function, String, bail, error};

use super::function;
use super::session::Connected;

/// Server function that looks up the functions of modules.
const GET_FUNCTION: &str = "tvm.rpc.server.ModuleGetFunction";

/// Server function that adds imports to modules.
const IMPORT: &str = "tvm.rpc.server.ImportModule";

/// Server function that loads a module from the session's folder.
pub(super) const LOAD_MODULE: &str = "tvm.rpc.server.load_module";

/// Server function that measures the time of calls.
pub(super) const TIME_EVALUATOR: &str = "runtime.RPCTimeEvaluator";

/// Name under which the session's module has the function that closes the session.
const CLOSE: &[u8] = b"CloseRPCConnection";

/// A module of the server, or with the handle zero the session: its functions are the server's
/// global functions.
pub(super) struct RemoteModule {
    session: Arc<Connected>,
    handle: u64,
    /// [`GET_FUNCTION`] of the server, once it was used.
    get_function: OnceLock<Function>,
}

impl Drop for RemoteModule {
    fn drop(&mut self) {
        self.session.release(self.handle);
    }
}

/// Creates the module object of a handle, which it owns, or of the session.
///
/// # Errors
/// MemoryError; the handle is released.
pub(super) fn create(session: &Arc<Connected>, handle: u64) -> Result<Module> {
    let get_function = OnceLock::new();
    Module::from_impl(RemoteModule { session: session.clone(), handle, get_function })
}

/// Looks up a global function of the server.
///
/// # Errors
/// AttributeError if there is none; RPCError if the session ended; MemoryError.
pub(super) fn server_function(session: &Arc<Connected>, name: &str) -> Result<Function> {
    match session.find_function(name.as_bytes())? {
        0 => bail!(AttributeError, "The RPC server has no function {name}"),
        handle => function::create(session, handle),
    }
}

impl RemoteModule {
    /// Returns the implementation of a module of kind `rpc`.
    ///
    /// # Errors
    /// TypeError for other modules, also for those that `libtvm_runtime` created.
    pub(super) fn of(module: &Module) -> Result<&RemoteModule> {
        module
            .implementation::<RemoteModule>()
            .ok_or_else(|| error!(TypeError, "The module is not one of a Ferrite RPC session"))
    }

    /// Returns the remote module that a value refers to; `None` for other values.
    pub(super) fn of_view(view: &AnyView<'_>) -> Option<Module> {
        let module: Module = view.try_get().ok()??;
        RemoteModule::of(&module).is_ok().then_some(module)
    }

    /// Returns the session of the module.
    pub(super) fn session(&self) -> &Arc<Connected> {
        &self.session
    }

    /// Returns the handle of the module on the server, zero for the session.
    pub(super) fn handle(&self) -> u64 {
        self.handle
    }

    fn get_function(&self) -> Result<&Function> {
        if let Some(function) = self.get_function.get() {
            return Ok(function);
        }
        let function = server_function(&self.session, GET_FUNCTION)?;
        Ok(self.get_function.get_or_init(|| function))
    }
}

impl ModuleImpl for RemoteModule {
    fn kind(&self) -> &CStr {
        c"rpc"
    }

    fn property_mask(&self) -> i32 {
        RUNNABLE
    }

    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        if self.handle != 0 {
            let arguments = [AnyView::from(module), AnyView::from(name), AnyView::from(true)];
            return self.get_function()?.call_packed(&arguments)?.get();
        }
        if name.as_bytes() == CLOSE {
            let session = self.session.clone();
            return Function::from_typed(move || session.close()).map(Some);
        }
        match self.session.find_function(name.as_bytes())? {
            0 => Ok(None),
            handle => function::create(&self.session, handle).map(Some),
        }
    }

    /// Imports a module of the server into this one, on the server.
    fn import_elsewhere(&self, module: &Module, other: &Module) -> Result<bool> {
        let import = server_function(&self.session, IMPORT)?;
        import.call_packed(&[AnyView::from(module), AnyView::from(other)])?;
        Ok(true)
    }
}
