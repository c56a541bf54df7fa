//! The engine over a model whose next token is a hash of its sequence.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use ferrite::{Result, bail, ensure};

use super::*;
use crate::config::Window;
use crate::model::Appended;
use crate::sampling::Sampling;

const PAGE: usize = 4;

/// A model that keeps the tokens of its sequences, and checks what the engine asks for.
#[derive(Default)]
struct FakeModel {
    sequences: BTreeMap<i64, Vec<u32>>,
    pages: usize,
    sequence_limit: usize,
    chunk: usize,
    /// Text that every reply has, instead of a hash.
    script: Option<&'static [u8]>,
    shared: Rc<Shared>,
}

/// State that tests see while the engine owns the model.
#[derive(Default)]
struct Shared {
    /// Number of steps until one fails.
    fails_in: Cell<Option<usize>>,
    /// Lengths of each step.
    steps: RefCell<Vec<Vec<usize>>>,
    sequence_count: Cell<usize>,
}

impl FakeModel {
    fn used(&self) -> usize {
        self.sequences.values().map(|tokens| tokens.len().div_ceil(PAGE)).sum()
    }

    fn next(&self, tokens: &[u32]) -> usize {
        match self.script {
            Some(script) => {
                let start = tokens.iter().rposition(|token| *token == u32::from(b'>'));
                let at = start.map_or(0, |start| tokens.len() - 1 - start);
                usize::from(*script.get(at).unwrap_or(&b'.'))
            }
            None => {
                let hash = tokens.iter().fold(7u64, |hash, token| {
                    (hash ^ u64::from(*token)).wrapping_mul(0x100_0000_01B3)
                });
                usize::from(b'a') + (hash >> 20) as usize % 26
            }
        }
    }
}

impl LanguageModel for FakeModel {
    fn add(&mut self, sequence: i64) -> Result<()> {
        ensure!(self.sequences.insert(sequence, Vec::new()).is_none(), RuntimeError, "taken");
        assert!(self.sequences.len() <= self.sequence_limit);
        self.shared.sequence_count.set(self.sequences.len());
        Ok(())
    }

    fn fork(&mut self, parent: i64, child: i64, token_count: usize) -> Result<()> {
        let tokens = self.sequences[&parent][..token_count].to_vec();
        self.add(child)?;
        self.sequences.insert(child, tokens);
        assert!(self.used() <= self.pages);
        Ok(())
    }

    fn slide(&mut self, sequence: i64, window: Window) -> Result<()> {
        assert!(self.sequences[&sequence].len() < window.size);
        Ok(())
    }

    fn pop(&mut self, sequence: i64, token_count: usize) -> Result<()> {
        let tokens = self.sequences.get_mut(&sequence).unwrap();
        tokens.truncate(tokens.len().checked_sub(token_count).unwrap());
        Ok(())
    }

    fn remove(&mut self, sequence: i64) -> Result<()> {
        assert!(self.sequences.remove(&sequence).is_some(), "{sequence}");
        self.shared.sequence_count.set(self.sequences.len());
        Ok(())
    }

    fn free_pages(&self) -> Result<usize> {
        Ok(self.pages - self.used())
    }

    fn forward(&mut self, step: &[Appended<'_>], logits: &mut Vec<f32>) -> Result<()> {
        let total: usize = step.iter().map(|one| one.tokens.len()).sum();
        assert!(total <= self.chunk && step.iter().all(|one| !one.tokens.is_empty()));
        self.shared.steps.borrow_mut().push(step.iter().map(|one| one.tokens.len()).collect());
        for one in step {
            self.sequences.get_mut(&one.sequence).unwrap().extend_from_slice(one.tokens);
        }
        assert!(self.used() <= self.pages, "the engine asks for more pages than there are");
        match self.shared.fails_in.get() {
            Some(0) => {
                self.shared.fails_in.set(None);
                bail!(RuntimeError, "the kernel failed");
            }
            left => self.shared.fails_in.set(left.map(|left| left - 1)),
        }
        logits.clear();
        for one in step {
            let mut row = [0.0; 256];
            row[self.next(&self.sequences[&one.sequence])] = 1.0;
            logits.extend(row);
        }
        Ok(())
    }
}

fn config(changes: &str) -> Config {
    let text = format!(
        r#"{{"prefill_chunk_size": 8, "page_size": {PAGE}, "temperature": 0, {changes}
        "conv_template": {{"system_message": "You are a fake.", "roles": {{"user": "<u", "assistant": "<a"}}, "seps": ["|"],
        "role_content_sep": ">", "role_empty_sep": ">", "stop_str": ["STOP"], "stop_token_ids": [0]}}}}"#
    );
    Config::parse(&text).unwrap()
}

