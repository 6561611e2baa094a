//! What language models are asked, and how their answers are read.
//!
//! `texts` writes functions and conversations for a model and makes requests of them; `judging` asks for a verdict, `drafting`
//! for the calls that answer a request, `acting` for those of the next step, `enhancing` for a corrected message, `wording` for an
//! instruction in the words of a person, `instructing` for instructions over functions, `choosing` for keys of results that nobody needs, `weighing` for verdicts on solution paths, `solving` for the
//! steps of a solution path and for results of functions that are simulated, `recognising` for names and street addresses. A stage sends the requests and decides what follows from the answers.

pub mod acting;
pub mod choosing;
pub mod drafting;
pub mod enhancing;
pub mod instructing;
pub mod judging;
pub mod recognising;
pub mod solving;
pub mod texts;
pub mod weighing;
pub mod wording;
