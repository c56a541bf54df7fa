//! `ferrite call`: calls a function of a library with arguments of the command line, and prints its result.

mod argument;
mod npy;
#[allow(unsafe_code, reason = "new tensors are filled with bytes of any type")]
mod tensor;
mod value;

use ferrite::{Any, AnyView, Module};
use serde_json::json;

use crate::arguments::Call;
use crate::failure::{Failure, Outcome};
use crate::signature::Signature;

use argument::Argument;

/// Runs the command.
pub fn run(options: &Call) -> Outcome<()> {
    let library = &options.library;
    let path = library
        .canonicalize()
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", library.display())))?;
    let module = Module::load(&path)?;
    let name = ferrite::String::new(&options.function)?;
    let Some(function) = module.get_function(&name, true)? else {
        let why = format!(
            "{} has no function `{}`: `ferrite inspect` lists them",
            library.display(),
            options.function
        );
        return Err(Failure::usage(why));
    };
    let metadata = module.function_metadata(&name, true)?;
    let signature = metadata.and_then(|text| Signature::of_metadata(text.as_str()?));
    let arguments = parse(&options.arguments, signature.as_ref())?;
    let views: Vec<_> = arguments.iter().map(|argument| AnyView::from(&argument.value)).collect();
    let result = function.call_packed(&views)?;
    if options.json { print_json(&result, &arguments) } else { print(&result, &arguments) }
}

fn parse(texts: &[String], signature: Option<&Signature>) -> Outcome<Vec<Argument>> {
    let parse = |(index, text): (usize, &String)| {
        let expected = signature.and_then(|signature| signature.parameter(index));
        argument::parse(text, expected)
            .map_err(|failure| failure.within(format!("argument {index}, `{text}`")))
    };
    texts.iter().enumerate().map(parse).collect()
}

/// Returns the new tensors among the arguments, to which the function may have written, with their positions.
fn outputs(arguments: &[Argument]) -> impl Iterator<Item = (usize, &Any)> {
    let new = arguments.iter().enumerate().filter(|(_, argument)| argument.is_output);
    new.map(|(index, argument)| (index, &argument.value))
}

fn print(result: &Any, arguments: &[Argument]) -> Outcome<()> {
    let mut text = String::new();
    if outputs(arguments).next().is_none() || !AnyView::from(result).is_none() {
        text = value::text(result)? + "\n";
    }
    for (index, output) in outputs(arguments) {
        text.push_str(&format!("argument {index}: {}\n", value::text(output)?));
    }
    crate::print(&text)
}

fn print_json(result: &Any, arguments: &[Argument]) -> Outcome<()> {
    let outputs = outputs(arguments).map(|(index, output)| Ok((index.to_string(), value::json(output)?)));
    let outputs = outputs.collect::<Outcome<serde_json::Map<_, _>>>()?;
    crate::print_json(&json!({ "result": value::json(result)?, "outputs": outputs }))
}
