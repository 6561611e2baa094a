//! What the decisions of people do to a stage of a run, and what the run says of them.

use std::collections::BTreeMap;

use super::cascade::{take_effect, take_effect_resolved};
use super::context::Context;
use super::contract::{Contract, Role};
use super::corpus::Corpus;
use super::decided::{Decided, entry_of};
use super::decision::Ruling;
use super::decisions::{APPLIED_NOTE, Account, NOT_APPLIED_NOTE, Note, RowNote, TO_CHECK_NOTE, noted};
use super::delta::{FATES, StageManifest, StoredFates};
use super::error::Result;
use super::fate::FateEvent;
use super::instance::StageInstance;
use super::layout::step_name;
use super::runner::{Running, StagePosition};
use super::step_keys::Drops;
use super::vocabulary::{RowIx, TableId};

/// The fates of rows, and the results of decisions on them.
pub(super) type FatesAndRulings = (Vec<FateEvent>, Vec<(RowIx, Ruling)>);

/// Applies the fates of a stage that no decision overrules, the drops of people, and the fates that follow. A drop of a row
/// that the stage holds takes effect here, any other drop after the last stage.
pub(super) fn decide(
    place: StagePosition<'_>,
    contract: &Contract,
    (fates, mut rulings): FatesAndRulings,
    (decided, held_drops): (&Decided<'_>, &Drops<'_>),
    corpus: &mut Corpus,
    cx: &Context<'_>,
) -> Result<FatesAndRulings> {
    let decisions = &cx.services.decisions;
    let (fates, kept) = decided.overrule(fates, contract.role);
    rulings.extend(kept);
    rulings.sort_by_key(|(row, ruling)| (*row, ruling.kind));
    let resolved = |fate| held_drops.resolved(fate);
    let fates = fates.into_iter().map(resolved).collect();
    let mut fates = take_effect_resolved(corpus, contract.table, fates, place.at, resolved)?;
    if place.is_last {
        let mut drops = Vec::new();
        for table in TableId::ALL {
            drops.extend(Decided::of(decisions, corpus, table)?.drops(corpus.table(table)));
        }
        if !drops.is_empty() {
            fates.extend(take_effect(corpus, TableId::DocLists, drops, place.at)?);
        }
    }
    Ok((fates, rulings))
}

/// Returns the notes of a stage's manifest on the decisions of people; the last stage accounts for all decisions.
pub(super) fn notes_of_decisions(
    running: Running<'_>,
    place: StagePosition<'_>,
    rulings: &[(RowIx, Ruling)],
    corpus: &Corpus,
) -> Result<Vec<(String, serde_json::Value)>> {
    let decisions = &*running.cx.services.decisions;
    let own = noted(place.stages[place.at].stage.contract().table, rulings);
    let mut notes: Vec<(String, serde_json::Value)> = Vec::new();
    if place.is_last && !decisions.all.is_empty() {
        let contract = |stage: &StageInstance| stage.stage.contract();
        let stages: Vec<(&str, Contract)> =
            place.stages.iter().map(|stage| (stage.id.as_str(), contract(stage))).collect();
        let earlier =
            place.before.iter().map(|manifest| manifest.notes.get(APPLIED_NOTE)).chain([own.as_ref()]);
        let earlier: Vec<RowNote> = earlier.flat_map(RowNote::all).collect();
        let entries = repeated_entries(running, place)?;
        let account = Account { decisions, corpus, noted: &earlier, stages: &stages, entries: &entries };
        let [(not_applied, left), (to_check, kept)] = account.notes()?;
        notes.push((not_applied.to_owned(), serde_json::json!(left)));
        if !kept.is_empty() {
            notes.push((to_check.to_owned(), serde_json::json!(kept)));
        }
    }
    notes.extend(own.map(|own| (APPLIED_NOTE.to_owned(), own)));
    Ok(notes)
}

/// Returns the entries of an earlier dataset for which the stages before this one dropped rows.
fn repeated_entries(
    running: Running<'_>,
    place: StagePosition<'_>,
) -> Result<BTreeMap<(TableId, RowIx), String>> {
    let mut entries = BTreeMap::new();
    for (at, instance) in place.stages[..place.at].iter().enumerate() {
        let role = instance.stage.contract().role;
        if role != Role::Baseline {
            continue;
        }
        // Its files may not be on disk yet.
        running.background_writer.wait()?;
        let step = running.folder.path().join("stages").join(step_name(at, &instance.id));
        for fate in StoredFates::open(&step.join(FATES))?.iter() {
            let detail: Option<serde_json::Value> = fate.detail.and_then(|it| serde_json::from_str(it).ok());
            let entry = entry_of(role, detail.as_ref());
            entries.extend(entry.map(|entry| ((fate.table, fate.row), entry.to_owned())));
        }
    }
    Ok(entries)
}

/// The maximum number of decisions that warnings name.
const MOST_DECISIONS_NAMED: usize = 20;

/// Warns of each decision that was not applied or that needs a check, whether its stage ran now or earlier.
pub(super) fn warn_of_decisions(manifests: &[StageManifest], cx: &Context<'_>) {
    let decisions = &cx.services.decisions;
    for message in decisions.undecided.iter().take(MOST_DECISIONS_NAMED) {
        cx.progress.warn(&format!("decisions {message}"));
    }
    if decisions.undecided.len() > MOST_DECISIONS_NAMED {
        let n_more = decisions.undecided.len() - MOST_DECISIONS_NAMED;
        cx.progress.warn(&format!("{n_more} more rows are filled in without a decision"));
    }
    let Some(last) = manifests.last() else {
        if !decisions.all.is_empty() {
            cx.progress.warn(&format!(
                "decisions {}: none is applied, because the pipeline has no stages",
                decisions.files.join(", ")
            ));
        }
        return;
    };
    for (note, what) in [(NOT_APPLIED_NOTE, "not applied"), (TO_CHECK_NOTE, "applied, but to be checked")] {
        let left = Note::all(last.notes.get(note));
        for Note { file, line, decision, why, .. } in left.iter().take(MOST_DECISIONS_NAMED) {
            let why = why.as_deref().unwrap_or_default();
            let word = decisions.word_at((*file, *line)).unwrap_or(decision.name());
            let name = decisions.name_of(*file, *line);
            cx.progress.warn(&format!("decisions {name}: {word} is {what}: {why}"));
        }
        if left.len() > MOST_DECISIONS_NAMED {
            cx.progress.warn(&format!("{} more decisions are {what}", left.len() - MOST_DECISIONS_NAMED));
        }
    }
}
