//! Decides the language of a text that leaves several open, by the texts around it.
//!
//! The nearest texts are asked first: earlier messages of the conversation, then other requests of the session, of the
//! user, and of the doc list, then the descriptions of the docs. They choose among the languages that the words and letters
//! of the text leave open, never another one, and never against its letters; if no word is known, a clear majority
//! is needed, or the detector's guess. A text of names, numbers and codes leaves all open; only the earlier messages
//! of its own conversation decide it.

use std::collections::BTreeMap;

use super::{UNDETERMINED, code, is_latin, neighbours_of, signs, without_latin};

/// What a text alone says of its language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidates {
    /// It is in this language.
    Decided(&'static str),
    /// Its words are of several languages, with their scores.
    Open(Vec<(&'static str, i32)>),
    /// No word is known: the detector's unconfirmed guess, and the languages that write all of its letters.
    Unknown {
        /// The guess.
        guess: &'static str,
        /// The languages.
        fitting: Vec<&'static str>,
    },
    /// It has only names, numbers and codes, or nothing.
    Names,
}

impl Candidates {
    /// Returns what a text says.
    pub fn of(text: &str) -> Self {
        let decided = super::language(text);
        if decided == UNDETERMINED { open(text) } else { Self::Decided(decided) }
    }

    /// Returns the language that the text alone decides, or [`UNDETERMINED`].
    pub fn language(&self) -> &'static str {
        if let Self::Decided(language) = self { language } else { UNDETERMINED }
    }

    /// Returns true if the text leaves a language open.
    fn has(&self, language: &str) -> bool {
        match self {
            Self::Decided(decided) => *decided == language,
            Self::Open(open) => open.iter().any(|(code, _)| *code == language),
            Self::Unknown { fitting, .. } => fitting.contains(&language),
            Self::Names => false,
        }
    }

    /// Returns true if a sign of the text, or at least the detector's guess, is of the language.
    fn suggests(&self, language: &str) -> bool {
        match self {
            Self::Unknown { guess, .. } => *guess == language,
            _ => self.has(language),
        }
    }
}

/// Returns what an undecided text leaves open.
fn open(text: &str) -> Candidates {
    let (neighbours, text) = if is_latin(text) {
        (Some(&signs::LATIN), text.to_owned())
    } else {
        let other = without_latin(text);
        (whatlang::detect_script(&other).and_then(neighbours_of), other)
    };
    let Some(neighbours) = neighbours else { return Candidates::Names };
    let scores = neighbours.scores(&text);
    let open = neighbours.open(&scores);
    if !open.is_empty() {
        return Candidates::Open(open.into_iter().map(|(lang, score)| (code(lang), score)).collect());
    }
    match neighbours.guess(&scores, &text) {
        Some(lang) if scores.n_plain > 0 => {
            let fitting = neighbours.fitting(&scores).into_iter().map(code).collect();
            Candidates::Unknown { guess: code(lang), fitting }
        }
        _ => Candidates::Names,
    }
}

/// How many texts are in which language.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Votes(BTreeMap<&'static str, u32>);

impl Votes {
    /// Adds a text. One of undetermined language has no vote.
    pub fn add(&mut self, language: &'static str) {
        if language != UNDETERMINED {
            *self.0.entry(language).or_default() += 1;
        }
    }

    /// Returns the language of enough of the texts. No share is below a half, so there is one at most.
    fn winner(&self, least: Least) -> Option<&'static str> {
        let all: u64 = self.0.values().copied().map(u64::from).sum();
        let (language, count) = self.0.iter().max_by_key(|(_, count)| **count)?;
        let is_most = 100 * u64::from(*count) >= u64::from(least.share) * all;
        (*count >= least.texts && is_most).then_some(*language)
    }
}

/// The languages of the texts around a text.
#[derive(Debug, Default, Clone, Copy)]
pub struct Context<'a> {
    /// Those of the earlier messages of the user in the conversation, the latest first.
    pub earlier_turns: &'a [&'static str],
    /// Those of the other requests of the session.
    pub session: Option<&'a Votes>,
    /// Those of the other requests of the user.
    pub user: Option<&'a Votes>,
    /// Those of the other requests with the same doc list.
    pub docs: Option<&'a Votes>,
    /// That of the descriptions in the docs. English ones say nothing, as docs are in English for users of all languages.
    pub descriptions: Option<&'static str>,
}

/// The least texts, and the least share in a hundred of one language among them.
#[derive(Clone, Copy)]
struct Least {
    texts: u32,
    share: u32,
}

/// In the session, for the user, and for the doc list, if a sign or the detector's guess agrees.
const SESSION: Least = Least { texts: 1, share: 60 };
const USER: Least = Least { texts: 2, share: 75 };
const DOCS: Least = Least { texts: 3, share: 80 };
/// In the session or for the user, if nothing agrees.
const UNSUGGESTED: Least = Least { texts: 4, share: 90 };

/// Returns the language of a text in its context, or [`UNDETERMINED`].
pub fn resolve(candidates: &Candidates, context: &Context<'_>) -> &'static str {
    let mut earlier = context.earlier_turns.iter().copied().filter(|language| *language != UNDETERMINED);
    match candidates {
        Candidates::Decided(language) => return language,
        Candidates::Names => return earlier.next().unwrap_or(UNDETERMINED),
        Candidates::Open(_) | Candidates::Unknown { .. } => {}
    }
    let suggested =
        |votes: Option<&Votes>, least| votes?.winner(least).filter(|lang| candidates.suggests(lang));
    let likely = |votes: Option<&Votes>| votes?.winner(UNSUGGESTED).filter(|lang| candidates.has(lang));
    let described = || {
        let is_told = |lang: &&'static str| *lang != "en" && candidates.suggests(lang);
        context.descriptions.filter(is_told)
    };
    earlier
        .find(|language| candidates.has(language))
        .or_else(|| suggested(context.session, SESSION))
        .or_else(|| likely(context.session))
        .or_else(|| suggested(context.user, USER))
        .or_else(|| likely(context.user))
        .or_else(|| suggested(context.docs, DOCS))
        .or_else(described)
        .unwrap_or(UNDETERMINED)
}

#[cfg(test)]
mod tests;
