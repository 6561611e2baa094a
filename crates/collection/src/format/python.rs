//! Python modules: functions with their signatures and docstrings, read from the text without importing it.
//!
//! A module is a tool. Only files that are called Python files are read like this; Python in other text is read by
//! `definitions`.

use callsieve_docs::parse::fault::ParseFault;
use callsieve_docs::parse::parse_python;

use super::CollectionFormat;
use super::definitions::add_function;
use crate::document::{Content, Document};
use crate::fault::FaultKind;
use crate::reading::Reading;
use crate::tool::Tool;

pub(super) const FORMAT: CollectionFormat = CollectionFormat {
    name: "python",
    what: "A Python module: its public functions, with signatures and docstrings.",
    recognises: |document| {
        document.source.has_extension(&["py", "pyi"]) && matches!(document.content, Content::Text(_))
    },
    read,
    census: |_| None,
};

fn read(document: &Document, reading: &mut Reading) {
    let Content::Text(source) = &document.content else { return };
    let parsed = match parse_python(source) {
        Ok(parsed) => parsed,
        Err(ParseFault { message, .. }) => return reading.fault("", FaultKind::NoFunctions, message),
    };
    for fault in parsed.faults {
        let at = fault.at.map_or_else(String::new, |at| format!("byte {at}"));
        reading.fault(&at, FaultKind::Repaired, fault.message);
    }
    let name = document.source.stem().to_owned();
    let description = docstring(source).unwrap_or_default();
    let mut tool = Tool { name, description, origin: reading.source.at(""), ..Tool::default() };
    for function in parsed.functions {
        add_function(&function, "", &mut tool, reading);
    }
    reading.tools.push(tool);
}

/// Returns the docstring at the start of a module.
fn docstring(source: &str) -> Option<String> {
    let is_before = |line: &&str| line.trim().is_empty() || line.starts_with('#');
    let start = source.lines().take_while(is_before).map(|line| line.len() + 1).sum::<usize>();
    let rest = source.get(start..)?.trim_start_matches(['r', 'R']);
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes))?;
    let (text, _) = rest[quotes.len()..].split_once(quotes)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}
