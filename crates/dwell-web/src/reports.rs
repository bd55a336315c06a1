//! Reports of the laboratory. The program that starts the server makes them, so that the server needs no laboratory.

use serde::Serialize;

/// Makes reports of recorded runs.
pub trait Reports: Send + Sync {
    /// The runs that there are, the latest first.
    fn all(&self) -> Vec<Report>;

    /// The report of a run as an HTML page that needs no other file and no script; `None` where there is no run of that name.
    ///
    /// # Errors
    /// A sentence, when the record cannot be read.
    fn page(&self, name: &str) -> Option<Result<String, String>>;
}

/// A recorded run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The name of its folder.
    pub name: String,
    /// When it was begun, and the machine.
    pub title: String,
}
