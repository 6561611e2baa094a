//! What the normal view leaves encoded: characters that are not shown, combining marks that make no letter, and escapes.
//!
//! Escapes are those of Python, JavaScript and HTML that the view lacks, among them codes of controls and of line ends, and the
//! sequences that colour text on a terminal. Codes of a backslash stay, because it would begin a new escape.

use std::ops::Range;

use memchr::memchr3_iter;
use unicode_normalization::UnicodeNormalization as _;

/// A part of a text, and what is shown for it.
pub(super) type Edit = (Range<usize>, String);

/// Finds what the normal view leaves encoded.
pub(super) fn decodings(text: &str) -> Vec<Edit> {
    let mut found = Vec::new();
    if text.is_ascii() && !has_hidden_control(text) {
        for at in memchr3_iter(b'\\', b'&', b'%', text.as_bytes()) {
            add(&mut found, decoded_ascii(text, at));
        }
        return found;
    }
    let mut characters = text.char_indices().peekable();
    let mut before = 0;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' | '&' | '%' => add(&mut found, decoded_ascii(text, at)),
            _ if is_invisible(c) => {
                let length = c.len_utf8() + sequence(c, &text[at + c.len_utf8()..]);
                add(&mut found, Some((at..at + length, String::new())));
            }
            _ if is_mark(c) => {
                let mut end = at + c.len_utf8();
                while let Some((at, mark)) = characters.next_if(|(_, next)| is_mark(*next)) {
                    end = at + mark.len_utf8();
                }
                add(&mut found, without_marks(text, before..end));
            }
            _ => {}
        }
        before = at;
    }
    found
}

/// Adds an edit that begins after the last one.
fn add(found: &mut Vec<Edit>, edit: Option<Edit>) {
    let is_next = |of: &Range<usize>| found.last().is_none_or(|(last, _)| last.end <= of.start);
    if let Some(edit) = edit.filter(|(of, _)| is_next(of)) {
        found.push(edit);
    }
}

fn decoded_ascii(text: &str, at: usize) -> Option<Edit> {
    let rest = &text[at..];
    let (length, written) = match rest.as_bytes()[0] {
        b'\\' if text[..at].ends_with('\\') => line_end(rest)?,
        b'\\' => coloured(rest).or_else(|| line_end(rest)).or_else(|| coded(rest))?,
        b'&' => entity(rest)?,
        _ => percent(rest)?,
    };
    Some((at..at + length, written))
}

/// Decodes `\n`, `\r` and `\t`.
fn line_end(rest: &str) -> Option<(usize, String)> {
    let written = match rest.as_bytes().get(1)? {
        b'n' | b'r' => "\n",
        b't' => " ",
        _ => return None,
    };
    Some((2, written.to_owned()))
}

/// How the sign that begins a sequence for a terminal is written in programs.
const WRITTEN_ESCAPES: [&str; 6] = ["\\x1b", "\\x1B", "\\u001b", "\\u001B", "\\033", "\\e"];
/// The most bytes of a sequence that colours text.
const MAX_COLOUR: usize = 64;
/// The most bytes of another sequence, such as the address of a link.
const MAX_SEQUENCE: usize = 2048;

/// Removes a written sequence of a colour: `\x1b[1;31m`.
fn coloured(rest: &str) -> Option<(usize, String)> {
    let escape = WRITTEN_ESCAPES.iter().find(|escape| rest.starts_with(**escape))?;
    let length = colour(rest[escape.len()..].strip_prefix('[')?)?;
    Some((escape.len() + 1 + length, String::new()))
}

/// Returns the length of a colour after `[`.
fn colour(rest: &str) -> Option<usize> {
    let is_parameter = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let length = rest.bytes().take(MAX_COLOUR).take_while(|byte| is_parameter(byte)).count();
    (rest.as_bytes().get(length) == Some(&b'm')).then_some(length + 1)
}

/// Returns the length of what belongs to a control character: a terminal shows nothing of it.
fn sequence(control: char, rest: &str) -> usize {
    let of_parameters = |rest: &str| {
        let bytes = || rest.bytes().take(MAX_COLOUR);
        let length = bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
        bytes().nth(length).filter(|end| (0x40..0x7f).contains(end)).map(|_| length + 1)
    };
    let of_text = |rest: &str| {
        let end = rest.char_indices().take(MAX_SEQUENCE).find(|(_, c)| matches!(c, '\u{7}' | '\u{1b}'))?;
        Some(end.0 + if rest[end.0..].starts_with("\u{1b}\\") { 2 } else { 1 })
    };
    let length = match (control, rest.as_bytes().first()) {
        ('\u{9b}', _) => colour(rest),
        ('\u{1b}', Some(b'[')) => of_parameters(&rest[1..]).map(|length| length + 1),
        ('\u{1b}', Some(b']')) => of_text(&rest[1..]).map(|length| length + 1),
        _ => None,
    };
    length.unwrap_or_default()
}

