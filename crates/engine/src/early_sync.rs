//! A large file that reaches the disk while it is written, so that the sync at its end has little left to wait for.

use std::fs::File;
use std::io::{self, Write};
use std::mem::take;
use std::thread::{JoinHandle, spawn};

/// Bytes that are written before they are synced.
const SYNCED_AT_ONCE: usize = 128 << 20;

/// A file that another thread syncs from time to time. What is written last is not synced.
#[derive(Debug)]
pub struct EarlySync {
    file: File,
    unsynced: usize,
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl EarlySync {
    /// Writes to a file.
    pub fn new(file: File) -> Self {
        Self { file, unsynced: 0, syncing: None }
    }

    /// Returns the error of the last sync; the system does not tell it a second time.
    fn joined(&mut self) -> io::Result<()> {
        match self.syncing.take().map(JoinHandle::join) {
            Some(Ok(synced)) => synced,
            Some(Err(_)) => Err(io::Error::other("the thread that syncs the file ended")),
            None => Ok(()),
        }
    }

    /// Begins a sync, unless an earlier one is still going on.
    fn sync(&mut self) -> io::Result<()> {
        if self.syncing.as_ref().is_some_and(|syncing| !syncing.is_finished()) {
            return Ok(());
        }
        self.joined()?;
        let file = self.file.try_clone()?;
        take(&mut self.unsynced);
        self.syncing = Some(spawn(move || file.sync_data()));
        Ok(())
    }
}

impl Write for EarlySync {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.file.write(bytes)?;
        self.unsynced += n_written;
        if self.unsynced >= SYNCED_AT_ONCE {
            self.sync()?;
        }
        Ok(n_written)
    }

    /// Waits for the sync that is going on.
    fn flush(&mut self) -> io::Result<()> {
        self.joined()?;
        self.file.flush()
    }
}

/// A thread that still syncs holds nothing but the file.
impl Drop for EarlySync {
    fn drop(&mut self) {
        // Whoever wants its error has flushed.
        let _ = self.joined();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_written_and_a_failed_sync_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let mut file = EarlySync::new(File::create(&path).unwrap());
        let piece = vec![7; SYNCED_AT_ONCE / 2 + 1];
        for _ in 0..3 {
            file.write_all(&piece).unwrap();
        }
        assert!(file.syncing.is_some());
        file.flush().unwrap();
        assert_eq!(path.metadata().unwrap().len(), 3 * piece.len() as u64);
        file.syncing = Some(spawn(|| Err(io::Error::other("no space"))));
        assert_eq!(file.flush().unwrap_err().to_string(), "no space");
    }
}
