//! Fuzzes clients of remote procedure calls: any answers of a server give values or errors, and
//! never wait.
//!
//! An input is a list of answers: a code, a length and the content, with the lengths of packets
//! right or wrong.

use ferrite_alloc_ext::device::{Device, DeviceTensor, copy_tensor};
use ferrite_core::{Any, AnyView, Result, Tensor};
use ferrite_rpc::client::{EvaluatorOptions, Session, Transport};
use ferrite_rpc::wire::code;

/// Maximum number of rounds of requests.
const ROUNDS: usize = 16;

/// A server that sends prepared bytes.
struct Script {
    answers: Vec<u8>,
    at: usize,
}

impl Transport for Script {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = &self.answers[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }

    fn write(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// Appends an answer, whose announced length differs from the right one by `error`.
fn push(answers: &mut Vec<u8>, code: i32, content: &[u8], error: i64) {
    let length = (content.len() as u64 + 4).wrapping_add_signed(error);
    answers.extend_from_slice(&length.to_le_bytes());
    answers.extend_from_slice(&code.to_le_bytes());
    answers.extend_from_slice(content);
}

/// Returns the answers of an input, after the one that begins the session.
fn answers_of(mut input: &[u8]) -> Vec<u8> {
    let mut answers = Vec::new();
    push(&mut answers, code::RETURN, &[1, 0, 0, 0, 0, 0, 0, 0], 0);
    while let [kind, length, rest @ ..] = input {
        let (content, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let code = match kind & 7 {
            0..4 => code::RETURN,
            4 => code::EXCEPTION,
            5 => code::COPY_ACK,
            _ => i32::from(*kind),
        };
        let error = if kind & 0x80 == 0 { 0 } else { i64::from(*kind & 0x78) - 0x40 };
        push(&mut answers, code, content, error);
        input = rest;
    }
    answers
}

/// Makes requests of every kind, and uses what comes back.
fn use_session(session: &Session) -> Result<()> {
    let function = session.function("f")?;
    let x = DeviceTensor::from_slice(session.cpu(), &[1f32, 2.0], &[2])?;
    let mut found = Any::NONE;
    for _ in 0..ROUNDS {
        let arguments = [AnyView::from(1i64), AnyView::from(x.as_tensor()), found.view()];
        found = function.call_packed(&arguments)?;
        if let Ok(tensor) = found.get::<Tensor>() {
            read(&tensor)?;
        }
        x.read::<f32>()?;
        let _ = session.cpu().name()?;
    }
    let options = EvaluatorOptions::default();
    session.time_evaluator(None, "f", session.cpu(), &options)?.run(&[])?;
    session.system_lib()?.get("g")?.call::<()>(())
}

/// Copies a tensor of the server to main memory, if it is small.
fn read(tensor: &Tensor) -> Result<()> {
    let there = tensor.as_tensor_ref();
    if there.size_bytes().is_none_or(|bytes| bytes > 1 << 16) {
        return Ok(());
    }
    let local = DeviceTensor::empty(Device::CPU, there.shape(), there.dtype())?;
    // SAFETY: both tensors are alive, and nothing else uses the local one.
    unsafe { copy_tensor(tensor.dl_tensor(), local.as_tensor().dl_tensor(), std::ptr::null_mut()) }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let script = Script { answers: answers_of(input), at: 0 };
    let session = Session::over(script).expect("the session begins");
    for _ in 0..ROUNDS {
        if use_session(&session).is_ok() {
            break;
        }
    }
}
