//! Fuzzes the tracker of remote procedure calls: sequences of messages over several connections,
//! well-formed, changed in a few bytes, cut anywhere, and arbitrary. A model in plain lists gives
//! the answers that each request must have.

mod model;
mod requests;

use std::collections::BTreeMap;

use ferrite_rpc::tracker::protocol::{self, LONGEST_MESSAGE, MAGIC, Request};
use ferrite_rpc::tracker::{ConnectionId, Inbox, Message, Registry};
use serde_json::Value;

use model::Model;
use requests::{STOP_KEY, Source};

/// Maximum number of steps of an input. Miri takes seconds for each.
const MOST_STEPS: usize = if cfg!(miri) { 16 } else { 256 };
/// Maximum number of requests that repeat an earlier one, more than a connection may have waiting.
const MOST_REPEATS: usize = if cfg!(miri) { 16 } else { 1200 };
/// Number of connections at a time.
const PEERS: u64 = 4;

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let mut tracker = Tracker::new();
    let mut source = Source::new(input);
    let mut is_long = false;
    for _ in 0..MOST_STEPS {
        let Some(step) = source.next() else { break };
        let place = u64::from(step) % PEERS;
        match step / 4 % 16 {
            0 => tracker.reopen(place),
            1 => tracker.receive(place, &source.bytes()),
            // Miri would take minutes for a mebibyte.
            2 if !is_long && !cfg!(miri) => {
                tracker.receive(place, &long_message(&mut source));
                is_long = true;
            }
            3 => {
                let request = protocol::frame(&source.request());
                let repeats = usize::from(source.byte()) * 8;
                tracker.repeat(place, &request, repeats);
            }
            _ => {
                let bytes = source.framed_request();
                let size = source.piece(bytes.len());
                bytes.chunks(size).for_each(|piece| tracker.receive(place, piece));
            }
        }
        tracker.check();
    }
}

/// Returns a message of about the longest length, or a part of it.
fn long_message(source: &mut Source) -> Vec<u8> {
    let length = LONGEST_MESSAGE as i32 - 4 + i32::from(source.byte() % 8);
    let content = LONGEST_MESSAGE + 8 - usize::from(source.byte());
    [&length.to_le_bytes()[..], &vec![b' '; content]].concat()
}

/// A peer: its connection and what it has sent.
struct Peer {
    id: ConnectionId,
    inbox: Inbox,
}

/// The tracker, the model of it, and its peers by place.
struct Tracker {
    registry: Registry,
    model: Model,
    peers: BTreeMap<u64, Peer>,
    last: ConnectionId,
    repeats: usize,
}

impl Tracker {
    /// Creates a tracker to which all peers have connected.
    fn new() -> Tracker {
        let mut tracker = Tracker {
            registry: Registry::new(Some(STOP_KEY.into())),
            model: Model::default(),
            peers: BTreeMap::new(),
            last: 0,
            repeats: 0,
        };
        for place in 0..PEERS {
            tracker.open(place);
            tracker.receive(place, &MAGIC.to_le_bytes());
        }
        tracker
    }

    fn open(&mut self, place: u64) {
        self.last += 1;
        let host = format!("10.0.0.{place}");
        self.registry.open(self.last, host.clone());
        self.model.open(self.last, host);
        self.peers.insert(place, Peer { id: self.last, inbox: Inbox::default() });
    }

    fn close(&mut self, place: u64) {
        if let Some(peer) = self.peers.remove(&place) {
            assert_eq!(self.registry.close(peer.id), self.model.close(peer.id));
        }
    }

    fn reopen(&mut self, place: u64) {
        self.close(place);
        self.open(place);
    }

    /// Sends the same request many times.
    fn repeat(&mut self, place: u64, request: &[u8], repeats: usize) {
        let repeats = repeats.min(MOST_REPEATS - self.repeats);
        self.repeats += repeats;
        (0..repeats).for_each(|_| self.receive(place, request));
    }

    /// Gives the tracker bytes of a peer, and serves the messages that they complete.
    fn receive(&mut self, place: u64, bytes: &[u8]) {
        let Some(peer) = self.peers.get_mut(&place) else { return };
        peer.inbox.receive(bytes);
        let mut is_accepted = true;
        while is_accepted {
            let Some(peer) = self.peers.get_mut(&place) else { return };
            match peer.inbox.next_message() {
                Ok(Some(Message::Greeting)) => assert!(peer.inbox.is_greeted()),
                Ok(Some(Message::Request(request))) => {
                    let id = peer.id;
                    assert!((1..=LONGEST_MESSAGE).contains(&request.len()));
                    is_accepted = self.serve(id, &request);
                }
                Ok(None) => {
                    assert!(peer.inbox.capacity() <= 2 * (LONGEST_MESSAGE + 4 + bytes.len()));
                    return;
                }
                Err(_) => is_accepted = false,
            }
        }
        self.close(place);
    }

    /// Serves a request. Returns `false` if it is refused.
    fn serve(&mut self, id: ConnectionId, message: &[u8]) -> bool {
        let outcome = self.registry.serve(id, message);
        let request = match Request::parse(message) {
            Ok(request) => request,
            Err(reason) => {
                assert_eq!(outcome, Err(reason));
                return false;
            }
        };
        let is_stop = matches!(&request, Request::Stop(key) if key == STOP_KEY);
        let is_list = request == Request::PendingMatchKeys;
        let Some(expected) = self.model.serve(id, request) else {
            assert!(outcome.is_err(), "a limit is exceeded: {outcome:?}");
            return false;
        };
        let effects = outcome.expect("a request within the limits");
        assert_eq!(effects.ends, is_stop);
        let mut answers = effects.answers;
        answers.iter().for_each(|(_, answer)| check_frame(answer));
        if is_list {
            // In the order of a hash table.
            answers.iter_mut().for_each(|(_, answer)| sort(answer));
        }
        assert_eq!(answers, expected);
        true
    }

    /// Compares what the tracker says of all connections with the model.
    fn check(&self) {
        let active: std::collections::BTreeSet<_> = self.registry.active().into_iter().collect();
        assert_eq!(active, self.model.active());
    }
}

/// Checks that a peer reads an answer as it was meant.
fn check_frame(answer: &Value) {
    let frame = protocol::frame(answer);
    let (length, text) = frame.split_first_chunk::<4>().expect("a length");
    assert_eq!(i32::from_le_bytes(*length) as usize, text.len());
    assert_eq!(serde_json::from_slice::<Value>(text).expect("JSON"), *answer);
}

fn sort(answer: &mut Value) {
    if let Value::Array(items) = answer {
        items.sort_by_key(Value::to_string);
    }
}
