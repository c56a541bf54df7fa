//! Links what clients upload as objects: `.o`, `.a`, and `.tar` with objects.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ferrite::{Result, bail, error};
use flate2::bufread::MultiGzDecoder;

/// Beginning of compressed files.
const GZIP: [u8; 2] = [0x1F, 0x8B];
/// Maximum number of bytes of a compressed archive, unpacked.
const MOST_UNPACKED: u64 = 4 << 30;

/// Returns the path of a shared library for a file, which is linked if it is not one. Other files
/// are returned unchanged.
///
/// # Errors
/// RuntimeError with the linker's message, or with advice if there is no linker; OSError.
pub fn shared_library(file: &Path, linker: &Path) -> Result<PathBuf> {
    let kind = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    let inputs = match kind {
        "o" | "a" => vec![file.to_path_buf()],
        "tar" => unpack(file)
            .map_err(|reason| error!("OSError", "cannot unpack {}: {reason}", file_name(file)))?,
        _ => return Ok(file.into()),
    };
    if inputs.is_empty() {
        bail!(ValueError, "{} has no object files", file_name(file));
    }
    let mut output = file.as_os_str().to_owned();
    output.push(".so");
    let output = PathBuf::from(output);
    // A loaded library of this name stays as it is.
    let _ = fs::remove_file(&output);
    link(&inputs, &output, linker)?;
    Ok(output)
}

fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes the objects of an archive into a folder beside it, under numbers: names in the archive
/// decide nothing.
fn unpack(file: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = file.with_extension("tar.objects");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder)?;
    let mut objects = Vec::new();
    for entry in tar::Archive::new(content(file)?).entries()? {
        let mut entry = entry?;
        let extension = entry.path()?.extension().and_then(OsStr::to_str).map(String::from);
        let extension = extension.filter(|extension| matches!(extension.as_str(), "o" | "a"));
        let Some(extension) = extension.filter(|_| entry.header().entry_type().is_file()) else {
            continue;
        };
        let object = folder.join(format!("{}.{extension}", objects.len()));
        io::copy(&mut entry, &mut File::create_new(&object)?)?;
        objects.push(object);
    }
    Ok(objects)
}

/// Opens an archive, which TVM compresses by gzip.
fn content(file: &Path) -> io::Result<Box<dyn Read>> {
    let mut opened = BufReader::new(File::open(file)?);
    match opened.fill_buf()?.starts_with(&GZIP) {
        true => Ok(Box::new(MultiGzDecoder::new(opened).take(MOST_UNPACKED))),
        false => Ok(Box::new(opened)),
    }
}

fn link(inputs: &[PathBuf], output: &Path, linker: &Path) -> Result<()> {
    let mut command = Command::new(linker);
    command.args(["-shared", "-fPIC", "-o"]).arg(output);
    // Every object counts, as nothing refers to the members of an archive.
    let (objects, archives): (Vec<_>, Vec<_>) =
        inputs.iter().partition(|input| input.extension() != Some("a".as_ref()));
    command.args(objects);
    for archive in archives {
        whole(&mut command, archive);
    }
    let ran = command.stdin(Stdio::null()).output();
    let ran = ran.map_err(|reason| error!(RuntimeError, "{}", advice(linker, &reason)))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        bail!(RuntimeError, "{} failed, {}:\n{said}", linker.display(), ran.status);
    }
    Ok(())
}

/// Adds all members of an archive.
fn whole(command: &mut Command, archive: &Path) {
    if cfg!(target_vendor = "apple") {
        command.arg("-Wl,-all_load").arg(archive);
    } else {
        command.arg("-Wl,--whole-archive").arg(archive).arg("-Wl,--no-whole-archive");
    }
}

fn advice(linker: &Path, reason: &io::Error) -> String {
    format!(
        "objects cannot be linked on this device: {}: {reason}. Install a C compiler on it, name \
         one by --linker, or upload a shared library that the client linked: \
         export_library(\"lib.so\", fcompile=cross_compiler(\"{}-linux-gnu-gcc\"))",
        linker.display(),
        std::env::consts::ARCH
    )
}
