//! Tables and paragraphs as wide as the screen.
//!
//! A table that is too wide takes the excess from its flexible columns, the widest first: some wrap between words, others
//! are shortened. Words such as reason codes stay whole as long as the table has room, and break after punctuation.
//! Numbers, names and ids are never shortened. Off a terminal nothing is shortened, since a program or a
//! file may need the whole cell; see [`Screen`] for the width there.

use unicode_width::UnicodeWidthStr;

use super::console::{Paint, Painted, Screen};
use crate::text::visible::visible_line;

/// Space between two columns.
const GAP: usize = 2;
/// A flexible column becomes no narrower than this, whatever the screen.
const MIN_WIDTH: usize = 16;
/// Longer lines of prose are hard to read on any screen.
const MAX_PROSE: usize = 100;

/// What happens to the cells of a column that is too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Nothing.
    Whole,
    /// They wrap between words.
    Wrap,
    /// On a terminal they lose their end.
    CutEnd,
    /// On a terminal they lose their start.
    CutStart,
}

/// What the columns that wrap keep whole, as long as the table fits the screen.
#[derive(Debug, Clone, Copy)]
enum Keeps {
    /// Words, in columns that are wide enough to read.
    Prose,
    /// Words.
    Words,
    /// Parts of words up to separators; on a terminal not even these.
    Parts,
}

/// A column of a [`Table`].
#[derive(Debug, Clone)]
pub(super) struct Column {
    header: String,
    is_number: bool,
    fit: Fit,
}

impl Column {
    fn new(header: &str, is_number: bool, fit: Fit) -> Self {
        Self { header: visible_line(header).into_owned(), is_number, fit }
    }

    /// Names and words that stay whole, aligned to the left.
    pub(super) fn text(header: &str) -> Self {
        Self::new(header, false, Fit::Whole)
    }

    /// Numbers, aligned to the right.
    pub(super) fn number(header: &str) -> Self {
        Self::new(header, true, Fit::Whole)
    }

    /// Prose and lists, which wrap between words.
    pub(super) fn wrapped(header: &str) -> Self {
        Self::new(header, false, Fit::Wrap)
    }

    /// Values whose start matters most.
    pub(super) fn value(header: &str) -> Self {
        Self::new(header, false, Fit::CutEnd)
    }

    /// Paths, whose end matters most.
    pub(super) fn path(header: &str) -> Self {
        Self::new(header, false, Fit::CutStart)
    }
}

/// A cell of a [`Table`], or a piece of a paragraph that does not wrap.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    paint: Paint,
    text: String,
}

impl Cell {
    /// A text with the look of what it means.
    pub(super) fn new(paint: Paint, text: &str) -> Self {
        Self { paint, text: visible_line(text).into_owned() }
    }

