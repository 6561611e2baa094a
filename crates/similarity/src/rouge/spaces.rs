//! Spaces of sequences in which texts are compared.
//!
//! A space has the sequences of one tokenizer. A *plain* text is compared with plain texts in the
//! first space; a *wide* text, which needs the Unicode tokenizer, is compared with all texts in
//! the second.

use super::index::Index;
use super::prepared::Prepared;
use super::texts::Texts;
use super::widths::Row;
use callsieve_system::Cancelled;
use callsieve_text::rouge::Threshold;

/// The tokenizer that a text needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// The first tokenizer.
    Plain,
    /// The Unicode tokenizer.
    Wide,
}

impl TextKind {
    pub(super) const ALL: [Self; 2] = [Self::Plain, Self::Wide];
}

/// Texts with the data for the bounds, in each space.
pub struct Spaces<'t> {
    first: Prepared<'t>,
    unicode: Option<(Prepared<'t>, &'t [bool])>,
}

impl<'t> Spaces<'t> {
    /// Prepares texts; returns `None` if cancelled.
    pub fn new(texts: &'t Texts, threshold: Threshold, cancelled: Cancelled<'_>) -> Option<Self> {
        let first = Prepared::new(&texts.first, threshold, cancelled)?;
        let unicode = match &texts.unicode {
            Some(unicode) => {
                Some((Prepared::new(&unicode.tokens, threshold, cancelled)?, &unicode.is_needed[..]))
            }
            None => None,
        };
        Some(Self { first, unicode })
    }

    pub(super) fn kind(&self, row: Row) -> TextKind {
        match self.unicode {
            Some((_, is_needed)) if is_needed[row as usize] => TextKind::Wide,
            _ => TextKind::Plain,
        }
    }

    /// Returns the indices of the rows of a kind.
    pub(super) fn of_kind(&self, kind: TextKind, rows: &[Row]) -> Vec<usize> {
        (0..rows.len()).filter(|&at| self.kind(rows[at]) == kind).collect()
    }

    /// Returns the number of tokens of a text in the space that it needs.
    pub(super) fn n_tokens(&self, row: Row) -> usize {
        match (&self.unicode, self.kind(row)) {
            (Some((unicode, _)), TextKind::Wide) => unicode.n_tokens(row),
            _ => self.first.n_tokens(row),
        }
    }
}

/// Indexes of some texts in all spaces in which other texts search for them.
pub(super) struct Layout<'s> {
    spaces: &'s Spaces<'s>,
    plain: Index<'s>,
    unicode: Option<InUnicode<'s>>,
}

/// The indexes in the second space.
struct InUnicode<'s> {
    /// Plain texts, which wide texts search.
    plain: Index<'s>,
    /// Wide texts, which all texts search.
    wide: Index<'s>,
}

impl<'s> Layout<'s> {
    /// Returns empty indexes.
    pub(super) fn new(spaces: &'s Spaces<'s>) -> Self {
        let unicode = spaces.unicode.as_ref();
        let unicode =
            unicode.map(|(unicode, _)| InUnicode { plain: Index::new(unicode), wide: Index::new(unicode) });
        Self { spaces, plain: Index::new(&spaces.first), unicode }
    }

    /// Builds the indexes of some texts; returns `None` if cancelled.
    pub(super) fn of(spaces: &'s Spaces<'s>, rows: &[Row], cancelled: Cancelled<'_>) -> Option<Self> {
        let of_kind =
            |kind| -> Vec<Row> { rows.iter().copied().filter(|&row| spaces.kind(row) == kind).collect() };
        let unicode = match &spaces.unicode {
            Some((unicode, _)) => Some(InUnicode {
                plain: Index::of(unicode, of_kind(TextKind::Plain), cancelled)?,
                wide: Index::of(unicode, of_kind(TextKind::Wide), cancelled)?,
            }),
            None => None,
        };
        Some(Self { spaces, plain: Index::of(&spaces.first, of_kind(TextKind::Plain), cancelled)?, unicode })
    }

    /// Adds a text.
    pub(super) fn push(&mut self, row: Row) {
        match (self.spaces.kind(row), &mut self.unicode) {
            (TextKind::Plain, None) => self.plain.push(row),
            (TextKind::Plain, Some(unicode)) => {
                self.plain.push(row);
                unicode.plain.push(row);
            }
            (TextKind::Wide, unicode) => unicode.iter_mut().for_each(|unicode| unicode.wide.push(row)),
        }
    }

    /// Returns the indexes that a text of a kind searches; each other text is in one of them.
    pub(super) fn indexes(&self, kind: TextKind) -> impl Iterator<Item = &Index<'s>> {
        let unicode = self.unicode.as_ref();
        let plain = match kind {
            TextKind::Plain => Some(&self.plain),
            TextKind::Wide => unicode.map(|unicode| &unicode.plain),
        };
        plain.into_iter().chain(unicode.map(|unicode| &unicode.wide))
    }

    /// Returns all indexed texts, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        let wide = self.unicode.iter().flat_map(|unicode| unicode.wide.rows());
        self.plain.rows().iter().chain(wide).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.plain.rows().len() + self.unicode.as_ref().map_or(0, |unicode| unicode.wide.rows().len())
    }
}
