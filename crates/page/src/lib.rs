//! HTML pages: the document and shared elements.
//!
//! A page is one self-contained file without fonts and images; the content security policy in its head forbids them,
//! and every script except the one of [`document_with_script`]. It fits screens of 400 to 1,400 pixels, light and dark.
//! Templates use `maud`, which escapes every text, so markup in a query has no effect. Only the style and the script are
//! not escaped; `tests/it/layers.rs` refuses `PreEscaped` in any other file. Pass text to attributes, never `Markup`,
//! because `maud` does not escape markup there. Tables are in [`table`], charts in [`chart`], headings and contents in
//! [`sections`]; the content of a page is in the module that writes it, such as `report::html`.

pub mod chart;
pub mod sections;
pub mod table;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use sha2::{Digest, Sha256};

use callsieve_text::figures::count;
use callsieve_text::visible::visible;

/// The style of all pages. It and the script are not escaped, because they are files of this program.
const STYLE: PreEscaped<&str> = PreEscaped(include_str!("style.css"));

/// The script of pages that have one: it adds controls to a page that is complete without them.
const SCRIPT: PreEscaped<&str> = PreEscaped(include_str!("script.js"));

/// The content security policy: no scripts and no external resources; the style is in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns a complete page with these sections.
pub fn document(title: &str, sections: impl IntoIterator<Item = Markup>) -> String {
    page(title, POLICY, None, sections)
}

/// Returns a complete page with the script, which adds filters to tables ([`table::filtered`]), a button to commands
/// ([`command`]) and a larger view to figures.
pub fn document_with_script(title: &str, sections: impl IntoIterator<Item = Markup>) -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT.0));
    page(title, &format!("{POLICY}; script-src 'sha256-{hash}'"), Some(SCRIPT), sections)
}

fn page(
    title: &str,
    policy: &str,
    script: Option<PreEscaped<&str>>,
    sections: impl IntoIterator<Item = Markup>,
) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8"; "\n"
                meta http-equiv="Content-Security-Policy" content=(policy); "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                title { (title) } "\n"
                style { "\n" (STYLE) }
            }
            body {
                main { @for section in sections { section { (section) } "\n" } }
                @if let Some(script) = script { script { (script) } "\n" }
            }
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

/// Returns a command, with a button that copies it on pages with the script.
pub fn command(text: &str) -> Markup {
    html! { pre data-copy="" { (text) } }
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
    fn a_page_with_the_script_allows_no_other() {
        let page = document_with_script("t", [command("callsieve why <run>")]);
        let script = page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
        // A character that the page escapes would change the script and not its hash.
        assert_eq!(script, include_str!("script.js"));
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        assert!(page.contains(&format!("{POLICY}; script-src 'sha256-{hash}'\">")), "{page}");
        assert!(page.contains("<pre data-copy=\"\">callsieve why &lt;run&gt;</pre>"), "{page}");
    }

    #[test]
    fn the_script_is_at_most_4_kilobytes_and_loads_nothing() {
        assert!(SCRIPT.0.len() <= 4096, "{}", SCRIPT.0.len());
        for loads in ["fetch", "import", "XMLHttpRequest", "innerHTML", "eval", "http"] {
            assert!(!SCRIPT.0.contains(loads), "{loads}");
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
