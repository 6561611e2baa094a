//! Examples of the reasons of enhance-prompts.

use super::{
    ANSWER_CHANGED, ENHANCED, LANGUAGE_CHANGED, LENGTH_CHANGED, NO_EDIT, VALUE_CHANGED, WORDING_CHANGED,
};
use crate::engine::example::Example;

/// Tables with a misspelt request, the replies of a model to it, and its answer.
macro_rules! edited {
    ($replies:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "#,
            r#""parameters": {"type": "dict", "required": ["times"], "properties": {"#,
            r#""times": {"type": "integer", "description": "How often."}}}}]}], "#,
            r#""requests": [{"relevance": "relevant", "answer": [{"ring": {"times": [3]}}], "#,
            r#""messages": [{"role": "user", "content": "rign the bell of the old tower 3 tims, it is noon"}]}], "#,
            r#""replies": ["#,
            $replies,
            "]}"
        )
    };
}

const UNCHANGED: &str = edited!(r#"{"is_changed": false, "text": ""}"#);
const CORRECTED: &str = edited!(
    r#"{"is_changed": true, "text": "Ring the bell of the old tower 3 times, it is noon."}, {"calls": [{"name": "ring", "arguments": "{\"times\": 3}"}]}"#
);
const OTHER_CALL: &str = edited!(
    r#"{"is_changed": true, "text": "Ring the bell of the old tower 3 times, it is noon."}, {"calls": []}"#
);
const OTHER_NUMBER: &str =
    edited!(r#"{"is_changed": true, "text": "Ring the bell of the old tower 4 times, it is noon."}"#);
const TRANSLATED: &str = edited!(
    r#"{"is_changed": true, "text": "Läute bitte die Glocke des alten Turms 3 mal, es ist schon Mittag."}"#
);
const LONGER: &str = edited!(
    r#"{"is_changed": true, "text": "Please be so kind as to ring the bell of the old tower 3 times, since it is noon, and everybody in the town is waiting for the sound of it, as on each day of the year."}"#
);
const REWORDED: &str = edited!(
    r#"{"is_changed": true, "text": "At noon somebody should make that large metal thing up there sound 3 times."}"#
);
const MODEL: &str = r#"model = "m""#;

pub(super) fn all() -> Vec<Example> {
    let examples = [
        Example::tables(ENHANCED.code, CORRECTED, UNCHANGED),
        Example::tables(VALUE_CHANGED.code, OTHER_NUMBER, CORRECTED),
        Example::tables(LANGUAGE_CHANGED.code, TRANSLATED, CORRECTED),
        Example::tables(LENGTH_CHANGED.code, LONGER, CORRECTED),
        Example::tables(WORDING_CHANGED.code, REWORDED, CORRECTED),
        Example::tables(ANSWER_CHANGED.code, OTHER_CALL, CORRECTED),
        Example::tables(NO_EDIT.code, edited!("null"), UNCHANGED),
    ];
    examples.into_iter().map(|example| example.with_settings(MODEL)).collect()
}
