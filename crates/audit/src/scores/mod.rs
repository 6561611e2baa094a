//! Compares the scores of models on two benchmarks, such as BFCL's own questions and those of users (live).
//!
//! A model that does much better on an old, public benchmark than on a newer one of the same kind may have been trained
//! on the old one. The line y = x is a biased yardstick, because the newer benchmark may be harder for all. So a robust
//! line is fitted to all models, and each model is placed by its residual: with a bootstrap interval, in units of the
//! robust spread, and against the models of its own size and mode. A low residual is consistent with contamination and
//! with other causes; it proves nothing.
//!
//! `reading` reads the table, `fit` the line, `bootstrap` the intervals, `strata` size and mode, `page` draws.

mod bootstrap;
mod fit;
pub mod page;
pub mod reading;
mod strata;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Serialize;

use bootstrap::Bootstrap;
use callsieve_text::spreadsheet::guarded;
use fit::{Line, mad_sigma, median};
use reading::{Choice, Table};
use strata::{Mode, Size};

/// Fewest models of a comparison.
pub const MIN_MODELS: usize = 5;
/// Fewest models of a stratum against which a model is compared.
pub const MIN_STRATUM: usize = 5;
/// A robust z at or below its negative is low; the usual two standard deviations.
pub const LOW_Z: f64 = 2.0;
/// What a low residual is consistent with.
pub const CONSISTENT_WITH: &str = "a residual below the line is consistent with training on the questions of x, and as well with a small model, with the mode, or with questions of y that are unlike those of x; it never proves contamination";

/// Why scores cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// A column is missing.
    #[error("{}:1: no column \"{column}\", found {found}\nhint: {hint}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The missing column.
        column: String,
        /// The columns that are there.
        found: String,
        /// What to do.
        hint: &'static str,
    },
    /// Several columns have the name of one that is read.
    #[error("{}:1: found {found} columns \"{column}\", expected one\nhint: rename or remove the others", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
        /// How many columns have it.
        found: usize,
    },
    /// An option is no number of questions.
    #[error("{option}: expected a number of questions, 1 or more, or a column, found \"{found}\"")]
    Questions {
        /// The option.
        option: &'static str,
        /// What was found.
        found: String,
    },
    /// A cell has something else.
    #[error("{}:{line}: column \"{column}\": expected {expected}, found \"{found}\"\nhint: {hint}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: u64,
        /// The column.
        column: String,
        /// What is expected.
        expected: &'static str,
        /// What was found.
        found: String,
        /// What to do.
        hint: &'static str,
    },
    /// There are too few models.
    #[error(
        "{}: {found} models with scores in \"{x}\" and \"{y}\", expected {MIN_MODELS} or more with different scores in \"{x}\"\nhint: --x and --y name other columns",
        path.display()
    )]
    TooFew {
        /// The file.
        path: PathBuf,
        /// How many there are.
        found: usize,
        /// The column of x.
        x: String,
        /// The column of y.
        y: String,
    },
    /// The columns are not chosen in pairs.
    #[error(
        "--x and --y are pairs: found {x} of --x and {y} of --y\nhint: --x \"Non-Live AST Acc\" --y \"Live Acc\""
    )]
    Pairs {
        /// How many of x.
        x: usize,
        /// How many of y.
        y: usize,
    },
}

/// How often is resampled, and by which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// The number of samples.
    pub samples: usize,
    /// The seed; the same one gives the same intervals.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { samples: 1000, seed: 1 }
    }
}

/// The comparison of all pairs of columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreReport {
    /// The file.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
    /// The number of bootstrap samples.
    pub samples: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// What a low residual means.
    pub consistent_with: &'static str,
    /// Each pair of columns.
    pub pairs: Vec<PairReport>,
}

/// The comparison of two columns. Scores and residuals are in percentage points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairReport {
    /// The column of x.
    pub x: String,
    /// The column of y.
    pub y: String,
    /// Questions behind x, if known.
    pub n_x: Option<f64>,
    /// Questions behind y, if known.
    pub n_y: Option<f64>,
    /// Models with both scores.
    pub models: usize,
    /// Models without one of them.
    pub without: usize,
    /// Models with y < x.
    pub below_equal: usize,
    /// Median of y − x.
    pub median_gap: f64,
    /// Slope of the Theil-Sen line.
    pub slope: f64,
    /// The lower end of the 95 % interval of the slope.
    pub slope_from: f64,
    /// The upper end; if the interval has 0 in it, y does not follow x and residuals mean little.
    pub slope_to: f64,
    /// Its value at x = 0.
    pub intercept: f64,
    /// 1.4826 times the median absolute residual.
    pub sigma: f64,
    /// Models with a low residual whose interval is below the line.
    pub low: usize,
    /// Groups of models by mode and size.
    pub strata: Vec<StratumReport>,
    /// All models, the lowest residual first.
    pub residuals: Vec<Residual>,
}

