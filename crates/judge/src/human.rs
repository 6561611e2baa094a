//! The file of people's verdicts: CSV or JSON Lines with an id and a verdict.
//!
//! A text whose first character is `{` is JSON Lines, else CSV with a header; the columns `id` and `verdict` may be anywhere, and
//! others are ignored. Fields in quotes may contain commas and doubled quotes, but no line break. Each id occurs once.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::verdict::Verdict;

/// Names of the columns.
const COLUMNS: [&str; 2] = ["id", "verdict"];

/// Why a file is not read; lines count from one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HumanFileError {
    /// The header of a CSV file lacks a column.
    #[error("line 1: no column \"{column}\"")]
    NoColumn {
        /// The name of the column.
        column: &'static str,
    },
    /// The header of a CSV file has a column twice.
    #[error("line 1: more than one column \"{column}\"")]
    TwoColumns {
        /// The name of the column.
        column: &'static str,
    },
    /// A line is no JSON object, or a field in quotes does not end.
    #[error("line {line}: not a {expected}")]
    Malformed {
        /// The line.
        line: usize,
        /// What it should be.
        expected: &'static str,
    },
    /// A line has no value for a column, or it is no text.
    #[error("line {line}: no \"{column}\"")]
    NoValue {
        /// The line.
        line: usize,
        /// The name of the column.
        column: &'static str,
    },
    /// A verdict is not one of the expected words.
    #[error("line {line}: unknown verdict \"{word}\", expected one of: {expected}")]
    UnknownVerdict {
        /// The line.
        line: usize,
        /// The word.
        word: String,
        /// The expected words.
        expected: String,
    },
    /// An id occurs again.
    #[error("line {line}: id \"{id}\" is already on line {first}")]
    Duplicate {
        /// The line.
        line: usize,
        /// The id.
        id: String,
        /// The line where it is first.
        first: usize,
    },
}

/// Returns the verdicts of a file by id.
///
/// # Errors
/// The first fault with its line.
pub fn read<V: Verdict>(text: &str) -> Result<BTreeMap<String, V>, HumanFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = if text.trim_start().starts_with('{') { json_lines(text)? } else { csv(text)? };
    let mut verdicts = BTreeMap::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for Row { line, id, word } in rows {
        let Some(verdict) = V::of_word(&word) else {
            let expected = V::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            return Err(HumanFileError::UnknownVerdict { line, word, expected });
        };
        if let Some(first) = lines.insert(id.clone(), line) {
            return Err(HumanFileError::Duplicate { line, id, first });
        }
        verdicts.insert(id, verdict);
    }
    Ok(verdicts)
}

struct Row {
    line: usize,
    id: String,
    word: String,
}

/// Returns the lines with content and their numbers from one.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

fn json_lines(text: &str) -> Result<Vec<Row>, HumanFileError> {
    let row = |(line, content): (usize, &str)| {
        let object: Map<String, Value> = serde_json::from_str(content)
            .map_err(|_| HumanFileError::Malformed { line, expected: "JSON object" })?;
        let value = |column: &'static str| match object.get(column) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(HumanFileError::NoValue { line, column }),
        };
        Ok(Row { line, id: value(COLUMNS[0])?, word: value(COLUMNS[1])? })
    };
    lines(text).map(row).collect()
}

fn csv(text: &str) -> Result<Vec<Row>, HumanFileError> {
    let malformed = |line| HumanFileError::Malformed { line, expected: "line of CSV" };
    let mut lines = lines(text);
    let Some((line, header)) = lines.next() else { return Ok(Vec::new()) };
    let header = fields(header).ok_or(malformed(line))?;
    let place = |column: &'static str| {
        let is_column = |name: &String| name.trim().eq_ignore_ascii_case(column);
        let mut places = (0..header.len()).filter(|at| is_column(&header[*at]));
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => Err(HumanFileError::TwoColumns { column }),
            (None, _) => Err(HumanFileError::NoColumn { column }),
        }
    };
    let places = [place(COLUMNS[0])?, place(COLUMNS[1])?];
    let row = |(line, content): (usize, &str)| {
        let fields = fields(content).ok_or(malformed(line))?;
        let value = |at: usize| {
            let field = fields.get(places[at]).map(|field| field.trim().to_owned());
            field
                .filter(|field| !field.is_empty())
                .ok_or(HumanFileError::NoValue { line, column: COLUMNS[at] })
        };
        Ok(Row { line, id: value(0)?, word: value(1)? })
    };
    lines.map(row).collect()
}

/// Returns the fields of a line of CSV; none if a field in quotes does not end.
fn fields(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if is_quoted || field.trim().is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(c),
        }
    }
    fields.push(field);
    (!is_quoted).then_some(fields)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::passing::AnswerStatus::{self, Solved, Unsolved, Unsure};

    fn read_status(text: &str) -> Result<Vec<(String, AnswerStatus)>, String> {
        read(text).map(|found| found.into_iter().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_formats_are_read() {
        let expected =
            Ok(vec![("a,1".to_owned(), Solved), ("b".to_owned(), Unsolved), ("c \"d\"".to_owned(), Unsure)]);
        let csv =
            "note,Verdict,id\r\n,solved,\"a,1\"\r\n\r\n\"x, y\",UNSOLVED,b\r\n,unsure,\"c \"\"d\"\"\"\r\n";
        assert_eq!(read_status(csv), expected);
        let json = "{\"id\": \"a,1\", \"verdict\": \"solved\"}\n{\"id\": \"b\", \"verdict\": \"unsolved\"}\n\n\
                    {\"id\": \"c \\\"d\\\"\", \"verdict\": \"unsure\"}\n";
        assert_eq!(read_status(json), expected);
        assert_eq!(read_status("{\"id\": 7, \"verdict\": \"solved\"}"), Ok(vec![("7".to_owned(), Solved)]));
        assert_eq!(read_status(""), Ok(vec![]));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("id,verdict,Verdict\na,solved,unsolved", "line 1: more than one column \"verdict\""),
            ("id,status\na,solved", "line 1: no column \"verdict\""),
            ("id,verdict\na,solved\nb", "line 3: no \"verdict\""),
            ("id,verdict\n\"a,solved", "line 2: not a line of CSV"),
            (
                "id,verdict\na,good",
                "line 2: unknown verdict \"good\", expected one of: solved, unsolved, unsure",
            ),
            ("id,verdict\na,solved\n\na,unsure", "line 4: id \"a\" is already on line 2"),
            ("{\"id\": \"a\", \"verdict\": \"solved\"}\n[1]", "line 2: not a JSON object"),
            ("{\"id\": \"a\"}", "line 1: no \"verdict\""),
        ] {
            assert_eq!(read_status(text), Err(expected.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(id|verdict|solved|,|\"|\n|\\{|\\}|:)*\\PC{0,10}") {
            let _ = read_status(&text);
        }
    }
}
