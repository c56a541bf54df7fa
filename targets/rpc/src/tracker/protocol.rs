//! Messages of TVM's tracker: an int32 length and JSON, after both sides have sent a magic number.
//! Requests are checked completely before anything changes.
#![forbid(unsafe_code)]

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Map, Value, json};

/// First word of both sides.
pub const MAGIC: i32 = 0x2_F271;

/// Maximum length of a request, as in upstream's tracker.
pub const LONGEST_MESSAGE: usize = 1 << 20;

/// Maximum length of a key, a match key and a host name.
pub const LONGEST_NAME: usize = 256;

/// Maximum length of a key with options.
const LONGEST_REQUEST: usize = 1024;

/// Maximum length of the key of a registration: a proxy lists the keys of its servers in it.
const LONGEST_LIST: usize = 4096;

/// Codes of requests: the first item of each.
pub mod code {
    /// Asks whether the tracker is there.
    pub const PING: i64 = 1;
    /// Ends the tracker.
    pub const STOP: i64 = 2;
    /// Offers a server for one session.
    pub const PUT: i64 = 3;
    /// Asks for a server.
    pub const REQUEST: i64 = 4;
    /// Describes the server behind the connection.
    pub const UPDATE_INFO: i64 = 5;
    /// Asks for all queues and servers.
    pub const SUMMARY: i64 = 6;
    /// Asks for the match keys that no client has been given.
    pub const PENDING_MATCH_KEYS: i64 = 7;
}

/// Answer of success.
pub const SUCCESS: i64 = 0;

/// Answer to a wrong stop key.
pub const FAILURE: i64 = -1;

/// Checked request.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Asks whether the tracker is there.
    Ping,
    /// Ends the tracker if the key is right.
    Stop(String),
    /// Offers a server for one session.
    Put {
        /// Key of the server.
        key: String,
        /// Address of the server.
        endpoint: Endpoint,
        /// Secret of the session, which the client sends to the server.
        match_key: String,
    },
    /// Asks for a server of this key; higher priorities are served first. What follows a blank in
    /// the key are options for the server, such as a token: clients of upstream can send them in
    /// no other way.
    Acquire {
        /// Key of the server.
        key: String,
        /// Options for the server, separated by blanks.
        options: String,
        /// Priority; zero if the client sends none.
        priority: f64,
    },
    /// Describes the server behind this connection.
    UpdateInfo {
        /// Key of the server, after `server:`.
        key: String,
        /// Address of the server.
        endpoint: Endpoint,
    },
    /// Asks for all queues and servers.
    Summary,
    /// Asks for the match keys of this connection that no client has been given.
    PendingMatchKeys,
}

/// Where a server listens. Without a host, at the address from which it reached the tracker.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Host name or address.
    pub host: Option<String>,
    /// Port, never zero.
    pub port: u16,
}

impl Request {
    /// Parses a request.
    ///
    /// # Errors
    /// The reason why it is malformed.
    pub fn parse(message: &[u8]) -> Result<Request, String> {
        let items: Vec<Value> =
            serde_json::from_slice(message).map_err(|error| format!("not a request: {error}"))?;
        let code = items.first().and_then(Value::as_i64).ok_or("a request without a code")?;
        let item = |index: usize| items.get(index).unwrap_or(&Value::Null);
        Ok(match code {
            code::PING => Request::Ping,
            code::STOP => Request::Stop(text(item(1), "stop key", LONGEST_NAME)?),
            code::PUT => put(item(1), item(2), item(3))?,
            code::REQUEST => acquire(item(1), item(3))?,
            code::UPDATE_INFO => update_info(item(1))?,
            code::SUMMARY => Request::Summary,
            code::PENDING_MATCH_KEYS => Request::PendingMatchKeys,
            _ => return Err(format!("unknown request {code}")),
        })
    }
}

fn put(key: &Value, server: &Value, host: &Value) -> Result<Request, String> {
    let [port, match_key] = pair(server, "server")?;
    Ok(Request::Put {
        key: text(key, "key", LONGEST_NAME)?,
        endpoint: endpoint(host, port)?,
        match_key: text(match_key, "match key", LONGEST_NAME)?,
    })
}

fn acquire(key: &Value, priority: &Value) -> Result<Request, String> {
    let text = text(key, "key", LONGEST_REQUEST)?;
    let (key, options) = text.split_once(' ').unwrap_or((&text, ""));
    if key.len() > LONGEST_NAME {
        return Err(too_long("key", key.len(), LONGEST_NAME));
    }
    let options = options.trim().to_string();
    Ok(Request::Acquire { key: key.into(), options, priority: number(priority)? })
}

fn update_info(info: &Value) -> Result<Request, String> {
    let info: &Map<String, Value> = info.as_object().ok_or("information that is not an object")?;
    let field = |name: &str| info.get(name).unwrap_or(&Value::Null);
    let [host, port] = pair(field("addr"), "address")?;
    Ok(Request::UpdateInfo {
        key: text(field("key"), "key", LONGEST_LIST)?,
        endpoint: endpoint(host, port)?,
    })
}

