//! A source as values, before a format reads it.
//!
//! JSON is read strictly, a file with one object a line line by line, a table with commas as rows, YAML as JSON. Other
//! text (program source, damaged JSON) stays text, for the formats that read it. Memory and depth are bounded by the
//! size of the text.

use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::strict::{self, Strict};
use callsieve_notation::{MAX_DEPTH, levels, yaml};
use serde_json::Value;

use crate::fault::{FaultKind, ReadFault};
use crate::tool::Origin;

/// The extensions of YAML files.
const YAML: [&str; 2] = ["yaml", "yml"];

/// How YAML of an API description begins.
const YAML_STARTS: [&str; 3] = ["openapi:", "swagger:", "---"];

/// The memory for the values of a source, as a multiple of what a pasted list of functions may take. Collections are large,
/// and most of their bytes are short keys and values, which take up to thirty times their length.
const TIMES: usize = 8;

/// Returns the allowance for the values of a source.
pub(crate) fn allowance(n_bytes: usize) -> Allowance {
    Allowance::of_length(n_bytes.saturating_mul(TIMES))
}

/// A source and its content.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) source: Source,
    pub(crate) content: Content,
    /// The bytes of its text, which bound the memory that its functions may take.
    pub(crate) n_bytes: usize,
}

/// The name of a source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    /// The path as given, with `/` between folders.
    pub(crate) name: String,
}

/// The content of a source.
#[derive(Debug)]
pub(crate) enum Content {
    /// One JSON value.
    Json(Value),
    /// The values of lines, with the number of the line, from 1.
    Lines(Vec<(usize, Value)>),
    /// The rows of a table, the header first, with the number of the line.
    Table(Vec<(u64, Vec<String>)>),
    /// Any other text.
    Text(String),
}

impl Source {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.replace('\\', "/") }
    }

    pub(crate) fn at(&self, at: impl Into<String>) -> Origin {
        Origin { source: self.name.clone(), at: at.into() }
    }

    /// Returns the name of the file without its extension.
    pub(crate) fn stem(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or_default();
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    }

    /// Returns the name of the folder that holds the file.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.name.rsplit('/').nth(1).filter(|folder| !folder.is_empty() && !matches!(*folder, "." | ".."))
    }

    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = self.name.rsplit_once('.').map_or("", |(_, extension)| extension);
        extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
    }
}

impl Document {
    /// Returns the records: the elements of a list, the values of lines, or the one value, each with its place.
    pub(crate) fn records(&self) -> Vec<(String, &Value)> {
        match &self.content {
            Content::Json(Value::Array(values)) => {
                values.iter().enumerate().map(|(index, value)| (format!("/{index}"), value)).collect()
            }
            Content::Json(value) => vec![(String::new(), value)],
            Content::Lines(lines) => lines.iter().map(|(line, value)| (line_of(*line), value)).collect(),
            Content::Table(_) | Content::Text(_) => Vec::new(),
        }
    }

    /// Returns the records without their places.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        let (values, lines): (&[Value], &[(usize, Value)]) = match &self.content {
            Content::Json(Value::Array(values)) => (values, &[]),
            Content::Json(value) => (std::slice::from_ref(value), &[]),
            Content::Lines(lines) => (&[], lines),
            Content::Table(_) | Content::Text(_) => (&[], &[]),
        };
        values.iter().chain(lines.iter().map(|(_, value)| value))
    }

    /// Returns true if there are records and all of them have a property.
    pub(crate) fn all(&self, holds: impl Fn(&Value) -> bool) -> bool {
        let mut values = self.values().peekable();
        values.peek().is_some() && values.all(holds)
    }

    /// Returns the only value, if it is an object.
    pub(crate) fn object(&self) -> Option<&serde_json::Map<String, Value>> {
        if let Content::Json(Value::Object(map)) = &self.content { Some(map) } else { None }
    }
}

fn line_of(line: usize) -> String {
    format!("line {line}")
}

/// Returns the content of a text; `faults` records what of it cannot be read.
pub(crate) fn of_text(
    source: Source,
    text: &str,
    faults: &mut Vec<ReadFault>,
) -> Result<Document, ReadFault> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(fault(&source, "", FaultKind::Empty, "expected an API collection"));
    }
    let allowance = allowance(text.len());
    let content = if let Ok(strict) = strict::read_within(text, &allowance) {
        note_repeated(&source, "", &strict, faults);
        Content::Json(strict.value)
    } else if allowance.is_exceeded() {
        return Err(fault(&source, "", FaultKind::TooLarge, "its values take too much memory"));
    } else if let Some(lines) = lines(&source, text, faults) {
        Content::Lines(lines)
    } else if let Some(rows) = table(&source, text) {
        Content::Table(rows)
    } else if let Some(value) = yaml_value(&source, text) {
        Content::Json(value)
    } else {
        Content::Text(text.to_owned())
    };
    Ok(Document { source, content, n_bytes: text.len() })
}

