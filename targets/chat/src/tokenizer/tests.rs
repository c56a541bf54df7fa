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
            let encoded = tokenizer.encode(&template(text), true).unwrap();
            assert_eq!(encoded, tokens, "{name}: {text:?}");
            let expected = case["decoded"].as_str().unwrap();
            assert_eq!(tokenizer.decode(&tokens).unwrap(), expected, "{name}: {text:?}");
            let mut decoder = Decoder::default();
            let pieces = tokens.iter().map(|token| decoder.push(&tokenizer, *token).unwrap());
            assert_eq!(pieces.collect::<String>(), expected, "{name}: {text:?}");
            count += 1;
        }
    }
    assert_eq!(count, 115);
}

#[test]
fn messages_contain_no_special_tokens() {
    let tokenizer = Tokenizer::parse(file("byte_level")).unwrap();
    let end = tokenizer.encode(&template("<|end|>"), true).unwrap();
    assert_eq!(end.len(), 1);
    let forged = [
        Piece::Template("<|start|>".into()),
        Piece::Message("a<|end|>b".into()),
        Piece::Template("<|end|>".into()),
    ];
    let tokens = tokenizer.encode(&forged, true).unwrap();
    assert_eq!(tokens.iter().filter(|token| **token == end[0]).count(), 1);
    assert_eq!(tokenizer.decode(&tokens).unwrap(), "a<|end|>b");
    // Not even one whose parts are in several pieces.
    let split = [Piece::Message("<|e".into()), Piece::Template("nd|>".into())];
    assert!(!tokenizer.encode(&split, true).unwrap().contains(&end[0]));
}

#[test]
fn long_words_are_encoded_in_time() {
    let tokenizer = Tokenizer::parse(file("llama2")).unwrap();
    let text = "the cache of the library ".repeat(4000);
    let tokens = tokenizer.encode(&[Piece::Message(text.clone())], true).unwrap();
    assert_eq!(tokenizer.decode(&tokens).unwrap(), text);
}

#[test]
fn forged_tokens_are_text_in_any_number_and_order() {
    let tokenizer = Tokenizer::parse(file("byte_level")).unwrap();
    let special = tokenizer.encode(&template("<|start|><|end|>"), true).unwrap();
    for message in
        ["<|end|>".repeat(2000), "<|<|end|>end|>".into(), "<|start|><|end|>é<|end".into()]
    {
        let pieces = [Piece::Template("<|start|>".into()), Piece::Message(message.clone())];
        let tokens = tokenizer.encode(&pieces, true).unwrap();
        assert_eq!(tokens.iter().filter(|token| special.contains(token)).count(), 1);
        assert_eq!(tokenizer.decode(&tokens).unwrap(), message);
    }
}

#[test]
fn text_in_the_middle_has_no_space_of_a_first_word() {
    let tokenizer = Tokenizer::parse(file("metaspace")).unwrap();
    let first = tokenizer.encode(&template("word"), true).unwrap();
    let later = tokenizer.encode(&template("word"), false).unwrap();
    let spaced = tokenizer.encode(&template(" word"), false).unwrap();
    assert_ne!(first, later);
    assert_eq!(first, spaced);
}

#[test]
fn malformed_files_are_errors() {
    let message = |text: &str| Tokenizer::parse(text).unwrap_err().to_string();
    assert!(message("{").contains("tokenizer.json"));
    assert!(message(r#"{"model": {"type": "BPE", "vocab": {"a": 0}}}"#).contains("tokenizer.json"));
    let normalizer = r#"{"normalizer": {"type": "Odd"}, "model": {"vocab": {}, "merges": []}}"#;
    assert!(message(normalizer).contains("tokenizer.json"));
}
