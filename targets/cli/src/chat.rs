//! `ferrite chat`: a conversation with a language model, on a terminal or through pipes.
#![forbid(unsafe_code)]

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use ferrite::device::Device;
use ferrite_chat::{
    ConversationId, ConversationOptions, Engine, ModelFolder, Options, Sampling, Stats,
};
use serde_json::{Value, json};

use crate::arguments::Chat;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::visible::visible;
use crate::{loading, output};

const HELP: &str = "\
/reset  begin anew, with the same system message
/stats  print speed and memory
/quit   end
Ctrl-C  cancel the reply; end, if there is none
";

/// A conversation and the options of its output.
struct Session<'a> {
    options: &'a Chat,
    engine: Engine,
    conversation: ConversationId,
}

/// Runs the command.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a model folder that lacks a file or has a
/// malformed one; [`Kind::Missing`](crate::failure::Kind::Missing) for a device that does not
/// exist; [`Kind::Load`](crate::failure::Kind::Load) for a library that does not load; errors of
/// the model.
pub fn run(options: &Chat) -> Outcome<()> {
    let mut session = Session::open(options)?;
    if let Some(prompt) = &options.prompt {
        session.answer(prompt, || false)?;
        return if options.stats && !options.json { session.print_stats() } else { Ok(()) };
    }
    session.talk()
}

