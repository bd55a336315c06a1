//! Reads a run back.

use super::{
    Case, CaseEntry, Entry, ExperimentRun, FORMAT, Header, Run, RunError, experiment_path, header_path, log_path,
};
use crate::experiment::{self, Experiment, Point, expand, sweep::Extent};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Most bytes of a file of a run.
const MOST_BYTES: u64 = 1 << 28;

/// Reads the header of a run; `None` if the folder holds none.
///
/// # Errors
/// When the file is there and no header of this format.
pub fn read_header(folder: &Path) -> Result<Option<Header>, RunError> {
    let path = header_path(folder);
    if !path.exists() {
        return Ok(None);
    }
    let text = text_of(&path)?;
    let wrong = |problem: String| RunError::File { path: path.clone(), line: None, problem };
    let header: Header = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if header.format != FORMAT {
        return Err(wrong(format!("format {} is not known; accepted: {FORMAT}", header.format)));
    }
    Ok(Some(header))
}

/// Reads a run. Experiments that were not begun are left out.
///
/// # Errors
/// When the folder holds no run, or a file of it is damaged.
pub fn read_run(folder: &Path) -> Result<Run, RunError> {
    let no_run =
        || RunError::Folder { folder: folder.to_owned(), problem: "it holds no run: there is no run.json".to_owned() };
    let header = read_header(folder)?.ok_or_else(no_run)?;
    let mut experiments = Vec::new();
    for name in &header.experiments {
        // Names are parts of paths.
        let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !is_name || !log_path(folder, name).exists() {
            continue;
        }
        experiments.push(read_experiment(folder, name)?);
    }
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = name.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Run { name, header, experiments })
}

/// Reads an experiment of a run.
///
/// # Errors
/// When a file is damaged.
pub fn read_experiment(folder: &Path, name: &str) -> Result<ExperimentRun, RunError> {
    let path = experiment_path(folder, name);
    let experiment = experiment::read(&path.to_string_lossy(), name, &text_of(&path)?)?;
    let entries = read_log(&log_path(folder, name))?;
    Ok(collect(experiment, entries))
}

/// Reads the entries of a log. A last line without an end is left out: it was being written when the process was killed.
///
/// # Errors
/// When a line is no entry.
pub fn read_log(path: &Path) -> Result<Vec<Entry>, RunError> {
    let text = text_of(path)?;
    let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
    let read = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|e| RunError::File {
            path: path.to_owned(),
            line: Some(i + 1),
            problem: e.to_string(),
        })
    };
    complete.lines().enumerate().map(read).collect()
}

/// The entries of an experiment in the order of its series, points and variants. Of several entries about one case or one
/// quantity the last counts: a run that goes on checks again.
#[must_use]
pub fn collect(experiment: Experiment, entries: Vec<Entry>) -> ExperimentRun {
    let mut found: BTreeMap<(String, Point, String), Case> = BTreeMap::new();
    let mut quantities = BTreeMap::new();
    let (mut peaks, mut finished) = (BTreeMap::new(), false);
    for entry in entries {
        match entry {
            Entry::Case(entry) => {
                let key = key(&entry);
                match found.get_mut(&key) {
                    Some(case) => case.entry = entry,
                    None => {
                        found.insert(key, Case { entry, samples: Vec::new() });
                    }
                }
            }
            Entry::Sample(sample) => {
                let key = (sample.series.clone(), sample.point.clone(), sample.variant.clone());
                if let Some(case) = found.get_mut(&key) {
                    case.samples.push(sample);
                }
            }
            Entry::Quantity(entry) => {
                quantities.insert(entry.name.clone(), entry);
            }
            Entry::Peak(entry) => {
                // Other work on the machine can only lower a measured peak.
                let peak = peaks.entry(entry.name).or_insert(entry.iterations_per_second);
                *peak = peak.max(entry.iterations_per_second);
            }
            Entry::Finished => finished = true,
        }
    }
    let mut cases = Vec::new();
    for series in &experiment.series {
        let extents = [Extent::Whole, Extent::Quick, Extent::Check];
        for point in extents.into_iter().flat_map(|extent| expand(series, extent).unwrap_or_default()) {
            for variant in &series.variants {
                cases.extend(found.remove(&(series.name.clone(), point.clone(), variant.name.clone())));
            }
        }
    }
    for case in &mut cases {
        // A case that was found wrong after all keeps no time.
        if !case.entry.status.is_timed() {
            case.samples.clear();
        }
        case.samples.sort_by_key(|sample| sample.round);
    }
    let named = experiment.quantities.iter().filter_map(|quantity| quantities.remove(&quantity.name));
    let quantities = named.collect();
    ExperimentRun { experiment, finished, cases, quantities, peaks }
}

fn key(entry: &CaseEntry) -> (String, Point, String) {
    (entry.series.clone(), entry.point.clone(), entry.variant.clone())
}

/// The text of a file of bounded size.
fn text_of(path: &Path) -> Result<String, RunError> {
    let wrong = |problem: String| RunError::File { path: path.to_owned(), line: None, problem };
    let file = std::fs::File::open(path).map_err(|e| wrong(e.to_string()))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| wrong(e.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("it is too large; accepted: at most {MOST_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Header, Machine, QuantityEntry, Recorder, Sink, write_header};

    #[test]
    fn a_run_is_read_back_and_an_unfinished_line_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let text = "title = \"T\"\n[[quantity]]\nname = \"q\"\ntitle = \"Q\"\ncompute = \"ties\"\n";
        let experiment = experiment::read("x.toml", "x", text).unwrap();
        let header = Header {
            format: FORMAT,
            version: "1".to_owned(),
            began: "2026-11-22T00:00:00Z".to_owned(),
            extent: "quick".to_owned(),
            engine: "cpu".to_owned(),
            experiments: vec!["x".to_owned(), "y".to_owned()],
            seed: 1,
            machine: Machine::default(),
        };
        write_header(folder.path(), &header).unwrap();
        let quantity = QuantityEntry { name: "q".to_owned(), value: Ok(3.0), picture: None };
        let mut recorder = Recorder::open(folder.path(), &experiment).unwrap();
        recorder.add(Entry::Quantity(quantity.clone())).unwrap();
        drop(recorder);
        let path = log_path(folder.path(), "x");
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"{\"entry\":\"fin").unwrap();
        let run = read_run(folder.path()).unwrap();
        assert_eq!((run.header, run.experiments.len()), (header, 1));
        assert_eq!((&run.experiments[0].quantities, run.experiments[0].finished), (&vec![quantity], false));
        // A run that goes on removes the unfinished line.
        Recorder::open(folder.path(), &experiment).unwrap().add(Entry::Finished).unwrap();
        assert!(read_run(folder.path()).unwrap().experiments[0].finished);
        std::io::Write::write_all(&mut file, b"{}\n").unwrap();
        let error = read_run(folder.path()).unwrap_err().to_string();
        assert!(error.contains("x.jsonl, line 3: missing field `entry`"), "{error}");
    }
}
