//! Input files: opening them, recognising them by their first bytes, and reading TOML with errors that name line and key.

pub(crate) mod open;
#[cfg(feature = "toml")]
pub(crate) mod rows;
pub(crate) mod source;
#[cfg(feature = "toml")]
pub(crate) mod toml_reader;
