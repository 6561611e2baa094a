//! Reads the parameters described in a docstring.
//!
//! Supports Google, `NumPy` and Sphinx style, and bulleted lines `- name: type, required, text`. Only names in the
//! signature are parameters, so prose never becomes one; all other lines stay in the description. Results and
//! exceptions are omitted, as docs for calls have no key for them.

use std::collections::{BTreeMap, HashMap};

/// The content of a docstring.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Docstring {
    /// The text that is not about one parameter.
    pub(crate) description: String,
    /// The entries of parameters, by the name in the signature.
    pub(crate) parameters: BTreeMap<String, DocstringEntry>,
}

/// The entry of one parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocstringEntry {
    /// The type as written.
    pub(crate) kind: Option<String>,
    /// Whether the entry has the word `optional` (true) or `required` (false).
    pub(crate) optional: Option<bool>,
    /// The text without the type and `optional`.
    pub(crate) text: String,
    /// The text after the name, as written.
    pub(crate) whole: String,
}

const PARAMETER_HEADERS: [&str; 11] = [
    "args",
    "arguments",
    "parameters",
    "params",
    "keyword args",
    "keyword arguments",
    "other parameters",
    "inputs",
    "input",
    "attributes",
    "fields",
];
const OTHER_HEADERS: [&str; 8] =
    ["returns", "return", "yields", "raises", "return value", "output", "outputs", "throws"];

/// Reads a docstring for a function with these parameters.
pub(crate) fn read(docstring: &str, names: &[&str]) -> Docstring {
    let lines = dedented(docstring);
    let mut reader = DocstringReader::default();
    for &name in names {
        reader.names.entry(folded(name)).or_insert(name);
    }
    let mut at = 0;
    while at < lines.len() {
        let next = lines.get(at + 1).map_or("", |line| line.text);
        at += if reader.header(&lines[at], next, &lines[at + 1..]) {
            1 + usize::from(is_rule(next))
        } else {
            reader.line(&lines[at]);
            1
        };
    }
    reader.finish()
}

#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

/// Returns the lines with their indentation relative to the common one of all lines after the first.
fn dedented(docstring: &str) -> Vec<Line<'_>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = docstring.lines().collect();
    let margin = lines
        .iter()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent(line))
        .min()
        .unwrap_or(0);
    let line = |(at, line): (usize, &&'_ str)| if at == 0 { 0 } else { indent(line).saturating_sub(margin) };
    lines.iter().enumerate().map(|(at, text)| Line { indent: line((at, text)), text: text.trim() }).collect()
}

/// The section of a docstring that is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    /// In the description.
    #[default]
    Prose,
    /// Among parameters, below a header at this depth.
    Parameters(usize),
    /// The same, if the header is underlined and types follow a colon.
    Underlined(usize),
    /// In the description of the result.
    Result(usize),
}

#[derive(Default)]
struct DocstringReader<'a> {
    /// The parameters by their folded names.
    names: HashMap<String, &'a str>,
    section: Section,
    /// The parameter whose entry is unfinished, and the depth of its first line.
    open: Option<(String, usize)>,
    after_blank: bool,
    prose: Vec<&'a str>,
    result: Vec<&'a str>,
    parameters: BTreeMap<String, DocstringEntry>,
}

