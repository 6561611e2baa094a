//! Finds function docs of a benchmark in those of a training row.
//!
//! A function is known by its name with the names of its parameters, by its parameters with its text, and by its name with its
//! text, so that neither new descriptions nor new names hide it; one with a new name and new words is suspect by the kinds and
//! options of its parameters. Equal functions of several entries, and equal lists of functions, are looked for once; `answers`
//! finds calls.

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use super::everyday::is_example_name;
use super::hit::{Group, Hit, MOST_SINGLE, Method, Object, Verdict};
use super::known::KnownFunctions;
use super::shown::Shown;
use super::thresholds::DocThresholds;
use super::words::{Vocabulary, Word, n_common};
use callsieve_docs::signature::{Parameter, Signature, ValueKind};
use callsieve_text::normal::loose_name;
use callsieve_text::rouge::f1;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// A function of the benchmark.
#[derive(Debug)]
struct Function {
    /// Its name and the names of its parameters, as they are.
    names: Vec<String>,
    /// It has parameters.
    has_parameters: bool,
    /// The words of its text, without its name.
    words: Vec<u32>,
    /// The words of its descriptions alone.
    described: Vec<u32>,
    /// The hash of its own description, without those of parameters.
    head: Option<u64>,
    /// The kinds and options of its parameters, by their names.
    structure: Vec<(String, ValueKind, Vec<String>)>,
    /// The entries that offer it, with its place among their functions.
    entries: Vec<(u32, u32)>,
}

/// All functions of some entries.
#[derive(Debug)]
struct List {
    /// The numbers of the functions, ascending.
    functions: Box<[u32]>,
    entries: Vec<(u32, u32)>,
}

/// Fewest words of descriptions by which a function is known without its names.
const FEWEST_DESCRIBED: usize = 12;
/// Fewest words of a function's own description by which it is known with its name, whatever its parameters.
const FEWEST_OF_HEAD: usize = 5;
/// Fewest parameters by which a function is known without its name and words.
const FEWEST_OF_STRUCTURE: usize = 4;
/// The same as options of one of several parameters.
const FEWEST_OPTIONS: usize = 3;

/// Functions of one name, by their parameters, sorted, in a form that ignores spelling.
type OfName = BTreeMap<Vec<String>, Vec<u32>>;

/// The functions of a benchmark.
#[derive(Debug, Default)]
pub(super) struct DocIndex {
    vocabulary: Vocabulary,
    functions: Vec<Function>,
    known: FxHashMap<(Vec<String>, Vec<u32>), u32>,
    /// By text: its words, of texts whose words teach the vocabulary nothing when they are read again.
    known_texts: FxHashMap<String, Vec<u32>>,
    by_name: FxHashMap<String, OfName>,
    by_parameters: FxHashMap<Vec<String>, Vec<u32>>,
    /// By the words of their descriptions, of those with enough of them.
    by_described: FxHashMap<Vec<u32>, Vec<u32>>,
    /// The hashes of the descriptions of these, without those of parameters: most functions of a row need not be read further.
    heads: FxHashSet<u64>,
    lists: Vec<List>,
    known_lists: FxHashMap<Box<[u32]>, u32>,
    /// By the function that is in the fewest lists.
    by_rarest: FxHashMap<u32, Vec<u32>>,
    /// Groups of entries by the functions or lists that they have, so that equal ones of many rows are in memory once.
    groups: [Mutex<Groups>; 2],
}

type Groups = FxHashMap<Box<[u32]>, Arc<Group>>;

/// A function of a row that is looked for.
pub(super) struct Sought<'a> {
    signature: &'a Signature,
    /// Its name in a form that ignores spelling.
    name: String,
    /// The names of its parameters in that form, sorted.
    parameters: Vec<String>,
    /// The hash of its description, once it was asked for.
    head: OnceCell<Option<u64>>,
}

impl<'a> Sought<'a> {
    pub(super) fn of(signature: &'a Signature, known: &KnownFunctions) -> Self {
        let (name, parameters) = (known.resolve(&signature.name), parameters(signature));
        Self { signature, name, parameters, head: OnceCell::new() }
    }

    fn head(&self) -> Option<u64> {
        *self.head.get_or_init(|| head(self.signature))
    }
}

/// A function of the benchmark that is like one of a row: its number, by which method, score, and verdict.
pub(super) type Alike = (u32, Method, f64, Verdict);

/// What rows have of the benchmark.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Functions,
    Lists,
}

