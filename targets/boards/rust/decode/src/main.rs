//! usage: boards-decode FIRMWARE <LOG: prints the lines of a log that firmware wrote with defmt.
#![forbid(unsafe_code)]

use std::io::{Read, stdin};

use anyhow::{Context, bail};
use defmt_decoder::{DecodeError, Table};

fn main() -> anyhow::Result<()> {
    let path = std::env::args_os().nth(1).context("usage: boards-decode FIRMWARE <LOG")?;
    let firmware = std::fs::read(&path)?;
    let table = Table::parse(&firmware)?.context("the firmware logs nothing with defmt")?;
    let mut log = Vec::new();
    stdin().read_to_end(&mut log)?;
    let mut decoder = table.new_stream_decoder();
    decoder.received(&log);
    loop {
        match decoder.decode() {
            Ok(frame) => match frame.level() {
                Some(level) => println!("{level:?}: {}", frame.display_message()),
                None => println!("{}", frame.display_message()),
            },
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            Err(DecodeError::Malformed) => bail!("this is not a log of the firmware"),
        }
    }
}
