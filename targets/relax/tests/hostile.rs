//! Tests executables with hostile content: loading fails or gives a machine that can be used, and
//! nothing crashes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::{Any, Tensor};
use ferrite_relax::machine::Machine;
use support::*;

fn floats(shape: &[i64]) -> Result<Any> {
    let count = shape.iter().product::<i64>() as usize;
    Ok(Tensor::from_slice(&vec![1.0f32; count], shape)?.into())
}

/// Returns functions of a fixture, with arguments that they accept.
fn calls(model: &str) -> Result<Vec<(&'static str, Vec<Any>)>> {
    let (boolean, cpu) =
        (DLDataType { code: 6, bits: 8, lanes: 1 }, DLDevice { device_type: 1, device_id: 0 });
    let condition: Any = Tensor::empty(&[], boolean, cpu)?.into();
    let count: Any = Tensor::from_slice(&[2i64], &[])?.into();
    let tuple = |parts: &[Any]| ArrayObject::from_slice(parts).map(Any::from);
    Ok(match model {
        "control" => {
            vec![("choose", vec![condition, floats(&[4])?]), ("power", vec![count, floats(&[4])?])]
        }
        "mlp_dyn" => {
            let weights = [floats(&[32, 64])?, floats(&[32])?, floats(&[10, 32])?, floats(&[10])?];
            vec![("forward", vec![floats(&[3, 64])?, tuple(&weights)?])]
        }
        _ => Vec::new(),
    })
}

/// Calls the functions, and ignores their results.
fn run(machine: &Machine, calls: &[(&str, Vec<Any>)]) -> usize {
    let mut succeeded = 0;
    for (name, args) in calls {
        let views: Vec<_> = args.iter().map(Any::view).collect();
        if let Some(index) = machine
            .executable()
            .functions()
            .iter()
            .position(|function| machine.executable().name(function) == name.as_bytes())
        {
            succeeded += usize::from(machine.call(index, &views).is_ok());
        }
    }
    succeeded
}

const MODELS: [&str; 3] = ["control", "mlp_dyn", "values"];

#[test]
fn every_truncation_is_an_error() {
    for model in MODELS {
        let bytes = fixture(model);
        for len in 0..bytes.len() {
            let (kind, message) = texts(load(&bytes[..len]));
            assert_eq!(kind, "InternalError");
            assert!(message.starts_with("Invalid VM file format in the "), "{message}");
        }
        assert!(load(&bytes).is_ok());
    }
}

