//! Values that a call has in several arguments: `"area": "415", "exchange": "736", "line": "2291"`, or one letter each.
//!
//! A single short argument is no piece. Arguments that together are all of a value, or a number without its country code,
//! are.

use std::sync::LazyLock;

use regex::Regex;

use super::words::{Group, letters};
use super::{LEAST_LETTERS, LeafOf, OriginalPart, Search};
use crate::FoundValue;
use crate::walk::Place;

/// Minimum number of digits of a number without its beginning.
const LEAST_DIGITS: usize = 7;
/// Maximum number of letters of an argument, and of arguments of a call that are compared.
const MAX_LETTERS: usize = 64;
const MAX_TILES: usize = 512;
/// Maximum number of comparisons for one call.
const MAX_STEPS: usize = 200_000;

/// An argument without values.
struct Tile {
    leaf: usize,
    start: usize,
    end: usize,
    letters: Vec<char>,
}

/// A row of tiles: each with the first letter of the value that it covers.
type Row = Vec<(usize, usize)>;

/// Adds the pieces of values that are spread over the arguments of a call.
pub(super) fn find(search: &Search<'_>, leaves: &mut [LeafOf]) {
    let mut first = 0;
    while first < leaves.len() {
        let place = leaves[first].place;
        // The names of arguments are between them.
        let is_of_call = |leaf: &&LeafOf| leaf.place == place || leaf.place == Place::Name;
        let last = first + leaves[first..].iter().take_while(is_of_call).count();
        let mut tiles: Vec<Tile> = match place {
            Place::Argument(_) => (first..last)
                .filter(|&at| leaves[at].place == place)
                .filter_map(|at| whole(at, &leaves[at]))
                .collect(),
            Place::Answer => (first..last).flat_map(|at| literals(at, &leaves[at])).collect(),
            Place::Question | Place::Reply | Place::Name => Vec::new(),
        };
        tiles.truncate(MAX_TILES);
        if tiles.len() > 1 {
            lay(search, &tiles, leaves);
        }
        first = last;
    }
}

fn whole(at: usize, leaf: &LeafOf) -> Option<Tile> {
    leaf.found.is_empty().then(|| tile(at, 0, leaf.text.len(), &leaf.text)).flatten()
}

fn tile(leaf: usize, start: usize, end: usize, text: &str) -> Option<Tile> {
    if text.len() > 4 * MAX_LETTERS {
        return None;
    }
    let letters = letters(text);
    (1..=MAX_LETTERS).contains(&letters.len()).then_some(Tile { leaf, start, end, letters })
}

/// Returns the strings and numbers in the notation of a call.
fn literals(at: usize, leaf: &LeafOf) -> Vec<Tile> {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#""([^"\\]{1,256})"|'([^'\\]{1,256})'|[=:,\[(]\s*([0-9]{1,19})(?-u:\b)"#)
            .expect("a valid pattern")
    });
    let is_free =
        |start: usize, end: usize| leaf.found.iter().all(|value| value.end <= start || end <= value.start);
    LITERAL
        .captures_iter(&leaf.text)
        .filter_map(|found| found.get(1).or(found.get(2)).or(found.get(3)))
        .take(MAX_TILES)
        .filter(|found| is_free(found.start(), found.end()))
        .filter_map(|found| tile(at, found.start(), found.end(), found.as_str()))
        .collect()
}

fn lay(search: &Search<'_>, tiles: &[Tile], leaves: &mut [LeafOf]) {
    let mut is_laid = vec![false; tiles.len()];
    let mut steps = 0;
    for first in 0..tiles.len() {
        if is_laid[first] {
            continue;
        }
        let parts = search.index.parts(&tiles[first].letters).filter(is_beginning);
        let rows = parts.filter_map(|part| {
            let mut row: Row = vec![(first, part.from)];
            let is_covered = cover(&part, part.to, tiles, &mut row, &mut steps) && row.len() > 1;
            is_covered.then_some((part, row))
        });
        // The longest first: all of a number rather than its end.
        let longest = rows.max_by_key(|(part, _)| part.original.letters.len() - part.from);
        let Some((OriginalPart { original, .. }, row)) = longest else { continue };
        // Numbers that the user writes one by one are numbers of their own.
        let text = |at: usize| &leaves[tiles[at].leaf].text[tiles[at].start..tiles[at].end];
        if row.iter().all(|&(at, _)| search.is_own(text(at))) {
            continue;
        }
        for (at, from) in row {
            if std::mem::replace(&mut is_laid[at], true) {
                continue;
            }
            let tile = &tiles[at];
            let part = OriginalPart { original, from, to: from + tile.letters.len() };
            let leaf = &mut leaves[tile.leaf];
            let value = piece(&part, tile, &leaf.text);
            leaf.found.push(value);
            leaf.found.sort_by_key(|value| value.start);
        }
    }
}

/// Returns true if all of a value, or a number without its country code, begins here.
fn is_beginning(part: &OriginalPart<'_>) -> bool {
    if part.original.is_extended() {
        return false;
    }
    let rest = part.original.letters.len() - part.from;
    let is_number = part.original.letters.iter().all(char::is_ascii_digit);
    let is_all = part.from == 0 && (rest >= LEAST_LETTERS || part.original.is_of_octets());
    is_all || (is_number && rest >= LEAST_DIGITS && part.original.has_border(part.from))
}

/// Lays tiles from letter `from` to the end of the value.
fn cover(part: &OriginalPart<'_>, from: usize, tiles: &[Tile], row: &mut Row, steps: &mut usize) -> bool {
    let rest = &part.original.letters[from..];
    if rest.is_empty() {
        return true;
    }
    // Those after the last one first, as most calls have them in order.
    let last = row.last().map_or(0, |(at, _)| *at);
    for at in (last + 1..tiles.len()).chain(0..last) {
        let tile = &tiles[at];
        *steps += 1;
        if *steps > MAX_STEPS {
            return false;
        }
        if !rest.starts_with(&tile.letters) || row.iter().any(|(other, _)| *other == at) {
            continue;
        }
        row.push((at, from));
        if cover(part, from + tile.letters.len(), tiles, row, steps) {
            return true;
        }
        row.pop();
    }
    false
}

fn piece(part: &OriginalPart<'_>, tile: &Tile, text: &str) -> FoundValue {
    let text = &text[tile.start..tile.end];
    let mut group = Group::default();
    super::words::each(text, |start, end| group.push(start, end));
    (group.start, group.end) = (0, text.len());
    part.found(tile.start, tile.end, part.replacement(&group, text))
}