/// Returns a value in memory as a document.
pub(crate) fn of_value(source: Source, value: Value) -> Result<Document, ReadFault> {
    if levels::is_within(&value, MAX_DEPTH) {
        let n_bytes = value.to_string().len();
        Ok(Document { source, content: Content::Json(value), n_bytes })
    } else {
        let message = format!("it is more than {MAX_DEPTH} levels deep");
        Err(fault(&source, "", FaultKind::TooDeep, message))
    }
}

/// Creates a fault.
pub(crate) fn fault(source: &Source, at: &str, kind: FaultKind, message: impl Into<String>) -> ReadFault {
    ReadFault { origin: source.at(at), kind, message: message.into() }
}

fn note_repeated(source: &Source, at: &str, strict: &Strict, faults: &mut Vec<ReadFault>) {
    if let Some(first) = strict.repeated.first() {
        let key: String = first.key.chars().take(40).collect();
        let others = strict.repeated.len() - 1;
        let more = if others > 0 { format!(", and {others} more") } else { String::new() };
        faults.push(fault(source, at, FaultKind::RepeatedKey, format!("{key:?}{more}")));
    }
}

/// Returns the objects of lines, if most lines are objects; the others are faults.
fn lines(source: &Source, text: &str, faults: &mut Vec<ReadFault>) -> Option<Vec<(usize, Value)>> {
    let allowance = allowance(text.len());
    let mut values = Vec::new();
    let mut found = Vec::new();
    let mut n_lines = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        n_lines += 1;
        let at = line_of(index + 1);
        match strict::read_within(line, &allowance) {
            Ok(strict) if strict.value.is_object() => {
                note_repeated(source, &at, &strict, &mut found);
                values.push((index + 1, strict.value));
            }
            Ok(_) => found.push(fault(source, &at, FaultKind::UnreadableLine, "expected an object")),
            Err(error) => found.push(fault(source, &at, FaultKind::UnreadableLine, error.to_string())),
        }
        // Text that is not JSONL at all is refused after a look at its start.
        if n_lines == 20 && values.is_empty() {
            return None;
        }
    }
    if values.is_empty() || values.len() * 2 < n_lines {
        return None;
    }
    faults.append(&mut found);
    Some(values)
}

/// Returns the rows of a table with commas, if it has a header and is called one.
fn table(source: &Source, text: &str) -> Option<Vec<(u64, Vec<String>)>> {
    source.has_extension(&["csv"]).then_some(())?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.ok()?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push((line, record.iter().map(str::to_owned).collect()));
    }
    (rows.len() > 1).then_some(rows)
}

fn yaml_value(source: &Source, text: &str) -> Option<Value> {
    let is_yaml = source.has_extension(&YAML) || YAML_STARTS.iter().any(|start| text.starts_with(start));
    is_yaml.then_some(())?;
    yaml::read(text, &allowance(text.len())).map(|yaml| yaml.value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &str) -> (Content, Vec<FaultKind>) {
        let mut faults = Vec::new();
        let document = of_text(Source::new(name), text, &mut faults).unwrap();
        (document.content, faults.into_iter().map(|fault| fault.kind).collect())
    }

    #[test]
    fn text_is_read_by_its_notation() {
        let (json, faults) = read("a.json", "{\"a\": 1, \"a\": 2}");
        assert!(matches!(json, Content::Json(value) if value == json!({"a": 2})));
        assert_eq!(faults, [FaultKind::RepeatedKey]);
        let (lines, faults) = read("a.jsonl", "{\"a\": 1}\n\n{\"b\": 2}\n{\"c\"\n3\n{\"d\": 4}\n");
        assert!(
            matches!(lines, Content::Lines(lines) if lines.len() == 3 && lines[1] == (3, json!({"b": 2})))
        );
        assert_eq!(faults, [FaultKind::UnreadableLine; 2]);
        let (table, _) = read("a.csv", "a,b\n1,\"x\ny\"\n");
        assert!(matches!(table, Content::Table(rows) if rows[1].1[1] == "x\ny"));
        let (yaml, _) = read("a.yaml", "openapi: 3.0.0\npaths: {}\n");
        assert!(matches!(yaml, Content::Json(value) if value["openapi"] == "3.0.0"));
        assert!(matches!(read("a.py", "def ring(): pass").0, Content::Text(_)));
    }

    #[test]
    fn an_empty_file_and_a_deep_value_are_faults() {
        let empty = of_text(Source::new("a.json"), " \n", &mut Vec::new()).unwrap_err();
        assert_eq!(empty.kind, FaultKind::Empty);
        let deep = (0..=MAX_DEPTH).fold(json!(1), |value, _| json!([value]));
        assert_eq!(of_value(Source::new("a"), deep).unwrap_err().kind, FaultKind::TooDeep);
    }

    #[test]
    fn a_source_knows_its_folder_and_stem() {
        let source = Source::new("tools\\Finance/rates.v2.json");
        assert_eq!((source.folder(), source.stem()), (Some("Finance"), "rates.v2"));
        assert_eq!((Source::new("rates.json").folder(), Source::new("./rates.json").folder()), (None, None));
    }
}
