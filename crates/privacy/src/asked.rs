//! The question that a short message of the user answers: `What is your phone number?`, `0151 23984034`.
//!
//! The words that name the kind of a value may be in another turn than the value. They are in the last sentence of the
//! message before, or, if that only acknowledges (`ok`), in the user's own message before it.

/// Maximum length in bytes of an answer to a question, and of a question.
const MAX_ANSWER: usize = 160;
const MAX_QUESTION: usize = 240;
/// Maximum number of words of a message that only acknowledges.
const MAX_WORDS_OF_ACKNOWLEDGEMENT: usize = 3;

/// Returns the question before a message of the user. `before` holds the earlier messages in order: whether the user
/// wrote it, and its text.
pub(super) fn question_before(before: &[(bool, String)]) -> Option<String> {
    let (&(is_user, ref text), earlier) = before.split_last()?;
    if is_user {
        return last_sentence(text);
    }
    let acknowledges = text.split_whitespace().count() <= MAX_WORDS_OF_ACKNOWLEDGEMENT && !text.contains('?');
    match earlier.last() {
        Some((true, own)) if acknowledges => last_sentence(own),
        _ => last_sentence(text),
    }
}

/// Returns true if a text is short enough to be the answer to a question.
pub(super) fn is_answer(text: &str) -> bool {
    text.len() <= MAX_ANSWER
}

/// Returns the last sentence of a text without its closing punctuation.
fn last_sentence(text: &str) -> Option<String> {
    let is_end =
        |c: char| matches!(c, '.' | '?' | '!' | ':' | '。' | '？' | '！' | '：') || c.is_whitespace();
    let text = text.trim_end_matches(is_end);
    let start = text.char_indices().rev().find(|(at, c)| {
        let next = text[*at + c.len_utf8()..].chars().next();
        matches!(c, '\n' | '。' | '？' | '！')
            || (matches!(c, '.' | '?' | '!') && next.is_some_and(char::is_whitespace))
    });
    let sentence = start.map_or(text, |(at, c)| &text[at + c.len_utf8()..]).trim();
    let from = sentence.ceil_char_boundary(sentence.len().saturating_sub(MAX_QUESTION));
    (!sentence.is_empty()).then(|| sentence[from..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(turns: &[(bool, &str)]) -> Option<String> {
        let turns: Vec<(bool, String)> = turns.iter().map(|&(user, text)| (user, text.to_owned())).collect();
        question_before(&turns)
    }

    #[test]
    fn the_last_sentence_of_the_message_before_is_the_question() {
        let found = asked(&[(true, "Ring me"), (false, "Sure. What is your phone number?")]);
        assert_eq!(found.as_deref(), Some("What is your phone number"));
    }

    #[test]
    fn an_acknowledgement_is_skipped() {
        let found = asked(&[(true, "My password follows."), (false, "ok")]);
        assert_eq!(found.as_deref(), Some("My password follows"));
        assert_eq!(asked(&[(true, "Ring me"), (false, "Which number?")]).as_deref(), Some("Which number"));
    }
}
