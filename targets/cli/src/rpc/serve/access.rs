//! The functions that a session's client may call.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ferrite::{Any, AnyView, Bytes, Function, Module, Result, bail, error};
use ferrite_rpc::client::forward;
use ferrite_rpc::functions::{self, HostTiming, time_evaluator};
use ferrite_rpc::server::Access;
use ferrite_rpc::wire::{Closed, Stream};

use super::files::Files;
use super::link;
use super::options::SessionOptions;
use crate::failure::Outcome;
use crate::registered::Registered;
use crate::{linker, loading};

/// Global functions that neither load code nor reach files, other processes or the network.
const HARMLESS: [&str; 9] = [
    "ffi.ArrayGetItem",
    "ffi.ArraySize",
    "ffi.MapCount",
    "ffi.MapGetItem",
    "ffi.MapSize",
    "ffi.Shape",
    "ffi.SystemLib",
    "tvm.contrib.random.random_fill",
    "tvm.contrib.random.random_fill_for_measure",
];

/// A library of the option `--library`.
struct Library {
    /// Name of its file, by which clients load it.
    name: String,
    module: Module,
}

/// Permissions of a session, its files and libraries.
pub struct SessionAccess {
    options: SessionOptions,
    files: Files,
    libraries: Vec<Library>,
    /// Global functions that the libraries registered.
    registered: BTreeSet<String>,
    /// Files that were loaded, whose names the dynamic linker does not load again.
    loaded: Mutex<BTreeSet<PathBuf>>,
}

/// Permissions of a session, shared by its functions.
#[derive(Clone)]
pub struct SharedAccess(Arc<SessionAccess>);

impl SharedAccess {
    /// Loads the libraries.
    ///
    /// # Errors
    /// [`Kind::Load`](crate::failure::Kind::Load) for a library that does not load.
    pub fn new(options: &SessionOptions, files: Files) -> Outcome<SharedAccess> {
        let before = Registered::now()?.functions;
        let mut libraries = Vec::new();
        for path in &options.library {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            libraries.push(Library { name, module: loading::load(path)? });
        }
        let registered = match libraries.is_empty() {
            true => BTreeSet::new(),
            false => Registered::now()?.functions.difference(&before).cloned().collect(),
        };
        let options = options.clone();
        let loaded = Mutex::default();
        Ok(SharedAccess(Arc::new(SessionAccess { options, files, libraries, registered, loaded })))
    }
}

impl Access for SharedAccess {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        if let Some(function) = self.session_function(name)? {
            return Ok(Some(function));
        }
        if let Some(function) = functions::find(name) {
            return Function::from_packed(function).map(Some);
        }
        let Ok(text) = std::str::from_utf8(name) else { return Ok(None) };
        match self.0.of_libraries(text)? {
            None => self.0.global(text),
            found => Ok(found),
        }
    }

    fn is_remote(&self, session: &Any) -> Result<bool> {
        forward::is_remote(session).map(|()| true)
    }

    fn forward(
        &self,
        session: &Any,
        client: &mut dyn Stream,
        code: i32,
        left: u64,
    ) -> std::result::Result<(), Closed> {
        forward::forward(session, client, code, left)
    }
}

