//! The pipeline file: what to read, which stages in which order, what to write.
//!
//! Typed from end to end: a key nobody knows is refused with its line and the nearest
//! known key, a stage's contract is checked against what stands before it, and the file
//! as resolved (defaults, flags and all) goes into `run.json`. Nothing here reads data.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::engine::columns::{self, ColumnSpec};
use crate::engine::runner::{Sink, StageInstance};
use crate::export::sink::Export;
use crate::ingest::source::Ingest;
use crate::stages::drop_baseline_overlap::DropBaselineOverlap;
use crate::stages::sample::Sample;
use crate::stages::split::Split;
use crate::stages::{self, KINDS, REDACTION, Settings as _};

/// The pipeline that runs where none is named.
pub const LIVE: &str = include_str!("../pipelines/live.toml");
/// Its name in messages.
pub const LIVE_NAME: &str = "pipelines/live.toml (built in)";

const TOP_KEYS: &[&str] =
    &["name", "about", "seed", "max_fault_share", "ingest", "baseline", "stages", "export"];
/// Names of sections, which no stage may have as its id.
const SECTIONS: [&str; 3] = ["ingest", "baseline", "export"];
/// The kind of stage that `[baseline]` sets up.
const OVERLAP: &str = DropBaselineOverlap::NAME;
/// It is put ahead of the first of these where the pipeline does not have it.
const AFTER_OVERLAP: [&str; 2] = [Split::NAME, Sample::NAME];
const STAGE_KEYS: &[&str] = &["kind", "id"];

/// What is wrong with a pipeline.
#[derive(Debug, thiserror::Error)]
#[error("pipeline {file}{}: {what}{}", line.map(|line| format!(":{line}")).unwrap_or_default(), hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
pub struct PipelineError {
    file: String,
    line: Option<usize>,
    what: String,
    hint: Option<String>,
}

/// `--set id.key=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// A stage's id, `ingest`, `baseline`, `export`, or empty for the top of the file.
    pub id: String,
    /// The key; a table's key holds dots.
    pub key: String,
    /// TOML; a bare word is a string.
    pub value: String,
}

impl std::str::FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, value) =
            text.split_once('=').ok_or("expected id.key=value, e.g. merge-near-docs.threshold=0.7")?;
        let (id, key) = place.split_once('.').unwrap_or(("", place));
        Ok(Self { id: id.to_owned(), key: key.to_owned(), value: value.to_owned() })
    }
}

/// Settings at the top of the file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Top {
    /// The pipeline's name: letters, digits, - and _. Its run folder is called by it; the file's name where absent.
    name: String,
    /// What it is for, one sentence.
    about: String,
    /// Seeds every random choice. The same seed gives the same bytes.
    seed: u64,
    /// Share of rows from 0 to 1 that may leave because something went wrong; above it the exit code is 1.
    /// Higher is more forgiving.
    max_fault_share: f64,
}

impl Default for Top {
    fn default() -> Self {
        Self { name: String::new(), about: String::new(), seed: 1, max_fault_share: 0.25 }
    }
}

/// An earlier dataset that the new one must not repeat.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Baseline {
    /// A finished run's folder, or a folder of `BFCL_v4_live_<category>.json`.
    run: PathBuf,
    /// `drop` leaves out what its entries stand for; `freeze` also keeps these entries, byte for byte and with their
    /// ids, ahead of the new ones.
    mode: BaselineMode,
}

/// What becomes of the entries of the earlier dataset.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum BaselineMode {
    /// They are not written.
    #[default]
    Drop,
    /// They stand first in the new dataset.
    Freeze,
}

