//! Shortens texts for display.

use std::borrow::Cow;

use super::figures::count;

/// Returns at most `max_chars` characters of a text; an ellipsis marks a shortened one.
pub fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The most characters of a line of a message, and of the parts that are kept of a longer one.
const LINE_CHARS: usize = 1_000;
const HEAD_CHARS: usize = 700;
const TAIL_CHARS: usize = 200;
/// The most characters of a message besides its hint.
const MESSAGE_CHARS: usize = 4_000;
/// How the line of a hint begins.
const HINT: &str = "hint: ";

/// Returns a message for people without the middle of lines that are too long, and without lines that are too many. What
/// is left out is counted. The hints at its end are kept.
///
/// Messages quote values, keys and paths of data, which can have megabytes.
pub fn capped(message: &str) -> Cow<'_, str> {
    if message.len() <= LINE_CHARS {
        return message.into();
    }
    let lines: Vec<Cow<'_, str>> = message.split('\n').map(capped_line).collect();
    let is_long = lines.iter().map(|line| line.chars().count()).sum::<usize>() > MESSAGE_CHARS;
    let is_cut = lines.iter().any(|line| matches!(line, Cow::Owned(_)));
    if !is_long {
        return if is_cut { lines.join("\n").into() } else { message.into() };
    }
    // The first lines that are no hints, as many as fit, and the first hint.
    let hint_at = lines.iter().position(|line| line.starts_with(HINT)).unwrap_or(lines.len());
    let mut left = MESSAGE_CHARS;
    let fits = |line: &&Cow<'_, str>| {
        left = left.saturating_sub(line.chars().count() + 1);
        left > 0
    };
    let n_shown = lines[..hint_at].iter().take_while(fits).count();
    let n_left_out = lines.len() - n_shown - usize::from(hint_at < lines.len());
    let mut shown: Vec<&str> = lines[..n_shown].iter().map(AsRef::as_ref).collect();
    let note = format!("… [{} more lines]", count(n_left_out as u64));
    if n_left_out > 0 {
        shown.push(&note);
    }
    shown.extend(lines.get(hint_at).map(AsRef::as_ref));
    shown.join("\n").into()
}

/// Returns a line without its middle if it is too long.
fn capped_line(line: &str) -> Cow<'_, str> {
    let n_chars = if line.len() <= LINE_CHARS { 0 } else { line.chars().count() };
    if n_chars <= LINE_CHARS {
        return line.into();
    }
    let at = |nth: usize| line.char_indices().nth(nth).map_or(line.len(), |(at, _)| at);
    let n_left_out = count((n_chars - HEAD_CHARS - TAIL_CHARS) as u64);
    let (head, tail) = (&line[..at(HEAD_CHARS)], &line[at(n_chars - TAIL_CHARS)..]);
    format!("{head}… [{n_left_out} more characters] …{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_megabytes_keeps_its_beginning_its_end_and_its_hint() {
        let value = "é".repeat(3_000_000);
        let message = format!("a.toml: found \"{value}\", expected a number\nhint: remove {value} there");
        let shown = capped(&message);
        let [what, hint] = shown.split('\n').collect::<Vec<_>>()[..] else { panic!("{shown}") };
        assert!(
            what.starts_with("a.toml: found \"ééé") && what.ends_with("é\", expected a number"),
            "{what}"
        );
        assert!(what.contains("… [2,999,135 more characters] …"), "{what}");
        assert!(hint.starts_with("hint: remove é") && hint.ends_with("é there"), "{hint}");
        assert!(shown.chars().count() < 2_000, "{}", shown.chars().count());
    }

    #[test]
    fn a_message_of_too_many_lines_keeps_the_first_ones_and_its_hint() {
        let lines: Vec<String> = (0..100_000).map(|n| format!("line {n} is wrong")).collect();
        let message = format!("{}\nhint: correct them\nhint: or not", lines.join("\n"));
        let shown = capped(&message);
        assert!(shown.starts_with("line 0 is wrong\nline 1 is wrong\n"), "{shown}");
        assert!(shown.ends_with(" more lines]\nhint: correct them"), "{shown}");
        assert!(shown.chars().count() < MESSAGE_CHARS + 100, "{}", shown.chars().count());
        let n_shown = shown.lines().count() - 2;
        assert!(
            shown.contains(&format!("… [{} more lines]", count(100_002 - n_shown as u64 - 1))),
            "{shown}"
        );
    }

    #[test]
    fn a_message_of_a_usual_length_is_unchanged() {
        let lines = ["decisions a.jsonl:1: found a number, expected a text"; 20].join("\n");
        for message in ["", "error: a", &lines, &"a".repeat(LINE_CHARS), &"é".repeat(LINE_CHARS)] {
            assert_eq!(capped(message), message);
        }
    }
}
