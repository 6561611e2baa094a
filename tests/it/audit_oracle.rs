//! The hits of an audit beside those of a simple comparison of all pairs, 1,000 rows with 1,000 entries, by every method.
//!
//! A hit of a group is a hit of each of its entries: its score is that of the entry that it names, and no other has a higher one.
//!
//! The comparison is written for itself: words, gaps, weights and measures are computed anew from the texts, without an index.
//! It knows ASCII only, as its texts are.

// The oracle is one long comparison on purpose: it should read as the rule does.
#![allow(clippy::too_many_lines)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;

use callsieve::audit::benchmark::{Benchmark, Thresholds};
use callsieve::audit::everyday::{is_popular, is_slot_answer};
use callsieve::audit::hit::{Method, Object, Verdict};
use callsieve::audit::item::{Item, ItemCall};
use callsieve::audit::rows::Fallback;
use callsieve::ingest::log_formats::Columns;
use callsieve_testkit::data;
use rayon::prelude::*;
use serde_json::{Value, json};

const N: usize = 1000;

/// A word: its lower-case text, its kind, the gap before it (0 none, 1 weak, 2 the end of a sentence).
#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    kind: char,
    gap: u8,
}

/// The words of an ASCII text. A reader sees line ends where some sets have them as two characters.
fn words(text: &str) -> Vec<Word> {
    let text = &text.replace("\\n", "\n").replace("\\r", "\n").replace("\\t", " ");
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        spans.push((start, at));
    }
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',');
        match joined.last_mut() {
            Some(last)
                if (&text[last.1..start] == "." || &text[last.1..start] == ",")
                    && digits(&text[last.0..last.1])
                    && digits(&text[start..end]) =>
            {
                last.1 = end;
            }
            _ => joined.push((start, end)),
        }
    }
    let (mut found, mut last, mut quoted, mut new_sentence) = (Vec::new(), 0, false, true);
    for (start, end) in joined {
        let (word, between) = (&text[start..end], &text[last..start]);
        for c in between.chars() {
            quoted ^= c == '"' || c == '`';
            new_sentence |= ".!?:\n".contains(c);
        }
        let capital = word.starts_with(|c: char| c.is_ascii_uppercase());
        let kind = match () {
            () if word.chars().any(|c| c.is_ascii_digit()) => 'n',
            () if quoted => 'q',
            () if !new_sentence && capital && word != "I" => 'c',
            () => ' ',
        };
        let gap = if found.is_empty() {
            2
        } else if between.len() == 1 && ".:,-".contains(between) {
            0
        } else if between.chars().any(|c| ".!?:;\n\r".contains(c)) {
            2
        } else {
            let is_weak =
                between.chars().any(|c| ",-|*()[]{}<>".contains(c)) || (between.trim().is_empty() && capital);
            u8::from(is_weak)
        };
        found.push(Word { text: word.to_lowercase(), kind, gap });
        last = end;
        new_sentence = false;
    }
    found
}

/// The hits of one kind of object: entry, method, score in ten thousandths, verdict, words of the run.
type Found = BTreeSet<(usize, &'static str, u64, &'static str, u32)>;

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Scores are from 0 to 1.
fn rounded(score: f64) -> u64 {
    (score * 1e4).round() as u64
}

struct Oracle {
    texts: Vec<Vec<Word>>,
    /// The messages with a word.
    n: f64,
    /// By word.
    weights: HashMap<String, f64>,
    by: Thresholds,
}

