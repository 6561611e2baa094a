//! `APIBench`, the benchmark of Gorilla: its three hubs, the AST match of API calls, and the rates of accuracy and hallucination.
//!
//! `dataset` reads the API database, the questions and the responses of a hub. `extract` cuts the API call out of a response.
//! `python` parses the call into a concrete syntax tree. `matching` finds the entry of the database that the call uses, as the
//! scripts `ast_eval_hf.py`, `ast_eval_th.py` and `ast_eval_tf.py` of github.com/ShishirPatil/gorilla do (commit 98977e1), and
//! `rates` counts the results. A response is text: nothing here evaluates it. Nothing here reads a file either.

pub mod dataset;
pub mod extract;
pub mod hub;
pub mod matching;
mod pattern;
mod python;
pub mod rates;

pub use dataset::{ApiEntry, LineFault, Question, Response};
pub use hub::Hub;
pub use matching::{Database, Match, Rules, Unreadable};
pub use pattern::EntryFault;
pub use rates::Rates;
