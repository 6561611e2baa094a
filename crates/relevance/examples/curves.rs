//! Measures the text weights on BFCL question files, as `callsieve calibrate --bfcl` does, by language group and side.
//!
//! `curves FOLDER [--weights FILE] [--write FILE]`: cross-validated figures; with `--weights`, what those weights decide
//! instead. `--speed` measures the time of a request's features. `--refusals` measures the rule about declined requests: every irrelevant request and one in ten relevant ones
//! counts as declined.

#![allow(clippy::cast_precision_loss)] // Counts of requests.
#![allow(clippy::disallowed_methods)] // An interrupted write of a measurement does no harm.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use callsieve_bfcl::entry::Entry;
use callsieve_bfcl::files::{in_folder, lines};
use callsieve_relevance::background::Background;
use callsieve_relevance::benchmark::{background_of, example};
use callsieve_relevance::calibrate::{
    Findings, FitPlan, LabelledExample, fit_text, judge_all, log_odds_unseen, test_text,
};
use callsieve_relevance::docs::PreparedDocs;
use callsieve_relevance::evidence::{AnswerSignal, LogEvidence};
use callsieve_relevance::features::features;
use callsieve_relevance::language_group::LanguageGroup;
use callsieve_relevance::measure::{DecisionCounts, Label, TARGETS};
use callsieve_relevance::model::Model;
use callsieve_relevance::query::PreparedQuery;
use serde_json::Value;

const PLAN: FitPlan = FitPlan { precision: 0.95, l2: 30.0, seed: 1, repeats: 10 };

/// The share of relevant requests that are declined by mistake.
const FALSE_REFUSALS: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| {
        arguments.iter().position(|argument| argument == flag).and_then(|at| arguments.get(at + 1))
    };
    let folder = arguments.first().ok_or("a folder of question files is needed")?;
    let examples = examples(Path::new(folder))?;
    let mut out = std::io::stdout().lock();
    if let Some(file) = after("--weights") {
        let model = Model::read(Path::new(file))?;
        for (name, findings) in judge_all(&model, &examples).iter().take(1) {
            writeln!(out, "{}", line(name, findings))?;
        }
        return Ok(());
    }
    if arguments.iter().any(|argument| argument == "--speed") {
        return speed(Path::new(folder), &mut out);
    }
    if arguments.iter().any(|argument| argument == "--refusals") {
        return refusals(&examples, &mut out);
    }
    let found = test_text(&examples, PLAN, |_| true);
    writeln!(out, "{}", line("all", &found.all))?;
    for languages in LanguageGroup::ALL {
        writeln!(out, "{}", line(languages.name(), found.of(languages)))?;
        for side in Label::ALL {
            for target in TARGETS {
                if let Some(counts) = found.of(languages).at_target(side, target) {
                    writeln!(
                        out,
                        "  {} {target}: {} decided, {} right",
                        side.name(),
                        counts.n_decided,
                        counts.n_right
                    )?;
                }
            }
        }
    }
    if let Some(file) = after("--write") {
        let text = fit_text(&examples, PLAN, format!("{folder}: {} requests", examples.len()));
        let model = Model { text, ..Model::embedded().clone() };
        std::fs::write(file, model.to_toml())?;
    }
    Ok(())
}

/// Reads the questions of a folder with their categories.
fn records(folder: &Path) -> Result<Vec<(Value, String)>, Box<dyn Error>> {
    let mut records = Vec::new();
    let mut files = in_folder(folder)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for file in &files {
        let text = std::fs::read_to_string(&file.path)?;
        for (_, line) in lines(&text) {
            records.push((serde_json::from_str(line)?, file.category.clone()));
        }
    }
    Ok(records)
}

/// Reads the labelled requests of a folder.
fn examples(folder: &Path) -> Result<Vec<LabelledExample>, Box<dyn Error>> {
    let records = records(folder)?;
    let read = records.iter().map(|(record, category)| Ok((Entry::read(record)?, category.as_str())));
    let entries: Vec<(Entry<'_>, &str)> = read.collect::<Result<_, Box<dyn Error>>>()?;
    let background = background_of(entries.iter().map(|(entry, _)| entry));
    Ok(entries.iter().filter_map(|(entry, category)| example(entry, category, &background).ok()).collect())
}

/// Measures the time of the features of a request whose docs are prepared, and the part of the background.
fn speed(folder: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    const REPEATS: u32 = 5;
    let records = records(folder)?;
    let entries: Vec<Entry<'_>> =
        records.iter().map(|(record, _)| Entry::read(record)).collect::<Result<_, _>>()?;
    let prepared: Vec<PreparedDocs> =
        entries.iter().map(|entry| PreparedDocs::new(entry.functions())).collect();
    for (name, background) in [("without", Background::default()), ("with", background_of(entries.iter()))] {
        let begin = Instant::now();
        let mut sum = 0.0;
        for _ in 0..REPEATS {
            for (entry, docs) in entries.iter().zip(&prepared) {
                let messages = entry.turns.first().map_or(&[][..], Vec::as_slice);
                let queries: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
                sum += features(&PreparedQuery::new(&queries), docs, &background).iter().sum::<f64>();
            }
        }
        let n = f64::from(REPEATS) * entries.len() as f64;
        let each = 1e6 * begin.elapsed().as_secs_f64() / n;
        writeln!(out, "{name} a background: {each:.0} µs a request (sum {sum:.0})")?;
    }
    Ok(())
}

/// Measures what is judged irrelevant if the logged models declined all irrelevant requests and some relevant ones.
fn refusals(examples: &[LabelledExample], out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let log_odds = log_odds_unseen(examples, PLAN);
    let mut declined = LogEvidence::default();
    declined.add(AnswerSignal::Declined);
    for below in [0.3, 0.4, 0.5, 0.6, 0.7] {
        let mut model = Model::embedded().clone();
        model.evidence.declined_below = below;
        for languages in LanguageGroup::ALL {
            let mut decided = DecisionCounts::default();
            let of_group =
                examples.iter().zip(&log_odds).filter(|(example, _)| example.languages == languages);
            for (example, log_odds) in of_group {
                let side = model.judge_log_odds(*log_odds, declined, languages).side();
                decided.add(DecisionCounts::of_one(side, example.is_relevant));
            }
            let (n_all, n_right) = (decided.irrelevant.0 as f64, decided.irrelevant.1 as f64);
            // Each relevant request counts by the share of them that is declined by mistake.
            let n_wrong = (n_all - n_right) * FALSE_REFUSALS;
            let right = 100.0 * n_right / (n_right + n_wrong);
            let name = languages.name();
            writeln!(out, "{name} below {below}: {n_right} right, {n_wrong:.1} wrong, {right:.1} % right")?;
        }
    }
    Ok(())
}

fn line(name: &str, findings: &Findings) -> String {
    let DecisionCounts { n_rows, relevant, irrelevant } = findings.decided;
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    format!(
        "{name}: AUC {:.3}, {:.1} % of {n_rows} decided; relevant {:.1} %, {:.1} % right; irrelevant {:.1} %, {:.1} % right",
        findings.mean_auc().unwrap_or_default(),
        percent(relevant.0 + irrelevant.0, n_rows),
        percent(relevant.0, n_rows),
        percent(relevant.1, relevant.0),
        percent(irrelevant.0, n_rows),
        percent(irrelevant.1, irrelevant.0)
    )
}
