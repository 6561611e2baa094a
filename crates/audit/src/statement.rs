//! The statement of an audit for a model card and a paper: what was compared with what, when something counts, what was found, what
//! cannot be found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::hit::{Compared, Method, Verdict};
use super::report::{AuditReport, CategoryCounts};
use callsieve_engine::fingerprint::hex;
use callsieve_text::figures::{count, counted, interval, share_of};
use callsieve_text::listed::listed;
use callsieve_text::visible::visible_line;

/// A benchmark: the categories of one name, with a hash of the hashes of their files.
#[derive(Debug, Clone, Default, PartialEq)]
struct Benchmark {
    name: String,
    files: usize,
    sha256: String,
    counts: CategoryCounts,
    /// Entries without anything that could be compared.
    unscorable: usize,
}

impl Benchmark {
    fn described(&self) -> String {
        format!(
            "{} ({}, {}, SHA-256 {})",
            self.name,
            counted(self.counts.entries as u64, "entry", "entries"),
            counted(self.files as u64, "file", "files"),
            &self.sha256[..self.sha256.len().min(SHORT_HASH)]
        )
    }
}

/// Digits of a hash in a sentence.
const SHORT_HASH: usize = 12;

/// Shares of planted rows of BFCL V4 that are found as contaminated or suspect, by what was planted, as `docs/audit.md` has them.
const RECALL: &[(&str, &str)] = &[
    ("messages in other case, with other numbers or inside longer ones", "98 to 100 %"),
    ("with two synonyms", "95 %"),
    ("docs with other names, parameters or descriptions", "100 %"),
    ("calls with one value or more, in code, prose and markup", "98 to 100 %"),
    ("part of the calls", "95 %"),
    ("messages in prompts and answers", "100 %"),
];

/// Returns the name of the benchmark of a file: that of BFCL with its version, or of the folder of the file.
fn benchmark_of(category: &CategoryCounts) -> String {
    let version = category.name.split('_').next().unwrap_or_default();
    let is_version = version
        .strip_prefix('v')
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
    if is_version {
        return format!("BFCL {}", version.to_uppercase());
    }
    if category.name.starts_with("memory_prereq_") {
        return "BFCL memory conversations".to_owned();
    }
    let folder = category.path.as_deref().and_then(|path| Path::new(path).parent()?.file_name());
    folder.map_or_else(|| code_span(&category.name), |name| code_span(&name.to_string_lossy()))
}

/// Returns the part of BFCL that all categories of a version are in; nothing if they are of several.
fn part_of(categories: &[&CategoryCounts]) -> &'static str {
    let is_in = |part: &str| {
        categories
            .iter()
            .all(|category| category.name.split_once('_').is_some_and(|(_, name)| name.starts_with(part)))
    };
    [("live_", " Live"), ("multi_turn_", " multi-turn"), ("memory", " memory"), ("web_search", " web search")]
        .into_iter()
        .find_map(|(part, name)| is_in(part).then_some(name))
        .unwrap_or_default()
}

/// Returns the benchmarks that rows were compared with, by name.
fn benchmarks(report: &AuditReport) -> Vec<Benchmark> {
    let mut by_version: BTreeMap<String, Vec<&CategoryCounts>> = BTreeMap::new();
    for category in &report.categories {
        by_version.entry(benchmark_of(category)).or_default().push(category);
    }
    let mut by_name: BTreeMap<String, Vec<&CategoryCounts>> = BTreeMap::new();
    for (name, categories) in by_version {
        let part = if name.starts_with("BFCL V") { part_of(&categories) } else { "" };
        by_name.insert(name + part, categories);
    }
    let named = |(name, categories): (String, Vec<&CategoryCounts>)| {
        let hashes: Vec<&str> = categories.iter().filter_map(|it| it.sha256.as_deref()).collect();
        let sha256 = match &hashes[..] {
            [only] => (*only).to_owned(),
            several => hex(&Sha256::digest(several.join("\n"))),
        };
        let mut counts = CategoryCounts { name: name.clone(), ..CategoryCounts::default() };
        for category in &categories {
            counts.entries += category.entries;
            counts.contaminated += category.contaminated;
            counts.suspect += category.suspect;
            counts.docs += category.docs;
            for (object, n) in &category.by_object {
                *counts.by_object.entry(object.clone()).or_default() += n;
            }
        }
        counts.rate();
        let exact = report.unscorable.get(Method::Exact.name());
        let unscorable = categories.iter().filter_map(|it| exact?.get(&it.name)).sum();
        Benchmark { name, files: categories.len(), sha256, counts, unscorable }
    };
    by_name.into_iter().map(named).collect()
}

