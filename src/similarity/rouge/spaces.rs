//! Which sequences of a text are held against which of another.
//!
//! A space holds the sequences of one tokenizer. A *plain* text meets plain texts in the
//! first space; a *wide* one, which needs the Unicode tokenizer, meets all texts in the
//! second, and plain texts meet it there.

use super::index::Index;
use super::prepared::Prepared;
use super::texts::Texts;
use super::widths::Row;
use crate::engine::context::Cancelled;
use crate::text::rouge::Threshold;

/// What a text needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but the first tokenizer.
    Plain,
    /// The Unicode tokenizer.
    Wide,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Plain, Self::Wide];
}

/// Texts with what the bounds look at, in each space they are compared in.
pub(in crate::similarity) struct Spaces<'t> {
    first: Prepared<'t>,
    unicode: Option<(Prepared<'t>, &'t [bool])>,
}

impl<'t> Spaces<'t> {
    /// Nothing where it was called off.
    pub(in crate::similarity) fn new(
        texts: &'t Texts,
        threshold: Threshold,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let first = Prepared::new(&texts.first, threshold, cancelled)?;
        let unicode = match &texts.unicode {
            Some(unicode) => {
                Some((Prepared::new(&unicode.tokens, threshold, cancelled)?, &unicode.is_needed[..]))
            }
            None => None,
        };
        Some(Self { first, unicode })
    }

    pub(super) fn kind(&self, row: Row) -> Kind {
        match self.unicode {
            Some((_, is_needed)) if is_needed[row as usize] => Kind::Wide,
            _ => Kind::Plain,
        }
    }

    /// The places of some rows by what they need.
    pub(super) fn of_kind(&self, kind: Kind, rows: &[Row]) -> Vec<usize> {
        (0..rows.len()).filter(|&at| self.kind(rows[at]) == kind).collect()
    }

    /// The tokens of a text in the space that it needs.
    pub(super) fn n_tokens(&self, row: Row) -> usize {
        match (&self.unicode, self.kind(row)) {
            (Some((unicode, _)), Kind::Wide) => unicode.n_tokens(row),
            _ => self.first.n_tokens(row),
        }
    }
}

/// Some texts, laid out in each space in which others look for them.
pub(super) struct Layout<'s> {
    spaces: &'s Spaces<'s>,
    plain: Index<'s>,
    unicode: Option<InUnicode<'s>>,
}

/// What is looked for in the second space.
struct InUnicode<'s> {
    /// Plain texts, for wide ones.
    plain: Index<'s>,
    /// Wide texts, for all.
    wide: Index<'s>,
}

impl<'s> Layout<'s> {
    /// No texts yet.
    pub(super) fn new(spaces: &'s Spaces<'s>) -> Self {
        let unicode = spaces.unicode.as_ref();
        let unicode =
            unicode.map(|(unicode, _)| InUnicode { plain: Index::new(unicode), wide: Index::new(unicode) });
        Self { spaces, plain: Index::new(&spaces.first), unicode }
    }

    /// Nothing where it was called off.
    pub(super) fn of(spaces: &'s Spaces<'s>, rows: &[Row], cancelled: Cancelled<'_>) -> Option<Self> {
        let of_kind =
            |kind| -> Vec<Row> { rows.iter().copied().filter(|&row| spaces.kind(row) == kind).collect() };
        let unicode = match &spaces.unicode {
            Some((unicode, _)) => Some(InUnicode {
                plain: Index::of(unicode, of_kind(Kind::Plain), cancelled)?,
                wide: Index::of(unicode, of_kind(Kind::Wide), cancelled)?,
            }),
            None => None,
        };
        Some(Self { spaces, plain: Index::of(&spaces.first, of_kind(Kind::Plain), cancelled)?, unicode })
    }

    /// Adds a text.
    pub(super) fn push(&mut self, row: Row) {
        match (self.spaces.kind(row), &mut self.unicode) {
            (Kind::Plain, None) => self.plain.push(row),
            (Kind::Plain, Some(unicode)) => {
                self.plain.push(row);
                unicode.plain.push(row);
            }
            (Kind::Wide, unicode) => unicode.iter_mut().for_each(|unicode| unicode.wide.push(row)),
        }
    }

    /// Where a text of a kind looks: each other text is in one of these.
    pub(super) fn indexes(&self, kind: Kind) -> impl Iterator<Item = &Index<'s>> {
        let unicode = self.unicode.as_ref();
        let plain = match kind {
            Kind::Plain => Some(&self.plain),
            Kind::Wide => unicode.map(|unicode| &unicode.plain),
        };
        plain.into_iter().chain(unicode.map(|unicode| &unicode.wide))
    }

    /// All texts laid out, in no order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        let wide = self.unicode.iter().flat_map(|unicode| unicode.wide.rows());
        self.plain.rows().iter().chain(wide).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.plain.rows().len() + self.unicode.as_ref().map_or(0, |unicode| unicode.wide.rows().len())
    }
}
