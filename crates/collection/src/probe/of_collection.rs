//! Verdicts on the functions of a collection by recorded calls.

use std::collections::BTreeMap;

use super::log::{Log, Probe, read_log};
use super::recorded::{read_dialogues, read_trees};
use super::rules::ProbeRules;
use super::verdict::{FunctionVerdict, Verdict, Verdicts};
use crate::collection::{Collection, standard_form};

/// Reads a log of recorded calls: one call a line, dialogues of API-Bank, or search trees of ToolBench.
pub fn read_calls(name: &str, text: &str) -> Log {
    let log = read_log(name, text);
    let others = [read_trees, read_dialogues].into_iter().map(|read| read(name, text));
    let other = log.probes.is_empty().then(|| others.into_iter().find(|other| !other.probes.is_empty()));
    other.flatten().unwrap_or(log)
}

/// The verdicts on those functions of a collection that were called.
#[derive(Debug, Clone, Default)]
pub struct CalledFunctions {
    /// By legal name.
    verdicts: BTreeMap<String, FunctionVerdict>,
    /// Calls of functions that the collection does not have.
    pub n_unknown: usize,
}

impl CalledFunctions {
    /// Judges the functions of a collection by recorded calls. Tools and functions are found by the standard form of their
    /// names, or by the legal name of the function.
    pub fn of(rules: &ProbeRules, probes: Vec<Probe>, collection: &Collection) -> Self {
        let mut by_name: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
        let mut legal: BTreeMap<&str, &str> = BTreeMap::new();
        for tool in &collection.tools {
            for api in &tool.functions {
                let key = (standard_form(&tool.name), standard_form(&api.original_name));
                by_name.entry(key).or_default().push(&api.name);
                legal.insert(&api.name, &api.name);
            }
        }
        let (mut n_unknown, mut known) = (0, Vec::new());
        for probe in probes {
            let key = (standard_form(&probe.tool), standard_form(&probe.function));
            let of_legal = || legal.get(probe.function.as_str()).into_iter().copied().collect();
            let names: Vec<&str> = by_name.get(&key).cloned().unwrap_or_else(of_legal);
            n_unknown += usize::from(names.is_empty());
            // Operations of one name, of several categories, have the same calls.
            known.extend(names.into_iter().map(|name| Probe {
                tool: String::new(),
                function: name.to_owned(),
                ..probe.clone()
            }));
        }
        let verdicts = Verdicts::of(rules, &known, []).functions;
        Self {
            verdicts: verdicts.into_iter().map(|verdict| (verdict.function.clone(), verdict)).collect(),
            n_unknown,
        }
    }

    /// Returns the number of functions that were called.
    pub fn n_called(&self) -> usize {
        self.verdicts.len()
    }

    /// Returns why a function is dropped, by its legal name; `None` if it works, or was never called.
    pub fn fault(&self, name: &str) -> Option<(&'static str, String)> {
        let verdict = self.verdicts.get(name)?;
        let (calls, answered, good) = (verdict.calls, verdict.answered, verdict.good);
        match &verdict.verdict {
            Verdict::Kept => None,
            Verdict::NeverAnswered => Some((NEVER_ANSWERED.0, format!("{calls} calls, none answered"))),
            Verdict::RuleHit(code) => {
                Some((BAD_ANSWERS.0, format!("{code}: {good} of {answered} answers are good")))
            }
        }
    }
}

/// The reason of functions whose calls had no answer, with its meaning.
pub const NEVER_ANSWERED: (&str, &str) =
    ("collect/never-answered", "Calls of the function were recorded, and none was answered.");
/// The reason of functions whose answers are errors, with its meaning.
pub const BAD_ANSWERS: (&str, &str) =
    ("collect/bad-answers", "The recorded answers of the function are errors by a rule for recorded calls.");
