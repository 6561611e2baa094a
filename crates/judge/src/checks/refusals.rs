//! Answers that say that something cannot be done although it was, and answers that do not say so although nothing can do it.
//!
//! The words are English.

use super::actions::{Word, claim, sentences};
use super::path::{Exchange, Path};
use super::{Finding, Level, Needs, Reason};

/// Words by which somebody says that something was not done, in lower case. Several words stand next to each other.
const FAILURES: [&[&str]; 20] = [
    &["couldn't"],
    &["can't"],
    &["cannot"],
    &["unable"],
    &["failed"],
    &["could", "not"],
    &["can", "not"],
    &["not", "able"],
    &["wasn't", "able"],
    &["not", "possible"],
    &["didn't", "work"],
    &["did", "not", "work"],
    &["weren't", "able"],
    &["nothing", "was"],
    &["not", "been"],
    &["hasn't", "been"],
    &["haven't", "been"],
    &["refused"],
    &["don't", "have"],
    &["do", "not", "have"],
];
/// Words that say, without such a failure, that there is no way.
const LIMITS: [&str; 24] = [
    "no",
    "none",
    "nothing",
    "neither",
    "nobody",
    "not",
    "don't",
    "doesn't",
    "isn't",
    "only",
    "without",
    "lack",
    "missing",
    "unavailable",
    "aren't",
    "wasn't",
    "won't",
    "beyond",
    "outside",
    "out",
    "unfortunately",
    "sorry",
    "need",
    "please",
];
/// Words of an answer that explains nothing.
const MOST_BARE_WORDS: usize = 6;

pub(super) fn findings(path: &Path) -> Option<Finding> {
    let chars: Vec<char> = path.solution.answer.replace('\u{2019}', "'").chars().collect();
    let sentences = sentences(&chars);
    denied(path, &chars, &sentences).or_else(|| not_refused(path, &chars, &sentences))
}

/// The calls are known to have done what is asked, and the answer says that it failed. A claim of something done besides leaves open what
/// failed.
fn denied(path: &Path, chars: &[char], sentences: &[Vec<Word>]) -> Option<Finding> {
    let mut calls = path.exchanges.iter().filter(|exchange| exchange.is_last_turn).peekable();
    let is_done = path.solution.is_solved && !path.solution.changes_nothing && calls.peek().is_some();
    if !is_done || !calls.all(Exchange::succeeded) {
        return None;
    }
    let (words, at, n) = sentences.iter().find_map(|words| failure(words).map(|(at, n)| (words, at, n)))?;
    let level = if sentences.iter().any(|words| says_more(words)) { Level::Suspect } else { Level::Certain };
    let span = words[at].span.start..words[at + n - 1].span.end;
    let evidence: String = chars[span.clone()].iter().collect();
    Some(
        Finding::of(Reason::DeniesSuccess, level, evidence, "an answer that says what the calls did")
            .at(span),
    )
}

/// Beginnings of sentences beside a denial that say nothing of what was done, in lower case.
const BESIDE: [&str; 10] =
    ["please", "sorry", "let", "if", "try", "would", "you", "i'm", "i", "unfortunately"];
/// Words by which a denial is not all that a sentence says.
const TURNS: [&str; 5] = ["but", "now", "faster", "better", "successfully"];

/// Whether a sentence says something beside a denial, so that the answer may be sound.
fn says_more(words: &[Word]) -> bool {
    let Some(first) = words.first() else { return false };
    match failure(words) {
        Some(_) => words.iter().any(|word| TURNS.contains(&word.text.as_str())),
        None => claim(words).is_some() || !BESIDE.contains(&first.text.as_str()),
    }
}

