//! Which decisions can change a held row, by the reason for which it is held.

use crate::engine::vocabulary::TableId;

/// Rows held for some reasons, and the decisions that change them.
struct Possible {
    table: TableId,
    /// A reason code, or the beginning of one up to its `/`, or nothing for every reason.
    reason: &'static str,
    /// Whether the request has a recorded answer; `None` where that makes no difference.
    has_answer: Option<bool>,
    decisions: &'static [&'static str],
}

impl Possible {
    const fn of(table: TableId, reason: &'static str, decisions: &'static [&'static str]) -> Self {
        Self { table, reason, has_answer: None, decisions }
    }

    fn is_for(&self, table: TableId, reason: &str, has_answer: bool) -> bool {
        let is_reason = self.reason == reason || self.reason.is_empty() || is_family_of(self.reason, reason);
        self.table == table && is_reason && self.has_answer.is_none_or(|expected| expected == has_answer)
    }
}

/// The first that fits counts.
static POSSIBLE: [Possible; 21] = {
    use TableId::{DocLists, Requests};
    const ANSWER: &[&str] = &["drop", "irrelevant", "answer"];
    const KEEP: &[&str] = &["keep", "drop"];
    const EDIT: &[&str] = &["drop", "edit"];
    [
        Possible {
            has_answer: Some(true),
            ..Possible::of(
                Requests,
                "relevance/unsure",
                &["keep", "drop", "relevant", "irrelevant", "answer", "accept"],
            )
        },
        // A copy that was merged into it may have an answer.
        Possible::of(Requests, "relevance/unsure", &["keep", "drop", "relevant", "irrelevant", "answer"]),
        Possible::of(Requests, "relevance/", ANSWER),
        Possible::of(Requests, "answer/", ANSWER),
        Possible::of(Requests, "forgotten/", ANSWER),
        Possible::of(Requests, "split/", ANSWER),
        Possible::of(Requests, "overlap/public-query", KEEP),
        Possible::of(Requests, "overlap/benchmark-query", KEEP),
        Possible::of(Requests, "overlap/benchmark-function", KEEP),
        Possible::of(Requests, "overlap/benchmark-call", KEEP),
        Possible::of(Requests, "overlap/benchmark-text", KEEP),
        Possible::of(Requests, "overlap/benchmark-suspect", KEEP),
        Possible::of(Requests, "instruct/", KEEP),
        Possible::of(Requests, "instruction/unsaid-value", KEEP),
        Possible::of(Requests, "conversation/", &["drop"]),
        // Its doc list is held.
        Possible::of(Requests, "", &["drop"]),
        Possible::of(DocLists, "overlap/", &["keep", "drop", "edit"]),
        Possible::of(DocLists, "parse/", EDIT),
        Possible::of(DocLists, "schema/", EDIT),
        Possible::of(DocLists, "docs/", KEEP),
        Possible::of(DocLists, "", &["drop"]),
    ]
};

/// The decisions on an unverified entry.
pub const OF_AN_ENTRY: &[&str] = &["accept", "answer", "irrelevant", "drop"];

/// Returns the decisions that can change a row that is held for a reason, in the words of a review file.
pub fn possible_decisions(table: TableId, reason: &str, has_answer: bool) -> &'static [&'static str] {
    POSSIBLE.iter().find(|row| row.is_for(table, reason, has_answer)).map_or(&[], |row| row.decisions)
}

/// The reason of requests of which it is unclear whether a function fits.
pub const UNSURE: &str = "relevance/unsure";

/// Returns the [`possible_decisions`] on a held row of which it is known whether a request with a call was merged into it. Without any
/// answer the next stage would hold a request that is kept or labelled as relevant.
pub fn decisions_on_held(
    table: TableId,
    reason: &str,
    has_answer: bool,
    has_copies: bool,
) -> Vec<&'static str> {
    let is_in_vain =
        |word: &str| reason == UNSURE && !has_answer && !has_copies && ["keep", "relevant"].contains(&word);
    possible_decisions(table, reason, has_answer).iter().copied().filter(|word| !is_in_vain(word)).collect()
}

/// Returns how a message goes on about a row that is held for a reason.
pub(super) fn advice(table: TableId, reason: &str) -> String {
    let possible = possible_decisions(table, reason, false);
    let is_of_its_list = table == TableId::Requests
        && POSSIBLE.iter().any(|row| row.table == TableId::DocLists && is_family_of(row.reason, reason))
        && reason != "overlap/public-query"
        && !reason.starts_with("overlap/benchmark-");
    let more = if is_of_its_list { ", or another decision on its doc list" } else { "" };
    format!("; possible: {}{more}", possible.join(", "))
}

fn is_family_of(beginning: &str, reason: &str) -> bool {
    beginning.ends_with('/') && reason.starts_with(beginning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_decisions_has_the_same_table() {
        let page = include_str!("../../docs/human-decisions.md");
        let table = page.split("| reason | decisions that change the row |\n|---|---|\n").nth(1).unwrap();
        let mut n_rows = 0;
        for line in table.lines().take_while(|line| line.starts_with('|')) {
            let [_, reasons, decisions, _] = line.split('|').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let quoted = |text: &str| -> Vec<String> {
                text.split('`').skip(1).step_by(2).map(|code| code.replace('…', "any")).collect()
            };
            let table = if reasons.contains("of a doc list") { TableId::DocLists } else { TableId::Requests };
            for reason in quoted(reasons) {
                let has_answer = !reasons.contains("without one");
                assert_eq!(possible_decisions(table, &reason, has_answer), quoted(decisions), "{line}");
            }
            n_rows += 1;
        }
        assert!(n_rows > 5);
    }

    #[test]
    fn a_message_about_a_request_names_its_doc_list_where_that_is_held() {
        let of = |reason| advice(TableId::Requests, reason);
        assert_eq!(of("parse/truncated"), "; possible: drop, or another decision on its doc list");
        assert_eq!(of("overlap/public-query"), "; possible: keep, drop");
        assert_eq!(of("split/declined"), "; possible: drop, irrelevant, answer");
        assert_eq!(advice(TableId::DocLists, "parse/truncated"), "; possible: drop, edit");
    }
}
