//! The file of templates: how instructions and answers are worded in a language.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the tasks of an instruction are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// "Please cancel the order."
    Ask,
    /// "Could you cancel the order?"
    Question,
    /// What happened, then what is asked.
    Situation,
    /// The user does not know the values that earlier calls find.
    Implicit,
}

impl Style {
    /// All styles.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Question, Self::Situation, Self::Implicit];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Question => "question",
            Self::Situation => "situation",
            Self::Implicit => "implicit",
        }
    }
}

/// The templates of a language. All keys must be there, and every list must have an entry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Templates {
    /// ISO 639-1 code of the language.
    pub language: String,
    /// The forms of an instruction, with `{tasks}` or `{Tasks}`.
    pub styles: BTreeMap<Style, Vec<String>>,
    /// What is between tasks.
    pub joins: Joins,
    /// Turns after the first, and those of the assistant.
    pub turns: Turns,
    /// Phrases for a value of an earlier result, with `{noun}`.
    pub references: References,
    /// Answers to the user, with `{values}`.
    pub answers: Answers,
    /// Forms of values.
    pub values: ValueForms,
}

/// What is between two tasks; between more tasks, and before the last of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joins {
    /// A task uses what an earlier one found.
    pub dependent: Vec<[String; 3]>,
    /// No task does.
    pub independent: Vec<[String; 3]>,
}

/// Questions for a choice, of files that were written before there were any.
fn missing_choice() -> Vec<String> {
    Templates::english().turns.missing_choice
}

/// Turns after the first.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// The user asks for the next task.
    pub next: Vec<String>,
    /// A task, and what to do if it is refused, with `{repair}`.
    pub recovery: Vec<String>,
    /// The assistant asks for a value, with `{what}`.
    pub missing: Vec<String>,
    /// The assistant asks for a choice such as "whether it is active", with `{what}`. The built-in ones if a file has none.
    #[serde(default = "missing_choice")]
    pub missing_choice: Vec<String>,
    /// The user gives it, with `{value}` or `{Value}`.
    pub missing_answer: Vec<String>,
    /// The assistant has no function for the request.
    pub no_function: Vec<String>,
}

/// Phrases for a value of an earlier result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct References {
    /// The result of the task before has only one.
    pub only: String,
    /// The first of several.
    pub first: String,
    /// The last of several.
    pub last: String,
    /// It is of a task further back.
    pub earlier: String,
    /// It is a part of something, with `{noun}` and `{owner}`, which is one of the phrases above. Without one, the owner is
    /// not said.
    pub of: Option<String>,
    /// A value that the user forgot to give.
    pub missing: String,
}

/// Answers to the user.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The call returned nothing.
    pub done: Vec<String>,
    /// It returned one value.
    pub value: Vec<String>,
    /// It returned several, with their names.
    pub fields: Vec<String>,
    /// It returned `true`.
    pub yes: Vec<String>,
    /// It returned `false`.
    pub no: Vec<String>,
}

/// Forms of values in a sentence.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueForms {
    /// The word for true.
    pub r#true: String,
    /// The word for false.
    pub r#false: String,
    /// Before the last element of a list.
    pub and: String,
    /// Between the elements of a list.
    pub comma: String,
    /// Between the results of several calls.
    pub semicolon: String,
    /// A date, with `{year}`, `{month}` and `{day}`.
    pub date: String,
    /// A date with `{time}`.
    pub date_and_time: String,
    /// The names of the months, January first.
    pub months: Vec<String>,
    /// An argument that the phrase of its function does not mention, with `{name}` and `{value}`.
    pub argument: String,
    /// A further one.
    pub more_arguments: String,
    /// A value of an earlier result that the phrase of its function does not mention, with `{value}`.
    pub linked_argument: String,
    /// A further one.
    pub more_linked_arguments: String,
    /// After the values of a list of which only some are shown.
    pub more: String,
}

/// Why a file of templates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct TemplatesError {
    /// The file.
    pub file: String,
    /// The fault.
    pub what: String,
}

/// Templates that a style needs, so that few instructions read alike.
const FEWEST_OF_STYLE: usize = 12;