    /// Its words as cells with the same look.
    pub(super) fn split_words(self) -> Vec<Self> {
        self.text.split(' ').map(|word| Self { paint: self.paint, text: word.to_owned() }).collect()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(Paint::Plain, text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

/// Rows below a header.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column; columns without a cell are empty in it.
    pub(super) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        row.resize_with(self.columns.len(), || "".into());
        self.rows.push(row);
    }

    /// Whether it has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether no line of it is wider than the screen.
    pub(super) fn fits(&self, screen: Screen) -> bool {
        self.widths(screen).iter().sum::<usize>() + self.gaps() <= screen.width
    }

    fn gaps(&self) -> usize {
        GAP * self.columns.len().saturating_sub(1)
    }

    /// The table on a screen: the header and the rows, each of one line or more.
    pub(super) fn fitted(&self, screen: Screen) -> Painted {
        let mut text = Painted::default();
        self.rows_fitted(screen).for_each(|row| text.append(row));
        text
    }

    /// The header, then each row by itself.
    pub(super) fn rows_fitted(&self, screen: Screen) -> impl Iterator<Item = Painted> {
        let widths = self.widths(screen);
        let heads =
            self.columns.iter().map(|column| Cell { paint: Paint::Heading, text: column.header.clone() });
        let heads: Vec<Cell> = heads.collect();
        std::iter::once(heads).chain(self.rows.iter().cloned()).map(move |row| self.row_fitted(&row, &widths))
    }

    /// The width of each column, so that all fit as far as they can.
    fn widths(&self, screen: Screen) -> Vec<usize> {
        let cells = |at: usize| self.rows.iter().map(move |row| row[at].text.as_str());
        let natural = |(at, column): (usize, &Column)| {
            cells(at).map(UnicodeWidthStr::width).max().unwrap_or(0).max(column.header.width())
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(natural).collect();
        for keeps in [Keeps::Prose, Keeps::Words, Keeps::Parts] {
            let least = |(at, column): (usize, &Column)| match column.fit {
                Fit::Whole => usize::MAX,
                Fit::CutEnd | Fit::CutStart if !screen.is_terminal => usize::MAX,
                Fit::CutEnd | Fit::CutStart => column.header.width().max(MIN_WIDTH),
                Fit::Wrap => {
                    let longest = match keeps {
                        Keeps::Prose => longest_word(cells(at)).max(MIN_WIDTH),
                        Keeps::Words => longest_word(cells(at)),
                        Keeps::Parts if screen.is_terminal => longest_part(cells(at)).min(MIN_WIDTH),
                        Keeps::Parts => longest_part(cells(at)),
                    };
                    longest.max(column.header.width())
                }
            };
            let least: Vec<usize> = self.columns.iter().enumerate().map(least).collect();
            while widths.iter().sum::<usize>() + self.gaps() > screen.width {
                let flexible = (0..widths.len()).filter(|&at| widths[at] > least[at]);
                let Some(widest) = flexible.max_by_key(|&at| widths[at]) else { break };
                widths[widest] -= 1;
            }
        }
        widths
    }

    fn row_fitted(&self, row: &[Cell], widths: &[usize]) -> Painted {
        let lines_of = |((cell, column), &width): ((&Cell, &Column), &usize)| match column.fit {
            Fit::Wrap => wrapped(&cell.text, width),
            Fit::CutEnd => vec![without_end(&cell.text, width)],
            Fit::CutStart => vec![without_start(&cell.text, width)],
            Fit::Whole => vec![cell.text.clone()],
        };
        let lines: Vec<Vec<String>> = row.iter().zip(&self.columns).zip(widths).map(lines_of).collect();
        let n_lines = lines.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = Painted::default();
        for nth in 0..n_lines {
            // Blanks wait for the next text, so that no line ends with any.
            let mut blanks = 0;
            for (at, column) in self.columns.iter().enumerate() {
                let part = lines[at].get(nth).map_or("", String::as_str);
                let pad = widths[at].saturating_sub(part.width());
                blanks += if at == 0 { 0 } else { GAP } + if column.is_number { pad } else { 0 };
                if !part.is_empty() {
                    text.add(Paint::Plain, &" ".repeat(std::mem::take(&mut blanks)));
                    text.add(row[at].paint, part);
                }
                blanks += if column.is_number { 0 } else { pad };
            }
            text.add(Paint::Plain, "\n");
        }
        text
    }
}

fn longest_word<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.flat_map(|text| text.split(' ').map(UnicodeWidthStr::width)).max().unwrap_or(0)
}

/// Width of the longest part of a word up to a separator.
fn longest_part<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.flat_map(|text| text.split_inclusive(is_break).map(UnicodeWidthStr::width)).max().unwrap_or(0)
}

/// Whether a long word may break after this character.
fn is_break(c: char) -> bool {
    matches!(c, ' ' | ',' | ';' | '/' | ':' | '-' | '_' | '.')
}

/// Cuts a text into lines between words. A word wider than a line is cut after a separator if it has one there.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            word.clone_into(line);
        } else if line.width() + 1 + word.width() <= width {
            *line += " ";
            *line += word;
        } else {
            lines.push(word.to_owned());
        }
        while let Some((start, rest)) = lines.last().and_then(|line| cut_at(line, width)) {
            lines.pop();
            lines.extend([start, rest]);
        }
    }
    lines
}

/// The part of a text that fits a width, up to a separator if it has one, and the rest; `None` if all of it fits.
fn cut_at(text: &str, width: usize) -> Option<(String, String)> {
    if text.width() <= width {
        return None;
    }
    let mut used = 0;
    let fitting = text.char_indices().take_while(|(_, c)| {
        used += c.to_string().width();
        used <= width
    });
    // At least one character, however narrow the column is.
    let first = text.chars().next().map_or(0, char::len_utf8);
    let end = fitting.last().map_or(first, |(at, c)| at + c.len_utf8());
    if end >= text.len() {
        return None;
    }
    let at = text[..end].char_indices().rfind(|(_, c)| is_break(*c)).map_or(end, |(at, c)| at + c.len_utf8());
    let (start, rest) = text.split_at(at);
    Some((start.to_owned(), rest.to_owned()))
}