/// A group of models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumReport {
    /// How they are called: function calling (`fc`), prompt, or unknown.
    pub mode: Mode,
    /// Their size in billions of parameters.
    pub size: Size,
    /// How many.
    pub models: usize,
    /// The median of their residuals.
    pub median_residual: f64,
    /// Those with a low residual.
    pub low: usize,
}

/// A model against the line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Residual {
    /// Its name.
    pub model: String,
    /// Its line in the file.
    pub line: u64,
    /// How it is called.
    pub mode: Mode,
    /// Its size.
    pub size: Size,
    /// Its score on x.
    pub x: f64,
    /// Its score on y.
    pub y: f64,
    /// y − x.
    pub gap: f64,
    /// y minus the line at x.
    pub residual: f64,
    /// The lower end of the 95 % interval of the residual.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// The residual in units of `sigma`; 0 if all models are on the line.
    pub z: f64,
    /// The same against the median of its stratum, if that has enough models.
    pub z_in_stratum: Option<f64>,
    /// z is low, and the interval is below 0.
    pub is_low: bool,
    /// It is also low in its stratum.
    pub is_low_in_stratum: Option<bool>,
}

/// Compares the scores of a file.
///
/// # Errors
/// The file or a cell of it cannot be read, or there are too few models.
pub fn compare(path: &std::path::Path, choice: &Choice, by: Resampling) -> Result<ScoreReport, ScoreError> {
    let table = Table::read(path, choice)?;
    let pairs = (0..table.pairs.len()).map(|at| pair(&table, at, by)).collect::<Result<Vec<_>, _>>()?;
    Ok(ScoreReport {
        file: path.display().to_string(),
        sha256: table.sha256,
        samples: by.samples,
        seed: by.seed,
        consistent_with: CONSISTENT_WITH,
        pairs,
    })
}

#[allow(clippy::similar_names)] // n_x and n_y are the names of the field.
fn pair(table: &Table, at: usize, by: Resampling) -> Result<PairReport, ScoreError> {
    let names = &table.pairs[at];
    let mut models: Vec<_> = table.models.iter().filter(|model| model.scores[at].is_some()).collect();
    // By name, so that the order of rows has no part in the samples.
    models.sort_by(|a, b| a.name.cmp(&b.name));
    let points: Vec<(f64, f64)> = models.iter().filter_map(|model| model.scores[at]).collect();
    let line =
        Line::fit(&points).filter(|_| points.len() >= MIN_MODELS).ok_or_else(|| ScoreError::TooFew {
            path: table.path.clone(),
            found: points.len(),
            x: names.x.clone(),
            y: names.y.clone(),
        })?;
    let residuals: Vec<f64> = points.iter().map(|&point| line.residual(point)).collect();
    let sigma = mad_sigma(&residuals);
    let z = |residual: f64| if sigma > 0.0 { residual / sigma } else { 0.0 };
    let sizes = |model: &reading::Model| (model.questions[at].0, model.questions[at].1);
    let bootstrap = Bootstrap::new(&points, by);
    let mut rows: Vec<Residual> = Vec::with_capacity(models.len());
    for ((model, &(x, y)), &residual) in models.iter().zip(&points).zip(&residuals) {
        let (from, to) = bootstrap.interval(&model.name, (x, y), sizes(model));
        let of_stratum: Vec<f64> = models
            .iter()
            .zip(&residuals)
            .filter(|(other, _)| (other.mode, other.size) == (model.mode, model.size))
            .map(|(_, residual)| *residual)
            .collect();
        let is_low = z(residual) <= -LOW_Z && to < 0.0;
        let z_in_stratum =
            (of_stratum.len() >= MIN_STRATUM).then(|| rounded(z(residual - median(&of_stratum))));
        rows.push(Residual {
            model: model.name.clone(),
            line: model.line,
            mode: model.mode,
            size: model.size,
            x,
            y,
            gap: rounded(y - x),
            residual: rounded(residual),
            from: rounded(from),
            to: rounded(to),
            z: rounded(z(residual)),
            z_in_stratum,
            is_low,
            is_low_in_stratum: z_in_stratum.map(|z| is_low && z <= -LOW_Z),
        });
    }
    let gaps: Vec<f64> = points.iter().map(|(x, y)| y - x).collect();
    let strata = strata_of(&rows);
    rows.sort_by(|a, b| a.residual.total_cmp(&b.residual).then_with(|| a.model.cmp(&b.model)));
    Ok(PairReport {
        x: names.x.clone(),
        y: names.y.clone(),
        n_x: models.first().and_then(|model| sizes(model).0),
        n_y: models.first().and_then(|model| sizes(model).1),
        models: models.len(),
        without: table.models.len() - models.len(),
        below_equal: gaps.iter().filter(|gap| **gap < 0.0).count(),
        median_gap: rounded(median(&gaps)),
        slope: rounded(line.slope),
        slope_from: rounded(bootstrap.slope().0),
        slope_to: rounded(bootstrap.slope().1),
        intercept: rounded(line.intercept),
        sigma: rounded(sigma),
        low: rows.iter().filter(|row| row.is_low).count(),
        strata,
        residuals: rows,
    })
}

