//! Which functions of a collection fit a request: BM25, fusion of rankings, and the measures of both.
//!
//! `bm25` scores all documents for a query, `words` splits texts, `fusion` joins scores of several methods by their ranks, `measures`
//! computes NDCG, recall and the reciprocal rank with ties as scikit-learn does. Nothing here reads a file or a model.

pub mod bm25;
pub mod fusion;
pub mod measures;
pub mod words;

pub use bm25::Bm25;
