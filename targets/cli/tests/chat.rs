//! `ferrite chat`: its arguments, and model folders that are refused.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Outcome, scratch};
use std::fs;
use std::path::PathBuf;
use support::ferrite;

const CONFIG: &str = r#"{"vocab_size": 256, "context_window_size": 64,
    "conv_template": {"roles": {"user": "", "assistant": ""}, "seps": ["\n"]}}"#;

/// Writes a model folder with this configuration.
fn folder(name: &str, config: &str) -> Outcome<PathBuf> {
    let folder = scratch(name)?;
    fs::write(folder.join("mlc-chat-config.json"), config)?;
    Ok(folder)
}

#[test]
fn folders_without_a_model_are_refused() -> Outcome<()> {
    let message = ferrite(&["chat", "no-such-folder"], &[])?.failure(3)?;
    assert!(message.contains("cannot read no-such-folder/mlc-chat-config.json"), "{message}");
    for (config, expected) in [
        ("{", "mlc-chat-config.json: "),
        (r#"{"context_window_size": 64}"#, "lacks the key `conv_template`"),
        (CONFIG, "has no library model-cpu.so or model.so"),
        (&CONFIG.replace("256", "300"), "tokenizer.json"),
    ] {
        let folder = folder("cli-chat-refused", config)?;
        let message = ferrite(&["chat", &folder.to_string_lossy()], &[])?.failure(3)?;
        assert!(message.contains(expected), "{message}");
    }
    Ok(())
}

#[test]
fn libraries_that_are_no_models_are_refused() -> Outcome<()> {
    let folder = folder("cli-chat-library", CONFIG)?;
    let model = folder.to_string_lossy();
    fs::write(folder.join("model.so"), "not a library")?;
    ferrite(&["chat", &model], &[])?.failure(6)?;
    let kernels = support::kernels("cli-chat-kernels")?;
    let arguments = ["chat", &model, "--library", &kernels.to_string_lossy()];
    let message = ferrite(&arguments, &[])?.failure(1)?;
    assert!(message.contains("is not a model that TVM's Relax compiler compiled"), "{message}");
    let error = ferrite(&[&arguments[..], &["--json"]].concat(), &[])?.failure(1)?;
    assert_eq!(support::json(&error)?["error"]["raised"]["kind"], "ValueError");
    Ok(())
}

#[test]
fn wrong_arguments_are_refused() -> Outcome<()> {
    let message = ferrite(&["chat", "model", "--device", "toaster"], &[])?.failure(2)?;
    assert!(message.contains("toaster"), "{message}");
    ferrite(&["chat", "model", "--device", "cuda:99"], &[])?.failure(4)?;
    ferrite(&["chat", "model", "--seed", "-1"], &[])?.failure(2)?;
    ferrite(&["chat"], &[])?.failure(2)?;
    let help = ferrite(&["chat", "--help"], &[])?.success()?;
    assert!(help.contains("--temperature <T>") && help.contains("/reset"), "{help}");
    Ok(())
}
