//! Verdicts on functions by their recorded calls, with the hits of each rule.

use std::collections::BTreeMap;

use serde::Serialize;

use super::log::Probe;
use super::rules::ProbeRules;

/// What becomes of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It works.
    Kept,
    /// No call was answered, or there is none.
    NeverAnswered,
    /// Too many calls are bad; the code is that of the rule with the most hits.
    RuleHit(String),
}

/// The verdict on one function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionVerdict {
    /// The tool.
    pub tool: String,
    /// The function.
    pub function: String,
    /// The number of recorded calls.
    pub calls: usize,
    /// How many of them were answered.
    pub answered: usize,
    /// How many answers no rule hit.
    pub good: usize,
    /// The verdict.
    pub verdict: Verdict,
}

/// How often a rule hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleHits {
    /// The reason code.
    pub code: String,
    /// The meaning.
    pub what: String,
    /// The calls it hit.
    pub calls: usize,
    /// The functions it dropped.
    pub functions: usize,
}

/// The verdicts on all functions of a log, by tool and function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// One for each function.
    pub functions: Vec<FunctionVerdict>,
    /// One for each rule of the file, also for those without hits. Rules with one code are separate.
    pub hits: Vec<RuleHits>,
}

impl Verdicts {
    /// Judges the functions of a log by rules. `expected` are functions that should be in it, by tool and name: those
    /// without a call have never answered.
    pub fn of<'e>(
        rules: &ProbeRules,
        probes: &[Probe],
        expected: impl IntoIterator<Item = (&'e str, &'e str)>,
    ) -> Self {
        let mut functions: BTreeMap<(&str, &str), Vec<&Probe>> = BTreeMap::new();
        for name in expected {
            functions.entry(name).or_default();
        }
        for probe in probes {
            functions.entry((&probe.tool, &probe.function)).or_default().push(probe);
        }
        let mut hits: Vec<RuleHits> = rules
            .rules
            .iter()
            .map(|rule| RuleHits { code: rule.code.clone(), what: rule.what.clone(), calls: 0, functions: 0 })
            .collect();
        let judged = functions.into_iter().map(|((tool, function), probes)| {
            let judged = judge(rules, &probes, &mut hits);
            FunctionVerdict { tool: tool.to_owned(), function: function.to_owned(), ..judged }
        });
        let functions = judged.collect();
        Self { functions, hits }
    }

    /// Returns the number of functions with a verdict.
    pub fn count(&self, verdict: &Verdict) -> usize {
        self.functions.iter().filter(|function| function.verdict == *verdict).count()
    }
}

/// Judges one function; its name is filled in by the caller.
fn judge(rules: &ProbeRules, probes: &[&Probe], hits: &mut [RuleHits]) -> FunctionVerdict {
    let answered: Vec<&Probe> = probes.iter().copied().filter(|probe| probe.is_answered()).collect();
    let slow = rules.rules.iter().position(|rule| {
        let limit = rule.p95_latency_ms;
        let of_rule = || answered.iter().filter(|probe| rules.applies(rule, probe));
        limit.is_some_and(|limit| {
            p95(of_rule().filter_map(|probe| probe.latency_ms)).is_some_and(|p95| p95 > limit)
        })
    });
    let mut by_rule: BTreeMap<usize, usize> = BTreeMap::new();
    for rule in answered.iter().filter_map(|probe| rules.hit(probe).or(slow)) {
        *by_rule.entry(rule).or_default() += 1;
        hits[rule].calls += 1;
    }
    let good = answered.len() - by_rule.values().sum::<usize>();
    let verdict = if answered.is_empty() {
        Verdict::NeverAnswered
    } else if is_kept(rules, good, answered.len()) {
        Verdict::Kept
    } else {
        // The rule with the most hits; of several, the first in the file.
        let most = by_rule.iter().max_by_key(|(rule, n)| (**n, std::cmp::Reverse(**rule)));
        most.map_or(Verdict::NeverAnswered, |(rule, _)| {
            hits[*rule].functions += 1;
            Verdict::RuleHit(hits[*rule].code.clone())
        })
    };
    let (calls, answered) = (probes.len(), answered.len());
    FunctionVerdict { tool: String::new(), function: String::new(), calls, answered, good, verdict }
}

#[allow(clippy::cast_precision_loss)] // Counts of calls.
fn is_kept(rules: &ProbeRules, good: usize, answered: usize) -> bool {
    let bad_share = (answered - good) as f64 / answered as f64;
    // Without a bad call there is no rule that could be the reason.
    good == answered || good >= rules.limits.min_good_calls && bad_share <= rules.limits.max_bad_share
}

/// Returns the 95th percentile by the nearest rank; `None` without numbers.
fn p95(latencies: impl Iterator<Item = f64>) -> Option<f64> {
    let mut latencies: Vec<f64> = latencies.collect();
    latencies.sort_by(f64::total_cmp);
    let rank = (latencies.len() * 95).div_ceil(100);
    latencies.get(rank.checked_sub(1)?).copied()
}
