//! Writes the seeds of the target `c_symbols` into a folder.
//!
//! usage: seeds FOLDER

use std::path::PathBuf;

fn main() -> Result<(), std::io::Error> {
    let folder: PathBuf = std::env::args().nth(1).expect("usage: seeds FOLDER").into();
    std::fs::create_dir_all(&folder)?;
    for (name, program) in ferrite_fuzz::seeds::all() {
        std::fs::write(folder.join(name), program.encode())?;
    }
    Ok(())
}
