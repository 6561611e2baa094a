//! What was seen of a text, so that nothing is gone over again and again.

use std::ops::Range;

use super::Kind;
use super::secret::JWT_PARTS;
use super::vendors::Letters;

/// The stretches that [`Seen`] keeps, after one for each alphabet of `vendors`.
pub(super) const BEHIND_WORD: usize = Letters::COUNT;
pub(super) const JWT_PART: usize = BEHIND_WORD + 1;
const N_STRETCHES: usize = JWT_PART + JWT_PARTS[1];

/// What was seen of a text, so that nothing is gone over again and again.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The last stretch of letters that a value may have, for each kind of stretch.
    stretches: [Range<usize>; N_STRETCHES],
    /// Where the last key and the last token end.
    pub(super) done: [usize; 2],
    /// Where the next end of a private key is, from the byte it was looked for.
    pub(super) next_end: Option<(usize, Option<usize>)>,
}

impl Seen {
    /// The end of the stretch from byte `from`.
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

    /// The end of the stretch of these letters from byte `from`.
    pub(super) fn end_of(&mut self, letters: Letters, bytes: &[u8], from: usize) -> usize {
        self.end(letters as usize, bytes, from, |byte| letters.has(byte))
    }

    /// A value of the kind that begins here is a part of the last one.
    pub(super) fn is_part(&self, kind: Kind, from: usize) -> bool {
        from < self.done[usize::from(kind == Kind::Token)]
    }
}
