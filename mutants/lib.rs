//! The engine with the few modules it needs, as a crate of its own: `scripts/mutants.sh` compiles it once a mutant, and
//! the whole program would take minutes each time.

pub mod columns;
pub mod content_hash;
pub mod engine;
#[cfg(test)]
mod fixture;
mod side_file;

pub mod text {
    //! What a metric's name and a message are made of.
    pub mod figures;
    pub mod normal;
    pub mod os_error;
    pub mod profile;
    pub mod suggestion;
    pub mod tokens;
    pub mod visible;
    pub mod words;
}
