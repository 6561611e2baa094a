//! Reads a pipeline file, key by key.
//!
//! An unknown key is refused with its line and the nearest known key. What the
//! command line sets is put in before the settings' own checks, so that it is checked
//! alike; it has no line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::draft::{Draft, StageTable, empty_table, put, set, take};
use super::{
    Baseline, BaselineMode, DecisionFiles, KIND, Override, Pipeline, PipelineError, SECTIONS, STAGE_KEYS,
    TOP_KEYS, Top, order,
};
use crate::decisions;
use crate::engine::decision::Decisions;
use crate::engine::instance::StageInstance;
use crate::engine::kind::Kind;
use crate::engine::kind::schema;
use crate::stages::personal::PersonalValues;
use crate::stages::{Registry, StageKind};
use crate::text::suggestion::closest;

/// Reads one pipeline file; keeps track of places for messages.
pub(super) struct PipelineReader<'t> {
    pub(super) text: &'t str,
    pub(super) file: &'t str,
    pub(super) registry: &'t Registry,
}

/// Hints for messages of the TOML parser, by a part of the message.
const TOML_HINTS: &[(&str, &str)] = &[
    (
        "string values must be quoted",
        "a key has a value after =, and a text is in quotation marks, e.g. name = \"mylog\"",
    ),
    ("expected a boolean", "write true or false, without quotation marks"),
];

/// What Rust calls a kind of value, in messages of the TOML parser; what it is, and a hint.
const TOML_KINDS: &[(&[&str], &str, &str)] = &[
    (
        &["f32", "f64"],
        "a number",
        "write a number without quotation marks, such as 0.7; a share or a threshold is from 0 to 1",
    ),
    (
        &["u8", "u16", "u32", "u64", "usize"],
        "a whole number from 0 up",
        "write digits without quotation marks, such as 20",
    ),
    (
        &["i8", "i16", "i32", "i64", "isize"],
        "a whole number",
        "write digits without quotation marks, such as 20",
    ),
];

/// Returns a message of the TOML parser without the names of Rust, and a hint if it had one.
fn in_words(message: &str) -> (String, Option<&'static str>) {
    let known = message.rsplit_once("expected ").and_then(|(found, kind)| {
        let (_, words, hint) = TOML_KINDS.iter().find(|(names, ..)| names.contains(&kind))?;
        Some((format!("{found}expected {words}"), Some(*hint)))
    });
    known.unwrap_or_else(|| (message.to_owned(), None))
}

impl<'t> PipelineReader<'t> {
    fn error(&self, at: Option<usize>, what: impl Into<String>, hint: Option<String>) -> PipelineError {
        // A value from the command line has no place in the file.
        let line = at.filter(|&at| at <= self.text.len()).map(|at| self.text[..at].matches('\n').count() + 1);
        PipelineError { file: Some(self.file.to_owned()), line, what: what.into(), hint }
    }

    fn toml_error(&self, place: &str, error: &toml::de::Error) -> PipelineError {
        let (message, hint_of_kind) = in_words(error.message().trim_end());
        // The parser has the key only in its own form of the message.
        let whole = error.to_string();
        let key = whole.lines().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
        let is_named = |key: &&str| message.starts_with(key.rsplit('.').next().unwrap_or(key));
        let places = [place].into_iter().chain(key.filter(|key| !is_named(key)));
        let places = places.filter(|place| !place.is_empty()).map(|place| format!("{place}: "));
        let what = places.collect::<String>() + &message;
        let known = TOML_HINTS.iter().find(|(sign, _)| message.contains(sign)).map(|(_, hint)| *hint);
        let hint = hint_of_kind.or(known).map(str::to_owned);
        self.error(error.span().map(|span| span.start), what, hint)
    }

