//! Every column of the two tables, a row each: the only place that lists them.
//!
//! A row gives the constant that stages and ingest name the column by, so that a typing mistake does not compile; its
//! table, name and kind; who writes it first, the source or a stage; a phrase for people; and what else holds of it:
//!
//! | mark | the column |
//! |---|---|
//! | `content` | holds what the log said: a changed cell needs an edit. The rest is derived and may be made again |
//! | `listed` | is copied into `rows.parquet` or `lists.parquet` |
//! | `passed_on` | is copied into the Parquet files of the dataset as the stages left it |
//!
//! The engine knows no column by name. A new column is a row here, and a line in the file that fills it.

use crate::engine::vocabulary::{ColumnKind, ColumnSpec, Origin, TableId};

macro_rules! columns {
    ($($(#[$doc:meta])* $constant:ident = $table:ident $name:literal $kind:ident, $origin:ident, $what:literal $(, $($mark:ident)+)?;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: ColumnSpec =
                ColumnSpec::new(TableId::$table, $name, ColumnKind::$kind, Origin::$origin, $what)$($(.$mark())+)?;
        )*

        /// Every column there is.
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
    /// The number of its item in that file, from 1: the data row of a table, the element of a JSON array, else the line.
    RECORD = Requests "record" Int, Source, "number of its item in the file", listed;
    /// The log format it was read as.
    LOG_FORMAT = Requests "log_format" Text, Source, "log format it was read as";
    /// The conversation as sent: JSON list of [`crate::conversation::Message`].
    MESSAGES = Requests "messages" Text, Source, "the conversation as sent", content;
    /// What the logged model answered: JSON of one [`crate::conversation::Message`].
    RESPONSE = Requests "response" Text, Source, "what the logged model answered", content;
    /// What the same line tells of the conversation after the response: JSON list of
    /// [`crate::conversation::Message`]. Empty in most logs; never part of what is asked.
    FOLLOWING_MESSAGES = Requests "following_messages" Text, Source, "what came after the answer, where its line tells", content;
    /// Why the model stopped, in the API's own word.
    FINISH_REASON = Requests "finish_reason" Text, Source, "why the model stopped";
    /// When it was sent, Unix milliseconds.
    TIME_MS = Requests "time_ms" Int, Source, "when it was sent, Unix ms";
    /// The model asked for.
    MODEL = Requests "model" Text, Source, "model asked for";
    /// User or tenant.
    USER = Requests "user" Text, Source, "user or tenant", content;
    /// Session or thread.
    SESSION = Requests "session" Text, Source, "session or thread", content;
    /// `auto`, `none`, `required` or `function:NAME`.
    TOOL_CHOICE = Requests "tool_choice" Text, Source, "whether a call was forced";
    /// 1 or 0 where the request said so.
    PARALLEL_TOOL_CALLS = Requests "parallel_tool_calls" Int, Source, "whether several calls were allowed";
    /// The HTTP status of the response.
    STATUS = Requests "status" Int, Source, "HTTP status of the response";
    /// The placeholders that stood in the request as sent, such as `email 7`, comma-separated: their numbers are not given
    /// to other values.
    PLACEHOLDERS = Requests "placeholders" Text, Stage, "numbered placeholders that stood in it as sent";
    /// Where personal values are in the request's doc list as sent, JSON: kind, bytes, placeholder. Only on the first request
    /// of a list that holds some, and on the first of all, where it says that the lists were searched.
    DOCS_PLACEHOLDERS = Requests "docs_placeholders" Text, Stage, "where personal values are in its docs";
    /// Placeholders of the recorded answer that neither the conversation nor the docs hold: JSON list of their texts.
    ANSWER_ONLY_PLACEHOLDERS = Requests "answer_only_placeholders" Text, Stage, "placeholders that only the recorded answer holds";
    /// The request that a request is a variant of: nearly the same words, and another number, name or word of content.
    VARIANT_OF = Requests "variant_of" Text, Stage, "request of nearly the same words that asks for something else";
    /// What the rest of the conversation shows about the recorded call: `worked`, `failed`, or `goes-on` where further
    /// calls were made for the same user message.
    OUTCOME = Requests "outcome" Text, Stage, "whether the recorded call worked";
    /// What kind of answer the log has: calls, declined, truncated, failed, empty, unreadable.
    RESPONSE_KIND = Requests "response_kind" Text, Stage, "what kind of answer the log has";
    /// The answer as BFCL ground truth, JSON.
    ANSWER = Requests "answer" Text, Stage, "the answer as BFCL ground truth";
    /// How sure the answer is: human, outcome, recorded. Of an entry without an answer: judged, where its label rests on
    /// the text alone.
    TIER = Requests "tier" Text, Stage, "how sure the answer is, or the label of an entry without one";
    /// The request whose record the answer was taken from.
    ANSWER_FROM = Requests "answer_from" Text, Stage, "request the answer was taken from";
    /// Whether a function of the list fits what is asked: relevant, irrelevant, low-quality.
    RELEVANCE = Requests "relevance" Text, Stage, "whether a function fits what is asked", passed_on;
    /// What the relevance rests on, JSON: a rule, or probabilities, features and what the log's answers said.
    RELEVANCE_BASIS = Requests "relevance_basis" Text, Stage, "what the relevance rests on";
    /// The BFCL category.
    CATEGORY = Requests "category" Text, Stage, "BFCL category";
    /// Why a request is in a category without answers: a short code.
    CATEGORY_BASIS = Requests "category_basis" Text, Stage, "why it is in a category without answers", passed_on;
    /// The language of the last user message: ISO 639-1, else ISO 639-3, or `und`.
    LANGUAGE = Requests "language" Text, Stage, "language of the last user message", passed_on;
    /// How many requests a sampled one stands for, a decimal number.
    WEIGHT = Requests "weight" Text, Stage, "how many requests it stands for", passed_on;
    /// The doc list's text, exactly as sent.
    TEXT = DocLists "text" Text, Source, "the doc list's text as sent", content;
    /// The functions: a JSON list, order kept.
    FUNCTIONS = DocLists "functions" Text, Stage, "the functions, parsed", content listed;
    /// The text near copies were compared by.
    COMPARED_TEXT = DocLists "compared_text" Text, Stage, "the text near copies were compared by", listed;
    /// The steps that read the text, comma-separated.
    PARSE_STEPS = DocLists "parse_steps" Text, Stage, "steps that read the text", listed;
    /// Names changed by fixes, JSON.
    RENAMES = DocLists "renames" Text, Stage, "names changed by fixes";
    /// The list that a list is near to although calls see something else of it; empty where there is none.
    LIST_VARIANT_OF = DocLists "variant_of" Text, Stage, "the list it is near to, of another interface";
}

/// The columns that ingest writes.
pub fn from_ingest() -> Vec<ColumnSpec> {
    ALL.iter().copied().filter(|column| column.origin == Origin::Source).collect()
}

/// The columns that `rows.parquet` and `lists.parquet` copy.
pub fn listed() -> Vec<ColumnSpec> {
    ALL.iter().copied().filter(|column| column.is_listed).collect()
}

/// The columns that the dataset passes on, in the order of their names: where their rows stand here is of no matter.
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
            assert!(!ALL[..at].contains(column), "{} stands twice", column.name);
        }
    }
}
