//! `ferrite rpc list`: the servers and queues of a tracker.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::visible::line;

use super::tracker_client::{QueueInfo, Summary, TrackerConnection};

/// List the servers of a tracker: keys, free servers and waiting clients, and addresses
#[derive(Args)]
pub struct List {
    /// Address of the tracker
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9190")]
    pub tracker: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(options: &List) -> Outcome<()> {
    let summary =
        TrackerConnection::open(&options.tracker).and_then(|mut tracker| tracker.summary());
    let summary = summary
        .map_err(|error| Failure::missing(format!("tracker {}: {error}", options.tracker)))?;
    if options.json { output::print_json(&summary) } else { output::print_report(&text(&summary)) }
}

/// Returns both tables: keys with numbers, and servers with addresses.
fn text(summary: &Summary) -> String {
    let servers =
        summary.server_info.iter().map(|server| (key(&server.key), address(&server.addr)));
    let mut servers: Vec<(String, String)> = servers.collect();
    servers.sort();
    let mut text = table(&["KEY", "SERVERS", "FREE", "PENDING"], &queues(summary, &servers));
    if !servers.is_empty() {
        let rows: Vec<_> = servers.into_iter().map(|(key, address)| vec![key, address]).collect();
        text.push('\n');
        text.push_str(&table(&["KEY", "ADDRESS"], &rows));
    }
    text
}

/// Returns the rows of the keys that have a server, a free session or a waiting client.
fn queues(summary: &Summary, servers: &[(String, String)]) -> Vec<Vec<String>> {
    let mut counts: BTreeMap<String, (usize, u64, u64)> = BTreeMap::new();
    for (key, QueueInfo { free, pending }) in &summary.queue_info {
        counts.insert(line(key), (0, *free, *pending));
    }
    for (key, _) in servers {
        counts.entry(key.clone()).or_default().0 += 1;
    }
    counts.retain(|_, numbers| *numbers != (0, 0, 0));
    let row = |(key, (servers, free, pending)): (String, (usize, u64, u64))| {
        vec![key, servers.to_string(), free.to_string(), pending.to_string()]
    };
    counts.into_iter().map(row).collect()
}

/// Returns the key of `server:KEY`.
fn key(key: &str) -> String {
    line(key.strip_prefix("server:").unwrap_or(key))
}

fn address((host, port): &(Option<String>, Value)) -> String {
    let port = port.as_str().map_or_else(|| port.to_string(), str::to_string);
    let host = host.as_deref().unwrap_or("?");
    line(&if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}

/// Aligns rows in columns. The last one is not padded.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let format = |cells: &[&str]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let rows = rows.iter().map(|row| format(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    std::iter::once(format(head)).chain(rows).collect()
}