impl DocIndex {
    /// Adds the functions of an entry.
    pub(super) fn add_functions(&mut self, entry: u32, functions: &[Signature]) {
        let mut list = Vec::with_capacity(functions.len());
        for (place, signature) in (0..).zip(functions) {
            let name = loose_name(&signature.name);
            if name.is_empty() {
                continue;
            }
            let parameters = parameters(signature);
            let words = self.words_of(text(signature));
            let next = number(self.functions.len());
            let names = names(signature);
            let at = *self.known.entry((names.clone(), words.clone())).or_insert(next);
            if at == next {
                let of_name = self.by_name.entry(name).or_default();
                of_name.entry(parameters.clone()).or_default().push(at);
                let has_parameters = !parameters.is_empty();
                self.by_parameters.entry(parameters).or_default().push(at);
                let described = numbers(&self.vocabulary.learn(&Shown::of(&descriptions(signature))));
                let structure = structure(signature);
                let head = head(signature);
                if described.len() >= FEWEST_DESCRIBED {
                    self.heads.extend(head);
                    self.by_described.entry(described.clone()).or_default().push(at);
                }
                self.functions.push(Function {
                    names,
                    has_parameters,
                    words,
                    described,
                    head,
                    structure,
                    entries: Vec::new(),
                });
            }
            self.functions[at as usize].entries.push((entry, place));
            list.push(at);
        }
        list.sort_unstable();
        list.dedup();
        if list.is_empty() {
            return;
        }
        let next = number(self.lists.len());
        let at = *self.known_lists.entry(list.clone().into()).or_insert(next);
        if at == next {
            self.lists.push(List { functions: list.into(), entries: Vec::new() });
        }
        self.lists[at as usize].entries.push((entry, 0));
    }

    /// Returns the words of a text. Entries repeat functions, such as those of one class, so most texts are read once.
    fn words_of(&mut self, text: String) -> Vec<u32> {
        if let Some(known) = self.known_texts.get(&text) {
            return known.clone();
        }
        let shown = Shown::of(&text);
        let words = numbers(&self.vocabulary.learn(&shown));
        // A vocabulary counts what stands beside each hyphen.
        if !shown.text.contains('-') {
            self.known_texts.insert(text, words.clone());
        }
        words
    }

    /// Indexes the lists, after the last entry was added.
    pub(super) fn index_lists(&mut self) {
        self.known = FxHashMap::default();
        self.known_texts = FxHashMap::default();
        self.known_lists = FxHashMap::default();
        let mut n_lists = vec![0_u32; self.functions.len()];
        for at in self.lists.iter().flat_map(|list| &list.functions) {
            n_lists[*at as usize] += 1;
        }
        for (number, list) in (0..).zip(&self.lists) {
            let rarest = list.functions.iter().min_by_key(|at| (n_lists[**at as usize], **at));
            if let Some(rarest) = rarest {
                self.by_rarest.entry(*rarest).or_default().push(number);
            }
        }
    }

    /// Returns the name of a function of an entry.
    pub(super) fn name_of(&self, entry: u32, place: u32) -> Option<&str> {
        let function = self.functions.iter().find(|function| function.entries.contains(&(entry, place)))?;
        function.names.first().map(String::as_str)
    }

    /// The number of different functions.
    pub(super) fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns the methods that can find the functions of each entry.
    pub(super) fn scorable(&self) -> BTreeMap<u32, Vec<Method>> {
        let mut methods: BTreeMap<u32, Vec<Method>> = BTreeMap::new();
        for function in &self.functions {
            for (entry, _) in &function.entries {
                let of_entry = methods.entry(*entry).or_default();
                of_entry.extend([Method::NameParameters, Method::AllFunctions]);
                if function.has_parameters && !function.words.is_empty() {
                    of_entry.extend([Method::ParametersText, Method::Descriptions]);
                }
                if function.has_structure() {
                    of_entry.push(Method::Structure);
                }
            }
        }
        methods
    }