fn texts_of(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

#[allow(clippy::cast_precision_loss)] // Counts of words.
impl Oracle {
    fn new(bench: &[String], by: Thresholds) -> Self {
        let texts: Vec<Vec<Word>> = bench.iter().map(|text| words(text)).collect();
        let n = texts.iter().filter(|words| !words.is_empty()).count() as f64;
        let mut n_texts: HashMap<String, f64> = HashMap::new();
        for text in &texts {
            let distinct: HashSet<&str> = texts_of(text).into_iter().collect();
            #[allow(clippy::iter_over_hash_type)] // Counting needs no order.
            for word in distinct {
                *n_texts.entry(word.to_owned()).or_default() += 1.0;
            }
        }
        // As fine as the weights of the index.
        let weight = |n_with: f64| ((1.0 + n / n_with).ln() * 1e6).round();
        let weights = n_texts.into_iter().map(|(word, n_with)| (word, weight(n_with))).collect();
        Self { texts, n, weights, by }
    }

    fn weight(&self, words: &[&str]) -> f64 {
        words.iter().map(|word| self.weights[*word]).sum()
    }

    /// The weight of the words of a text that a row has, each as often as both have it.
    fn shared(&self, text: &[&str], row: &[&str]) -> f64 {
        let mut left = row.to_vec();
        let mut weight = 0.0;
        for word in text {
            if let Some(at) = left.iter().position(|own| own == word) {
                left.swap_remove(at);
                weight += self.weights[*word];
            }
        }
        weight
    }

    fn hits(&self, row: &[Word]) -> Found {
        let own = texts_of(row);
        let mut of_row: HashMap<&str, usize> = HashMap::new();
        for word in &own {
            *of_row.entry(word).or_default() += 1;
        }
        let long: HashSet<&[&str]> = own.windows(self.by.query.longest_words).collect();
        let mut found = Found::new();
        for (entry, text) in self.texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            self.compare(entry, text, row, &own, &of_row, &long, &mut found);
        }
        found
    }

    #[allow(clippy::too_many_arguments)] // A row and what is counted of it once.
    fn compare(
        &self,
        entry: usize,
        text: &[Word],
        row: &[Word],
        own: &[&str],
        of_row: &HashMap<&str, usize>,
        long: &HashSet<&[&str]>,
        found: &mut Found,
    ) {
        let by = &self.by.query;
        let expected = texts_of(text);
        let (n, total) = (expected.len(), self.weight(&expected));
        let surely = |is_sure: bool| if is_sure { "contaminated" } else { "suspect" };
        let mut add = |method: &'static str, score: f64, verdict, run| {
            found.insert((entry, method, rounded(score), verdict, run));
        };
        let is_popular = is_popular(expected.iter().copied());
        let plain = text.iter().filter(|word| word.kind != 'n');
        let is_slot_answer = is_slot_answer(plain.map(|word| word.text.as_str()));
        if expected == own {
            let one = ((1.0 + self.n).ln() * 1e6).round();
            add("exact", 1.0, surely(total >= by.exact_weight * one && !is_popular), 0);
            return;
        }
        let mut is_template = false;
        for (method, kinds) in [("template", "n"), ("name-template", "nqc")] {
            let (of_text, of_own) = (masked(text, kinds), masked(row, kinds));
            if of_text.is_some() && of_text == of_own {
                let n_plain = text.iter().filter(|word| !kinds.contains(word.kind)).count();
                is_template |= method == "template" && n_plain > 0;
                if n_plain > 0 {
                    add(
                        method,
                        1.0,
                        surely(method == "template" && n_plain >= by.template_words && !is_slot_answer),
                        0,
                    );
                }
                break;
            }
        }
        // A measure of a part cannot be above that of the whole.
        let mut left = of_row.clone();
        let (mut n_shared, mut weight) = (0, 0.0);
        for word in &expected {
            if let Some(n) = left.get_mut(word).filter(|n| **n > 0) {
                *n -= 1;
                n_shared += 1;
                weight += self.weights[*word];
            }
        }
        let has_run = expected.windows(by.longest_words).any(|run| long.contains(run));
        let may_be_near = 5 * n_shared > 2 * (n + own.len());
        let n_plain = text.iter().filter(|word| word.kind != 'n').count();
        let may_be_template = n_plain < n && n_plain >= by.template_words && !is_template;
        if weight / total < 0.6 && !may_be_near && !has_run && !may_be_template {
            return;
        }
        let width = (n + n / 2 + 3).min(own.len());
        let mut part = (0.0, 0);
        for start in 0..=own.len() - width {
            let weight = self.shared(&expected, &own[start..start + width]);
            if weight > part.0 {
                part = (weight, start);
            }
        }
        let inside = &own[part.1..part.1 + width];
        let is_compared = part.0 / total >= 0.6;
        let is_near = may_be_near && 5 * subsequence(&expected, own) > 2 * (n + own.len());
        let is_sentence = |start: usize| {
            let (first, next) = (row[start].gap, row.get(start + n).map_or(2, |word| word.gap));
            (first == 2 && next == 2)
                || (first.max(next) == 2
                    && first.min(next) == 1
                    && text.iter().skip(1).any(|word| word.kind != 'c'))
        };
        let is_word = expected.iter().collect::<BTreeSet<_>>().len() < 3;
        let contained =
            own.windows(n).enumerate().filter(|(_, run)| *run == expected).filter_map(|(start, _)| {
                let weight = total / ((1.0 + self.n.max(1000.0)).ln() * 1e6).round();
                if !is_popular
                    && ((n >= by.contained_words && weight >= by.contained_weight)
                        || (is_sentence(start) && weight >= by.sentence_weight))
                {
                    Some(surely(!is_word))
                } else {
                    (n >= by.contained_words).then_some("suspect")
                }
            });
        if let Some(verdict) = contained.min() {
            add("contained", 1.0, verdict, 0);
        } else if may_be_template {
            let fits = |run: &[Word]| {
                run.iter().zip(text).all(|(one, other)| {
                    one.text == other.text || one.kind.min(other.kind) == 'n' && one.kind == other.kind
                })
            };
            let starts = row.windows(n).enumerate().filter(|(_, run)| fits(run)).map(|(start, _)| start);
            let is_sure = |start| !is_slot_answer && !is_word && (n >= by.min_words || is_sentence(start));
            let verdicts = starts.map(|start| surely(is_sure(start)));
            if let Some(verdict) = verdicts.min() {
                add("template", 1.0, verdict, 0);
            }
        }
        if !is_compared && !is_near && !has_run {
            return;
        }
        let has = |run: &[&str]| own.windows(run.len()).any(|other| other == run);
        let longest = (1..=n).rev().find_map(|length| {
            let run = expected.windows(length).find(|run| has(run))?;
            Some((length, self.weight(run) / total))
        });
        let (length, share) = longest.unwrap_or((0, 0.0));
        let is_long_enough = n >= by.suspect_words || is_near;
        if length >= by.longest_words || (share >= by.longest_suspect && is_long_enough) {
            add("longest-match", share, "suspect", u32::try_from(length).unwrap());
        }
        if !is_compared && !is_near {
            return;
        }
        let ngram = |length: usize| {
            let runs: Vec<&[&str]> = expected.windows(length).collect();
            let total: f64 = runs.iter().map(|run| self.weight(run)).sum();
            let held: f64 = runs.iter().filter(|run| has(run)).map(|run| self.weight(run)).sum();
            if runs.is_empty() { 0.0 } else { held / total }
        };
        let (share, rouge_l) = (part.0 / total, best_f1(&expected, inside));
        let is_like = (share >= by.words && rouge_l >= by.rouge_l)
            || (share >= by.words_reordered && ngram(3) >= by.ngram);
        let has_values =
            text.iter().filter(|word| word.kind != ' ').all(|word| inside.contains(&word.text.as_str()));
        let is_sure = is_like && n >= by.min_words && has_values && !is_popular;
        for (method, score, suspect) in [
            ("ngram", ngram(3), by.ngram_suspect),
            ("words", share, by.words_suspect),
            ("rouge-l", rouge_l, by.rouge_l_suspect),
        ] {
            if is_sure || (score >= suspect && is_long_enough) {
                add(method, score, surely(is_sure), 0);
            }
        }
        for (method, length) in [("ngram-5", 5), ("ngram-8", 8), ("ngram-13", 13)] {
            if ngram(length) >= by.long_ngram_suspect && is_long_enough {
                add(method, ngram(length), "suspect", 0);
            }
        }
    }
}

