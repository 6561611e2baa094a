//! Appends a sentence to a description.

/// Characters after which a text needs no full stop before another sentence.
const ENDS: [char; 12] = ['.', '!', '?', ':', ';', ',', '…', '。', '！', '？', '；', '：'];

/// Returns the text with a sentence appended, after a full stop if the text needs one.
pub(in crate::fix) fn with_sentence(text: &str, sentence: &str) -> String {
    let text = text.trim_end();
    let ends = |text: &str| text.ends_with(ENDS);
    // A quoted sentence ends inside its quotes, a block of code ends with its fence.
    let quoted = text.trim_end_matches(['"', '\'', '”', '’', '»']);
    match text {
        "" => sentence.to_owned(),
        _ if ends(text) || ends(quoted) || text.ends_with("```") => format!("{text} {sentence}"),
        _ if text.ends_with(is_wide) => format!("{text}。 {sentence}"),
        _ => format!("{text}. {sentence}"),
    }
}

/// Returns true if a character belongs to a script with a wide full stop.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ff08}'..='\u{ff09}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sentences_are_separated_by_one_full_stop() {
        for (text, expected) in [
            ("", "Format: date."),
            ("  ", "Format: date."),
            ("The day", "The day. Format: date."),
            ("The day.", "The day. Format: date."),
            ("The day?\n", "The day? Format: date."),
            ("The day (of the week)", "The day (of the week). Format: date."),
            ("It says \"Noon.\"", "It says \"Noon.\" Format: date."),
            ("哪一天。", "哪一天。 Format: date."),
            ("哪一天", "哪一天。 Format: date."),
        ] {
            assert_eq!(with_sentence(text, "Format: date."), expected);
        }
    }
}
