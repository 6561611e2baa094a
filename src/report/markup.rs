//! Markup that text cannot break out of: tags are literals of the program, and all else is escaped on its way in.
//!
//! A template engine would do the same with a compiler plugin; the page is tables, and this is what they need.

use std::fmt::{Display, Write as _};

use crate::text::visible::visible;

/// A piece of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Html(String);

impl Html {
    /// The page as text.
    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Text, escaped for content and for attributes; what is not seen is written out.
pub(super) fn text(text: impl Display) -> Html {
    let mut html = String::new();
    for c in visible(&text.to_string()).chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            c => html.push(c),
        }
    }
    Html(html)
}

/// Markup that stands in the program.
pub(super) fn raw(html: &'static str) -> Html {
    Html(html.to_owned())
}

/// Pieces one after the other.
pub(super) fn all(pieces: impl IntoIterator<Item = Html>) -> Html {
    Html(pieces.into_iter().map(|piece| piece.0).collect())
}

/// An element; `tag` is its name with its attributes, as it is opened.
pub(super) fn tag(tag: &'static str, inside: Html) -> Html {
    let name = tag.split(' ').next().unwrap_or_default();
    let mut html = inside.0;
    html.insert_str(0, &format!("<{tag}>"));
    html.push_str(&format!("</{name}>"));
    Html(html)
}

/// An element of plain text.
pub(super) fn said(in_tag: &'static str, what: impl Display) -> Html {
    tag(in_tag, text(what))
}

/// A bar of so many percent.
pub(super) fn bar(class: &'static str, percent: f64) -> Html {
    let mut html = String::new();
    let _ = write!(html, "<span class=\"bar {class}\" style=\"width:{percent:.2}%\"></span>");
    Html(html)
}

/// A column of a table: its heading and the class of its cells.
pub(super) type Column = (&'static str, &'static str);

/// A table in a box of its own, which scrolls sideways where it is too wide; nothing for no rows.
pub(super) fn table(
    class: &'static str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<Html>>,
) -> Html {
    let class_of = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    // Narrow screens show a row as a block, and each cell with its heading.
    let cell = |&(heading, class): &Column, inside: Html| {
        let (class, heading) = (class_of(class), text(heading).0);
        Html(format!("<td{class} data-label=\"{heading}\">{}</td>", inside.0))
    };
    let rows: Vec<Html> = rows
        .into_iter()
        .map(|cells| {
            let cells = columns.iter().zip(cells).map(|(column, inside)| cell(column, inside));
            tag("tr", all(cells)).then("\n")
        })
        .collect();
    if rows.is_empty() {
        return Html::default();
    }
    let header = columns
        .iter()
        .map(|(heading, class)| Html(format!("<th{}>{}</th>", class_of(class), text(heading).0)));
    let header = tag("thead", tag("tr", all(header)));
    let table = tag("table", all([header, tag("tbody", all(rows))]));
    Html(format!("<div class=\"scroll {class}\">{}</div>\n", table.0))
}

impl Html {
    fn then(mut self, end: &'static str) -> Self {
        self.0 += end;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_in_content_and_in_attributes() {
        let html = said("p class=\"x\"", "<script>alert('1')</script> & \"2\"").into_string();
        assert_eq!(
            html,
            "<p class=\"x\">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;2&quot;</p>"
        );
    }

    #[test]
    fn a_table_without_rows_is_left_out() {
        assert_eq!(table("", &[("a", "")], []), Html::default());
        let one = table("small", &[("a", ""), ("n", "n")], [vec![text("<"), text(1)]]).into_string();
        assert_eq!(one.matches("<td").count(), 2);
        assert!(one.contains("<td class=\"n\" data-label=\"n\">1</td>"), "{one}");
        assert!(one.contains("<td data-label=\"a\">&lt;</td>"), "{one}");
    }
}
