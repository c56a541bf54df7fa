//! Free servers and waiting clients by key. A key has free servers or waiting clients, never both.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::format;
use std::string::String;
use std::vec::Vec;

use serde_json::{Map, Value, json};

/// Number of a connection. Numbers are not used twice.
pub type ConnectionId = u64;

/// Maximum number of keys.
const MOST_KEYS: usize = 1024;

/// Maximum number of free servers or waiting clients: of one connection, and altogether.
const MOST_OF_CONNECTION: usize = 1024;
const MOST_OF_ALL: usize = 1 << 14;

/// Server that is free for one session.
#[derive(Debug, PartialEq)]
pub struct FreeServer {
    /// Connection of the server to the tracker.
    pub owner: ConnectionId,
    pub host: String,
    pub port: u16,
    pub match_key: String,
}

/// Client that asks for a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    pub connection: ConnectionId,
    /// Options for the server, such as a token, which the client sends with its match key.
    pub options: String,
}

/// Free server that a client gets.
#[derive(Debug, PartialEq)]
pub struct Assignment {
    pub client: Client,
    pub server: FreeServer,
}

/// All queues.
#[derive(Default)]
pub struct Queues {
    by_key: HashMap<String, Queue>,
    /// Number of operations so far: the order of requests and of uses of a key.
    order: u64,
}

/// Queue of one key.
#[derive(Default)]
struct Queue {
    free: VecDeque<FreeServer>,
    waiting: BTreeMap<Turn, Client>,
    last_use: u64,
}

/// Position in a queue: by descending priority, then in the order of the requests.
#[derive(Clone, Copy)]
struct Turn {
    priority: f64,
    order: u64,
}

impl Queues {
    /// Adds a free server, or assigns it to the first waiting client.
    ///
    /// # Errors
    /// A limit that is reached; nothing changes.
    pub fn put(&mut self, key: &str, server: FreeServer) -> Result<Option<Assignment>, String> {
        let owner = server.owner;
        let all = self.by_key.values().flat_map(|queue| &queue.free).map(|server| server.owner);
        within_limits(all, owner, "free servers")?;
        let queue = self.queue(key)?;
        match queue.waiting.pop_first() {
            Some((_, client)) => Ok(Some(Assignment { client, server })),
            None => {
                queue.free.push_back(server);
                Ok(None)
            }
        }
    }

    /// Assigns the first free server to a client, or adds the client to those that wait.
    ///
    /// # Errors
    /// A limit that is reached; nothing changes.
    pub fn assign(
        &mut self,
        key: &str,
        priority: f64,
        client: Client,
    ) -> Result<Option<Assignment>, String> {
        within_limits(self.waiting(), client.connection, "requests")?;
        let queue = self.queue(key)?;
        match queue.free.pop_front() {
            Some(server) => Ok(Some(Assignment { client, server })),
            None => {
                let turn = Turn { priority, order: queue.last_use };
                queue.waiting.insert(turn, client);
                Ok(None)
            }
        }
    }

    /// Removes the free servers and the requests of a connection.
    pub fn remove(&mut self, connection: ConnectionId) {
        for queue in self.by_key.values_mut() {
            queue.free.retain(|server| server.owner != connection);
            queue.waiting.retain(|_, client| client.connection != connection);
        }
    }

    /// Returns the match keys of a connection's servers that are still free.
    pub fn pending_match_keys(&self, owner: ConnectionId) -> Vec<&str> {
        let free = self.by_key.values().flat_map(|queue| &queue.free);
        free.filter(|server| server.owner == owner)
            .map(|server| server.match_key.as_str())
            .collect()
    }

    /// Returns the connections that wait for a server.
    pub fn waiting(&self) -> impl Iterator<Item = ConnectionId> {
        self.by_key.values().flat_map(|queue| queue.waiting.values()).map(|found| found.connection)
    }

