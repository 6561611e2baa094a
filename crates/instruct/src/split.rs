//! Splits an instruction set into training and validation so that no function is in both, nor one that is nearly the same.
//!
//! Functions whose docs nearly agree are a group, and a group is on one side. Groups are given to validation one after the
//! other, each time the one that moves the most instructions and tears the fewest apart. An instruction that calls functions of
//! both sides belongs to neither.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_similarity::rouge::join::self_join;
use callsieve_similarity::rouge::texts::Texts;
use callsieve_system::Cancelled;
use callsieve_text::profile::Profile;
use callsieve_text::rouge::Threshold;
use serde_json::Value;

use crate::record::Record;

/// The side of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Its functions are those of the training set.
    Training,
    /// Its functions are those of the validation set.
    Validation,
    /// It calls functions of both.
    Both,
}

/// ROUGE-L F1 of two docs above which their functions are one group.
const NEARLY_THE_SAME: f64 = 0.8;

/// The sides of functions.
#[derive(Debug, Default)]
pub struct Split {
    /// The functions of the validation set.
    validation: BTreeSet<String>,
}

impl Split {
    /// Splits instructions so that about `share` of them are for validation.
    ///
    /// `functions` are the docs of all functions, each name once. Returns `None` if cancelled.
    pub fn new(
        records: &[&Record],
        functions: &BTreeMap<String, Value>,
        share: f64,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let group_of = groups(functions, cancelled)?;
        let used = |record: &&Record| -> BTreeSet<usize> {
            needed(record).filter_map(|name| group_of.get(name).copied()).collect()
        };
        let used: Vec<BTreeSet<usize>> = records.iter().map(used).collect();
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let wanted = (records.len() as f64 * share).round() as usize; // Far fewer than 2^52.
        let chosen = choose(&used, wanted);
        let is_chosen = |(_, group): &(&String, &usize)| chosen.contains(group);
        Some(Self { validation: group_of.iter().filter(is_chosen).map(|(name, _)| name.clone()).collect() })
    }

    /// Returns the side of an instruction.
    pub fn side(&self, record: &Record) -> Side {
        let (mut training, mut validation) = (false, false);
        for name in needed(record) {
            if self.validation.contains(name) { validation = true } else { training = true }
        }
        match (training, validation) {
            (true, true) => Side::Both,
            (false, true) => Side::Validation,
            _ => Side::Training,
        }
    }

    /// Takes functions of the other side from those on offer: they are not called.
    pub fn restrict(&self, record: &mut Record, side: Side) {
        let is_of_side = |name: &String| match side {
            Side::Training => !self.validation.contains(name),
            Side::Validation => self.validation.contains(name),
            Side::Both => true,
        };
        let (kept, removed): (Vec<String>, Vec<String>) =
            std::mem::take(&mut record.offered).into_iter().partition(is_of_side);
        record.offered = kept;
        if let Some(scenario) = &mut record.scenario {
            scenario.excluded_function.extend(removed);
        }
    }
}

/// The functions that an instruction is about: those that it calls, and the one that it would need.
fn needed(record: &Record) -> impl Iterator<Item = &str> {
    record.calls.iter().map(|call| call.name.as_str()).chain(record.withheld.as_deref())
}

/// The group of each function: docs that nearly agree, directly or over others.
fn groups(functions: &BTreeMap<String, Value>, cancelled: Cancelled<'_>) -> Option<BTreeMap<String, usize>> {
    let texts: Vec<String> = functions.values().map(text).collect();
    let threshold = Threshold::try_from(NEARLY_THE_SAME).ok()?;
    let mut first: Vec<usize> = (0..texts.len()).collect();
    let texts = Texts::encode(&texts, Profile::default());
    let joined = self_join(&texts, threshold, cancelled, |pairs| -> Result<(), ()> {
        for pair in pairs {
            let (a, b) = (root(&first, pair.a as usize), root(&first, pair.b as usize));
            first[a.max(b)] = a.min(b);
        }
        Ok(())
    });
    joined.ok()?;
    Some(functions.keys().enumerate().map(|(at, name)| (name.clone(), root(&first, at))).collect())
}

