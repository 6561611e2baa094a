//! `callsieve audit scores`: scores of models on two benchmarks.

use std::path::PathBuf;

use anyhow::Context as _;

use super::Ending;
use super::layout::{Column, Table, paragraph, words};
use crate::audit::scores::page::{mark, page, points};
use crate::audit::scores::reading::Choice;
use crate::audit::scores::{FOLLOWS_NOT, PairReport, Resampling, ScoreReport, compare};
use crate::cli::console::{self, Paint, Painted, Screen};
use crate::engine::disk::write_output;
use crate::run::check_outputs;
use crate::text::visible::visible_line;

/// Parts of `audit`.
#[derive(Debug, clap::Subcommand)]
pub(super) enum AuditCommand {
    /// Compares scores of models on two benchmarks: a robust line, residuals with intervals, groups by size and mode.
    Scores(ScoresArgs),
}

/// Arguments of `audit scores`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file is BFCL's leaderboard (data_overall.csv), whose non-live and live columns are compared, or has the columns \
model, x, y, and if you like n_x, n_y (numbers of questions), size (billions of parameters), mode (fc or prompt). Scores are \
percents or shares.

A residual below the line is consistent with training on the questions of x. It never proves it: small models, prompt mode and \
other questions in y have the same effect.

Exit codes: 0 done; 2 could not start.

Examples:
  callsieve audit scores data_overall.csv
  callsieve audit scores scores.csv --page scatter.html --residuals residuals.csv
  callsieve audit scores data_overall.csv --x \"Non-Live Simple AST\" --y \"Live Simple AST\" --json"
)]
pub(super) struct ScoresArgs {
    /// Table of scores: CSV with a header.
    #[arg(value_name = "CSV")]
    file: PathBuf,

    /// Column of the names of models [default: model, Model or name]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Column of the scores on the older benchmark. May be repeated, with as many --y
    #[arg(long, value_name = "NAME")]
    x: Vec<String>,

    /// Column of the scores on the newer benchmark.
    #[arg(long, value_name = "NAME")]
    y: Vec<String>,

    /// Number of questions of x: a number or a column [default: column `n_x`, or those of BFCL]
    #[arg(long, value_name = "N|NAME")]
    n_x: Option<String>,

    /// Number of questions of y: a number or a column [default: column `n_y`, or those of BFCL]
    #[arg(long, value_name = "N|NAME")]
    n_y: Option<String>,

    /// Column of sizes in billions of parameters [default: column size, or from the name]
    #[arg(long, value_name = "NAME")]
    size: Option<String>,

    /// Column of modes, fc or prompt [default: column mode, or from the name]
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,

    /// Bootstrap samples.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    samples: u32,

    /// Seed of the bootstrap.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Models that are listed for each pair of columns, the lowest residuals first; 0 lists all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Writes all residuals to a file: CSV if its name ends in .csv, else JSON lines.
    #[arg(long, value_name = "FILE")]
    residuals: Option<PathBuf>,

    /// Writes a page with the scatters to a file.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: AuditCommand) -> anyhow::Result<Ending> {
    let AuditCommand::Scores(args) = command;
    let choice = Choice {
        model: args.model,
        x: args.x,
        y: args.y,
        n_x: args.n_x,
        n_y: args.n_y,
        size: args.size,
        mode: args.mode,
    };
    let by = Resampling { samples: args.samples as usize, seed: args.seed };
    let outputs = [("--residuals", args.residuals.as_deref()), ("--page", args.page.as_deref())];
    let outputs: Vec<_> = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?))).collect();
    check_outputs(&outputs, std::slice::from_ref(&args.file))?;
    let report = compare(&args.file, &choice, by)?;
    if let Some(path) = &args.residuals {
        let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        write_output(path, &report.residuals(is_csv)?)
            .with_context(|| format!("--residuals {}", path.display()))?;
    }
    if let Some(path) = &args.page {
        write_output(path, page(&report).as_bytes()).with_context(|| format!("--page {}", path.display()))?;
    }
    if args.json {
        console::write_json(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        console::print_painted(&summary(&report, args.top, Screen::of_stdout()))?;
    }
    Ok(Ending::Done)
}

/// The width of labels.
const LABEL: usize = 9;

fn summary(report: &ScoreReport, top: usize, screen: Screen) -> Painted {
    let mut text = Painted::default();
    for (at, pair) in report.pairs.iter().enumerate() {
        if at > 0 {
            text.add(Paint::Plain, "\n");
        }
        add_pair(&mut text, pair, top, screen);
    }
    text.add(Paint::Plain, "\n");
    text.append(paragraph("note", LABEL, &words(report.consistent_with), screen));
    text
}

fn add_pair(text: &mut Painted, pair: &PairReport, top: usize, screen: Screen) {
    let name = |name: &str| visible_line(name).into_owned();
    text.add(Paint::Heading, &format!("{} (y) against {} (x)\n", name(&pair.y), name(&pair.x)));
    let without =
        if pair.without > 0 { format!(", {} without a score", pair.without) } else { String::new() };
    let lines = [
        format!("models   {}{without}", pair.models),
        format!("y = x    {} below it, median gap {} points", pair.below_equal, points(pair.median_gap)),
        format!(
            "line     {} (slope {:.2} … {:.2}), spread {:.1} points",
            pair.line(),
            pair.slope_from,
            pair.slope_to,
            pair.sigma
        ),
        format!("low      {} (z at or below -2, interval below the line)", pair.low),
    ];
    for line in lines {
        text.add(Paint::Plain, &format!("{line}\n"));
    }
    if !pair.follows() {
        text.append(paragraph("note", LABEL, &words(FOLLOWS_NOT), screen));
    }
    if pair.n_x.is_none() || pair.n_y.is_none() {
        let why = "of the line only; --n-x and --n-y give the numbers of questions";
        text.append(paragraph("95 %", LABEL, &words(why), screen));
    }
    let mut strata = Table::new([
        Column::text("mode"),
        Column::text("size"),
        Column::number("models"),
        Column::number("median residual"),
        Column::number("low"),
    ]);
    for stratum in &pair.strata {
        strata.row([
            stratum.mode.name().to_owned(),
            stratum.size.name().to_owned(),
            stratum.models.to_string(),
            points(stratum.median_residual),
            stratum.low.to_string(),
        ]);
    }
    text.add(Paint::Plain, "\n");
    text.append(strata.fitted(screen));
    let mut table = Table::new([
        Column::wrapped("model"),
        Column::number("x"),
        Column::number("y"),
        Column::number("residual"),
        Column::number("95 % interval"),
        Column::number("z"),
        Column::number("z group"),
        Column::wrapped(""),
    ]);
    let listed = if top == 0 { pair.residuals.len() } else { top };
    for row in pair.residuals.iter().take(listed) {
        table.row([
            row.model.clone(),
            format!("{:.1}", row.x),
            format!("{:.1}", row.y),
            points(row.residual),
            format!("{} … {}", points(row.from), points(row.to)),
            points(row.z),
            row.z_in_stratum.map_or_else(|| "–".to_owned(), points),
            mark(row).to_owned(),
        ]);
    }
    text.add(Paint::Plain, "\n");
    text.append(table.fitted(screen));
}
