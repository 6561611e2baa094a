//! A reader of XML without a document type, as strict as expat: what expat refuses is an error here.
//!
//! Names outside of ASCII follow the fifth edition of XML 1.0, expat's the fourth.

use std::borrow::Cow;
use std::collections::HashSet;

use super::names;
use crate::decode::DecodeError;

const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// Declared namespaces at one place. Each prefix is looked up among them.
const MAX_NAMESPACES: usize = 1000;

/// A part of a document. Comments and processing instructions are skipped.
pub(super) enum Event<'t> {
    /// An element begins.
    Open {
        /// The name; `None` if it is in a namespace.
        name: Option<&'t str>,
        /// The attributes outside of namespaces.
        attributes: Vec<(String, String)>,
    },
    /// The last open element ends.
    Close,
    /// Text, or a part of it.
    Text(Cow<'t, str>),
}

/// Reads a document that begins with its root element.
pub(super) struct XmlReader<'t> {
    text: &'t str,
    at: usize,
    /// Names of the open elements.
    open: Vec<&'t str>,
    /// Prefixes with their namespaces, and the number of open elements where they were declared.
    namespaces: Vec<(usize, &'t str, String)>,
    /// The last element has no content: its end is the next event.
    is_empty: bool,
}

impl<'t> XmlReader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, open: Vec::new(), namespaces: Vec::new(), is_empty: false }
    }

    /// Returns the next part; `None` after the root element.
    pub(super) fn next(&mut self) -> Result<Option<Event<'t>>, DecodeError> {
        loop {
            if std::mem::take(&mut self.is_empty) {
                return Ok(Some(self.closed()));
            }
            if self.open.is_empty() && self.at > 0 {
                return if self.rest().is_empty() {
                    Ok(None)
                } else {
                    Err(self.malformed("text after the root"))
                };
            }
            if self.take("<!--") {
                let comment = self.until("--")?;
                characters(comment).ok_or_else(|| self.malformed("a character"))?;
                self.expect(">")?;
            } else if self.take("<![CDATA[") {
                let text = self.until("]]>")?;
                return Ok(Some(Event::Text(characters(text).ok_or_else(|| self.malformed("a character"))?)));
            } else if self.take("<?") {
                self.instruction()?;
            } else if self.take("</") {
                let name = self.name()?;
                if self.open.last() != Some(&name) {
                    return Err(self.malformed("another element is open"));
                }
                self.skip_spaces();
                self.expect(">")?;
                return Ok(Some(self.closed()));
            } else if self.take("<") {
                return self.opened().map(Some);
            } else if self.take("&") {
                return self.reference().map(|char| Some(Event::Text(Cow::Owned(char.to_string()))));
            } else {
                let rest = self.rest();
                let text = &rest[..rest.find(['<', '&']).unwrap_or(rest.len())];
                if text.is_empty() || text.contains("]]>") {
                    return Err(self.malformed("the document does not end, or ]]> in a text"));
                }
                self.at += text.len();
                return Ok(Some(Event::Text(characters(text).ok_or_else(|| self.malformed("a character"))?)));
            }
        }
    }

    fn malformed(&self, fault: &str) -> DecodeError {
        DecodeError::new("ParseError", format!("not well-formed at byte {}: {fault}", self.at))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), DecodeError> {
        if self.take(token) { Ok(()) } else { Err(self.malformed("an unexpected character")) }
    }

    /// Returns the text before a token, and skips both.
    fn until(&mut self, token: &str) -> Result<&'t str, DecodeError> {
        let rest = self.rest();
        let end = rest.find(token).ok_or_else(|| self.malformed("the document ends"))?;
        self.at += end + token.len();
        Ok(&rest[..end])
    }

    /// Skips spaces, and returns whether there is one.
    fn skip_spaces(&mut self) -> bool {
        let rest = self.rest();
        let n = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += n;
        n > 0
    }

    /// Reads a name, with a prefix or without.
    fn name(&mut self) -> Result<&'t str, DecodeError> {
        let rest = self.rest();
        let name = &rest[..rest.find(|char| !names::is_part(char)).unwrap_or(rest.len())];
        let mut parts = name.split(':');
        let is_part = |part: Option<&str>| part.is_some_and(|part| part.starts_with(names::is_start));
        let fits = is_part(parts.next())
            && parts.next().is_none_or(|part| is_part(Some(part)))
            && parts.next().is_none();
        if !fits {
            return Err(self.malformed("no name"));
        }
        self.at += name.len();
        Ok(name)
    }

    fn instruction(&mut self) -> Result<(), DecodeError> {
        let target = self.name()?;
        if target.eq_ignore_ascii_case("xml") {
            return Err(self.malformed("a declaration inside of the document"));
        }
        if !self.skip_spaces() {
            return self.expect("?>");
        }
        let text = self.until("?>")?;
        characters(text).map(|_| ()).ok_or_else(|| self.malformed("a character"))
    }

    fn closed(&mut self) -> Event<'t> {
        self.open.pop();
        let depth = self.open.len();
        while self.namespaces.last().is_some_and(|(declared, _, _)| *declared > depth) {
            self.namespaces.pop();
        }
        Event::Close
    }

    fn opened(&mut self) -> Result<Event<'t>, DecodeError> {
        let name = self.name()?;
        self.open.push(name);
        let mut written: Vec<(&'t str, String)> = Vec::new();
        let mut names = HashSet::new();
        loop {
            let has_space = self.skip_spaces();
            if self.take("/>") {
                self.is_empty = true;
                break;
            }
            if self.take(">") {
                break;
            }
            if !has_space {
                return Err(self.malformed("no space before an attribute"));
            }
            let attribute = self.name()?;
            if !names.insert(attribute) {
                return Err(self.malformed("an attribute twice"));
            }
            self.skip_spaces();
            self.expect("=")?;
            self.skip_spaces();
            let value = self.attribute_value()?;
            written.push((attribute, value));
        }
        for (attribute, value) in &written {
            self.declare(attribute, value)?;
        }
        let mut attributes = Vec::with_capacity(written.len());
        let mut in_namespaces: HashSet<(String, &str)> = HashSet::new();
        for (attribute, value) in written {
            match attribute.split_once(':') {
                Some(("xmlns", _)) => {}
                Some((prefix, local)) => {
                    if !in_namespaces.insert((self.namespace(prefix)?.to_owned(), local)) {
                        return Err(self.malformed("an attribute twice"));
                    }
                }
                None if attribute == "xmlns" => {}
                None => attributes.push((attribute.to_owned(), value)),
            }
        }
        let name = match name.split_once(':') {
            Some((prefix, _)) => self.namespace(prefix).map(|_| None)?,
            None if self.namespace("").is_ok_and(|namespace| !namespace.is_empty()) => None,
            None => Some(name),
        };
        Ok(Event::Open { name, attributes })
    }

    /// Notes a namespace, if an attribute declares one.
    fn declare(&mut self, attribute: &'t str, value: &str) -> Result<(), DecodeError> {
        let prefix = match attribute.split_once(':') {
            None if attribute == "xmlns" => "",
            Some(("xmlns", prefix)) => prefix,
            _ => return Ok(()),
        };
        let is_xml = (prefix == "xml") == (value == XML_NAMESPACE);
        let is_empty = !prefix.is_empty() && value.is_empty();
        if !is_xml || is_empty || prefix == "xmlns" || value == XMLNS_NAMESPACE || value.contains('}') {
            return Err(self.malformed("a namespace that may not be declared"));
        }
        if self.namespaces.len() == MAX_NAMESPACES {
            return Err(self.malformed("too many namespaces"));
        }
        self.namespaces.push((self.open.len(), prefix, value.to_owned()));
        Ok(())
    }

    fn namespace(&self, prefix: &str) -> Result<&str, DecodeError> {
        let declared = self.namespaces.iter().rev().find(|(_, known, _)| *known == prefix);
        match declared {
            Some((_, _, namespace)) => Ok(namespace),
            None if prefix == "xml" => Ok(XML_NAMESPACE),
            None => Err(self.malformed("a prefix that is not declared")),
        }
    }

    /// Reads a value in quotes, with spaces for line feeds and tabs.
    fn attribute_value(&mut self) -> Result<String, DecodeError> {
        let quote = if self.take("\"") { '"' } else { '\'' };
        if quote == '\'' {
            self.expect("'")?;
        }
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find([quote, '&', '<']).ok_or_else(|| self.malformed("the document ends"))?;
            let part = characters(&rest[..end]).ok_or_else(|| self.malformed("a character"))?;
            value.push_str(&part.replace(['\n', '\t'], " "));
            self.at += end;
            if self.take("&") {
                value.push(self.reference()?);
            } else if self.take("<") {
                return Err(self.malformed("< in an attribute"));
            } else {
                self.at += 1;
                return Ok(value);
            }
        }
    }

    /// Reads a reference after its `&`.
    fn reference(&mut self) -> Result<char, DecodeError> {
        let name = self.rest().split_once(';').map(|(name, _)| name).filter(|name| name.len() < 16);
        let char = name.and_then(|name| match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number(name),
        });
        let (Some(name), Some(char)) = (name, char) else { return Err(self.malformed("no reference")) };
        self.at += name.len() + 1;
        Ok(char)
    }
}

