//! Values in other spellings of a computer: base64, base32, hex, reversed, and their hashes (MD5, SHA-1, SHA-256, SHA-512).

use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use md5::Md5;
use regex::Regex;
use rustc_hash::FxHashMap;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use super::original::Original;
use super::words::{self, each_group};
use super::{LeafOf, OriginalPart, Piece, Search};
use crate::FoundValue;
use crate::walk::Place;
use callsieve_text::base32;

/// Minimum number of letters of an encoded text, and maximum number of bytes of a text that is read backwards.
const LEAST_ENCODED: usize = 8;
const MAX_REVERSED: usize = 512;
/// Bytes of the hashes.
const DIGEST_BYTES: [usize; 4] = [16, 20, 32, 64];

/// The alphabets of base64: the standard one, and that of URLs.
static STANDARD: LazyLock<GeneralPurpose> = LazyLock::new(|| engine(&alphabet::STANDARD));
static URL_SAFE: LazyLock<GeneralPurpose> = LazyLock::new(|| engine(&alphabet::URL_SAFE));

fn engine(alphabet: &alphabet::Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true)
        .with_encode_padding(false);
    GeneralPurpose::new(alphabet, config)
}

/// Returns the value that a secret encodes, and the encoded placeholder: `Basic` with a password of the question.
pub(super) fn whole<'i>(search: &'i Search<'_>, secret: &str) -> Option<(&'i Original, Piece)> {
    let (original, text, is_lost) = replaced(search, secret, &mut None)?;
    // The secret itself is in the question.
    (text != secret).then_some((original, Piece { text, is_lost }))
}

/// Returns the value that a text is backwards, and the placeholder backwards.
pub(super) fn reversed_whole<'i>(search: &'i Search<'_>, text: &str) -> Option<(&'i Original, Piece)> {
    let backwards = words::letters(&text.chars().rev().collect::<String>());
    let is_asked = |part: &OriginalPart<'_>| part.is_whole() && part.original.is_asked;
    let part = search.index.parts(&backwards).find(is_asked)?;
    let text = part.original.spelled.1.chars().rev().collect();
    Some((part.original, Piece { text, is_lost: false }))
}

/// Visits the encoded values of a text.
pub(super) fn find(search: &Search<'_>, leaf: &LeafOf, visit: &mut dyn FnMut(FoundValue)) {
    static ENCODED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{8,}={0,6}").expect("a valid pattern"));
    let mut digests = None;
    for word in ENCODED.find_iter(&leaf.text) {
        let digests = &mut digests;
        if let Some((original, text, is_lost)) = replaced(search, word.as_str(), digests) {
            let part = OriginalPart { original, from: 0, to: original.letters.len() };
            visit(part.found(word.start(), word.end(), Piece { text, is_lost }));
        }
    }
    if leaf.text.len() <= MAX_REVERSED && leaf.place != Place::Name {
        reversed(search, &leaf.text, visit);
    }
}

/// The hashes of the spellings of values, with those of their placeholders.
type Digests<'i> = FxHashMap<Vec<u8>, (&'i Original, Vec<u8>)>;

/// Returns an encoded word with placeholders for its values, and the first of these.
fn replaced<'i>(
    search: &'i Search<'_>,
    word: &str,
    digests: &mut Option<Digests<'i>>,
) -> Option<(&'i Original, String, bool)> {
    if let Some(bytes) = from_hex(word) {
        let (original, new, is_lost) = replaced_bytes(search, &bytes, digests)?;
        let is_upper = word.bytes().any(|byte| byte.is_ascii_uppercase());
        let hex = |byte: &u8| if is_upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        return Some((original, new.iter().map(hex).collect(), is_lost));
    }
    if let Some(bytes) = base32::decoded(word)
        && let Some((original, new, is_lost)) = replaced_bytes(search, &bytes, digests)
    {
        return Some((original, base32::encoded_like(word, &new), is_lost));
    }
    let bare = word.trim_end_matches('=');
    let engine = if bare.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let bytes = engine.decode(bare).ok()?;
    let (original, new, is_lost) = replaced_bytes(search, &bytes, digests)?;
    let mut text = engine.encode(new);
    // A word without a sign at its end shows only for some lengths that it has none.
    if bare.len() < word.len() || (bare.len().is_multiple_of(4) && !bare.contains(['-', '_'])) {
        text.extend(std::iter::repeat_n('=', (4 - text.len() % 4) % 4));
    }
    Some((original, text, is_lost))
}

fn replaced_bytes<'i>(
    search: &'i Search<'_>,
    bytes: &[u8],
    digests: &mut Option<Digests<'i>>,
) -> Option<(&'i Original, Vec<u8>, bool)> {
    if DIGEST_BYTES.contains(&bytes.len()) {
        let digests = digests.get_or_insert_with(|| digests_of(search.index.originals()));
        if let Some((original, new)) = digests.get(bytes) {
            return Some((original, new.clone(), false));
        }
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    let mut new = String::new();
    let mut done = 0;
    let mut first = None;
    let mut is_lost = false;
    search.parts_in(text, Place::Answer, &mut |start, end, part, piece| {
        new.push_str(&text[done..start]);
        new.push_str(&piece.text);
        done = end;
        is_lost |= piece.is_lost;
        first.get_or_insert(part.original);
    });
    first.map(|original| (original, (new + &text[done..]).into_bytes(), is_lost))
}

fn from_hex(word: &str) -> Option<Vec<u8>> {
    let is_hex = word.len().is_multiple_of(2)
        && word.len() >= LEAST_ENCODED
        && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = (0..word.len()).step_by(2);
    is_hex.then(|| pairs.map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap_or_default()).collect())
}

fn digests_of(originals: &[Original]) -> Digests<'_> {
    let mut digests = Digests::default();
    for original in originals {
        let (written, placeholder) = &original.spelled;
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let spellings = [
            (written.clone(), placeholder.clone()),
            (written.to_lowercase(), placeholder.to_lowercase()),
            (written.to_uppercase(), placeholder.to_uppercase()),
            (digits(written), digits(placeholder)),
            (format!("+{}", digits(written)), format!("+{}", digits(placeholder))),
        ];
        for (old, new) in spellings.into_iter().filter(|(old, _)| old.chars().any(char::is_alphanumeric)) {
            for (digest, of_placeholder) in hashes(&old).into_iter().zip(hashes(&new)) {
                digests.entry(digest).or_insert((original, of_placeholder));
            }
        }
    }
    digests
}

fn hashes(text: &str) -> [Vec<u8>; 4] {
    [
        Md5::digest(text).to_vec(),
        Sha1::digest(text).to_vec(),
        Sha256::digest(text).to_vec(),
        Sha512::digest(text).to_vec(),
    ]
}

/// Visits the values that are written backwards.
fn reversed(search: &Search<'_>, text: &str, visit: &mut dyn FnMut(FoundValue)) {
    let backwards: String = text.chars().rev().collect();
    let whole = |letters: &[char]| search.index.best_part(letters).filter(OriginalPart::is_whole);
    each_group(&backwards, &search.index, &|group| whole(&group.letters), &mut |group, part| {
        let piece = part.replacement(group, &backwards);
        let piece = Piece { text: piece.text.chars().rev().collect(), ..piece };
        visit(part.found(text.len() - group.end, text.len() - group.start, piece));
    });
}
