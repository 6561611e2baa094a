//! All columns of the two tables, one row each. They are listed nowhere else.
//!
//! A row defines the constant by which stages and ingest name the column, so that a misspelt name does not compile; its
//! table, name and type; its first writer, a source of logs, a source that makes rows (`Maker`) or a stage; a description for people; and its marks:
//!
//! | mark | the column |
//! |---|---|
//! | `content` | holds content of the log, so a changed cell needs an edit; other columns are derived and may be
//! computed again |
//! | `listed` | is copied into `rows.parquet` or `lists.parquet` |
//! | `passed_on` | is copied into the Parquet files of the dataset |
//!
//! The engine knows no column by name. A new column needs a row here and a line in the file that fills it.

use crate::vocabulary::{ColumnKind, ColumnSpec, Origin, TableId};

macro_rules! columns {
    ($($(#[$doc:meta])* $constant:ident = $table:ident $name:literal $kind:ident, $origin:ident, $what:literal $(, $($mark:ident)+)?;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: ColumnSpec =
                ColumnSpec::new(TableId::$table, $name, ColumnKind::$kind, Origin::$origin, $what)$($(.$mark())+)?;
        )*

        /// All columns.
        pub const ALL: &[ColumnSpec] = &[$($constant),*];
    };
}

columns! {
    /// The log's own id of the request.
    EXTERNAL_ID = Requests "external_id" Text, Source, "the log's own id", content listed;
    /// The number of the input file, from 0.
    FILE = Requests "file" Int, Source, "number of the input file", listed;
    /// The line of that file on which the record starts, from 1.
    LINE = Requests "line" Int, Source, "line on which the record starts", listed;
    /// The number of its item in that file, from 1: the data row of a table, the element of a JSON array, else the
    /// line.
    RECORD = Requests "record" Int, Source, "number of its item in the file", listed;
    /// The log format it was read as.
    LOG_FORMAT = Requests "log_format" Text, Source, "log format it was read as";
    /// The conversation as sent: JSON list of `callsieve_bfcl::conversation::Message`.
    MESSAGES = Requests "messages" Text, Source, "the conversation as sent", content;
    /// The logged model's answer: JSON of one `callsieve_bfcl::conversation::Message`.
    RESPONSE = Requests "response" Text, Source, "the logged model's answer", content;
    /// The conversation after the response, if the same line holds it: JSON list of `callsieve_bfcl::conversation::Message`.
    /// Empty in most logs; never part of the question.
    FOLLOWING_MESSAGES = Requests "following_messages" Text, Source, "messages after the answer, if its line holds them", content;
    /// Why the model stopped, in the API's own word.
    FINISH_REASON = Requests "finish_reason" Text, Source, "why the model stopped";
    /// When it was sent, Unix milliseconds.
    TIME_MS = Requests "time_ms" Int, Source, "when it was sent, Unix ms";
    /// The model asked for.
    MODEL = Requests "model" Text, Source, "model asked for";
    /// User or tenant.
    USER = Requests "user" Text, Source, "user or tenant", content;
    /// The app, team or trace that it was sent by.
    ASSISTANT = Requests "assistant" Text, Source, "app, team or trace that it was sent by", content listed;
    /// Session or thread.
    SESSION = Requests "session" Text, Source, "session or thread", content;
    /// `auto`, `none`, `required` or `function:NAME`.
    TOOL_CHOICE = Requests "tool_choice" Text, Source, "whether a call was forced";
    /// 1 or 0, if the request specifies it.
    PARALLEL_TOOL_CALLS = Requests "parallel_tool_calls" Int, Source, "whether several calls were allowed";
    /// The HTTP status of the response.
    STATUS = Requests "status" Int, Source, "HTTP status of the response";
    /// The placeholders in the request as sent, such as `email 7`, comma-separated. Their numbers are not used for
    /// other values.
    PLACEHOLDERS = Requests "placeholders" Text, Stage, "numbered placeholders in it as sent";
    /// The places of personal values in the request's doc list as sent, JSON: kind, bytes, placeholder. Only on the
    /// first request of a list that holds some, and on the first request of all, to mark that the lists were searched.
    DOCS_PLACEHOLDERS = Requests "docs_placeholders" Text, Stage, "places of personal values in its docs";
    /// Placeholders of the recorded answer that neither the conversation nor the docs hold: JSON list of their texts.
    ANSWER_ONLY_PLACEHOLDERS = Requests "answer_only_placeholders" Text, Stage, "placeholders that only the recorded answer holds";
    /// The request that a request is a variant of: nearly the same words, and another number, name or word of content.
    VARIANT_OF = Requests "variant_of" Text, Stage, "request of nearly the same words that asks for something else";
    /// The result of the recorded call, as shown by the rest of the conversation: `worked`, `failed`, or `goes-on` if
    /// further calls were made for the same user message.
    OUTCOME = Requests "outcome" Text, Stage, "whether the recorded call worked";
    /// The kind of answer in the log: calls, declined, truncated, failed, empty, unreadable.
    RESPONSE_KIND = Requests "response_kind" Text, Stage, "kind of answer in the log";
    /// The answer as BFCL ground truth, JSON.
    ANSWER = Requests "answer" Text, Stage, "the answer as BFCL ground truth";
    /// How certain the answer is: human, outcome, recorded, agreed. For an entry without an answer: judged, if its label is
    /// based on the text alone.
    TIER = Requests "tier" Text, Stage, "how certain the answer is, or the label of an entry without one", listed;
    /// The request whose record the answer was taken from.
    ANSWER_FROM = Requests "answer_from" Text, Stage, "request the answer was taken from";
    /// The basis of an answer that language models drafted, JSON: the models, and how many drafts agree.
    ANSWER_BASIS = Requests "answer_basis" Text, Stage, "language models that drafted the answer";
    /// What a reviewer of an unverified answer should look at first: short codes, separated by commas.
    FLAGS = Requests "flags" Text, Stage, "doubts about an unverified answer", passed_on listed;
    /// Whether a function of the list fits the query: relevant, irrelevant, low-quality.
    RELEVANCE = Requests "relevance" Text, Stage, "whether a function fits the query", passed_on;
    /// The basis of the relevance, JSON: a rule, or probabilities, features and evidence of the log's answers.
    RELEVANCE_BASIS = Requests "relevance_basis" Text, Stage, "basis of the relevance";
    /// What a contamination audit says of the row: contaminated, suspect, clean, unscorable.
    CONTAMINATION = Requests "contamination" Text, Stage, "whether it overlaps a benchmark", listed;
    /// The BFCL category.
    CATEGORY = Requests "category" Text, Stage, "BFCL category", listed;
    /// Why a request is in a category without answers: a short code.
    CATEGORY_BASIS = Requests "category_basis" Text, Stage, "why it is in a category without answers", passed_on;
    /// The language of the last user message: ISO 639-1, else ISO 639-3, or `und`.
    LANGUAGE = Requests "language" Text, Stage, "language of the last user message", passed_on;
    /// The number of requests that a sampled one represents, a decimal number.
    WEIGHT = Requests "weight" Text, Stage, "number of requests that it represents", passed_on;
    /// The program of a row that was made, JSON: the turns, the calls as executed, where each value comes from.
    PROGRAM = Requests "program" Text, Maker, "the calls as executed, and where each value comes from", content;
    /// The attempts of a model at an instruction, JSON: the tree of each, why it ended, whether it is solved.
    TRACES = Requests "traces" Text, Stage, "attempts of a model at the instruction", content;
    /// What is found in the attempts without a model, JSON: for each its faults, suspicions and missed functions.
    SOLUTION_FINDINGS = Requests "solution_findings" Text, Stage, "what is found in the attempts without a model";
    /// The votes of language models on an attempt, JSON: by model, what they decide, which attempt.
    JUDGEMENTS = Requests "judgements" Text, Stage, "votes of language models on an attempt";
    /// The number of the attempt that is written to the dataset, from 0; -1 if none is.
    CHOSEN = Requests "chosen" Int, Stage, "attempt that is written to the dataset", listed;
    /// The share of attempts that pass, a decimal number from 0 to 1.
    PASS_RATE = Requests "pass_rate" Text, Stage, "share of attempts that pass", listed;
    /// The kind of instruction of a row that was made.
    STRATUM = Requests "stratum" Text, Maker, "kind of instruction", listed;
    /// The number of instructions that are wanted, the same in every row that was made.
    WANTED = Requests "wanted" Int, Maker, "number of instructions that are wanted";
    /// The doc list's text, exactly as sent.
    TEXT = DocLists "text" Text, Source, "the doc list's text as sent", content;
    /// The tool of a collection, JSON: its names, host, licence, and for each function its method, path and response.
    TOOL = DocLists "tool" Text, Maker, "the tool with what is known of its functions", content;
    /// The functions: a JSON list, order kept.
    FUNCTIONS = DocLists "functions" Text, Stage, "the functions, parsed", content listed;
    /// The text by which near-duplicates were compared.
    COMPARED_TEXT = DocLists "compared_text" Text, Stage, "the text by which near-duplicates were compared", listed;
    /// The parser steps that read the text, comma-separated.
    PARSE_STEPS = DocLists "parse_steps" Text, Stage, "parser steps that read the text", listed;
    /// Names changed by fixes, JSON.
    RENAMES = DocLists "renames" Text, Stage, "names changed by fixes";
    /// The list that a list is near to, although its interface for calls differs; empty if there is none.
    LIST_VARIANT_OF = DocLists "variant_of" Text, Stage, "the near list with another interface";
}

/// Returns the columns that a source of logs writes.
pub fn from_ingest() -> Vec<ColumnSpec> {
    ALL.iter().copied().filter(|column| column.origin == Origin::Source).collect()
}

/// Returns the column of this name that a source of logs writes.
pub fn source_column(name: &str) -> Option<ColumnSpec> {
    ALL.iter().copied().find(|column| column.origin == Origin::Source && column.name == name)
}

/// Returns the columns that `rows.parquet` and `lists.parquet` copy.
pub fn listed() -> Vec<ColumnSpec> {
    ALL.iter().copied().filter(|column| column.is_listed).collect()
}

/// Returns the columns that are copied into the dataset, ordered by name, so that the order of rows here does not
/// matter.
pub fn passed_on() -> Vec<ColumnSpec> {
    let mut columns: Vec<ColumnSpec> = ALL.iter().copied().filter(|column| column.is_passed_on).collect();
    columns.sort_by_key(|column| column.name);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_columns_of_a_table_have_one_name() {
        for (at, column) in ALL.iter().enumerate() {
            assert!(!ALL[..at].contains(column), "{} occurs twice", column.name);
        }
    }
}
