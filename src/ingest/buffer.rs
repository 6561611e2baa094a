//! Memory that goes back to where it was filled.
//!
//! A log is read in blocks of some megabytes. The system clears every page that it gives out,
//! which for a fresh block costs more than reading into it; so a block that is done with hands
//! its memory back to the reader, if that still reads.

use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Where used memory comes back.
#[derive(Debug)]
pub(super) struct Pool {
    home: Sender<Vec<u8>>,
    used: Receiver<Vec<u8>>,
}

impl Pool {
    pub(super) fn new() -> Self {
        let (home, used) = channel();
        Self { home, used }
    }

    /// Empty memory: some that came back, if any did.
    pub(super) fn take(&self) -> Vec<u8> {
        let mut bytes = self.used.try_recv().unwrap_or_default();
        bytes.clear();
        bytes
    }

    /// Bytes whose memory comes back once they are dropped.
    pub(super) fn lend(&self, bytes: Vec<u8>) -> Lent {
        Lent { bytes, home: Some(self.home.clone()) }
    }
}

/// Bytes that are read, and whose memory is used again.
#[derive(Debug)]
pub struct Lent {
    bytes: Vec<u8>,
    home: Option<Sender<Vec<u8>>>,
}

/// Bytes of nobody's pool.
impl From<Vec<u8>> for Lent {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, home: None }
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            // The reader may have ended; then nobody needs the memory.
            let _ = home.send(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_empty_and_may_outlive_its_pool() {
        let pool = Pool::new();
        let lent = pool.lend(b"first block".to_vec());
        assert_eq!(&lent[..5], b"first");
        let place = lent.as_ptr();
        drop(lent);
        let again = pool.take();
        assert!(again.is_empty() && again.as_ptr() == place);
        let lent = pool.lend(again);
        drop(pool);
        assert_eq!(lent.len(), 0);
    }
}
