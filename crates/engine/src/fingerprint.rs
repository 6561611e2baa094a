//! The resume key: a hash of everything that the result of a stage depends on.
//!
//! Each part is written with its length and a label, so different lists of parts never have the same bytes. The hash is
//! SHA-256, because keys are compared across machines.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::{At, Error, Result};
use callsieve_system::side_file;

/// The builder of a resume key.
#[derive(Clone, Default)]
pub struct Fingerprint {
    hasher: Sha256,
    /// The added versions of the program's own parts, for people and tests.
    versions: Vec<String>,
}

impl Fingerprint {
    /// Starts a key that includes the key of the step before.
    pub fn after(upstream: &str) -> Self {
        let mut fingerprint = Self::default();
        fingerprint.add_part("upstream", upstream.as_bytes());
        fingerprint
    }

    /// Adds one labelled part.
    pub fn add_part(&mut self, label: &str, bytes: &[u8]) {
        for part in [label.as_bytes(), bytes] {
            self.hasher.update((part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
    }

    /// Adds the version of a piece of code. Raise the version when the results of the code change.
    pub fn version(&mut self, version: u32) {
        self.version_of("version", version);
    }

    /// Adds the version of a piece of code that several stages call.
    pub fn version_of(&mut self, label: &str, version: u32) {
        self.add_part(label, &version.to_le_bytes());
        self.versions.push(format!("{label} {version}"));
    }

    /// Adds a built-in part of the program that has no version number, such as a table of weights.
    pub fn built_in(&mut self, label: &str, content: &str) {
        self.add_part(label, content.as_bytes());
        let mut hash = hex(&Sha256::digest(content));
        hash.truncate(16);
        self.versions.push(format!("{label} {hash}"));
    }

    /// Returns what [`version`](Self::version), [`version_of`](Self::version_of) and [`built_in`](Self::built_in)
    /// added, in the order of the calls.
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// Adds a file by its content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        self.add_part("file", sha256_of(path)?.as_bytes());
        Ok(())
    }

    /// Returns the key, 64 hex digits.
    pub fn finish(self) -> String {
        hex(&self.hasher.finalize())
    }
}

/// Returns the SHA-256 of a file's bytes as 64 hex digits.
///
/// # Errors
/// The file cannot be read.
pub fn sha256_of(path: &Path) -> Result<String> {
    sha256_until(path, &|| false)
}

/// Returns [`sha256_of`] a file that may be large; it can be interrupted.
///
/// # Errors
/// The file cannot be read, or the user asked to stop.
pub fn sha256_until(path: &Path, cancelled: &dyn Fn() -> bool) -> Result<String> {
    let mut file = side_file::open(path).at("reading", path)?;
    sha256_of_rest(&mut file, path, cancelled)
}

/// Returns the SHA-256 of what is left to read of an open file, as [`sha256_until`].
///
/// # Errors
/// The file cannot be read, or the user asked to stop.
pub fn sha256_of_rest(file: &mut impl Read, path: &Path, cancelled: &dyn Fn() -> bool) -> Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        if cancelled() {
            return Err(Error::Interrupted);
        }
        match file.read(&mut buffer).at("reading", path)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Returns bytes as lower-case hex digits.
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
                fingerprint.add_part(label, bytes.as_bytes());
            }
            fingerprint.finish()
        };
        assert_ne!(key(&[("a", "bc")]), key(&[("ab", "c")]));
        assert_ne!(key(&[("a", "b"), ("c", "d")]), key(&[("a", "bcd")]));
        assert_eq!(key(&[("a", "b")]), key(&[("a", "b")]));
    }
}
