//! Runs a pipeline, from inputs to dataset, ledger and report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::containment::check_apart;
use super::earlier_decisions::EarlierDecisions;
use super::error::refuse;
use super::inputs::{check_baselines, check_out, check_sink, checked_source, take_inputs};
use super::observer::{Observer, Watched};
use super::outcome::{write_ledger, write_report};
use super::{Error, Options, language_model};
use crate::decisions::{Reviewed, check_personal, read_reviews, with_reviews};
use crate::engine;
use crate::engine::context::Context;
use crate::engine::decision::Decisions;
use crate::engine::division::Cuts;
use crate::engine::folder::RunFolder;
use crate::engine::instance::{SinkInstance, SourceInstance};
use crate::engine::kind::KindSettings as _;
use crate::engine::language_model::LanguageModel;
use crate::engine::layout::{DECISIONS, RUN_FORMAT};
use crate::engine::manifest::RunFile;
use crate::engine::parts::are_begun;
use crate::engine::raw::IngestManifest;
use crate::engine::runner::{self, Manner};
use crate::engine::services::Services;
use crate::export::earlier::Earlier;
use crate::instruct::collection::sink::CollectionFiles;
use crate::jobs::gate::{Outcome, RowsLeft, RunFacts};
use crate::jobs::{FinishedRun, job_of};
use crate::llm::service::ChatService;
use crate::pipeline::Pipeline;
use crate::report::language_models;
use crate::report::model::Report;
use crate::stages::personal::PersonalValues;
use crate::text::figures::{count, counted};

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The run folder.
    pub folder: PathBuf,
    /// All figures: what `report.json` holds.
    pub report: Report,
    /// Whether the run passed its gates.
    pub outcome: Outcome,
    /// Steps that were reused from an earlier run of the same pipeline.
    pub reused: usize,
}

/// Runs a pipeline into a run folder.
///
/// Finished steps of an earlier run in the folder are reused if their results would be the same, so the same call
/// continues where it was stopped. To stop it, see [`Observer::is_cancelled`].
///
/// # Errors
/// [`Error::Halfway`] once the run has begun; any other error if it could not begin.
pub fn execute(
    pipeline: &Pipeline,
    out: &Path,
    options: &Options,
    observer: &dyn Observer,
) -> Result<RunReport, Error> {
    prepare(pipeline, out, options)?.execute(observer)
}

/// A run whose folder is locked and whose inputs were checked; nothing of it is written yet.
#[derive(Debug)]
pub struct Prepared<'p> {
    pipeline: &'p Pipeline,
    options: &'p Options,
    /// As in the pipeline, with folders and patterns expanded.
    source: SourceInstance,
    folder: RunFolder,
    /// What was skipped in the folders that are inputs.
    skipped: Option<String>,
    /// The language model, if a stage asks one.
    model: Option<Arc<ChatService>>,
    /// The decisions of the pipeline and those of reviewers in the run folder.
    decisions: Arc<Decisions>,
    reviewed: Reviewed,
}

/// Checks what a pipeline reads, and locks the run folder.
///
/// # Errors
/// An input or a baseline is not there or cannot be read, or the folder is no run folder or in use.
pub fn prepare<'p>(pipeline: &'p Pipeline, out: &Path, options: &'p Options) -> Result<Prepared<'p>, Error> {
    let (source, skipped) = checked_source(&pipeline.source)?;
    check_out(out)?;
    check_apart(pipeline, &source, out)?;
    check_baselines(pipeline, Some(out))?;
    check_sink(pipeline, &source)?;
    for instance in &pipeline.stages {
        instance.stage.check_ready()?;
    }
    let model = language_model::open(pipeline, &options.model)?;
    let folder = RunFolder::take_as(out, &options.command_line())?;
    if options.fresh {
        folder.clear()?;
    }
    let model = match model {
        Some(model) => Some(Arc::new(language_model::in_folder(model, &folder, &options.model)?)),
        None => None,
    };
    let reviewed = reviewed(pipeline, &folder, options)?;
    let decisions = if reviewed.decisions.all.is_empty() {
        Arc::clone(&pipeline.decisions)
    } else {
        let joined = with_reviews(&pipeline.decisions, reviewed.decisions.clone());
        Arc::new(joined.or_else(|error| refuse(error.to_string()))?)
    };
    Ok(Prepared { pipeline, options, source, folder, skipped, model, decisions, reviewed })
}

