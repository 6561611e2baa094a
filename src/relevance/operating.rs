//! What the lines in use decide of a run's requests, and what those for other target precisions would.
//!
//! Only requests that the text alone decides count here: those of which the log's answers say
//! something have lines of their own. Held requests are counted in. A stage notes the point,
//! and the report shows it.

use serde::{Deserialize, Serialize};

use super::measure::{Label, Point, Thresholds};
use super::model::Judged;

/// The name of the note in the manifest of the stage.
pub const OPERATING_POINT: &str = "operating_point";

/// How a request was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Means {
    /// A person answered it.
    Person,
    /// A rule found it of low quality.
    Rule,
    /// The model, with what the log's answers say.
    Answers,
    /// The model, by the text alone.
    Text {
        /// The probability that some function fits.
        probability: f64,
        /// It is never judged irrelevant: its text could not be read, or a function takes any text.
        is_barred: bool,
    },
}

impl Means {
    /// How the model judged.
    pub fn of_model(judged: &Judged, by_text_alone: bool, is_barred: bool) -> Self {
        if by_text_alone { Self::Text { probability: judged.probability, is_barred } } else { Self::Answers }
    }
}

/// The lines in use, the curve they were chosen from, and where a run's requests lie.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// The target precision of the settings; `None` takes the lines of the weights or of the settings.
    pub precision: Option<f64>,
    /// From this probability on the text alone makes a request relevant; above 1 it never does.
    pub relevant_from: f64,
    /// Up to this one it makes it irrelevant; below 0 it never does.
    pub irrelevant_to: f64,
    /// Requests that a person answered.
    pub by_person: u64,
    /// Requests that a rule found of low quality.
    pub by_rule: u64,
    /// Requests of which the log's answers say something.
    pub by_answers: u64,
    /// Requests that the text alone judges, by probability, in tenths.
    pub bins: Vec<Bin>,
    /// What each point of the curve would decide of them; empty for weights without a curve.
    pub curve: Vec<Reach>,
}

/// Requests whose probability lies in one tenth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The lowest probability in it.
    pub from: f64,
    /// The probability that it ends before; the last one holds 1.
    pub to: f64,
    /// Judged relevant.
    pub relevant: u64,
    /// Judged irrelevant.
    pub irrelevant: u64,
    /// Held.
    pub held: u64,
}

/// A point of the curve, and how far its line reaches in a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The side.
    pub side: Label,
    /// The target precision.
    pub precision: f64,
    /// The line.
    pub threshold: f64,
    /// The share of the labelled requests that it decides.
    pub coverage: f64,
    /// Requests of the run that it would put on this side.
    pub requests: u64,
    /// How many more these are than now; below 0 fewer.
    pub additional: i64,
}

const TENTHS: u8 = 10;

/// Counts the requests of a run.
pub fn operating_point(
    means: &[Means],
    lines: Thresholds,
    curve: &[Point],
    precision: Option<f64>,
) -> OperatingPoint {
    let n = |wanted: Means| means.iter().filter(|means| **means == wanted).count() as u64;
    let texts: Vec<(f64, bool)> = means
        .iter()
        .filter_map(|means| match means {
            Means::Text { probability, is_barred } => Some((*probability, *is_barred)),
            Means::Person | Means::Rule | Means::Answers => None,
        })
        .collect();
    let reach = |point: &Point| {
        let (now, requests) = match point.side {
            Label::Relevant => (
                n_relevant(&texts, lines),
                n_relevant(&texts, Thresholds { relevant_from: point.threshold, ..lines }),
            ),
            Label::Irrelevant => (
                n_irrelevant(&texts, lines),
                n_irrelevant(&texts, Thresholds { irrelevant_to: point.threshold, ..lines }),
            ),
        };
        let Point { side, precision, threshold, coverage, .. } = *point;
        Reach {
            side,
            precision,
            threshold,
            coverage,
            requests,
            additional: requests.cast_signed() - now.cast_signed(),
        }
    };
    OperatingPoint {
        precision,
        relevant_from: lines.relevant_from,
        irrelevant_to: lines.irrelevant_to,
        by_person: n(Means::Person),
        by_rule: n(Means::Rule),
        by_answers: n(Means::Answers),
        bins: bins(&texts, lines),
        curve: curve.iter().map(reach).collect(),
    }
}

