//! `ferrite call`: calls a function of a library with arguments of the command line, and prints its
//! result.

mod argument;
mod element;
mod minifloat;
mod nested;
mod npy;
#[allow(unsafe_code, reason = "tensors have bytes of any type, with any strides")]
mod tensor;
mod value;

use std::path::{Path, PathBuf};

use clap::Args;
use ferrite::{Any, AnyView, Function};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::inspect;
use crate::inspect::report::Content;
use crate::library;
use crate::loading;
use crate::output;
use crate::signature::Signature;

pub use argument::Argument;

/// Call a function of a library, and print its result
///
/// Loads the library and runs its code: call only what you trust.
#[derive(Args)]
#[command(after_help = FORMS)]
pub struct Call {
    /// Library
    pub library: PathBuf,
    /// Function
    pub function: String,
    /// Arguments of the function
    #[arg(allow_negative_numbers = true)]
    pub arguments: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Syntax of arguments, for the help text.
pub const FORMS: &str = "\
Arguments of the function:
  3  2.5  true  null  '\"text\"'  any JSON: numbers, booleans, None, strings
  '[1, 2]'  '[[1], [2]]'        tensor of float32; an Array or a Shape if
                                the signature has one
  '{\"key\": 1}'  '[\"a\", \"b\"]'    Map, Array
  'int64:[1, 2]'                tensor of any data type, such as bfloat16,
                                int4, float8_e4m3fn, float32x4 (lists of
                                four), complex64 (pairs); \"inf\", \"-inf\"
                                and \"nan\" are numbers
  'array:[1, 2]'                Array; shape:[1, 2] is a Shape
  'float32[2,3]'                new tensor of zeros, printed after the call
  @file.npy                     tensor of a file of NumPy
  bfloat16:@file.npy            the same with the bits of the file, for
                                types that NumPy lacks

Examples:
  ferrite call libkernels.so dot '[1,2]' '[3,4]'
  ferrite call libkernels.so add_one @x.npy 'float32[1024]'";

/// A function of a library with its arguments.
pub struct Prepared {
    /// Function.
    pub function: Function,
    /// Arguments.
    arguments: Vec<Argument>,
}

impl Prepared {
    /// Borrows the arguments for a call.
    pub fn views(&self) -> Vec<AnyView<'_>> {
        self.arguments.iter().map(|argument| AnyView::from(&argument.value)).collect()
    }
}

/// Runs the command.
pub fn run(options: &Call) -> Outcome<()> {
    let prepared = prepare(&options.library, &options.function, &options.arguments)?;
    let result = prepared.function.call_packed(&prepared.views())?;
    print_result(&result, &prepared.arguments, options.json)
}

/// Loads a library, finds a function in it, and creates the arguments.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) for a file that is not a shared library of this
/// machine, [`Kind::Usage`](crate::failure::Kind::Usage) for unknown functions and malformed
/// arguments; the error of loading it.
pub fn prepare(library: &Path, function: &str, arguments: &[String]) -> Outcome<Prepared> {
    library::require_loadable(library)?;
    let module = loading::load(library)?;
    let name = ferrite::String::new(function)?;
    let Some(found) = module.get_function(&name, true)? else {
        let what = match nearest_function(library, function)? {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`ferrite inspect` lists them".into(),
        };
        return Err(Failure::usage(format!(
            "{} has no function `{function}`: {what}",
            library.display()
        )));
    };
    let metadata = module.function_metadata(&name, true)?;
    let signature = metadata.and_then(|text| Signature::of_metadata(text.as_str()?));
    Ok(Prepared { function: found, arguments: parse(arguments, signature.as_ref())? })
}

/// Returns the function of a library whose name is nearest to `wanted`; `None` if no name is near.
///
/// # Errors
/// Errors of reading the file.
fn nearest_function(library: &Path, wanted: &str) -> Outcome<Option<String>> {
    let report = inspect::describe(library)?;
    let exported = report.functions.into_iter().map(|function| function.name);
    let modules = report.embedded.into_iter().flat_map(|embedded| embedded.modules);
    let of_models = modules.filter_map(|module| match module.content {
        Some(Content::Executable(executable)) => Some(executable.functions),
        _ => None,
    });
    let names = exported.chain(of_models.flatten().map(|function| function.name));
    Ok(nearest(wanted, names))
}

/// Returns the name that needs the fewest letters changed, at most a third of them.
fn nearest(wanted: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = (wanted.chars().count() / 3).max(1);
    let lowercase = wanted.to_lowercase();
    let distances =
        names.map(|name| (strsim::damerau_levenshtein(&lowercase, &name.to_lowercase()), name));
    distances.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// Parses the arguments of a function.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for malformed ones.
pub fn parse(texts: &[String], signature: Option<&Signature>) -> Outcome<Vec<Argument>> {
    let parse = |(index, text): (usize, &String)| {
        let expected = signature.and_then(|signature| signature.parameter(index));
        argument::parse(text, expected)
            .map_err(|failure| failure.within(format!("argument {index}, `{text}`")))
    };
    texts.iter().enumerate().map(parse).collect()
}

/// Returns the new tensors among the arguments, to which the function may have written, with their
/// positions.
fn outputs(arguments: &[Argument]) -> impl Iterator<Item = (usize, &Any)> {
    let new = arguments.iter().enumerate().filter(|(_, argument)| argument.is_output);
    new.map(|(index, argument)| (index, &argument.value))
}

/// Prints the result of a call, and the new tensors among its arguments.
///
/// # Errors
/// Errors of reading the values.
pub fn print_result(result: &Any, arguments: &[Argument], is_json: bool) -> Outcome<()> {
    if is_json { print_json(result, arguments) } else { print(result, arguments) }
}

fn print(result: &Any, arguments: &[Argument]) -> Outcome<()> {
    let mut text = String::new();
    if outputs(arguments).next().is_none() || !AnyView::from(result).is_none() {
        text = value::text(result)? + "\n";
    }
    for (index, output) in outputs(arguments) {
        text.push_str(&format!("argument {index}: {}\n", value::text(output)?));
    }
    output::print(&text)
}

fn print_json(result: &Any, arguments: &[Argument]) -> Outcome<()> {
    let outputs =
        outputs(arguments).map(|(index, output)| Ok((index.to_string(), value::json(output)?)));
    let outputs = outputs.collect::<Outcome<serde_json::Map<_, _>>>()?;
    output::print_json(&json!({ "result": value::json(result)?, "outputs": outputs }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_few_other_letters_is_near() {
        let near = |wanted: &str| {
            nearest(wanted, ["add_one", "dot", "vm_main"].map(String::from).into_iter())
        };
        for (wanted, name) in [
            ("dott", Some("dot")),
            ("dto", Some("dot")),
            ("Add_One", Some("add_one")),
            ("addone", Some("add_one")),
            ("main", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(near(wanted).as_deref(), name, "{wanted}");
        }
    }
}