/// The decisions of reviewers in the run folder.
pub(super) fn reviewed(
    pipeline: &Pipeline,
    folder: &RunFolder,
    options: &Options,
) -> Result<Reviewed, Error> {
    if !options.reviews {
        return Ok(Reviewed::default());
    }
    let reviewed = read_reviews(&folder.path().join(DECISIONS)).or_else(|error| refuse(error.to_string()))?;
    // Most runs have none, and need no recognisers for them.
    if reviewed.decisions.all.is_empty() {
        return Ok(reviewed);
    }
    let personal = PersonalValues::of(&pipeline.stages).or_else(|error| refuse(error.to_string()))?;
    for of_reviewer in reviewed.decisions.by_file() {
        check_personal(&of_reviewer, |decision| personal.of_decision(decision))
            .or_else(|error| refuse(error.to_string()))?;
    }
    Ok(reviewed)
}

/// The rows that are left after one run of all stages.
enum Round {
    /// They are written, as many as there are.
    Enough(Box<RunReport>),
    /// The source makes more.
    TooFew { source: SourceInstance, kept: u64 },
}

impl Prepared<'_> {
    /// Copies standard input if it is one of the inputs, and runs; see [`execute`].
    ///
    /// # Errors
    /// The folder holds a run of other inputs that [`Options::fresh`] does not remove. [`Error::NoRequest`]: the inputs are no logs. [`Error::Halfway`]: the same call continues from there.
    pub fn execute(mut self, observer: &dyn Observer) -> Result<RunReport, Error> {
        self.begin(observer)?;
        let judged = match &self.options.pool {
            Some(pool) => pool.install(|| self.filled(observer)),
            None => self.filled(observer),
        };
        if self.folder.has_forgotten() {
            // The copy of standard input holds the forgotten records too.
            self.folder.remove_spool().map_err(Error::Halfway)?;
        }
        if let (Err(_), Some(dataset)) = (&judged, self.folder.earlier_dataset()) {
            observer.warn(&format!(
                "{} is the dataset of the earlier run until a run ends here",
                dataset.display()
            ));
        }
        let report = judged.map_err(|error| self.named(error))?;
        // They hold raw text, and the run has it.
        self.folder.remove_parts().map_err(Error::Halfway)?;
        Ok(report)
    }

    /// Reads the inputs or joins the parts of them, and runs the stages before this one, so that other processes can judge parts of its rows.
    ///
    /// # Errors
    /// As [`Prepared::execute`]; there is no such stage.
    pub fn execute_until(mut self, stage: &str, observer: &dyn Observer) -> Result<(), Error> {
        let ids: Vec<&str> = self.pipeline.stages.iter().map(|known| known.id.as_str()).collect();
        let Some(until) = ids.iter().position(|id| *id == stage) else {
            return refuse(format!(
                "the pipeline has no stage {stage}\nhint: its stages are {}",
                ids.join(", ")
            ));
        };
        self.begin(observer)?;
        let watched = Watched(observer);
        let run = || {
            let manner = self.manner(Some(until));
            runner::run_so(
                &self.folder,
                &*self.source.source,
                &self.pipeline.stages,
                manner,
                &self.context(&watched),
            )
        };
        let run = match &self.options.pool {
            Some(pool) => pool.install(run),
            None => run(),
        };
        run.map(drop).map_err(|error| self.named(error))
    }

    /// Copies standard input if it is one of the inputs, and warns of what was found until here.
    fn begin(&mut self, observer: &dyn Observer) -> Result<(), Error> {
        if let Some(source) = self.after_earlier_pipeline(observer)? {
            self.source = source;
        }
        self.source = take_inputs(&self.source, &self.folder, &|| observer.is_cancelled())?;
        for warning in self.skipped.iter().chain(&self.pipeline.warnings) {
            observer.warn(warning);
        }
        self.report_reviews(observer);
        if !self.options.joins && are_begun(self.folder.path())? {
            let run = self.folder.path().display();
            observer.warn(&format!(
                "{run} has parts of this run, which are not joined and will be removed\nhint: `callsieve merge {run}` joins them"
            ));
        }
        Ok(())
    }

    /// An error of the engine after the run has begun.
    fn named(&self, error: engine::error::Error) -> Error {
        match error {
            engine::error::Error::NoRequest(what) => self.without_request(&what),
            engine::error::Error::Decisions(what) => Error::Request(what),
            error => Error::Halfway(error),
        }
    }

    fn context<'w>(&self, watched: &'w Watched<'_>) -> Context<'w> {
        let model = self.model.clone().map(|model| model as Arc<dyn LanguageModel>);
        let services =
            Services::default().with_decisions(Arc::clone(&self.decisions)).with_language_model(model);
        Context::new(self.pipeline.seed, watched, watched).with_services(services)
    }

    fn manner(&self, until: Option<usize>) -> Manner {
        let cuts = Cuts { parts: self.options.parts, batch_rows: self.options.batch_rows };
        let settled = self.options.adds_after.unwrap_or_default();
        Manner { cuts, settled, joins: self.options.joins, until }
    }

    /// Reports what reviewers decided on rows of the run folder.
    fn report_reviews(&self, observer: &dyn Observer) {
        let Reviewed { decisions, n_disagreements, n_unsupported } = &self.reviewed;
        let folder = self.folder.path().join(DECISIONS);
        let n_decisions = decisions.all.len() as u64;
        if n_decisions > 0 {
            observer.begin("decisions", None);
            observer.end(&format!(
                "{} of people in {} {}",
                counted(n_decisions, "decision", "decisions"),
                folder.display(),
                if n_decisions == 1 { "applies" } else { "apply" }
            ));
        }
        if *n_disagreements > 0 {
            observer.warn(&format!(
                "reviewers decided {} in {} differently; these decisions do not apply\nhint: `callsieve review {}` shows each of them to its reviewers",
                counted(*n_disagreements as u64, "row", "rows"),
                folder.display(),
                self.folder.path().display()
            ));
        }
        if *n_unsupported > 0 {
            observer.warn(&format!(
                "{} in {} cannot be applied by a run",
                counted(*n_unsupported as u64, "decision", "decisions"),
                folder.display()
            ));
        }
    }

    /// Runs the pipeline that the source names, into a folder beside this run, and returns the source that reads it; `None` if
    /// the source names none.
    fn after_earlier_pipeline(&self, observer: &dyn Observer) -> Result<Option<SourceInstance>, Error> {
        let Some(file) = self.source.source.earlier_pipeline() else { return Ok(None) };
        let earlier = Pipeline::load(Some(file), &[], &self.pipeline.registry)?;
        let name = |what: &str| format!("pipeline {}: {what}", file.display());
        let makes_collection =
            earlier.export.as_ref().is_some_and(|export| export.kind == CollectionFiles::NAME);
        if !makes_collection {
            return refuse(format!(
                "{}\nhint: `collection` under [ingest] names the run folder of a collection, or a pipeline that makes one, such as pipelines/collection.toml",
                name("it makes no collection")
            ));
        }
        let run = beside(self.folder.path());
        let made = prepare(&earlier, &run, self.options)?.execute(observer)?;
        if let Outcome::GateFailed(gates) = &made.outcome {
            let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
            return refuse(name(&format!("gate failed: {}", gates.join("; "))));
        }
        observer.begin("collection", None);
        observer.end(&format!(
            "{} in {}",
            counted(made.report.ingest.doc_lists, "tool", "tools"),
            run.display()
        ));
        let source = self.source.with_earlier_run(run).expect("it names a pipeline");
        source.source.check().or_else(|error| refuse(error.to_string()))?;
        Ok(Some(source))
    }

    /// The error about inputs without a request. A finished run that the folder holds stays as it was.
    fn without_request(&self, what: &str) -> Error {
        let has_run = self.folder.has_finished();
        // A copy of standard input that is no log is of no use to the next run.
        let removed = if has_run { Ok(None) } else { self.folder.remove_spool() };
        if let Err(error) = removed.and_then(|_| self.folder.remove_partial()) {
            return Error::Halfway(error);
        }
        if !has_run {
            return Error::NoRequest(what.to_owned());
        }
        let (what, hint) = what.split_at(what.find("\nhint: ").unwrap_or(what.len()));
        let run = self.folder.path().display();
        Error::NoRequest(format!("{what}; the earlier run in {run} is kept as it was{hint}"))
    }

    /// Runs, and runs again with a source that makes more rows, as long as the job asks for more.
    fn filled(&mut self, observer: &dyn Observer) -> Result<RunReport, engine::error::Error> {
        loop {
            match self.round(observer)? {
                Round::Enough(report) => return Ok(*report),
                Round::TooFew { source, kept } => {
                    observer.begin("next round", None);
                    observer.end(&format!("{} left, more are made", counted(kept, "row is", "rows are")));
                    self.source = source;
                }
            }
            if let Some(model) = &self.model {
                model.begin_round();
            }
        }
    }

    /// Runs once. The result is written if enough rows are left, or if no more can be made.
    fn round(&self, observer: &dyn Observer) -> Result<Round, engine::error::Error> {
        let Self { pipeline, options, source, folder, .. } = self;
        let watched = Watched(observer);
        let cx = self.context(&watched);
        let earlier = EarlierDecisions::of(folder.path());
        let manner = self.manner(None);
        let outcome = runner::run_so(folder, &*source.source, &pipeline.stages, manner, &cx)?;
        if let Some(warning) = earlier.warning(&self.decisions, &outcome.corpus)? {
            observer.warn(&warning);
        }
        let file = self.run_file(&outcome)?;
        let kept = outcome.corpus.requests.kept() as u64;
        let left = RowsLeft {
            kept,
            read: &outcome.ingest,
            language_models: &language_models(&outcome.ingest, &outcome.stages),
            pipeline: &file.pipeline,
        };
        let spare = job_of(&file.pipeline).spare_wanted(&left).filter(|_| options.adds_after.is_none());
        if let Some(source) = spare.and_then(|spare| source.with_spare(spare)) {
            return Ok(Round::TooFew { source, kept });
        }
        self.written(outcome, &file, &cx, observer).map(|report| Round::Enough(Box::new(report)))
    }

    /// Writes the dataset, the tables and the report of a run.
    fn written(
        &self,
        mut outcome: runner::Outcome,
        file: &RunFile,
        cx: &Context<'_>,
        observer: &dyn Observer,
    ) -> Result<RunReport, engine::error::Error> {
        let Self { pipeline, options, source, folder, .. } = self;
        let files = source.source.files();
        let job = job_of(&file.pipeline);
        let sink = pipeline.export.as_ref();
        // The dataset is written while the tables of the rows and the files of the job are: none needs the other.
        let (corpus, manifests, inputs) = (&outcome.corpus, &outcome.stages, &outcome.ingest.inputs);
        let (stages, is_exported, seed) = (&pipeline.stages, sink.is_some(), pipeline.seed);
        let cancelled = || cx.cancelled();
        let run = FinishedRun {
            folder: folder.path(),
            file,
            corpus,
            stages,
            manifests,
            is_exported,
            cancelled: &cancelled,
        };
        let written = std::thread::scope(|scope| {
            let cancel = Some(cx.cancel);
            let ledger = scope.spawn(move || {
                write_ledger(stages, folder, (inputs, seed), corpus, manifests, is_exported, cancel)
            });
            let of_job = scope.spawn(|| job.write(&run));
            let export = |export: &SinkInstance| runner::export(folder, &*export.sink, files, corpus, cx);
            let exported = sink.map(export).transpose();
            if exported.is_ok() {
                if job.reads_logs() {
                    warn_of_lines(&outcome.ingest, observer);
                }
                observer.begin("ledger", None);
            }
            let events = ledger.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let of_job = of_job.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((exported?, events?, of_job?))
        });
        let (exported, events, ()) = match written {
            Ok(written) => written,
            Err(error) => {
                // Tables must not describe a dataset that does not exist.
                folder.remove_outcome()?;
                return Err(error);
            }
        };
        outcome.exported = exported;
        let report = write_report(folder, &outcome, file, events, &pipeline.registry)?;
        observer.end("ledger, rows, lists, report");
        let facts = RunFacts {
            inputs: files,
            read: &outcome.ingest,
            report: &report,
            max_fault_share: pipeline.max_fault_share,
            pipeline: &file.pipeline,
            adds_to_run: options.adds_after.is_some(),
        };
        let gates = Outcome::of(job.gates(&facts));
        let folder = folder.path().to_owned();
        Ok(RunReport { folder, outcome: gates, reused: outcome.reused, report })
    }

    fn run_file(&self, outcome: &runner::Outcome) -> Result<RunFile, engine::error::Error> {
        let Self { pipeline, options, source, .. } = self;
        let mut inputs = outcome.ingest.inputs.clone();
        // A step that was taken over may have read the same bytes under another name.
        for (input, path) in inputs.iter_mut().zip(source.source.files()) {
            input.path = path.display().to_string();
        }
        let mut baselines = Vec::new();
        for path in pipeline.baselines() {
            baselines.extend(Earlier::open(&path)?.inputs()?);
        }
        Ok(RunFile {
            format: RUN_FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pipeline: pipeline.resolved_with(source),
            seed: pipeline.seed,
            inputs,
            baselines,
            steps: pipeline.stages.iter().map(|stage| stage.id.clone()).collect(),
            command: options.command.clone(),
            reviewed: self.reviewed.decisions.all.len() as u64,
        })
    }
}