/// Requests on the relevant side, leaving the other side what it has.
fn n_relevant(texts: &[(f64, bool)], lines: Thresholds) -> u64 {
    let is_relevant = |p: f64| p >= lines.relevant_from && p > lines.irrelevant_to;
    texts.iter().filter(|(p, _)| is_relevant(*p)).count() as u64
}

/// Requests on the irrelevant side, leaving the other side what it has.
fn n_irrelevant(texts: &[(f64, bool)], lines: Thresholds) -> u64 {
    let is_irrelevant = |p: f64| p <= lines.irrelevant_to && p < lines.relevant_from;
    texts.iter().filter(|(p, is_barred)| is_irrelevant(*p) && !is_barred).count() as u64
}

fn bins(texts: &[(f64, bool)], lines: Thresholds) -> Vec<Bin> {
    let tenth = |at: u8| f64::from(at) / f64::from(TENTHS);
    let bin = |at: u8| {
        let is_inside = |p: f64| p >= tenth(at) && (p < tenth(at + 1) || at + 1 == TENTHS);
        let inside: Vec<(f64, bool)> = texts.iter().copied().filter(|(p, _)| is_inside(*p)).collect();
        let (relevant, irrelevant) = (n_relevant(&inside, lines), n_irrelevant(&inside, lines));
        let held = inside.len() as u64 - relevant - irrelevant;
        Bin { from: tenth(at), to: tenth(at + 1), relevant, irrelevant, held }
    };
    (0..TENTHS).map(bin).collect()
}

impl OperatingPoint {
    /// The requests of two parts together; both stand at the same thresholds.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.by_person += other.by_person;
        self.by_rule += other.by_rule;
        self.by_answers += other.by_answers;
        for (bin, more) in self.bins.iter_mut().zip(other.bins) {
            bin.relevant += more.relevant;
            bin.irrelevant += more.irrelevant;
            bin.held += more.held;
        }
        for (reach, more) in self.curve.iter_mut().zip(other.curve) {
            reach.requests += more.requests;
            reach.additional += more.additional;
        }
        self
    }

    /// Requests that the text alone judges, held ones counted in.
    pub fn by_text(&self) -> u64 {
        self.bins.iter().map(|bin| bin.relevant + bin.irrelevant + bin.held).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_counted_once_and_another_line_is_told_by_what_it_adds() {
        let text = |probability, is_barred| Means::Text { probability, is_barred };
        let means = [
            Means::Person,
            Means::Rule,
            Means::Answers,
            text(0.02, false),
            text(0.15, false),
            text(0.15, true),
            text(0.5, false),
            text(0.95, false),
            text(1.0, false),
        ];
        let point = |side, precision, threshold| Point {
            side,
            precision,
            threshold,
            coverage: 0.1,
            recall: 0.1,
            n_decided: 1,
            n_right: 1,
        };
        let curve = [
            point(Label::Relevant, 0.8, 0.4),
            point(Label::Relevant, 0.99, 0.99),
            point(Label::Irrelevant, 0.8, 0.2),
            point(Label::Irrelevant, 0.99, 0.01),
        ];
        let lines = Thresholds { relevant_from: 0.9, irrelevant_to: 0.1 };
        let found = operating_point(&means, lines, &curve, None);
        assert_eq!([found.by_person, found.by_rule, found.by_answers, found.by_text()], [1, 1, 1, 6]);
        let reached: Vec<(u64, i64)> =
            found.curve.iter().map(|reach| (reach.requests, reach.additional)).collect();
        assert_eq!(reached, [(3, 1), (1, -1), (2, 1), (0, -1)]);
        let bin = |at: usize| [found.bins[at].relevant, found.bins[at].irrelevant, found.bins[at].held];
        assert_eq!([bin(0), bin(1), bin(5), bin(9)], [[0, 1, 0], [0, 0, 2], [0, 0, 1], [2, 0, 0]]);
    }
}