/// The start of a text that is too wide.
fn without_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut start = String::new();
    for c in text.chars() {
        if start.width() + c.to_string().width() + 1 > width {
            break;
        }
        start.push(c);
    }
    start + "…"
}

/// The end of a text that is too wide.
fn without_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let reversed: String = text.chars().rev().collect();
    without_end(&reversed, width).chars().rev().collect()
}

/// A label and pieces of text, wrapped between the pieces; all lines of the text start at the column `indent`.
pub(super) fn paragraph(name: &str, indent: usize, pieces: &[Cell], screen: Screen) -> Painted {
    labelled(&name.into(), indent, pieces, screen)
}

/// A [`paragraph`] whose label has its own colour.
pub(super) fn labelled(label: &Cell, indent: usize, pieces: &[Cell], screen: Screen) -> Painted {
    let width = screen.width.min(MAX_PROSE);
    let mut text = Painted::default();
    let mut used = label.text.width();
    text.add(label.paint, &label.text);
    let room = if screen.is_terminal { width.saturating_sub(indent).max(MIN_WIDTH) } else { usize::MAX };
    let pieces = pieces.iter().flat_map(|piece| parts(piece, room));
    for (nth, piece) in pieces.enumerate() {
        let piece_width = piece.text.width();
        if nth > 0 && used + 1 + piece_width > width {
            text.add(Paint::Plain, "\n");
            used = 0;
        }
        let blanks = if used < indent { indent - used } else { usize::from(used > indent) };
        text.add(Paint::Plain, &" ".repeat(blanks));
        text.add(piece.paint, &piece.text);
        used += blanks + piece_width;
    }
    text.add(Paint::Plain, "\n");
    text
}

/// The parts of a piece that is wider than a line, such as JSON: broken after punctuation if there is any.
fn parts(piece: &Cell, room: usize) -> Vec<Cell> {
    let mut parts = Vec::new();
    let mut rest = piece.text.as_str();
    while rest.width() > room {
        let mut used = 0;
        let fitting = rest.char_indices().take_while(|(_, c)| {
            used += c.to_string().width();
            used <= room
        });
        let end = fitting.last().map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let at = rest[..end].rfind([',', ';', '/', ':']).map_or(end, |at| at + 1);
        let (part, later) = rest.split_at(at);
        parts.push(Cell::new(piece.paint, part));
        rest = later;
    }
    parts.push(Cell::new(piece.paint, rest));
    parts
}

/// The words of a text as pieces of a paragraph; a number and its `%` stay together, and so does a short command in
/// backticks.
pub(super) fn words(text: &str) -> Vec<Cell> {
    const MAX_COMMAND: usize = 60;
    words_and_commands(text, MAX_COMMAND)
}

/// The [`words`] of a text, in which commands in backticks of up to this width are not wrapped, so that they can be copied.
pub(super) fn words_and_commands(text: &str, max_command: usize) -> Vec<Cell> {
    let is_kept = |nth: usize, part: &str| nth % 2 == 1 && part.width() <= max_command;
    let part = |(nth, part): (usize, &str)| {
        if is_kept(nth, part) { part.replace(' ', "\u{a0}") } else { part.to_owned() }
    };
    let kept: Vec<String> = text.split('`').enumerate().map(part).collect();
    let kept = kept.join("`").replace(" %", "\u{a0}%");
    kept.split(' ').map(|word| word.replace('\u{a0}', " ").into()).collect()
}