    /// Finds the functions that overlap those of a row, by what is like each of them.
    pub(super) fn find_functions<'a>(&self, functions: impl Iterator<Item = &'a [Alike]>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut sure: FxHashSet<u32> = FxHashSet::default();
        for (place, like) in (0..).zip(functions) {
            let mut alike: BTreeMap<(Method, Verdict), Vec<(u32, f64)>> = BTreeMap::new();
            for &(at, method, score, verdict) in like {
                alike.entry((method, verdict)).or_default().push((at, score));
                if verdict == Verdict::Contaminated {
                    sure.insert(at);
                }
            }
            for ((method, verdict), found) in alike {
                let found = self.hits(Kind::Functions, &found);
                hits.extend(found.map(|hit| Hit { method, verdict, in_row: (place, 0..0), ..hit }));
            }
        }
        let mut rarest: Vec<u32> = sure.iter().copied().collect();
        rarest.sort_unstable();
        let lists = rarest.iter().filter_map(|at| self.by_rarest.get(at)).flatten();
        let has_all = |list: &&u32| self.lists[**list as usize].functions.iter().all(|at| sure.contains(at));
        let found: Vec<(u32, f64)> = lists.filter(has_all).map(|list| (*list, 1.0)).collect();
        hits.extend(self.hits(Kind::Lists, &found));
        hits
    }

    /// Finds the functions of a row that are those of environments, by what is like each of them: one hit for the whole list.
    pub(super) fn shared<'a>(&self, functions: impl Iterator<Item = &'a [Alike]>) -> Option<Hit> {
        let sure = functions.flatten().filter(|(.., verdict)| *verdict == Verdict::Contaminated);
        let mut found: Vec<(u32, f64)> = sure.map(|&(at, _, score, _)| (at, score)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|(at, _)| *at);
        let first = found.first()?;
        let (entry, place) = self.functions[first.0 as usize].entries[0];
        let score = found.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        Some(Hit {
            entry,
            object: Object::Functions,
            method: Method::Environment,
            score,
            verdict: Verdict::Environment,
            in_row: (0, 0..0),
            in_entry: (place, 0..0),
            run: 0,
            group: Some(self.group(Kind::Functions, &found)),
        })
    }

    fn entries_of(&self, kind: Kind, at: u32) -> &[(u32, u32)] {
        match kind {
            Kind::Functions => &self.functions[at as usize].entries,
            Kind::Lists => &self.lists[at as usize].entries,
        }
    }

    /// Returns the hits of functions or lists with their scores, by one method with one verdict: of each entry, or of a group.
    fn hits(&self, kind: Kind, found: &[(u32, f64)]) -> impl Iterator<Item = Hit> {
        let one = |(entry, place): (u32, u32), score: f64, group: Option<Arc<Group>>| Hit {
            entry,
            object: if matches!(kind, Kind::Lists) { Object::Functions } else { Object::Function },
            method: Method::AllFunctions,
            score,
            verdict: Verdict::Contaminated,
            in_row: (0, 0..0),
            in_entry: (place, 0..0),
            run: 0,
            group,
        };
        let n: usize = found.iter().map(|(at, _)| self.entries_of(kind, *at).len()).sum();
        if n <= MOST_SINGLE {
            let each = |(at, score): &(u32, f64)| {
                self.entries_of(kind, *at).iter().map(|entry| one(*entry, *score, None)).collect::<Vec<_>>()
            };
            return found.iter().flat_map(each).collect::<Vec<_>>().into_iter();
        }
        let first = |at: u32| self.entries_of(kind, at)[0];
        let best = found.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(first(b.0).cmp(&first(a.0))));
        let hit = best.map(|&(at, score)| one(first(at), score, Some(self.group(kind, found))));
        hit.into_iter().collect::<Vec<_>>().into_iter()
    }

    /// Returns the entries of some functions or lists.
    fn group(&self, kind: Kind, found: &[(u32, f64)]) -> Arc<Group> {
        let mut numbers: Vec<u32> = found.iter().map(|(at, _)| *at).collect();
        numbers.sort_unstable();
        let mut groups = self.groups[kind as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = groups.get(&numbers[..]) {
            return Arc::clone(known);
        }
        let members = numbers.iter().flat_map(|at| self.entries_of(kind, *at)).copied().collect();
        let group = Arc::new(Group::new(members));
        groups.insert(numbers.into(), Arc::clone(&group));
        group
    }

    /// Returns the functions like this one, each by one method.
    pub(super) fn like(&self, sought: &Sought<'_>, by: &DocThresholds) -> Vec<Alike> {
        let Sought { signature, parameters: own, .. } = sought;
        // Most functions are like none, and their texts need not be read.
        let words = LazyCell::new(|| numbers(&self.vocabulary.read(&Shown::of(&text(signature)))));
        let similarity =
            |function: &Function| f1(n_common(&function.words, &words), words.len(), function.words.len());
        let mut found: Vec<Alike> = Vec::new();
        let described =
            LazyCell::new(|| numbers(&self.vocabulary.read(&Shown::of(&descriptions(signature)))));
        let is_example = is_example_name(&signature.name);
        let has_long_description = signature.description.split_whitespace().count() >= FEWEST_OF_HEAD;
        let head = if has_long_description { sought.head() } else { None };
        for (parameters, functions) in self.by_name.get(&sought.name).into_iter().flatten() {
            let shared = jaccard(own, parameters);
            if shared < by.shared_parameters {
                let is_part = shared > 0.0 && (is_subset(own, parameters) || is_subset(parameters, own));
                for &at in functions {
                    let function = &self.functions[at as usize];
                    let other = &function.described;
                    let score = f1(n_common(other, &described), described.len(), other.len());
                    // A function with one parameter more or less still says what it does.
                    let has_head = head.is_some() && function.head == head;
                    if other.len() >= by.text_words && score >= by.text_suspect || has_head && !is_example {
                        found.push((at, Method::Descriptions, score, Verdict::Contaminated));
                    } else if has_head {
                        found.push((at, Method::Descriptions, score, Verdict::Suspect));
                    } else if is_part && !is_example {
                        found.push((at, Method::NameParameters, shared, Verdict::Suspect));
                    }
                }
                continue;
            }
            for &at in functions {
                let function = &self.functions[at as usize];
                // Any API may have a function `get_version` without parameters, or `getUserInfo` with an id, and any set of
                // examples `calculate_bmi`.
                let is_common = own.is_empty()
                    || (own.len() == 1 && !function.is_spelt_like(signature))
                    || (own.len() <= by.example_parameters && is_example);
                let is_sure = !is_common || similarity(function) >= by.text_suspect;
                let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                found.push((at, Method::NameParameters, shared, verdict));
            }
        }
        if own.is_empty() {
            return found;
        }
        let is_found = |found: &[Alike], at: u32| found.iter().any(|(of, ..)| *of == at);
        let may_be_described = sought.head().is_some_and(|head| self.heads.contains(&head));
        let same = may_be_described.then(|| self.by_described.get(&*described)).flatten();
        for &at in same.into_iter().flatten() {
            let function = &self.functions[at as usize];
            if !is_found(&found, at)
                && function.has_parameters
                && !self.by_parameters.get(own).is_some_and(|same| same.contains(&at))
            {
                found.push((at, Method::Descriptions, 1.0, Verdict::Contaminated));
            }
        }
        let known: FxHashSet<u32> = found.iter().map(|(at, ..)| *at).collect();
        for &at in self.by_parameters.get(own).into_iter().flatten() {
            let function = &self.functions[at as usize];
            if known.contains(&at) || words.is_empty() {
                continue;
            }
            let score = similarity(function);
            if score < by.text_suspect {
                if function.has_structure() && function.structure == structure(signature) {
                    found.push((at, Method::Structure, 1.0, Verdict::Suspect));
                }
            } else {
                // Two examples under different names, such as `convert_currency` and `currency_converter`.
                let are_examples = own.len() <= by.example_parameters
                    && is_example
                    && function.names.first().is_some_and(|name| is_example_name(name));
                let is_sure = function.words.len() >= by.text_words
                    && !are_examples
                    && (score >= by.text || own.len() >= by.text_parameters);
                let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                found.push((at, Method::ParametersText, score, verdict));
            }
        }
        found
    }
}