/// The words with values of some kinds as marks, neighbours of a kind as one; `None` without such a value.
fn masked(words: &[Word], kinds: &str) -> Option<Vec<String>> {
    let mut shown: Vec<String> = Vec::new();
    for word in words {
        if !kinds.contains(word.kind) {
            shown.push(word.text.clone());
        } else if shown.last() != Some(&format!("<{}>", word.kind)) {
            shown.push(format!("<{}>", word.kind));
        }
    }
    words.iter().any(|word| kinds.contains(word.kind)).then_some(shown)
}

fn subsequence(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0; a.len() + 1];
    for word in b {
        grow(&mut row, a, word);
    }
    row[a.len()]
}

/// The next row of the table of common subsequences.
fn grow(row: &mut [usize], a: &[&str], word: &str) {
    let mut diagonal = 0;
    for (at, own) in a.iter().enumerate() {
        let above = row[at + 1];
        row[at + 1] = if *own == word { diagonal + 1 } else { above.max(row[at]) };
        diagonal = above;
    }
}

/// The highest ROUGE-L F1 of a text with any stretch of a part: all starts, all ends.
#[allow(clippy::cast_precision_loss)] // Counts of words.
fn best_f1(text: &[&str], part: &[&str]) -> f64 {
    let mut best: f64 = 0.0;
    for start in 0..part.len() {
        let mut row = vec![0; text.len() + 1];
        for (n, word) in part[start..].iter().enumerate() {
            grow(&mut row, text, word);
            best = best.max(2.0 * row[text.len()] as f64 / (text.len() + n + 1) as f64);
        }
    }
    best
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn of<'a>(&mut self, texts: &'a [String]) -> &'a str {
        let at = self.below(texts.len());
        &texts[at]
    }
}

