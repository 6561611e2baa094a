//! `callsieve explain`: explains a reason code, with an example that it applies to and one that it does not.

use anyhow::bail;
use serde_json::Value;

use super::deciders::file_of;
use crate::cli::console::{self, Paint, Painted, Screen};
use crate::cli::layout::{Column, Table, paragraph, words};
use crate::docs::check::rules::{Example, Rule};
use crate::docs::convert;
use crate::docs::fix;
use crate::engine::example::Sample;
use crate::engine::vocabulary::{Reason, ReasonKind};
use crate::ingest::reasons::Reason as LineReason;
use crate::instruct::SourceReason;
use crate::lint::rules;
use crate::reasons::{self, KnownReason};
use crate::stages::{Registry, StageKind};

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve explain                           all codes, one per line
  callsieve explain query/near-duplicate      one code, with examples and the source file that decides on it")]
pub(super) struct ExplainArgs {
    /// Reason code, such as docs/near-duplicate, or what codes begin with, such as docs [default: lists all codes]
    reason: Option<String>,
}

pub(super) fn explain(args: &ExplainArgs, registry: &Registry) -> anyhow::Result<()> {
    let reasons = reasons::all(registry);
    let starts = |code: &str| args.reason.as_ref().is_none_or(|topic| code.split('/').next() == Some(topic));
    if args.reason.as_ref().is_none_or(|code| !code.contains('/')) {
        let mut table = Table::new([Column::text("code"), Column::wrapped("meaning")]);
        for reason in reasons.iter().filter(|reason| starts(reason.code())) {
            table.row([reason.code(), reason.sentence()]);
        }
        if !table.is_empty() {
            return Ok(console::print_painted(&table.fitted(Screen::of_stdout()))?);
        }
    }
    let Some(code) = &args.reason else { return Ok(()) };
    let Some(reason) = reasons.iter().find(|reason| reason.code() == code) else {
        bail!("{}", reasons::unknown(code, reasons.iter().map(KnownReason::code)));
    };
    print(&match reason {
        KnownReason::Line(reason) => of_line(reason),
        KnownReason::Stage(kind, reason) => of_stage(*kind, reason),
        KnownReason::Check(rule) => of_check_alone(rule)?,
        KnownReason::Conversion(reason) => of_conversion(reason)?,
        KnownReason::Source(SourceReason { code, sentence, reported }) => {
            format!("{code}\n  {sentence}\n  reported {reported}\n{}", decider(code))
        }
        KnownReason::Fix(code, sentence) => {
            format!("{code}\n  {sentence}\n  reported by fix only\n{}", decider(code))
        }
    })
}

/// Prints an explanation: its sentences wrap, its examples do not.
fn print(text: &str) -> anyhow::Result<()> {
    let (mut painted, screen) = (Painted::default(), Screen::of_stdout());
    let (sentences, examples) = text.split_at(text.find("\n\n").map_or(text.len(), |at| at + 1));
    for line in sentences.lines() {
        let indent = line.len() - line.trim_start().len();
        painted.append(paragraph("", indent, &words(line.trim_start()), screen));
    }
    painted.add(Paint::Plain, examples);
    Ok(console::print_painted(&painted)?)
}

fn of_line(reason: &LineReason) -> String {
    let shown = |text: &[u8]| format!("  {:?}\n", String::from_utf8_lossy(text));
    format!(
        "{}\n  {}\n  reported by ingest, for a line of the log\n{}{}",
        reason.code,
        reason.sentence,
        decider(reason.code),
        example_of(&shown(reason.fires.text), &shown(reason.passes.text))
    )
}

fn of_check_alone(rule: &Rule) -> anyhow::Result<String> {
    let mut text = format!("{}\n  {}\n  reported by check only\n{}", rule.code, rule.what(), of_check(rule));
    text += &decider(rule.code);
    if let Some(Example { fires, quiet }) = rule.example {
        text += &example_of(&indented_json(fires)?, &indented_json(quiet)?);
    }
    Ok(text)
}

fn of_conversion(reason: &convert::Reason) -> anyhow::Result<String> {
    let text = format!(
        "{}\n  {}\n  reported by fix --as, here for {}\n",
        reason.code,
        reason.what,
        reason.api.name()
    );
    Ok(text
        + &decider(reason.code)
        + &example_of(&indented_json(reason.fires)?, &indented_json(reason.quiet)?))
}

/// The line with the source file that decides on a reason.
fn decider(code: &str) -> String {
    file_of(code).map(|file| format!("  decided in {file}\n")).unwrap_or_default()
}

/// The level of a rule in `check`.
fn of_check(rule: &Rule) -> String {
    let by: Vec<&str> = rule.by.iter().map(|by| by.name()).collect();
    let by = if by.is_empty() { String::new() } else { format!(", required by {}", by.join(" and ")) };
    format!("  level of `callsieve check`: {}{by}\n", rule.level.name())
}

fn of_stage(kind: Option<&StageKind>, reason: &Reason) -> String {
    let what_kind = match reason.kind {
        ReasonKind::Policy => "policy: the recipe excludes or changes such rows",
        ReasonKind::Fault => "fault: the data is damaged or unreadable; counts towards max_fault_share",
    };
    let who = kind.map_or("the runner", |kind| kind.name);
    let mut text = format!("{}\n  {}\n  reported by {who}\n  {what_kind}\n", reason.code, reason.sentence);
    text += &decider(reason.code);
    if let Some(rule) = fix::rules().find(|rule| rule.code == reason.code) {
        let safety = match rule.safety {
            fix::Safety::Safe => "safe edit: always made",
            fix::Safety::Unsafe => "unsafe edit: made if the pipeline allows it",
            fix::Safety::Suggest => "reported only, never changed",
        };
        text += &format!("  {}\n  {safety}\n", rule.why);
    }
    text += &rules::of(reason.code).map(of_check).unwrap_or_default();
    let example =
        kind.and_then(|kind| (kind.examples)().into_iter().find(|example| example.reason == reason.code));
    if let Some(example) = example {
        let with = if example.settings.is_empty() {
            String::new()
        } else {
            format!("\nwith\n  {}\n", example.settings)
        };
        text += &format!("{with}{}", example_of(&indented(example.fires), &indented(example.quiet)));
    }
    text
}

fn example_of(fires: &str, quiet: &str) -> String {
    format!("\napplies to\n{fires}\ndoes not apply to\n{quiet}")
}

fn indented(sample: Sample) -> String {
    let text = match sample {
        Sample::Query(text) | Sample::Text(text) => format!("{text:?}"),
        Sample::Tables(_) | Sample::Functions(_) => format!("{:#}", sample.to_tables()),
    };
    indented_lines(&text)
}

fn indented_json(functions: &str) -> anyhow::Result<String> {
    Ok(indented_lines(&format!("{:#}", serde_json::from_str::<Value>(functions)?)))
}

fn indented_lines(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(code: &str) -> String {
        explain(&ExplainArgs { reason: Some(code.to_owned()) }, &Registry::standard())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn only_a_similar_code_is_suggested() {
        assert!(
            message("docs/near-cpy")
                .ends_with("did you mean \"docs/near-duplicate\"? `callsieve explain` lists all codes")
        );
        assert!(message("zzz").ends_with("hint: `callsieve explain` lists all codes"));
    }
}
