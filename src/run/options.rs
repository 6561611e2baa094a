//! Options of a run that are not in the pipeline file.

use std::sync::Arc;

use rayon::ThreadPool;

use super::language_model::ModelOptions;
use crate::engine::division::{BatchRows, Cuts, Parts};
use crate::text::visible::visible_line;

/// How [`execute`](super::execute) runs a pipeline.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Removes what an earlier run left in the folder, except the list of forgotten records. Otherwise finished steps
    /// that would give the same answers are reused.
    pub fresh: bool,

    /// The threads that judge; without it those of the pool in which the call is made, by default one a core.
    /// What reads the inputs and writes the run folder has threads of its own and uses rayon's global pool.
    pub pool: Option<Arc<ThreadPool>>,

    /// Into how many parts each step is cut at most, that are judged apart. The bytes are the same.
    pub parts: Parts,

    /// How many rows a batch has at most: fewer rows need less memory, more rows keep more threads busy. The dataset is
    /// the same. Inputs that an earlier run read keep the batches they have, unless [`Options::fresh`] is set.
    pub batch_rows: BatchRows,

    /// Whether the decisions that reviewers made on rows of the run folder apply, see `callsieve review`.
    pub reviews: bool,

    /// The command line, for `run.json` and for the message that the run folder is locked. Empty if there is none.
    pub command: Vec<String>,

    /// Where the answers of a language model come from, and what they may cost.
    pub model: ModelOptions,

    /// Adds to the finished run that the folder holds: this number of stages stays as it is, and where the others drop rows, the source makes
    /// no others. `None` for a run of its own.
    pub adds_after: Option<usize>,

    /// Joins the parts of steps that other processes did in the run folder; see [`execute_part`](super::execute_part).
    pub joins: bool,
}

impl Default for Options {
    fn default() -> Self {
        let Cuts { parts, batch_rows } = Cuts::default();
        Self {
            fresh: false,
            pool: None,
            parts,
            batch_rows,
            reviews: true,
            command: Vec::new(),
            model: ModelOptions::default(),
            adds_after: None,
            joins: false,
        }
    }
}

impl Options {
    /// Starts from nothing instead of reusing finished steps.
    #[must_use]
    pub fn fresh(mut self, fresh: bool) -> Self {
        self.fresh = fresh;
        self
    }

    /// Judges on the threads of this pool.
    #[must_use]
    pub fn pool(mut self, pool: Arc<ThreadPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Divides each step into at most this many parts.
    #[must_use]
    pub fn parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        self
    }

    /// Reads the inputs in batches of at most this many rows.
    #[must_use]
    pub fn batch_rows(mut self, batch_rows: BatchRows) -> Self {
        self.batch_rows = batch_rows;
        self
    }

    /// Applies the decisions of reviewers in the run folder, or not.
    #[must_use]
    pub fn reviews(mut self, reviews: bool) -> Self {
        self.reviews = reviews;
        self
    }

    /// Adds to the finished run that the folder holds, whose first stages stay as they are.
    #[must_use]
    pub fn adds_after(mut self, n_stages: usize) -> Self {
        self.adds_after = Some(n_stages);
        self
    }

    /// Joins the parts of steps that other processes did in the run folder, or not.
    #[must_use]
    pub fn joins(mut self, joins: bool) -> Self {
        self.joins = joins;
        self
    }

    /// Asks language models in this way.
    #[must_use]
    pub fn model(mut self, model: ModelOptions) -> Self {
        self.model = model;
        self
    }

    /// The command line, quoted for a shell; hidden characters are shown.
    pub(super) fn command_line(&self) -> String {
        let words = self.command.iter().map(|word| quoted(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the command line that continues a stopped run, quoted for a shell; without `--fresh`, which would begin it again.
    pub fn resume_command(&self) -> String {
        let words = self.command.iter().filter(|word| *word != "--fresh").map(|word| quoted(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Records this command line.
    #[must_use]
    pub fn command(mut self, command: impl IntoIterator<Item = String>) -> Self {
        self.command = command.into_iter().collect();
        self
    }
}

/// A word of a command line, quoted for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+#~".contains(c);
    let word = visible_line(word);
    if !word.is_empty() && !word.starts_with(['~', '#']) && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_given_to_a_shell() {
        let words = ["callsieve", "run", "a b.jsonl", "it's", "", "ingest.columns.query=[\"q\"]", "x=1"];
        let options = Options::default().command(words.map(str::to_owned));
        let line = r#"callsieve run 'a b.jsonl' 'it'\''s' '' 'ingest.columns.query=["q"]' x=1"#;
        assert_eq!(options.command_line(), line);
        let options = options.command(["callsieve", "run", "--fresh", "a.jsonl"].map(str::to_owned));
        assert_eq!(options.resume_command(), "callsieve run a.jsonl");
    }
}