impl Function {
    /// Whether its parameters are so many, or have so many options, that another function hardly has the same.
    fn has_structure(&self) -> bool {
        let n_options = self.structure.iter().map(|(_, _, options)| options.len()).max().unwrap_or_default();
        self.structure.len() >= FEWEST_OF_STRUCTURE || self.structure.len() > 1 && n_options >= FEWEST_OPTIONS
    }

    /// Whether another function has the same names, letter by letter.
    fn is_spelt_like(&self, other: &Signature) -> bool {
        self.names == names(other)
    }
}

fn names(signature: &Signature) -> Vec<String> {
    let parameters = signature.parameters.iter().map(|parameter| parameter.name.clone());
    [signature.name.clone()].into_iter().chain(parameters).collect()
}

fn parameters(signature: &Signature) -> Vec<String> {
    let mut names: Vec<String> =
        signature.parameters.iter().map(|parameter| loose_name(&parameter.name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the text by which a function is compared, without its name.
fn text(signature: &Signature) -> String {
    let mut text = signature.description.clone();
    for parameter in &signature.parameters {
        text += &format!("\n{} {} {}", parameter.name, parameter.description, parameter.inside);
    }
    text
}

/// Returns the descriptions of a function, without any name.
fn descriptions(signature: &Signature) -> String {
    let of_parameters = signature.parameters.iter().map(|parameter| parameter.description.as_str());
    std::iter::once(signature.description.as_str()).chain(of_parameters).collect::<Vec<_>>().join("\n")
}

/// Returns the hash of the letters and digits of a function's own description; `None` without one.
fn head(signature: &Signature) -> Option<u64> {
    let mut hasher = FxHasher::default();
    let mut is_empty = true;
    let text = &signature.description;
    if text.is_ascii() {
        for byte in text.bytes().filter(u8::is_ascii_alphanumeric) {
            is_empty = false;
            hasher.write_u32(byte.to_ascii_lowercase().into());
        }
        return (!is_empty).then(|| hasher.finish());
    }
    for c in text.chars().filter(|c| c.is_alphanumeric()) {
        is_empty = false;
        c.to_lowercase().for_each(|c| hasher.write_u32(c.into()));
    }
    (!is_empty).then(|| hasher.finish())
}

/// Returns the parameters of a function with their kinds and options, by name.
fn structure(signature: &Signature) -> Vec<(String, ValueKind, Vec<String>)> {
    let of = |parameter: &Parameter| (loose_name(&parameter.name), parameter.kind, parameter.choices.clone());
    let mut structure: Vec<_> = signature.parameters.iter().map(of).collect();
    structure.sort();
    structure
}

fn numbers(words: &[Word]) -> Vec<u32> {
    words.iter().map(|word| word.number).collect()
}

/// Whether all of some names are among others.
fn is_subset(some: &[String], others: &[String]) -> bool {
    some.iter().all(|name| others.contains(name))
}

#[allow(clippy::cast_precision_loss)] // Counts of parameters.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|name| b.contains(name)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 functions")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use callsieve_docs::signature::plain_signature;

    fn function(name: &str, description: &str, parameters: &[&str]) -> Signature {
        let properties: Map<String, Value> =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let function = json!({"name": name, "description": description,
            "parameters": {"type": "object", "properties": properties}});
        plain_signature(&function).unwrap()
    }

    /// The parameters and the description of a function.
    type Doc<'a> = (&'a [&'a str], &'a str);
    /// The doc of a benchmark, that of a row, and what is found.
    type Case<'a> = (Doc<'a>, Doc<'a>, Vec<(Method, Verdict)>);

    /// How a function with parameters and a description is like one of the same name.
    fn alike(name: &str, of_entry: Doc<'_>, own: Doc<'_>) -> Vec<(Method, Verdict)> {
        let mut index = DocIndex::default();
        let mut known = KnownFunctions::default();
        let benchmark = function(name, of_entry.1, of_entry.0);
        index.add_functions(0, std::slice::from_ref(&benchmark));
        index.index_lists();
        known.add(&benchmark);
        let own = function(name, own.1, own.0);
        let found = index.like(&Sought::of(&own, &known), &DocThresholds::default());
        found.into_iter().map(|(_, method, _, verdict)| (method, verdict)).collect()
    }

    #[test]
    fn a_function_with_a_parameter_more_or_less_is_found_by_its_name_with_its_description_or_parameters() {
        let long = "Moors a boat at a berth.";
        let other = "Ties it.";
        let contaminated = vec![(Method::Descriptions, Verdict::Contaminated)];
        let suspect = vec![(Method::NameParameters, Verdict::Suspect)];
        let cases: [Case<'_>; 8] = [
            ((&["boat", "berth"], long), (&["boat"], long), contaminated.clone()),
            ((&["boat"], long), (&["boat", "berth"], "moors a boat, at a berth"), contaminated.clone()),
            ((&["boat", "berth"], long), (&[], long), contaminated),
            ((&["boat", "berth"], long), (&["boat"], other), suspect.clone()),
            ((&["boat"], other), (&["berth", "boat"], "Moors."), suspect),
            ((&["boat"], other), (&["berth"], "Moors."), vec![]),
            ((&["boat", "berth"], other), (&["boat", "rope"], "Moors."), vec![]),
            ((&["boat", "berth"], other), (&[], "Moors."), vec![]),
        ];
        for (of_entry, own, expected) in cases {
            assert_eq!(alike("moor_boat", of_entry, own), expected, "{of_entry:?} {own:?}");
        }
        let text = "Tells the weather of a city.";
        let suspect = vec![(Method::Descriptions, Verdict::Suspect)];
        assert_eq!(alike("get_weather", (&["city", "unit"], text), (&["city"], text)), suspect);
        assert_eq!(alike("get_weather", (&["city", "unit"], text), (&["city"], "Warm?")), Vec::new());
    }
}