impl SharedAccess {
    /// Finds a function that belongs to the session: files, modules, measurements.
    fn session_function(&self, name: &[u8]) -> Result<Option<Function>> {
        let name = match name {
            b"runtime.RPCTimeEvaluator" => {
                let own = self.clone();
                let measured = move |args: &[AnyView<'_>]| {
                    let own = own.clone();
                    let find = move |module: AnyView<'_>, name: &ferrite::String| {
                        own.measured(module, name)
                    };
                    time_evaluator(HostTiming::new(find), args)
                };
                return Function::from_packed(measured).map(Some);
            }
            _ => name.strip_prefix(b"tvm.rpc.server.").unwrap_or_default(),
        };
        let own = Arc::clone(&self.0);
        match name {
            b"upload" => Function::from_typed(move |name: ferrite::String, content: Bytes| {
                own.require_code("uploads")?;
                own.files.upload(name.as_bytes(), content.as_bytes())
            }),
            b"download" => Function::from_typed(move |name: ferrite::String| {
                Bytes::new(&own.files.download(name.as_bytes())?)
            }),
            b"remove" => {
                Function::from_typed(move |name: ferrite::String| own.files.remove(name.as_bytes()))
            }
            b"listdir" => Function::from_typed(move |name: ferrite::String| {
                ferrite::String::new(&own.files.list(name.as_bytes())?)
            }),
            b"workpath" => Function::from_typed(move |name: ferrite::String| {
                let path = own.files.path(name.as_bytes())?;
                ferrite::String::from_bytes(path.as_os_str().as_encoded_bytes())
            }),
            b"load_module" => {
                Function::from_typed(move |name: ferrite::String| own.load(name.as_bytes()))
            }
            b"download_linked_module" => Function::from_typed(move |name: ferrite::String| {
                Bytes::new(&own.linked(name.as_bytes())?)
            }),
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// Finds a function that is measured: of a module of the client, or one that it may call.
    fn measured(&self, module: AnyView<'_>, name: &ferrite::String) -> Result<Option<Function>> {
        match module.is_none() {
            true => self.find(name.as_bytes()),
            false => module.get::<Module>()?.get_function(name, true),
        }
    }
}

impl SessionAccess {
    fn require_code(&self, what: &str) -> Result<()> {
        if self.options.allow_code {
            return Ok(());
        }
        bail!("PermissionError", "the server refuses {what}: it runs without --allow-code");
    }

    /// Finds a function that a library exports.
    fn of_libraries(&self, name: &str) -> Result<Option<Function>> {
        let name = ferrite::String::new(name)?;
        for library in &self.libraries {
            if let Some(function) = library.module.get_function(&name, true)? {
                return Ok(Some(function));
            }
        }
        Ok(None)
    }

    /// Finds a global function.
    fn global(&self, name: &str) -> Result<Option<Function>> {
        let Some(function) = functions::global(name.as_bytes())? else { return Ok(None) };
        let is_allowed = self.options.allow_code
            || HARMLESS.contains(&name)
            || self.registered.contains(name)
            || self.options.allow.iter().any(|allowed| allowed == name);
        if !is_allowed {
            bail!(
                "PermissionError",
                "the server does not allow `{name}`: it runs without --allow {name}"
            );
        }
        Ok(Some(function))
    }

    /// Loads a library of the server, or a file of the session.
    fn load(&self, name: &[u8]) -> Result<Module> {
        if let Some(library) = self.libraries.iter().find(|library| library.name.as_bytes() == name)
        {
            return Ok(library.module.clone());
        }
        self.require_code("to load modules but those of --library")?;
        let file = self.files.path(name)?;
        if !file.is_file() {
            bail!("OSError", "there is no file {:?}", String::from_utf8_lossy(name));
        }
        if let Some(reason) = linker::ABSENT {
            bail!(RuntimeError, "{reason}");
        }
        let library = link::shared_library(&file, &self.options.linker)?;
        Module::load(self.under_new_name(library)?)
    }

    /// Returns a path under which a file was not loaded before: the dynamic linker would return the
    /// earlier library, although a newer one has been uploaded.
    fn under_new_name(&self, file: PathBuf) -> Result<PathBuf> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let count = loaded.len();
        if loaded.insert(file.clone()) {
            return Ok(file);
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let link = self.files.folder().join(format!(".loaded-{count}-{}-{name}", loaded.len()));
        std::fs::hard_link(&file, &link)
            .map_err(|reason| error!("OSError", "cannot load {name} again: {reason}"))?;
        loaded.insert(link.clone());
        Ok(link)
    }

    /// Returns the content of a linked library.
    fn linked(&self, name: &[u8]) -> Result<Vec<u8>> {
        self.require_code("to link modules")?;
        let library = link::shared_library(&self.files.path(name)?, &self.options.linker)?;
        std::fs::read(library).map_err(|reason| {
            error!("OSError", "cannot read {:?}: {reason}", String::from_utf8_lossy(name))
        })
    }
}
