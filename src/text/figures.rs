//! Numbers and tables for people, as plain text.

use std::borrow::Cow;

use indicatif::HumanCount;

use super::visible::visible_line;

/// A number with thousands set apart.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things, with the word for one of them or for several.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A table: columns padded to their widest cell; those in `numbers` stand to the right. Each row is one line.
pub fn table(header: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let header: Vec<Cow<'_, str>> = header.iter().map(|cell| visible_line(cell)).collect();
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| visible_line(cell)).collect()).collect();
    let width = |at: usize| {
        rows.iter().map(|row| row[at].chars().count()).chain([header[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[Cow<'_, str>]| {
        let mut text = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[at] - cell.chars().count());
            let gap = if at == 0 { "" } else { "  " };
            text += &if numbers.contains(&at) {
                format!("{gap}{pad}{cell}")
            } else {
                format!("{gap}{cell}{pad}")
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line(&header);
    text += &rows.iter().map(|row| line(row)).collect::<String>();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_table_is_one_line_as_wide_as_it_looks() {
        let rows = [vec!["a\nb".to_owned(), "1".to_owned()], vec!["\u{202e}".to_owned(), "22".to_owned()]];
        assert_eq!(table(&["x\r", "n"], &rows, &[1]), "x\\r        n\na\\nb       1\n\\u{202e}  22\n");
    }
}