/// Returns the name of a file, without its folders.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    code_span(&name.unwrap_or_else(|| path.to_owned()))
}

/// Returns a name as Markdown code, in which nothing is markup.
fn code_span(name: &str) -> String {
    format!("`{}`", visible_line(name).replace('`', "'").replace('|', "¦"))
}

impl AuditReport {
    /// Returns the statement in Markdown: the paragraph, figures by benchmark and object, thresholds, and what is found of planted rows.
    pub fn statement_document(&self) -> String {
        let mut text = self.statement();
        if self.n_rows_of(Verdict::Unscorable) == self.n_rows() {
            return text;
        }
        text += "\n| benchmark | entries | contaminated | 95 % interval | messages | docs | calls | texts | suspect | without a message |\n\
                 |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
        for cells in self.table() {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        let _ = writeln!(text, "\n{}", self.thresholds_sentence());
        if !RECALL.is_empty() {
            let found: Vec<String> = RECALL.iter().map(|(kind, share)| format!("{kind} {share}")).collect();
            let _ = writeln!(
                text,
                "\nOf planted rows the program finds as contaminated or suspect: {}.",
                found.join(", ")
            );
        }
        text
    }

    /// Returns the statement in LaTeX: the same paragraph and table.
    pub fn statement_latex(&self) -> String {
        let mut text = format!("% Made by callsieve {}.\n{}", self.version, latex(&self.statement()));
        if self.n_rows_of(Verdict::Unscorable) == self.n_rows() {
            return text;
        }
        text += "\n\\begin{tabular}{lrrrrrrrrr}\n\\hline\nBenchmark & Entries & Contaminated & 95\\,\\% interval & Messages & Docs & Calls \
                 & Texts & Suspect & Without a message \\\\\n\\hline\n";
        for cells in self.table() {
            let _ = writeln!(
                text,
                "{} \\\\",
                cells.iter().map(|cell| latex(cell)).collect::<Vec<_>>().join(" & ")
            );
        }
        text += "\\hline\n\\end{tabular}\n\n";
        text += &latex(&self.thresholds_sentence());
        text + "\n"
    }

    /// Returns a line for each benchmark, and for all of several.
    fn table(&self) -> Vec<Vec<String>> {
        let cells = |name: &str, counts: &CategoryCounts, unscorable: usize| {
            let n = |n: usize| count(n as u64);
            let by = |object: &str| n(counts.by_object.get(object).copied().unwrap_or_default());
            vec![
                name.to_owned(),
                n(counts.entries),
                format!(
                    "{} ({})",
                    n(counts.contaminated),
                    share_of(counts.contaminated as u64, counts.entries as u64)
                ),
                interval(counts.interval),
                by("query"),
                n(counts.docs),
                by("call"),
                by("text"),
                n(counts.suspect),
                n(unscorable),
            ]
        };
        let benchmarks = benchmarks(self);
        let mut table: Vec<Vec<String>> =
            benchmarks.iter().map(|it| cells(&it.name, &it.counts, it.unscorable)).collect();
        if benchmarks.len() > 1 {
            table.push(cells("all", &self.total, benchmarks.iter().map(|it| it.unscorable).sum()));
        }
        table
    }

    fn thresholds_sentence(&self) -> String {
        let (query, docs) = (&self.thresholds.query, &self.thresholds.docs);
        format!(
            "Thresholds: equal messages from {} unique words on; contained ones from {} words and {} unique words; changed ones from {} \
             words with a weighted share of {} and ROUGE-L {}; docs with {} of the parameters of the same name or ROUGE-L {} of the text; calls with a \
             strong value or {} values.",
            query.exact_weight,
            query.contained_words,
            query.contained_weight,
            query.min_words,
            query.words,
            query.rouge_l,
            docs.shared_parameters,
            docs.text,
            docs.arguments,
        )
    }

    /// Returns the paragraph for a model card: what was compared with what, and what was found.
    pub fn statement(&self) -> String {
        let mut text = String::new();
        let n_unscorable = self.n_rows_of(Verdict::Unscorable);
        if n_unscorable == self.n_rows() {
            return "Contamination: not measured, because no row could be compared.\n".to_owned();
        }
        let files: BTreeSet<String> = self.train.iter().map(|file| file_name(&file.path)).collect();
        let compared = self.n_rows() - n_unscorable;
        let _ = write!(
            text,
            "Contamination: {} ({}) {} compared with {} entries of {} by callsieve {}. ",
            counted(compared, "training row", "training rows"),
            listed(files.iter(), "files"),
            if compared == 1 { "was" } else { "were" },
            count(self.total.entries as u64),
            listed(benchmarks(self).iter().map(Benchmark::described), "benchmarks"),
            self.version,
        );
        if self.train.iter().any(|file| file.is_benchmark) {
            text += "Files of the benchmark were compared with themselves, which finds duplicates. ";
        }
        let of_object =
            |name: &str| count(self.total.by_object.get(name).copied().unwrap_or_default() as u64);
        let are = |n: u64| if n == 1 { "1 is".to_owned() } else { format!("{} are", count(n)) };
        let _ = write!(
            text,
            "{} of the entries ({}, 95 % interval {:.1} to {:.1} %) overlap a training row in a user message, a function doc, \
             the calls of an answer or a text, some of them in several: {} in a message, {} in a function doc, {} in the calls, {} in another text; {} more are \
             suspect. ",
            count(self.total.contaminated as u64),
            share_of(self.total.contaminated as u64, self.total.entries as u64),
            self.total.interval.0 * 100.0,
            self.total.interval.1 * 100.0,
            of_object("query"),
            count(self.total.docs as u64),
            of_object("call"),
            of_object("text"),
            count(self.total.suspect as u64),
        );
        let _ = write!(
            text,
            "Of the rows {} contaminated, {} suspect, and {} could not be compared; {} removed. ",
            are(self.n_rows_of(Verdict::Contaminated)),
            are(self.n_rows_of(Verdict::Suspect)),
            count(n_unscorable),
            if self.n_removed() == 1 {
                "1 was".to_owned()
            } else {
                format!("{} were", count(self.n_removed()))
            },
        );
        if self.n_removed() > 0 && self.contaminated_kept > 0 {
            let _ = write!(
                text,
                "Of the contaminated rows, {} still in the cleaned sets. ",
                are(self.contaminated_kept)
            );
        }
        if !self.compared.is_empty() && self.compared != Compared::ALL {
            let names: Vec<&str> = self.compared.iter().map(|kind| kind.name()).collect();
            let _ = write!(text, "Only these were compared: {}. ", names.join(", "));
        }
        if !self.shared_texts.is_empty() {
            let n = self.shared_texts.len() as u64;
            let _ = write!(
                text,
                "{} in a text that many rows share, such as a prompt, which makes no row contaminated. ",
                counted(n, "message of a benchmark is", "messages of a benchmark are")
            );
        }
        let n_shared = self.n_rows_of(Verdict::Environment);
        if n_shared > 0 {
            let _ = write!(
                text,
                "{} only the tools of an environment that a benchmark declares. ",
                counted(n_shared, "row shares", "rows share")
            );
        }
        text += "Translations and paraphrases in other words cannot be found.\n";
        text
    }
}

/// Returns a text without signs that mean something in LaTeX; code is in a font of its own.
fn latex(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut is_code = false;
    for c in text.chars() {
        match c {
            '`' => {
                written.push_str(if is_code { "}" } else { "\\texttt{" });
                is_code = !is_code;
            }
            '%' | '&' | '#' | '_' | '$' | '{' | '}' => {
                written.push('\\');
                written.push(c);
            }
            '\\' => written.push_str("\\textbackslash{}"),
            '~' => written.push_str("\\textasciitilde{}"),
            '^' => written.push_str("\\textasciicircum{}"),
            other => written.push(other),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_latex_are_escaped_and_code_is_code() {
        assert_eq!(
            latex("5 % of `a_b.jsonl` & {x}\\"),
            "5 \\% of \\texttt{a\\_b.jsonl} \\& \\{x\\}\\textbackslash{}"
        );
    }

    #[test]
    fn files_of_bfcl_are_one_benchmark_a_version() {
        let category = |name: &str, path: &str, contaminated| CategoryCounts {
            name: name.to_owned(),
            path: Some(path.to_owned()),
            sha256: Some("ab".repeat(32)),
            entries: 10,
            contaminated,
            ..CategoryCounts::default()
        };
        let categories = vec![
            category("v4_simple", "data/a.json", 1),
            category("v4_live_simple", "data/b.json", 2),
            category("tasks", "tau/retail/tasks.py", 0),
        ];
        let report = AuditReport { categories, ..AuditReport::default() };
        let found: Vec<(String, usize, usize)> = benchmarks(&report)
            .into_iter()
            .map(|it| (it.name, it.counts.entries, it.counts.contaminated))
            .collect();
        assert_eq!(found, [("BFCL V4".to_owned(), 20, 3), ("`retail`".to_owned(), 10, 0)]);
        // A statement about a part does not speak of the whole.
        let of_live = vec![
            category("v4_live_simple", "data/b.json", 2),
            category("v4_live_multiple", "data/c.json", 0),
        ];
        let report = AuditReport { categories: of_live, ..AuditReport::default() };
        assert_eq!(benchmarks(&report)[0].name, "BFCL V4 Live");
    }
}
