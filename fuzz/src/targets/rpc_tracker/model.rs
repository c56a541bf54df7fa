//! A model of the tracker: lists that are searched from the front.

use std::collections::{BTreeMap, BTreeSet};

use ferrite_rpc::tracker::ConnectionId;
use ferrite_rpc::tracker::protocol::{Endpoint, FAILURE, Request, SUCCESS};
use serde_json::{Map, Value, json};

use super::requests::STOP_KEY;

/// Maximum number of free servers, and of requests, of a connection.
const MOST_OF_CONNECTION: usize = 1024;

/// Answers by connection.
type Answers = Vec<(ConnectionId, Value)>;

struct Server {
    key: String,
    owner: ConnectionId,
    host: String,
    port: u16,
    match_key: String,
}

struct Client {
    key: String,
    options: String,
    priority: f64,
    id: ConnectionId,
}

#[derive(Default)]
struct Registered {
    host: String,
    info: Option<(String, Endpoint)>,
}

/// Connections, free servers and waiting clients, each in the order in which they came.
#[derive(Default)]
pub struct Model {
    connections: BTreeMap<ConnectionId, Registered>,
    free: Vec<Server>,
    waiting: Vec<Client>,
    /// Keys of all requests.
    keys: BTreeSet<String>,
}

impl Model {
    pub fn open(&mut self, id: ConnectionId, host: String) {
        self.connections.insert(id, Registered { host, info: None });
    }

    /// Returns the key of the server whose connection is closed.
    pub fn close(&mut self, id: ConnectionId) -> Option<String> {
        self.free.retain(|server| server.owner != id);
        self.waiting.retain(|client| client.id != id);
        Some(self.connections.remove(&id)?.info?.0)
    }

    /// Returns the connections of servers and of waiting clients.
    pub fn active(&self) -> BTreeSet<ConnectionId> {
        let servers = self.connections.iter().filter(|(_, one)| one.info.is_some());
        servers.map(|(id, _)| *id).chain(self.waiting.iter().map(|client| client.id)).collect()
    }

    /// Returns the answers to a request. `None` if the connection has reached its limit.
    pub fn serve(&mut self, id: ConnectionId, request: Request) -> Option<Answers> {
        let answer = match request {
            Request::Ping => json!(SUCCESS),
            Request::Stop(key) => json!(if key == STOP_KEY { SUCCESS } else { FAILURE }),
            Request::Put { key, endpoint, match_key } => {
                let host = endpoint.host.unwrap_or_else(|| self.connections[&id].host.clone());
                return self.put(Server { key, owner: id, host, port: endpoint.port, match_key });
            }
            Request::Acquire { key, options, priority } => {
                return self.acquire(Client { key, options, priority, id });
            }
            Request::UpdateInfo { key, endpoint } => {
                self.connections.get_mut(&id).expect("open").info = Some((key, endpoint));
                json!(SUCCESS)
            }
            Request::Summary => json!([SUCCESS, self.summary()]),
            Request::PendingMatchKeys => self.pending(id),
        };
        Some(vec![(id, answer)])
    }

    fn put(&mut self, server: Server) -> Option<Answers> {
        let id = server.owner;
        if self.free.iter().filter(|one| one.owner == id).count() >= MOST_OF_CONNECTION {
            return None;
        }
        self.keys.insert(server.key.clone());
        let mut answers = vec![(id, json!(SUCCESS))];
        match self.first_client(&server.key) {
            Some(at) => answers.push(assignment(self.waiting.remove(at), server)),
            None => self.free.push(server),
        }
        Some(answers)
    }

    /// Returns the place of the first client among those of the highest priority.
    fn first_client(&self, key: &str) -> Option<usize> {
        let of_key = self.waiting.iter().enumerate().filter(|(_, client)| client.key == key);
        // The last of equal ones is returned, so in reverse order.
        of_key
            .rev()
            .max_by(|(_, one), (_, other)| one.priority.total_cmp(&other.priority))
            .map(|(at, _)| at)
    }

    fn acquire(&mut self, client: Client) -> Option<Answers> {
        if self.waiting.iter().filter(|one| one.id == client.id).count() >= MOST_OF_CONNECTION {
            return None;
        }
        self.keys.insert(client.key.clone());
        match self.free.iter().position(|server| server.key == client.key) {
            Some(at) => Some(vec![assignment(client, self.free.remove(at))]),
            None => {
                self.waiting.push(client);
                Some(Vec::new())
            }
        }
    }

    fn pending(&self, owner: ConnectionId) -> Value {
        let own = self.free.iter().filter(|server| server.owner == owner);
        let mut keys: Vec<_> = own.map(|server| json!(server.match_key)).collect();
        keys.sort_by_key(Value::to_string);
        json!(keys)
    }

    fn summary(&self) -> Value {
        let queue = |key: &String| {
            let free = self.free.iter().filter(|server| server.key == *key).count();
            let pending = self.waiting.iter().filter(|client| client.key == *key).count();
            assert!(free == 0 || pending == 0, "a client waits beside a free server");
            (key.clone(), json!({ "free": free, "pending": pending }))
        };
        let queues: Map<String, Value> = self.keys.iter().map(queue).collect();
        let servers: Vec<_> = self.connections.values().filter_map(server_info).collect();
        json!({ "queue_info": queues, "server_info": servers })
    }
}

fn server_info(registered: &Registered) -> Option<Value> {
    let (key, endpoint) = registered.info.as_ref()?;
    let host = endpoint.host.as_ref().unwrap_or(&registered.host);
    key.starts_with("server").then(|| json!({ "key": key, "addr": [host, endpoint.port] }))
}

fn assignment(client: Client, server: Server) -> (ConnectionId, Value) {
    let key = format!("{} {}", server.match_key, client.options);
    (client.id, json!([SUCCESS, [server.host, server.port, key.trim_end()]]))
}