/// A pipeline, ready to run.
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// The seed.
    pub seed: u64,
    /// See the setting of that name.
    pub max_fault_share: f64,
    /// What is read.
    pub ingest: Ingest,
    /// The stages in order.
    pub stages: Vec<StageInstance>,
    /// What is written; `None` for a pipeline that only reports.
    pub export: Option<Export>,
    /// What a person should know before it runs.
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pipeline").field("resolved", &self.resolved()).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Reads a pipeline file, or the built-in live recipe.
    ///
    /// # Errors
    /// The file cannot be read, or anything in it is not as it must be.
    pub fn load(path: Option<&Path>, overrides: &[Override]) -> Result<Self, PipelineError> {
        let Some(path) = path else { return Self::parse(LIVE, LIVE_NAME, overrides) };
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| PipelineError {
            file: file.clone(),
            line: None,
            what: error.to_string(),
            hint: Some("without a pipeline file the built-in live recipe runs".to_owned()),
        })?;
        Self::parse(&text, &file, overrides)
    }

    /// Reads a pipeline from its text; `file` names it in messages.
    ///
    /// # Errors
    /// Anything in it is not as it must be.
    pub fn parse(text: &str, file: &str, overrides: &[Override]) -> Result<Self, PipelineError> {
        Reader { text, file }.pipeline(overrides)
    }

    /// The earlier datasets it reads, each once: those that requests are held against, and the one that is frozen.
    pub fn baselines(&self) -> Vec<PathBuf> {
        let of_stage = |stage: &StageInstance| {
            let run = stage.settings.get("run").filter(|_| stage.kind == OVERLAP)?;
            run.as_str().map(PathBuf::from)
        };
        let frozen = self.export.iter().filter_map(|export| export.freeze.clone());
        let mut paths: Vec<PathBuf> = self.stages.iter().filter_map(of_stage).chain(frozen).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// The pipeline as it stands: defaults, flags and all.
    pub fn resolved(&self) -> Value {
        let stage =
            |stage: &StageInstance| json!({"id": stage.id, "kind": stage.kind, "settings": stage.settings});
        json!({
            "name": self.name,
            "about": self.about,
            "seed": self.seed,
            "max_fault_share": self.max_fault_share,
            "ingest": self.ingest,
            "stages": self.stages.iter().map(stage).collect::<Vec<_>>(),
            "export": self.export,
        })
    }
}

/// Reads one file; knows where it is for messages.
struct Reader<'t> {
    text: &'t str,
    file: &'t str,
}

impl<'t> Reader<'t> {
    fn error(&self, at: Option<usize>, what: impl Into<String>, hint: Option<String>) -> PipelineError {
        // A value from the command line has no place in the file.
        let line = at.filter(|&at| at <= self.text.len()).map(|at| self.text[..at].matches('\n').count() + 1);
        PipelineError { file: self.file.to_owned(), line, what: what.into(), hint }
    }

    fn toml_error(&self, place: &str, error: &toml::de::Error) -> PipelineError {
        let message = error.message().trim_end();
        let what = if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") };
        self.error(error.span().map(|span| span.start), what, None)
    }

