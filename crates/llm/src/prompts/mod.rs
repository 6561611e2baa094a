//! What language models are asked, and how their answers are read.
//!
//! `texts` writes functions and conversations for a model and makes requests of them; `judging` asks for a verdict, `drafting`
//! for the calls that answer a request, `enhancing` for a corrected message, `recognising` for names and street addresses. A stage sends the requests and decides what follows from the answers.

pub mod drafting;
pub mod enhancing;
pub mod judging;
pub mod recognising;
pub mod texts;