/// Decodes `\U00000043`, `\u{43}`, and the codes of controls and blanks, which the view leaves: `\u000a`, `\x07`.
fn coded(rest: &str) -> Option<(usize, String)> {
    let n_slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
    let (sign, digits) = rest[n_slashes..].split_at_checked(1)?;
    if let Some(digits) = digits.strip_prefix('{').filter(|_| sign == "u") {
        let length = digits.bytes().take(MAX_CODE + 1).position(|byte| byte == b'}')?;
        return Some((n_slashes + length + 3, shown(code(&digits[..length], 16)?)?));
    }
    let length = match sign {
        "U" => 8,
        "u" => 4,
        "x" => 2,
        _ => return None,
    };
    Some((n_slashes + 1 + length, shown(code(digits.get(..length)?, 16)?)?))
}

/// The most digits of a code.
const MAX_CODE: usize = 7;
/// The fewest digits of a code without a semicolon: `R&1` is none.
const MIN_CODE: usize = 2;

/// Decodes entities that the view lacks: other names, and codes of controls or without a semicolon.
fn entity(rest: &str) -> Option<(usize, String)> {
    if let Some(number) = rest.strip_prefix("&#") {
        let (digits, radix) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
        let n = digits.bytes().take(MAX_CODE).take_while(is_digit).count();
        let is_ended = digits.as_bytes().get(n) == Some(&b';');
        let c = code(&digits[..n], radix)?;
        let is_sure = is_ended || (n >= MIN_CODE && !c.is_control() && !c.is_whitespace());
        let length = rest.len() - digits.len() + n + usize::from(is_ended);
        return if is_sure { Some((length, shown(c)?)) } else { None };
    }
    let name = &rest.as_bytes()[1..];
    if let Some(length) = name.iter().take(MAX_ENTITY).position(|byte| *byte == b';') {
        let known = ENTITIES.iter().find(|(known, _)| known.as_bytes() == &name[..length]);
        if let Some((_, written)) = known {
            return Some((length + 2, (*written).to_owned()));
        }
    }
    let (known, written) = UNENDED.iter().find(|(known, _)| name.starts_with(known.as_bytes()))?;
    let is_ended = name.get(known.len()) == Some(&b';');
    // A parameter of an address may begin like the name of a sign.
    let is_sure = is_ended || !name.get(known.len()).is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'=');
    let is_sure = is_sure || matches!(*known, "nbsp" | "shy");
    is_sure.then(|| (known.len() + 1 + usize::from(is_ended), (*written).to_owned()))
}

/// Decodes letters outside ASCII, which are several bytes, each with its own sign, and blanks and controls.
fn percent(rest: &str) -> Option<(usize, String)> {
    let byte_at = |code: &[u8]| {
        let digits = std::str::from_utf8(code.strip_prefix(b"%")?).ok()?;
        if digits.starts_with('+') { None } else { u8::from_str_radix(digits, 16).ok() }
    };
    let codes = rest.as_bytes().chunks_exact(3);
    let codes: Vec<u8> = codes.map_while(byte_at).take_while(|byte| !byte.is_ascii()).collect();
    if codes.is_empty() {
        let c = char::from(byte_at(rest.as_bytes().get(..3)?)?);
        let is_known = matches!(c, '\0' | '\t' | '\n' | '\r' | '\u{7f}');
        return if is_known { Some((3, shown(c)?)) } else { None };
    }
    let valid = match std::str::from_utf8(&codes) {
        Ok(written) => written,
        Err(error) => std::str::from_utf8(&codes[..error.valid_up_to()]).ok()?,
    };
    (!valid.is_empty()).then(|| (3 * valid.len(), valid.to_owned()))
}

/// Returns the character with a code; codes that only Windows gives a meaning are read as browsers do.
fn code(digits: &str, radix: u32) -> Option<char> {
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    let of_windows = OF_WINDOWS.iter().find(|(known, _)| *known == code).map(|(_, c)| *c);
    of_windows.or_else(|| char::from_u32(code))
}

/// Returns what is shown for a decoded character; `None` if it stays encoded.
fn shown(c: char) -> Option<String> {
    match c {
        '\\' => None,
        '\n' | '\r' | '\u{85}' => Some("\n".to_owned()),
        c if c.is_whitespace() => Some(" ".to_owned()),
        c if is_invisible(c) => Some(String::new()),
        c => Some(c.to_string()),
    }
}

/// Codes of punctuation in the code page of Windows.
const OF_WINDOWS: [(u32, char); 8] =
    [(0x85, '…'), (0x91, '‘'), (0x92, '’'), (0x93, '“'), (0x94, '”'), (0x95, '•'), (0x96, '–'), (0x97, '—')];