fn strata_of(rows: &[Residual]) -> Vec<StratumReport> {
    let mut strata = Vec::new();
    for mode in Mode::ALL {
        for size in Size::ALL {
            let own: Vec<&Residual> =
                rows.iter().filter(|row| (row.mode, row.size) == (mode, size)).collect();
            if own.is_empty() {
                continue;
            }
            let residuals: Vec<f64> = own.iter().map(|row| row.residual).collect();
            strata.push(StratumReport {
                mode,
                size,
                models: own.len(),
                median_residual: rounded(median(&residuals)),
                low: own.iter().filter(|row| row.is_low).count(),
            });
        }
    }
    strata
}

/// Rounds to four places, so that results do not depend on the last bits.
fn rounded(number: f64) -> f64 {
    let rounded = (number * 1e4).round() / 1e4;
    if rounded == 0.0 { 0.0 } else { rounded }
}

impl PairReport {
    /// Returns whether y grows with x as surely as the models can show.
    pub fn follows(&self) -> bool {
        self.slope_from > 0.0
    }

    /// Returns the line as text: `y = 5.0 + 0.900 x`.
    pub fn line(&self) -> String {
        let sign = if self.slope < 0.0 { '-' } else { '+' };
        format!("y = {:.1} {sign} {:.3} x", self.intercept, self.slope.abs())
    }
}

/// What is written where y does not follow x.
pub const FOLLOWS_NOT: &str =
    "the slope may be 0: y does not follow x among these models, so residuals only compare y";

impl ScoreReport {
    /// Returns all residuals as JSON lines or CSV, with the columns of the pair. In CSV no text is a formula.
    ///
    /// # Errors
    /// None that data can cause.
    pub fn residuals(&self, as_csv: bool) -> std::io::Result<Vec<u8>> {
        #[derive(Serialize)]
        struct Row<'a> {
            x_column: Cow<'a, str>,
            y_column: Cow<'a, str>,
            model: Cow<'a, str>,
            line: u64,
            mode: Mode,
            size: Size,
            x: f64,
            y: f64,
            gap: f64,
            residual: f64,
            from: f64,
            to: f64,
            z: f64,
            z_in_stratum: Option<f64>,
            is_low: bool,
            is_low_in_stratum: Option<bool>,
        }
        let text = |text| if as_csv { guarded(text) } else { Cow::Borrowed(text) };
        let mut rows = self.pairs.iter().flat_map(|pair| {
            pair.residuals.iter().map(move |row| Row {
                x_column: text(&pair.x),
                y_column: text(&pair.y),
                model: text(&row.model),
                line: row.line,
                mode: row.mode,
                size: row.size,
                x: row.x,
                y: row.y,
                gap: row.gap,
                residual: row.residual,
                from: row.from,
                to: row.to,
                z: row.z,
                z_in_stratum: row.z_in_stratum,
                is_low: row.is_low,
                is_low_in_stratum: row.is_low_in_stratum,
            })
        });
        if as_csv {
            let mut writer = csv::Writer::from_writer(Vec::new());
            rows.try_for_each(|row| writer.serialize(row))?;
            return writer.into_inner().map_err(csv::IntoInnerError::into_error);
        }
        let mut lines = Vec::new();
        for row in rows {
            serde_json::to_writer(&mut lines, &row)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests;
