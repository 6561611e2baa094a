//! The engine with the few modules it needs, as a crate of its own: `scripts/mutants.sh` compiles it once a mutant, and
//! the whole program would take minutes each time.

pub mod columns;
pub mod content_hash;
pub mod engine;
#[cfg(test)]
mod fixture;

pub mod text {
    //! What a metric's name is made of.
    pub mod normal;
    pub mod profile;
    pub mod tokens;
    pub mod words;
}
