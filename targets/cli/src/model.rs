//! The command `ferrite model`: runs the program in `targets/boards/model`, which compiles a model by TVM in Python.

use crate::quickstart::Outcome;
use crate::quickstart::layout::Layout;
use std::process::Command;

/// Runs the program with these arguments. `PYTHON` names the interpreter that has TVM.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let layout = Layout::find()?;
    let program = layout.root().join("targets/boards/model");
    layout.require(&program.join("__main__.py"))?;
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let status = Command::new(&python).arg(program).args(arguments).status();
    let name = python.to_string_lossy();
    match status {
        Ok(status) if status.success() => Ok(()),
        // The program has said why.
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => {
            Err(format!("cannot run `{name}`: {error}. Install Python 3.10 or later, or name it by PYTHON"))
        }
    }
}
