//! The parts of a `tokenizer.json`.

use std::collections::HashMap;

use fancy_regex::Regex;
use ferrite::{Result, bail, error};
use serde::Deserialize;
use serde_json::Value;

use super::bytes;
use super::merge::Merges;
use super::pairs::{Added, Pairs};
use super::split::{Behavior, Normalizer, Prepends, Splitter};

/// Name of the file in a model's folder.
pub const FILE: &str = "tokenizer.json";

/// Pattern of byte-level pre-tokenizers that have none in the file: that of GPT-2.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    decoder: Option<Value>,
    model: Value,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    merges: Vec<Pair>,
    unk_token: Option<String>,
    #[serde(default)]
    fuse_unk: bool,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
}

/// A merge: two strings, or one with a space between them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pair {
    Two(String, String),
    One(String),
}

/// Reads a tokenizer.
///
/// # Errors
/// ValueError for text that is malformed, and for parts that are not supported.
pub(super) fn read(text: &str) -> Result<Pairs> {
    let file: File = serde_json::from_str(text).map_err(malformed)?;
    let kind = file.model.get("type").and_then(Value::as_str).unwrap_or("BPE");
    if kind != "BPE" {
        bail!(ValueError, "{FILE}: the model `{kind}` is not supported; supported is BPE");
    }
    let model = Model::deserialize(&file.model).map_err(malformed)?;
    if [&model.continuing_subword_prefix, &model.end_of_word_suffix]
        .into_iter()
        .flatten()
        .any(|text| !text.is_empty())
    {
        bail!(ValueError, "{FILE}: models with a prefix or suffix of words are not supported");
    }
    let mut normalizers = Vec::new();
    each(file.normalizer.as_ref(), "normalizers", &mut |part| normalizer(part, &mut normalizers))?;
    let mut splitters = Vec::new();
    each(file.pre_tokenizer.as_ref(), "pretokenizers", &mut |part| splitter(part, &mut splitters))?;
    let mut decoder = Decoder::default();
    each(file.decoder.as_ref(), "decoders", &mut |part| decoder.add(part))?;
    let texts = texts(&model.vocab, &file.added_tokens, &decoder);
    let added =
        file.added_tokens.into_iter().filter(|token| !token.content.is_empty()).map(|token| {
            Added {
                id: token.id,
                text: token.content,
                is_special: token.special,
                strips_left: token.lstrip,
                strips_right: token.rstrip,
            }
        });
    let strips_first_space = decoder.strips_first_space;
    Ok(Pairs {
        added: added.collect(),
        normalizers,
        splitters,
        merges: merges(model)?,
        texts,
        strips_first_space,
    })
}

fn malformed(error: serde_json::Error) -> ferrite::Error {
    error!(ValueError, "{FILE}: {error}")
}

/// Calls a function for a part, or for each part of a sequence, whose key is `parts`.
fn each(
    part: Option<&Value>,
    parts: &str,
    body: &mut dyn FnMut(&Value) -> Result<()>,
) -> Result<()> {
    let Some(part) = part.filter(|part| !part.is_null()) else { return Ok(()) };
    match part.get(parts).and_then(Value::as_array) {
        Some(inner) => inner.iter().try_for_each(body),
        None => body(part),
    }
}

fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'a>(part: &'a Value, key: &str) -> &'a str {
    part.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(part: &Value, key: &str, default: bool) -> bool {
    part.get(key).and_then(Value::as_bool).unwrap_or(default)
}

/// Returns the pattern of a part: a regular expression, or a string.
fn pattern(part: &Value) -> Result<Regex> {
    let pattern = part.get("pattern");
    let found = pattern.and_then(|pattern| {
        let regex = pattern.get("Regex").and_then(Value::as_str).map(str::to_string);
        regex.or_else(|| {
            pattern.get("String")?.as_str().map(|text| fancy_regex::escape(text).into_owned())
        })
    });
    let Some(found) = found else { bail!(ValueError, "{FILE}: {} has no pattern", kind(part)) };
    regex(&found)
}

fn regex(pattern: &str) -> Result<Regex> {
    Regex::new(pattern)
        .map_err(|error| error!(ValueError, "{FILE}: the pattern `{pattern}`: {error}"))
}

fn normalizer(part: &Value, normalizers: &mut Vec<Normalizer>) -> Result<()> {
    normalizers.push(match kind(part) {
        "NFC" => Normalizer::Composed,
        "NFKC" => Normalizer::Compatible,
        "Lowercase" => Normalizer::Lowercase,
        "Prepend" => Normalizer::Prepend(text(part, "prepend").into()),
        "Replace" => Normalizer::Replace(pattern(part)?, text(part, "content").into()),
        kind => bail!(ValueError, "{FILE}: the normalizer `{kind}` is not supported"),
    });
    Ok(())
}