/// Rows made of messages: unchanged, with one or two other words, other numbers, in another order, inside others.
fn rows_of(messages: &[String], dice: &mut Dice) -> Vec<String> {
    let mut rows = Vec::new();
    while rows.len() < N {
        let one = dice.of(messages).to_owned();
        let other = dice.of(messages).to_owned();
        let parts: Vec<&str> = one.split_whitespace().collect();
        if parts.is_empty() {
            continue;
        }
        rows.push(match dice.below(9) {
            0 => one.to_uppercase(),
            1 | 2 => {
                let mut parts: Vec<String> = parts.iter().map(|&part| part.to_owned()).collect();
                for _ in 0..=dice.below(2) {
                    let at = dice.below(parts.len());
                    dice.of(messages).split_whitespace().next().unwrap_or("so").clone_into(&mut parts[at]);
                }
                parts.join(" ")
            }
            3 => one.chars().map(|c| if c.is_ascii_digit() { '7' } else { c }).collect(),
            4 => [&parts[parts.len() / 2..], &parts[..parts.len() / 2]].concat().join(" "),
            5 => format!("{other} {one} Thanks!"),
            6 => format!("{other}. {one} {}", dice.of(messages)),
            7 => parts[..=parts.len() * 2 / 3].join(" "),
            _ => other,
        });
    }
    rows
}

fn benchmark(folder: &std::path::Path, entries: &[(Value, Option<Value>)]) -> Benchmark {
    let (mut questions, mut answers) = (String::new(), String::new());
    for (entry, answer) in entries {
        writeln!(questions, "{entry}").unwrap();
        if let Some(answer) = answer {
            writeln!(answers, "{}", json!({"id": entry["id"], "ground_truth": answer})).unwrap();
        }
    }
    let name = "BFCL_v4_simple_python.json";
    fs::create_dir_all(folder.join("possible_answer")).unwrap();
    fs::write(folder.join(name), questions).unwrap();
    fs::write(folder.join("possible_answer").join(name), answers).unwrap();
    Benchmark::read(&[folder.join(name)], &Columns::default(), Thresholds::default(), &Fallback::default())
        .unwrap()
}

/// The entries of the official release with a message in ASCII, without equal ones.
fn official() -> Option<Vec<Value>> {
    let mut entries: BTreeMap<String, Value> = BTreeMap::new();
    for (folder, categories) in [
        ("bfcl-v4-live", &["live_simple", "live_multiple", "live_irrelevance"][..]),
        ("bfcl-v4-nonlive", &["simple_python", "multiple", "parallel"]),
    ] {
        for category in categories {
            let text = data::text(&format!("{folder}/BFCL_v4_{category}.json"))?;
            for line in text.lines().step_by(2) {
                let entry: Value = serde_json::from_str(line).unwrap();
                let message =
                    entry["question"][0].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
                if message.is_ascii() && message.len() < 600 && !words(message).is_empty() {
                    entries.insert(message.to_owned(), entry);
                }
            }
        }
    }
    Some(entries.into_values().collect())
}

