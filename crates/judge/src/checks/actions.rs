//! Actions that an answer claims although no call succeeded.
//!
//! Read are "I have booked", "has been cancelled" about something of the user, "successfully added" and "all done", in English only. Which
//! function can do which action is not known: with any success in the path, nothing is reported, unless all calls of the last turn
//! failed. Claims of reading ("I have found") are deliberately absent, because a model may find something in its own words.

use std::ops::Range;

use super::mentions::lower;
use super::path::Path;
use super::{Finding, Level, Needs, Reason};

/// Actions on something outside of the conversation, which need a call; sorted.
const EFFECTS: &[&str] = &[
    "activated",
    "approved",
    "authenticated",
    "blocked",
    "booked",
    "canceled",
    "cancelled",
    "charged",
    "confirmed",
    "deactivated",
    "deleted",
    "deposited",
    "disabled",
    "dispatched",
    "emailed",
    "enabled",
    "enrolled",
    "logged",
    "notified",
    "opened",
    "ordered",
    "paid",
    "placed",
    "posted",
    "purchased",
    "recorded",
    "refunded",
    "registered",
    "reminded",
    "rescheduled",
    "reserved",
    "reset",
    "saved",
    "scheduled",
    "sent",
    "shipped",
    "subscribed",
    "transferred",
    "unlocked",
    "unsubscribed",
    "uploaded",
    "verified",
];
/// Actions that a model can also do to a text of the answer; sorted.
const EDITS: &[&str] = &[
    "added",
    "adjusted",
    "applied",
    "assigned",
    "changed",
    "closed",
    "completed",
    "created",
    "edited",
    "fixed",
    "initiated",
    "installed",
    "locked",
    "made",
    "modified",
    "moved",
    "played",
    "processed",
    "published",
    "removed",
    "renamed",
    "replaced",
    "set",
    "shared",
    "started",
    "stopped",
    "submitted",
    "turned",
    "updated",
];
/// Words that may be between a pronoun and its action.
const ADVERBS: [&str; 9] = ["successfully", "already", "just", "now", "also", "then", "gone", "ahead", "and"];
/// Words before a claim that is none.
const CONDITIONS: [&str; 12] =
    ["once", "after", "if", "when", "until", "before", "unless", "whether", "not", "never", "that", "which"];
/// Words that make a passive sentence one about the user.
const OWNERS: [&str; 5] = ["your", "yours", "you", "successfully", "requested"];

/// States after an action: "is booked"; others describe a thing: "is closed".
const STATES: [&str; 7] =
    ["booked", "cancelled", "canceled", "confirmed", "reserved", "scheduled", "registered"];
/// Words that say of everything that it is done, and whether that is plain.
const DONE: [(&[&str], bool); 7] = [
    (&["taken", "care", "of"], true),
    (&["all", "done"], true),
    (&["it's", "done"], true),
    (&["that's", "done"], true),
    (&["is", "done"], false),
    (&["all", "set"], false),
    (&["consider", "it", "done"], false),
];
/// Words before them of something that is still to be done.
const PLANS: [&str; 13] =
    ["will", "i'll", "we'll", "can", "could", "would", "should", "to", "shall", "be", "let", "get", "need"];
/// Words of a sentence about the past of the world.
const HISTORY: [&str; 7] = ["since", "by", "ago", "years", "many", "often", "century"];

/// A word of the answer in lower case, and its place.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

pub(super) fn findings(path: &Path) -> Vec<Finding> {
    let all_failed = path.all_failed_in_last_turn();
    let is_without_call = path.solution.needs == Needs::NoCall;
    if (path.offered.is_empty() || (path.has_success() && !all_failed)) && !is_without_call {
        return Vec::new();
    }
    let chars: Vec<char> = path.solution.answer.replace('\u{2019}', "'").chars().collect();
    let expected = if all_failed { "a call that succeeds in the last turn" } else { "a call that succeeds" };
    sentences(&chars)
        .iter()
        .filter_map(|sentence| {
            claim(sentence).or_else(|| claim_of_state(sentence).filter(|_| is_without_call))
        })
        .map(|(span, is_effect)| {
            let is_certain = is_effect || all_failed || path.solution.withheld.is_some();
            let level = if is_certain { Level::Certain } else { Level::Suspect };
            let evidence: String = chars[span.clone()].iter().collect();
            Finding::of(Reason::ClaimWithoutCall, level, evidence, expected).at(span)
        })
        .collect()
}

/// Titles before a full stop that does not end a sentence.
const TITLES: [&str; 6] = ["dr", "mr", "mrs", "ms", "prof", "st"];
/// Words that begin a question, in lower case.
const QUESTIONS: [&str; 16] = [
    "anything", "are", "can", "could", "did", "do", "does", "how", "is", "may", "shall", "should", "what",
    "when", "which", "would",
];