fn splitter(part: &Value, splitters: &mut Vec<Splitter>) -> Result<()> {
    let isolated =
        |pattern| Splitter::Pattern { pattern, behavior: Behavior::Isolated, is_inverted: false };
    match kind(part) {
        "ByteLevel" => {
            let adds_space = flag(part, "add_prefix_space", true);
            if flag(part, "use_regex", true) {
                if adds_space {
                    bail!(
                        ValueError,
                        "{FILE}: ByteLevel with `add_prefix_space` and `use_regex` is not supported"
                    );
                }
                splitters.push(isolated(regex(GPT2)?));
            }
            splitters.push(Splitter::Bytes { adds_space });
        }
        "Split" => splitters.push(Splitter::Pattern {
            pattern: pattern(part)?,
            behavior: match text(part, "behavior") {
                "Isolated" => Behavior::Isolated,
                "Removed" => Behavior::Removed,
                "MergedWithPrevious" => Behavior::WithPrevious,
                "MergedWithNext" => Behavior::WithNext,
                "Contiguous" => Behavior::Contiguous,
                other => {
                    bail!(ValueError, "{FILE}: the behavior `{other}` of Split is not supported")
                }
            },
            is_inverted: flag(part, "invert", false),
        }),
        "Digits" => {
            let pattern = if flag(part, "individual_digits", false) { r"\p{N}" } else { r"\p{N}+" };
            splitters.push(isolated(regex(pattern)?));
        }
        "Metaspace" => splitters.push(Splitter::Spaces {
            replacement: part.get("replacement").and_then(Value::as_str).unwrap_or("▁").into(),
            prepends: match part.get("prepend_scheme").and_then(Value::as_str) {
                Some("first") => Prepends::First,
                Some("never") => Prepends::Never,
                Some(_) => Prepends::Always,
                None if flag(part, "add_prefix_space", true) => Prepends::Always,
                None => Prepends::Never,
            },
            splits: flag(part, "split", true),
        }),
        kind => bail!(ValueError, "{FILE}: the pre-tokenizer `{kind}` is not supported"),
    }
    Ok(())
}

/// How tokens become bytes.
#[derive(Default)]
struct Decoder {
    is_byte_level: bool,
    has_byte_fallback: bool,
    strips_first_space: bool,
    replacements: Vec<(String, String)>,
}

impl Decoder {
    fn add(&mut self, part: &Value) -> Result<()> {
        match kind(part) {
            "ByteLevel" => self.is_byte_level = true,
            "ByteFallback" => self.has_byte_fallback = true,
            "Fuse" => {}
            "Strip" => {
                self.strips_first_space |=
                    text(part, "content") == " " && part.get("start") != Some(&Value::from(0))
            }
            "Replace" => {
                let from = part
                    .get("pattern")
                    .and_then(|pattern| pattern.get("String"))
                    .and_then(Value::as_str);
                let Some(from) = from else {
                    bail!(ValueError, "{FILE}: the decoder `Replace` needs a string")
                };
                self.replacements.push((from.into(), text(part, "content").into()));
            }
            "Metaspace" => {
                let mark = part.get("replacement").and_then(Value::as_str).unwrap_or("▁");
                self.replacements.push((mark.into(), " ".into()));
                self.strips_first_space |=
                    part.get("prepend_scheme").and_then(Value::as_str) != Some("never");
            }
            kind => bail!(ValueError, "{FILE}: the decoder `{kind}` is not supported"),
        }
        Ok(())
    }

    fn bytes(&self, token: &str) -> Vec<u8> {
        if self.is_byte_level {
            let bytes: Option<Vec<u8>> = token.chars().map(bytes::byte_of).collect();
            return bytes.unwrap_or_else(|| token.into());
        }
        if let (true, Some(byte)) = (self.has_byte_fallback, fallback(token)) {
            return vec![byte];
        }
        self.replacements
            .iter()
            .fold(token.to_string(), |text, (from, to)| text.replace(from, to))
            .into_bytes()
    }
}

/// Returns the byte of a token such as `<0x0A>`.
fn fallback(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Returns the bytes of each token. Special tokens have none.
fn texts(
    vocabulary: &HashMap<String, u32>,
    added: &[AddedToken],
    decoder: &Decoder,
) -> Vec<Box<[u8]>> {
    let ids = vocabulary.values().copied().chain(added.iter().map(|token| token.id));
    // A sparse vocabulary must not fill the memory.
    let limit = 16 * (vocabulary.len() + added.len());
    let count = ids.map(|id| id as usize + 1).filter(|count| *count <= limit).max().unwrap_or(0);
    let mut texts = vec![Box::default(); count];
    let mut put = |id: u32, text: Vec<u8>| {
        if let Some(place) = texts.get_mut(id as usize) {
            *place = text.into_boxed_slice();
        }
    };
    vocabulary.iter().for_each(|(token, id)| put(*id, decoder.bytes(token)));
    for token in added {
        put(token.id, if token.special { Vec::new() } else { token.content.clone().into() });
    }
    texts
}

fn merges(model: Model) -> Result<Merges> {
    let id = |token: &str| {
        model.vocab.get(token).copied().ok_or_else(|| {
            error!(ValueError, "{FILE}: the merge of `{token}` is not in the vocabulary")
        })
    };
    let mut pairs = HashMap::with_capacity(model.merges.len());
    for (rank, pair) in model.merges.iter().enumerate() {
        let (left, right) = match pair {
            Pair::Two(left, right) => (left.as_str(), right.as_str()),
            Pair::One(both) => both
                .split_once(' ')
                .ok_or_else(|| error!(ValueError, "{FILE}: the merge `{both}` has no space"))?,
        };
        let merged = id(&format!("{left}{right}"))?;
        pairs.entry((id(left)?, id(right)?)).or_insert((rank as u32, merged));
    }
    let mut bytes = Box::new([0; 256]);
    let mut has_bytes = model.byte_fallback;
    for (byte, token) in bytes.iter_mut().enumerate() {
        match model.vocab.get(&format!("<0x{byte:02X}>")) {
            Some(id) => *token = *id,
            None => has_bytes = false,
        }
    }
    Ok(Merges {
        unknown: model.unk_token.as_ref().and_then(|token| model.vocab.get(token)).copied(),
        fuses_unknown: model.fuse_unk,
        bytes: has_bytes.then_some(bytes),
        ignores_merges: model.ignore_merges,
        pairs,
        vocabulary: model.vocab,
    })
}
