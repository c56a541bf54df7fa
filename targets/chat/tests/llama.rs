//! The engine over a model that TVM compiled, beside the tokens that TVM's runtime chose
//! (`tests/programs/llm`).
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![allow(missing_docs, reason = "each test's name says it")]

use std::fs;
use std::path::{Path, PathBuf};

use ferrite_chat::{ConversationId, ConversationOptions, Engine, Event, Options, Reason, Sampling};
use serde_json::{Value, json};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/llm").join(path)
}

/// Writes a model folder with the weights of a fixture, and a configuration with these changes.
fn folder(name: &str, model: &str, library: &str, changes: Value) -> Outcome<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder)?;
    for file in ["tensor-cache.json", "params_shard_0.bin"] {
        fs::copy(fixture(model).join("params").join(file), folder.join(file))?;
    }
    fs::copy(fixture(model).join(library), folder.join("model.so"))?;
    let mut config = json!({
        "vocab_size": 256, "context_window_size": 128, "prefill_chunk_size": 64, "temperature": 0,
        "conv_template": { "roles": { "user": "", "assistant": "" }, "seps": [""] },
    });
    for (key, value) in changes.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    fs::write(folder.join("mlc-chat-config.json"), config.to_string())?;
    Ok(folder)
}

fn limited(max_tokens: usize) -> ConversationOptions {
    ConversationOptions { max_tokens: Some(max_tokens), ..ConversationOptions::default() }
}

/// Makes a reply, and returns its tokens.
fn ask(engine: &mut Engine, id: ConversationId, message: &str) -> Outcome<Vec<u32>> {
    let before = engine.tokens(id).map_or(0, <[u32]>::len);
    let mut reply = engine.reply(id, message)?;
    reply.by_ref().for_each(drop);
    let Some((Reason::Length, count)) = reply.end() else {
        return Err(format!("{:?}", reply.end()).into());
    };
    drop(reply);
    let tokens = engine.tokens(id).unwrap_or_default();
    assert!(tokens.len() >= before + count);
    Ok(tokens[tokens.len() - count..].to_vec())
}

fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .map(|number| number as u32)
        .collect()
}

/// Returns the prompt of sequence 0 in a scenario, and the tokens that TVM chose after it.
fn chosen_by_tvm(model: &str) -> Outcome<(Vec<u32>, Vec<u32>)> {
    let scenario: Value = serde_json::from_slice(&fs::read(fixture(model).join("chat.json"))?)?;
    let (mut prompt, mut chosen) = (Vec::new(), Vec::new());
    for step in scenario["steps"].as_array().into_iter().flatten() {
        match step["op"].as_str() {
            Some("prefill") if step["seq"] == 0 => prompt = numbers(&step["tokens"]),
            Some("decode") => {
                let place =
                    step["seqs"].as_array().and_then(|seqs| seqs.iter().position(|seq| seq == 0));
                let Some(place) = place else { break };
                chosen.extend(
                    step["fed"].as_array().into_iter().flatten().map(|fed| numbers(fed)[place]),
                );
            }
            Some("fork") => break,
            _ => {}
        }
    }
    Ok((prompt, chosen))
}

#[test]
fn replies_are_those_of_tvm() -> Outcome {
    for (model, library) in [
        ("llama", "bytecode.so"),
        ("llama", "compiled.so"),
        ("llama_f16", "bytecode.so"),
        ("llama_q4", "bytecode.so"),
    ] {
        let (prompt, chosen) = chosen_by_tvm(model)?;
        assert!(prompt.len() > 10 && chosen.len() > 20, "{model}");
        let template = json!({ "roles": { "user": "", "assistant": "" }, "seps": [""], "system_prefix_token_ids": prompt });
        let folder = folder(
            &format!("tvm-{model}-{library}"),
            model,
            library,
            json!({ "conv_template": template }),
        )?;
        let mut engine = Engine::load(folder, &Options::default())?;
        let id = engine.chat(limited(chosen.len()))?;
        assert_eq!(ask(&mut engine, id, "")?, chosen, "{model}/{library}");
        // Once more, from the shared beginning.
        engine.reset(id)?;
        assert_eq!(ask(&mut engine, id, "")?, chosen, "{model}/{library}");
        let memory = engine.memory();
        assert!(
            memory.weights > 100_000
                && memory.cache.is_none_or(|bytes| bytes > 30_000)
                && memory.arena > 0,
            "{memory:?}"
        );
    }
    Ok(())
}