impl Session<'_> {
    fn open(options: &Chat) -> Outcome<Session<'_>> {
        let device =
            Device::parse(&options.device).map_err(|error| Failure::usage(message(&error)))?;
        if device != Device::CPU && !device.exists() {
            return Err(Failure::missing(format!(
                "the device {device} does not exist: `ferrite devices` lists those that do"
            )));
        }
        let folder =
            ModelFolder::read(&options.model).map_err(|error| Failure::input(message(&error)))?;
        let library = match &options.library {
            Some(library) => library.clone(),
            None => folder.library(device).map_err(|error| Failure::input(message(&error)))?,
        };
        // For its advice.
        loading::load(&library)?;
        let sampling = sampling(options, &folder.config.sampling);
        let settings =
            Options { device, library: Some(library), conversations: 1, cache_tokens: None };
        let mut engine = Engine::open(folder, &settings)?;
        let settings = ConversationOptions {
            system: options.system.clone(),
            sampling: Some(sampling),
            max_tokens: options.max_tokens,
            stop: options.stop.clone(),
        };
        let conversation =
            engine.chat(settings).map_err(|error| Failure::usage(message(&error)))?;
        Ok(Session { options, engine, conversation })
    }

    /// Answers each line of standard input, and obeys commands.
    fn talk(&mut self) -> Outcome<()> {
        let interrupt = Interrupt::install().map_err(Failure::negative)?;
        let stdin = std::io::stdin();
        let is_terminal = stdin.is_terminal() && !self.options.json;
        if is_terminal {
            output::print("A line is a message; /help lists commands.\n")?;
        }
        let mut line = String::new();
        loop {
            if is_terminal {
                output::print("> ")?;
            }
            line.clear();
            let count = stdin.lock().read_line(&mut line);
            if count
                .map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?
                == 0
            {
                return Ok(());
            }
            match line.trim() {
                "" => {}
                "/quit" => return Ok(()),
                "/reset" => self.engine.reset(self.conversation)?,
                "/stats" => self.print_stats()?,
                "/help" => output::print(HELP)?,
                text => match interrupt.during(|is_cancelled| self.answer(text, is_cancelled)) {
                    // The conversation goes on.
                    Err(failure) if is_terminal => {
                        eprintln!("error: {}", visible(&failure.to_string()))
                    }
                    outcome => outcome?,
                },
            }
        }
    }

    /// Prints the reply to a message as it comes, until it is cancelled.
    fn answer(&mut self, text: &str, is_cancelled: impl Fn() -> bool) -> Outcome<()> {
        let Session { options, engine, conversation } = self;
        let before = engine.stats();
        let mut reply = engine
            .reply(*conversation, text)
            .map_err(|error| Failure::negative(message(&error)))?;
        let mut whole = String::new();
        while let Some(piece) = reply.next() {
            match options.json {
                true => whole.push_str(&piece),
                false => output::print(&without_controls(&piece))?,
            }
            if is_cancelled() {
                reply.cancel();
            }
        }
        let (reason, tokens) =
            reply.end().map_or(("", 0), |(reason, tokens)| (reason.name(), tokens));
        let failed = match reply.end() {
            Some((ferrite_chat::Reason::Failed(error), _)) => Some(Failure::from(error.clone())),
            _ => None,
        };
        drop(reply);
        if options.json && failed.is_none() {
            let answer = json!({ "reply": whole, "reason": reason, "tokens": tokens, "stats": self.stats(&before) });
            output::print(&format!("{answer}\n"))?;
        } else if !options.json {
            output::print("\n")?;
            if !matches!(reason, "stop" | "failed") {
                eprintln!("[{}]", explanation(reason));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Returns the work since an earlier moment, and the memory, as JSON.
    fn stats(&self, before: &Stats) -> Value {
        let (stats, memory) = (self.engine.stats().since(before), self.engine.memory());
        json!({
            "prefill_tokens": stats.prefill_tokens,
            "prefill_tokens_per_second": rate(stats.prefill_tokens, stats.prefill_time),
            "decode_tokens": stats.decode_tokens,
            "decode_tokens_per_second": rate(stats.decode_tokens, stats.decode_time),
            "weights_bytes": memory.weights,
            "cache_bytes": memory.cache,
            "arena_bytes": memory.arena,
        })
    }

    fn print_stats(&self) -> Outcome<()> {
        let (stats, memory) = (self.engine.stats(), self.engine.memory());
        let speed = |count, time| format!("{count:>8} tokens, {:.1} per second", rate(count, time));
        let bytes = |bytes: usize| format!("{:>8} KiB", bytes.div_ceil(1024));
        let cache = memory.cache.map_or("unknown".into(), bytes);
        let used = self.engine.tokens(self.conversation).map_or(0, <[u32]>::len);
        output::print(&format!(
            "prefill  {}\ndecode   {}\ncontext  {used:>8} tokens{}\nweights  {}\ncache    {}\narena    {}\n",
            speed(stats.prefill_tokens, stats.prefill_time),
            speed(stats.decode_tokens, stats.decode_time),
            self.engine
                .config()
                .context_window
                .map_or(String::new(), |window| format!(" of {window}")),
            bytes(memory.weights),
            cache,
            bytes(memory.arena),
        ))
    }
}

/// Returns the sampling of the configuration with the options of the command line.
fn sampling(options: &Chat, of_model: &Sampling) -> Sampling {
    Sampling {
        temperature: options.temperature.unwrap_or(of_model.temperature),
        top_p: options.top_p.unwrap_or(of_model.top_p),
        top_k: options.top_k.or(of_model.top_k),
        repetition_penalty: options.repetition_penalty.unwrap_or(of_model.repetition_penalty),
        seed: options.seed,
        ..of_model.clone()
    }
}

fn rate(count: usize, time: Duration) -> f64 {
    if count == 0 { 0.0 } else { count as f64 / time.as_secs_f64() }
}

/// Replaces control characters, by which text could command the terminal.
fn without_controls(text: &str) -> String {
    let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    text.replace(is_control, "\u{FFFD}")
}

/// Returns the message of an error without its kind.
fn message(error: &ferrite::Error) -> String {
    String::from_utf8_lossy(error.message_bytes()).into_owned()
}

fn explanation(reason: &str) -> &str {
    match reason {
        "length" => "the reply has as many tokens as --max-tokens allows",
        "context" => "the context window is full: /reset begins anew",
        "cache-full" => "the cache is full: /reset begins anew",
        other => other,
    }
}
