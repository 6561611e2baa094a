//! The scores for people: tables of categories, group means, errors, and systems side by side.

use crate::cli::console::{Paint, Painted, Screen, count, counted};
use crate::cli::layout::{Cell, Column, Table, paragraph, words};
use crate::evaluate::figures::{Spread, wilson};
use crate::evaluate::groups::GroupMean;
use crate::evaluate::{Evaluation, SystemScore};
use crate::llm::models::Cost;
use crate::text::figures::{interval, share};
use crate::text::short::shortened;

/// Characters of an example of an error.
const MAX_EXAMPLE: usize = 140;

/// Returns all scores. `install` is the command that installs the official package, if it is not installed.
pub(super) fn text(
    scores: &Evaluation<'_>,
    is_partial: bool,
    install: Option<&str>,
    screen: Screen,
) -> Painted {
    let mut text = Painted::default();
    for system in &scores.systems {
        text.add(Paint::Title, system.name);
        text.add(Paint::Plain, "\n");
        text.append(categories(system, screen));
        text.append(notes(system, is_partial, screen));
        text.add(Paint::Plain, "\n");
        text.append(groups(system, screen));
        text.append(formats(system, screen));
        text.add(Paint::Plain, "\n");
        text.append(errors(system, screen));
        text.append(usage(system, screen));
    }
    text.append(pairs(scores, screen));
    if !scores.not_scored.is_empty() {
        let mut table = Table::new([Column::text("not scored"), Column::wrapped("reason")]);
        scores.not_scored.iter().for_each(|(category, reason)| table.row([category, reason]));
        text.append(table.fitted(screen));
        let needs_package = scores.not_scored.iter().any(|(_, reason)| reason.contains("--engine official"));
        if let Some(install) = install.filter(|_| needs_package) {
            // The command is one line, so that it can be copied.
            text.add(Paint::Plain, "The official package is not installed here; this installs it:\n");
            text.add(Paint::Plain, &format!("{install}\n"));
        }
    }
    text
}

fn number(n: usize) -> String {
    count(n as u64)
}

fn categories(system: &SystemScore<'_>, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text("category"),
        Column::number("n"),
        Column::number("correct"),
        Column::number("accuracy"),
        Column::number("95 % interval"),
    ]);
    for of in &system.categories {
        let figures = [number(of.n), number(of.correct), share(of.accuracy), interval(of.interval)];
        table.row([of.category.clone()].into_iter().chain(figures));
    }
    if system.categories.len() > 1 {
        let (correct, n) = system.total();
        let figures = [number(n), number(correct), share(system.accuracy()), interval(wilson(correct, n))];
        table.row(["all outputs".to_owned()].into_iter().chain(figures));
    }
    table.fitted(screen)
}

fn notes(system: &SystemScore<'_>, is_partial: bool, screen: Screen) -> Painted {
    let sum = |get: fn(&crate::evaluate::figures::CategoryFigures) -> usize| -> u64 {
        system.categories.iter().map(get).sum::<usize>() as u64
    };
    let mut text = Painted::default();
    let mut note = |n: u64, what: &str| {
        if n > 0 {
            text.append(paragraph("", 0, &words(what), screen));
        }
    };
    if let Some(facts) = &system.package {
        note(
            1,
            &format!(
                "Verdicts by bfcl-eval {}; network of its process: {}; files: {}.",
                facts.version, facts.network, facts.files
            ),
        );
    }
    for sentence in super::decoding::notes(system.decoding) {
        note(1, &sentence);
    }
    let missing = sum(|of| of.missing);
    if is_partial {
        let entries = counted(missing, "entry has", "entries have");
        note(missing, &format!("--partial: {entries} no output; n does not count them."));
    }
    let dots = sum(|of| of.only_dots_differ);
    let outputs = counted(dots, "output is", "outputs are");
    note(
        dots,
        &format!("{outputs} wrong only by . or _ in the name of a function; see --underscore-to-dot."),
    );
    let unparsed = sum(|of| of.unparsed_calls);
    let outputs = counted(unparsed, "correct abstention is", "correct abstentions are");
    note(
        unparsed,
        &format!("{outputs} a call that cannot be decoded, which the evaluator counts as no call."),
    );
    let errors = sum(|of| of.error_texts);
    let outputs = counted(errors, "correct abstention is", "correct abstentions are");
    note(
        errors,
        &format!(
            "{outputs} the error of a failed request, which the evaluator counts as no call; ask again for a score."
        ),
    );
    let aborts = sum(|of| of.aborts);
    let outputs = counted(aborts, "output", "outputs");
    note(
        aborts,
        &format!(
            "At {outputs} the official evaluator stops with an exception and scores nothing; here the output is wrong \
             (evaluator:abort)."
        ),
    );
    text
}

/// The current versions; those of earlier ones are in `--json`.
fn groups(system: &SystemScore<'_>, screen: Screen) -> Painted {
    const CURRENT: [&str; 2] = ["BFCL", "evalscope"];
    let mut table = Table::new([
        Column::text("mean of"),
        Column::text("group"),
        Column::number("accuracy"),
        Column::wrapped("divides by"),
    ]);
    let is_current = |group: &&GroupMean| CURRENT.contains(&group.by) && group.accuracy.is_some();
    for group in system.groups.iter().filter(is_current) {
        let accuracy = group.accuracy.map_or_else(String::new, share);
        table.row([group.by.to_owned(), group.name.to_owned(), accuracy, group.divides_by.clone()]);
    }
    let mut text = if table.is_empty() { Painted::default() } else { table.fitted(screen) };
    if system.groups.iter().any(|group| group.accuracy.is_none()) {
        let note = "A mean of BFCL needs outputs of all its categories; its own board counts missing ones of Live and multi-turn as wrong \
                    (--score-dir). Means of earlier versions are in --json.";
        text.append(paragraph("", 0, &words(note), screen));
    }
    text
}