/// Returns whether a sentence ends at a place.
fn is_end(chars: &[char], at: usize, words: &[Word]) -> bool {
    let is_title =
        words.last().is_some_and(|word| word.span.end == at && TITLES.contains(&word.text.as_str()));
    matches!(chars[at], '!' | '\n' | ';' | ':') || (chars[at] == '.' && !is_title)
}

/// Returns the words before the question at the end of a sentence: "It has been sent, can I help you more?"
fn before_question(chars: &[char], mut words: Vec<Word>) -> Vec<Word> {
    let begins = |at: &usize| {
        let gap = at.checked_sub(1).map(|before| words[before].span.end..words[*at].span.start);
        let is_clause = gap.is_some_and(|gap| chars[gap].contains(&','));
        is_clause && QUESTIONS.contains(&words[*at].text.as_str())
    };
    let start = (0..words.len()).rev().find(begins).unwrap_or(0);
    words.truncate(start);
    words
}

/// Returns the words of each sentence without questions.
pub(super) fn sentences(chars: &[char]) -> Vec<Vec<Word>> {
    let (mut sentences, mut words) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < chars.len() {
        let end = at + chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '\'').count();
        if end > at {
            words.push(Word { text: lower(&chars[at..end]), span: at..end });
        } else if chars[at] == '?' {
            sentences.push(before_question(chars, std::mem::take(&mut words)));
        } else if is_end(chars, at, &words) {
            sentences.push(std::mem::take(&mut words));
        }
        at = end.max(at + 1);
    }
    sentences.push(words);
    sentences
}

/// Returns the place of the first claim of a sentence, and whether it is plain that the assistant claims an effect outside.
pub(super) fn claim(words: &[Word]) -> Option<(Range<usize>, bool)> {
    claim_of_action(words).or_else(|| claim_of_all(words))
}

/// "Done", or words that say so of everything.
fn claim_of_all(words: &[Word]) -> Option<(Range<usize>, bool)> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    if words.len() == 1 && text(0) == "done" {
        return Some((words[0].span.clone(), false));
    }
    let is_there =
        |at: usize, phrase: &[&str]| phrase.iter().enumerate().all(|(nth, word)| text(at + nth) == *word);
    let (start, end, is_plain) = (0..words.len()).find_map(|at| {
        let (phrase, is_plain) = DONE.iter().find(|(phrase, _)| is_there(at, phrase))?;
        Some((at, at + phrase.len() - 1, *is_plain))
    })?;
    let before =
        |word: &Word| CONDITIONS.contains(&word.text.as_str()) || PLANS.contains(&word.text.as_str());
    (!words[..start].iter().any(before)).then(|| (words[start].span.start..words[end].span.end, is_plain))
}

/// Words of a sentence that denies.
const DENIALS: [&str; 14] = [
    "not",
    "no",
    "cannot",
    "can't",
    "couldn't",
    "unable",
    "isn't",
    "wasn't",
    "hasn't",
    "haven't",
    "don't",
    "never",
    "sorry",
    "unfortunately",
];

/// "It was moved", "is now scheduled", "Rescheduled": any word of an action in a sentence that denies, plans and asks nothing. Where no call
/// is right, nobody can know that something was done.
fn claim_of_state(words: &[Word]) -> Option<(Range<usize>, bool)> {
    let is_one_of = |list: &[&str], word: &Word| list.contains(&word.text.as_str());
    if words.iter().any(|word| is_one_of(&DENIALS, word) || is_one_of(&HISTORY, word)) {
        return None;
    }
    let is_action = |list: &[&str], word: &Word| list.binary_search(&word.text.as_str()).is_ok();
    let is_passive = |at: usize| {
        let before = at.checked_sub(1).map_or("", |before| words[before].text.as_str());
        at == 0
            || matches!(before, "is" | "are" | "was" | "were" | "been" | "now" | "already" | "successfully")
    };
    let at = (0..words.len())
        .find(|at| (is_action(EFFECTS, &words[*at]) || is_action(EDITS, &words[*at])) && is_passive(*at))?;
    let is_open = |word: &Word| is_one_of(&PLANS, word) || is_one_of(&CONDITIONS, word);
    (!words[..at].iter().any(is_open)).then(|| (words[at].span.clone(), is_action(EFFECTS, &words[at])))
}

/// The claim of an action.
fn claim_of_action(words: &[Word]) -> Option<(Range<usize>, bool)> {
    (0..words.len()).find_map(|action| {
        let is_effect = EFFECTS.binary_search(&words[action].text.as_str()).is_ok();
        if !is_effect && EDITS.binary_search(&words[action].text.as_str()).is_err() {
            return None;
        }
        let form = form_of(words, action)?;
        let is_condition = words[..form.start].iter().any(|word| CONDITIONS.contains(&word.text.as_str()));
        let span = words[form.start].span.start..words[form.end].span.end;
        (!is_condition).then_some((span, is_effect && form.is_plain))
    })
}

