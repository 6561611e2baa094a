//! A text during parsing, with intermediate results that several parsers use.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use super::fault::{ParseFault, ParseFaultKind};
use super::step::ParseStep;
use super::trail::{MAX_REPEATED, Trail};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::loose::{Loose, Stop};
use callsieve_notation::json::marks::{is_blank, plain_mark};
use callsieve_notation::json::outline::Outline;
use callsieve_notation::json::strict::NotStrict;
use callsieve_notation::repeated::Repeated;

/// The maximum number of nested envelopes and strings.
const MAX_LAYERS: usize = 6;

/// One text in the parser chain.
pub(super) struct Layer<'t> {
    pub(super) text: &'t str,
    /// The offset in the text as sent, if this text is a part of it.
    base: Option<usize>,
    /// Whether a newline or other content follows.
    pub(super) is_ended: bool,
    /// The number of further layers allowed.
    below: usize,
    /// The memory allowance for the values of the whole text.
    pub(super) allowance: &'t Allowance,
    outline: OnceCell<Outline>,
    /// The reason for which the text is not strict JSON.
    pub(super) not_strict: Cell<Option<NotStrict>>,
    /// The result of the tolerant reader.
    pub(super) loose: Cell<Option<Result<Loose, Stop>>>,
    /// The place where the tolerant reader stopped.
    pub(super) stop: Cell<Option<Stop>>,
}

impl<'t> Layer<'t> {
    /// Creates the layer of the text as sent.
    pub(super) fn new(text: &'t str, allowance: &'t Allowance) -> Self {
        Self::at(text, Some(0), false, MAX_LAYERS, allowance)
    }

    fn at(
        text: &'t str,
        base: Option<usize>,
        is_ended: bool,
        below: usize,
        allowance: &'t Allowance,
    ) -> Self {
        Self {
            text,
            base,
            is_ended,
            below,
            allowance,
            outline: OnceCell::new(),
            not_strict: Cell::new(None),
            loose: Cell::new(None),
            stop: Cell::new(None),
        }
    }

    /// Returns the text without a byte-order mark and surrounding whitespace.
    pub(super) fn without_margins(&self, trail: &mut Trail) -> Self {
        let inner = self.text.trim_start_matches(is_blank);
        let start = self.text.len() - inner.len();
        if self.text[..start].contains('\u{feff}') && !trail.steps.contains(&ParseStep::ByteOrderMark) {
            trail.step(ParseStep::ByteOrderMark);
        }
        let text = inner.trim_end_matches(is_blank);
        let is_ended = self.is_ended || inner[text.len()..].contains(['\n', '\r']);
        Self::at(text, self.place(start), is_ended, self.below, self.allowance)
    }

    /// Returns a part of this text as the next layer.
    pub(super) fn slice(&self, range: Range<usize>) -> Result<Self, ParseFault> {
        let is_ended = self.is_ended || !self.text[range.end..].trim_matches(is_blank).is_empty();
        let text = &self.text[range.clone()];
        Ok(Self::at(text, self.place(range.start), is_ended, self.next_depth()?, self.allowance))
    }

    /// Returns text decoded from this one as the next layer.
    pub(super) fn inner<'i>(&'i self, text: &'i str) -> Result<Layer<'i>, ParseFault> {
        if !self.allowance.take(text.len()) {
            return Err(self.too_large());
        }
        Ok(Layer::at(text, None, false, self.next_depth()?, self.allowance))
    }

    fn next_depth(&self) -> Result<usize, ParseFault> {
        let too_deep = || {
            self.fail(ParseFaultKind::TooDeep, 0, format!("more than {MAX_LAYERS} layers around the value"))
        };
        self.below.checked_sub(1).ok_or_else(too_deep)
    }

    /// Returns the fault that the values would take more memory than any list of functions.
    pub(super) fn too_large(&self) -> ParseFault {
        self.fail(ParseFaultKind::TooLarge, 0, "the text has more values than a list of functions could")
    }