/// Entities that browsers also read without a semicolon.
const UNENDED: [(&str, &str); 6] =
    [("nbsp", " "), ("shy", ""), ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\"")];
/// The most bytes of an entity's name with its semicolon.
const MAX_ENTITY: usize = 17;
/// Entities that end a word or stand inside one, besides those of the normal view.
const ENTITIES: [(&str, &str); 44] = [
    ("ApplyFunction", ""),
    ("InvisibleComma", ""),
    ("InvisibleTimes", ""),
    ("MediumSpace", " "),
    ("NewLine", "\n"),
    ("NoBreak", ""),
    ("NonBreakingSpace", " "),
    ("Tab", " "),
    ("ThinSpace", " "),
    ("VeryThinSpace", " "),
    ("af", ""),
    ("apos", "'"),
    ("ast", "*"),
    ("bull", "•"),
    ("comma", ","),
    ("deg", "°"),
    ("dollar", "$"),
    ("emsp", " "),
    ("emsp13", " "),
    ("emsp14", " "),
    ("ensp", " "),
    ("euro", "€"),
    ("excl", "!"),
    ("grave", "`"),
    ("hairsp", " "),
    ("hellip", "…"),
    ("ic", ""),
    ("it", ""),
    ("laquo", "«"),
    ("ldquo", "“"),
    ("lrm", ""),
    ("lsquo", "‘"),
    ("mdash", "—"),
    ("middot", "·"),
    ("ndash", "–"),
    ("numsp", " "),
    ("puncsp", " "),
    ("quest", "?"),
    ("raquo", "»"),
    ("rdquo", "”"),
    ("rlm", ""),
    ("rsquo", "’"),
    ("semi", ";"),
    ("thinsp", " "),
];

/// Whether a text has control characters of ASCII that are no white space.
pub(super) fn has_hidden_control(text: &str) -> bool {
    // Without an early end, so that many bytes are looked at together.
    text.bytes().fold(false, |found, byte| found | matches!(byte, 0..=8 | 0x0e..=0x1f | 0x7f))
}

/// Characters that are not shown, besides those of the normal view. Those of private use are shown.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}'
        | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Marks of no script: accents, and strokes and dots over anything. Vowels of Arabic, Thai and the scripts of India are none.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Removes the marks that make no letter with the one before them.
fn without_marks(text: &str, of: Range<usize>) -> Option<(Range<usize>, String)> {
    let composed: String = text[of.clone()].nfc().collect();
    let first = composed.chars().next().map_or(0, char::len_utf8);
    composed[first..].contains(is_mark).then(|| {
        let letter = composed.chars().take(1).filter(|c| !is_mark(*c));
        (of, letter.chain(composed[first..].chars().filter(|c| !is_mark(*c))).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> String {
        let (mut shown, mut done) = (String::new(), 0);
        for (of, written) in decodings(text) {
            shown += &text[done..of.start];
            shown += &written;
            done = of.end;
        }
        shown + &text[done..]
    }

    #[test]
    fn escapes_of_programs_and_pages_are_decoded() {
        for (written, expected) in [
            (r"\U00000043ould \u{43}ould \\U0001F600", "Could Could 😀"),
            (r"C\u0007o\x7fuld\u000ayou", "Could\nyou"),
            ("&#67ould &#x43;&#111uld &#146", "Could Could ’"),
            ("a&#10;b&#xA;c&#7;d&NewLine;e&lrm;f&ensp;é", "a\nb\ncd\nef é"),
            ("C&shyould&nbspyou &lt b &amp; c", "Could you < b & c"),
            ("a%0Ab%0dc%00d%C3%A9%C3", "a\nb\ncdé%C3"),
            ("\u{1b}[1;31mC\u{1b}[0mould \u{9b}4myou\u{1b}]8;;https://a.b\u{7} go\u{1b}c", "Could you goc"),
            (r"\x1b[31mC\033[0m\u001b[1mould\e[m", "Could"),
        ] {
            assert_eq!(decoded(written), expected, "{written:?}");
        }
    }

    #[test]
    fn characters_that_are_not_shown_are_removed_and_others_stay() {
        let hidden: String = (0..=0x9f)
            .filter_map(char::from_u32)
            .filter(|c| c.is_control() && !c.is_whitespace())
            .chain("\u{fff0}\u{fff8}\u{fffc}\u{1bca0}\u{1bca3}\u{fdd0}".chars())
            .collect();
        for c in hidden.chars() {
            assert_eq!(decoded(&format!("C{c}ould")), "Could", "{c:?}");
        }
        for text in [
            "a\tb\nc\r\u{b}\u{c}\u{85}",
            "\u{e000}\u{fffd}",
            "R&1 AT&T a&lt=1 &#1 &#;",
            r"\u{} \U0000",
            "5% %zz",
        ] {
            assert_eq!(decoded(text), text);
        }
    }
}
