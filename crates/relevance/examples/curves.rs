//! Measures the text weights on BFCL question files, as `callsieve calibrate --bfcl` does, by language group and side.
//!
//! `curves FOLDER [--weights FILE] [--write FILE]`: cross-validated figures; with `--weights`, what those weights decide
//! instead. `--refusals` measures the rule about declined requests: every irrelevant request and one in ten relevant ones
//! counts as declined.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use callsieve_bfcl::entry::Entry;
use callsieve_bfcl::files::{in_folder, lines};
use callsieve_relevance::benchmark::{background_of, example};
use callsieve_relevance::calibrate::{
    Findings, FitPlan, LabelledExample, fit_text, judge_all, log_odds_unseen, test_text,
};
use callsieve_relevance::evidence::AnswerSignal;
use callsieve_relevance::fit::logistic;
use callsieve_relevance::language_group::LanguageGroup;
use callsieve_relevance::measure::{DecisionCounts, Label, TARGETS};
use callsieve_relevance::model::{Model, Side};
use serde_json::Value;

const PLAN: FitPlan = FitPlan { precision: 0.95, l2: 30.0, seed: 1, repeats: 10 };

/// One in this many relevant requests is declined by mistake.
const FALSE_REFUSALS: usize = 10;

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

/// Reads the labelled requests of a folder.
fn examples(folder: &Path) -> Result<Vec<LabelledExample>, Box<dyn Error>> {
    let mut records: Vec<(Value, String)> = Vec::new();
    let mut files = in_folder(folder)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for file in &files {
        let text = std::fs::read_to_string(&file.path)?;
        for (_, line) in lines(&text) {
            records.push((serde_json::from_str(line)?, file.category.clone()));
        }
    }
    let read = records.iter().map(|(record, category)| Ok((Entry::read(record)?, category.as_str())));
    let entries: Vec<(Entry<'_>, &str)> = read.collect::<Result<_, Box<dyn Error>>>()?;
    let background = background_of(entries.iter().map(|(entry, _)| entry));
    Ok(entries.iter().filter_map(|(entry, category)| example(entry, category, &background).ok()).collect())
}

/// Measures what is judged irrelevant if the logged models declined all irrelevant requests and some relevant ones.
fn refusals(examples: &[LabelledExample], out: &mut impl std::io::Write) -> Result<(), Box<dyn Error>> {
    let log_odds = log_odds_unseen(examples, PLAN);
    for languages in LanguageGroup::ALL {
        for below in [0.3, 0.4, 0.5, 0.6, 0.7] {
            let (mut decided, mut n_relevant) = (DecisionCounts::default(), 0);
            let mut model = Model::embedded().clone();
            model.evidence.declined_below = below;
            for (example, log_odds) in examples.iter().zip(&log_odds) {
                if example.languages != languages {
                    continue;
                }
                let mut evidence = example.evidence;
                n_relevant += usize::from(example.is_relevant);
                // Every relevant request is counted, with the weight of one that is declined by mistake.
                evidence.add(AnswerSignal::Declined);
                let side = model.judge_log_odds(*log_odds, evidence, languages).side();
                decided.add(DecisionCounts::of_one(side, example.is_relevant));
            }
            let n_wrong = (decided.irrelevant.0 - decided.irrelevant.1) as f64 / FALSE_REFUSALS as f64;
            let right = decided.irrelevant.1 as f64 / (decided.irrelevant.1 as f64 + n_wrong);
            writeln!(
                out,
                "{} below {below}: {} of {} irrelevant requests judged irrelevant, {n_wrong:.1} of {:.1} false refusals too: {:.1} % right",
                languages.name(),
                decided.irrelevant.1,
                decided.n_rows - n_relevant,
                n_relevant as f64 / FALSE_REFUSALS as f64,
                100.0 * right
            )?;
        }
    }
    let _ = (logistic(0.0), Side::Unsure);
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
