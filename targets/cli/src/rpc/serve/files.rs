//! Files of a session: names from the client, which stay inside of the session's folder.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrite::{Result, bail, error};

/// The folder of a session.
pub struct Files {
    folder: PathBuf,
    written: AtomicU64,
}

impl Files {
    /// Creates the files of a folder.
    pub fn new(folder: PathBuf) -> Files {
        Files { folder, written: AtomicU64::new(0) }
    }

    /// Borrows the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path for a name; the empty name is the folder.
    ///
    /// # Errors
    /// ValueError for absolute names, names that leave the folder or pass through a symbolic link,
    /// and names with zero bytes.
    pub fn path(&self, name: &[u8]) -> Result<PathBuf> {
        let Some(text) = std::str::from_utf8(name).ok().filter(|text| !text.contains('\0')) else {
            bail!(ValueError, "{:?} is no name of a file", String::from_utf8_lossy(name));
        };
        let mut path = self.folder.clone();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => continue,
                _ => bail!(ValueError, "{text:?} is not inside of the session's folder"),
            }
            if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
                bail!(ValueError, "{text:?} passes through a symbolic link");
            }
        }
        Ok(path)
    }

    /// Writes a file. An earlier file of the name stays as it is for those who have it open, such
    /// as a loaded library.
    ///
    /// # Errors
    /// Those of [`path`](Files::path); OSError.
    pub fn upload(&self, name: &[u8], content: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        let number = self.written.fetch_add(1, Relaxed);
        let new = self.folder.join(format!(".upload-{number}"));
        let written = fs::write(&new, content).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&new);
            failed("write", name, &error)
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Those of [`path`](Files::path); OSError.
    pub fn download(&self, name: &[u8]) -> Result<Vec<u8>> {
        fs::read(self.path(name)?).map_err(|error| failed("read", name, &error))
    }

    /// Removes a file or an empty folder. Does nothing if there is none, and for the empty name:
    /// tuners remove what they may not have written.
    ///
    /// # Errors
    /// Those of [`path`](Files::path); OSError.
    pub fn remove(&self, name: &[u8]) -> Result<()> {
        let path = self.path(name)?;
        if path == self.folder {
            return Ok(());
        }
        let removed = match path.is_dir() {
            true => fs::remove_dir(&path),
            false => fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(failed("remove", name, &error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the names in a folder, sorted, with commas between them.
    ///
    /// # Errors
    /// Those of [`path`](Files::path); OSError.
    pub fn list(&self, name: &[u8]) -> Result<String> {
        let entries =
            fs::read_dir(self.path(name)?).map_err(|error| failed("list", name, &error))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        Ok(names.join(","))
    }
}

fn failed(action: &str, name: &[u8], reason: &io::Error) -> ferrite::Error {
    error!("OSError", "cannot {action} {:?}: {reason}", String::from_utf8_lossy(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Scratch(Files);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder =
                std::env::temp_dir().join(format!("ferrite-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Scratch(Files::new(folder))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.folder());
        }
    }

    #[test]
    fn names_stay_inside_of_the_folder() {
        let Scratch(files) = &Scratch::new("names");
        symlink("/etc", files.folder().join("link")).unwrap();
        for name in ["../x", "/etc/passwd", "a/../../x", "..", "link/passwd", "link", "a\0b"] {
            for refused in [
                files.upload(name.as_bytes(), b"").err(),
                files.download(name.as_bytes()).err(),
                files.remove(name.as_bytes()).err(),
                files.list(name.as_bytes()).err(),
            ] {
                let kind = refused.map(|error| error.kind_bytes().to_vec());
                assert_eq!(kind, Some(b"ValueError".to_vec()), "{name}");
            }
        }
        assert!(files.path(b"\xFF").is_err());
        assert_eq!(files.path(b"./a/b").unwrap(), files.folder().join("a/b"));
    }

    #[test]
    fn files_are_written_read_listed_and_removed() {
        let Scratch(files) = &Scratch::new("files");
        files.upload(b"b", b"1\0").unwrap();
        files.upload(b"a", b"2").unwrap();
        files.upload(b"a", b"3").unwrap();
        assert_eq!(files.download(b"a").unwrap(), b"3");
        assert_eq!(files.list(b"").unwrap(), "a,b");
        for name in ["a", "a", "a.so", ""] {
            files.remove(name.as_bytes()).unwrap();
        }
        assert_eq!(files.list(b"").unwrap(), "b");
        assert!(files.upload(b"no/folder", b"").is_err() && files.download(b"a").is_err());
    }
}