/// The run folder of the pipeline that is run before a run: `out/set-collection` for `out/set`.
fn beside(run: &Path) -> PathBuf {
    let mut name = run.file_name().unwrap_or_default().to_owned();
    name.push("-collection");
    run.with_file_name(name)
}

/// Lines without a request are reported during the run: the file may be damaged, or its columns have other names.
fn warn_of_lines(ingest: &IngestManifest, observer: &dyn Observer) {
    let counts = &ingest.counts;
    let reasons: Vec<String> =
        ingest.line_reasons.iter().map(|(reason, n)| format!("{} {reason}", count(*n))).collect();
    if counts.unreadable > 0 {
        observer.warn(&format!(
            "{} of {} could not be read{}: {}",
            count(counts.unreadable),
            counted(counts.lines, "line", "lines"),
            if counts.no_request > 0 {
                format!(", {} without a request", count(counts.no_request))
            } else {
                String::new()
            },
            reasons.join(", ")
        ));
    }
    // Lines of logs, all of which were forgotten, or of a damaged file.
    if counts.records == 0 && !reasons.is_empty() {
        observer.warn(&format!(
            "no request was read from {} ({})",
            counted(counts.lines, "line", "lines"),
            reasons.join(", ")
        ));
    }
    if counts.lines == 0 {
        observer.warn(
            "the inputs are empty\nhint: check that the log was written to the end, or name another one",
        );
    }
}
