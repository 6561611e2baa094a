//! Makes text from data safe to display: characters that control a terminal, change the direction of a line, or are
//! invisible are written as escapes.
//!
//! All printed text (`cli::console`) and every text of a page, a card or a drafted pipeline is escaped here. Escaped
//! are control characters (C0, DEL, C1), line and paragraph separators, and Unicode's default ignorables: bidirectional
//! controls, zero-width spaces, tags, fillers. Joiners and variation selectors are kept where they shape the letters or
//! emoji around them, as in Persian words and families of emoji; elsewhere they are invisible. A backslash is not
//! escaped, so the result is for display and cannot be converted back. reading, not for reading back.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The effect of a character on the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It is visible.
    Seen,
    /// Line feed or tab: layout in a text with several lines.
    Layout,
    /// It joins or separates the two letters around it.
    Joiner,
    /// It selects a form of the character before it.
    Selector,
    /// It is a control character or invisible.
    Hidden,
}

fn effect(c: char) -> Effect {
    match c {
        '\n' | '\t' => Effect::Layout,
        '\u{200c}' | '\u{200d}' => Effect::Joiner,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Effect::Selector
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Effect::Hidden,
        c if c.is_control() => Effect::Hidden,
        _ => Effect::Seen,
    }
}

/// Returns a text with several lines: line feeds and tabs are kept, other hidden characters become `\r`, `\x1b` or
/// `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, Effect::Layout, as_text)
}

/// Returns a text on one line: as [`visible`], with `\n` and `\t` for line feeds and tabs.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, Effect::Seen, as_text)
}

/// Returns JSON for a terminal: the same values, with `\u202e` for hidden characters. Line feeds between tokens are
/// kept.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escaped(json, Effect::Layout, |c, shown| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

/// Returns TOML or YAML with double-quoted strings: the same values, with `\u202e` or `\U000e0041` for hidden
/// characters.
pub fn visible_quoted(text: &str) -> Cow<'_, str> {
    escaped(text, Effect::Layout, |c, shown| {
        let code = u32::from(c);
        let _ = if code <= 0xffff { write!(shown, "\\u{code:04X}") } else { write!(shown, "\\U{code:08X}") };
    })
}

