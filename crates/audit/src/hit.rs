//! Hits: what of a training row overlaps which entry of a benchmark, by what method, how surely.
//!
//! Entries that a row overlaps in the same way (the same message or function, the same methods with the same verdicts) are found
//! as a group if they are more than [`MOST_SINGLE`]: one hit for each method, that of the entry with the highest score, which
//! names the others. So a text that many rows share with many entries does not make a hit of each pair.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

/// What overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Object {
    /// A message of the user.
    Query,
    /// A function doc.
    Function,
    /// All function docs of an entry.
    Functions,
    /// Calls of an entry's answer.
    Call,
    /// A message of the user of an entry, in a text of somebody else: a prompt, an answer, a result.
    Text,
}

impl Object {
    /// All objects.
    pub const ALL: [Self; 5] = [Self::Query, Self::Function, Self::Functions, Self::Call, Self::Text];

    /// Returns its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Function => "function",
            Self::Functions => "functions",
            Self::Call => "call",
            Self::Text => "text",
        }
    }

    /// Returns the object of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|object| object.name() == name)
    }
}

/// A kind of objects that rows may be compared by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// Messages of the user.
    Query,
    /// Function docs.
    Docs,
    /// Calls.
    Calls,
    /// Texts of others than the user: prompts, answers, results.
    Texts,
}

impl Compared {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Query, Self::Docs, Self::Calls, Self::Texts];

    /// Returns its name in settings and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Docs => "docs",
            Self::Calls => "calls",
            Self::Texts => "texts",
        }
    }
}

/// The objects that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Objects([bool; Compared::ALL.len()]);

impl Default for Objects {
    fn default() -> Self {
        Self([true; Compared::ALL.len()])
    }
}

impl Objects {
    /// Returns the objects of some kinds.
    pub fn of(kinds: &[Compared]) -> Self {
        Self(Compared::ALL.map(|kind| kinds.contains(&kind)))
    }

    /// Returns whether an object is compared.
    pub fn has(self, object: Object) -> bool {
        let kind = match object {
            Object::Query => Compared::Query,
            Object::Function | Object::Functions => Compared::Docs,
            Object::Call => Compared::Calls,
            Object::Text => Compared::Texts,
        };
        self.0[kind as usize]
    }
}

/// How the overlap was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Equal words, in folded case and without punctuation.
    Exact,
    /// The words of the entry stand in the row, one after the other.
    Contained,
    /// Equal words but for numbers.
    Template,
    /// Equal words but for numbers, names and quoted texts.
    NameTemplate,
    /// The share of the entry's runs of 3 words that the row has, weighted by how rare the words are.
    Ngram,
    /// The same with runs of 5 words.
    Ngram5,
    /// The same with runs of 8 words.
    Ngram8,
    /// The same with runs of 13 words.
    Ngram13,
    /// The share of the entry's words in the longest run that the row has, weighted by how rare they are.
    LongestMatch,
    /// The share of the entry's words that a part of the row has, in any order, weighted by how rare they are.
    Words,
    /// The highest ROUGE-L F1 of the entry with a stretch of that part.
    RougeL,
    /// The cosine of the vectors of both messages.
    Cosine,
    /// What a language model says about a suspect pair: 1 for the same request, 0 for another.
    Judge,
    /// A function of the same name with the same parameters.
    NameParameters,
    /// A function with the same parameters and a similar text under any name.
    ParametersText,
    /// A function with similar descriptions under the same name, or equal ones under any, and other names of parameters.
    Descriptions,
    /// A function with parameters of the same names, kinds and options under another name, in other words.
    Structure,
    /// Every function of the entry is in the row.
    AllFunctions,
    /// A function of an environment that the benchmark declares for many entries.
    Environment,
    /// Calls of the entry's answer are in the row, with accepted values, in any order.
    CallValues,
}

impl Method {
    /// All methods, in the order of the report.
    pub const ALL: [Self; 20] = [
        Self::Exact,
        Self::Contained,
        Self::Template,
        Self::NameTemplate,
        Self::Ngram,
        Self::Ngram5,
        Self::Ngram8,
        Self::Ngram13,
        Self::LongestMatch,
        Self::Words,
        Self::RougeL,
        Self::Cosine,
        Self::Judge,
        Self::NameParameters,
        Self::ParametersText,
        Self::Descriptions,
        Self::Structure,
        Self::AllFunctions,
        Self::Environment,
        Self::CallValues,
    ];

