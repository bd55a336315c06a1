//! Readers of the laboratory on mutated and on large texts: they accept or refuse, in time in proportion to the text.

use dwell_lab::catalogue;
use dwell_lab::experiment::{Extent, expand, read};
use dwell_lab::program::{self, Programs};
use dwell_lab::record;
use std::time::{Duration, Instant};

/// Numbers of a linear congruential generator, of Knuth's MMIX.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// A text with some of its bytes replaced, removed or repeated.
fn mutated(text: &str, numbers: &mut Numbers) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len());
        match numbers.below(4) {
            0 => bytes[at] = b"\"'[]{}=.,-09eE#\n\\"[numbers.below(17)],
            1 => drop(bytes.drain(at..(at + numbers.below(40)).min(bytes.len()))),
            2 => {
                let end = (at + numbers.below(200)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_experiments_and_programs_are_accepted_or_refused() {
    let mut numbers = Numbers(7);
    let (mut accepted, mut refused) = (0, 0);
    for (name, text) in catalogue::built_in() {
        for _ in 0..60 {
            match read("x.toml", name, &mutated(text, &mut numbers)) {
                Ok(experiment) => {
                    accepted += 1;
                    for series in &experiment.series {
                        expand(series, Extent::Whole).unwrap();
                    }
                    let written = toml::to_string(&experiment).unwrap();
                    read("written.toml", name, &written).unwrap();
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().len() < 4000, "{error}");
                }
            }
        }
    }
    assert!(accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
    for _ in 0..200 {
        let _ = Programs::read("programs.toml", &mutated(program::BUILT_IN, &mut numbers));
    }
}

#[test]
fn large_texts_take_time_in_proportion() {
    let began = Instant::now();
    let many_keys: String = (0..40_000).map(|i| format!("key{i} = {i}\n")).collect();
    let deep = format!("title = {}{}", "[".repeat(400_000), "]".repeat(400_000));
    let long = format!("title = \"{}\"", "x".repeat(1_000_000));
    let too_long = format!("title = \"{}\"", "x".repeat(2_000_000));
    let many_series = format!("title = \"t\"\n{}", "[[series]]\n".repeat(60_000));
    for text in [many_keys, deep, too_long, many_series] {
        assert!(read("x.toml", "x", &text).is_err());
        assert!(Programs::read("x.toml", &text).is_err());
    }
    assert!(read("x.toml", "x", &long).is_ok());
    // 4 MB of text on a slow and loaded machine, in a build that is not optimised.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn damaged_records_are_errors_that_name_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let mut log = dwell::store::Log::open(&path).unwrap();
    log.append("{\"entry\":\"finished\"}").unwrap();
    log.append("{\"entry\":\"sample\",\"series\":1}").unwrap();
    let error = record::read_log(&path).unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
    assert!(record::read_run(folder.path()).unwrap_err().to_string().contains("it holds no run"));
}
