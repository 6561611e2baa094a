//! The one hash that stands for content: ids of rows, keys of equal texts, keys and folders of caches.
//!
//! Two texts with one hash are taken for the same text, and nobody compares them again. Logs are written by strangers, so
//! the hash is a cryptographic one: BLAKE3, cut to its first 128 bits. Nobody can make two texts with one hash, or a text for
//! a given hash; `b3sum` prints the same digits. A key that is made of several parts gives each part its length, as
//! [`ContentHasher::add_part`] does, so that two keys never have the same bytes.
//!
//! `xxh3` is faster, and its collisions can be written down by hand. It is for draws with a seed, for checksums against
//! accidents, and for buckets whose texts are compared afterwards; `docs/engine.md` lists each such file, and
//! `tests/it/layers.rs` checks the list. Whole files, which people compare with `sha256sum`, are in `engine::fingerprint`.

/// Returns the hash of some content.
pub fn content_hash(content: impl AsRef<[u8]>) -> u128 {
    cut(blake3::hash(content.as_ref()))
}

/// A hash of content that comes in parts.
#[derive(Debug, Clone, Default)]
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    /// Adds bytes; the hash depends on all bytes together, not on where the calls cut them.
    pub fn add(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(bytes);
        self
    }

    /// Adds a part with its length, so that the end of one part is never read as the start of the next.
    pub fn add_part(&mut self, bytes: &[u8]) -> &mut Self {
        self.add(&(bytes.len() as u64).to_le_bytes()).add(bytes)
    }

    /// Returns the hash of what was added so far; more can be added.
    pub fn hash(&self) -> u128 {
        cut(self.0.finalize())
    }
}

/// Returns the first half of a hash. Its digits are those with which the whole hash is printed.
fn cut(hash: blake3::Hash) -> u128 {
    let (half, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
    u128::from_be_bytes(*half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_start_of_blake3() {
        // The test vector of the empty input, and what `printf abc | b3sum` prints.
        for (content, digits) in
            [("", "af1349b9f5f9a1a6a0404dea36dcc949"), ("abc", "6437b3ac38465133ffb63b75273a8db5")]
        {
            assert_eq!(format!("{:032x}", content_hash(content)), digits, "{content:?}");
        }
    }

    #[test]
    fn parts_have_the_hash_of_the_whole_and_lengths_keep_them_apart() {
        let mut in_parts = ContentHasher::default();
        in_parts.add(b"ring ").add(b"").add(b"the bell");
        assert_eq!(in_parts.hash(), content_hash("ring the bell"));
        let of_parts = |parts: &[&str]| {
            let mut hasher = ContentHasher::default();
            for part in parts {
                hasher.add_part(part.as_bytes());
            }
            hasher.hash()
        };
        assert_ne!(of_parts(&["ring", "the bell"]), of_parts(&["ringthe", " bell"]));
        assert_ne!(of_parts(&["", "a"]), of_parts(&["a", ""]));
    }
}