    /// Returns its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Contained => "contained",
            Self::Template => "template",
            Self::NameTemplate => "name-template",
            Self::Ngram => "ngram",
            Self::Ngram5 => "ngram-5",
            Self::Ngram8 => "ngram-8",
            Self::Ngram13 => "ngram-13",
            Self::LongestMatch => "longest-match",
            Self::Words => "words",
            Self::RougeL => "rouge-l",
            Self::Cosine => "cosine",
            Self::Judge => "judge",
            Self::NameParameters => "name-parameters",
            Self::ParametersText => "parameters-text",
            Self::Descriptions => "descriptions",
            Self::Structure => "structure",
            Self::AllFunctions => "all-functions",
            Self::Environment => "environment",
            Self::CallValues => "call-values",
        }
    }
}

impl Method {
    /// Returns the method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

impl Verdict {
    /// Returns the verdict of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

impl Hit {
    /// Returns the score with four digits, as it is written.
    pub fn rounded_score(&self) -> f64 {
        (self.score * 1e4).round() / 1e4
    }
}

/// How sure it is that a row is contaminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing in it can be compared: it is empty or unreadable.
    Unscorable,
    /// Nothing in it overlaps.
    Clean,
    /// It has functions of an environment that the benchmark declares, and nothing else of an entry.
    Environment,
    /// Something overlaps in a way that also happens by chance.
    Suspect,
    /// It overlaps.
    Contaminated,
}

impl Verdict {
    /// All verdicts, from the surest.
    pub const ALL: [Self; 5] =
        [Self::Contaminated, Self::Suspect, Self::Environment, Self::Clean, Self::Unscorable];

    /// Returns its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unscorable => "unscorable",
            Self::Clean => "clean",
            Self::Environment => "environment",
            Self::Suspect => "suspect",
            Self::Contaminated => "contaminated",
        }
    }
}

/// The most entries that a row overlaps in the same way and that have a hit each; more are a group. Also the number of examples
/// that are shown of a group.
pub const MOST_SINGLE: usize = 10;

/// One overlap of a row with an entry, or with a group of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The number of the entry in the benchmark; of a group, the one with the highest score.
    pub entry: u32,
    /// What overlaps.
    pub object: Object,
    /// How it was found.
    pub method: Method,
    /// How much overlaps, from 0 to 1.
    pub score: f64,
    /// What the method alone says: contaminated or suspect.
    pub verdict: Verdict,
    /// The number of the message or function of the row, and the bytes of it that overlap.
    pub in_row: (u32, Range<usize>),
    /// The same of the entry.
    pub in_entry: (u32, Range<usize>),
    /// The words of the longest run that both have; 0 for other methods.
    pub run: u32,
    /// All entries that the row overlaps in this way, if they are many.
    pub group: Option<Arc<Group>>,
}

impl Hit {
    /// Returns the entries that it is about, each with the number of its message or function.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32)> {
        let (group, own) = match &self.group {
            Some(group) => (&group.members[..], None),
            None => (&[][..], Some((self.entry, self.in_entry.0))),
        };
        group.iter().copied().chain(own)
    }

    /// Returns the number of entries that it is about.
    pub fn n_entries(&self) -> u32 {
        self.group.as_ref().map_or(1, |group| group.n_entries)
    }
}

/// Entries that a row overlaps in the same way.
#[derive(Debug)]
pub struct Group {
    /// Each entry with the number of its message or function, ascending.
    members: Box<[(u32, u32)]>,
    n_entries: u32,
    /// For contaminated and suspect hits: the row from which on [`Coverage`](super::coverage::Coverage) has enough rows of each
    /// member.
    settled: [AtomicU32; 2],
}

impl Group {
    /// Returns the group of some entries, each with the number of its message or function.
    pub fn new(mut members: Vec<(u32, u32)>) -> Self {
        if !members.is_sorted() {
            members.sort_unstable();
        }
        let n_entries = members.chunk_by(|one, other| one.0 == other.0).count();
        Self {
            members: members.into(),
            n_entries: u32::try_from(n_entries).unwrap_or(u32::MAX),
            settled: [AtomicU32::new(u32::MAX), AtomicU32::new(u32::MAX)],
        }
    }

    /// Returns its entries, each with the number of its message or function, ascending.
    pub fn members(&self) -> &[(u32, u32)] {
        &self.members
    }

    /// The number of its entries.
    pub fn n_entries(&self) -> u32 {
        self.n_entries
    }

    /// Returns whether rows from this one on need not be added for its members any more.
    pub(super) fn is_settled(&self, verdict: Verdict, row: u32) -> bool {
        row > self.settled[usize::from(verdict == Verdict::Suspect)].load(Ordering::Relaxed)
    }

    /// Remembers that later rows than this one need not be added.
    pub(super) fn settle(&self, verdict: Verdict, row: u32) {
        self.settled[usize::from(verdict == Verdict::Suspect)].fetch_min(row, Ordering::Relaxed);
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}