#[test]
fn changed_bytes_give_errors_or_machines() -> Result<()> {
    let (mut loaded, mut refused, mut run_calls) = (0, 0, 0);
    for model in ["control", "mlp_dyn"] {
        let original = fixture(model);
        let calls = calls(model)?;
        // Without a change, all calls succeed: the arguments are those of the model.
        assert_eq!(run(&machine(&original)?, &calls), calls.len(), "{model}");
        for at in 0..original.len() {
            let mut bytes = original.clone();
            bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
            match machine(&bytes) {
                Ok(machine) => {
                    loaded += 1;
                    run_calls += run(&machine, &calls);
                    machine.executable().as_text()?;
                    let _ = machine.executable().stats();
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(loaded > 1000 && refused > 1000 && run_calls > 1000, "{loaded} {refused} {run_calls}");
    Ok(())
}

#[test]
fn code_that_is_out_of_range_is_refused() {
    let body = |body: Vec<Vec<i64>>| {
        executable(&[packed("kernel"), bytecode("main", &["x"], 2, body)], &[7])
    };
    let code = "Invalid VM file format in the instr data section.";
    assert!(
        load(&body(vec![call(1, 0, &[0, constant(0), immediate(-3), function(1)]), ret(1)]))
            .is_ok()
    );
    let bodies = [
        vec![call(2, 0, &[]), ret(1)],            // destination
        vec![call(-1, 0, &[]), ret(1)],           // negative destination
        vec![call(1, 0, &[2]), ret(1)],           // argument register
        vec![call(1, 0, &[constant(1)]), ret(1)], // constant
        vec![call(1, 0, &[function(2)]), ret(1)], // function as a value
        vec![call(1, 2, &[]), ret(1)],            // function
        vec![call(1, 0, &[4 << 56]), ret(1)],     // kind of an argument
        vec![vec![1, 1, 0, 70_000], ret(1)],      // number of arguments
        vec![vec![1, 1, 0, -1], ret(1)],          // negative number of arguments
        vec![ret(2)],                             // result
        vec![ret(MACHINE + 1)],                   // special register
        vec![vec![3, 1]],                         // jump beyond the end
        vec![ret(0), vec![3, -1]],                // jump backward
        vec![vec![3, 0]],                         // jump to itself
        vec![vec![3, i64::MAX], ret(0)],          // jump that overflows
        vec![vec![4, 0, 1], ret(0), ret(1)],      // branch to the next instruction
        vec![vec![4, 0, 5], ret(0), ret(1)],      // branch beyond the end
        vec![vec![4, 9, 2], ret(0), ret(1)],      // condition
        vec![vec![5, 0], ret(0)],                 // opcode
        vec![call(1, 0, &[])],                    // no return
    ];
    for (index, words) in bodies.into_iter().enumerate() {
        assert_eq!(
            texts(load(&body(words))),
            ("InternalError".into(), code.into()),
            "body {index}"
        );
    }
}

#[test]
fn functions_that_are_out_of_range_are_refused() {
    let with = |change: fn(&mut Draft<'static>)| {
        let mut draft = bytecode("main", &["x"], 1, vec![ret(0)]);
        change(&mut draft);
        executable(&[draft], &[])
    };
    assert!(load(&with(|_| {})).is_ok());
    let changes: [fn(&mut Draft<'static>); 6] = [
        |draft| draft.registers = 0,
        |draft| draft.registers = 1 << 40,
        |draft| draft.arguments = -1,
        |draft| draft.kind = 3,
        |draft| draft.body.clear(),
        |draft| (draft.kind, draft.registers) = (2, 1),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let (kind, message) = texts(load(&with(change)));
        let expected = "Invalid VM file format in the Global Section section.";
        assert_eq!(
            (kind.as_str(), message.as_str()),
            ("InternalError", expected),
            "change {index}"
        );
    }
}

#[test]
fn names_and_strings_are_utf8() {
    // The names of functions and parameters, and a constant: callbacks in Python get them as text.
    let mut with_text =
        executable(&[packed("kernel"), bytecode("main", &["xyz"], 1, vec![ret(0)])], &[]);
    let end = with_text.len() - (8 + 8 + 8 + 2 * 8);
    let constant =
        [&1u64.to_le_bytes()[..], &65i32.to_le_bytes(), &5u64.to_le_bytes(), b"hello"].concat();
    with_text.splice(end - 8..end, constant);
    assert!(load(&with_text).is_ok());
    for (name, section) in [
        ("kernel", "Global Section"),
        ("main", "Global Section"),
        ("xyz", "Global Section"),
        ("hello", "constant string"),
    ] {
        let mut bytes = with_text.clone();
        let at = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap();
        bytes[at + 1] = 0xff;
        let message = format!("Invalid VM file format in the {section} section.");
        assert_eq!(texts(load(&bytes)), ("InternalError".into(), message), "{name}");
    }
}

#[test]
fn other_headers_are_refused() {
    let good = fixture("control");
    let message = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        texts(load(&bytes)).1
    };
    assert_eq!(message(0, 0), "Invalid VM file format in the header section.");
    assert_eq!(message(16, b'1'), "Invalid VM file format in the version section.");
    assert_eq!(message(8, 5), "Invalid VM file format in the version section.");
}

#[test]
fn version_1_has_no_scopes_and_is_saved_as_version_2() -> Result<()> {
    let second = fixture("control");
    let executable = load(&second)?;
    assert_eq!(executable.save()?.as_bytes(), second);
    // The scopes of version 2 are eight bytes of zeros behind the functions, which end where the
    // constants begin.
    let constants = 14u64.to_le_bytes();
    let at = second
        .windows(16)
        .position(|window| window[..8] == [0; 8] && window[8..] == constants)
        .unwrap();
    let mut first = [&second[..at], &second[at + 8..]].concat();
    first[0] = 0x1d;
    let loaded = load(&first)?;
    assert_eq!(loaded.as_text()?.as_bytes(), executable.as_text()?.as_bytes());
    assert_eq!(loaded.save()?.as_bytes(), second);
    // Bytes behind the end are not kept.
    let longer = [&second[..], b"rest"].concat();
    assert_eq!(load(&longer)?.save()?.as_bytes(), second);
    Ok(())
}