    /// Returns the number of free servers and waiting clients of each key as JSON.
    pub fn summary(&self) -> Value {
        let count =
            |queue: &Queue| json!({ "free": queue.free.len(), "pending": queue.waiting.len() });
        self.by_key
            .iter()
            .map(|(key, queue)| (key.clone(), count(queue)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Returns the queue of a key, and makes it if there is none. Queues remain when they are
    /// empty, since clients look for their keys in the summary, until their number is reached.
    fn queue(&mut self, key: &str) -> Result<&mut Queue, String> {
        if !self.by_key.contains_key(key) {
            if self.by_key.len() >= MOST_KEYS {
                self.remove_unused()?;
            }
            self.by_key.try_reserve(1).map_err(|_| "out of memory")?;
        }
        self.order += 1;
        let queue = self.by_key.entry(key.into()).or_default();
        queue.last_use = self.order;
        Ok(queue)
    }

    /// Removes the empty queue that was unused for longest.
    fn remove_unused(&mut self) -> Result<(), String> {
        let unused = self.by_key.iter().filter(|(_, queue)| queue.is_empty());
        let oldest = unused.min_by_key(|(_, queue)| queue.last_use).map(|(key, _)| key.clone());
        let oldest = oldest.ok_or_else(|| format!("{MOST_KEYS} keys are in use"))?;
        self.by_key.remove(&oldest);
        Ok(())
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.free.is_empty() && self.waiting.is_empty()
    }
}

/// Checks that a connection may add one more to `all`, given by their connections.
fn within_limits(
    all: impl Iterator<Item = ConnectionId>,
    connection: ConnectionId,
    name: &str,
) -> Result<(), String> {
    let (mut total, mut own) = (0, 0);
    for one in all {
        total += 1;
        own += usize::from(one == connection);
    }
    match (total, own) {
        (_, MOST_OF_CONNECTION..) => {
            Err(format!("more than {MOST_OF_CONNECTION} {name} of a connection"))
        }
        (MOST_OF_ALL.., _) => Err(format!("more than {MOST_OF_ALL} {name}")),
        _ => Ok(()),
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Turn) -> Ordering {
        other.priority.total_cmp(&self.priority).then(self.order.cmp(&other.order))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Turn) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Turn) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Turn {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn client(connection: ConnectionId) -> Client {
        Client { connection, options: String::new() }
    }

    fn server(owner: ConnectionId, match_key: &str) -> FreeServer {
        FreeServer { owner, host: "127.0.0.1".into(), port: 9091, match_key: match_key.into() }
    }

    /// Puts servers of connection 1, and returns the clients that get them.
    fn clients_in_turn(queues: &mut Queues, count: usize) -> Vec<ConnectionId> {
        let mut put = |index| queues.put("board", server(1, &format!("board:{index}")));
        (0..count)
            .filter_map(|index| put(index).expect("a put"))
            .map(|found| found.client.connection)
            .collect()
    }

    #[test]
    fn higher_priorities_are_served_first_and_equal_ones_in_order() {
        let mut queues = Queues::default();
        for (waiting, priority) in [(10, 1.0), (11, 1.0), (12, 5.0), (13, -1.0), (14, 5.0)] {
            assert_eq!(queues.assign("board", priority, client(waiting)), Ok(None));
        }
        assert_eq!(queues.summary(), json!({ "board": { "free": 0, "pending": 5 } }));
        assert_eq!(clients_in_turn(&mut queues, 6), [12, 14, 10, 11, 13]);
        assert_eq!(queues.pending_match_keys(1), ["board:5"]);
    }

    #[test]
    fn free_servers_are_assigned_in_the_order_in_which_they_came() {
        let mut queues = Queues::default();
        assert!(clients_in_turn(&mut queues, 2).is_empty());
        for expected in ["board:0", "board:1"] {
            let found =
                queues.assign("board", 1.0, client(10)).expect("a request").expect("a server");
            assert_eq!((found.client.connection, found.server.match_key.as_str()), (10, expected));
        }
        assert_eq!(queues.assign("board", 1.0, client(10)), Ok(None));
        assert_eq!(queues.assign("other", 1.0, client(10)), Ok(None));
    }

    #[test]
    fn servers_and_requests_of_closed_connections_are_removed() {
        let mut queues = Queues::default();
        queues.put("board", server(1, "board:1")).expect("a put");
        queues.put("board", server(2, "board:2")).expect("a put");
        queues.assign("other", 1.0, client(3)).expect("a request");
        queues.assign("other", 1.0, client(4)).expect("a request");
        queues.remove(1);
        queues.remove(3);
        let found = queues.assign("board", 1.0, client(5)).expect("a request").expect("a server");
        assert_eq!(found.server.owner, 2);
        let found = queues.put("other", server(2, "other:1")).expect("a put").expect("a client");
        assert_eq!(found.client.connection, 4);
        assert_eq!(queues.waiting().count(), 0);
    }

    #[test]
    fn one_connection_cannot_fill_the_queues() {
        let mut queues = Queues::default();
        for index in 0..MOST_OF_CONNECTION {
            queues.put("board", server(1, &index.to_string())).expect("a put");
            queues.assign("other", 1.0, client(1)).expect("a request");
        }
        assert!(queues.put("board", server(1, "more")).is_err());
        assert!(queues.assign("other", 1.0, client(1)).is_err());
        assert!(queues.put("board", server(2, "more")).is_ok());
        assert_eq!(queues.pending_match_keys(1).len(), MOST_OF_CONNECTION);
    }

    #[test]
    fn unused_keys_make_way_for_new_ones_and_used_ones_do_not() {
        let mut queues = Queues::default();
        let assigned = |queues: &mut Queues, key: &str| {
            queues.put(key, server(1, "unused")).expect("a put");
            queues.assign(key, 1.0, client(2)).expect("a request");
        };
        queues.put("kept", server(3, "kept:1")).expect("a put");
        (0..2 * MOST_KEYS).for_each(|index| assigned(&mut queues, &index.to_string()));
        let summary = queues.summary();
        assert_eq!(summary.as_object().map(Map::len), Some(MOST_KEYS));
        assert_eq!(summary["kept"]["free"], 1);
        let mut queues = Queues::default();
        for index in 0..MOST_KEYS {
            let owner = 1 + index as u64 / 100;
            queues.put(&index.to_string(), server(owner, "k")).expect("a put");
        }
        assert!(queues.assign("new", 1.0, client(100)).is_err());
        queues.remove(1);
        assert!(queues.assign("new", 1.0, client(100)).is_ok());
    }
}