impl<'a> DocstringReader<'a> {
    /// Begins a section if the line is a header.
    fn header(&mut self, line: &Line<'a>, next: &str, rest: &[Line<'a>]) -> bool {
        let bare = line.text.strip_suffix(':').unwrap_or(line.text).trim_end().to_ascii_lowercase();
        let has_mark = line.text.ends_with(':') || is_rule(next);
        let section = if PARAMETER_HEADERS.contains(&bare.as_str()) {
            // A line without a colon is a header only if a parameter follows.
            let follows =
                || rest.iter().find(|line| !line.text.is_empty()).and_then(|line| self.entry(line, false));
            if !has_mark && follows().is_none() {
                return false;
            }
            if is_rule(next) { Section::Underlined(line.indent) } else { Section::Parameters(line.indent) }
        } else if has_mark && OTHER_HEADERS.contains(&bare.as_str()) {
            Section::Result(line.indent)
        } else {
            return false;
        };
        (self.section, self.open, self.after_blank) = (section, None, false);
        true
    }

    fn line(&mut self, line: &Line<'a>) {
        if line.text.is_empty() {
            self.after_blank = true;
            if self.open.is_none() && !matches!(self.section, Section::Result(_)) {
                self.prose.push("");
            }
            return;
        }
        let after_blank = std::mem::take(&mut self.after_blank);
        if self.field(line) || self.parameter(line) {
            return;
        }
        if let Some((name, depth)) = &self.open {
            let goes_on = line.indent > *depth || (!after_blank && !looks_like_entry(line.text));
            if goes_on && let Some(entry) = self.parameters.get_mut(name) {
                for text in [&mut entry.text, &mut entry.whole] {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(line.text);
                }
                return;
            }
            self.open = None;
        }
        if let Section::Result(depth) = self.section {
            if line.indent > depth || !after_blank {
                self.result.push(line.text);
                return;
            }
            self.section = Section::Prose;
        }
        if let Section::Parameters(depth) | Section::Underlined(depth) = self.section
            && line.indent <= depth
            && after_blank
        {
            self.section = Section::Prose;
        }
        self.prose.push(line.text);
    }

    /// Reads a Sphinx field: `:param kind name: text`, `:type name: kind`, `:return: …`, `@param name: text`.
    fn field(&mut self, line: &Line<'a>) -> bool {
        let Some(body) = line.text.strip_prefix([':', '@']) else { return false };
        let Some((head, text)) = body.split_once(':') else { return false };
        let mut words = head.split_whitespace();
        let (field, rest) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
        match field {
            "param" | "parameter" | "arg" | "argument" | "key" | "keyword" => {
                let Some(name) = rest.last().and_then(|name| self.known(name)) else {
                    return self.other_field(line);
                };
                if self.parameters.get(&name).is_some_and(|entry| !entry.whole.is_empty()) {
                    return false;
                }
                let kind = (rest.len() > 1).then(|| rest[..rest.len() - 1].join(" "));
                let entry = self.parameters.entry(name.clone()).or_default();
                entry.kind = kind.or(entry.kind.take());
                (entry.text, entry.whole) = (text.trim().to_owned(), text.trim().to_owned());
                self.open = Some((name, line.indent));
                self.section = Section::Prose;
            }
            "type" => {
                let Some(name) = rest.last().and_then(|name| self.known(name)) else {
                    return self.other_field(line);
                };
                self.parameters.entry(name).or_default().kind = Some(text.trim().to_owned());
                self.open = None;
            }
            "return" | "returns" | "rtype" | "raises" | "raise" | "except" | "yields" => {
                self.result.push(text.trim());
                self.open = None;
                self.section = Section::Result(line.indent);
            }
            _ => return false,
        }
        true
    }

    /// Reads a Sphinx field about a name that is not in the signature, such as a key of `**kwargs`; it does not belong
    /// to the entry before it.
    fn other_field(&mut self, line: &Line<'a>) -> bool {
        (self.open, self.section) = (None, Section::Prose);
        self.prose.push(line.text);
        true
    }

    /// Reads a line that begins with the name of a parameter.
    fn parameter(&mut self, line: &Line<'a>) -> bool {
        let is_inside = matches!(self.section, Section::Parameters(_) | Section::Underlined(_));
        let Some((name, entry)) = self.entry(line, is_inside) else { return false };
        // Outside of a section only `name (type): text` is certain to be about a parameter.
        if (!is_inside && entry.kind.is_none()) || self.parameters.contains_key(&name) {
            return false;
        }
        if matches!(self.section, Section::Result(_)) {
            return false;
        }
        self.parameters.insert(name.clone(), entry);
        self.open = Some((name, line.indent));
        true
    }

    fn entry(&self, line: &Line<'_>, is_inside: bool) -> Option<(String, DocstringEntry)> {
        let text = unbulleted(line.text);
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '`')))
            .unwrap_or(text.len());
        let name = self.known(&text[..end])?;
        let rest = text[end..].trim_start();
        let is_underlined = matches!(self.section, Section::Underlined(_)) && is_inside;
        let entry = if let Some(inner) = rest.strip_prefix('(') {
            in_brackets(inner)?
        } else if let Some(rest) = rest.strip_prefix(':') {
            if is_underlined { typed(rest) } else { listed(rest).unwrap_or_else(|| plain(rest)) }
        } else if let Some(rest) = rest.strip_prefix(',') {
            listed(rest)?
        } else if let Some(rest) = dashed(rest) {
            plain(rest)
        } else if is_underlined && rest.is_empty() {
            DocstringEntry::default()
        } else {
            return None;
        };
        Some((name, entry))
    }

    /// Returns the parameter with that name, which may be spelled differently: `x-key` for `x_key`.
    fn known(&self, written: &str) -> Option<String> {
        self.names.get(&folded(written)).map(|found| (*found).to_owned())
    }

    fn finish(self) -> Docstring {
        // A docstring about only the result describes the function by it.
        let joined = |lines: &[&str]| lines.join("\n").trim().to_owned();
        let prose = joined(&self.prose);
        let description = if prose.is_empty() { joined(&self.result) } else { prose };
        Docstring { description: without_gaps(&description), parameters: self.parameters }
    }
}