/// Nothing on offer does what is asked, and the answer does not say so and asks nothing.
fn not_refused(path: &Path, chars: &[char], sentences: &[Vec<Word>]) -> Option<Finding> {
    let withheld = path.solution.withheld.filter(|_| path.solution.needs == Needs::NoCall)?;
    let is_limit = |words: &Vec<Word>| {
        words.iter().any(|word| LIMITS.contains(&word.text.as_str())) || failure(words).is_some()
    };
    let n_words: usize = sentences.iter().map(Vec::len).sum();
    if n_words == 0 || chars.contains(&'?') || sentences.iter().any(is_limit) {
        return None;
    }
    let level = if n_words <= MOST_BARE_WORDS { Level::Certain } else { Level::Suspect };
    let expected = format!("that nothing on offer does what {withheld} does, or a question");
    Some(Finding::of(Reason::NotRefused, level, "", &expected))
}

/// The first words of a sentence that say that something failed, and how many they are.
fn failure(words: &[Word]) -> Option<(usize, usize)> {
    let is_there = |at: usize, phrase: &[&str]| {
        phrase.iter().enumerate().all(|(nth, word)| words.get(at + nth).is_some_and(|it| it.text == *word))
    };
    (0..words.len())
        .find_map(|at| FAILURES.iter().find(|phrase| is_there(at, phrase)).map(|phrase| (at, phrase.len())))
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::{Call, Message, Role};
    use serde_json::json;

    use super::*;
    use crate::checks::Solution;

    fn denial(result: &str, answer: &str) -> Option<Level> {
        let call = Call { id: None, name: "move_desk".to_owned(), arguments: json!({}) };
        let messages = [
            Message::text(Role::User, "Move my desk."),
            Message { calls: vec![call], ..Message::text(Role::Assistant, "") },
            Message::text(Role::Tool, result),
        ];
        let solution = Solution {
            messages: &messages,
            answer,
            is_solved: true,
            needs: Needs::Call,
            ..Solution::default()
        };
        findings(&Path::of(&solution)).map(|finding| finding.level)
    }

    #[test]
    fn a_denial_after_success_is_a_fault_unless_something_else_was_done() {
        assert_eq!(denial("{}", "Sorry, I couldn’t move it."), Some(Level::Certain));
        assert_eq!(denial("{}", "It was not possible."), Some(Level::Certain));
        assert_eq!(denial("{}", "I have moved it. I could not find a cheaper mover."), Some(Level::Suspect));
        for answer in [
            "The desk is at B3. I wasn't able to check whether there is space left.",
            "The first try failed, but the desk is at B3 now.",
            "I could not have done it faster: it is at B3.",
        ] {
            assert_eq!(denial("{}", answer), Some(Level::Suspect), "{answer}");
        }
        for answer in [
            "Nothing was changed.",
            "The desk has not been moved. Please try again.",
            "I do not have a function to move desks.",
            "The system refused to move it.",
        ] {
            assert_eq!(denial("{}", answer), Some(Level::Certain), "{answer}");
        }
        assert_eq!(denial("{}", "I have moved it."), None);
        assert_eq!(denial("{}", "Could you not do so? It stands there."), None);
        assert_eq!(denial(r#"{"error": "locked"}"#, "I could not move it."), None);
    }

    #[test]
    fn an_answer_without_a_way_says_so_or_asks() {
        let found = |answer: &str, withheld: Option<&str>| {
            let solution = Solution { answer, withheld, needs: Needs::NoCall, ..Solution::default() };
            findings(&Path::of(&solution)).map(|finding| finding.level)
        };
        let withheld = Some("move_desk");
        assert_eq!(found("That depends.", withheld), Some(Level::Certain));
        assert_eq!(
            found("Desks are made of wood, metal or stone, and all of them are heavy.", withheld),
            Some(Level::Suspect)
        );
        for answer in [
            "I cannot move desks.",
            "There is no function for that.",
            "None of these does that.",
            "That is out of my reach.",
            "That's beyond what I can do.",
            "Details aren't there.",
            "Which desk?",
            "Only the staff moves desks.",
        ] {
            assert_eq!(found(answer, withheld), None, "{answer}");
        }
        assert_eq!(found("That depends.", None), None);
    }
}
