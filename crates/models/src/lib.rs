//! Models that read texts: embedders, encoders of the BERT family, and recognisers of names and street addresses.
//!
//! [`embed`] makes vectors of texts, [`recogniser`] finds names, and `encoder` runs the local models of both. A build without the
//! feature `models` has no local ones; servers and files of vectors work in every build.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod embed;
pub mod encoder;
pub mod recogniser;
