//! Reuses the memory of blocks.
//!
//! A log is read in blocks of some megabytes. The system clears every page that it allocates, which for a new block
//! costs more than reading into it. So a dropped block returns its memory to the reader, if it still reads.

use std::io::{self, ErrorKind, Read};
use std::ops::Deref;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A growing text. Reused memory is not cleared before it is read into.
#[derive(Debug, Default)]
pub(super) struct Text {
    bytes: Vec<u8>,
    /// The end of the text; the bytes after it are remains of an earlier text.
    end: usize,
}

impl Text {
    /// Reads up to `n_bytes` more bytes, or to the end. Returns their number. Bytes before an error are kept.
    pub(super) fn read_more(&mut self, from: &mut impl Read, n_bytes: usize) -> io::Result<usize> {
        let wanted = self.end + n_bytes;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        let before = self.end;
        while self.end < wanted {
            match from.read(&mut self.bytes[self.end..wanted]) {
                Ok(0) => break,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.end - before)
    }

    /// Moves the bytes after a position to another text.
    pub(super) fn move_end(&mut self, from: usize, into: &mut Self) {
        let moved = &self.bytes[from..self.end];
        let end = into.end + moved.len();
        if into.bytes.len() < end {
            into.bytes.resize(end, 0);
        }
        into.bytes[into.end..end].copy_from_slice(moved);
        into.end = end;
        self.end = from;
    }

    /// Removes the bytes after a position.
    pub(super) fn truncate(&mut self, end: usize) {
        self.end = end.min(self.end);
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.end]
    }
}

/// A pool of reusable memory.
#[derive(Debug)]
pub(super) struct Pool {
    home: Sender<Vec<u8>>,
    used: Receiver<Vec<u8>>,
    /// The initial capacity of a text in bytes.
    room: usize,
}

impl Pool {
    pub(super) fn new(room: usize) -> Self {
        let (home, used) = channel();
        Self { home, used, room }
    }

    /// Returns an empty text, in returned memory if there is some.
    pub(super) fn take(&self) -> Text {
        // The system provides cleared memory, and allocates a page only when it is used.
        Text { bytes: self.used.try_recv().unwrap_or_else(|_| vec![0; self.room]), end: 0 }
    }

    /// Returns a text that returns its memory to the pool when it is dropped.
    pub(super) fn lend(&self, text: Text) -> Lent {
        Lent { text, home: Some(self.home.clone()) }
    }
}

/// Read-only bytes whose memory is reused.
#[derive(Debug)]
pub struct Lent {
    text: Text,
    home: Option<Sender<Vec<u8>>>,
}

/// Returns bytes without a pool.
impl From<Vec<u8>> for Lent {
    fn from(bytes: Vec<u8>) -> Self {
        Self { text: Text { end: bytes.len(), bytes }, home: None }
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            // The reader may have ended; then the memory is not needed.
            let _ = home.send(std::mem::take(&mut self.text.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes at a time, with interruptions, and then fails.
    struct Failing<'t>(&'t [u8], bool);

    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.0.is_empty() {
                return Err(ErrorKind::InvalidData.into());
            }
            let (now, rest) = self.0.split_at(into.len().min(2).min(self.0.len()));
            into[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn bytes_before_an_error_are_kept_and_the_end_can_be_moved() {
        let mut text = Text::default();
        let error = text.read_more(&mut Failing(b"one two", false), 64).unwrap_err();
        assert_eq!((error.kind(), &text[..]), (ErrorKind::InvalidData, &b"one two"[..]));
        let mut next = Text { bytes: b"old".to_vec(), end: 0 };
        text.move_end(4, &mut next);
        assert_eq!((&text[..], &next[..]), (&b"one "[..], &b"two"[..]));
        next.truncate(1);
        next.read_more(&mut &b"oken"[..], 64).unwrap();
        assert_eq!(&next[..], b"token");
    }

    #[test]
    fn memory_is_returned_empty_and_may_outlive_its_pool() {
        let pool = Pool::new(16);
        let mut text = pool.take();
        assert_eq!(text.read_more(&mut &b"first block"[..], 64).unwrap(), 11);
        let lent = pool.lend(text);
        assert_eq!(&lent[..], b"first block");
        let place = lent.as_ptr();
        drop(lent);
        let mut again = pool.take();
        assert!(again.is_empty() && again.as_ptr() == place);
        again.read_more(&mut &b"second"[..], 3).unwrap();
        let lent = pool.lend(again);
        drop(pool);
        assert_eq!(&lent[..], b"sec");
    }
}
