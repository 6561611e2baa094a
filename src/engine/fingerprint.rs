//! The resume key: a hash of everything a stage's answers depend on.
//!
//! Each part is written with its length and a label, so that two different lists of
//! parts never give the same bytes. SHA-256, because keys are compared across machines.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::{At, Result};

/// Collects the parts of a key.
#[derive(Clone, Default)]
pub struct Fingerprint {
    hasher: Sha256,
}

impl Fingerprint {
    /// Starts a key on top of the key of what came before.
    pub fn after(upstream: &str) -> Self {
        let mut fingerprint = Self::default();
        fingerprint.part("upstream", upstream.as_bytes());
        fingerprint
    }

    /// Adds one labelled part.
    pub fn part(&mut self, label: &str, bytes: &[u8]) {
        for part in [label.as_bytes(), bytes] {
            self.hasher.update((part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
    }

    /// Adds the version of a piece of code: raise it when its answers change.
    pub fn version(&mut self, version: u32) {
        self.part("version", &version.to_le_bytes());
    }

    /// Adds a file by its content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        self.part("file", sha256_of(path)?.as_bytes());
        Ok(())
    }

    /// The key, 64 hex digits.
    pub fn finish(self) -> String {
        hex(&self.hasher.finalize())
    }
}

/// SHA-256 of a file's bytes, 64 hex digits.
///
/// # Errors
/// The file cannot be read.
pub fn sha256_of(path: &Path) -> Result<String> {
    let mut file = File::open(path).at("reading", path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).at("reading", path)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let key = |parts: &[(&str, &str)]| {
            let mut fingerprint = Fingerprint::default();
            for (label, bytes) in parts {
                fingerprint.part(label, bytes.as_bytes());
            }
            fingerprint.finish()
        };
        assert_ne!(key(&[("a", "bc")]), key(&[("ab", "c")]));
        assert_ne!(key(&[("a", "b"), ("c", "d")]), key(&[("a", "bcd")]));
        assert_eq!(key(&[("a", "b")]), key(&[("a", "b")]));
    }
}
