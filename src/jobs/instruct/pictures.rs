//! The pictures of an instruction set: what became of its candidates, and of what models were asked for.

use std::collections::BTreeMap;

use maud::Markup;

use super::Coverage;
use super::figures::{Figures, Yield};
use crate::page::chart::bars::{Bar, Bars, bars};
use crate::page::chart::stacked::{Stacked, stacked};
use crate::page::chart::{Figure, Row, Unit, figures};

/// Returns the pictures.
pub(super) fn pictures(of: &Figures, coverage: Option<&Coverage>, yields: &[Yield]) -> Markup {
    figures([strata(of, coverage), models(yields)].into_iter().flatten())
}

fn strata<'a>(of: &'a Figures, coverage: Option<&Coverage>) -> Option<Markup> {
    let figure = Figure { id: "strata", title: "Instructions by stratum", description: "" };
    let Some(coverage) = coverage else {
        #[allow(clippy::cast_precision_loss)] // Instructions are far below 2^53.
        let bar = |(label, n): (&'a String, &u64)| Bar { label, value: *n as f64, second: None, link: None };
        let drawn: Vec<Bar<'a>> = of.strata.iter().map(bar).collect();
        let chart = Bars {
            labels_name: "stratum",
            values_name: "instructions",
            second_name: None,
            unit: Unit::Count,
            bars: &drawn,
        };
        return (!drawn.is_empty()).then(|| bars(&figure, &chart));
    };
    let rows: Vec<Row<'_>> = coverage
        .strata
        .iter()
        .map(|(stratum, counts)| {
            let in_set = of.strata.get(stratum.name()).copied().unwrap_or_default();
            let accepted = counts.accepted.max(in_set);
            let counts = vec![in_set, accepted - in_set, counts.drawn.saturating_sub(accepted)];
            Row { label: stratum.name(), counts }
        })
        .collect();
    let parts = ["in the set", "accepted, and not in the set", "rejected"];
    let chart = Stacked { labels_name: "stratum", parts: &parts, rows: &rows, is_of_shares: false };
    (!rows.is_empty()).then(|| stacked(&figure, &chart))
}

fn models(yields: &[Yield]) -> Option<Markup> {
    let mut by_model: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for one in yields {
        let (passed, others) = by_model.entry(format!("{}: {}", one.stage, one.model)).or_default();
        *passed += one.passed;
        *others += one.asked.saturating_sub(one.passed);
    }
    let rows: Vec<Row<'_>> = by_model
        .iter()
        .map(|(label, (passed, others))| Row { label, counts: vec![*passed, *others] })
        .collect();
    let chart = Stacked {
        labels_name: "stage and model",
        parts: &["passed", "did not"],
        rows: &rows,
        is_of_shares: true,
    };
    let figure = Figure { id: "yields", title: "What models were asked for", description: "" };
    (!rows.is_empty()).then(|| stacked(&figure, &chart))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_are_drawn_with_and_without_candidates() {
        let of = Figures { strata: [("chain".to_owned(), 3)].into(), ..Figures::default() };
        let drawn = pictures(&of, None, &[]).into_string();
        assert!(
            drawn.contains("id=\"strata\"") && drawn.contains("chain") && !drawn.contains("id=\"yields\""),
            "{drawn}"
        );
        assert!(!pictures(&Figures::default(), None, &[]).into_string().contains("<svg"));
    }
}
