//! The subcommands, one file each.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod explore;
pub(crate) mod gallery;
pub(crate) mod info;
pub(crate) mod lab;
pub(crate) mod locate;
pub(crate) mod locations;
pub(crate) mod looks;
pub(crate) mod man;
pub(crate) mod palettes;
pub(crate) mod peak;
pub(crate) mod point;
pub(crate) mod render;
pub(crate) mod show;
pub(crate) mod zoom;