fn message_of(entry: &Value) -> String {
    entry["question"][0].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// Messages of few words, so that many share runs.
fn generated() -> Vec<String> {
    const WORDS: &str = "book a ferry to Mull at 9 the tide in Leith. on Friday, ring bell 3 times please show me all boats near \
        Oban \"low water\" is I'd like 12.5 miles: north-east wind for two (adults) what when? how";
    let words: Vec<String> = WORDS.split_whitespace().map(str::to_owned).collect();
    let mut dice = Dice(1);
    let mut texts: BTreeSet<String> = BTreeSet::new();
    while texts.len() < N {
        let n = 1 + dice.below(18);
        texts.insert((0..n).map(|_| dice.of(&words)).collect::<Vec<_>>().join(" "));
    }
    texts.into_iter().collect()
}

fn entry(message: &str) -> Value {
    json!({"id": "", "question": [[{"role": "user", "content": message}]], "function": []})
}

/// Compares the hits of every row, and returns how many hits each method has.
fn compare(bench: &[String], rows: &[String]) -> BTreeMap<&'static str, usize> {
    let folder = tempfile::tempdir().unwrap();
    let entries: Vec<(Value, Option<Value>)> = bench.iter().map(|text| (entry(text), None)).collect();
    let benchmark = benchmark(folder.path(), &entries);
    let oracle = Oracle::new(bench, *benchmark.thresholds());
    let found: Vec<Found> = rows
        .par_iter()
        .map(|row| {
            let expected = oracle.hits(&words(row));
            let by_pair: HashMap<(usize, &str), (u64, &str, u32)> = expected
                .iter()
                .map(|&(entry, method, score, verdict, run)| ((entry, method), (score, verdict, run)))
                .collect();
            let hits = benchmark.hits_of_messages(&Item { queries: vec![row.clone()], ..Item::default() });
            let (mut found, mut n_pairs) = (Found::new(), 0);
            for hit in &hits {
                assert_eq!(hit.object, Object::Query);
                let (method, verdict) = (hit.method.name(), hit.verdict.name());
                let named = (rounded(hit.score), verdict, hit.run);
                assert_eq!(by_pair.get(&(hit.entry as usize, method)), Some(&named), "{row} {method}");
                for (entry, _) in hit.entries() {
                    n_pairs += 1;
                    let known = by_pair.get(&(entry as usize, method)).copied();
                    let (score, _, run) = known.unwrap_or_default();
                    assert!(score <= rounded(hit.score), "{row}\n{}: {score}", bench[entry as usize]);
                    found.insert((entry as usize, method, score, verdict, run));
                }
            }
            assert_eq!(found.len(), n_pairs, "{row}");
            let differ: Vec<_> = found.symmetric_difference(&expected).collect();
            assert!(differ.is_empty(), "{row}\n{differ:?}\n{}", bench[differ[0].0]);
            found
        })
        .collect();
    let mut n: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (_, method, ..) in found.into_iter().flatten() {
        *n.entry(method).or_default() += 1;
    }
    n
}

#[test]
fn the_hits_of_generated_messages_are_those_of_all_pairs() {
    let bench = generated();
    let rows = rows_of(&bench, &mut Dice(2));
    let n = compare(&bench, &rows);
    assert!(n.len() >= 10 && n.values().sum::<usize>() > 2000, "{n:?}");
}

#[test]
fn the_hits_of_official_messages_are_those_of_all_pairs() {
    let Some(entries) = official() else { return };
    let messages: Vec<String> = entries.iter().map(message_of).collect();
    // Rows are made of all messages, so that half of them are not of the benchmark.
    let bench: Vec<String> = messages.iter().step_by(2).take(N).cloned().collect();
    let rows = rows_of(&messages, &mut Dice(3));
    let n = compare(&bench, &rows);
    for method in Method::ALL {
        let is_of_messages = n.contains_key(method.name());
        let is_other = matches!(
            method,
            Method::Cosine
                | Method::Judge
                | Method::NameParameters
                | Method::ParametersText
                | Method::Descriptions
                | Method::Structure
                | Method::AllFunctions
                | Method::Environment
                | Method::CallValues
        );
        assert!(is_of_messages != is_other, "{}: {n:?}", method.name());
    }
}