    fn pipeline(&self, overrides: &'t [Override]) -> Result<Pipeline, PipelineError> {
        let mut top = DeTable::parse(self.text).map_err(|error| self.toml_error("", &error))?.into_inner();
        self.known_keys("", &top, TOP_KEYS)?;
        let ingest = take(&mut top, "ingest");
        let export = take(&mut top, "export");
        let stages = take(&mut top, "stages");
        let baseline = take(&mut top, "baseline");
        let mut sections = [("ingest", ingest), ("baseline", baseline), ("export", export)];
        let mut top = Spanned::new(0..0, DeValue::Table(top));
        let mut stage_tables = self.stage_tables(stages)?;
        // What `[baseline]` sets up can be set as well, so its own settings come first.
        let (of_baseline, others): (Vec<&Override>, Vec<&Override>) =
            overrides.iter().partition(|over| over.id == "baseline");
        self.set_all(&of_baseline, &mut top, &mut sections, &mut stage_tables)?;
        if let Some(table) = sections[1].1.take() {
            let baseline: Baseline = self.section("baseline", Some(table))?;
            self.set_up_baseline(&baseline, &mut sections[2].1, &mut stage_tables)?;
        }
        self.set_all(&others, &mut top, &mut sections, &mut stage_tables)?;
        let mut settings: Top = self.section("", Some(top))?;
        if settings.name.is_empty() {
            let stem = Path::new(self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            settings.name = stem.filter(|stem| is_plain_name(stem)).unwrap_or_else(|| "run".to_owned());
        }
        if !is_plain_name(&settings.name) {
            let what = format!(
                "name \"{}\" must be made of letters, digits, - and _: the run folder is called by it",
                settings.name
            );
            return Err(self.error(None, what, None));
        }
        if !(0.0..=1.0).contains(&settings.max_fault_share) {
            return Err(self.error(
                None,
                format!("max_fault_share must be from 0 to 1, not {}", settings.max_fault_share),
                None,
            ));
        }
        let mut section =
            |id: &str| sections.iter_mut().find(|(name, _)| *name == id).and_then(|(_, table)| table.take());
        let ingest: Ingest = self.section("ingest", section("ingest"))?;
        let export: Option<Export> =
            section("export").map(|table| self.section("export", Some(table))).transpose()?;
        if let Some(what) = export.as_ref().and_then(|export| export.check().err()) {
            return Err(self.error(None, format!("export: {what}"), None));
        }
        let stages: Vec<StageInstance> =
            stage_tables.into_iter().map(|stage| self.instance(stage)).collect::<Result<_, _>>()?;
        let warnings = self.check(&stages, export.as_ref())?;
        Ok(Pipeline {
            name: settings.name,
            about: settings.about,
            seed: settings.seed,
            max_fault_share: settings.max_fault_share,
            ingest,
            stages,
            export,
            warnings,
        })
    }

    /// Sets what `--set` asks for.
    fn set_all(
        &self,
        overrides: &[&'t Override],
        top: &mut Spanned<DeValue<'t>>,
        sections: &mut [(&str, Option<Spanned<DeValue<'t>>>)],
        stage_tables: &mut [StageTable<'t>],
    ) -> Result<(), PipelineError> {
        for &over in overrides {
            let target = if over.id.is_empty() {
                Some(&mut *top)
            } else if let Some((_, section)) = sections.iter_mut().find(|(id, _)| *id == over.id) {
                Some(section.get_or_insert_with(empty_table))
            } else {
                stage_tables.iter_mut().find(|stage| stage.id == over.id).map(|stage| &mut stage.settings)
            };
            let Some(target) = target else {
                let ids = stage_tables.iter().map(|stage| stage.id.as_str()).chain(SECTIONS);
                let what = format!("--set {}.{}: there is no stage of that id", over.id, over.key);
                return Err(self.error(None, what, Some(nearest(&over.id, ids))));
            };
            if !set(target, over) {
                let what = format!(
                    "--set {}.{}: {} is no table of settings",
                    over.id,
                    over.key,
                    over.key.rsplit_once('.').map_or("", |(table, _)| table)
                );
                return Err(self.error(None, what, None));
            }
        }
        Ok(())
    }

    /// Lets the stage that drops overlaps read the baseline, putting it in where it is not, and the export keep it.
    fn set_up_baseline(
        &self,
        baseline: &Baseline,
        export: &mut Option<Spanned<DeValue<'t>>>,
        stage_tables: &mut Vec<StageTable<'t>>,
    ) -> Result<(), PipelineError> {
        if baseline.run.as_os_str().is_empty() {
            let hint = "name a finished run's folder: --baseline out/live, or run = \"out/live\"".to_owned();
            return Err(self.error(None, "baseline: run is missing", Some(hint)));
        }
        let run = baseline.run.to_string_lossy().into_owned();
        if !stage_tables.iter().any(|stage| stage.kind.name == OVERLAP) {
            let before = |stage: &StageTable<'_>| AFTER_OVERLAP.contains(&stage.kind.name);
            let at = stage_tables.iter().position(before).unwrap_or(stage_tables.len());
            let kind = stages::kind(OVERLAP).expect("it is in the list of kinds");
            stage_tables.insert(at, StageTable { id: OVERLAP.to_owned(), kind, settings: empty_table() });
        }
        let of_kind = stage_tables.iter_mut().filter(|stage| stage.kind.name == OVERLAP);
        for stage in of_kind {
            put(&mut stage.settings, "run", run.clone());
        }
        if baseline.mode == BaselineMode::Freeze {
            let Some(export) = export else {
                let hint = Some("add [export], or leave mode at \"drop\"".to_owned());
                return Err(self.error(
                    None,
                    "baseline: nothing is exported, so nothing can be frozen",
                    hint,
                ));
            };
            put(export, "freeze", run);
        }
        Ok(())
    }

    fn known_keys<'k>(
        &self,
        place: &str,
        table: &DeTable<'_>,
        known: &'k [&'k str],
    ) -> Result<(), PipelineError> {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let at = if place.is_empty() { String::new() } else { format!("{place}: ") };
                let hint = nearest(name, known.iter().copied());
                return Err(self.error(
                    Some(key.span().start),
                    format!("{at}unknown key \"{name}\""),
                    Some(hint),
                ));
            }
        }
        Ok(())
    }

    /// Checks the keys of a table and of the tables in it against a JSON Schema.
    fn keys_of_schema(&self, place: &str, table: &DeTable<'_>, schema: &Value) -> Result<(), PipelineError> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        self.known_keys(place, table, &known)?;
        for (key, value) in table {
            let name: &str = key.get_ref();
            if let (Some(inner), Some(schema)) = (value.get_ref().as_table(), properties.get(name)) {
                self.keys_of_schema(&format!("{place}.{name}"), inner, schema)?;
            }
        }
        Ok(())
    }

    fn section<T: serde::de::DeserializeOwned + JsonSchema + Default>(
        &self,
        place: &str,
        table: Option<Spanned<DeValue<'_>>>,
    ) -> Result<T, PipelineError> {
        let Some(table) = table else { return Ok(T::default()) };
        if let Some(keys) = table.get_ref().as_table() {
            self.keys_of_schema(place, keys, &stages::schema::<T>())?;
        }
        T::deserialize(ValueDeserializer::from(table)).map_err(|error| self.toml_error(place, &error))
    }

    fn stage_tables<'i>(
        &self,
        stages: Option<Spanned<DeValue<'i>>>,
    ) -> Result<Vec<StageTable<'i>>, PipelineError> {
        let Some(stages) = stages else { return Ok(Vec::new()) };
        let span = stages.span().start;
        let DeValue::Array(array) = stages.into_inner() else {
            return Err(self.error(Some(span), "stages: expected [[stages]], a list of tables", None));
        };
        let mut tables: Vec<StageTable<'i>> = Vec::new();
        for entry in array {
            let span = entry.span();
            let DeValue::Table(mut table) = entry.into_inner() else {
                return Err(self.error(Some(span.start), "stages: expected a table with a kind", None));
            };
            let kind_value = take(&mut table, "kind");
            let kind_at = kind_value.as_ref().map_or(span.start, |kind| kind.span().start);
            let names = KINDS.iter().map(|kind| kind.name);
            let Some(name) = kind_value.as_ref().and_then(|kind| kind.get_ref().as_str()) else {
                let hint = format!("kinds: {}", names.collect::<Vec<_>>().join(", "));
                return Err(self.error(Some(kind_at), "a stage without a kind", Some(hint)));
            };
            let Some(kind) = stages::kind(name) else {
                return Err(self.error(
                    Some(kind_at),
                    format!("unknown kind of stage \"{name}\""),
                    Some(nearest(name, names)),
                ));
            };
            let id_value = take(&mut table, "id");
            let id = id_value.as_ref().and_then(|id| id.get_ref().as_str()).unwrap_or(name).to_owned();
            let what = if !is_plain_name(&id) {
                Some(format!("stage id \"{id}\" must be made of letters, digits, - and _"))
            } else if SECTIONS.contains(&id.as_str()) {
                Some(format!("stage id \"{id}\" is the name of a section"))
            } else {
                tables
                    .iter()
                    .any(|other| other.id == id)
                    .then(|| format!("a stage before has the id \"{id}\" too"))
            };
            if let Some(what) = what {
                let hint = "give the stage an id of its own: id = \"…\"".to_owned();
                return Err(self.error(
                    Some(id_value.map_or(span.start, |id| id.span().start)),
                    what,
                    Some(hint),
                ));
            }
            tables.push(StageTable { id, kind, settings: Spanned::new(span, DeValue::Table(table)) });
        }
        Ok(tables)
    }

    fn instance(&self, stage: StageTable<'_>) -> Result<StageInstance, PipelineError> {
        let place = format!("stage {}", stage.id);
        if let Some(keys) = stage.settings.get_ref().as_table() {
            let schema = (stage.kind.schema)();
            let mut known: Vec<&str> = schema["properties"]
                .as_object()
                .map(|keys| keys.keys().map(String::as_str).collect())
                .unwrap_or_default();
            known.extend(STAGE_KEYS);
            self.known_keys(&place, keys, &known)?;
            self.keys_of_schema(&place, keys, &schema)?;
        }
        let (built, settings) = (stage.kind.build)(ValueDeserializer::from(stage.settings))
            .map_err(|error| self.toml_error(&place, &error))?;
        Ok(StageInstance { id: stage.id, kind: stage.kind.name, settings, stage: built })
    }

    /// Folds the contracts over the pipeline: every column read must have been written before.
    fn check(&self, stages: &[StageInstance], export: Option<&Export>) -> Result<Vec<String>, PipelineError> {
        let mut have: Vec<ColumnSpec> = columns::PAYLOAD.to_vec();
        let mut warnings: Vec<String> = self.check_redaction(stages)?.into_iter().collect();
        let mut merged: Vec<(&str, Vec<ColumnSpec>)> = Vec::new();
        let missing = |reads: &[ColumnSpec], have: &[ColumnSpec], who: String| match reads
            .iter()
            .find(|column| !have.contains(column))
        {
            None => Ok(()),
            Some(column) => {
                let names: Vec<&str> =
                    have.iter().filter(|other| other.table == column.table).map(|other| other.name).collect();
                let what = format!(
                    "{who} reads column \"{}\" of {}, which no earlier stage provides",
                    column.name,
                    column.table.name()
                );
                Err(self.error(None, what, Some(format!("columns so far: {}", names.join(", ")))))
            }
        };
        for (at, instance) in stages.iter().enumerate() {
            let contract = instance.stage.contract();
            missing(&contract.reads, &have, format!("stage {} {}", at + 1, instance.id))?;
            let stands_before = |kind: &str| stages[..at].iter().any(|stage| stage.kind == kind);
            if contract.sends_rows_out
                && let Some(kind) = REDACTION.iter().find(|&&kind| !stands_before(kind))
            {
                let what =
                    format!("stage {} {} sends rows out of this machine before {kind}", at + 1, instance.id);
                return Err(self.error(None, what, Some(format!("put a stage of kind {kind} ahead of it"))));
            }
            let changed: Vec<ColumnSpec> = contract
                .writes
                .iter()
                .copied()
                .filter(|column| column.is_content() && have.contains(column))
                .collect();
            merged.retain(|(_, reads)| {
                !contract.merges || !reads.iter().any(|read| contract.reads.contains(read))
            });
            if contract.merges {
                let content = contract.reads.iter().copied().filter(|column| column.is_content()).collect();
                merged.push((&instance.id, content));
            }
            for (stage, reads) in &merged {
                let stale = reads.iter().find(|read| changed.contains(read));
                let again = stages[at + 1..].iter().any(|later| {
                    let later = later.stage.contract();
                    later.merges && stale.is_some_and(|stale| later.reads.contains(stale))
                });
                if let (Some(column), false) = (stale, again) {
                    let mut warning = String::new();
                    let _ = write!(
                        warning,
                        "stage {} changes {} after {stage} merged by it: two kept rows may have become equal; merge once more after it",
                        instance.id, column.name
                    );
                    warnings.push(warning);
                }
            }
            let is_new = |column: &&ColumnSpec| !have.contains(column);
            have.extend(contract.writes.iter().filter(is_new).copied().collect::<Vec<_>>());
        }
        if let Some(export) = export {
            missing(&export.reads(), &have, "export".to_owned())?;
            if export.freeze.is_some() && !stages.iter().any(|stage| stage.kind == OVERLAP) {
                warnings.push(format!(
                    "export keeps the entries of an earlier dataset, but no {OVERLAP} drops what they stand for"
                ));
            }
        }
        Ok(warnings)
    }

    /// Redaction stands first: the files of a stage before it would hold what was redacted. Its two halves number alike
    /// only with the same settings, and doc lists can be told last. Answers with a warning where doc lists are left out.
    fn check_redaction(&self, stages: &[StageInstance]) -> Result<Option<String>, PipelineError> {
        let [of_requests, of_docs] = REDACTION;
        let refuse = |what: String, hint: &str| Err(self.error(None, what, Some(hint.to_owned())));
        for (at, stage) in stages.iter().enumerate().filter(|(_, stage)| REDACTION.contains(&stage.kind)) {
            if stages[..at].iter().any(|before| before.kind == stage.kind) {
                let what = format!("stage {} {} is the second of kind {}", at + 1, stage.id, stage.kind);
                return refuse(what, "one stage of the kind finds all kinds of values");
            }
            if let Some(before) = stages[..at].iter().find(|before| !REDACTION.contains(&before.kind)) {
                let what = format!(
                    "stage {} {} comes after {}, whose files would hold what is redacted",
                    at + 1,
                    stage.id,
                    before.id
                );
                return refuse(what, "put redact, then redact-docs, ahead of all other stages");
            }
            if stage.kind == of_requests {
                continue;
            }
            let Some(requests) = stages[..at].iter().find(|before| before.kind == of_requests) else {
                let what = format!("stage {} {} comes before {of_requests}", at + 1, stage.id);
                return refuse(what, "redact reads the doc lists as sent, so it comes first");
            };
            if requests.settings != stage.settings {
                let what = format!("stages {} and {} have different settings", requests.id, stage.id);
                return refuse(
                    what,
                    "the same value gets the same placeholder only where both look for the same",
                );
            }
        }
        let has = |kind: &str| stages.iter().any(|stage| stage.kind == kind);
        Ok((has(of_requests) && !has(of_docs)).then(|| {
            format!("doc lists are not redacted: put a stage of kind {of_docs} behind {of_requests}")
        }))
    }
}

