//! Reads a pipeline file, key by key.
//!
//! A key nobody knows is refused with its line and the nearest known key. What the
//! command line sets is put in ahead of the settings' own checks, so that it is checked
//! alike; it has no line.

use std::path::Path;

use schemars::JsonSchema;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::{
    AFTER_OVERLAP, Baseline, BaselineMode, OVERLAP, Override, Pipeline, PipelineError, SECTIONS, STAGE_KEYS,
    TOP_KEYS, Top, order,
};
use crate::engine::runner::StageInstance;
use crate::export::sink::Export;
use crate::ingest::source::Ingest;
use crate::stages::{self, KINDS};

/// Reads one file; knows where it is for messages.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) file: &'t str,
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

    pub(super) fn pipeline(&self, overrides: &'t [Override]) -> Result<Pipeline, PipelineError> {
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
        let warnings = order::check(&stages, export.as_ref())
            .map_err(|misplaced| self.error(None, misplaced.what, Some(misplaced.hint)))?;
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
