//! The tracker without its sockets: connections, what they registered, and the answers that each
//! request causes.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashSet};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use serde_json::{Value, json};

use super::protocol::{self, Endpoint, FAILURE, Request, SUCCESS};
use super::queues::{Assignment, Client, ConnectionId, FreeServer, Queues};

/// State of a tracker.
pub struct Registry {
    /// Key that ends the tracker; `None` refuses every key.
    stop_key: Option<String>,
    queues: Queues,
    connections: BTreeMap<ConnectionId, Registered>,
}

/// Connection, as the registry knows it.
struct Registered {
    /// Host from which it came.
    host: String,
    /// Key and address of the server behind it.
    info: Option<(String, Endpoint)>,
}

/// Effects of a request.
#[derive(Debug, Default, PartialEq)]
pub struct Effects {
    /// Answers by connection, in the order in which they are sent.
    pub answers: Vec<(ConnectionId, Value)>,
    /// Line for the log.
    pub news: Option<String>,
    /// Whether the tracker ends after sending the answers.
    pub ends: bool,
}

impl Registry {
    /// Creates a tracker without connections.
    pub fn new(stop_key: Option<String>) -> Registry {
        Registry { stop_key, queues: Queues::default(), connections: BTreeMap::new() }
    }

    /// Adds a connection from a host.
    pub fn open(&mut self, connection: ConnectionId, host: String) {
        self.connections.insert(connection, Registered { host, info: None });
    }

    /// Removes a connection: its server is gone, and its requests are forgotten. Returns the key of
    /// the server.
    pub fn close(&mut self, connection: ConnectionId) -> Option<String> {
        self.queues.remove(connection);
        self.connections.remove(&connection)?.info.map(|(key, _)| key)
    }

    /// Returns the connections of servers, and those that wait for a server.
    pub fn active(&self) -> HashSet<ConnectionId> {
        let is_server = |(_, registered): &(_, &Registered)| registered.info.is_some();
        let servers = self.connections.iter().filter(is_server).map(|(connection, _)| *connection);
        servers.chain(self.queues.waiting()).collect()
    }

    /// Serves a request.
    ///
    /// # Errors
    /// The reason why the request is refused. The connection is to be closed.
    pub fn serve(&mut self, connection: ConnectionId, message: &[u8]) -> Result<Effects, String> {
        let answer = match Request::parse(message)? {
            Request::Ping => json!(SUCCESS),
            Request::Stop(key) => return Ok(self.stop(connection, &key)),
            Request::Put { key, endpoint, match_key } => {
                return self.put(connection, &key, endpoint, match_key);
            }
            Request::Acquire { key, options, priority } => {
                let client = Client { connection, options };
                let assigned = self.queues.assign(&key, priority, client)?;
                return Ok(Effects::of(assigned.map(assignment).into_iter().collect()));
            }
            Request::UpdateInfo { key, endpoint } => {
                return Ok(self.update_info(connection, key, endpoint));
            }
            Request::Summary => json!([SUCCESS, self.summary()]),
            Request::PendingMatchKeys => json!(self.queues.pending_match_keys(connection)),
        };
        Ok(Effects::of(vec![(connection, answer)]))
    }

    fn stop(&self, connection: ConnectionId, key: &str) -> Effects {
        let expected = self.stop_key.as_ref();
        let ends = expected.is_some_and(|expected| is_equal(expected.as_bytes(), key.as_bytes()));
        let answer = json!(if ends { SUCCESS } else { FAILURE });
        Effects { ends, ..Effects::of(vec![(connection, answer)]) }
    }

    fn update_info(
        &mut self,
        connection: ConnectionId,
        key: String,
        endpoint: Endpoint,
    ) -> Effects {
        let host = endpoint.host.clone().unwrap_or_else(|| self.host(connection));
        let news = format!("{key} at {host} port {}", endpoint.port);
        if let Some(registered) = self.connections.get_mut(&connection) {
            registered.info = Some((key, endpoint));
        }
        Effects { news: Some(news), ..Effects::of(vec![(connection, json!(SUCCESS))]) }
    }

    fn put(
        &mut self,
        connection: ConnectionId,
        key: &str,
        endpoint: Endpoint,
        match_key: String,
    ) -> Result<Effects, String> {
        let host = endpoint.host.unwrap_or_else(|| self.host(connection));
        let server = FreeServer { owner: connection, host, port: endpoint.port, match_key };
        let assigned = self.queues.put(key, server)?;
        let mut answers = vec![(connection, json!(SUCCESS))];
        answers.extend(assigned.map(assignment));
        Ok(Effects::of(answers))
    }

    fn host(&self, connection: ConnectionId) -> String {
        self.connections.get(&connection).map(|found| found.host.clone()).unwrap_or_default()
    }

    /// Returns the queues, and the servers whose key begins with `server`, as upstream does.
    fn summary(&self) -> Value {
        let mut servers = Vec::new();
        for registered in self.connections.values() {
            let Some((key, endpoint)) = &registered.info else { continue };
            if key.starts_with("server") {
                let host = endpoint.host.as_ref().unwrap_or(&registered.host);
                servers.push(json!({ "key": key, "addr": [host, endpoint.port] }));
            }
        }
        json!({ "queue_info": self.queues.summary(), "server_info": servers })
    }
}

