//! `ferrite rpc call`: calls a function of a server, and prints its result.

use clap::Args;

use crate::call::{self, FORMS};
use crate::failure::{Failure, Outcome};

use super::reach::Reach;
use super::transfer;

/// Call a function of a server, and print its result
///
/// NAME is a global function that the server offers or, with --module, a function of that file,
/// which runs on the server. Tensors are copied there and back.
#[derive(Args)]
#[command(after_help = FORMS, override_usage = USAGE)]
pub struct Call {
    #[command(flatten)]
    reach: Reach,
    /// Address of the server, unless there is a --tracker; function; its arguments
    #[arg(required = true, value_name = "ADDRESS|NAME|ARGUMENT", allow_negative_numbers = true)]
    words: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Forms of the command.
const USAGE: &str = "\
ferrite rpc call [OPTIONS] ADDRESS NAME [ARGUMENT]...
       ferrite rpc call [OPTIONS] --tracker ADDRESS --key KEY NAME [ARGUMENT]...";

/// Runs the command.
pub fn run(options: &Call) -> Outcome<()> {
    let (address, words) = options.reach.split(&options.words)?;
    let [name, arguments @ ..] = words else {
        return Err(Failure::usage("name the function"));
    };
    let mut arguments = call::parse(arguments, None)?;
    let reached = options.reach.open(address)?;
    let function = reached.function(name)?;
    let result = transfer::call(&function, &mut arguments, reached.device)?;
    call::print_result(&result, &arguments, options.json)
}