/// Adds lines of a patch with their colours; on a terminal long ones wrap after their mark.
pub(super) fn add_changes(text: &mut Painted, lines: &str, screen: Screen) {
    for line in lines.lines() {
        if !screen.is_terminal || line.width() <= screen.width {
            text.add_changes(line);
            continue;
        }
        let paint = Paint::of_change(line);
        let indent = line.len() - line.trim_start().len();
        let (mark, rest) = match line.trim().split_once(' ') {
            Some((mark, rest)) if mark.len() == 1 => (mark, rest),
            _ => ("", line.trim()),
        };
        let label = Cell { paint, text: format!("{:indent$}{mark}", "") };
        let hanging = if mark.is_empty() { indent } else { indent + 2 };
        text.append(labelled(&label, hanging, &Cell::new(paint, rest).split_words(), screen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_wider_than_a_line_is_broken_on_a_terminal_after_punctuation() {
        let word = r#"[{"ring":{"bell":["noon"],"times":["",1]}}]"#;
        let of = |is_terminal| paragraph("call", 6, &words(word), Screen { width: 26, is_terminal }).plain();
        assert_eq!(of(true), "call  [{\"ring\":{\"bell\":\n      [\"noon\"],\"times\":\n      [\"\",1]}}]\n");
        assert_eq!(of(false), format!("call  {word}\n"));
        let unbroken =
            paragraph("", 0, &words(&"é".repeat(40)), Screen { width: 26, is_terminal: true }).plain();
        assert_eq!(unbroken.lines().map(|line| line.chars().count()).collect::<Vec<_>>(), [26, 14]);
    }

    fn shown(table: &Table, width: usize, is_terminal: bool) -> String {
        table.fitted(Screen { width, is_terminal }).plain()
    }

    fn table(columns: impl Into<Vec<Column>>, rows: &[&[&str]]) -> Table {
        let mut table = Table::new(columns);
        for row in rows {
            table.row(row.iter().copied());
        }
        table
    }

    #[test]
    fn cells_wrap_where_the_screen_is_narrow_and_numbers_stay_on_the_right() {
        let columns = [Column::text("step"), Column::wrapped("what"), Column::number("n")];
        let table = table(
            columns,
            &[&["parse", "docs that somebody or something can read", "1,204"], &["a", "b", "7"]],
        );
        assert_eq!(
            shown(&table, 80, true),
            "step   what                                          n\n\
             parse  docs that somebody or something can read  1,204\n\
             a      b                                             7\n"
        );
        assert_eq!(
            shown(&table, 36, true),
            "step   what                        n\n\
             parse  docs that somebody or   1,204\n       something can read\n\
             a      b                           7\n"
        );
    }

    #[test]
    fn values_and_paths_are_shortened_on_a_terminal_only() {
        let columns = [Column::value("value"), Column::path("path")];
        let table = table(columns, &[&["\"a value of some length\"", "/home/somebody/logs/march.jsonl"]]);
        let whole = "\"a value of some length\"  /home/somebody/logs/march.jsonl\n";
        assert!(shown(&table, 40, false).ends_with(whole));
        let cut = shown(&table, 40, true);
        assert!(cut.ends_with("\"a value of some l…  …y/logs/march.jsonl\n"), "{cut}");
        assert!(cut.lines().all(|line| line.width() <= 40), "{cut}");
    }

    #[test]
    fn a_word_wider_than_its_column_is_cut_on_a_terminal() {
        assert_eq!(wrapped("ab abcdefgh i", 4), ["ab", "abcd", "efgh", "i"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("漢字漢字 x", 4), ["漢字", "漢字", "x"]);
    }

    #[test]
    fn a_paragraph_wraps_between_its_pieces() {
        let screen = Screen { width: 24, is_terminal: true };
        let pieces = ["436", "= 232 exported", "+ 59 held"].map(Cell::from);
        assert_eq!(
            paragraph("rows", 6, &pieces, screen).plain(),
            "rows  436 = 232 exported\n      + 59 held\n"
        );
        assert_eq!(paragraph("hint:", 6, &words("53.2 % of it"), screen).plain(), "hint: 53.2 % of it\n");
        let wrapped = paragraph("hint:", 6, &words("try to run `tool one two`"), screen).plain();
        assert_eq!(wrapped, "hint: try to run\n      `tool one two`\n");
    }

    #[test]
    fn codes_stay_whole_while_the_table_has_room_and_then_break_after_punctuation() {
        let columns = [Column::wrapped("stage"), Column::wrapped("reason"), Column::wrapped("what")];
        let row = ["merge-near-queries", "cascade/no-request-left", "drop of doc lists"];
        let table = table(columns, &[&row]);
        for is_terminal in [true, false] {
            let of = |width| shown(&table, width, is_terminal).lines().skip(1).collect::<Vec<_>>().join("|");
            assert_eq!(
                of(54),
                "merge-near-queries  cascade/no-request-left  drop of|                                             doc lists"
            );
            assert!(of(40).starts_with("merge-near-"), "{}", of(40));
        }
        assert_eq!(wrapped("cascade/no-request-left", 16), ["cascade/no-", "request-left"]);
    }
}
