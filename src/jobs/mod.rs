//! What a person comes for. A job has options, makes the pipeline of its recipe from them, and says which results are
//! not good enough. The command line parses options and prints; programs in Rust call the same functions.

pub mod audit;
