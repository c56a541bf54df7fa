//! `mlc-chat-config.json`: limits of the model, defaults of sampling, conversation template.
#![forbid(unsafe_code)]

use std::path::Path;

use ferrite::{Result, bail, error};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::keys::{FILE, Keys};
use crate::sampling::Sampling;
use crate::template::Template;

/// Tokens of a page of the cache: the frontend of TVM compiles its kernels for this number.
const PAGE_TOKENS: usize = 16;

/// Configuration of a language model, from the file that MLC-LLM writes.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of tokens in the vocabulary, if the file declares it.
    pub vocab_size: Option<usize>,
    /// Maximum number of tokens of a conversation; `None` with a sliding window.
    pub context_window: Option<usize>,
    /// Sliding window and attention sink, in tokens.
    pub sliding_window: Option<Window>,
    /// Maximum number of tokens of one step.
    pub prefill_chunk: usize,
    /// Tokens of a page of the cache.
    pub page_size: usize,
    /// Defaults of sampling.
    pub sampling: Sampling,
    /// Strings around messages, and the ends of replies.
    pub template: Template,
}

/// A sliding window: older tokens are forgotten, except the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of tokens that are kept.
    pub size: usize,
    /// Number of first tokens that are always kept.
    pub sink: usize,
}

impl Config {
    /// Reads the file in a model's folder.
    ///
    /// # Errors
    /// RuntimeError if the file cannot be read; errors of [`parse`](Config::parse).
    pub fn read(folder: &Path) -> Result<Config> {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| error!(RuntimeError, "cannot read {}: {error}", path.display()))?;
        Config::parse(&text)
    }

    /// Reads a configuration from JSON text.
    ///
    /// # Errors
    /// ValueError for text that is not JSON and for a value of a wrong type or out of range;
    /// KeyError for a missing key. Both name the key.
    pub fn parse(text: &str) -> Result<Config> {
        let object = serde_json::from_str::<Map<String, Value>>(text)
            .map_err(|error| error!(ValueError, "{FILE}: {error}"))?;
        let keys = Keys::new(&object);
        let sliding_window = match keys.tokens("sliding_window_size", 2)? {
            None => None,
            Some(size) => {
                Some(Window { size, sink: keys.tokens("attention_sink_size", 0)?.unwrap_or(0) })
            }
        };
        if let Some(Window { size, sink }) = sliding_window
            && sink >= size
        {
            bail!(
                ValueError,
                "{FILE}: `attention_sink_size` is {sink}, which must be below `sliding_window_size`, {size}"
            );
        }
        let context_window = match sliding_window {
            Some(_) => None,
            None => match keys.tokens("context_window_size", 1)? {
                None => bail!(
                    KeyError,
                    "{FILE} lacks the key `context_window_size`, and has no `sliding_window_size`"
                ),
                size => size,
            },
        };
        let chunk = keys.tokens("prefill_chunk_size", 1)?;
        Ok(Config {
            vocab_size: keys.tokens("vocab_size", 1)?,
            context_window,
            sliding_window,
            prefill_chunk: chunk.or(context_window).unwrap_or(2048),
            page_size: keys.tokens("page_size", 1)?.unwrap_or(PAGE_TOKENS),
            sampling: sampling(&keys)?,
            template: template(&keys)?,
        })
    }
}

fn sampling(keys: &Keys<'_>) -> Result<Sampling> {
    Ok(Sampling {
        temperature: keys.number("temperature", 1.0, (0.0, 100.0))?,
        top_p: keys.number("top_p", 1.0, (0.0, 1.0))?,
        top_k: None,
        repetition_penalty: keys.number("repetition_penalty", 1.0, (0.01, 100.0))?,
        presence_penalty: keys.number("presence_penalty", 0.0, (-100.0, 100.0))?,
        frequency_penalty: keys.number("frequency_penalty", 0.0, (-100.0, 100.0))?,
        seed: None,
    })
}

/// Reads the template, with the end-of-text tokens of the model among its stop tokens.
fn template(keys: &Keys<'_>) -> Result<Template> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Ids {
        One(u32),
        Several(Vec<u32>),
    }
    let mut template = Template::read(&keys.object("conv_template")?)?;
    match keys.optional("eos_token_id")? {
        None => {}
        Some(Ids::One(id)) => template.stop_tokens.push(id),
        Some(Ids::Several(ids)) => template.stop_tokens.extend(ids),
    }
    Ok(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#""conv_template": {"roles": {"user": "U", "assistant": "A"}, "seps": ["\n"], "stop_token_ids": [2]}"#;

    fn message(text: &str) -> String {
        Config::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn files_of_mlc_are_read() {
        let text = format!(
            r#"{{"model_type": "llama", "vocab_size": 32000, "context_window_size": 4096, "sliding_window_size": -1, "prefill_chunk_size": 1024,
            "attention_sink_size": -1, "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 1.1, "presence_penalty": 0.0, "bos_token_id": 1,
            "eos_token_id": [7, 8], {TEMPLATE}}}"#
        );
        let config = Config::parse(&text).unwrap();
        assert_eq!(
            (config.context_window, config.prefill_chunk, config.page_size),
            (Some(4096), 1024, 16)
        );
        assert_eq!((config.sampling.temperature, config.sampling.top_p), (0.6, 0.9));
        assert_eq!(config.template.stop_tokens, [2, 7, 8]);
        let sliding = format!(
            r#"{{"sliding_window_size": 64, "attention_sink_size": 4, "context_window_size": 99, {TEMPLATE}}}"#
        );
        let config = Config::parse(&sliding).unwrap();
        assert_eq!(
            (config.sliding_window, config.context_window),
            (Some(Window { size: 64, sink: 4 }), None)
        );
    }

    #[test]
    fn errors_name_the_key() {
        for (text, expected) in [
            ("[]".into(), "mlc-chat-config.json"),
            (format!("{{{TEMPLATE}}}"), "`context_window_size`"),
            (r#"{"context_window_size": 9}"#.into(), "lacks the key `conv_template`"),
            (r#"{"context_window_size": 9, "conv_template": "llama-2"}"#.into(), "the name `llama-2`"),
            (r#"{"context_window_size": 9, "conv_template": {"seps": [""]}}"#.into(), "`conv_template.roles`"),
            (r#"{"context_window_size": 9, "conv_template": {"roles": {"user": ""}, "seps": [""]}}"#.into(), "`conv_template.roles.assistant`"),
            (r#"{"context_window_size": 9, "conv_template": {"roles": {}, "seps": []}}"#.into(), "`conv_template.seps`"),
            (format!(r#"{{"context_window_size": "9", {TEMPLATE}}}"#), "`context_window_size`"),
            (format!(r#"{{"context_window_size": 0, {TEMPLATE}}}"#), "`context_window_size` is 0"),
            (format!(r#"{{"context_window_size": 9, "top_p": 3, {TEMPLATE}}}"#), "`top_p` is 3"),
            (format!(r#"{{"sliding_window_size": 4, "attention_sink_size": 4, {TEMPLATE}}}"#), "`attention_sink_size` is 4"),
        ] {
            assert!(message(&text).contains(expected), "{}", message(&text));
        }
    }
}