/// Shows how much the accuracy depends on the prompt.
fn formats(system: &SystemScore<'_>, screen: Screen) -> Painted {
    let Some(formats) = &system.formats else { return Painted::default() };
    let mut all: Vec<_> = formats.configurations.iter().collect();
    all.sort_by(|a, b| b.accuracy().total_cmp(&a.accuracy()));
    let mut table = Table::new([
        Column::number("accuracy"),
        Column::number("n"),
        Column::wrapped("prompt configuration"),
    ]);
    let ends = if all.len() > 2 { [&all[..1], &all[all.len() - 1..]].concat() } else { all };
    for of in ends {
        // The parts of a configuration are words that can be wrapped.
        table.row([share(of.accuracy()), number(of.n), of.configuration.replace('&', " ")]);
    }
    let mut text = Painted::default();
    text.add(Paint::Heading, "format sensitivity\n");
    text.append(table.fitted(screen));
    let configurations = counted(formats.configurations.len() as u64, "configuration", "configurations");
    let note = format!(
        "Best and worst of {configurations}: they differ by {}, the standard deviation is {}. --json has all. Not part of \
         the means, nor of all outputs.",
        share(formats.max_delta),
        share(formats.sd)
    );
    text.append(paragraph("", 0, &words(&note), screen));
    text
}

fn errors(system: &SystemScore<'_>, screen: Screen) -> Painted {
    const INDENT: usize = 8;
    let mut text = Painted::default();
    for of in system.categories.iter().filter(|of| !of.errors.is_empty()) {
        text.add(Paint::Heading, &format!("errors in {}", of.category));
        text.add(Paint::Plain, "\n");
        for error in &of.errors {
            let n = format!("{:>6}", number(error.n));
            text.append(paragraph(&n, INDENT, &[Cell::from(&error.error_type)], screen));
            let example = shortened(&format!("{}: {}", error.example, error.message), MAX_EXAMPLE);
            let pieces: Vec<Cell> = example.split(' ').map(|word| Cell::new(Paint::Heading, word)).collect();
            text.append(paragraph("", INDENT, &pieces, screen));
        }
    }
    if !text.is_empty() {
        text.add(Paint::Plain, "\n");
    }
    text
}

fn usage(system: &SystemScore<'_>, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text("per output"),
        Column::number("n"),
        Column::number("mean"),
        Column::number("sd"),
        Column::number("95th percentile"),
        Column::number("sum"),
    ]);
    let mut row = |name: &str, spread: Option<Spread>| {
        if let Some(Spread { n, mean, sd, p95, sum }) = spread {
            let figures = [mean, sd, p95, sum].map(|figure| format!("{figure:.2}"));
            table.row([name.to_owned(), number(n)].into_iter().chain(figures));
        }
    };
    row("latency (s)", system.latency);
    row("input tokens", system.input_tokens);
    row("output tokens", system.output_tokens);
    let mut text = Painted::default();
    if !table.is_empty() {
        text.append(table.fitted(screen));
    }
    if let Some(cost) = &system.cost {
        for note in cost_notes(cost) {
            text.append(paragraph("", 0, &words(&note), screen));
        }
    }
    if !text.is_empty() {
        text.add(Paint::Plain, "\n");
    }
    text
}

fn cost_notes(cost: &Cost) -> Vec<String> {
    let mut notes = Vec::new();
    if cost.n > 0 {
        let outputs = counted(cost.n as u64, "output", "outputs");
        notes.push(format!("Cost of {outputs}: {:.4} USD (prices: {}).", cost.usd, cost.source));
    }
    if cost.without_tokens > 0 {
        let rows = counted(cost.without_tokens as u64, "row has", "rows have");
        notes.push(format!("{rows} no tokens, so no cost."));
    }
    if !cost.without_price.is_empty() {
        let models: Vec<&str> = cost.without_price.iter().map(String::as_str).collect();
        notes.push(format!(
            "No price of {} is known (prices: {}); --prices FILE reads others.",
            models.join(", "),
            cost.source
        ));
    }
    notes
}

fn pairs(scores: &Evaluation<'_>, screen: Screen) -> Painted {
    let mut text = Painted::default();
    if scores.pairs.is_empty() {
        return text;
    }
    let mut table = Table::new([
        Column::value("A"),
        Column::value("B"),
        Column::number("n"),
        Column::number("both"),
        Column::number("only A"),
        Column::number("only B"),
        Column::number("neither"),
        Column::number("A - B"),
        Column::number("p"),
    ]);
    for pair in &scores.pairs {
        let counts = [pair.n, pair.both, pair.only_a, pair.only_b, pair.neither].map(number);
        let figures = if pair.n > 0 { pair.shown() } else { ["-", "-"].map(str::to_owned) };
        table.row([pair.a.clone(), pair.b.clone()].into_iter().chain(counts).chain(figures));
    }
    text.append(table.fitted(screen));
    let note =
        "Outputs that both systems have, by which of them is correct; p is that of McNemar's exact test.";
    text.append(paragraph("", 0, &words(note), screen));
    text.add(Paint::Plain, "\n");
    text
}
