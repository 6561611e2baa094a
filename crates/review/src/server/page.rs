//! The page: one HTML document with its style and script, and the content security policy that allows only these two.
//!
//! All texts of rows arrive later as JSON, and the script sets them as text; the document has none.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("../page/review.css");
const SCRIPT: &str = include_str!("../page/review.js");

static PAGE: LazyLock<String> = LazyLock::new(|| {
    include_str!("../page/index.html").replacen("/* style */", STYLE, 1).replacen("/* script */", SCRIPT, 1)
});

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
});

/// Returns the document.
pub(super) fn page() -> &'static str {
    &PAGE
}

/// Returns the content security policy of all responses.
pub(super) fn policy() -> &'static str {
    &POLICY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_style_and_one_script_and_loads_nothing() {
        let page = page();
        assert_eq!((page.matches("<style").count(), page.matches("<script").count()), (1, 1));
        assert!(
            page.contains(&format!("<style>{STYLE}</style>"))
                && page.contains(&format!("<script>{SCRIPT}</script>"))
        );
        for loads in ["src=", "href=", "url(", "@import", "http:", "https:", "style=", " onclick", " onload"]
        {
            assert!(!page.contains(loads), "{loads}");
        }
    }

    #[test]
    fn the_script_never_parses_html() {
        for parses in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "DOMParser",
        ] {
            assert!(!SCRIPT.contains(parses), "{parses}");
        }
    }
}
