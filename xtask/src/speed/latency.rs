//! Where the time of a whole command goes, from its start to a written picture.

use super::machine;
use crate::median;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The title of the sections of latencies.
pub(super) const TITLE: &str = "\n## Latency: `dwell render` from its start to a written picture of 1920x1080, ";

/// Views with the automatic limit: a name, and flags.
const VIEWS: [(&str, &[&str]); 5] = [
    ("no flags", &[]),
    ("the whole set", &["--center=-0.75,0", "--zoom", "1.4"]),
    ("outside", &["--center=0.5,0.7", "--zoom", "10"]),
    (
        "seahorses",
        &["--center=-0.743643887037158704752191506114774,0.131825904205311970493132056385139", "--zoom", "1e5"],
    ),
    ("a small copy", &["--center=-1.768778833,0.001738996", "--zoom", "1e6"]),
];

/// Commands of each view. The first is not counted.
const REPEATS: usize = 16;

/// The stages of a render, as statistics name them. The dwells are hashed beside them.
const STAGES: [&str; 5] = ["plan", "iterate", "colour", "encode", "write"];

/// The milliseconds of a command.
struct Times {
    /// From its start to its end.
    whole: f64,
    /// Before and after the render: starting the program, reading its arguments, looking at the machine, and ending it.
    start_and_end: f64,
    /// The search for the limit and the colours.
    search: f64,
    stages: [f64; STAGES.len()],
    /// Within the render and in no stage: making buffers, waking up threads, and waiting for them.
    between: f64,
}

impl Times {
    /// In the order of the columns.
    fn columns(&self) -> impl Iterator<Item = f64> {
        [self.whole, self.start_and_end, self.search].into_iter().chain(self.stages).chain([self.between])
    }
}

/// Runs the program in a folder. Its statistics go to standard error: a file of them would be flushed to the disk, which took a fifth of what there is before and after the render.
fn command(program: &Path, flags: &[&str], folder: &Path) -> Result<Times, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut command = Command::new(program);
    command.args(["render", "--engine", "cpu", "-o", "picture.png", "--stats", "-"]).args(flags);
    let output = command.current_dir(folder).output()?;
    let whole = 1e3 * began.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("{} render {flags:?} failed: {}", program.display(), output.status).into());
    }
    let statistics: Value = serde_json::from_slice(&output.stderr)?;
    let milliseconds = |value: &Value| value.as_f64().map(|seconds| 1e3 * seconds);
    let stage = |name: &str| milliseconds(&statistics["seconds"][name]).ok_or(format!("statistics have no {name}"));
    let mut stages = [0.0; STAGES.len()];
    for (place, name) in stages.iter_mut().zip(STAGES) {
        *place = stage(name)?;
    }
    let (total, search) = (stage("total")?, milliseconds(&statistics["automatic"]["seconds"]).unwrap_or_default());
    let between = total - stages.iter().sum::<f64>();
    // Planning includes the search.
    stages[0] -= search;
    Ok(Times { whole, start_and_end: whole - total, search, stages, between })
}

/// The section of the latencies on this machine.
pub(super) fn section() -> Result<String, Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?.with_file_name("dwell");
    if !program.exists() {
        return Err(format!("{} is measured: build it with cargo build --release", program.display()).into());
    }
    let folder = std::env::temp_dir().join(format!("dwell-latency-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let rows = VIEWS.iter().map(|(name, flags)| row(&program, name, flags, &folder)).collect::<Result<String, _>>();
    std::fs::remove_dir_all(&folder)?;
    let mut text = format!("{TITLE}{}\n\n", machine());
    writeln!(
        text,
        "Milliseconds. Each figure is the median of {} commands with the defaults, found for itself, so that those of a row do not add up to its whole.\n",
        REPEATS - 1
    )?;
    writeln!(text, "| view | whole | start and end | search | {} | between | not iterating |", STAGES.join(" | "))?;
    writeln!(text, "|---|---|---|---|{}---|---|", "---|".repeat(STAGES.len()))?;
    text.push_str(&rows?);
    Ok(text)
}

/// The row of a view.
fn row(program: &Path, name: &str, flags: &[&str], folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let commands: Vec<Times> = (0..REPEATS).map(|_| command(program, flags, folder)).collect::<Result<_, _>>()?;
    let columns: Vec<Vec<f64>> = commands[1..].iter().map(|times| times.columns().collect()).collect();
    let medians = (0..columns[0].len()).map(|column| median(columns.iter().map(|row| row[column])));
    let cells: String = medians.map(|ms| format!(" {ms:.1} |")).collect();
    let share = median(commands[1..].iter().map(|times| 1.0 - times.stages[1] / times.whole));
    Ok(format!("| {name} |{cells} {:.0} % |\n", 100.0 * share))
}
