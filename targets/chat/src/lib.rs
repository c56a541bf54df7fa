#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

pub mod config;
mod engine;
mod keys;
pub mod model;
pub mod sampling;
pub mod stream;
pub mod template;
pub mod tokenizer;

pub use config::Config;
pub use engine::{
    ConversationId, ConversationOptions, Engine, Event, ModelFolder, Options, Reason, Reply, Stats,
};
pub use model::{CompiledModel, LanguageModel};
pub use sampling::Sampling;
pub use template::Piece;
