//! The verdict in the reply of a judge model.
//!
//! A reply is a JSON object with a `verdict`, alone, in a code fence or between other text, or text whose last line with content is
//! `Verdict: WORD`. A reply that has neither, several different objects, or another word is unreadable: it is counted, and is never
//! a vote.

use callsieve_text::json_answer::object_in;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Key of the verdict in an object, and the word before it in a last line.
const KEY: &str = "verdict";

/// A verdict that has a fixed set of words.
pub trait Verdict: Copy + Sized + 'static {
    /// All words with their verdicts, in lower case with `-` between words. Several words may be one verdict.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the verdict of a word; case, spaces and `_` make no difference.
    fn of_word(word: &str) -> Option<Self> {
        let plain = |c: char| if c == ' ' || c == '_' { '-' } else { c };
        let word: String = word.trim().to_lowercase().chars().map(plain).collect();
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, verdict)| *verdict)
    }
}

/// Why a reply has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unreadable {
    /// Neither one object with `verdict`, nor a last line that begins with it.
    NoVerdict,
    /// There is a verdict, but its word is not one of the expected ones.
    UnknownWord,
}

/// Returns the verdict of a reply.
///
/// # Errors
/// Why the reply has none.
pub fn read<V: Verdict>(reply: &str) -> Result<V, Unreadable> {
    let object = object_in(reply, false).ok();
    let word = match object.as_ref().and_then(|object| object.get(KEY)) {
        Some(Value::String(word)) => Some(word.as_str()),
        Some(_) => return Err(Unreadable::UnknownWord),
        None => last_line(reply),
    };
    V::of_word(word.ok_or(Unreadable::NoVerdict)?).ok_or(Unreadable::UnknownWord)
}

/// Returns what follows `Verdict:` in the last line with content, without Markdown and a final full stop.
fn last_line(reply: &str) -> Option<&str> {
    let line = reply.lines().rev().map(trimmed).find(|line| !line.is_empty())?;
    let start = line.get(..KEY.len()).filter(|start| start.eq_ignore_ascii_case(KEY))?;
    let rest = line[start.len()..].trim_start_matches(['*', '_', ' ']);
    Some(trimmed(rest.strip_prefix(':')?))
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '.' | '#' | '"'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::passing::AnswerStatus::{self, Solved, Unsolved, Unsure};

    #[test]
    fn verdicts_are_read_from_objects_and_last_lines() {
        for (reply, expected) in [
            (r#"{"verdict": "solved"}"#, Ok(Solved)),
            ("Let me see.\n```json\n{\"reason\": \"x\", \"verdict\": \"Unsolved\"}\n```", Ok(Unsolved)),
            ("<think>solved?</think>{\"verdict\": \"unsure\"}", Ok(Unsure)),
            ("It has all parts.\n\n**Verdict:** Solved.\n", Ok(Solved)),
            ("VERDICT : x", Err(Unreadable::UnknownWord)),
            ("verdict: unsure", Ok(Unsure)),
            ("Verdict: solved\nBut I may be wrong", Err(Unreadable::NoVerdict)),
            (r#"{"verdict": "fine"}"#, Err(Unreadable::UnknownWord)),
            (r#"{"verdict": 1}"#, Err(Unreadable::UnknownWord)),
            (r#"{"verdict": "solved"} {"verdict": "unsure"}"#, Err(Unreadable::NoVerdict)),
            ("It is not solved", Err(Unreadable::NoVerdict)),
            ("", Err(Unreadable::NoVerdict)),
        ] {
            assert_eq!(read::<AnswerStatus>(reply), expected, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_panics(reply in "(verdict|Verdict:|\\{|\"|é|:|\n| )*\\PC{0,20}") {
            let _ = read::<AnswerStatus>(&reply);
        }
    }
}