/// A stage's table with its kind and id taken out.
struct StageTable<'i> {
    id: String,
    kind: &'static stages::Kind,
    settings: Spanned<DeValue<'i>>,
}

fn take<'i>(table: &mut DeTable<'i>, key: &str) -> Option<Spanned<DeValue<'i>>> {
    table.remove(key)
}

/// A name that is safe as the name of a folder.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

fn empty_table<'i>() -> Spanned<DeValue<'i>> {
    Spanned::new(usize::MAX..usize::MAX, DeValue::Table(DeTable::new()))
}

/// Sets a key, unless it leads into something that is no table. A value from the command line has no place in the
/// file, so its span is past every end.
fn set<'i>(target: &mut Spanned<DeValue<'i>>, over: &'i Override) -> bool {
    let nowhere = usize::MAX..usize::MAX;
    let mut target = target;
    let mut path: Vec<&'i str> = over.key.split('.').collect();
    let last = path.pop().unwrap_or_default();
    for key in path {
        let DeValue::Table(table) = target.get_mut() else { return false };
        target = table.entry(Spanned::new(nowhere.clone(), key.into())).or_insert_with(empty_table);
    }
    let DeValue::Table(table) = target.get_mut() else { return false };
    let value = DeValue::parse(&over.value)
        .map_or_else(|_| DeValue::String(over.value.as_str().into()), Spanned::into_inner);
    table.remove(last);
    table.insert(Spanned::new(nowhere.clone(), last.into()), Spanned::new(nowhere, value));
    true
}