/// Returns the character of a reference `#233` or `#xe9`.
fn number(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let (digits, radix) = digits.strip_prefix('x').map_or((digits, 10), |digits| (digits, 16));
    let digits = digits.trim_start_matches('0');
    let is_number = digits.chars().all(|char| char.is_digit(radix));
    let char = is_number.then(|| u32::from_str_radix(digits, radix).ok()).flatten().and_then(char::from_u32);
    char.filter(|char| is_char(*char))
}

/// Returns a text with line feeds for all ends of lines; `None` if a character may not be in XML.
fn characters(text: &str) -> Option<Cow<'_, str>> {
    if !text.chars().all(is_char) {
        return None;
    }
    Some(if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    })
}

fn is_char(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r') || (char >= ' ' && !matches!(char, '\u{fffe}' | '\u{ffff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_well_formed(text: &str) -> bool {
        let mut reader = XmlReader::new(text);
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    #[test]
    fn documents_are_as_well_formed_as_for_expat() {
        for text in [
            "<a>x<!-- c -->y<?p q?>z<b/>w</a>",
            "<a b = '1&#10;>' />",
            "<a>]]&gt;<![CDATA[x]]]]></a>",
            "<a>\u{7f}\u{1fffe}&#x1F600;</a>",
            "<a><b xmlns:p='u' p:c='1' c='2' xml:space='x'><p:d/></b ></a>",
            "<a><b xmlns=''/><é.-_1/><b·/></a>",
            "<a><!----><?xmlx ?><?p?></a>",
        ] {
            assert!(is_well_formed(text), "{text}");
        }
        for text in [
            "<a>]]></a>",
            "<a b='<'/>",
            "<a b='1'c='2'/>",
            "<a b='1' b='2'/>",
            "<a>&nope;</a>",
            "<a>&#0;</a>",
            "<a>&#xFFFE;</a>",
            "<a>\u{1}</a>",
            "<a><!-- -- --></a>",
            "<a><!-- a---></a>",
            "<a><?xml ?></a>",
            "<a><?XML ?></a>",
            "<a><? p?></a>",
            "<a><p:b/></a>",
            "<a><b xmlns:p=''/></a>",
            "<a><-b/></a>",
            "<a>< b/></a>",
            "<a><b / ></a>",
            "<a></b></a>",
            "<a><b\u{feff}c/></a>",
            "<a><b:c:d/></a>",
            "<a><!DOCTYPE x></a>",
            "<a><b c/></a>",
            "<a><b c=1/></a>",
            "<a>&lt </a>",
            "<a>& </a>",
            "<a>&#32</a>",
            "<a>&#X20;</a>",
            "<a><![cdata[x]]></a>",
            "<a><b xmlns:p='u' xmlns:q='u' p:c='1' q:c='2'/></a>",
            "<a><:b/></a>",
            "<a><b:/></a>",
            "<a><b>",
            "<a/>x",
            "<a><b/>",
            "<a><p:b xmlns:p='u'/><p:b/></a>",
        ] {
            assert!(!is_well_formed(text), "{text}");
        }
    }
}
