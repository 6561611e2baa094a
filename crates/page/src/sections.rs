//! Sections of a page: their headings, the list of contents, folded parts.

use maud::{Markup, Render, html};

/// Returns the list of contents, of the id and the title of each [`section`].
pub fn contents(sections: &[(&str, &str)]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul { @for (id, title) in sections { li { a href=(format!("#{id}")) { (title) } } } }
        }
        "\n"
    }
}

/// Returns the content of a section of [`crate::document`]: a heading that links can have as their target, and a body.
pub fn section(id: &str, title: &str, body: impl Render) -> Markup {
    html! { h2 id=(id) { (title) } (body) }
}

/// Returns a body that is folded below its summary.
pub fn fold(summary: &str, body: impl Render) -> Markup {
    html! { details { summary { (summary) } (body) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_contents_point_at_their_sections() {
        let list = contents(&[("a", "First & last"), ("b", "\"B\"")]).into_string();
        assert!(list.contains("<li><a href=\"#a\">First &amp; last</a></li>"), "{list}");
        let section = section("a", "First & last", html! { p { "<" } }).into_string();
        assert_eq!(section, "<h2 id=\"a\">First &amp; last</h2><p>&lt;</p>");
    }

    #[test]
    fn a_folded_body_has_a_summary() {
        let folded = fold("<b>", html! { p {} }).into_string();
        assert_eq!(folded, "<details><summary>&lt;b&gt;</summary><p></p></details>");
    }
}
