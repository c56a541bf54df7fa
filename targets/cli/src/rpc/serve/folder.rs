//! Folders of the server and of its sessions, which only this user can open.
#![forbid(unsafe_code)]

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::fs::{FlockOperation, flock};

/// Beginning of the names of servers' folders.
const PREFIX: &str = "ferrite-rpc-";
/// File that a server has locked as long as it runs.
const LOCK: &str = ".lock";

/// The folder of a server, with those of its sessions. Removed when it is dropped.
pub struct ServerFolder {
    path: PathBuf,
    lock: File,
    sessions: AtomicU64,
}

/// The folder of a session. Removed when it is dropped.
pub struct SessionFolder(PathBuf);

impl ServerFolder {
    /// Creates the folder among the system's temporary files. Removes those of servers that were
    /// killed.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create() -> io::Result<ServerFolder> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        let mut attempt = 0;
        loop {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match try_create(&path) {
                Ok(lock) => return Ok(ServerFolder { path, lock, sessions: AtomicU64::new(0) }),
                // Of an earlier process with this number, or removed meanwhile as abandoned.
                Err(_) if attempt < 100 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Borrows the path, for the only session of a server.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder of a session.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn session(&self) -> io::Result<SessionFolder> {
        let path = self.path.join(self.sessions.fetch_add(1, Relaxed).to_string());
        private(&path)?;
        Ok(SessionFolder(path))
    }
}

impl SessionFolder {
    /// Borrows the path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn try_create(path: &Path) -> io::Result<File> {
    private(path)?;
    let name = path.join(LOCK);
    let lock = File::create_new(&name)?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    fs::metadata(&name)?;
    Ok(lock)
}

/// Removes the folders of this user's servers that have ended without doing so.
fn remove_abandoned(parent: &Path) {
    let own = rustix::process::getuid().as_raw();
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_own = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == own);
        if is_own && entry.file_name().to_string_lossy().starts_with(PREFIX) {
            remove_if_abandoned(&entry.path());
        }
    }
}

fn remove_if_abandoned(folder: &Path) {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let _ = fs::remove_dir_all(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_private_and_end_with_their_owner() {
        let server = ServerFolder::create().unwrap();
        let session = server.session().unwrap();
        assert_eq!(fs::metadata(session.path()).unwrap().mode() & 0o777, 0o700);
        assert_ne!(server.session().unwrap().path(), session.path());
        fs::write(session.path().join("file"), "x").unwrap();
        let (of_server, of_session) = (server.path.clone(), session.path().to_path_buf());
        drop(session);
        assert!(!of_session.exists() && of_server.exists());
        drop(server);
        assert!(!of_server.exists());
    }

    #[test]
    fn folders_of_killed_servers_are_removed() {
        let parent = std::env::temp_dir().join(format!("ferrite-abandoned-{}", std::process::id()));
        let (running, killed) = (parent.join("ferrite-rpc-1-0"), parent.join("ferrite-rpc-2-0"));
        fs::create_dir_all(&parent).unwrap();
        let lock = try_create(&running).unwrap();
        drop(try_create(&killed).unwrap());
        remove_abandoned(&parent);
        assert!(running.exists() && !killed.exists());
        drop(lock);
        fs::remove_dir_all(parent).unwrap();
    }
}
