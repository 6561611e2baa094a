//! Tables in pages.
//!
//! Each table is in a box that scrolls horizontally if the table is too wide. A table without rows is omitted.

use maud::{Markup, html};

/// A column whose heading is part of the program.
pub type Column = NamedColumn<'static>;

/// A column: its heading, which can be a name of the data, and the layout of its cells.
#[derive(Debug, Clone, Copy)]
pub struct NamedColumn<'n> {
    heading: &'n str,
    class: Option<&'static str>,
}

impl<'n> NamedColumn<'n> {
    /// Returns a column of short texts.
    pub const fn text(heading: &'n str) -> Self {
        Self { heading, class: None }
    }

    /// Returns a column of numbers, aligned right.
    pub const fn number(heading: &'n str) -> Self {
        Self { heading, class: Some("n") }
    }

    /// Returns a column of names, which do not wrap.
    pub const fn key(heading: &'n str) -> Self {
        Self { heading, class: Some("key") }
    }

    /// Returns a column of phrases.
    pub const fn phrase(heading: &'n str) -> Self {
        Self { heading, class: Some("mid") }
    }

    /// Returns a column of sentences and quotes.
    pub const fn prose(heading: &'n str) -> Self {
        Self { heading, class: Some("wide") }
    }
}

/// Returns a table of the width of the page; narrow screens show each row as a block, with a heading for each cell.
pub fn wide(columns: &[NamedColumn<'_>], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    table("scroll rows", true, columns, rows)
}

/// Returns a table of a few short columns, which also is a table on narrow screens.
pub fn small(columns: &[NamedColumn<'_>], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    table("scroll small", false, columns, rows)
}

/// Returns the table behind a figure: a [`small`] one that can be scrolled with the keyboard.
pub(crate) fn behind(columns: &[NamedColumn<'_>], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    html! { div.behind tabindex="0" role="group" aria-label="Table" { (small(columns, rows)) } }
}

/// Returns a wide table whose rows the script of a page can filter: by any text, and by the values of these columns.
///
/// Headings are separated by commas in the page, so none of `choices` may contain one.
pub fn filtered(
    choices: &[&str],
    columns: &[NamedColumn<'_>],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    html! { div data-filter=(choices.join(",")) { (wide(columns, rows)) } }
}

fn table(
    class: &str,
    has_labels: bool,
    columns: &[NamedColumn<'_>],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return Markup::default();
    }
    html! {
        div class=(class) {
            table {
                thead { tr { @for column in columns { th class=[column.class] { (column.heading) } } } }
                tbody {
                    @for cells in rows {
                        tr {
                            @for (column, cell) in columns.iter().zip(cells) {
                                td class=[column.class] data-label=[has_labels.then_some(column.heading)] { (cell) }
                            }
                        }
                        "\n"
                    }
                }
            }
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_rows_is_omitted() {
        assert_eq!(wide(&[Column::text("a")], []).into_string(), "");
    }

    #[test]
    fn a_filtered_table_names_the_columns_to_choose_from() {
        let table = filtered(&["stage", "reason"], &[Column::text("stage")], [vec![html! { "a" }]]);
        assert!(
            table.into_string().starts_with("<div data-filter=\"stage,reason\"><div class=\"scroll rows\">")
        );
    }

    #[test]
    fn a_cell_has_the_class_and_the_heading_of_its_column() {
        let columns = [Column::text("a & b"), Column::number("n")];
        let table = wide(&columns, [vec![html! { ("<") }, html! { (1) }]]).into_string();
        let header = "<thead><tr><th>a &amp; b</th><th class=\"n\">n</th></tr></thead>";
        let row = "<tr><td data-label=\"a &amp; b\">&lt;</td><td class=\"n\" data-label=\"n\">1</td></tr>";
        let shown =
            format!("<div class=\"scroll rows\"><table>{header}<tbody>{row}\n</tbody></table></div>\n");
        assert_eq!(table, shown);
    }
}
