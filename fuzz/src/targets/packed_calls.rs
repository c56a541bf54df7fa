//! Fuzzes programs of packed calls: every global function, called with arbitrary values and results
//! of earlier calls, returns or fails, but never crashes.

use std::sync::LazyLock;
use std::sync::Once;

use arbitrary::Arbitrary;
use ferrite_alloc_ext::{containers, dataclass, graph, json, reflection, structural};
use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::call::function::Function;
use ferrite_core::error;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::{self, Builtins};
use ferrite_core::names::type_table;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::string::{Bytes, String};

#[derive(Arbitrary, Debug)]
enum Step {
    None,
    Bool(bool),
    Int(i8),
    Long(i64),
    Float(f64),
    Text(std::string::String),
    Bytes(Vec<u8>),
    DataType(u8, u8, u16),
    Device(i8, i8),
    Callback(Callback, u8),
    Forget(u8),
    Call(u8, Vec<u8>),
}

/// Behaviour of a function created by the program.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Callback {
    First,
    Last,
    Own,
    Fail,
    ClearOwn,
    AppendToOwn,
}

static BUILTINS: Builtins = Builtins {
    prefix: "ffi.",
    groups: &[
        containers::functions::FUNCTIONS,
        dataclass::FUNCTIONS,
        graph::FUNCTIONS,
        json::FUNCTIONS,
        structural::equal::FUNCTIONS,
        reflection::FUNCTIONS,
        structural::equal::PATH_FUNCTIONS,
        structural::key::FUNCTIONS,
        structural::mutate::FUNCTIONS,
        structural::visit::FUNCTIONS,
    ],
};

/// Functions that take addresses as integers, or that allocate as much memory as requested.
const EXCLUDED: &[&str] =
    &["ffi.MakeFieldGetter", "ffi.MakeFieldSetter", "ffi.ListReserve", "ffi.json.Stringify"];

static FUNCTIONS: LazyLock<Vec<(&str, Function)>> = LazyLock::new(|| {
    let all = BUILTINS.groups.iter().flat_map(|group| group.iter());
    all.filter(|function| !EXCLUDED.contains(&function.name()))
        .map(|function| (function.name(), function.to_function().expect("memory")))
        .collect()
});

fn register() -> Result<()> {
    containers::key::install_hooks()?;
    reflection::install()?;
    structural::install()
}

fn install() {
    builtins::install(&BUILTINS);
    type_table::provide(register);
}

fn call(name: &str, args: &[AnyView<'_>]) -> Result<Any> {
    Function::find_global(name)?.expect("a function of the library").call_packed(args)
}

/// Clears a mutable container, which may contain itself.
fn clear(value: &Any) -> Result<Any> {
    Ok(match value.type_index() {
        type_index::LIST => call("ffi.ListClear", &[value.view()])?,
        type_index::DICT => call("ffi.DictClear", &[value.view()])?,
        _ => Any::NONE,
    })
}

/// Appends to a list below a size limit, so that no list grows without bound.
fn append(list: &Any, args: &[AnyView<'_>]) -> Result<Any> {
    match args.first() {
        Some(arg) if call("ffi.ListSize", &[list.view()])?.get::<i64>()? < 30 => {
            call("ffi.ListAppend", &[list.view(), *arg])
        }
        _ => Ok(Any::NONE),
    }
}

fn failure() -> Error {
    error!(ValueError, "as the program says")
}

fn function(kind: Callback, own: Any) -> Result<Any> {
    let answer = move |args: &[AnyView<'_>]| match kind {
        Callback::First => args.first().copied().map_or(Ok(Any::NONE), AnyView::to_owned),
        Callback::Last => args.last().copied().map_or(Ok(Any::NONE), AnyView::to_owned),
        Callback::Own => Ok(own.clone()),
        Callback::Fail => Err(failure()),
        Callback::ClearOwn => clear(&own),
        Callback::AppendToOwn => append(&own, args),
    };
    Function::from_packed(answer).map(Any::new)
}

/// The values of a program. Each has a bound on the number of nodes that a traversal of it visits,
/// which counts a shared value once per reference.
#[derive(Default)]
struct Values {
    values: Vec<(Any, u64)>,
    made: Vec<Any>,
}

const MAX_SIZE: u64 = 20_000;

impl Values {
    fn at(&self, number: u8) -> Option<&(Any, u64)> {
        self.values.get(usize::from(number) % self.values.len().max(1))
    }

    fn push(&mut self, value: Any, size: u64) {
        if matches!(value.type_index(), type_index::LIST | type_index::DICT) {
            self.made.push(value.clone());
        }
        self.values.push((value, size));
    }

    fn call(&mut self, number: u8, args: &[u8]) -> Result<()> {
        let args: Vec<_> = args.iter().take(5).filter_map(|arg| self.at(*arg)).collect();
        let size = args.iter().map(|(_, size)| size).sum::<u64>() + 1;
        if size > MAX_SIZE {
            return Ok(());
        }
        let (name, function) = &FUNCTIONS[usize::from(number) % FUNCTIONS.len()];
        // A deep copy of a list that contains itself may be unreachable for emptying: a leak of the
        // program, not of the library.
        if *name == "ffi.DeepCopy" && !self.made.is_empty() {
            return Ok(());
        }
        let args: Vec<_> = args.iter().map(|(value, _)| value.view()).collect();
        let answer = function.call_packed(&args)?;
        // A mutable value grows by the size of the argument.
        self.values
            .iter_mut()
            .for_each(|(_, before)| *before += if *before > 1 { size } else { 0 });
        self.push(answer, size + 1);
        Ok(())
    }

    fn run(&mut self, step: Step) -> Result<()> {
        let value = match step {
            Step::None => Any::NONE,
            Step::Bool(value) => value.into(),
            Step::Int(value) => i64::from(value).into(),
            Step::Long(value) => value.into(),
            Step::Float(value) => value.into(),
            Step::Text(text) => Any::new(String::new(&text)?),
            Step::Bytes(bytes) => Any::new(Bytes::new(&bytes)?),
            Step::DataType(code, bits, lanes) => Any::new(DLDataType { code, bits, lanes }),
            Step::Device(device_type, device_id) => {
                Any::new(DLDevice { device_type: device_type.into(), device_id: device_id.into() })
            }
            Step::Callback(kind, own) => {
                let own = self.at(own).map_or(Any::NONE, |(value, _)| value.clone());
                function(kind, own)?
            }
            Step::Forget(number) if !self.values.is_empty() => {
                self.values.swap_remove(usize::from(number) % self.values.len());
                return Ok(());
            }
            Step::Forget(_) => return Ok(()),
            Step::Call(number, args) => return self.call(number, &args),
        };
        self.push(value, 1);
        Ok(())
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        for value in &self.made {
            clear(value).expect("lists and dicts are emptied");
        }
    }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some(program) = super::arbitrary::<Vec<Step>>(input) else { return };
    static INSTALL: Once = Once::new();
    INSTALL.call_once(install);
    let mut values = Values::default();
    for step in program.into_iter().take(60) {
        if let Err(error) = values.run(step) {
            assert!(!error.kind_bytes().is_empty());
        }
    }
}