fn as_text(c: char, shown: &mut String) {
    let _ = match c {
        '\n' => write!(shown, "\\n"),
        '\t' => write!(shown, "\\t"),
        '\r' => write!(shown, "\\r"),
        c if c.is_ascii() => write!(shown, "\\x{:02x}", u32::from(c)),
        c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// Returns the text with an escape for each hidden character; `stays` is the effect that is kept in addition to visible
/// ones.
fn escaped(text: &str, stays: Effect, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || (byte == b'\n' && stays == Effect::Layout);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut copied = 0;
    // The base of joiners and selectors: the last visible character, and whether a form of it was already selected.
    let (mut last, mut is_chosen) = (None, false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let effect = effect(c);
        let is_kept = match effect {
            Effect::Joiner => {
                last.is_some_and(is_joined) && chars.peek().is_some_and(|&(_, next)| is_joined(next))
            }
            Effect::Selector => last.is_some_and(|last: char| !last.is_whitespace()) && !is_chosen,
            effect => effect == Effect::Seen || effect == stays,
        };
        (last, is_chosen) = match effect {
            Effect::Seen => (Some(c), false),
            Effect::Selector if is_kept => (last, true),
            _ => (None, false),
        };
        if !is_kept {
            shown += &text[copied..at];
            escape(c, &mut shown);
            copied = at + c.len_utf8();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown + &text[copied..])
}

/// Returns true if a joiner next to the character can have an effect, which it never has on ASCII.
fn is_joined(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && effect(c) == Effect::Seen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminal_controls_are_escaped() {
        assert_eq!(visible("\u{1b}]52;c;cm0=\u{7}\u{1b}[2K\r"), "\\x1b]52;c;cm0=\\x07\\x1b[2K\\r");
        assert_eq!(visible("\u{9b}31m\u{85}\u{8}\u{7f}\0"), "\\u{9b}31m\\u{85}\\x08\\x7f\\x00");
    }

    #[test]
    fn bidirectional_and_invisible_characters_are_escaped() {
        assert_eq!(visible("a\u{202e}b\u{2066}c\u{61c}\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{61c}\\u{200f}");
        assert_eq!(visible("a\u{2028}b\u{2029}\u{feff}"), "a\\u{2028}b\\u{2029}\\u{feff}");
        assert_eq!(visible("a\u{200b}b\u{ad}\u{e0041}"), "a\\u{200b}b\\u{ad}\\u{e0041}");
    }

    #[test]
    fn line_feeds_are_kept_or_escaped() {
        let text = "a\n\tb c";
        assert!(matches!(visible(text), Cow::Borrowed("a\n\tb c")));
        assert_eq!(visible_line(text), "a\\n\\tb c");
    }

    #[test]
    fn letters_of_all_scripts_are_unchanged() {
        for text in [
            "naïve Straße 東京 한국어 العربية עברית हिन्दी ไทย",
            // A verb with its prefix, in Persian; a half form, in Devanagari.
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            // A family, a heart on fire, a keycap, a flag.
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} 🇳🇴",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{}", visible(text));
        }
    }

    #[test]
    fn joiners_and_selectors_without_effect_are_escaped() {
        assert_eq!(visible("pay\u{200d}pal \u{200c}"), "pay\\u{200d}pal \\u{200c}");
        assert_eq!(visible("م\u{200c}\u{200c}خ"), "م\\u{200c}\\u{200c}خ");
        assert_eq!(visible("\u{fe0f}a\u{fe0f}\u{fe01}"), "\\u{fe0f}a\u{fe0f}\\u{fe01}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a\u{202e}": "\u{1b}\u{9b}\u{7f}\u{2028}\u{e0041} é\n"});
        let shown = visible_json(&value.to_string()).into_owned();
        assert_eq!(shown, r#"{"a\u202e":"\u001b\u009b\u007f\u2028\udb40\udc41 é\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn toml_keeps_its_value() {
        let shown = visible_quoted("a = \"\u{202e}\u{e0041}\"\n").into_owned();
        assert_eq!(shown, "a = \"\\u202E\\U000E0041\"\n");
        assert_eq!(toml::from_str::<toml::Table>(&shown).unwrap()["a"].as_str(), Some("\u{202e}\u{e0041}"));
    }

    /// Generates texts with many characters of the relevant kinds.
    fn hostile() -> impl Strategy<Value = String> {
        let picked = proptest::sample::select(vec![
            '\u{1b}',
            '\r',
            '\n',
            '\t',
            '\u{9b}',
            '\u{202e}',
            '\u{200c}',
            '\u{200d}',
            '\u{fe0f}',
            '\u{e0100}',
            '\u{e0041}',
            '\u{feff}',
            ' ',
            '\u{a0}',
            'a',
            'م',
            '👩',
            '\\',
            '"',
        ]);
        proptest::collection::vec(prop_oneof![3 => picked, 1 => any::<char>()], 0..24)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn escaped_text_needs_no_more_escapes(text in hostile()) {
            let shown = visible_line(&text).into_owned();
            prop_assert!(shown.chars().all(|c| !c.is_control() && effect(c) != Effect::Hidden), "{shown:?}");
            prop_assert_eq!(&visible_line(&shown), &shown);
            let quoted = visible_quoted(&text).into_owned();
            prop_assert_eq!(&visible(&quoted), &quoted);
        }

        #[test]
        fn json_is_the_same_json(text in hostile()) {
            let value = serde_json::json!({ text.clone(): [text] });
            let shown = visible_json(&value.to_string()).into_owned();
            prop_assert_eq!(&visible(&shown), &shown);
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
