//! Drops queries that ask nothing: blanks, test words, one repeated key.
//!
//! Only a single user message is judged: a short "yes" within a conversation is an answer, not
//! spam. Queries that have nothing to do with the functions are not spam either; see
//! `judge_queries`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Settings;
use crate::cells::TypedCells as _;
use crate::columns::{MESSAGES, OUTCOME};
use crate::conversation::Role;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::text::noise::{is_mash, is_mashed};
use crate::text::normal::normalise_query;
use crate::text::small_talk::is_small_talk;

static EMPTY: Reason = Reason::policy("spam/empty", "The query contains only blanks and control characters.");
static NO_WORDS: Reason = Reason::policy("spam/no-words", "The query contains no letter and no digit.");
static REPEATED: Reason =
    Reason::policy("spam/repeated-character", "The query is a single repeated character.");
static MASH: Reason = Reason::policy("spam/keyboard-mash", "The query is random keystrokes.");
static TEST_WORD: Reason =
    Reason::policy("spam/test-word", "The query is a greeting or a word typed to test the system.");
static TOO_SHORT: Reason = Reason::policy("spam/too-short", "The query is too short to ask anything.");

/// Number of letters that a character which is a word or syllable by itself counts as.
const LETTERS_IN_AN_IDEOGRAPH: usize = 3;

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropSpam {
    /// Minimum number of letters and digits in a query; a Han, kana or Hangul character counts as three. Higher drops
    /// more.
    pub min_letters: usize,
    /// Queries to drop besides greetings, thanks and closings; case, surrounding blanks, commas and final punctuation are
    /// ignored.
    pub test_words: Vec<String>,
}

impl Default for DropSpam {
    fn default() -> Self {
        let words = [
            "asdf",
            "asdfasdf",
            "bar",
            "bye",
            "bye bye",
            "check",
            "foo",
            "foo bar",
            "goodbye",
            "hello",
            "hello world",
            "hello there",
            "hey",
            "hey there",
            "hi",
            "hi there",
            "ok",
            "ok thanks",
            "ping",
            "qwer",
            "qwerty",
            "test",
            "test 123",
            "test test",
            "testing",
            "thank you",
            "thank you bye",
            "thanks",
            "thanks a lot",
            "thanks bye",
            "yo",
        ];
        Self { min_letters: 4, test_words: words.map(str::to_owned).to_vec() }
    }
}

impl Settings for DropSpam {
    const NAME: &'static str = "drop-spam";
    const SUMMARY: &'static str = "Drops queries that ask nothing: blanks, test words, one repeated key.";
    const FUNNEL_LABEL: &'static str = "queries that ask something";
    fn examples() -> Vec<Example> {
        vec![
            Example::query(EMPTY.code, " \u{16}\n", "Water the ferns in bay 4."),
            Example::query(NO_WORDS.code, "...?!", "...water the ferns?!"),
            Example::query(REPEATED.code, "mmmmmmmmmmmmmmmm", "mmm, bring me tomato soup"),
            Example::query(MASH.code, "asdfasdf asdf", "saddles"),
            Example::query(TEST_WORD.code, "Hello?", "Hello, is bay 4 watered?"),
            Example::query(TOO_SHORT.code, "ede", "浇花"),
        ]
    }
}

impl RowStage for DropSpam {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Rows)
            .reads([MESSAGES])
            .reads_if_there([OUTCOME])
            .reasons([&EMPTY, &NO_WORDS, &REPEATED, &MASH, &TEST_WORD, &TOO_SHORT])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(7);
        Ok(())
    }

    fn has_equal_rows(&self) -> bool {
        true
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let messages = row.messages();
        if messages.iter().any(|message| matches!(message.role, Role::Assistant | Role::Tool)) {
            return Opinion::keep();
        }
        let mut users = messages.iter().filter(|message| message.role == Role::User);
        match (users.next(), users.next()) {
            (Some(query), None) => match self.fault(&query.content) {
                // "Good night" is a request where a call for it worked.
                Some((reason, _))
                    if (reason == &TEST_WORD || reason == &TOO_SHORT)
                        && row.text(OUTCOME) == Some("worked") =>
                {
                    Opinion::keep()
                }
                Some((reason, evidence)) => Opinion::drop(reason, evidence),
                None => Opinion::keep(),
            },
            _ => Opinion::keep(),
        }
    }
}

impl DropSpam {
    fn fault(&self, query: &str) -> Option<(&'static Reason, Evidence)> {
        if query.chars().all(|c| c.is_whitespace() || c.is_control()) {
            return Some((&EMPTY, Evidence::default()));
        }
        let mut letters = query.chars().filter(|c| c.is_alphanumeric());
        let Some(first) = letters.next() else { return Some((&NO_WORDS, Evidence::default())) };
        let (mut n_letters, mut is_one_letter, mut total_weight) = (1, true, weight(first));
        for letter in letters {
            n_letters += 1;
            is_one_letter &= letter == first;
            total_weight += weight(letter);
        }
        if n_letters > self.min_letters && is_one_letter {
            return Some((&REPEATED, Evidence::detail(json!({ "character": first }))));
        }
        let normal = normalise_query(query);
        if is_mash(&normal) || is_mashed(&normal) {
            return Some((&MASH, Evidence::detail(json!({ "query": normal }))));
        }
        if self.test_words.contains(&normal.replace(',', "")) || is_small_talk(query) {
            return Some((&TEST_WORD, Evidence::detail(json!({ "query": normal }))));
        }
        let evidence =
            || Evidence::detail(json!({ "letters": total_weight, "min_letters": self.min_letters }));
        (total_weight < self.min_letters).then(|| (&TOO_SHORT, evidence()))
    }
}

fn weight(c: char) -> usize {
    let is_ideograph = matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x323af);
    if is_ideograph { LETTERS_IN_AN_IDEOGRAPH } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::stage::Rows;
    use crate::fixture::judged;

    #[test]
    fn a_short_request_is_kept_where_a_call_for_it_worked() {
        let fate = |query: &str, outcome: &str| {
            let request = json!({"messages": [{"role": "user", "content": query}], "outcome": outcome});
            judged(&Rows(DropSpam::default()), &json!({"requests": [request]})).fate(0)
        };
        assert_eq!(fate("Good night", "worked"), None);
        assert_eq!(fate("PTO", "worked"), None);
        assert_eq!(fate("PTO", "failed"), Some(TOO_SHORT.code));
        // No call makes sense of these.
        assert_eq!(fate("mmmmmmmmmm", "worked"), Some(REPEATED.code));
    }
}