fn pair<'value>(value: &'value Value, name: &str) -> Result<[&'value Value; 2], String> {
    match value.as_array().map(Vec::as_slice) {
        Some([first, second]) => Ok([first, second]),
        _ => Err(format!("the {name} is not a pair")),
    }
}

fn text(value: &Value, name: &str, longest: usize) -> Result<String, String> {
    match value.as_str() {
        Some(text) if text.len() <= longest => Ok(text.into()),
        Some(text) => Err(too_long(name, text.len(), longest)),
        None => Err(format!("the {name} is not a string")),
    }
}

fn too_long(name: &str, length: usize, longest: usize) -> String {
    format!("the {name} has {length} bytes, more than the {longest} allowed")
}

/// Reads host and port. Upstream's servers in C++ and Java send the port as a string.
fn endpoint(host: &Value, port: &Value) -> Result<Endpoint, String> {
    let number = match port {
        Value::String(digits) => digits.parse().ok(),
        _ => port.as_u64().and_then(|port| port.try_into().ok()),
    };
    let port = number.filter(|port| *port != 0).ok_or("the port is not in 1..=65535")?;
    let host = match host {
        Value::Null => None,
        _ => Some(text(host, "host", LONGEST_NAME)?),
    };
    Ok(Endpoint { host, port })
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Null => Ok(0.0),
        _ => value.as_f64().ok_or_else(|| "the priority is not a number".into()),
    }
}

/// Writes a message: its length and the JSON.
pub fn frame(value: &Value) -> Vec<u8> {
    let text = value.to_string();
    let mut message = Vec::with_capacity(4 + text.len());
    message.extend_from_slice(&i32::try_from(text.len()).unwrap_or(i32::MAX).to_le_bytes());
    message.extend_from_slice(text.as_bytes());
    message
}

/// Answer to a request for a server.
pub fn assignment(host: &str, port: u16, match_key: &str) -> Value {
    json!([SUCCESS, [host, port, match_key]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Request, String> {
        Request::parse(text.as_bytes())
    }

    #[test]
    fn requests_of_upstreams_servers_and_clients_are_read() {
        let endpoint = Endpoint { host: None, port: 9091 };
        let put = Request::Put {
            key: "board".into(),
            endpoint: endpoint.clone(),
            match_key: "board:0.5".into(),
        };
        assert_eq!(parse(r#"[3, "board", [9091, "board:0.5"], null]"#), Ok(put));
        let info = Request::UpdateInfo { key: "server:board".into(), endpoint };
        for port in ["9091", "\"9091\""] {
            let text = format!(r#"[5, {{"key": "server:board", "addr": [null, {port}]}}]"#);
            assert_eq!(parse(&text).as_ref(), Ok(&info));
        }
        let request =
            Request::Acquire { key: "board".into(), options: String::new(), priority: 2.0 };
        assert_eq!(parse(r#"[4, "board", "", 2]"#), Ok(request));
        assert_eq!(parse(r#"[2, "secret"]"#), Ok(Request::Stop("secret".into())));
        assert_eq!(parse("[1]"), Ok(Request::Ping));
        assert_eq!(parse("[6]"), Ok(Request::Summary));
        assert_eq!(parse("[7]"), Ok(Request::PendingMatchKeys));
    }

    #[test]
    fn malformed_requests_are_errors() {
        let long = "k".repeat(LONGEST_NAME + 1);
        for text in [
            "",
            "1",
            "{}",
            "[]",
            "[null]",
            "[\"1\"]",
            "[0]",
            "[8]",
            "[99999999999999999999]",
            "[1",
            "[NaN]",
            "[2]",
            "[2, 5]",
            "[3]",
            r#"[3, "k", [9091], null]"#,
            r#"[3, "k", [0, "k:1"], null]"#,
            r#"[3, "k", [65536, "k:1"], null]"#,
            r#"[3, "k", [-1, "k:1"], null]"#,
            r#"[3, "k", [1.5, "k:1"], null]"#,
            r#"[3, "k", ["x", "k:1"], null]"#,
            r#"[3, "k", [9091, 5], null]"#,
            r#"[3, "k", [9091, "k:1"], 5]"#,
            r#"[3, null, [9091, "k:1"], null]"#,
            r#"[4]"#,
            r#"[4, 5, "", 1]"#,
            r#"[4, "k", "", "high"]"#,
            "[5]",
            "[5, []]",
            r#"[5, {"key": "server:k"}]"#,
            r#"[5, {"key": 5, "addr": [null, 9091]}]"#,
            r#"[5, {"key": "server:k", "addr": [null, 9091, 1]}]"#,
            &format!(r#"[4, "{long}", "", 1]"#),
            &"[".repeat(LONGEST_MESSAGE),
        ] {
            assert!(parse(text).is_err(), "{text:.60} is accepted");
        }
        assert!(Request::parse(b"[4, \"\xff\", \"\", 1]").is_err());
    }
}
