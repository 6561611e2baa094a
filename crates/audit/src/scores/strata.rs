//! Groups of models: how they are called, and how large they are.
//!
//! Leaderboards write the mode behind the name (`(FC)`, `(Prompt)`), and most open models have their size in it
//! (`-7B`, `8x22b`). Of a mixture of experts the number of experts counts.

use serde::{Serialize, Serializer};

/// How a model is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Through the function-calling interface.
    Fc,
    /// Through a prompt.
    Prompt,
    /// Not known.
    Unknown,
}

impl Mode {
    /// All modes, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Fc, Self::Prompt, Self::Unknown];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fc => "fc",
            Self::Prompt => "prompt",
            Self::Unknown => "unknown",
        }
    }

    /// Reads a cell, or the brackets at the end of a name.
    pub(super) fn of(text: &str) -> Self {
        let words = text.to_lowercase();
        let words: Vec<&str> = words.split(|letter: char| !letter.is_alphanumeric()).collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        if has(&["prompt", "prompting"]) {
            Self::Prompt
        } else if has(&["fc", "function", "tool", "tools", "native"]) {
            Self::Fc
        } else {
            Self::Unknown
        }
    }

    /// Returns the mode in the brackets of a model's name.
    pub(super) fn of_name(name: &str) -> Self {
        name.rsplit_once('(').map_or(Self::Unknown, |(_, brackets)| Self::of(brackets))
    }
}

/// The size of a model, in billions of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Below 4.
    Tiny,
    /// From 4, below 15.
    Small,
    /// From 15, below 80.
    Medium,
    /// 80 or more.
    Large,
    /// Not known, as of most models that are only served.
    Unknown,
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Size {
    /// All sizes, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Tiny, Self::Small, Self::Medium, Self::Large, Self::Unknown];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "<4B",
            Self::Small => "4-15B",
            Self::Medium => "15-80B",
            Self::Large => ">=80B",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the class of a number of billions of parameters.
    pub(super) fn of_billions(billions: f64) -> Self {
        match billions {
            billions if billions < 4.0 => Self::Tiny,
            billions if billions < 15.0 => Self::Small,
            billions if billions < 80.0 => Self::Medium,
            _ => Self::Large,
        }
    }

    /// Returns the class of the size in a model's name.
    pub(super) fn of_name(name: &str) -> Self {
        billions(name).map_or(Self::Unknown, Self::of_billions)
    }
}

/// Reads a size such as `7B`, `1.5b` or `8x22b` in a name; the first counts.
pub(super) fn billions(name: &str) -> Option<f64> {
    let bytes = name.as_bytes();
    for end in (0..bytes.len()).filter(|&at| matches!(bytes[at], b'b' | b'B')) {
        if bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        let number = |end: usize| {
            let start = end
                - bytes[..end]
                    .iter()
                    .rev()
                    .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
                    .count();
            Some((start, name[start..end].parse::<f64>().ok()?))
        };
        let Some((start, size)) = number(end) else { continue };
        if start > 0
            && matches!(bytes[start - 1], b'x' | b'X')
            && let Some((_, experts)) = number(start - 1)
        {
            return Some(size * experts);
        }
        // `A3B` are the active parameters of a mixture, not its size.
        if start > 0 && bytes[start - 1] == b'A' && start > 1 && bytes[start - 2] == b'-' {
            continue;
        }
        return Some(size);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_names() {
        for (name, size) in [
            ("Meridian-72B-Instruct (Prompt)", Some(72.0)),
            ("Tern2.1-1.5b (FC)", Some(1.5)),
            ("Gannet-8x22b-r (FC)", Some(176.0)),
            ("Command Q7B (FC)", Some(7.0)),
            ("Skua3-30B-A3B (FC)", Some(30.0)),
            ("Skua3-A3B", None),
            ("Puffin-2024-12-17 (FC)", None),
            ("Tern-v3.1b2 (FC)", None),
            ("B", None),
        ] {
            assert_eq!(billions(name), size, "{name}");
        }
        let classes = [0.5, 3.9, 4.0, 14.9, 15.0, 79.0, 80.0].map(Size::of_billions);
        assert_eq!(classes.map(Size::name), ["<4B", "<4B", "4-15B", "4-15B", "15-80B", "15-80B", ">=80B"]);
    }

    #[test]
    fn modes_are_read_from_brackets_and_cells() {
        let of = ["A (FC)", "A (Prompt)", "A (FC thinking)", "A (Prompt + Thinking)", "A", "A (2024)"]
            .map(Mode::of_name);
        assert_eq!(of.map(Mode::name), ["fc", "prompt", "fc", "prompt", "unknown", "unknown"]);
        assert_eq!(
            ["fc", "Function Calling", "prompting", ""].map(Mode::of).map(Mode::name),
            ["fc", "fc", "prompt", "unknown"]
        );
    }
}