/// Puts a text into a table.
fn put(target: &mut Spanned<DeValue<'_>>, key: &'static str, text: String) {
    let nowhere = usize::MAX..usize::MAX;
    if let DeValue::Table(table) = target.get_mut() {
        table.remove(key);
        table.insert(
            Spanned::new(nowhere.clone(), key.into()),
            Spanned::new(nowhere, DeValue::String(text.into())),
        );
    }
}

fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let best = known.iter().max_by(|a, b| {
        strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)).then_with(|| b.cmp(a))
    });
    match best {
        Some(best) if strsim::jaro_winkler(name, best) > 0.8 => format!("did you mean \"{best}\"?"),
        _ => format!("known: {}", known.join(", ")),
    }
}

/// The JSON Schema of a pipeline file.
pub fn json_schema() -> Value {
    let mut top = stages::schema::<Top>();
    let variants: Vec<Value> = KINDS
        .iter()
        .map(|kind| {
            let mut schema = (kind.schema)();
            schema["title"] = kind.name.into();
            schema["description"] = kind.summary.into();
            schema["properties"]["kind"] = json!({"const": kind.name});
            schema["properties"]["id"] = json!({"type": "string", "description": "unique in the pipeline; the kind's name where absent"});
            schema["required"] = json!(["kind"]);
            schema
        })
        .collect();
    top["title"] = "toolsieve pipeline".into();
    top["properties"]["ingest"] = stages::schema::<Ingest>();
    top["properties"]["baseline"] = stages::schema::<Baseline>();
    top["properties"]["stages"] = json!({"type": "array", "items": {"oneOf": variants}});
    top["properties"]["export"] = stages::schema::<Export>();
    top
}
