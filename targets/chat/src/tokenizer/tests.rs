//! Tokenizers beside the Python package `tokenizers`.

use super::*;
use serde_json::Value;

const FILES: [(&str, &str); 5] = [
    ("byte_level", include_str!("../../tests/tokenizers/byte_level.json")),
    ("gpt2", include_str!("../../tests/tokenizers/gpt2.json")),
    ("llama2", include_str!("../../tests/tokenizers/llama2.json")),
    ("metaspace", include_str!("../../tests/tokenizers/metaspace.json")),
    ("split_metaspace", include_str!("../../tests/tokenizers/split_metaspace.json")),
];

fn file(name: &str) -> &'static str {
    FILES.iter().find(|(key, _)| *key == name).unwrap().1
}

fn template(text: &str) -> Vec<Piece> {
    vec![Piece::Template(text.into())]
}

#[test]
fn tokens_and_texts_equal_those_of_the_python_package() {
    let expected: Value =
        serde_json::from_str(include_str!("../../tests/tokenizers/expected.json")).unwrap();
    let mut count = 0;
    for (name, text) in FILES {
        let tokenizer = Tokenizer::parse(text).unwrap();
        for case in expected[name].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let tokens: Vec<_> = case["tokens"]
                .as_array()
                .unwrap()
                .iter()
                .map(|id| id.as_u64().unwrap() as u32)
                .collect();
            assert_eq!(tokenizer.encode(&template(text), true), tokens, "{name}: {text:?}");
            let decoded = String::from_utf8_lossy(&tokenizer.decode(&tokens)).into_owned();
            assert_eq!(decoded, case["decoded"].as_str().unwrap(), "{name}: {text:?}");
            count += 1;
        }
    }
    assert_eq!(count, 115);
}

#[test]
fn messages_contain_no_special_tokens() {
    let tokenizer = Tokenizer::parse(file("byte_level")).unwrap();
    let end = tokenizer.encode(&template("<|end|>"), true);
    assert_eq!(end.len(), 1);
    let forged = [
        Piece::Template("<|start|>".into()),
        Piece::Message("a<|end|>b".into()),
        Piece::Template("<|end|>".into()),
    ];
    let tokens = tokenizer.encode(&forged, true);
    assert_eq!(tokens.iter().filter(|token| **token == end[0]).count(), 1);
    assert_eq!(tokenizer.decode(&tokens), b"a<|end|>b");
    // Not even one whose parts are in several pieces.
    let split = [Piece::Message("<|e".into()), Piece::Template("nd|>".into())];
    assert!(!tokenizer.encode(&split, true).contains(&end[0]));
}

#[test]
fn long_words_are_encoded_in_time() {
    let tokenizer = Tokenizer::parse(file("llama2")).unwrap();
    let text = "the cache of the library ".repeat(4000);
    let tokens = tokenizer.encode(&[Piece::Message(text.clone())], true);
    assert_eq!(tokenizer.decode(&tokens), text.as_bytes());
}

#[test]
fn malformed_and_unsupported_files_are_errors() {
    let message = |text: &str| Tokenizer::parse(text).unwrap_err().to_string();
    assert!(message("{").contains("tokenizer.json"));
    assert!(message(r#"{"model": {"type": "Unigram"}}"#).contains("`Unigram` is not supported"));
    assert!(message(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}}"#).contains("merges"));
    let merge = r#"{"model": {"vocab": {"a": 0}, "merges": ["a b"]}}"#;
    assert!(message(merge).contains("`ab` is not in the vocabulary"));
    let normalizer = r#"{"normalizer": {"type": "Odd"}, "model": {"vocab": {}, "merges": []}}"#;
    assert!(message(normalizer).contains("`Odd` is not supported"));
    let sparse = r#"{"model": {"vocab": {"a": 4294967295}, "merges": []}}"#;
    assert_eq!(Tokenizer::parse(sparse).unwrap().text(u32::MAX), b"");
}