impl Effects {
    fn of(answers: Vec<(ConnectionId, Value)>) -> Effects {
        Effects { answers, ..Effects::default() }
    }
}

/// Returns the answer to a client that gets a server. Its options follow the match key, since the
/// client sends both to the server as they are.
fn assignment(assigned: Assignment) -> (ConnectionId, Value) {
    let Assignment { client, server } = assigned;
    let key = format!("{} {}", server.match_key, client.options);
    (client.connection, protocol::assignment(&server.host, server.port, key.trim_end()))
}

/// Compares two secrets in a time that depends on the length of `given` only.
fn is_equal(expected: &[u8], given: &[u8]) -> bool {
    let mut difference = expected.len() ^ given.len();
    for (index, byte) in given.iter().enumerate() {
        let other = expected.get(index % expected.len().max(1)).copied().unwrap_or_default();
        difference |= usize::from(byte ^ other);
    }
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn registry() -> Registry {
        let mut registry = Registry::new(Some("secret".into()));
        (1..=3).for_each(|connection| registry.open(connection, format!("10.0.0.{connection}")));
        registry
    }

    fn serve(
        registry: &mut Registry,
        connection: ConnectionId,
        request: Value,
    ) -> Vec<(u64, Value)> {
        registry.serve(connection, request.to_string().as_bytes()).expect("a request").answers
    }

    #[test]
    fn a_waiting_client_gets_the_server_that_comes() {
        let mut registry = registry();
        assert_eq!(serve(&mut registry, 2, json!([4, "board", "", 1])), []);
        assert_eq!(registry.active(), HashSet::from([2]));
        let put = serve(&mut registry, 1, json!([3, "board", [9091, "board:0.5"], null]));
        assert_eq!(put, [(1, json!(0)), (2, json!([0, ["10.0.0.1", 9091, "board:0.5"]]))]);
        assert!(registry.active().is_empty());
        assert_eq!(serve(&mut registry, 1, json!([7])), [(1, json!([]))]);
    }

    #[test]
    fn match_keys_are_pending_until_a_client_gets_them() {
        let mut registry = registry();
        serve(&mut registry, 1, json!([3, "board", [9091, "board:1"], "board.lan"]));
        assert_eq!(serve(&mut registry, 1, json!([7])), [(1, json!(["board:1"]))]);
        assert_eq!(serve(&mut registry, 2, json!([7])), [(2, json!([]))]);
        let answer = serve(&mut registry, 2, json!([4, "board", "", 1]));
        assert_eq!(answer, [(2, json!([0, ["board.lan", 9091, "board:1"]]))]);
        assert_eq!(serve(&mut registry, 1, json!([7])), [(1, json!([]))]);
    }

    #[test]
    fn options_after_the_key_are_returned_with_the_match_key() {
        let mut registry = registry();
        serve(&mut registry, 1, json!([3, "board", [9091, "board:1"], null]));
        let answer = serve(&mut registry, 2, json!([4, "board token=abc", "", 1]));
        assert_eq!(answer, [(2, json!([0, ["10.0.0.1", 9091, "board:1 token=abc"]]))]);
        assert_eq!(serve(&mut registry, 3, json!([4, "board token=def -timeout=3", "", 1])), []);
        let put = serve(&mut registry, 1, json!([3, "board", [9091, "board:2"], null]));
        let expected = json!([0, ["10.0.0.1", 9091, "board:2 token=def -timeout=3"]]);
        assert_eq!(put[1], (3, expected));
    }

    #[test]
    fn the_summary_lists_queues_and_servers() {
        let mut registry = registry();
        serve(&mut registry, 1, json!([5, { "key": "server:board", "addr": [null, 9091] }]));
        serve(&mut registry, 2, json!([5, { "key": "server:other", "addr": ["x.lan", "9092"] }]));
        serve(&mut registry, 3, json!([5, { "key": "client", "addr": [null, 1] }]));
        serve(&mut registry, 1, json!([3, "board", [9091, "board:1"], null]));
        let expected = json!({
            "queue_info": { "board": { "free": 1, "pending": 0 } },
            "server_info": [
                { "key": "server:board", "addr": ["10.0.0.1", 9091] },
                { "key": "server:other", "addr": ["x.lan", 9092] },
            ],
        });
        assert_eq!(serve(&mut registry, 3, json!([6])), [(3, json!([0, expected]))]);
        assert_eq!(registry.active(), HashSet::from([1, 2, 3]));
        assert_eq!(registry.close(1), Some("server:board".into()));
        let (_, answer) = serve(&mut registry, 3, json!([6])).remove(0);
        assert_eq!(answer[1]["queue_info"]["board"]["free"], 0);
        assert_eq!(answer[1]["server_info"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn only_the_stop_key_ends_the_tracker() {
        let mut registry = registry();
        for (key, ends) in
            [("", false), ("secreT", false), ("secretsecret", false), ("secret", true)]
        {
            let request = json!([2, key]).to_string();
            let effects = registry.serve(1, request.as_bytes()).expect("a request");
            assert_eq!(effects.answers, [(1, json!(i64::from(ends) - 1))]);
            assert_eq!(effects.ends, ends);
        }
        let mut without_key = Registry::new(None);
        without_key.open(1, "10.0.0.1".into());
        assert!(!without_key.serve(1, br#"[2, ""]"#).expect("a request").ends);
    }
}
