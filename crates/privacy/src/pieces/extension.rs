//! The extension after a telephone number: `030 2274418 ext. 91`, which a call may write in one: `030227441891`.
//!
//! The extension identifies nobody and stays. A call with number and extension in one becomes the placeholder and the
//! extension.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the digits of the extension that the text after a number begins with.
pub(super) fn extension_in(behind: &str) -> Option<&str> {
    static EXTENSION: LazyLock<Regex> = LazyLock::new(|| {
        let words = "extension|extensión|extensão|extn|ext|x|durchwahl|nebenstelle|dw|app(?:arat)?|poste|interno|int|anexo|ramal|dahili|\
            доб(?:авочный)?|вн(?:утр)?|wewn?(?:ętrzny)?|toestel|tst|anknytning|ankn|linje|lokal|lok|alanumero|klapka|mellék|内线|分机|內線|分機|내선|#";
        Regex::new(&format!(
            r"(?i)^[\s,;:(–-]*(?:{words})[\s.:#]*(?:(?:no|nr|number)[\s.:]*)?(\d{{1,6}})(?:\D|$)"
        ))
        .expect("a valid pattern")
    });
    EXTENSION.captures(behind)?.get(1).map(|digits| digits.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_found_after_a_word_for_it() {
        for behind in [
            " ext. 91: ok",
            " x91",
            "x91",
            ", extension 91",
            " (Durchwahl 91)",
            " доб. 91",
            " #91",
            " 内线91",
            " ext no. 91",
        ] {
            assert_eq!(extension_in(behind), Some("91"), "{behind}");
        }
        for behind in [" at 91", " extra 91", " 91", "", " x 9123456", " and ext. 91"] {
            assert_eq!(extension_in(behind), None, "{behind}");
        }
    }
}