    /// A file that is no TOML. One that begins like JSON is likely a log.
    fn not_toml(&self, error: &toml::de::Error) -> PipelineError {
        let hint = self.text.trim_start().starts_with('{').then(|| {
            "a path that ends in .toml is a pipeline; if this is a log, give it another name, such as mylog.jsonl"
                .to_owned()
        });
        let error = self.toml_error("", error);
        PipelineError { hint: hint.or(error.hint), ..error }
    }

    pub(super) fn pipeline(&self, overrides: &'t [Override]) -> Result<Pipeline, PipelineError> {
        let mut draft = self.draft()?;
        // What `[baseline]` sets up can be set as well, so its own settings come first.
        let (of_baseline, others): (Vec<&Override>, Vec<&Override>) =
            overrides.iter().partition(|over| over.id == "baseline");
        self.set_all(&of_baseline, &mut draft)?;
        if let Some(table) = draft.baseline.take() {
            let baseline: Baseline = self.section("baseline", Some(table))?;
            self.set_up_baseline(&baseline, &mut draft)?;
        }
        self.set_all(&others, &mut draft)?;
        self.typed(draft)
    }

    /// The tables of the file, as written.
    fn draft(&self) -> Result<Draft<'t>, PipelineError> {
        let mut top = DeTable::parse(self.text).map_err(|error| self.not_toml(&error))?.into_inner();
        self.known_keys("", &top, TOP_KEYS)?;
        let [ingest, baseline, export] = SECTIONS.map(|section| take(&mut top, section));
        let stages = take(&mut top, "stages");
        let top = Spanned::new(0..0, DeValue::Table(top));
        Ok(Draft { top, ingest, baseline, export, stages: self.stage_tables(stages)? })
    }

    /// The tables as settings, each checked.
    fn typed(&self, draft: Draft<'_>) -> Result<Pipeline, PipelineError> {
        let Top { name, about, seed, max_fault_share, decisions } = self.top(draft.top)?;
        let source = draft.ingest.unwrap_or_else(empty_table);
        let source = self.built("ingest", source, self.registry.sources())?;
        let sinks = self.registry.sinks();
        let export = draft.export.map(|table| self.built("export", table, sinks)).transpose()?;
        let stages: Vec<StageInstance> =
            draft.stages.into_iter().map(|stage| self.instance(stage)).collect::<Result<_, _>>()?;
        let warnings = order::check(&source, &stages, export.as_ref().map(|export| &*export.sink))
            .map_err(|misplaced| self.error(None, misplaced.what, Some(misplaced.hint)))?;
        let decisions_files = decisions.map(DecisionFiles::all).unwrap_or_default();
        let decisions = Self::decisions(&decisions_files, &stages)?;
        Ok(Pipeline {
            name,
            about,
            seed,
            max_fault_share,
            decisions_files,
            decisions,
            source,
            stages,
            export,
            warnings,
            registry: self.registry.clone(),
        })
    }

    /// The decisions of people, read here, so that a bad file is reported before the run begins.
    fn decisions(files: &[PathBuf], stages: &[StageInstance]) -> Result<Arc<Decisions>, PipelineError> {
        if files.is_empty() {
            return Ok(Arc::default());
        }
        let error = |error: &dyn std::error::Error| {
            let text = error.to_string();
            let (what, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
            // The message begins with the name of that file.
            let hint = (!hint.is_empty()).then(|| hint.to_owned());
            PipelineError { file: None, line: None, what: what.to_owned(), hint }
        };
        let personal = PersonalValues::of(stages).map_err(|fault| error(&fault))?;
        let mut read = Vec::new();
        for file in files {
            let decisions = decisions::read(file).map_err(|fault| error(&fault))?;
            decisions::check_personal(&decisions, |decision| personal.of_decision(decision))
                .map_err(|fault| error(&fault))?;
            read.push(decisions);
        }
        Ok(Arc::new(decisions::join(read).map_err(|fault| error(&fault))?))
    }

    fn top(&self, table: Spanned<DeValue<'_>>) -> Result<Top, PipelineError> {
        let mut settings: Top = self.section("", Some(table))?;
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
            let what = format!("max_fault_share must be from 0 to 1, not {}", settings.max_fault_share);
            return Err(self.error(None, what, None));
        }
        Ok(settings)
    }

    /// The source or the sink that a section describes, of one of these kinds.
    fn built<I>(
        &self,
        section: &str,
        table: Spanned<DeValue<'_>>,
        kinds: &[Kind<I>],
    ) -> Result<I, PipelineError> {
        let (kind, table) = self.kind_of_section(section, table, kinds)?;
        self.keys_of_section(section, &table, &(kind.schema)())?;
        (kind.build)(ValueDeserializer::from(table), self.registry.environment())
            .map_err(|error| self.toml_error(section, &error))
    }

    /// The kind that a section names, and its other keys. Pipelines of earlier builds call the key of a sink `form`.
    fn kind_of_section<'i, 'k, I>(
        &self,
        section: &str,
        table: Spanned<DeValue<'i>>,
        kinds: &'k [Kind<I>],
    ) -> Result<(&'k Kind<I>, Spanned<DeValue<'i>>), PipelineError> {
        let span = table.span();
        let DeValue::Table(mut keys) = table.into_inner() else {
            let what = format!("{section}: expected a table of settings");
            return Err(self.error(Some(span.start), what, None));
        };
        let mut named = take(&mut keys, KIND);
        if named.is_none() && section == "export" {
            named = take(&mut keys, "form");
        }
        let table = Spanned::new(span, DeValue::Table(keys));
        let Some(named) = named else { return Ok((&kinds[0], table)) };
        let at = named.span().start;
        let Some(name) = named.get_ref().as_str() else {
            return Err(self.error(Some(at), format!("{section}: {KIND}: expected a text"), None));
        };
        let Some(kind) = kinds.iter().find(|kind| kind.name == name) else {
            let what = format!("{section}: unknown kind \"{name}\"");
            return Err(self.error(Some(at), what, Some(nearest(name, kinds.iter().map(|kind| kind.name)))));
        };
        Ok((kind, table))
    }

    fn keys_of_section(
        &self,
        section: &str,
        table: &Spanned<DeValue<'_>>,
        schema: &Value,
    ) -> Result<(), PipelineError> {
        table.get_ref().as_table().map_or(Ok(()), |keys| self.keys_of_schema(section, keys, schema))
    }

    /// Sets what `--set` asks for.
    fn set_all(&self, overrides: &[&'t Override], draft: &mut Draft<'t>) -> Result<(), PipelineError> {
        for &over in overrides {
            let Some(target) = draft.target(&over.id) else {
                let ids = draft.stages.iter().map(|stage| stage.id.as_str()).chain(SECTIONS);
                let what = format!("--set {}.{}: there is no stage of that id", over.id, over.key);
                return Err(self.error(None, what, Some(nearest(&over.id, ids))));
            };
            if !set(target, over) {
                let table = over.key.rsplit_once('.').map_or("", |(table, _)| table);
                let what = format!("--set {}.{}: {table} is no table of settings", over.id, over.key);
                return Err(self.error(None, what, None));
            }
        }
        Ok(())
    }

    /// Sets the baseline of the stage that drops overlaps, which is added if it is missing, and of the export.
    fn set_up_baseline(&self, baseline: &Baseline, draft: &mut Draft<'t>) -> Result<(), PipelineError> {
        if baseline.run.as_os_str().is_empty() {
            let hint = "name a finished run's folder: --baseline out/live, or run = \"out/live\"".to_owned();
            return Err(self.error(None, "baseline: run is missing", Some(hint)));
        }
        let run = baseline.run.to_string_lossy().into_owned();
        draft.ensure_overlap_stage(self.registry);
        for stage in draft.stages.iter_mut().filter(|stage| stage.is_baseline()) {
            put(&mut stage.settings, "run", run.clone());
        }
        if baseline.mode == BaselineMode::Freeze {
            let Some(export) = &mut draft.export else {
                let hint = "add [export], or leave mode at \"drop\"".to_owned();
                let what = "baseline: nothing is exported, so nothing can be frozen";
                return Err(self.error(None, what, Some(hint)));
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
                let hint = moved(place, name).unwrap_or_else(|| nearest(name, known.iter().copied()));
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
        self.keys_of_section(place, &table, &schema::<T>())?;
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
            let table = self.stage_table(entry, &tables)?;
            tables.push(table);
        }
        Ok(tables)
    }

    /// Removes kind and id from the table of a stage; `before` are the earlier stages.
    fn stage_table<'i>(
        &self,
        entry: Spanned<DeValue<'i>>,
        before: &[StageTable<'_>],
    ) -> Result<StageTable<'i>, PipelineError> {
        let span = entry.span();
        let DeValue::Table(mut table) = entry.into_inner() else {
            return Err(self.error(Some(span.start), "stages: expected a table with a kind", None));
        };
        let kind = self.kind(take(&mut table, KIND).as_ref(), span.start)?;
        let id_value = take(&mut table, "id");
        let id = id_value.as_ref().and_then(|id| id.get_ref().as_str()).unwrap_or(kind.name).to_owned();
        if let Some(what) = fault_of_id(&id, before) {
            let at = id_value.map_or(span.start, |id| id.span().start);
            let hint = "give the stage an id of its own: id = \"…\"".to_owned();
            return Err(self.error(Some(at), what, Some(hint)));
        }
        Ok(StageTable { id, kind, settings: Spanned::new(span, DeValue::Table(table)) })
    }

    /// The kind of a stage whose table begins at `start`.
    fn kind(&self, value: Option<&Spanned<DeValue<'_>>>, start: usize) -> Result<StageKind, PipelineError> {
        let at = value.map_or(start, |kind| kind.span().start);
        let names = self.registry.kinds().iter().map(|kind| kind.name);
        let Some(name) = value.and_then(|kind| kind.get_ref().as_str()) else {
            let hint = format!("kinds: {}", names.collect::<Vec<_>>().join(", "));
            return Err(self.error(Some(at), "a stage without a kind", Some(hint)));
        };
        self.registry.kind(name).copied().ok_or_else(|| {
            self.error(Some(at), format!("unknown kind of stage \"{name}\""), Some(nearest(name, names)))
        })
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
        let (built, settings) =
            (stage.kind.build)(ValueDeserializer::from(stage.settings), self.registry.environment())
                .map_err(|error| self.toml_error(&place, &error))?;
        Ok(StageInstance { id: stage.id, kind: stage.kind.name, settings, stage: built })
    }
}

/// The fault of the id of a stage, if any.
fn fault_of_id(id: &str, before: &[StageTable<'_>]) -> Option<String> {
    if !is_plain_name(id) {
        return Some(format!("stage id \"{id}\" must be made of letters, digits, - and _"));
    }
    if SECTIONS.contains(&id) {
        return Some(format!("stage id \"{id}\" is the name of a section"));
    }
    let is_taken = before.iter().any(|other| other.id == id);
    is_taken.then(|| format!("a stage before has the id \"{id}\" too"))
}

/// A name that is safe as the name of a folder.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// The new place of a setting that stages had in earlier builds.
fn moved(place: &str, key: &str) -> Option<String> {
    (place.starts_with("stage ") && key == "answers").then(|| {
        "answers by people are decisions: name their file once, at the top of the pipeline, as decisions = \"FILE\", or with --decisions FILE".to_owned()
    })
}

fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match closest(name, known.iter().copied()) {
        Some(best) => format!("did you mean \"{best}\"?"),
        None => format!("known: {}", known.join(", ")),
    }
}