    pub(super) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(self.text))
    }

    /// Converts a byte offset in this text to one in the text as sent.
    pub(super) fn place(&self, at: usize) -> Option<usize> {
        self.base.map(|base| base + at)
    }

    pub(super) fn fail(&self, kind: ParseFaultKind, at: usize, message: impl Into<String>) -> ParseFault {
        ParseFault { kind, at: self.place(at), message: message.into() }
    }

    /// Returns a fault of this text with its place in the text as sent.
    pub(super) fn placed(&self, fault: ParseFault) -> ParseFault {
        ParseFault { at: fault.at.and_then(|at| self.place(at)), ..fault }
    }

    /// Records the keys that occur twice in this text.
    pub(super) fn note_repeated(&self, repeated: &[Repeated], trail: &mut Trail) {
        for Repeated { key, at } in repeated.iter().take(MAX_REPEATED) {
            trail.fault(ParseFault { at: self.place(*at), ..ParseFault::repeated(key) });
        }
    }

    /// Returns true if the text begins like a value, a comment or a string.
    pub(super) fn begins_like_a_value(&self) -> bool {
        const CALLS: [&str; 7] =
            ["dict(", "OrderedDict(", "collections.OrderedDict(", "list(", "tuple(", "set(", "frozenset("];
        let first = self.text.chars().next().map(plain_mark);
        first.is_some_and(|c| "[{(\"'`#/“”„«‘’＂＇".contains(c))
            || CALLS.iter().any(|call| self.text.starts_with(call))
    }

    /// Returns true if the text ends before its brackets do or, as JSON, before its value does.
    pub(super) fn is_cut(&self) -> bool {
        let not_strict = self.not_strict.get();
        self.outline().left_open.is_some() || not_strict.is_some_and(|error| error.is_at_end(self.text))
    }

    /// Returns the place and reason at which the reader that came furthest stopped.
    pub(super) fn stopped_at(&self) -> (usize, String) {
        let stop = self.stop.take();
        let strict = self.not_strict.get();
        let (at, message) = match (&stop, strict) {
            (Some(stop), _) => (stop.at, stop.message.clone()),
            (None, Some(strict)) => (strict.at, format!("expected {}", strict.expected)),
            (None, None) => (0, "expected a value".to_owned()),
        };
        self.stop.set(stop);
        (at, message)
    }

    /// Returns the reason for which no parser could read the text.
    pub(super) fn unread(&self) -> ParseFault {
        if !self.begins_like_a_value() {
            return self.shapeless();
        }
        if self.is_cut() {
            let message = "the text ends before its brackets or strings do";
            return self.fail(ParseFaultKind::Truncated, self.text.len(), message);
        }
        if let Some(at) = self.outline().ellipsis {
            return self.fail(ParseFaultKind::Abbreviated, at, "\"...\" replaces a value");
        }
        let (at, message) = self.stopped_at();
        self.fail(ParseFaultKind::NotJson, at, message)
    }

    /// Classifies a text that does not begin like a value.
    fn shapeless(&self) -> ParseFault {
        let fault = if self.text.chars().all(|c| c.is_control() || c.is_whitespace()) {
            ParseFaultKind::ControlCharacters
        } else if is_source_code(self.text) {
            ParseFaultKind::SourceCode
        } else if self.text.starts_with('<') {
            ParseFaultKind::Html
        } else {
            ParseFaultKind::NotJson
        };
        let beginning: String = self.text.chars().take(24).collect();
        self.fail(fault, 0, format!("the text begins with {beginning:?}"))
    }
}

/// Returns true if one of the first lines opens a definition, as in source and not in prose.
pub(super) fn is_source_code(text: &str) -> bool {
    const MAX_LINES: usize = 20;
    const OPENINGS: [&str; 6] = ["def ", "async def ", "class ", "function ", "async function ", "@"];
    let is_code = |line: &str| {
        line.starts_with("<func_start>")
            || line.starts_with("import ")
            || (line.starts_with("from ") && line.contains(" import "))
            || (OPENINGS.iter().any(|opening| line.starts_with(opening)) && line.contains(['(', ':', '{']))
    };
    text.lines().take(MAX_LINES).any(|line| is_code(line.trim_start()))
}