/// Messages of a few templates, and equal ones: each row overlaps many entries in the same way.
fn of_templates(dice: &mut Dice, n: usize) -> Vec<String> {
    const BEFORE: &str =
        "Read what the harbour log says and answer in one short sentence with facts of this log only:";
    const AFTER: &str =
        "Please write your answer to the question above as a list without any other words at all";
    const PLACES: [&str; 6] = ["Oban", "Mull", "Leith", "Skye", "Rum", "Iona"];
    let letters = || (b'a'..=b'z').map(char::from);
    let words: Vec<String> =
        letters().flat_map(|one| letters().step_by(2).map(move |other| format!("w{one}{other}y"))).collect();
    let tail =
        |dice: &mut Dice, n: usize| (0..n).map(|_| dice.of(&words).to_owned()).collect::<Vec<_>>().join(" ");
    (0..n)
        .map(|at| {
            let place = PLACES[dice.below(PLACES.len())];
            match at % 8 {
                0 | 1 => format!("{BEFORE} {}", tail(dice, 12)),
                2 => format!("{BEFORE} {}", tail(dice, 3)),
                3 => format!("{} {AFTER}", tail(dice, 9)),
                4 => format!(
                    "What is the weather in {place} going to be like on day {} of this year",
                    dice.below(40)
                ),
                5 => format!("{BEFORE} {}. {AFTER}", tail(dice, 4)),
                6 => [
                    "Ring the bell of the tower three times, please",
                    "ring the bell of the tower three times please!",
                ][dice.below(2)]
                .to_owned(),
                _ => format!("book {} seats to {place}", 1 + dice.below(9)),
            }
        })
        .collect()
}

#[test]
fn the_hits_of_templates_and_equal_messages_are_those_of_all_pairs() {
    let mut dice = Dice(11);
    let (bench, rows) = (of_templates(&mut dice, 320), of_templates(&mut dice, 96));
    let n = compare(&bench, &rows);
    assert!(
        n["longest-match"] > 5000 && n["exact"] > 400 && n["template"] > 100 && n["name-template"] > 400,
        "{n:?}"
    );
    // Rows times entries would be thirty thousand.
    let folder = tempfile::tempdir().unwrap();
    let entries: Vec<(Value, Option<Value>)> = bench.iter().map(|text| (entry(text), None)).collect();
    let benchmark = benchmark(folder.path(), &entries);
    let hits_of =
        |row: &String| benchmark.hits_of_messages(&Item { queries: vec![row.clone()], ..Item::default() });
    let most = rows.iter().map(|row| hits_of(row).len()).max().unwrap();
    assert!(most < 120, "{most}");
}

/// A function in JSON Schema, with the text of its description and the names of its parameters.
fn function(name: &str, description: &str, parameters: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = parameters
        .iter()
        .map(|name| {
            ((*name).to_owned(), json!({"type": "string", "description": format!("The {name} of it.")}))
        })
        .collect();
    json!({"name": name, "description": description,
        "parameters": {"type": "dict", "properties": properties, "required": []}})
}

