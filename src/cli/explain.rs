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
use crate::ingest::reasons::REASONS as LINE_REASONS;
use crate::instruct::{SourceReason, source_reasons};
use crate::lint::rules;
use crate::stages::{Registry, StageKind};
use crate::text::suggestion::did_you_mean;

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
    let reasons = registry.reasons();
    let starts = |code: &str| args.reason.as_ref().is_none_or(|topic| code.split('/').next() == Some(topic));
    if args.reason.as_ref().is_none_or(|code| !code.contains('/')) {
        let of_stages = reasons.iter().map(|(_, reason)| (reason.code, reason.sentence));
        let of_lines = LINE_REASONS.iter().map(|reason| (reason.code, reason.sentence));
        let of_sources = source_reasons().into_iter().map(|reason| (reason.code, reason.sentence));
        let known = |code: &str| reasons.iter().any(|(_, reason)| reason.code == code);
        let of_check = rules::all().filter(|rule| !known(rule.code)).map(|rule| (rule.code, rule.what()));
        let of_convert = convert::REASONS.iter().map(|reason| (reason.code, reason.what));
        let mut table = Table::new([Column::text("code"), Column::wrapped("meaning")]);
        of_lines
            .chain(of_stages)
            .chain(of_check)
            .chain(of_convert)
            .chain(of_sources)
            .chain(crate::fix::REASONS)
            .filter(|(code, _)| starts(code))
            .for_each(|(code, sentence)| table.row([code, sentence]));
        if !table.is_empty() {
            return Ok(console::print_painted(&table.fitted(Screen::of_stdout()))?);
        }
    }
    let Some(code) = &args.reason else { return Ok(()) };
    if let Some((kind, reason)) = reasons.iter().find(|(_, reason)| reason.code == code) {
        return print(&of_stage(*kind, reason));
    }
    if let Some(reason) = LINE_REASONS.iter().find(|reason| reason.code == code) {
        let shown = |text: &[u8]| format!("  {:?}\n", String::from_utf8_lossy(text));
        let text = format!(
            "{}\n  {}\n  reported by ingest, for a line of the log\n{}{}",
            reason.code,
            reason.sentence,
            decider(code),
            example_of(&shown(reason.fires.text), &shown(reason.passes.text))
        );
        return print(&text);
    }
    if let Some(reason) = source_reasons().into_iter().find(|reason| reason.code == code) {
        let SourceReason { code, sentence, reported } = reason;
        return print(&format!("{code}\n  {sentence}\n  reported {reported}\n{}", decider(code)));
    }
    if let Some(rule) = rules::of(code) {
        return print(&of_check_alone(rule)?);
    }
    if let Some(reason) = convert::REASONS.iter().find(|reason| reason.code == code) {
        return print(&of_conversion(reason)?);
    }
    if let Some((code, sentence)) = crate::fix::REASONS.iter().find(|(known, _)| known == code) {
        return print(&format!("{code}\n  {sentence}\n  reported by fix only\n{}", decider(code)));
    }
    let all =
        reasons.iter().map(|(_, reason)| reason.code).chain(LINE_REASONS.iter().map(|reason| reason.code));
    let all = all.chain(rules::all().map(|rule| rule.code));
    let all = all.chain(convert::REASONS.iter().map(|reason| reason.code));
    let all = all.chain(source_reasons().into_iter().map(|reason| reason.code));
    let all = all.chain(crate::fix::REASONS.iter().map(|(code, _)| *code));
    let meant = did_you_mean(code, all);
    bail!("unknown reason \"{code}\"\nhint: {meant}`callsieve explain` lists all codes");
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