#[test]
fn a_batch_gives_the_tokens_of_single_conversations() -> Outcome {
    let folder = folder(
        "batch",
        "llama",
        "bytecode.so",
        json!({ "prefill_chunk_size": 16, "context_window_size": 200 }),
    )?;
    let messages = ["one", "a message that is read in several chunks of tokens", "3", "the last"];
    let settings = |at: usize| ConversationOptions {
        system: Some("A system message for all.".into()),
        sampling: Some(Sampling {
            temperature: at as f32 * 0.5,
            seed: Some(at as u64),
            ..Sampling::default()
        }),
        ..limited(20)
    };
    let options = Options { cache_tokens: Some(1000), ..Options::default() };
    let mut alone = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut engine = Engine::load(&folder, &options)?;
        let id = engine.chat(settings(at))?;
        alone.push([ask(&mut engine, id, message)?, ask(&mut engine, id, "and more")?]);
    }
    let mut engine = Engine::load(&folder, &options)?;
    let mut ids = Vec::new();
    for at in 0..messages.len() {
        ids.push(engine.chat(settings(at))?);
    }
    for round in 0..2 {
        for (id, message) in ids.iter().zip(messages) {
            engine.say(*id, if round == 0 { message } else { "and more" })?;
        }
        while let Some((_, event)) = engine.next_event() {
            assert!(
                matches!(event, Event::Text(_) | Event::End { reason: Reason::Length, tokens: 20 }),
                "{event:?}"
            );
        }
        for (id, alone) in ids.iter().zip(&alone) {
            let tokens = engine.tokens(*id).unwrap_or_default();
            assert_eq!(tokens[tokens.len() - 20..], alone[round]);
        }
    }
    Ok(())
}

#[test]
fn sliding_windows_go_on() -> Outcome {
    let changes =
        json!({ "sliding_window_size": 48, "attention_sink_size": 4, "context_window_size": -1 });
    let mut engine =
        Engine::load(folder("window", "llama", "bytecode.so", changes)?, &Options::default())?;
    let id = engine.chat(limited(200))?;
    assert_eq!(ask(&mut engine, id, "a beginning")?.len(), 200);
    assert_eq!(ask(&mut engine, id, "and more")?.len(), 200);
    Ok(())
}

#[test]
fn a_full_cache_leaves_conversations_usable() -> Outcome {
    let folder = folder("full", "llama", "bytecode.so", json!({ "context_window_size": 120 }))?;
    let options = Options { cache_tokens: Some(160), ..Options::default() };
    let mut engine = Engine::load(folder, &options)?;
    let first = engine.chat(limited(60))?;
    let expected = ask(&mut engine, first, "begin")?;
    let mut ids = vec![first];
    engine.reset(first)?;
    for _ in 0..2 {
        ids.push(engine.chat(limited(60))?);
    }
    for id in &ids {
        engine.say(*id, "begin")?;
    }
    let mut full = 0;
    while let Some((_, event)) = engine.next_event() {
        full += usize::from(matches!(event, Event::End { reason: Reason::CacheFull, .. }));
    }
    assert_eq!(full, 1);
    engine.end(ids[1]);
    for id in [ids[0], ids[2]] {
        engine.reset(id)?;
        assert_eq!(ask(&mut engine, id, "begin")?, expected);
    }
    Ok(())
}

#[test]
fn libraries_of_other_models_are_refused() -> Outcome {
    let other = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/programs/relax/models/cnn/bytecode.so");
    let folder = folder("other", "llama", "bytecode.so", json!({}))?;
    let options = Options { library: Some(other), ..Options::default() };
    let Err(error) = Engine::load(&folder, &options) else { return Err("loaded".into()) };
    assert!(error.to_string().contains("has no function `_metadata`"), "{error}");
    fs::remove_file(folder.join("params_shard_0.bin"))?;
    let Err(error) = Engine::load(&folder, &Options::default()) else {
        return Err("loaded".into());
    };
    assert!(error.to_string().contains("params_shard_0.bin"), "{error}");
    Ok(())
}
