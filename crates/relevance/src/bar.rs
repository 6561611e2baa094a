//! Requests that the text alone never shows to be irrelevant.

use super::docs::PreparedDocs;
use super::language_group::LanguageGroup;
use super::query::PreparedQuery;
use super::script::is_unread;

/// Returns whether the text of a query cannot show that no function fits it.
///
/// A tool that takes any text can serve any query, and a query that has the full name of a function asks for it. An
/// English query shares no words with docs in another script; the thresholds for other languages are measured on such
/// queries.
pub fn is_barred(query: &PreparedQuery, docs: &PreparedDocs) -> bool {
    let is_unread = || query.languages() == LanguageGroup::English && is_unread(query, docs);
    docs.takes_anything() || docs.is_named_in(query) || is_unread()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn open_tools_named_functions_and_other_scripts_bar_a_judgement_by_text() {
        let barred = |query: &str, name: &str, parameter: &str, description: &str| {
            let function = json!({"name": name, "description": description, "parameters": {"type": "dict",
                "required": [parameter], "properties": {parameter: {"type": "string", "description": "It."}}}});
            is_barred(&PreparedQuery::new(&[query]), &PreparedDocs::new(&[function]))
        };
        let (chinese, english) = ("查询某个港口的潮汐时间", "Tells the tide at a harbour.");
        assert!(!barred("Where can I buy a boat in Bergen?", "get_tide", "harbour", english));
        assert!(barred("Where can I buy a boat in Bergen?", "run_it", "command", "Runs it."));
        assert!(barred("Please get the tide", "get_tide", "harbour", english));
        assert!(barred("Where can I buy a boat in Bergen?", "chaxun", "harbour", chinese));
        assert!(!barred("我可以在哪里买一条船", "chaxun", "harbour", chinese));
        assert!(!barred("我可以在哪里买一条船", "get_tide", "harbour", english));
    }
}