fn engine_with(
    changes: &str,
    pages: usize,
    script: Option<&'static [u8]>,
) -> (Engine<FakeModel>, Rc<Shared>) {
    let capacity = 4;
    let sequence_limit = Engine::<FakeModel>::sequences(capacity);
    let shared = Rc::default();
    let model = FakeModel {
        pages,
        sequence_limit,
        chunk: 8,
        script,
        shared: Rc::clone(&shared),
        ..FakeModel::default()
    };
    (Engine::with_model(model, config(changes), Tokenizer::bytes(), capacity), shared)
}

fn engine(script: Option<&'static [u8]>) -> (Engine<FakeModel>, Rc<Shared>) {
    engine_with(r#""context_window_size": 100,"#, 200, script)
}

fn options(max_tokens: usize) -> ConversationOptions {
    ConversationOptions { max_tokens: Some(max_tokens), ..ConversationOptions::default() }
}

fn token_count(engine: &Engine<FakeModel>, id: ConversationId) -> Option<usize> {
    engine.tokens(id).map(<[u32]>::len)
}

/// Checks that the model's sequences have the tokens that the engine believes they have.
fn check(engine: &Engine<FakeModel>) {
    for conversation in engine.conversations.values() {
        let Some(sequence) = conversation.sequence else { continue };
        let cached = &conversation.tokens[..conversation.cached];
        assert_eq!(engine.model.sequences[&sequence], cached);
    }
}

/// Makes a reply, and returns its text, reason and number of tokens.
fn ask(
    engine: &mut Engine<FakeModel>,
    id: ConversationId,
    message: &str,
) -> (String, &'static str, usize) {
    let mut reply = engine.reply(id, message).unwrap();
    let text = reply.by_ref().collect::<String>();
    let (reason, tokens) = reply.end().map(|(reason, tokens)| (reason.name(), tokens)).unwrap();
    drop(reply);
    check(engine);
    (text, reason, tokens)
}

/// Runs all replies, and returns the string and the reason of each.
fn run(engine: &mut Engine<FakeModel>) -> BTreeMap<ConversationId, (String, Option<Reason>)> {
    let mut found = BTreeMap::<_, (String, Option<Reason>)>::new();
    while let Some((id, event)) = engine.next_event() {
        let one = found.entry(id).or_default();
        match event {
            Event::Text(text) => one.0.push_str(&text),
            Event::End { reason, .. } => one.1 = Some(reason),
        }
    }
    check(engine);
    found
}

#[test]
fn a_batch_gives_the_texts_that_single_conversations_give() {
    let messages = ["one", "a second message, of several chunks", "3"];
    let alone: Vec<_> = messages
        .iter()
        .map(|message| {
            let (mut engine, _) = engine(None);
            let id = engine.chat(options(12)).unwrap();
            ask(&mut engine, id, message).0
        })
        .collect();
    let (mut engine, shared) = engine(None);
    let ids = messages.map(|message| {
        let id = engine.chat(options(12)).unwrap();
        engine.say(id, message).unwrap();
        id
    });
    let together = run(&mut engine);
    for (id, alone) in ids.iter().zip(&alone) {
        assert_eq!(&together[id].0, alone);
        assert_eq!(alone.len(), 12);
    }
    // Replies join the batch when their message was read.
    assert!(shared.steps.borrow().iter().any(|step| step == &[1, 1, 1]));
    assert!(shared.steps.borrow().iter().any(|step| step.len() == 2 && step[1] > 1));
    assert_eq!(engine.stats().decode_tokens, 3 * 11);
}

#[test]
fn conversations_share_the_system_message() {
    let (mut engine, _) = engine(None);
    let mut read = Vec::new();
    for message in ["x", "y"] {
        let id = engine.chat(options(2)).unwrap();
        let before = engine.stats().prefill_tokens;
        ask(&mut engine, id, message);
        read.push(engine.stats().prefill_tokens - before);
    }
    assert_eq!(read, ["You are a fake.<u>x|<a>".len(), "<u>y|<a>".len()]);
}

#[test]
fn later_messages_read_only_what_is_new() {
    let (mut engine, _) = engine(None);
    let id = engine.chat(options(3)).unwrap();
    let first = ask(&mut engine, id, "hi").0;
    let before = engine.stats().prefill_tokens;
    let second = ask(&mut engine, id, "and").0;
    // The last token of the reply was not in the cache yet.
    assert_eq!(engine.stats().prefill_tokens - before, 1 + "|<u>and|<a>".len());
    let text = format!("You are a fake.<u>hi|<a>{first}|<u>and|<a>{second}");
    assert_eq!(token_count(&engine, id), Some(text.len()));
    engine.reset(id).unwrap();
    assert_eq!(ask(&mut engine, id, "hi").0, first);
}

#[test]
fn stop_strings_leave_no_tokens_behind() {
    let (mut engine, _) = engine(Some(b"yes STOP and more"));
    let id = engine.chat(options(50)).unwrap();
    assert_eq!(ask(&mut engine, id, "well"), ("yes ".into(), "stop", 8));
    let conversation = "You are a fake.<u>well|<a>yes ";
    assert_eq!(token_count(&engine, id), Some(conversation.len()));
    assert_eq!(ask(&mut engine, id, "again").0, "yes ");
    assert_eq!(token_count(&engine, id), Some(conversation.len() + "|<u>again|<a>yes ".len()));
}

#[test]
fn stop_tokens_and_limits_end_replies() {
    let (mut one, _) = engine(Some(b"ab STO\0more"));
    let id = one.chat(options(50)).unwrap();
    assert_eq!(ask(&mut one, id, "x"), ("ab STO".into(), "stop", 6));
    let (mut one, _) = engine(Some(b"abcdef"));
    let id = one.chat(options(3)).unwrap();
    assert_eq!(ask(&mut one, id, "x"), ("abc".into(), "length", 3));
    let stop = ConversationOptions { stop: vec!["de".into()], ..options(50) };
    let id = one.chat(stop).unwrap();
    assert_eq!(ask(&mut one, id, "x"), ("abc".into(), "stop", 5));
}

#[test]
fn the_context_window_ends_replies_and_refuses_messages() {
    let (mut engine, _) = engine(None);
    let id = engine.chat(ConversationOptions::default()).unwrap();
    let error = engine.say(id, &"long".repeat(30)).unwrap_err().to_string();
    assert!(error.contains("142 tokens, and the context window 100"), "{error}");
    let (text, reason, _) = ask(&mut engine, id, "hi");
    assert_eq!((text.len(), reason), (101 - "You are a fake.<u>hi|<a>".len(), "context"));
    assert!(engine.say(id, "more").is_err());
    engine.reset(id).unwrap();
    assert_eq!(ask(&mut engine, id, "hi").0, text);
}

#[test]
fn an_error_ends_the_replies_of_its_step_and_nothing_else() {
    let (mut expected, _) = engine(None);
    let id = expected.chat(options(4)).unwrap();
    let (first, second) = (ask(&mut expected, id, "hi").0, ask(&mut expected, id, "more").0);

    let (mut engine, shared) = engine(None);
    let idle = engine.chat(options(4)).unwrap();
    assert_eq!(ask(&mut engine, idle, "hi").0, first);
    let busy = engine.chat(options(4)).unwrap();
    shared.fails_in.set(Some(2));
    let mut reply = engine.reply(busy, "hi").unwrap();
    let _ = reply.by_ref().count();
    assert!(
        matches!(reply.end(), Some((Reason::Failed(error), _)) if error.to_string().contains("the kernel failed"))
    );
    drop(reply);
    assert_eq!(ask(&mut engine, idle, "more").0, second);
    // The failed one goes on, too: it is read again.
    engine.reset(busy).unwrap();
    assert_eq!(ask(&mut engine, busy, "hi").0, first);
    shared.fails_in.set(Some(0));
    engine.say(busy, "more").unwrap();
    assert!(matches!(run(&mut engine)[&busy].1, Some(Reason::Failed(_))));
    engine.end(busy);
    engine.end(idle);
    // The shared beginning stays.
    assert_eq!(shared.sequence_count.get(), 1);
}

#[test]
fn cancelled_replies_stay_in_the_conversation() {
    let (mut engine, _) = engine(Some(b"abcdefgh"));
    let id = engine.chat(options(8)).unwrap();
    let other = engine.chat(options(8)).unwrap();
    engine.say(other, "x").unwrap();
    let text: String = engine.reply(id, "hi").unwrap().take(3).collect();
    assert_eq!(
        (text.as_str(), token_count(&engine, id)),
        ("abc", Some("You are a fake.<u>hi|<a>abc".len()))
    );
    let rest = run(&mut engine);
    assert_eq!((rest[&other].0.as_str(), rest.len()), ("abcdefgh", 1));
    assert_eq!(ask(&mut engine, id, "go").0, "abcdefgh");
    engine.cancel(id);
    assert!(engine.next_event().is_none());
}

#[test]
fn a_full_cache_drops_idle_conversations_first() {
    let (mut engine, _) = engine_with(r#""context_window_size": 100,"#, 20, None);
    let (first, second) = (engine.chat(options(20)).unwrap(), engine.chat(options(20)).unwrap());
    let text = ask(&mut engine, first, "hi").0;
    assert_eq!(ask(&mut engine, second, "hi").0, text);
    assert_eq!(ask(&mut engine, first, "on").1, "length");
    assert_eq!(ask(&mut engine, second, "on").1, "length");
}

#[test]
fn a_full_cache_ends_the_youngest_reply() {
    let (mut engine, _) = engine_with(r#""context_window_size": 100,"#, 22, None);
    let ids = [(); 3].map(|()| {
        let id = engine.chat(options(30)).unwrap();
        engine.say(id, "hi").unwrap();
        id
    });
    let found = run(&mut engine);
    assert!(matches!(found[&ids[0]].1, Some(Reason::Length)), "{found:?}");
    assert!(matches!(found[&ids[2]].1, Some(Reason::CacheFull)), "{found:?}");
    // The conversation goes on when there is space.
    engine.end(ids[0]);
    engine.end(ids[1]);
    assert_eq!(ask(&mut engine, ids[2], "on").1, "length");
}

#[test]
fn seeds_repeat_texts_in_batches_too() {
    let sampled = |seed, others| {
        let (mut engine, _) = engine(None);
        let sampling = Sampling { seed: Some(seed), ..Sampling::default() };
        let id =
            engine.chat(ConversationOptions { sampling: Some(sampling), ..options(10) }).unwrap();
        engine.say(id, "hi").unwrap();
        for _ in 0..others {
            let other = engine.chat(options(20)).unwrap();
            engine.say(other, "x").unwrap();
        }
        run(&mut engine)[&id].0.clone()
    };
    assert_eq!(sampled(1, 0), sampled(1, 2));
    assert_ne!(sampled(1, 0), sampled(2, 0));
}

#[test]
fn sliding_windows_have_no_end() {
    let (mut engine, _) =
        engine_with(r#""sliding_window_size": 32, "attention_sink_size": 4,"#, 200, None);
    let id = engine.chat(options(150)).unwrap();
    assert_eq!(ask(&mut engine, id, "hi").1, "length");
    assert_eq!(ask(&mut engine, id, "on").2, 150);
}

#[test]
fn wrong_calls_change_nothing() {
    let (mut engine, _) = engine(None);
    let id = engine.chat(options(2)).unwrap();
    engine.say(id, "hi").unwrap();
    assert!(engine.say(id, "again").unwrap_err().to_string().contains("has not ended"));
    run(&mut engine);
    assert!(engine.chat(options(0)).is_err());
    let wrong = Sampling { top_p: 2.0, ..Sampling::default() };
    assert!(engine.chat(ConversationOptions { sampling: Some(wrong), ..options(1) }).is_err());
    for _ in 1..4 {
        engine.chat(options(1)).unwrap();
    }
    assert!(engine.chat(options(1)).unwrap_err().to_string().contains("no room"));
    engine.end(id);
    assert!(engine.say(id, "hi").is_err() && engine.reset(id).is_err());
    assert!(engine.chat(options(1)).is_ok());
}
