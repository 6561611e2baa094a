//! Finds items of one collection in another: functions by text and by name, queries by text.
//!
//! Texts are joined by ROUGE-L, exactly, as in `rouge`. A rewritten doc often keeps the names of
//! its function and parameters, so these are compared as well: names without case, dots and
//! underscores, parameters by the Jaccard index. Callers pass texts in the form in which they are
//! compared.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Merge;
use super::rouge::leaders::best_of;
use super::rouge::texts::Texts;
use callsieve_system::Cancelled;
use callsieve_text::normal::loose_name;
use callsieve_text::profile::Profile;
use callsieve_text::rouge::Threshold;
use callsieve_text::tokens::Tokenizer;

/// The compared parts of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Its text, in the same form in both collections.
    pub text: String,
}

/// The matches of one function.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Matches {
    /// The known function with the highest ROUGE-L F1 above the threshold.
    pub by_text: Option<NearText>,
    /// The known function of the same name with the highest Jaccard index of parameter names.
    pub by_name: Option<SameName>,
}

/// A known text above the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearText {
    /// Its index.
    pub known: usize,
    /// The ROUGE-L F1.
    pub score: f64,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
}

/// A known function of the same name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SameName {
    /// Its index.
    pub known: usize,
    /// The Jaccard index of the parameter names; 0 if there are none.
    pub jaccard: f64,
    /// The number of shared parameter names.
    pub shared: usize,
}

/// Compares each function with all known ones; returns one entry per function, in order.
///
/// Returns `None` if cancelled.
pub fn functions(
    known: &[Function],
    wanted: &[Function],
    threshold: Threshold,
    cancelled: Cancelled<'_>,
) -> Option<Vec<Matches>> {
    let [known_texts, wanted_texts] = [known, wanted]
        .map(|functions| functions.iter().map(|function| function.text.as_str()).collect::<Vec<_>>());
    let by_text = queries(&known_texts, &wanted_texts, 0, threshold, cancelled)?;
    let names = Names::new(known);
    let found =
        |(function, by_text)| (!cancelled()).then(|| Matches { by_text, by_name: names.best(function) });
    wanted.par_iter().zip(by_text).map(found).collect()
}

/// Compares each query with all known ones by ROUGE-L; returns one entry per query, in order.
///
/// A query of fewer than `min_tokens` tokens never matches, because many people ask for the weather in Paris. Texts
/// should be normalised already. Returns `None` if cancelled.
pub fn queries<T: AsRef<str>>(
    known: &[T],
    wanted: &[T],
    min_tokens: usize,
    threshold: Threshold,
    cancelled: Cancelled<'_>,
) -> Option<Vec<Option<NearText>>> {
    let both: Vec<&str> = known.iter().chain(wanted).map(AsRef::as_ref).collect();
    let texts = Texts::encode_unless(&both, Profile::Auto, cancelled)?;
    let found = best_of(&texts, known.len(), threshold, cancelled)?;
    let near = |(at, best): (usize, Option<Merge>)| {
        let Merge { leader: known, score } = best.filter(|_| texts.n_tokens(at) >= min_tokens)?;
        Some(NearText { known, score, tokenizer: texts.tokenizer_of(known, at) })
    };
    Some((known.len()..).zip(found).map(near).collect())
}

/// The known functions by normalised name.
struct Names {
    by_name: FxHashMap<String, Vec<usize>>,
    parameters: Vec<BTreeSet<String>>,
}

impl Names {
    fn new(known: &[Function]) -> Self {
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (at, function) in known.iter().enumerate() {
            by_name.entry(loose_name(&function.name)).or_default().push(at);
        }
        Self { by_name, parameters: known.par_iter().map(folded_parameters).collect() }
    }

    fn best(&self, function: &Function) -> Option<SameName> {
        let of_name = self.by_name.get(&loose_name(&function.name))?;
        let own = folded_parameters(function);
        let mut best: Option<SameName> = None;
        for &known in of_name {
            let shared = self.parameters[known].intersection(&own).count();
            let either = self.parameters[known].len() + own.len() - shared;
            #[expect(clippy::cast_precision_loss, reason = "counts of parameters are far below 2⁵³")]
            let jaccard = if either == 0 { 0.0 } else { shared as f64 / either as f64 };
            if best.is_none_or(|best| jaccard > best.jaccard) {
                best = Some(SameName { known, jaccard, shared });
            }
        }
        best
    }
}

fn folded_parameters(function: &Function) -> BTreeSet<String> {
    function.parameters.iter().map(|name| loose_name(name)).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn function(name: &str, parameters: &[&str], text: &str) -> Function {
        let parameters = parameters.iter().map(|&name| name.to_owned()).collect();
        Function { name: name.to_owned(), parameters, text: text.to_owned() }
    }

    fn find(known: &[Function], wanted: Function) -> Matches {
        functions(known, &[wanted], Threshold::try_from(0.8).unwrap(), &|| false).unwrap()[0]
    }

    #[test]
    fn a_function_is_found_by_its_text_or_by_its_name_and_parameters() {
        let known = [
            function("ring_bell", &["bell", "times"], "rings the bell of the church so many times"),
            function("bell.ring", &["tower"], "rings it"),
            function("Ring.Bell", &["bell", "x-key"], "something else altogether"),
        ];
        let found = find(&known, function("peal", &[], "rings the bell of the church so many hours"));
        assert_eq!(found.by_text.map(|near| near.known), Some(0));
        assert_eq!(found.by_name, None);
        let found = find(&known, function("RingBell", &["bell", "x_key"], "written anew"));
        assert_eq!(
            found,
            Matches { by_text: None, by_name: Some(SameName { known: 2, jaccard: 1.0, shared: 2 }) }
        );
        let found = find(&known, function("ring-bell", &["Bell", "hours"], "written anew"));
        assert_eq!(found.by_name, Some(SameName { known: 0, jaccard: 1.0 / 3.0, shared: 1 }));
    }

    #[test]
    fn functions_without_parameters_have_nothing_in_common() {
        let known = [function("now", &[], "tells the time")];
        assert_eq!(
            find(&known, function("now", &[], "the clock of the house")).by_name,
            Some(SameName { known: 0, jaccard: 0.0, shared: 0 })
        );
    }

    #[test]
    fn short_queries_never_match_and_a_higher_minimum_matches_less() {
        let known = ["what is the weather in paris", "book the small room for nine people on friday"];
        let find = |min_tokens| -> Vec<bool> {
            let threshold = Threshold::try_from(0.8).unwrap();
            let found = queries(&known, &known, min_tokens, threshold, &|| false).unwrap();
            found.into_iter().map(|merge| merge.is_some()).collect()
        };
        assert_eq!(find(0), [true, true]);
        assert_eq!(find(7), [false, true]);
        assert_eq!(find(10), [false, false]);
    }

    proptest! {
        #[test]
        fn equal_names_and_parameters_always_match(
            names in prop::collection::vec("[a-c]_?[a-c]", 1..8), parameters in prop::collection::vec("[a-d]{1,2}", 1..4)
        ) {
            let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
            let known: Vec<Function> = names.iter().map(|name| function(name, &parameters, name)).collect();
            for wanted in &known {
                let found = find(&known, function(&wanted.name.to_uppercase(), &parameters, "other words"));
                let same = found.by_name.unwrap();
                prop_assert!(same.jaccard >= 1.0);
                prop_assert_eq!(loose_name(&known[same.known].name), loose_name(&wanted.name));
            }
        }
    }
}
