//! HTML pages: the document and shared elements.
//!
//! A page is one self-contained file without scripts, fonts and images; the content security policy in its head forbids
//! them, too. It fits screens of 400 to 1,400 pixels, light and dark. Templates use `maud`, which escapes every text,
//! so markup in a query has no effect. Only the style is not escaped; `tests/it/layers.rs` refuses `PreEscaped` in any
//! other file. Pass text to attributes, never `Markup`, because `maud` does not escape markup there. Tables are in
//! [`table`]; the content of a page is in the module that writes it, such as `report::html`.

pub mod table;

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use callsieve_text::figures::count;
use callsieve_text::visible::visible;

/// The style of all pages: the only text that is not escaped, because it is a file of this program.
const STYLE: PreEscaped<&str> = PreEscaped(include_str!("style.css"));

/// The content security policy: no scripts and no external resources; the style is in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns a complete page with these sections.
pub fn document(title: &str, sections: impl IntoIterator<Item = Markup>) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8"; "\n"
                meta http-equiv="Content-Security-Policy" content=(POLICY); "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                title { (title) } "\n"
                style { "\n" (STYLE) }
            }
            body { main { @for section in sections { section { (section) } "\n" } } }
        }
        "\n"
    };
    with_hidden_characters_shown(&page.into_string())
}

/// Escapes the invisible characters of a page, such as those that change the direction of a line.
///
/// Applied once to the whole page, so that no template can forget it. Each text is processed separately, because its
/// neighbours decide whether a character is visible: `maud` writes `>` and `"` in texts as entities, so these
/// characters always end a tag or delimit an attribute.
fn with_hidden_characters_shown(page: &str) -> String {
    page.split_inclusive(['>', '"']).map(visible).collect()
}

/// Returns an element for code or for a name in the program or the data.
pub fn code(text: &str) -> Markup {
    html! { code { (text) } }
}

/// Returns a count with its thousands apart.
pub fn number(n: u64) -> Markup {
    html! { (count(n)) }
}

/// Returns an element for less important text.
pub fn soft(text: impl Render) -> Markup {
    html! { span.soft { (text) } }
}

/// Returns an element for a good or bad result.
pub fn judged(is_good: bool, word: &str) -> Markup {
    html! { span class=(if is_good { "good" } else { "bad" }) { (word) } }
}

/// Returns a box with a figure and its description.
pub fn tile(figure: &str, what: &str) -> Markup {
    html! { div.tile { b { (figure) } (soft(what)) } }
}

/// The colour of a bar.
#[derive(Debug, Clone, Copy)]
pub enum Hue {
    /// Blue.
    Blue,
    /// Orange.
    Orange,
    /// Grey.
    Grey,
}

/// Returns a bar with this percentage between its name and its figure; the track is empty for `None`. Put bars that are
/// compared into one `div.bars`.
pub fn bar(hue: Hue, name: &str, percent: Option<f64>, figure: &str) -> Markup {
    let class = match hue {
        Hue::Blue => "bar a",
        Hue::Orange => "bar b",
        Hue::Grey => "bar c",
    };
    html! {
        (soft(name))
        span.track {
            @if let Some(percent) = percent { span class=(class) style=(format!("width:{percent:.2}%")) {} }
        }
        span.num { (figure) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_in_content_attributes_and_the_title() {
        let text = "<script>alert('1')</script> & \"2\"";
        let shown = "&lt;script&gt;alert('1')&lt;/script&gt; &amp; &quot;2&quot;";
        let page = document(text, [html! { p title=(text) { (text) } }, code(text), judged(true, text)]);
        assert!(page.contains(&format!("<title>{shown}</title>")), "{page}");
        assert!(page.contains(&format!("<section><p title=\"{shown}\">{shown}</p></section>")), "{page}");
        assert!(page.contains(&format!("<code>{shown}</code>")), "{page}");
        assert!(page.contains(&format!("<span class=\"good\">{shown}</span>")), "{page}");
    }

    #[test]
    fn invisible_characters_are_escaped_anywhere_in_a_text() {
        // A variation selector after a letter selects its form; at the start of a text it would change the tag.
        let page =
            document("", [html! { p title="\u{fe0f}" { "\u{fe0f}a\u{202e}" b { "\u{200d}♥\u{fe0f}" } } }]);
        let shown = "<p title=\"\\u{fe0f}\">\\u{fe0f}a\\u{202e}<b>\\u{200d}♥\u{fe0f}</b></p>";
        assert!(page.contains(shown), "{page}");
    }

    #[test]
    fn a_page_loads_nothing_and_declares_its_encoding_first() {
        let page = document("t", []);
        let encoding = page.find("<meta charset=\"utf-8\">").unwrap();
        assert!(encoding < 1024 && page.starts_with("<!DOCTYPE html>\n"), "{page}");
        let policy =
            page.find("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';").unwrap();
        assert!(policy < page.find("<style>").unwrap(), "{page}");
        for loads in ["<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import", "@font-face"]
        {
            assert!(!page.contains(loads), "{loads}");
        }
    }

    #[test]
    fn a_bar_without_a_percentage_has_an_empty_track() {
        let bars = |percent| bar(Hue::Grey, "<n>", percent, "1").into_string();
        let full = "<span class=\"soft\">&lt;n&gt;</span><span class=\"track\"><span class=\"bar c\" \
                    style=\"width:12.50%\"></span></span><span class=\"num\">1</span>";
        assert_eq!(bars(Some(12.5)), full);
        assert!(bars(None).contains("<span class=\"track\"></span>"), "{}", bars(None));
    }
}
