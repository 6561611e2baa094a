//! The shares of the kinds of instructions that were asked for, and those that the set has.
//!
//! Of runs whose source makes no instructions there are none. Kinds are those of the kept instructions: a chain of which one call is
//! left is single.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::PROGRAM;
use crate::engine::corpus::Corpus;
use crate::engine::error::Result;

/// A kind of instructions in a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumShare {
    /// Its name.
    pub stratum: String,
    /// The share that was asked for, 0 to 1.
    pub wanted: f64,
    /// The instructions of the set.
    pub instructions: u64,
    /// Their share of the set, 0 to 1.
    pub share: f64,
    /// The set has far fewer than were asked for.
    pub is_missed: bool,
}

/// The part of the wanted number below which a stratum is missed.
const ENOUGH: f64 = 0.75;

/// A small set misses a few by chance: so many times the square root of the wanted number.
const BY_CHANCE: f64 = 2.0;

/// What this needs of a program.
#[derive(Deserialize)]
struct OfStratum {
    stratum: String,
}

/// Returns the shares of a finished run by the pipeline that it has in `run.json`.
///
/// # Errors
/// A file of the run folder cannot be read.
pub(super) fn shares(pipeline: &Value, corpus: &Corpus) -> Result<Vec<StratumShare>> {
    let ingest = &pipeline["ingest"];
    let wanted = ["strata", "kinds"].into_iter().find_map(|key| ingest[key].as_object());
    let Some(wanted) = wanted.filter(|_| corpus.requests.has(PROGRAM)) else { return Ok(Vec::new()) };
    let wanted: BTreeMap<&str, f64> =
        wanted.iter().filter_map(|(name, share)| Some((name.as_str(), share.as_f64()?))).collect();
    let made = made(corpus)?;
    Ok(compared(&wanted, &made))
}

/// The kept instructions of each stratum.
fn made(corpus: &Corpus) -> Result<BTreeMap<String, u64>> {
    let (requests, mut made) = (&corpus.requests, BTreeMap::new());
    for batch in 0..requests.batches() {
        let (start, kept) = (requests.batch(batch).start, requests.kept_of_batch(batch));
        if kept.is_empty() {
            continue;
        }
        let cells = requests.read_batch(batch, &[PROGRAM])?;
        for row in kept {
            let program = cells.text(PROGRAM, row as usize - start);
            if let Some(Ok(of)) = program.map(serde_json::from_str::<OfStratum>) {
                *made.entry(of.stratum).or_default() += 1;
            }
        }
    }
    Ok(made)
}

#[allow(clippy::cast_precision_loss)] // Counts of instructions.
fn compared(wanted: &BTreeMap<&str, f64>, made: &BTreeMap<String, u64>) -> Vec<StratumShare> {
    let n: u64 = made.values().sum();
    let all: f64 = wanted.values().sum();
    let names = wanted.keys().copied().chain(made.keys().map(String::as_str));
    let names: std::collections::BTreeSet<&str> = names.collect();
    let share = |name: &str| {
        let instructions = made.get(name).copied().unwrap_or_default();
        let wanted = wanted.get(name).map_or(0.0, |share| share / all.max(f64::MIN_POSITIVE));
        let expected = wanted * n as f64;
        let lacks = expected - instructions as f64;
        StratumShare {
            stratum: name.to_owned(),
            wanted: rounded(wanted),
            instructions,
            share: rounded(instructions as f64 / (n.max(1)) as f64),
            is_missed: (instructions as f64) < ENOUGH * expected && lacks > BY_CHANCE * expected.sqrt(),
        }
    };
    names.into_iter().map(share).collect()
}

/// Four decimals are more than a reader compares.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_far_below_the_wanted_one_is_missed() {
        let missed = |wanted: &[(&'static str, f64)], made: &[(&str, u64)]| -> Vec<String> {
            let wanted = wanted.iter().copied().collect();
            let made = made.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
            let missed = compared(&wanted, &made).into_iter().filter(|share| share.is_missed);
            missed.map(|share| share.stratum).collect()
        };
        let wanted = [("parallel", 0.2), ("single", 0.8)];
        assert_eq!(missed(&wanted, &[("parallel", 5), ("single", 95)]), ["parallel"]);
        assert_eq!(missed(&wanted, &[("single", 100)]), ["parallel"]);
        assert_eq!(missed(&wanted, &[("parallel", 16), ("single", 84)]), [""; 0]);
        // By chance.
        assert_eq!(missed(&wanted, &[("parallel", 1), ("single", 9)]), [""; 0]);
        // What nobody asked for lacks nothing, and shares need not add up to 1.
        let doubled = [("chain", 0.0), ("parallel", 0.4), ("single", 1.6)];
        assert_eq!(missed(&doubled, &[("chain", 3), ("parallel", 5), ("single", 92)]), ["parallel"]);
        let shares =
            compared(&doubled.into(), &[("parallel".to_owned(), 5), ("single".to_owned(), 95)].into());
        assert_eq!((shares[1].wanted, shares[1].share, shares[1].instructions), (0.2, 0.05, 5));
    }
}
