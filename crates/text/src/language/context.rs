//! Decides the language of a text that leaves several open, by the texts around it.
//!
//! The nearest texts are asked first: earlier messages of the conversation, then other requests of the session, of the
//! user, and of the doc list, then the descriptions of the docs. They choose among the languages that the words and letters
//! of the text leave open, never another one. A text of names, numbers and codes leaves all open; only the earlier messages
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
    /// No word is known; the detector's unconfirmed guess.
    Guess(&'static str),
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

    fn has(&self, language: &str) -> bool {
        match self {
            Self::Decided(decided) => *decided == language,
            Self::Open(open) => open.iter().any(|(code, _)| *code == language),
            Self::Guess(guess) => *guess == language,
            Self::Names => false,
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
        Some(lang) if scores.n_plain > 0 => Candidates::Guess(code(lang)),
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

    /// Returns the language of at least `share` in a hundred of `least` texts or more.
    fn winner(&self, least: u32, share: u32) -> Option<&'static str> {
        let all: u32 = self.0.values().sum();
        let (language, count) = self.0.iter().max_by_key(|(_, count)| **count)?;
        (*count >= least && 100 * u64::from(*count) >= u64::from(share) * u64::from(all)).then_some(*language)
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

/// The least texts and the least share in a hundred of one language in a session, for a user, and for a doc list.
const SESSION: (u32, u32) = (1, 60);
const USER: (u32, u32) = (2, 75);
const DOCS: (u32, u32) = (3, 80);

/// Returns the language of a text in its context, or [`UNDETERMINED`].
pub fn resolve(candidates: &Candidates, context: &Context<'_>) -> &'static str {
    let earlier = || context.earlier_turns.iter().copied().filter(|language| *language != UNDETERMINED);
    match candidates {
        Candidates::Decided(language) => return language,
        Candidates::Names => return earlier().next().unwrap_or(UNDETERMINED),
        Candidates::Open(_) | Candidates::Guess(_) => {}
    }
    let voted = |votes: Option<&Votes>, (least, share): (u32, u32)| votes?.winner(least, share);
    let described = context.descriptions.filter(|language| !["en", UNDETERMINED].contains(language));
    let voters =
        [voted(context.session, SESSION), voted(context.user, USER), voted(context.docs, DOCS), described];
    earlier()
        .chain(voters.into_iter().flatten())
        .find(|language| candidates.has(language))
        .unwrap_or(UNDETERMINED)
}

#[cfg(test)]
mod tests;
