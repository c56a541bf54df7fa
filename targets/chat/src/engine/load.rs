//! Engines from model folders.

use std::path::{Path, PathBuf};

use ferrite::device::Device;
use ferrite::{Result, ensure, error};

use super::Engine;
use crate::config::Config;
use crate::model::CompiledModel;
use crate::model::compiled::CacheSizes;
use crate::tokenizer::Tokenizer;

/// Settings of an engine.
#[derive(Clone, Debug)]
pub struct Options {
    /// Device of the model.
    pub device: Device,
    /// Library of the model; `None` for `model-DEVICE.so` in its folder, such as `model-opencl.so`,
    /// or else `model.so`.
    pub library: Option<PathBuf>,
    /// Number of conversations.
    pub conversations: usize,
    /// Tokens in the cache, of all conversations together; `None` for the context window, or for a
    /// sliding window of each conversation.
    pub cache_tokens: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options { device: Device::CPU, library: None, conversations: 4, cache_tokens: None }
    }
}

/// A model folder, whose configuration and tokenizer are read: `mlc-chat-config.json`,
/// `tokenizer.json`, `tensor-cache.json` with its shards, and a library.
#[derive(Debug)]
pub struct ModelFolder {
    path: PathBuf,
    /// Configuration. A program may change it.
    pub config: Config,
    /// Tokenizer.
    pub tokenizer: Tokenizer,
}

impl ModelFolder {
    /// Reads the configuration and the tokenizer of a folder.
    ///
    /// # Errors
    /// Errors of [`Config::read`] and [`Tokenizer::read`].
    pub fn read(path: impl AsRef<Path>) -> Result<ModelFolder> {
        let path = path.as_ref().to_path_buf();
        let config = Config::read(&path)?;
        let tokenizer = Tokenizer::read(&path, config.vocab_size)?;
        Ok(ModelFolder { path, config, tokenizer })
    }

    /// Returns the path of the library for a device.
    ///
    /// # Errors
    /// RuntimeError if the folder has none.
    pub fn library(&self, device: Device) -> Result<PathBuf> {
        let names = [format!("model-{}.so", device.type_name()), "model.so".into()];
        let found = names.iter().map(|name| self.path.join(name)).find(|path| path.is_file());
        found.ok_or_else(|| {
            error!(
                RuntimeError,
                "{} has no library {} or {}",
                self.path.display(),
                names[0],
                names[1]
            )
        })
    }
}

impl Engine {
    /// Loads a model folder.
    ///
    /// # Errors
    /// Errors of [`ModelFolder::read`] and [`open`](Engine::open).
    pub fn load(folder: impl AsRef<Path>, options: &Options) -> Result<Engine> {
        Engine::open(ModelFolder::read(folder)?, options)
    }

    /// Loads the library and the weights of a model folder, and creates the cache.
    ///
    /// # Errors
    /// ValueError for options out of range, and for a library that is not a language model;
    /// RuntimeError for a device that does not exist; errors of the library's functions.
    pub fn open(folder: ModelFolder, options: &Options) -> Result<Engine> {
        let ModelFolder { path, mut config, tokenizer } = folder;
        let capacity = options.conversations;
        ensure!(
            (1..=4096).contains(&capacity),
            ValueError,
            "an engine has 1 to 4096 conversations, not {capacity}"
        );
        let library = match &options.library {
            Some(library) => library.clone(),
            None => (ModelFolder {
                path: path.clone(),
                config: config.clone(),
                tokenizer: Tokenizer::bytes(),
            })
            .library(options.device)?,
        };
        let tokens = match (options.cache_tokens, config.context_window, config.sliding_window) {
            (Some(tokens), ..) => tokens,
            (None, Some(window), _) => window,
            (None, None, Some(window)) => capacity * (window.size + config.prefill_chunk),
            (None, None, None) => config.prefill_chunk,
        };
        let sizes = CacheSizes { sequences: Engine::<CompiledModel>::sequences(capacity), tokens };
        let model = CompiledModel::load(&library, &path, options.device, &mut config, sizes)?;
        Ok(Engine::with_model(model, config, tokenizer, capacity))
    }
}
