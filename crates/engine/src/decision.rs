//! A decision of a person on a row, and what became of it.
//!
//! Plain values; which rows decisions mean is in `decided`, what is made of them in `decisions`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::fingerprint::{Fingerprint, hex};
use super::vocabulary::{ColumnSpec, Reason, TableId};

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// No stage drops, merges or holds the row.
    Keep,
    /// The row is dropped.
    Drop,
    /// Whether a function fits what a request asks.
    Relabel,
    /// The answer of a request.
    Answer,
    /// The functions of a doc list.
    Edit,
}

impl DecisionKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Keep, Self::Drop, Self::Relabel, Self::Answer, Self::Edit];

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
            Self::Relabel => "relabel",
            Self::Answer => "answer",
            Self::Edit => "edit",
        }
    }

    /// The reason by which the ledger names it.
    pub fn reason(self) -> &'static Reason {
        match self {
            Self::Keep => &KEPT,
            Self::Drop => &DROPPED,
            Self::Relabel => &RELABELLED,
            Self::Answer => &ANSWERED,
            Self::Edit => &EDITED,
        }
    }
}

static KEPT: Reason = Reason::policy("decision/kept", "A person decided to keep the row.");
static DROPPED: Reason = Reason::policy("decision/dropped", "A person decided to drop the row.");
static RELABELLED: Reason =
    Reason::policy("decision/relabelled", "A person decided whether a function fits the request.");
static ANSWERED: Reason = Reason::policy("decision/answered", "A person wrote the answer of the request.");
static EDITED: Reason = Reason::policy("decision/edited", "A person changed the functions of the doc list.");

/// The reasons of decisions.
pub fn reasons() -> [&'static Reason; 5] {
    DecisionKind::ALL.map(DecisionKind::reason)
}

/// One decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Its file: an index into [`Decisions::files`].
    pub file: usize,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The row, by a name of `row_names`: its content id or the start of it, or the log's own id of a request.
    pub id: String,
    /// What was decided.
    pub kind: DecisionKind,
    /// The word for it in the file: that of the kind, or a word of a review file.
    pub word: &'static str,
    /// The start of the digest of what the person saw; see [`digest`].
    pub was: Option<String>,
    /// Who decided.
    pub by: Option<String>,
    /// Why, in the person's words.
    pub why: Option<String>,
    /// What the kind needs besides: a relevance, an answer, functions or a patch; null otherwise.
    pub body: Value,
}

/// The decisions of a run, in the order of their files.
#[derive(Debug, Clone, Default)]
pub struct Decisions {
    /// The files, as they were named.
    pub files: Vec<String>,
    /// The columns by which rows are recognised; without decisions nobody asks for them.
    pub columns: Option<Columns>,
    /// The decisions.
    pub all: Vec<Decision>,
    /// Messages about rows that somebody filled in without deciding.
    pub undecided: Vec<String>,
    /// Returns how a message goes on about a row that is held for a reason code.
    pub advice: Option<fn(TableId, &str) -> String>,
    /// Returns whether two decisions on one row cannot both hold.
    pub contradict: Option<fn(&Decision, &Decision) -> bool>,
}

/// The columns by which rows are recognised.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// The log's own id of a request.
    pub own_id: ColumnSpec,
    /// What a person sees of a request, by which `was` is made.
    pub request: ColumnSpec,
    /// What a person sees of a doc list.
    pub list: ColumnSpec,
}

/// The place of a decision: its file, and its line there.
pub(super) type Place = (usize, usize);

impl Decision {
    pub(super) fn place(&self) -> Place {
        (self.file, self.line)
    }

    /// Everything except its place in the files, and the word for its kind.
    pub(super) fn content(&self) -> String {
        let Self { file: _, line: _, id, kind, word: _, was, by, why, body } = self;
        json!([id, kind, was, by, why, body]).to_string()
    }
}

/// What stands for the content of a row in a decision: the SHA-256 of its cell, in hex. Whoever writes a decision may
/// give its first eight digits or more.
pub fn digest(cell: &str) -> String {
    hex(&Sha256::digest(cell.as_bytes()))
}

impl Decisions {
    /// A decision by its place, for messages: `FILE:LINE`.
    pub fn name_of(&self, file: usize, line: usize) -> String {
        format!("{}:{line}", self.files.get(file).map_or("?", String::as_str))
    }

    /// Returns the decisions of each file.
    pub fn by_file(&self) -> impl Iterator<Item = Self> + '_ {
        self.files.iter().enumerate().map(|(file, name)| {
            let all = self.all.iter().filter(|decision| decision.file == file).cloned();
            Self { files: vec![name.clone()], all: all.collect(), ..Self::default() }
        })
    }

    /// The word for the decision at a place in the files.
    pub(super) fn word_at(&self, place: Place) -> Option<&'static str> {
        self.all.iter().find(|decision| decision.place() == place).map(|decision| decision.word)
    }

    /// Adds to a stage's key the decisions that can change what becomes of rows there; nothing where there are none. The
    /// stage's contract names the kinds that are `taken`.
    ///
    /// The last stage has all of them: drops take effect in it, and it accounts for the others.
    pub(super) fn fingerprint(&self, taken: &[DecisionKind], is_last: bool, fingerprint: &mut Fingerprint) {
        let can_change = |decision: &&Decision| {
            is_last || decision.kind == DecisionKind::Keep || taken.contains(&decision.kind)
        };
        let with_place = |decision: &Decision| {
            // Places are in what the last stage accounts for, and nowhere else.
            let place = if is_last { decision.place() } else { (0, 0) };
            (decision.content(), place)
        };
        let mut decisions: Vec<(String, Place)> =
            self.all.iter().filter(can_change).map(with_place).collect();
        decisions.sort_unstable();
        for (content, (file, line)) in decisions {
            fingerprint.add_part("decision", content.as_bytes());
            fingerprint.add_part("line", &line.to_le_bytes());
            if file > 0 {
                fingerprint.add_part("file", &file.to_le_bytes());
            }
        }
    }
}

/// A decision that was applied to a row, or that its stage could not apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// Its kind.
    pub kind: DecisionKind,
    /// For the ledger: who decided and why, and what the decision did.
    pub detail: Value,
    /// Why it could not be applied; nothing where it was.
    pub refused: Option<String>,
    /// What a person should know although it was applied.
    pub to_check: Option<String>,
}

impl Ruling {
    /// A decision that was applied; `did` is an object of what the ledger shows besides, or null.
    pub fn of(decision: &Decision, did: Value) -> Self {
        let mut detail = json!({});
        let said = [("by", &decision.by), ("why", &decision.why)];
        for (key, text) in said.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
            detail[key] = json!(text);
        }
        if let Value::Object(did) = did {
            did.into_iter().for_each(|(key, value)| detail[key.as_str()] = value);
        }
        Self { kind: decision.kind, detail, refused: None, to_check: None }
    }

    /// A decision that does not fit its row.
    pub fn refused(decision: &Decision, why: impl Into<String>) -> Self {
        Self { refused: Some(why.into()), ..Self::of(decision, Value::Null) }
    }
}