/// The words of a claim, from the first to the last, and whether the assistant is plainly who acted.
struct Form {
    start: usize,
    end: usize,
    is_plain: bool,
}

fn form_of(words: &[Word], action: usize) -> Option<Form> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let start = (0..action).rev().take_while(|at| ADVERBS.contains(&text(*at))).last().unwrap_or(action);
    let has = |adverb: &str| (start..action).any(|at| text(at) == adverb);
    let before = |n: usize| start.checked_sub(n).map_or("", text);
    let is_owned = words.iter().any(|word| OWNERS.contains(&word.text.as_str()));
    let form = |length: usize, is_plain: bool| Some(Form { start: start - length, end: action, is_plain });
    match (before(2), before(1)) {
        ("i" | "we", "have" | "had") => form(2, true),
        (_, "i" | "we" | "i've" | "we've") => form(1, true),
        ("has" | "have", "been") if is_owned => form(2, true),
        ("has" | "have", "been") if !is_history(words) => form(2, false),
        (_, "is" | "are" | "was" | "were") if has("successfully") || (has("now") && is_owned) => {
            form(1, true)
        }
        (_, "is" | "are") if is_owned && STATES.contains(&text(action)) => form(1, true),
        // "to be", "can be", "could not be successfully added".
        (_, "be" | "not" | "to" | "been") => None,
        _ if has("successfully") => form(0, true),
        (_, "is" | "are" | "was" | "were") => None,
        // "Alarm modified successfully."
        _ if text(action + 1) == "successfully" => {
            Some(Form { start: action, end: action + 1, is_plain: true })
        }
        _ => None,
    }
}

/// Returns whether a passive sentence has a time or an author, so that it is about the world: "closed since May".
fn is_history(words: &[Word]) -> bool {
    let is_year = |text: &str| text.len() == 4 && text.chars().all(|c| c.is_ascii_digit());
    words.iter().any(|word| HISTORY.contains(&word.text.as_str()) || is_year(&word.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answer: &str) -> Vec<(String, bool)> {
        let chars: Vec<char> = answer.chars().collect();
        let claims = sentences(&chars);
        let claims = claims.iter().filter_map(|sentence| claim(sentence));
        claims.map(|(span, is_effect)| (chars[span].iter().collect(), is_effect)).collect()
    }

    #[test]
    fn the_lists_are_sorted() {
        assert!(EFFECTS.is_sorted() && EDITS.is_sorted());
    }

    #[test]
    fn claims_of_actions_are_found() {
        for (answer, claim, is_effect) in [
            ("I have booked the boat.", "I have booked", true),
            ("Sure! I've just sent it", "I've just sent", true),
            ("Your reservation has been cancelled.", "has been cancelled", true),
            ("Reminder successfully added!", "successfully added", false),
            ("I went ahead and we have now updated the list", "we have now updated", false),
            ("Your cabin is now booked.", "is now booked", true),
            ("Your alarm is now deleted. More?", "is now deleted", true),
            (
                "Your visit to Dr. Lind has been cancelled, would you like another?",
                "has been cancelled",
                true,
            ),
            ("All done, I have taken care of everything.", "All done", true),
            ("It has been taken care of.", "taken care of", true),
            ("Done!", "Done", false),
            ("You're all set.", "all set", false),
            ("The alarm has been set.", "has been set", false),
            ("Visit canceled successfully", "canceled successfully", true),
        ] {
            assert_eq!(found(answer), [(claim.to_owned(), is_effect)], "{answer}");
        }
    }

    #[test]
    fn states_are_claims_where_no_call_is_right() {
        let found = |answer: &str| {
            let chars: Vec<char> = answer.chars().collect();
            sentences(&chars).iter().find_map(|sentence| claim_of_state(sentence))
        };
        for answer in [
            "Rescheduled.",
            "It was moved.",
            "The cabin is booked for April 2.",
            "Your order has already been rescheduled to April 2.",
            "Sure! It is now scheduled for April 2.",
        ] {
            assert!(found(answer).is_some(), "{answer}");
        }
        for answer in [
            "It was not moved.",
            "I'm sorry, orders are moved by the staff only.",
            "It can be moved by phone.",
            "Which order should be moved?",
            "If it was placed today, tell me.",
            "The pier was opened in 1902, years ago.",
        ] {
            assert_eq!(found(answer), None, "{answer}");
        }
    }

    #[test]
    fn conditions_questions_offers_and_facts_are_no_claims() {
        for answer in [
            "Once I have booked the boat, I will write.",
            "Have you been registered?",
            "The pier was opened in 1902.",
            "The bridge has been closed since May.",
            "I can book it. It could not be successfully added.",
            "I have not booked anything.",
            "I have found three boats.",
            "I will get this all done. It can be taken care of by staff. Is it all done?",
            "Once it's done, I will write.",
            "Would you like me to confirm that it has been sent to you?",
        ] {
            assert_eq!(found(answer), [], "{answer}");
        }
    }
}
