//! HTML pages: the shell, and the small pieces that pages share.
//!
//! A page is one file that needs nothing else: no script, no font and no picture from anywhere, and the policy in its
//! head forbids them too. It fits screens of 400 to 1,400 pixels, light and dark. Templates are written with `maud`,
//! which escapes every text, so a query that contains markup is shown and does nothing. Only the style is not escaped;
//! `tests/layers.rs` refuses `PreEscaped` in any other file. An attribute takes text, never `Markup`: `maud` does not
//! escape markup there. Tables are in [`table`]; what a page is about is in the module that writes it, as
//! `report::html`.

pub(crate) mod table;

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use crate::text::visible::visible;

/// The style of all pages: the only text that is not escaped, as it is a file of this program.
const STYLE: PreEscaped<&str> = PreEscaped(include_str!("style.css"));

/// Nothing is loaded and nothing runs; the style is in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A whole page, of sections one below the other.
pub(crate) fn document(title: &str, sections: impl IntoIterator<Item = Markup>) -> String {
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

/// The page with escapes for the characters that nobody sees, such as those that turn the direction of a line.
///
/// Done once for the whole page, so no template can forget it. Each text is looked at by itself, because a character
/// may be seen or not by its neighbours: `maud` writes `>` and `"` in texts as entities, so either one ends a tag or is
/// the edge of an attribute.
fn with_hidden_characters_shown(page: &str) -> String {
    page.split_inclusive(['>', '"']).map(visible).collect()
}

/// Code, or a name of the program or the data.
pub(crate) fn code(text: &str) -> Markup {
    html! { code { (text) } }
}

/// A text of less weight.
pub(crate) fn soft(text: impl Render) -> Markup {
    html! { span.soft { (text) } }
}

/// A word that is good or bad news.
pub(crate) fn judged(is_good: bool, word: &str) -> Markup {
    html! { span class=(if is_good { "good" } else { "bad" }) { (word) } }
}

/// A figure in a box, with what it counts.
pub(crate) fn tile(figure: &str, what: &str) -> Markup {
    html! { div.tile { b { (figure) } (soft(what)) } }
}

/// The colour of a bar.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hue {
    Blue,
    Orange,
    Grey,
}

/// A bar of so many percent on its track, between its name and its figure; nothing on the track for `None`. It belongs
/// into `div.bars`, with those it is compared with.
pub(crate) fn bar(hue: Hue, name: &str, percent: Option<f64>, figure: &str) -> Markup {
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

/// The tags of a page with their attributes, in order, for tests: two pages of one template have the same tags, whatever
/// texts they show, unless a text got a tag or an attribute into its page.
#[cfg(test)]
pub(crate) fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|tag| tag.split_once('>').map_or(tag, |(tag, _)| tag)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_in_content_in_attributes_and_in_the_title() {
        let text = "<script>alert('1')</script> & \"2\"";
        let shown = "&lt;script&gt;alert('1')&lt;/script&gt; &amp; &quot;2&quot;";
        let page = document(text, [html! { p title=(text) { (text) } }, code(text), judged(true, text)]);
        assert!(page.contains(&format!("<title>{shown}</title>")), "{page}");
        assert!(page.contains(&format!("<section><p title=\"{shown}\">{shown}</p></section>")), "{page}");
        assert!(page.contains(&format!("<code>{shown}</code>")), "{page}");
        assert!(page.contains(&format!("<span class=\"good\">{shown}</span>")), "{page}");
    }

    #[test]
    fn what_nobody_sees_is_written_out_wherever_its_text_begins() {
        // A variation selector after a letter chooses its form; at the start of a text it would shape the tag.
        let page =
            document("", [html! { p title="\u{fe0f}" { "\u{fe0f}a\u{202e}" b { "\u{200d}♥\u{fe0f}" } } }]);
        let shown = "<p title=\"\\u{fe0f}\">\\u{fe0f}a\\u{202e}<b>\\u{200d}♥\u{fe0f}</b></p>";
        assert!(page.contains(shown), "{page}");
    }

    #[test]
    fn a_page_loads_nothing_and_names_its_encoding_first() {
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
    fn a_bar_of_nothing_leaves_its_track_empty() {
        let bars = |percent| bar(Hue::Grey, "<n>", percent, "1").into_string();
        let full = "<span class=\"soft\">&lt;n&gt;</span><span class=\"track\"><span class=\"bar c\" \
                    style=\"width:12.50%\"></span></span><span class=\"num\">1</span>";
        assert_eq!(bars(Some(12.5)), full);
        assert!(bars(None).contains("<span class=\"track\"></span>"), "{}", bars(None));
    }
}