impl Templates {
    /// Returns the built-in English templates.
    ///
    /// # Panics
    /// Never: a test reads the built-in file.
    pub fn english() -> Self {
        Self::parse(include_str!("../../configs/wording.en.toml"), "wording.en.toml")
            .expect("a test reads the built-in file")
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, a key is missing, or a template lacks its slot.
    pub fn read(path: &Path) -> Result<Self, TemplatesError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| TemplatesError { file: file.clone(), what: cause.to_string() })?;
        Self::parse(&text, &file)
    }

    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, file: &str) -> Result<Self, TemplatesError> {
        let refused = |what: String| TemplatesError { file: file.to_owned(), what };
        let templates: Self =
            toml::from_str(text).map_err(|fault| refused(fault.to_string().trim_end().to_owned()))?;
        templates.fault().map_or(Ok(templates), |what| Err(refused(what)))
    }

    /// The first fault: a list with too few entries, or a template without its slot.
    fn fault(&self) -> Option<String> {
        if let Some(style) = Style::ALL.iter().find(|style| self.of_style(**style).len() < FEWEST_OF_STYLE) {
            return Some(format!("styles.{} must have at least {FEWEST_OF_STYLE} templates", style.name()));
        }
        if self.values.months.len() != 12 {
            return Some(format!("values.months must have 12 names, not {}", self.values.months.len()));
        }
        let with_slots: Vec<(&str, &[String], &[&str])> = vec![
            ("turns.next", &self.turns.next, &["tasks"]),
            ("turns.recovery", &self.turns.recovery, &["tasks", "repair"]),
            ("turns.missing", &self.turns.missing, &["what"]),
            ("turns.missing_choice", &self.turns.missing_choice, &["what"]),
            ("turns.missing_answer", &self.turns.missing_answer, &["value"]),
            ("turns.no_function", &self.turns.no_function, &[]),
            ("answers.done", &self.answers.done, &[]),
            ("answers.value", &self.answers.value, &["values"]),
            ("answers.fields", &self.answers.fields, &["values"]),
        ];
        let of_styles = self.styles.iter().map(|(style, all)| (style.name(), &all[..], &["tasks"][..]));
        of_styles.chain(with_slots).find_map(|(key, templates, slots)| {
            if templates.is_empty() {
                return Some(format!("{key} must have at least one template"));
            }
            templates.iter().find_map(|template| {
                let lacks = slots.iter().find(|slot| !has_slot(template, slot))?;
                Some(format!("\"{template}\" in {key} has no {{{lacks}}}"))
            })
        })
    }

    /// Returns the templates of a style.
    pub fn of_style(&self, style: Style) -> &[String] {
        self.styles.get(&style).map_or(&[], Vec::as_slice)
    }
}

/// Whether a template has a slot, in either spelling.
fn has_slot(template: &str, slot: &str) -> bool {
    template.contains(&format!("{{{slot}}}")) || template.contains(&format!("{{{}}}", capitalised(slot)))
}

/// Returns a text with its first letter as a capital.
pub fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_has_every_style() {
        let english = Templates::english();
        assert_eq!(english.language, "en");
        assert!(Style::ALL.iter().all(|&style| english.of_style(style).len() >= FEWEST_OF_STYLE));
    }

    #[test]
    fn a_file_without_a_slot_or_with_too_few_templates_is_refused() {
        let text = include_str!("../../configs/wording.en.toml");
        let refused = |from: &str, to: &str| {
            Templates::parse(&text.replace(from, to), "w.toml").unwrap_err().to_string()
        };
        assert_eq!(refused("\"Now {tasks}.\"", "\"Now.\""), "w.toml: \"Now.\" in turns.next has no {tasks}");
        assert_eq!(refused("\"January\",", ""), "w.toml: values.months must have 12 names, not 11");
        assert!(refused("[turns]", "[turn]").contains("unknown field `turn`"));
        let few = refused("    \"Next on my list: {tasks}.\",\n    \"Kindly {tasks}.\",\n", "");
        assert_eq!(few, "w.toml: styles.ask must have at least 12 templates");
    }
}