fn root(first: &[usize], mut at: usize) -> usize {
    while first[at] != at {
        at = first[at];
    }
    at
}

/// What two docs are compared by: the description, and the names and descriptions of the parameters.
fn text(function: &Value) -> String {
    let mut text = format!("{}\n", function["description"].as_str().unwrap_or_default());
    for (name, schema) in function["parameters"]["properties"].as_object().into_iter().flatten() {
        text += &format!("{name} {}\n", schema["description"].as_str().unwrap_or_default());
    }
    text
}

/// The groups of the validation set: about `wanted` instructions use these alone.
fn choose(used: &[BTreeSet<usize>], wanted: usize) -> BTreeSet<usize> {
    let mut of_group: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, groups) in used.iter().enumerate() {
        for &group in groups {
            of_group.entry(group).or_default().push(at);
        }
    }
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut n_inside = 0;
    while n_inside < wanted {
        let gain = |(group, instructions): (&usize, &Vec<usize>)| {
            let (mut inside, mut torn) = (0_i64, 0_i64);
            for &at in instructions {
                let n_others =
                    used[at].iter().filter(|other| *other != group && !chosen.contains(other)).count();
                if n_others == 0 {
                    inside += 1;
                } else if used[at].is_disjoint(&chosen) {
                    torn += 1;
                }
            }
            (inside - torn, inside, *group)
        };
        let left = of_group.iter().filter(|(group, _)| !chosen.contains(group));
        // Of equal ones the last by name: no rule of its own is needed, only the same choice each time.
        let Some((_, inside, group)) = left.map(gain).max() else { break };
        n_inside += usize::try_from(inside).unwrap_or_default();
        chosen.insert(group);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(called: &[&str], offered: &[&str]) -> Record {
        let calls: Vec<Value> = called
            .iter()
            .map(|name| json!({"name": name, "arguments": {}, "result": 1, "references": {}, "provenance": {}}))
            .collect();
        let record = json!({
            "instruction": "", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed",
            "turns": [], "answer": "", "answer_from": [], "together": false, "offered": offered, "environment": "e",
            "origin": "declared", "state": "s", "end_state": null, "calls": calls,
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn no_function_and_none_that_is_nearly_the_same_is_on_both_sides() {
        let doc = |description: &str| json!({"description": description, "parameters": {"properties": {}}});
        let functions: BTreeMap<String, Value> = [
            ("close_gate", doc("Closes the northern gate of the yard.")),
            ("close_gates", doc("Closes the northern gates of the yard.")),
            ("mow", doc("Mows grass.")),
            ("open_lock", doc("Lets a boat through a lock on the river.")),
            ("paint", doc("Puts colour on a wall.")),
        ]
        .into_iter()
        .map(|(name, doc)| (name.to_owned(), doc))
        .collect();
        let all: Vec<&str> = functions.keys().map(String::as_str).collect();
        let mut records: Vec<Record> = (0..12)
            .map(|n| {
                record(&[["close_gate", "close_gates", "mow", "open_lock", "paint", "mow"][n % 6]], &all)
            })
            .collect();
        records.push(record(&["mow", "paint"], &all));
        let split = Split::new(&records.iter().collect::<Vec<_>>(), &functions, 0.3, &|| false).unwrap();
        let mut called: BTreeMap<Side, BTreeSet<String>> = BTreeMap::new();
        let mut counts: BTreeMap<Side, usize> = BTreeMap::new();
        for mut record in records {
            let side = split.side(&record);
            split.restrict(&mut record, side);
            *counts.entry(side).or_default() += 1;
            if side != Side::Both {
                called.entry(side).or_default().extend(record.offered);
            }
        }
        let (training, validation) = (&called[&Side::Training], &called[&Side::Validation]);
        assert!(training.is_disjoint(validation), "{training:?} {validation:?}");
        assert_eq!(training.contains("close_gate"), training.contains("close_gates"));
        assert_eq!(counts.get(&Side::Both), None, "{counts:?}");
        assert!((3..=6).contains(&counts[&Side::Validation]), "{counts:?}");
    }
}