/// Returns a name without marks, and with underscores for hyphens.
fn folded(name: &str) -> String {
    name.trim_matches(['*', '`']).replace('-', "_")
}

/// Reduces several empty lines to one.
fn without_gaps(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
    lines.join("\n")
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '='))
}

fn unbulleted(text: &str) -> &str {
    ["- ", "* ", "• "].iter().find_map(|bullet| text.strip_prefix(bullet)).unwrap_or(text).trim_start()
}

/// Returns the text after a dash of any length.
fn dashed(text: &str) -> Option<&str> {
    ["- ", "– ", "— "].iter().find_map(|dash| text.strip_prefix(dash))
}

/// Returns true if a line begins like an entry of a parameter, known or not.
fn looks_like_entry(text: &str) -> bool {
    let bare = unbulleted(text);
    let end =
        bare.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '*'))).unwrap_or(bare.len());
    let rest = bare[end..].trim_start();
    bare.len() < text.len()
        || (end > 0 && (rest.starts_with(':') || (rest.starts_with('(') && rest.contains("):"))))
}

/// Reads `type, optional): text`.
fn in_brackets(inner: &str) -> Option<DocstringEntry> {
    let mut depth = 1_usize;
    let close = inner.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let rest = inner[close + 1..].trim_start();
    let text = rest.strip_prefix(':').or_else(|| dashed(rest)).or_else(|| rest.is_empty().then_some(""))?;
    let mut entry = typed(&inner[..close]);
    text.trim().clone_into(&mut entry.text);
    entry.whole = format!("({}): {}", &inner[..close], text.trim());
    Some(entry)
}

/// Reads `type, optional` or `type, default: 3`, as after the colon in `NumPy`'s style.
fn typed(text: &str) -> DocstringEntry {
    let mut entry = DocstringEntry { whole: text.trim().to_owned(), ..DocstringEntry::default() };
    let mut kinds: Vec<&str> = Vec::new();
    for part in text.split(", ").map(|part| part.trim().trim_end_matches(',')) {
        match part.to_ascii_lowercase().as_str() {
            "optional" => entry.optional = Some(true),
            "required" => entry.optional = Some(false),
            // The default is in the signature.
            lower if lower.starts_with("default") && !kinds.is_empty() => {}
            _ => kinds.push(part),
        }
    }
    let kind = kinds.join(", ");
    entry.kind = (!kind.is_empty()).then_some(kind);
    entry
}

/// Reads `type, required, text`.
fn listed(text: &str) -> Option<DocstringEntry> {
    let mut parts = text.splitn(3, ',').map(str::trim);
    let (kind, mark) = (parts.next()?, parts.next()?.to_ascii_lowercase());
    if !["required", "optional"].contains(&mark.as_str()) || kind.is_empty() {
        return None;
    }
    Some(DocstringEntry {
        kind: Some(kind.to_owned()),
        optional: Some(mark == "optional"),
        text: parts.next().unwrap_or_default().to_owned(),
        whole: text.trim().to_owned(),
    })
}

fn plain(text: &str) -> DocstringEntry {
    DocstringEntry {
        text: text.trim().to_owned(),
        whole: text.trim().to_owned(),
        ..DocstringEntry::default()
    }
}
