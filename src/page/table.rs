//! Tables of pages.
//!
//! A table is in a box of its own, which scrolls sideways where the table is too wide. A table without rows is left out.

use maud::{Markup, html};

/// A column: its heading, and how its cells are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    class: Option<&'static str>,
}

impl Column {
    /// Short texts.
    pub(crate) const fn text(heading: &'static str) -> Self {
        Self { heading, class: None }
    }

    /// Numbers, to the right.
    pub(crate) const fn number(heading: &'static str) -> Self {
        Self { heading, class: Some("n") }
    }

    /// Names, which are not broken.
    pub(crate) const fn key(heading: &'static str) -> Self {
        Self { heading, class: Some("key") }
    }

    /// Texts of a few words.
    pub(crate) const fn phrase(heading: &'static str) -> Self {
        Self { heading, class: Some("mid") }
    }

    /// Sentences and quotes.
    pub(crate) const fn prose(heading: &'static str) -> Self {
        Self { heading, class: Some("wide") }
    }
}

/// A table as wide as the page; narrow screens show a row as a block, and each cell with its heading.
pub(crate) fn wide(columns: &[Column], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    table("scroll rows", columns, rows)
}

/// A table of a few short columns, which stays a table on narrow screens.
pub(crate) fn small(columns: &[Column], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    table("scroll small", columns, rows)
}

fn table(class: &str, columns: &[Column], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
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
                                td class=[column.class] data-label=(column.heading) { (cell) }
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
    fn a_table_without_rows_is_left_out() {
        assert_eq!(wide(&[Column::text("a")], []).into_string(), "");
    }

    #[test]
    fn a_cell_has_the_class_and_the_heading_of_its_column() {
        let columns = [Column::text("a & b"), Column::number("n")];
        let table = small(&columns, [vec![html! { ("<") }, html! { (1) }]]).into_string();
        let header = "<thead><tr><th>a &amp; b</th><th class=\"n\">n</th></tr></thead>";
        let row = "<tr><td data-label=\"a &amp; b\">&lt;</td><td class=\"n\" data-label=\"n\">1</td></tr>";
        let shown =
            format!("<div class=\"scroll small\"><table>{header}<tbody>{row}\n</tbody></table></div>\n");
        assert_eq!(table, shown);
    }
}
