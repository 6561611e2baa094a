//! The table of API-Bank's functions (`all_apis.csv`): each row has a class of Python as text.
//!
//! The column `api_info` has assignments of `description`, `input_parameters` and `output_parameters`, which are read as
//! literals, never executed. The scenario is the category.

use callsieve_notation::python;
use serde_json::{Map, Value};

use super::{CollectionFormat, parameters, record};
use crate::census::Census;
use crate::document::{Content, Document};
use crate::fault::FaultKind;
use crate::reading::{Reading, cut, text};
use crate::tool::{Api, Tool};

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "api-bank",
    what: "The table of API-Bank with its columns `类名` and `api_info`.",
    recognises: |document| rows(document).is_some(),
    read,
    census,
};

const NAME: &str = "类名";
const INFO: &str = "api_info";
const SCENARIO: &str = "应用场景";
const FILE: &str = "路径";
const PARTS: [&str; 3] = ["description", "input_parameters", "output_parameters"];

/// A row with the columns that are read.
struct Row<'d> {
    line: u64,
    name: &'d str,
    info: &'d str,
    scenario: &'d str,
    file: &'d str,
}

fn rows<'d>(document: &'d Document) -> Option<Vec<Row<'d>>> {
    let Content::Table(rows) = &document.content else { return None };
    let (_, header) = rows.first()?;
    let column = |name: &str| header.iter().position(|cell| cell.trim_start_matches('\u{feff}') == name);
    let (name, info) = (column(NAME)?, column(INFO)?);
    let (scenario, file) = (column(SCENARIO), column(FILE));
    let row = |(line, row): &'d (u64, Vec<String>)| {
        let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).map(String::as_str).unwrap_or_default();
        let (name, info) = (cell(Some(name)), cell(Some(info)));
        Row { line: *line, name, info, scenario: cell(scenario), file: cell(file) }
    };
    Some(rows[1..].iter().map(row).collect())
}

fn read(document: &Document, reading: &mut Reading) {
    for row in rows(document).unwrap_or_default() {
        let at = format!("line {}", row.line);
        if row.name.trim().is_empty() {
            reading.fault(&at, FaultKind::MissingName, "the class has no name");
            continue;
        }
        let Some(info) = info(row.info) else {
            let message = format!("the class {:?} has no readable doc", cut(row.name));
            reading.fault(&at, FaultKind::NotAFunction, message);
            continue;
        };
        let nothing = Map::new();
        let inputs = info.get(PARTS[1]).and_then(Value::as_object).unwrap_or(&nothing);
        let schema = parameters::of_map(inputs, None, reading, &at);
        let mut api = Api::new(row.name, text(&info, &PARTS[..1]), schema, reading.source.at(&at));
        api.response = record::response(info.get(PARTS[2]), reading, &at);
        let stated = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let mut tool = Tool {
            name: row.name.trim().to_owned(),
            title: stated(row.file),
            category: stated(row.scenario),
            origin: reading.source.at(&at),
            ..Tool::default()
        };
        reading.add(&mut tool, api);
        reading.tools.push(tool);
    }
}

/// Returns the values of the assignments of a class; `None` if one cannot be read or there is none.
fn info(source: &str) -> Option<Map<String, Value>> {
    let mut starts: Vec<(usize, &str)> =
        PARTS.iter().filter_map(|part| Some((assignment(source, part)?, *part))).collect();
    starts.sort_unstable();
    let mut info = Map::new();
    for (index, (start, part)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(source.len(), |(next, _)| *next);
        let (_, value) = source[*start..end].split_once('=')?;
        info.insert((*part).to_owned(), python::literal(value.trim()).ok()?);
    }
    (!info.is_empty()).then_some(info)
}

/// Returns where the assignment of a name begins, at the start of a line.
fn assignment(source: &str, name: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let before = source[..*at].trim_end_matches([' ', '\t']);
        let after = source[at + name.len()..].trim_start();
        (before.is_empty() || before.ends_with('\n')) && after.starts_with('=')
    };
    source.match_indices(name).map(|(at, _)| at).find(begins)
}

/// Counts classes by the words of their text: each parameter of a class has a type and a description.
fn census(document: &Document) -> Option<Census> {
    let mut census = Census::default();
    for row in rows(document)? {
        let Some(start) = assignment(row.info, PARTS[1]) else { continue };
        census.tool(row.name, None);
        let description = row.info.get(..start).and_then(|text| text.split_once('='));
        let description = description.and_then(|(_, text)| python::literal(text.trim()).ok());
        census.function(row.name, description.as_ref().and_then(Value::as_str));
        let end = assignment(row.info, PARTS[2]).filter(|end| *end > start).unwrap_or(row.info.len());
        let inputs = &row.info[start..end];
        // A parameter may be called `type`.
        let types = inputs.split("'type':").skip(1).filter(|part| !part.trim_start().starts_with('{'));
        for part in types {
            census.parameter();
            let described = part.split_once("'description':").and_then(|(_, rest)| rest.rsplit_once('}'));
            let text = described.and_then(|(rest, _)| quoted(rest.trim()));
            census.description(text.as_deref());
        }
    }
    Some(census)
}

/// Returns the text in the quotes at the start of a text.
fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut escaped = false;
    let mut inside = String::new();
    for c in text.chars().skip(1) {
        match c {
            c if !escaped && c == quote => return Some(inside),
            '\\' if !escaped => escaped = true,
            c => {
                escaped = false;
                inside.push(c);
            }
        }
    }
    None
}
