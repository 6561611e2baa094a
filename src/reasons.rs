//! The reasons of all kinds in one list: of stages and of the runner, of people's decisions, of lines of a log, of sources, of the
//! rules of `check`, of conversions, of `fix`.
//!
//! Each crate keeps its own reasons, with the examples that its tests need. Reasons of stages come from the registry, because a
//! program may add kinds of its own.

use crate::docs::check::rules::Rule;
use crate::docs::convert;
use crate::engine::vocabulary::Reason;
use crate::ingest::reasons as lines;
use crate::instruct::{SourceReason, source_reasons};
use crate::lint::rules;
use crate::stages::{Registry, StageKind};
use crate::text::suggestion::did_you_mean;

/// A reason, with what is known about it.
#[derive(Clone, Copy)]
pub(crate) enum KnownReason<'r> {
    /// Why a line of a log is no record.
    Line(&'static lines::Reason),
    /// Of a kind of stage; without one the runner gives it, or a decision by a person.
    Stage(Option<&'r StageKind>, &'static Reason),
    /// A rule that only `check` reports. Rules that stages report as well are [`Self::Stage`].
    Check(&'static Rule),
    /// What a conversion for another API changes or refuses.
    Conversion(&'static convert::Reason),
    /// Why a source makes no row of an item.
    Source(SourceReason),
    /// A code that only `fix` reports, and its sentence.
    Fix(&'static str, &'static str),
}

impl KnownReason<'_> {
    /// Returns the code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Line(reason) => reason.code,
            Self::Stage(_, reason) => reason.code,
            Self::Check(rule) => rule.code,
            Self::Conversion(reason) => reason.code,
            Self::Source(reason) => reason.code,
            Self::Fix(code, _) => code,
        }
    }

    /// Returns the meaning, in one sentence.
    pub(crate) fn sentence(&self) -> &'static str {
        match self {
            Self::Line(reason) => reason.sentence,
            Self::Stage(_, reason) => reason.sentence,
            Self::Check(rule) => rule.what(),
            Self::Conversion(reason) => reason.what,
            Self::Source(reason) => reason.sentence,
            Self::Fix(_, sentence) => sentence,
        }
    }
}

/// Returns all reasons, each once.
pub(crate) fn all(registry: &Registry) -> Vec<KnownReason<'_>> {
    let of_stages = registry.reasons();
    let is_of_a_stage = |code: &str| of_stages.iter().any(|(_, reason)| reason.code == code);
    let mut all: Vec<KnownReason<'_>> = lines::REASONS.iter().map(KnownReason::Line).collect();
    all.extend(of_stages.iter().map(|&(kind, reason)| KnownReason::Stage(kind, reason)));
    all.extend(rules::all().filter(|rule| !is_of_a_stage(rule.code)).map(KnownReason::Check));
    all.extend(convert::REASONS.map(KnownReason::Conversion));
    all.extend(source_reasons().into_iter().map(KnownReason::Source));
    all.extend(crate::fix::REASONS.map(|(code, sentence)| KnownReason::Fix(code, sentence)));
    all
}

/// Returns the message that a code is none of these reasons.
pub(crate) fn unknown(code: &str, known: impl IntoIterator<Item = &'static str>) -> String {
    let meant = did_you_mean(code, known);
    format!("unknown reason \"{code}\"\nhint: {meant}`callsieve explain` lists all codes")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_have_the_form_topic_slash_fault() {
        let registry = Registry::standard();
        let all = all(&registry);
        let distinct: BTreeSet<&str> = all.iter().map(KnownReason::code).collect();
        assert_eq!(distinct.len(), all.len(), "a code is used twice");
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        for code in distinct {
            let is_code = code.split_once('/').is_some_and(|(topic, fault)| is_word(topic) && is_word(fault));
            assert!(is_code, "{code}");
        }
    }

    #[test]
    fn every_sentence_begins_with_a_capital_and_ends_with_a_full_stop() {
        for reason in all(&Registry::standard()) {
            let (code, sentence) = (reason.code(), reason.sentence());
            let begins = sentence.starts_with(|c: char| c.is_uppercase() || c == '`');
            assert!(begins && sentence.ends_with('.'), "{code}: {sentence}");
        }
    }

    #[test]
    fn a_rule_that_stages_report_is_listed_with_the_stage() {
        let registry = Registry::standard();
        let all = all(&registry);
        let of = |code: &str| all.iter().find(|reason| reason.code() == code).copied();
        assert!(rules::of("schema/type-synonym").is_some());
        assert!(matches!(of("schema/type-synonym"), Some(KnownReason::Stage(Some(_), _))));
        assert!(matches!(of("dataset/keys"), Some(KnownReason::Check(_))));
    }
}
