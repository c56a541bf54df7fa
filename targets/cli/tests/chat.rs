//! `ferrite chat`: its arguments, and model folders that are refused.
#![forbid(unsafe_code)]

mod support;

use ferrite_tests::{Outcome, root, scratch};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::{ferrite, json};

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
    assert_eq!(json(&error)?["error"]["raised"]["kind"], "ValueError");
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

/// Writes a model folder with a compiled model of `tests/programs/llm`.
fn llama(name: &str, config: &str) -> Outcome<PathBuf> {
    let folder = folder(name, config)?;
    let model = root().join("tests/programs/llm/llama");
    fs::copy(model.join("bytecode.so"), folder.join("model.so"))?;
    for file in ["tensor-cache.json", "params_shard_0.bin"] {
        fs::copy(model.join("params").join(file), folder.join(file))?;
    }
    Ok(folder)
}

/// Runs the command with this standard input, and returns its standard output.
fn with_input(arguments: &[&str], input: &str) -> Outcome<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let pipes = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn()?;
    child.stdin.take().ok_or("no pipe".to_string())?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    assert!(output.status.success());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn models_answer_prompts_and_lines() -> Outcome<()> {
    let folder = llama("cli-chat-llama", CONFIG)?;
    let model = folder.to_string_lossy();
    let options = ["chat", &model, "--max-tokens", "8", "--seed", "5"];
    let prompt = [&options[..], &["--prompt", "hi"]].concat();
    let printed = ferrite(&prompt, &[])?.success()?;
    assert!(printed.ends_with('\n') && printed.len() > 4, "{printed}");
    assert_eq!(ferrite(&prompt, &[])?.success()?, printed);
    let stats = ferrite(&[&prompt[..], &["--stats"]].concat(), &[])?.success()?;
    assert!(
        stats.starts_with(&printed)
            && stats.contains("\ndecode ")
            && stats.contains("\nweights       354 KiB\n"),
        "{stats}"
    );

    let lines = with_input(&[&options[..], &["--json"]].concat(), "hi\n\n/reset\nhi\nmore")?;
    let replies: Vec<_> = lines.lines().map(json).collect::<Outcome<_>>()?;
    assert_eq!(replies.len(), 3);
    for reply in &replies {
        assert_eq!((&reply["reason"], &reply["tokens"]), (&"length".into(), &8.into()), "{reply}");
    }
    assert_eq!(replies[0]["stats"]["prefill_tokens"], 2 + 1);
    // The last token of the reply, its separator, the message and its separator.
    assert_eq!(replies[2]["stats"]["prefill_tokens"], 1 + 1 + 4 + 1);

    let talk = with_input(&options, "/help\nhi\n/stats\n/quit\nhi\n")?;
    assert!(talk.starts_with("/reset  begin anew") && talk.contains("\ncontext "), "{talk}");
    let long = "a long message ".repeat(10);
    let message = ferrite(&["chat", &model, "--prompt", &long], &[])?.failure(1)?;
    assert!(message.contains("and the context window 64"), "{message}");
    Ok(())
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn the_small_decoder_writes_what_the_page_says() -> Outcome<()> {
    let page = fs::read_to_string(root().join("docs/language-models.md"))?;
    let model = root().join("tests/programs/llm/small/host");
    let arguments =
        ["chat", &model.to_string_lossy(), "--prompt", "The cache ", "--temperature", "0"];
    let printed = ferrite(&arguments, &[])?.success()?;
    assert!(page.contains(&format!("```text\n{printed}```\n")), "{printed}");
    Ok(())
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn an_interrupt_cancels_the_reply_and_otherwise_ends_the_program() -> Outcome<()> {
    use std::os::unix::process::ExitStatusExt;

    // The random weights never end a reply.
    let config = CONFIG.replace("\"context_window_size\": 64", "\"context_window_size\": 20000");
    let folder = llama("cli-chat-interrupt", &config)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrite"));
    let command = command.args(["chat", &folder.to_string_lossy()]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let interrupt = {
        let id = child.id().to_string();
        move || Command::new("kill").args(["-INT", &id]).status()
    };
    let no_pipe = || "no pipe".to_string();
    let mut input = child.stdin.take().ok_or_else(no_pipe)?;
    let mut output = BufReader::new(child.stdout.take().ok_or_else(no_pipe)?);
    let mut errors = BufReader::new(child.stderr.take().ok_or_else(no_pipe)?).lines();
    for _ in 0..2 {
        input.write_all(b"hi\n")?;
        output.read_exact(&mut [0])?;
        assert!(interrupt()?.success());
        assert_eq!(errors.next().ok_or_else(no_pipe)??, "[cancelled]");
        input.write_all(b"/stats\n")?;
        // The rest of the reply, and the figures up to the last one.
        let mut line = Vec::new();
        while !line.starts_with(b"arena ") {
            line.clear();
            assert_ne!(output.read_until(b'\n', &mut line)?, 0);
        }
    }
    assert!(interrupt()?.success());
    assert_eq!(child.wait()?.signal(), Some(2));
    Ok(())
}
