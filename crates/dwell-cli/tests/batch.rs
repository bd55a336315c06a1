//! Batches: several locations, tables of jobs, names by a pattern, failures, and going on.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;
use serde_json::Value;

const PLACE: &[u8] = b"re = \"-0.75\"\nim = \"0\"\nzoom = \"1.5\"\niterations = 50\nsize = \"48x27\"\n";

fn folder() -> Folder {
    Folder::new().with("a.toml", PLACE).with("b.toml", PLACE).with("bad.toml", b"re = 1\n")
}

#[test]
fn several_locations_are_rendered_to_names_by_a_pattern() {
    let folder = folder();
    folder.good("render b.toml -o first.png");
    folder.good("render a.toml first.png tricorn -o out/{index}-{name}_{size}.{palette}.png --size 32x18");
    let names: Vec<_> = std::fs::read_dir(folder.join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in ["1-a_32x18.twilight.png", "2-first_32x18.twilight.png", "3-tricorn_32x18.ice.png"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    // The picture of a job is that of the same render alone.
    folder.good("render a.toml -o alone.png --size 32x18");
    assert_eq!(folder.read("alone.png"), folder.read("out/1-a_32x18.twilight.png"));
    // One location and a pattern, and names with braces that are no placeholders.
    folder.good("render a.toml -o {name}.png");
    folder.good("render a.toml -o {x}.png");
    folder.good("render a.toml b.toml -o {{{name}}}.png");
    for name in ["a.png", "{x}.png", "{a}.png", "{b}.png"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[test]
fn tables_in_toml_and_csv_give_the_same_files() {
    let toml = "[[job]]\nwhat = \"../a.toml\"\noutput = [\"x.png\", \"x.npy\"]\n\n[[job]]\njulia = [\"-0.8\", \"0.156\"]\n\
name = \"dragon\"\npalette = \"ember\"\nflip = true\nforce = false\nmax_iter = 1e2\n";
    let csv =
        "what,output,name,julia,palette,flip,max-iter\n../a.toml,x.png,,,,,\n,,dragon,\"-0.8,0.156\",ember,yes,1e2\n";
    let folder = folder();
    std::fs::create_dir(folder.join("t")).unwrap();
    let folder = folder.with("t/jobs.toml", toml.as_bytes()).with("t/jobs.csv", csv.as_bytes());
    folder.good("render --jobs t/jobs.toml --size 48x27 -o t/{name}.png --threads 1");
    assert!(folder.read("t/x.npy").starts_with(b"\x93NUMPY"));
    let files = ["t/x.png", "t/dragon.png"].map(|name| folder.read(name));
    folder.good("render --jobs t/jobs.csv --size 48x27 -o t/{name}.png");
    assert_eq!(files, ["t/x.png", "t/dragon.png"].map(|name| folder.read(name)));
    let text = folder.good("show t/dragon.png").text();
    for line in ["flip = true", "palette = \"ember\"", "iterations = 100", "size = \"48x27\""] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn every_job_is_checked_before_the_first_starts() {
    let table = "what,size,output\na.toml,48x27,a.png\nbad.toml,,b.png\nb.toml,0x5,c.png\nb.toml,,d.xyz\n";
    let folder = folder().with("jobs.csv", table.as_bytes()).with("typo.csv", b"what,sise\na.toml,4k\n");
    let ran = folder.run(["render", "--jobs", "jobs.csv"]);
    assert_eq!(ran.code, 2);
    let lines: Vec<_> = ran.err.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.err);
    for (line, said) in lines.iter().zip(["line 3: bad.toml", "line 4: --size", "line 5: -o"]) {
        assert!(line.starts_with("error: job ") && line.contains("\"jobs.csv\", ") && line.contains(said), "{line}");
    }
    for (line, said) in [
        ("render a.toml b.toml -o x.png", "is an output of both a (1 of 2) and b (2 of 2)"),
        ("render a.toml a.toml -o new/{name}.png", "is an output of both"),
        ("render a.toml b.toml -o {nam}.png", "unknown placeholder \"nam\""),
        ("render a.toml b.toml -o {name.png", "single brace"),
        ("render a.toml b.toml", "no output is named"),
        ("render a.toml - -o {name}.png", "standard input"),
        ("render a.toml b.toml --jobs jobs.csv -o {name}.png", "--jobs: WHAT is named several times"),
        ("render --jobs typo.csv -o {name}.png", "did you mean \"size\""),
        ("render --jobs a.toml -o {name}.png", "\"re\" is no key of a table of jobs"),
        ("render --jobs missing.csv -o {name}.png", "missing.csv"),
        ("render b.png a.toml -o {name}.png", "b.png"),
    ] {
        let ran = folder.run(line.split_whitespace());
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
    assert_eq!(folder.names(), ["a.toml", "b.toml", "bad.toml", "jobs.csv", "typo.csv"]);
    // A job may not replace what a later one reads.
    folder.good("render a.toml -o first.png");
    let ran = folder.run(["render", "a.toml", "first.png", "-o", "{index}.png", "-o", "first.png"]);
    assert!(ran.code == 2 && ran.err.contains("as well") || ran.err.contains("both"), "{}", ran.err);
}

#[test]
fn a_batch_goes_on_after_a_failure_and_reports_it() {
    let folder = folder();
    std::fs::create_dir(folder.join("a.png")).unwrap();
    let ran = folder.run(["render", "a.toml", "b.toml", "-o", "{name}.png", "--stats", "stats.json"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("error: a (1 of 2): ") && ran.err.contains("1 of 2 jobs done, 1 failed"), "{}", ran.err);
    assert!(folder.join("b.png").is_file());
    let stats: Value = serde_json::from_slice(&folder.read("stats.json")).unwrap();
    assert_eq!((&stats[0]["job"], &stats[1]["job"]), (&"a (1 of 2)".into(), &"b (2 of 2)".into()));
    assert!(stats[0]["error"].is_string() && stats[1]["iterations"].is_u64(), "{stats}");
    assert_eq!(stats.as_array().unwrap().len(), 2);
    // Statistics of each job on their own, and on standard error alone.
    folder.good("render b.toml tricorn -o {name}.png --size 48x27 --stats {name}.json");
    assert!(serde_json::from_slice::<Value>(&folder.read("tricorn.json")).unwrap()["iterations"].is_u64());
    let ran = folder.run(["render", "a.toml", "b.toml", "-o", "{name}.png", "--stats", "-"]);
    assert_eq!(serde_json::from_str::<Value>(&ran.err).unwrap().as_array().unwrap().len(), 2, "{}", ran.err);
}

#[test]
fn jobs_whose_outputs_exist_are_skipped() {
    let folder = folder();
    folder.good("render a.toml -o a.png --size 24x24");
    let before = folder.read("a.png");
    let ran = folder.good("render a.toml b.toml -o {name}.png --skip-existing");
    assert!(ran.err.contains("1 of 2 jobs done, 1 skipped"), "{}", ran.err);
    assert_eq!(folder.read("a.png"), before);
    let ran = folder.good("render a.toml b.toml -o {name}.png --skip-existing");
    assert!(ran.err.contains("0 of 2 jobs done, 2 skipped"), "{}", ran.err);
    // An unfinished render of an output.
    let folder = folder.with("a.png.dwell-journal", b"dwell journal x");
    let ran = folder.run(["render", "a.toml", "b.toml", "-o", "{name}.png", "--skip-existing"]);
    assert!(ran.err.contains("a (1 of 2)"), "{}", ran.err);
}

#[test]
fn a_dry_run_of_a_batch_prints_every_plan_and_writes_nothing() {
    let folder = folder();
    let text = folder.good("render a.toml b.toml -o out/{name}.png -o out/{name}.npy --dry-run").text();
    for line in ["job        a (1 of 2)", "job        b (2 of 2)", "(png), about ", "(npy), 5.2 KiB", " free where "] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(folder.names(), ["a.toml", "b.toml", "bad.toml"]);
}
