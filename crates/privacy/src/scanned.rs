//! Remembers the scanned parts of a text, so that no part is scanned repeatedly.

use std::ops::Range;

use super::PrivacyKind;
use super::secret::JWT_PARTS;
use super::vendors::Letters;

/// Index of the stretches after a word; the stretches for the alphabets of `vendors` precede it.
pub(super) const AFTER_WORD: usize = Letters::COUNT;
pub(super) const JWT_PART: usize = AFTER_WORD + 1;
const N_STRETCHES: usize = JWT_PART + JWT_PARTS[1];

/// The scanned parts of a text, so that no part is scanned repeatedly.
#[derive(Debug, Default)]
pub(super) struct ScannedParts {
    /// The last stretch of letters allowed in a value, for each kind of stretch.
    stretches: [Range<usize>; N_STRETCHES],
    /// The ends of the last key and the last token.
    pub(super) done: [usize; 2],
    /// The next end of a private key, and the byte from which it was searched.
    pub(super) next_end: Option<(usize, Option<usize>)>,
}

impl ScannedParts {
    /// Returns the end of the stretch from byte `from`.
    pub(super) fn end(
        &mut self,
        which: usize,
        bytes: &[u8],
        from: usize,
        is_part: impl Fn(u8) -> bool,
    ) -> usize {
        let stretch = &mut self.stretches[which];
        if !stretch.contains(&from) {
            let length = bytes[from..].iter().take_while(|&&byte| is_part(byte)).count();
            *stretch = from..from + length;
        }
        stretch.end
    }

    /// Returns the end of the stretch of these letters from byte `from`.
    pub(super) fn end_of(&mut self, letters: Letters, bytes: &[u8], from: usize) -> usize {
        self.end(letters as usize, bytes, from, |byte| letters.has(byte))
    }

    /// Returns true if a value of the kind that begins here is a part of the last one.
    pub(super) fn is_part(&self, kind: PrivacyKind, from: usize) -> bool {
        from < self.done[usize::from(kind == PrivacyKind::Token)]
    }
}
