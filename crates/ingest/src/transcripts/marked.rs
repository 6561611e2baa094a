//! Splits conversations that are one text into turns by marks: Glaive's, and raw prompts of chat templates.
//!
//! A grammar is a list of marks, each with the role after it; a turn ends where the next mark begins. Marks that are
//! words (`USER:`) count only at the start of a line, special tokens count anywhere. A text is a conversation of a
//! grammar only if it begins with one of its marks, so a plain prompt is not mistaken for one.

use serde_json::Value;

use super::tags::END_OF_TEXT;
use super::{Speaker, Transcript, Turn, system_beside};
use crate::log_formats::Columns;
use crate::reasons::ItemFault;
use callsieve_bfcl::conversation::Role;

/// The marks of turns in one kind of text.
struct Grammar {
    /// The name of the log format.
    log_format: &'static str,
    /// The marks that begin a turn, with its role.
    marks: &'static [(&'static str, Role)],
    /// Marks count only at the start of a line.
    at_line_start: bool,
    /// The marks that may end a turn.
    ends: &'static [&'static str],
    /// Prompts are sent to models in this form.
    is_prompt: bool,
}

const GRAMMARS: &[Grammar] = &[
    Grammar {
        log_format: "glaive",
        marks: &[
            ("SYSTEM:", Role::System),
            ("USER:", Role::User),
            ("ASSISTANT:", Role::Assistant),
            ("FUNCTION RESPONSE:", Role::Tool),
        ],
        at_line_start: true,
        ends: &[END_OF_TEXT],
        is_prompt: false,
    },
    Grammar {
        log_format: "chatml",
        marks: &[
            ("<|im_start|>system\n", Role::System),
            ("<|im_start|>user\n", Role::User),
            ("<|im_start|>assistant\n", Role::Assistant),
            ("<|im_start|>tool\n", Role::Tool),
        ],
        at_line_start: false,
        ends: &["<|im_end|>", END_OF_TEXT],
        is_prompt: true,
    },
    Grammar {
        log_format: "llama-header",
        marks: &[
            ("<|start_header_id|>system<|end_header_id|>", Role::System),
            ("<|start_header_id|>user<|end_header_id|>", Role::User),
            ("<|start_header_id|>assistant<|end_header_id|>", Role::Assistant),
            ("<|start_header_id|>ipython<|end_header_id|>", Role::Tool),
            ("<|start_header_id|>tool<|end_header_id|>", Role::Tool),
        ],
        at_line_start: false,
        ends: &["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
        is_prompt: true,
    },
    Grammar {
        log_format: "mistral",
        marks: &[
            ("[AVAILABLE_TOOLS]", Role::System),
            ("[INST]", Role::User),
            ("[/INST]", Role::Assistant),
            ("[TOOL_RESULTS]", Role::Tool),
            ("[/TOOL_RESULTS]", Role::Assistant),
        ],
        at_line_start: false,
        ends: &["</s>"],
        is_prompt: true,
    },
];

/// Grammars of conversations that are never requests.
const WITHOUT_TOOLS: &[Grammar] = &[Grammar {
    log_format: "hh",
    marks: &[("Human:", Role::User), ("Assistant:", Role::Assistant)],
    at_line_start: true,
    ends: &[],
    is_prompt: false,
}];

/// The keys of whole conversations as one text.
pub(super) const WHOLE: &[&str] = &["chat", "text", "sample", "prompt", "input"];

/// The tokens that a text may have before its first mark.
const OPENINGS: &[&str] = &["<s>", "<|begin_of_text|>", "<bos>"];

/// Finds a conversation that is one text.
pub(super) fn find(body: &Value, columns: &Columns) -> Option<Result<Transcript, ItemFault>> {
    let text = without_opening(WHOLE.iter().find_map(|key| body.get(*key)?.as_str())?);
    let grammar = GRAMMARS.iter().find(|grammar| grammar.begins(text.trim_start()))?;
    let beside = system_beside(body, columns);
    Some(beside.transpose().map(|beside| read(grammar, text, beside)))
}

/// Reads a text that is a conversation.
pub(super) fn of_text(text: &str) -> Option<Transcript> {
    let text = without_opening(text);
    let grammar = GRAMMARS.iter().chain(WITHOUT_TOOLS).find(|grammar| grammar.begins(text.trim_start()))?;
    Some(read(grammar, text, None))
}

fn without_opening(text: &str) -> &str {
    OPENINGS.iter().find_map(|opening| text.trim_start().strip_prefix(opening)).unwrap_or(text)
}

impl Grammar {
    fn begins(&self, text: &str) -> bool {
        self.marks.iter().any(|(mark, _)| text.starts_with(mark))
    }

    /// Returns the marks of a text: start, end and role of each.
    fn cuts(&self, text: &str) -> Vec<(usize, usize, Role)> {
        let starts_line = |at: usize| {
            let ahead = text[..at].trim_end_matches([' ', '\t']);
            ahead.is_empty() || ahead.ends_with(['\n', '\r']) || ahead.ends_with(END_OF_TEXT)
        };
        let of_mark = |&(mark, role): &(&'static str, Role)| {
            text.match_indices(mark).map(move |(at, mark)| (at, at + mark.len(), role)).collect::<Vec<_>>()
        };
        let mut cuts: Vec<_> = self.marks.iter().flat_map(of_mark).collect();
        cuts.retain(|cut| !self.at_line_start || starts_line(cut.0));
        cuts.sort_unstable_by_key(|cut| cut.0);
        cuts
    }

    fn trimmed<'t>(&self, turn: &'t str) -> &'t str {
        let mut turn = turn.trim();
        while let Some(shorter) = self.ends.iter().find_map(|end| turn.strip_suffix(end)) {
            turn = shorter.trim_end();
        }
        turn
    }
}

fn read(grammar: &Grammar, text: &str, beside: Option<String>) -> Transcript {
    let cuts = grammar.cuts(text);
    let ends = cuts.iter().skip(1).map(|cut| cut.0).chain([text.len()]);
    let mut talk =
        Transcript { log_format: grammar.log_format, is_prompt: grammar.is_prompt, ..Transcript::default() };
    let mut systems: Vec<String> = beside.into_iter().map(|system| without_mark(grammar, &system)).collect();
    for (&(mark, start, role), end) in cuts.iter().zip(ends) {
        let content = grammar.trimmed(&text[start..end]);
        if role == Role::System && (talk.turns.is_empty() || is_tag(&text[mark..start])) {
            systems.push(system_text(&text[mark..start], content));
        } else if !(content.is_empty() && role != Role::User) {
            talk.turns.push(Turn { speaker: Speaker::Role(role), value: content.into() });
        }
    }
    talk.system = (!systems.is_empty()).then(|| systems.join("\n\n"));
    talk
}

/// Removes the mark of instructions outside the text, which may have one too.
fn without_mark(grammar: &Grammar, system: &str) -> String {
    let mut marks = grammar.marks.iter().filter(|(_, role)| *role == Role::System);
    let bare = marks.find_map(|(mark, _)| system.trim_start().strip_prefix(mark));
    grammar.trimmed(bare.unwrap_or(system)).to_owned()
}

/// Returns `true` if a mark is itself a tag of the tool list; it stays with the list, and may come late.
fn is_tag(mark: &str) -> bool {
    mark.starts_with('[')
}

fn system_text(mark: &str, content: &str) -> String {
    if is_tag(mark) { format!("{mark}{content}") } else { content.to_owned() }
}
