//! Settings of a search: its method, rules, limits and prompt texts.
//!
//! No prompt text has a default: the words that a model reads are the caller's. `search` applies the settings.

use serde::{Deserialize, Serialize};

/// The order in which a search makes and continues paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// One path after another, each from the start, until one has an answer.
    React {
        /// The largest number of paths.
        attempts: u32,
    },
    /// As `React`, until a number of requests is used: the paper's ReACT@N uses as many as DFSDT.
    ReactAtN {
        /// The number of requests; the smaller of this and [`Budget::requests`] applies.
        requests: u32,
    },
    /// Depth-first search in pre-order: a path that ends without an answer continues from an earlier node.
    Dfsdt {
        /// The largest number of children of a node; higher tries more paths. The paper has 2.
        width: u32,
    },
}

/// The rules for depth, giving up and budgets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// The rules that the paper describes. Depth counts calls. A path that gives up is a leaf, and the search continues
    /// at the nearest ancestor that may have another child. The last request of a budget is used.
    #[default]
    Paper,
    /// The control flow of the original code (`OpenBMB/ToolBench`, `DFS.py` and `single_chain.py`). Depth counts the
    /// parts of a reply: one for a text, two for a call. After an answer or a path that gives up, the tree search skips
    /// the other children of the parent and continues at the node above it. The reply to its last request is discarded.
    /// Only the first call of a reply counts, and neither loops nor texts in a row end a path.
    Toolbench,
}

/// How a model writes its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// As calls of the endpoint's message format.
    #[default]
    Tools,
    /// As Thought / Action / Action Input in the text; see `react_text`.
    Text,
}

/// The most that a search may use. The caller limits the time with [`crate::Search::stop`], because this crate reads no
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Requests to the model. The original program has 200.
    pub requests: u32,
    /// Tokens of requests and replies together. The request that crosses the limit is still used.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar. The request that crosses the limit is still used.
    pub micro_dollars: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { requests: 200, tokens: None, micro_dollars: None }
    }
}

/// Texts that the model reads, written by the caller. A placeholder is replaced wherever it is in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompts {
    /// The message at a node that has children: `{candidates}` is the JSON list of their first calls, `{observation}` the
    /// node's last observation, empty if there is none.
    pub diversity: String,
    /// The observation of a call to a function that is not on offer; `{name}` is its name.
    pub unknown_function: String,
    /// The observation of a `Finish` that cannot be read; `{fault}` says what is wrong.
    pub finish_fault: String,
    /// The user message after a reply without a call; `{fault}` is empty, or says why the text has no call that can be
    /// read. With `None`, there is no such message. The original code has none, so ToolBench semantics never use it.
    #[serde(default)]
    pub after_text: Option<String>,
}

/// The settings of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The order of paths.
    pub method: Method,
    /// The texts.
    pub prompts: Prompts,
    /// The rules.
    #[serde(default)]
    pub semantics: Semantics,
    /// How the model writes calls.
    #[serde(default)]
    pub protocol: Protocol,
    /// The most that the search may use.
    #[serde(default)]
    pub budget: Budget,
    /// The largest depth of a path, in calls (`Finish` included) or, in ToolBench semantics, in parts of replies. Higher
    /// allows longer paths.
    #[serde(default = "depth")]
    pub depth: u32,
    /// The number of answered paths after which the search ends, at least 1.
    #[serde(default = "answers")]
    pub answers: u32,
    /// The largest number of characters of an observation; the rest is replaced by `...`.
    #[serde(default = "max_observation_chars")]
    pub max_observation_chars: usize,
    /// How often a path may have the same call with the same observation before it ends; 0 for any number.
    #[serde(default = "loop_repeats")]
    pub loop_repeats: u32,
    /// The number of replies in a row without a call that ends a path; 0 means 1.
    #[serde(default = "max_texts")]
    pub max_texts: u32,
}

impl Settings {
    /// Returns the settings of a method with the defaults of everything else.
    pub fn new(method: Method, prompts: Prompts) -> Self {
        Self {
            method,
            prompts,
            semantics: Semantics::default(),
            protocol: Protocol::default(),
            budget: Budget::default(),
            depth: depth(),
            answers: answers(),
            max_observation_chars: max_observation_chars(),
            loop_repeats: loop_repeats(),
            max_texts: max_texts(),
        }
    }

    /// Returns the number of requests that the method and the budget allow.
    pub(crate) fn requests(&self) -> u32 {
        match self.method {
            Method::ReactAtN { requests } => requests.min(self.budget.requests),
            Method::React { .. } | Method::Dfsdt { .. } => self.budget.requests,
        }
    }

    /// Returns the largest number of children of a node.
    pub(crate) fn width(&self, is_root: bool) -> usize {
        let width = match self.method {
            Method::Dfsdt { width } => width,
            Method::React { attempts } if is_root => attempts,
            Method::ReactAtN { .. } if is_root => u32::MAX,
            Method::React { .. } | Method::ReactAtN { .. } => 1,
        };
        usize::try_from(width).unwrap_or(usize::MAX)
    }

    /// Returns `true` if the control flow is that of the original tree search.
    pub(crate) fn is_original_dfs(&self) -> bool {
        self.semantics == Semantics::Toolbench && matches!(self.method, Method::Dfsdt { .. })
    }
}

fn depth() -> u32 {
    12
}

fn answers() -> u32 {
    1
}

fn max_observation_chars() -> usize {
    1024
}

fn loop_repeats() -> u32 {
    3
}

fn max_texts() -> u32 {
    3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::prompts;

    #[test]
    fn settings_without_the_rest_have_the_defaults() {
        let json = serde_json::json!({"method": {"dfsdt": {"width": 2}}, "prompts": prompts()});
        let read: Settings = serde_json::from_value(json).unwrap();
        assert_eq!(read, Settings::new(Method::Dfsdt { width: 2 }, prompts()));
        let unknown =
            serde_json::json!({"method": {"dfsdt": {"width": 2}}, "prompts": prompts(), "widht": 3});
        assert!(serde_json::from_value::<Settings>(unknown).is_err());
    }

    #[test]
    fn only_the_root_of_a_chain_has_several_children() {
        let react = Settings::new(Method::React { attempts: 3 }, prompts());
        assert_eq!((react.width(true), react.width(false)), (3, 1));
        let tree = Settings::new(Method::Dfsdt { width: 2 }, prompts());
        assert_eq!((tree.width(true), tree.width(false)), (2, 2));
        let at_n = Settings::new(Method::ReactAtN { requests: 7 }, prompts());
        assert_eq!((at_n.width(false), at_n.requests(), tree.requests()), (1, 7, 200));
    }
}
