//! What language models are asked, and how their answers are read.
//!
//! `texts` writes functions and conversations for a model and makes requests of them; `judging` asks for a verdict, `drafting`
//! for the calls that answer a request. A stage sends the requests and decides what follows from the answers.

pub mod drafting;
pub mod judging;
pub mod texts;