#[test]
fn the_hits_of_functions_and_calls_are_those_of_all_pairs() {
    const NAMES: [&str; 6] = ["ring_bell", "ringBell", "bookFerry", "book.ferry", "tide", "get_tide"];
    const PARAMETERS: [&str; 7] = ["port", "weekday", "seats", "toPort", "to_port", "bell", "hour"];
    const TEXTS: [&str; 4] = [
        "Rings the great bell of the harbour tower at noon.",
        "Rings the great bell of the harbour tower at night.",
        "Books seats on the ferry.",
        "Returns when and how high the next high tide in a port of the west coast is.",
    ];
    let mut dice = Dice(5);
    let list = |dice: &mut Dice| -> Vec<(String, String, Vec<&'static str>)> {
        let mut names = BTreeSet::new();
        (0..=dice.below(2))
            .filter_map(|_| {
                let name = NAMES[dice.below(NAMES.len())];
                let text = TEXTS[dice.below(TEXTS.len())];
                let mut own: Vec<&str> =
                    (0..dice.below(4)).map(|_| PARAMETERS[dice.below(PARAMETERS.len())]).collect();
                own.sort_unstable();
                own.dedup();
                names.insert(loose(name)).then(|| (name.to_owned(), text.to_owned(), own))
            })
            .collect()
    };
    let lists: Vec<_> = (0..2 * N).map(|_| list(&mut dice)).collect();
    let values = ["Leith", "Oban", "9", ""];
    let calls: Vec<Vec<ItemCall>> = lists
        .iter()
        .map(|list| {
            let call = |(name, _, parameters): &(String, String, Vec<&str>)| ItemCall {
                name: name.clone(),
                arguments: parameters
                    .iter()
                    .map(|parameter| {
                        let n = 1 + dice.below(2);
                        let mut own: Vec<Value> = (0..n).map(|_| json!(values[dice.below(3)])).collect();
                        if dice.below(3) == 0 {
                            own.push(json!(""));
                        }
                        ((*parameter).to_owned(), own)
                    })
                    .collect(),
            };
            list.iter().map(call).collect()
        })
        .collect();
    let docs = |list: &[(String, String, Vec<&str>)]| -> Vec<Value> {
        list.iter().map(|(name, text, own)| function(name, text, own)).collect()
    };
    let entries: Vec<(Value, Option<Value>)> = (0..N)
        .map(|at| {
            let truth = |call: &ItemCall| {
                let arguments: serde_json::Map<String, Value> =
                    call.arguments.iter().map(|(name, values)| (name.clone(), json!(values))).collect();
                json!({&call.name: arguments})
            };
            let question = json!({"id": format!("e{at}"), "question": [[{"role": "user", "content": "x"}]], "function": docs(&lists[at])});
            (question, Some(calls[at].iter().map(truth).collect()))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let benchmark = benchmark(folder.path(), &entries);
    let mut n: BTreeMap<&'static str, usize> = BTreeMap::new();
    for row in N..2 * N {
        let functions = docs(&lists[row]);
        let made: Vec<ItemCall> = calls[row]
            .iter()
            .map(|call| ItemCall {
                name: call.name.clone(),
                arguments: call
                    .arguments
                    .iter()
                    .map(|(name, values)| (name.clone(), vec![values[0].clone()]))
                    .collect(),
            })
            .collect();
        let item = Item { calls: made.clone(), ..Item::default() };
        let mut found: BTreeSet<(usize, &str, u32, u32, &str)> = BTreeSet::new();
        let mut scores: BTreeMap<(usize, &str, u32, u32), u64> = BTreeMap::new();
        for hit in benchmark.hits_of_functions(&functions).iter().chain(&benchmark.hits_of_messages(&item)) {
            scores.insert(
                (hit.entry as usize, hit.method.name(), hit.in_row.0, hit.in_entry.0),
                rounded(hit.score),
            );
            for (entry, number) in hit.entries() {
                let is_new = found.insert((
                    entry as usize,
                    hit.method.name(),
                    hit.in_row.0,
                    number,
                    hit.verdict.name(),
                ));
                assert!(is_new, "{hit:?}");
                *n.entry(hit.method.name()).or_default() += 1;
            }
        }
        let mut expected = BTreeSet::new();
        for entry in 0..N {
            let mut held = BTreeSet::new();
            for (place, of_entry) in lists[entry].iter().enumerate() {
                for (own_place, own) in lists[row].iter().enumerate() {
                    if let Some((method, score, verdict)) = alike(of_entry, own) {
                        let place = u32::try_from(place).unwrap();
                        expected.insert((
                            entry,
                            method,
                            u32::try_from(own_place).unwrap(),
                            place,
                            rounded(score),
                            verdict,
                        ));
                        if verdict == Verdict::Contaminated.name() {
                            held.insert(place);
                        }
                    }
                }
            }
            if held.len() == lists[entry].len() {
                expected.insert((entry, "all-functions", 0, 0, rounded(1.0), "contaminated"));
            }
            if let Some((score, verdict)) = answers(&calls[entry], &made) {
                expected.insert((entry, "call-values", 0, 0, rounded(score), verdict));
            }
        }
        for ((entry, method, own, number), score) in scores {
            let is_expected = |(of, by, at, place, expected, _): &&(usize, &str, u32, u32, u64, &str)| {
                (*of, *by, *at, *place, *expected) == (entry, method, own, number, score)
            };
            assert!(expected.iter().any(|one| is_expected(&one)), "{entry} {method} {score}");
        }
        let expected = expected
            .into_iter()
            .map(|(entry, method, own, number, _, verdict)| (entry, method, own, number, verdict));
        assert_eq!(found, expected.collect(), "{functions:?} {made:?}");
    }
    assert!(n.len() == 5 && n.values().all(|n| *n > 20), "{n:?}");
}

fn loose(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "")
}

/// The method, score and verdict of two functions.
#[allow(clippy::cast_precision_loss)] // Counts of parameters.
fn alike(
    of_entry: &(String, String, Vec<&str>),
    own: &(String, String, Vec<&str>),
) -> Option<(&'static str, f64, &'static str)> {
    let set = |names: &[&str]| names.iter().map(|name| loose(name)).collect::<BTreeSet<String>>();
    let (expected, given) = (set(&of_entry.2), set(&own.2));
    let text = |(_, text, parameters): &(String, String, Vec<&str>)| {
        let told: Vec<String> = parameters.iter().map(|name| format!("{name} The {name} of it.")).collect();
        words(&format!("{text}\n{}", told.join("\n")))
    };
    let (of_text, of_own) = (text(of_entry), text(own));
    let common = subsequence(&texts_of(&of_text), &texts_of(&of_own));
    let f1 = 2.0 * common as f64 / (of_text.len() + of_own.len()) as f64;
    let shared = expected.intersection(&given).count();
    let all = expected.union(&given).count();
    let jaccard = if all == 0 { 1.0 } else { shared as f64 / all as f64 };
    if loose(&of_entry.0) == loose(&own.0) && jaccard >= 0.8 {
        let is_spelt_alike = of_entry.0 == own.0 && of_entry.2 == own.2;
        let is_common = given.is_empty() || (given.len() == 1 && !is_spelt_alike);
        let verdict = if is_common && f1 < 0.9 { "suspect" } else { "contaminated" };
        return Some(("name-parameters", jaccard, verdict));
    }
    let described = |(_, text, parameters): &(String, String, Vec<&str>)| {
        let told: Vec<String> = parameters.iter().map(|name| format!("The {name} of it.")).collect();
        words(&format!("{text}\n{}", told.join("\n")))
    };
    let (of_described, own_described) = (described(of_entry), described(own));
    let common = subsequence(&texts_of(&of_described), &texts_of(&own_described));
    let said = 2.0 * common as f64 / (of_described.len() + own_described.len()) as f64;
    let is_same_name = loose(&of_entry.0) == loose(&own.0);
    // All own descriptions have 5 words or more, and no name is one of examples.
    if is_same_name && (of_entry.1 == own.1 || of_described.len() >= 8 && said >= 0.9) {
        return Some(("descriptions", said, "contaminated"));
    }
    let is_part = shared > 0 && (expected.is_subset(&given) || given.is_subset(&expected));
    if is_same_name && is_part {
        return Some(("name-parameters", jaccard, "suspect"));
    }
    if given.is_empty() || given != expected || f1 < 0.9 {
        return None;
    }
    let is_sure = of_text.len() >= 8 && (f1 >= 0.95 || given.len() >= 3);
    Some(("parameters-text", f1, if is_sure { "contaminated" } else { "suspect" }))
}

/// The share of the calls of an answer that are among some calls, in any order, and what that proves: all of them with two values
/// are contaminated, all with one, and most of three are suspect. No value is long, and none is one of examples.
#[allow(clippy::cast_precision_loss)] // Counts of calls.
fn answers(expected: &[ItemCall], calls: &[ItemCall]) -> Option<(f64, &'static str)> {
    // The names of a list differ, so a call fits at most one.
    let fitting = |expected: &ItemCall| -> Option<usize> {
        calls.iter().find_map(|call| {
            let n = expected.arguments.iter().map(|(name, values)| {
                let mut named = call.arguments.iter().filter(|(own, _)| loose(own) == loose(name)).peekable();
                if named.peek().is_none() {
                    return values.contains(&json!("")).then_some(0);
                }
                named.any(|(_, own)| values.contains(&own[0])).then_some(1)
            });
            let n: Option<usize> = n.sum();
            n.filter(|_| loose(&call.name) == loose(&expected.name))
        })
    };
    let held: Vec<usize> = expected.iter().filter_map(fitting).collect();
    let (of, n_values) = (expected.len(), held.iter().sum::<usize>());
    let share = held.len() as f64 / of as f64;
    match held.len() == of {
        true if n_values >= 2 => Some((share, "contaminated")),
        true if n_values == 1 => Some((share, "suspect")),
        false if of >= 3 && 2 * held.len() > of && n_values >= 2 => Some((share, "suspect")),
        _ => None,
    }
}
