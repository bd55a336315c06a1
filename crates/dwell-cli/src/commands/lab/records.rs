//! The records in a folder, for the explorer.

use super::report::reader;
use dwell_lab::record::{self, Header, Machine};
use dwell_lab::report::{Report, Surroundings};
use dwell_web::Reports;
use std::path::{Path, PathBuf};

/// The folder in which runs are recorded, unless another is named.
pub(crate) const USUAL: &str = "lab-runs";
/// The most records that are listed.
const MOST: usize = 200;

/// The records in a folder.
pub(crate) struct Records(PathBuf);

impl Records {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// The names of folders with a readable record, the latest first.
    fn found(&self) -> Vec<(String, Header)> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
        let header =
            |name: String| record::read_header(&self.0.join(&name)).ok().flatten().map(|header| (name, header));
        let mut found: Vec<(String, Header)> = entries.filter_map(name).filter_map(header).collect();
        found.sort_by(|(_, a), (_, b)| b.began.cmp(&a.began));
        found.truncate(MOST);
        found
    }
}

impl Reports for Records {
    fn all(&self) -> Vec<dwell_web::Report> {
        let report = |(name, header): (String, Header)| {
            let day = header.began.split('T').next().unwrap_or_default();
            let Machine { processor, devices, .. } = &header.machine;
            // As in the name of its folder: the device, without what describes it, or the processor.
            let machine = devices.first().and_then(|device| device.split(',').next()).unwrap_or(processor);
            let title = format!("{day}, {machine}: {}", header.experiments.join(", "));
            dwell_web::Report { name, title }
        };
        self.found().into_iter().map(report).collect()
    }

    fn page(&self, name: &str) -> Option<Result<String, String>> {
        // Only a name that is listed is part of a path.
        let (name, _) = self.found().into_iter().find(|(known, _)| known == name)?;
        let folder = self.0.join(name);
        let run = record::read_run(&folder).map_err(|error| error.to_string());
        let html = |run: &record::Run| Report::new(run).html(&Surroundings { file: &reader(&folder), data: None });
        Some(run.map(|run| html(&run)))
    }
}
