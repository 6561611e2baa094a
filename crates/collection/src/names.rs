//! Legal names for functions: `^[a-zA-Z0-9_-]{1,64}$`, as APIs of language models require.
//!
//! Names are unique in the collection, so that a call names one function. They depend on the set of functions only, not
//! on the order of files. A name that is legal and unique is kept. Otherwise illegal characters become `_`; if several
//! functions would have one name, the name of the tool is added; if that is too long or still not unique, the end is a
//! hash of the function. A prefix or a number instead of the hash would depend on what else is in the collection.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_text::content_hash::content_hash;
use serde::Serialize;

use crate::tool::{Api, Tool};

/// The most characters of a name.
pub const MAX_NAME: usize = 64;

/// The hexadecimal digits of a hash in a name; more are taken if names with that many were equal.
const HASH_DIGITS: usize = 8;

/// The name of a function without any legal character.
const NAMELESS: &str = "function";

/// The legal name of one function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NameEntry {
    /// The category of the tool.
    pub category: Option<String>,
    /// The tool as written.
    pub tool: String,
    /// The function as written.
    pub function: String,
    /// The legal name.
    pub name: String,
}

/// Returns true if APIs of language models accept a name.
pub fn is_legal(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_legal_byte)
}

fn is_legal_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns the legal characters of a name; each run of others is one `_`, none at the ends.
pub fn legal_form(name: &str) -> String {
    if name.bytes().all(is_legal_byte) && !name.is_empty() {
        return name.to_owned();
    }
    let mut legal = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii() && is_legal_byte(c as u8) {
            legal.push(c);
        } else if !legal.ends_with('_') {
            legal.push('_');
        }
    }
    let trimmed = legal.trim_matches('_');
    if trimmed.is_empty() { NAMELESS.to_owned() } else { trimmed.to_owned() }
}

/// Gives every function of the tools its legal name, and returns the map of names, in the order of the tools.
pub fn assign(tools: &mut [Tool]) -> Vec<NameEntry> {
    let functions: Vec<Named> =
        tools.iter().flat_map(|tool| tool.functions.iter().map(|api| named(tool, api))).collect();
    let functions_of_tools = tools.iter_mut().flat_map(|tool| {
        let place = (tool.category.clone(), tool.name.clone());
        tool.functions.iter_mut().map(move |api| (place.clone(), api))
    });
    let renamed = functions_of_tools.zip(names(&functions)).map(|(((category, tool), api), name)| {
        api.rename(name.clone());
        NameEntry { category, tool, function: api.original_name.clone(), name }
    });
    renamed.collect()
}

/// What the name of a function is made of.
struct Named {
    /// The function's own name in legal form.
    short: String,
    /// With the name of the tool.
    long: String,
    /// The identity of the function in the collection.
    identity: String,
}

fn named(tool: &Tool, api: &Api) -> Named {
    let short = legal_form(&api.original_name);
    let long = format!("{short}_for_{}", legal_form(&tool.name));
    Named { short, long, identity: identity(tool, api) }
}

/// Returns a text that differs between functions: where the function is, what it is called, and its doc.
fn identity(tool: &Tool, api: &Api) -> String {
    let mut doc = api.doc.clone();
    doc.shift_remove("name");
    let place = (&tool.category, &tool.collection, &tool.name, &tool.host);
    let request = (&api.original_name, &api.method, &api.path);
    serde_json::to_string(&(place, request, doc)).expect("texts and JSON are JSON")
}

/// Returns a name for each function, in their order.
fn names(functions: &[Named]) -> Vec<String> {
    let shorts = frequencies(functions.iter().map(|named| named.short.as_str()));
    let is_short = |named: &Named| shorts[named.short.as_str()] == 1 && named.short.len() <= MAX_NAME;
    let longs =
        frequencies(functions.iter().filter(|named| !is_short(named)).map(|named| named.long.as_str()));
    // A long name may not be what another function is called; then neither of both has it by accident.
    let is_long = |named: &Named| {
        longs[named.long.as_str()] == 1
            && named.long.len() <= MAX_NAME
            && !shorts.contains_key(named.long.as_str())
    };
    let mut names: Vec<Option<String>> = functions
        .iter()
        .map(|named| match named {
            named if is_short(named) => Some(named.short.clone()),
            named if is_long(named) => Some(named.long.clone()),
            _ => None,
        })
        .collect();
    let mut taken: BTreeSet<String> = names.iter().flatten().cloned().collect();
    // In an order of content, so that even the longer hashes of equal ones do not depend on the order of files.
    let mut open: Vec<usize> = (0..functions.len()).filter(|at| names[*at].is_none()).collect();
    open.sort_by(|a, b| functions[*a].identity.cmp(&functions[*b].identity));
    let mut before: Option<(&str, usize)> = None;
    for at in open {
        // Functions equal in everything follow each other, and are told apart by their number.
        let identity = functions[at].identity.as_str();
        let copy = before.filter(|(earlier, _)| *earlier == identity).map_or(0, |(_, copy)| copy + 1);
        let (name, copy) = hashed(&functions[at], copy, &taken);
        before = Some((identity, copy));
        taken.insert(name.clone());
        names[at] = Some(name);
    }
    names.into_iter().map(|name| name.expect("every open function was named")).collect()
}

fn frequencies<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, usize> {
    let mut frequencies = BTreeMap::new();
    names.for_each(|name| *frequencies.entry(name).or_default() += 1);
    frequencies
}

/// Returns the start of the long name and a hash, which is not taken, and the number that is in the hash, which is at least
/// `copy`.
fn hashed(named: &Named, copy: usize, taken: &BTreeSet<String>) -> (String, usize) {
    for copy in copy.. {
        let hash = format!("{:032x}", content_hash(format!("{copy}\0{}", named.identity)));
        for digits in [HASH_DIGITS, 2 * HASH_DIGITS, 4 * HASH_DIGITS] {
            let start = MAX_NAME - digits - 1;
            let start = named.long.get(..start).unwrap_or(&named.long).trim_end_matches('_');
            let name = format!("{start}_{}", &hash[..digits]);
            if !taken.contains(&name) {
                return (name, copy);
            }
        }
    }
    unreachable!("there are more numbers than functions")
}

#[cfg(test)]
mod tests;
