//! The keys of steps: a step is taken over from an earlier run if it has the key that it would have now.
//!
//! A key covers whatever the result of a step depends on: the keys of the steps before it, its settings, the content of its files, and
//! the decisions of people on rows that it holds.

use std::path::Path;

use super::context::Context;
use super::corpus::Corpus;
use super::decided::Decided;
use super::decision::{self, Decision, DecisionKind};
use super::delta::{FATES, StageManifest, read_fates};
use super::error::{At as _, Result};
use super::fate::FateEvent;
use super::fingerprint::Fingerprint;
use super::forgotten::Forgotten;
use super::instance::StageInstance;
use super::manifest::InputFile;
use super::runner::reasons_of;
use super::source::Source;
use super::vocabulary::{Action, ReasonKind, TableId};

/// The version of run folders. Raise it when the layout of the folder or the meaning of a delta changes: steps of other
/// versions are not reused.
const ENGINE_VERSION: u32 = 6;

/// What the keys of reading a source have in common.
fn of_source(source: &dyn Source, seed: u64) -> Result<Fingerprint> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.version(ENGINE_VERSION);
    fingerprint.add_part("seed", &seed.to_le_bytes());
    source.fingerprint(&mut fingerprint)?;
    Ok(fingerprint)
}

/// The key of a part of reading: as of the step, without the hashes of the inputs, which no part knows.
pub(super) fn key_of_reading(source: &dyn Source, forgotten: &Forgotten, seed: u64) -> Result<String> {
    let mut fingerprint = of_source(source, seed)?;
    for file in source.files() {
        let bytes = std::fs::metadata(file).at("reading", file)?.len();
        fingerprint.add_part("bytes", &bytes.to_le_bytes());
    }
    forgotten.fingerprint(&mut fingerprint);
    Ok(fingerprint.finish())
}

/// The key of reading a source with these inputs.
pub(super) fn ingest_key(
    source: &dyn Source,
    inputs: &[InputFile],
    forgotten: &Forgotten,
    seed: u64,
) -> Result<String> {
    let mut fingerprint = of_source(source, seed)?;
    for input in inputs {
        fingerprint.add_part("input", input.sha256.as_bytes());
    }
    forgotten.fingerprint(&mut fingerprint);
    Ok(fingerprint.finish())
}

/// The key of a stage after a step with the key `upstream`, before it is known which rows it holds.
pub(super) fn stage_key(
    instance: &StageInstance,
    upstream: &str,
    is_last: bool,
    cx: &Context<'_>,
) -> Result<String> {
    let mut fingerprint = Fingerprint::after(upstream);
    fingerprint.add_part("kind", instance.kind.as_bytes());
    fingerprint.add_part("id", instance.id.as_bytes());
    fingerprint.add_part("settings", instance.settings.to_string().as_bytes());
    fingerprint.add_part("seed", &cx.seed.to_le_bytes());
    instance.stage.fingerprint(&mut fingerprint)?;
    cx.services.decisions.fingerprint(&instance.stage.contract().decisions, is_last, &mut fingerprint);
    Ok(fingerprint.finish())
}

/// The drops of people by the tables that they name rows of, before a stage; `None` where nobody drops a row.
pub(super) struct Drops<'d>(Option<[Decided<'d>; 2]>);

impl<'d> Drops<'d> {
    /// Finds the rows in the tables before a stage.
    pub(super) fn of(decisions: &'d decision::Decisions, corpus: &Corpus) -> Result<Self> {
        if decisions.all.iter().all(|decision| decision.kind != DecisionKind::Drop) {
            return Ok(Self(None));
        }
        let [one, other] = TableId::ALL.map(|table| Decided::of(decisions, corpus, table));
        Ok(Self(Some([one?, other?])))
    }

    fn on(&self, table: TableId) -> Option<&Decided<'d>> {
        let at = TableId::ALL.iter().position(|known| *known == table)?;
        self.0.as_ref()?.get(at)
    }

    /// Drops a row that a stage holds and a person drops.
    pub(super) fn resolved(&self, fate: FateEvent) -> FateEvent {
        match self.on(fate.table) {
            Some(decided) => decided.drop_of_held(fate),
            None => fate,
        }
    }

    /// The key of a stage with these fates. Drops are in the keys of the stages that would hold their rows, and of no
    /// other stage, so a drop of any other row runs only the last stage again.
    pub(super) fn key(&self, key: &str, fates: &[FateEvent]) -> String {
        let is_held =
            |fate: &&FateEvent| fate.action == Action::Hold || fate.reason == DecisionKind::Drop.reason();
        let on_row = |fate: &FateEvent| self.on(fate.table)?.on(fate.row, DecisionKind::Drop);
        let mut contents: Vec<String> =
            fates.iter().filter(is_held).filter_map(on_row).map(Decision::content).collect();
        if contents.is_empty() {
            return key.to_owned();
        }
        contents.sort_unstable();
        let mut fingerprint = Fingerprint::after(key);
        for content in &contents {
            fingerprint.add_part("drop of a held row", content.as_bytes());
        }
        fingerprint.finish()
    }
}

/// Returns the key of a step in which a service failed for some items. The step and those after it are then computed again by a
/// later run, unless the same items fail again.
pub(super) fn key_of_failed<const N: usize>(
    key: &str,
    what: &str,
    failed: impl Iterator<Item = [u8; N]>,
) -> String {
    let mut fingerprint = Fingerprint::after(key);
    for item in failed {
        fingerprint.add_part(what, &item);
    }
    fingerprint.finish()
}

/// The key of a step in which a service failed for the rows with a reason of faults.
pub(super) fn key_of_failed_rows(key: &str, fates: &[FateEvent]) -> String {
    let failed = fates.iter().filter(|fate| fate.reason.kind == ReasonKind::Fault);
    key_of_failed(key, "failed row", failed.map(|fate| fate.row.to_le_bytes()))
}

/// Whether the step in a folder has the key that it would have now; `is_settled` if rows for which a service failed do not count.
pub(super) fn has_key(
    folder: &Path,
    done: &StageManifest,
    key: &str,
    drops: &Drops<'_>,
    instance: &StageInstance,
    is_settled: bool,
) -> bool {
    if drops.0.is_none() && !is_settled {
        return done.key == key;
    }
    let Ok(fates) = read_fates(&folder.join(FATES), &reasons_of(&instance.stage.contract())) else {
        return false;
    };
    let key = drops.key(key, &fates);
    if is_settled { key_of_failed_rows(&key, &fates) == done.key } else { key == done.key }
}
