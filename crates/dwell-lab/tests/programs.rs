//! Other programs as contestants: small commands that are in every Unix system stand for honest, wrong and broken programs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

use dwell::{Cancel, ChannelSet, CpuEngine, Limits, NumberKind, Plan, Recipe, Scene, Size, Strategy, Task};
use dwell_lab::program::{Agreement, Program, Programs};
use dwell_lab::record::Status;
use std::path::Path;
use std::time::{Duration, Instant};

const SIDE: usize = 640;

/// Two orders of roundings differ in f32 at more than 1 pixel in 1,000 for a limit of 255, and at fewer for this one.
const F32_LIMIT: u64 = 64;

fn scene(number: NumberKind, recipe: Recipe) -> Scene {
    let view = dwell::View::centred("-0.7", "0.1", "1.3").unwrap().sized(Size::new(640, 640).unwrap());
    let mut scene = Scene { view, ..Scene::default() };
    (scene.settings.limit, scene.settings.number, scene.settings.recipe) = (255, number, recipe);
    scene
}

fn plan(number: NumberKind, recipe: Recipe) -> Plan {
    let scene = scene(number, recipe);
    Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap()
}

/// A plan of which the two recipes differ at less than 1 pixel in 1,000.
fn agreeable(number: NumberKind, recipe: Recipe) -> Plan {
    let mut scene = scene(number, recipe);
    scene.settings.limit = match number {
        NumberKind::F32 => F32_LIMIT,
        // High enough that the recipes differ somewhere.
        NumberKind::F64 | NumberKind::Exact => 2000,
    };
    Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap()
}

fn dwells(plan: &Plan) -> Vec<u32> {
    let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let field = dwell::field(&task, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
    field.dwell().to_vec()
}

#[expect(clippy::disallowed_methods, reason = "a file of another program")]
fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

fn raw(counts: &[u32]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_le_bytes()).collect()
}

/// A program whose command is a script of `sh`. `{here}` is `folder`.
fn program(folder: &Path, script: &str, keys: &str) -> Program {
    let text = format!(
        "[[engine]]\nname = \"fake\"\ncommand = [\"sh\", \"-c\", '''{script}''']\navailable = [\"true\"]\n\
         output = \"counts.raw\"\n{keys}\n"
    );
    let file = folder.join("engines.toml");
    let programs = Programs::read(&file.to_string_lossy(), &text).unwrap();
    programs.get("fake").unwrap().clone()
}

const OTHER: &str = "reads = \"raw-u32\"\nagreement = \"other-rounding\"\n";
const COPY: &str = "cp '{here}/field' '{output}'";

/// What the check says of a field that an external program delivers.
fn judged(plan: &Plan, reference: &[u32], delivered: &[u32]) -> Status {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("field"), &raw(delivered));
    let program = program(folder.path(), COPY, OTHER);
    let run = program.run(plan, folder.path(), &Cancel::default()).unwrap();
    assert!(run.seconds["total"] > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "its folder is removed");
    program.check(plan, reference, &run.dwells, &Cancel::default()).unwrap()
}

fn wrong(status: &Status) -> &str {
    assert!(!status.is_timed(), "{status:?}");
    match status {
        Status::Wrong { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn counts_off_by_one_are_wrong() {
    for number in [NumberKind::F32, NumberKind::F64] {
        let plan = plan(number, Recipe::Fused);
        let right = dwells(&plan);
        let all: Vec<u32> = right.iter().map(|dwell| if *dwell == 0 { 0 } else { dwell + 1 }).collect();
        let limited = |dwell: u32| if dwell > 255 { 0 } else { dwell };
        let all: Vec<u32> = all.into_iter().map(limited).collect();
        let status = judged(&plan, &right, &all);
        assert!(wrong(&status).contains("accepted is at most 1 in 1000"), "{status:?}");
        // Few pixels, and a single one.
        for apart in [1009, 100_003] {
            let mut few = right.clone();
            for at in (7..few.len()).step_by(apart).filter(|at| (1..200).contains(&right[*at])) {
                few[at] += 1;
            }
            let status = judged(&plan, &right, &few);
            assert!(wrong(&status).contains("no order of roundings"), "{status:?}");
        }
    }
}

#[test]
fn a_lost_tile_is_wrong() {
    for number in [NumberKind::F32, NumberKind::F64] {
        let plan = plan(number, Recipe::Fused);
        let right = dwells(&plan);
        let mut tried = 0;
        for (left, top) in [(0, 0), (96, 304), (320, 32), (416, 256), (208, 320), (48, 320), (624, 624)] {
            let mut lost = right.clone();
            for row in top..top + 16 {
                lost[row * SIDE + left..][..16].fill(0);
            }
            if lost == right {
                continue;
            }
            tried += 1;
            let status = judged(&plan, &right, &lost);
            assert!(wrong(&status).contains("no order of roundings"), "{left} {top} {status:?}");
            // The counts of another tile.
            let mut moved = right.clone();
            for row in top..top + 16 {
                moved.copy_within(
                    ((row + 37) % SIDE * SIDE + left)..((row + 37) % SIDE * SIDE + left + 16),
                    row * SIDE + left,
                );
            }
            if moved != right {
                wrong(&judged(&plan, &right, &moved));
            }
        }
        assert!(tried >= 5, "{tried} tiles have pixels that escape");
    }
}

#[test]
fn a_lane_that_runs_to_the_limit_is_wrong() {
    for number in [NumberKind::F32, NumberKind::F64] {
        let plan = plan(number, Recipe::Fused);
        let right = dwells(&plan);
        let mut lane = right.clone();
        for row in (0..SIDE).step_by(4) {
            for column in (3..24).step_by(8) {
                lane[row * SIDE + column] = 0;
            }
        }
        let differing = lane.iter().zip(&right).filter(|(a, b)| a != b).count();
        assert!((1..=SIDE * SIDE / 1000 + 100).contains(&differing), "{differing}");
        wrong(&judged(&plan, &right, &lane));
    }
}

#[test]
fn an_honest_other_rounding_passes() {
    for number in [NumberKind::F32, NumberKind::F64] {
        let (plan, other) = (agreeable(number, Recipe::Fused), agreeable(number, Recipe::Separate));
        let right = dwells(&plan);
        assert_eq!(judged(&plan, &right, &right), Status::Equal);
        let separate = dwells(&other);
        let differ = separate.iter().zip(&right).filter(|(a, b)| a != b).count() as u64;
        match judged(&plan, &right, &separate) {
            Status::OtherRounding { differing, right } => {
                assert!(differing == differ && right <= differing);
                println!("{number}: {differing} pixels differ, {right} of them have the true dwell");
            }
            other => panic!("{number}: {other:?}"),
        }
    }
}

#[test]
fn a_program_that_promises_a_recipe_must_keep_it() {
    let folder = tempfile::tempdir().unwrap();
    let (fused, separate) = (agreeable(NumberKind::F32, Recipe::Fused), agreeable(NumberKind::F32, Recipe::Separate));
    let (of_fused, of_separate) = (dwells(&fused), dwells(&separate));
    write(&folder.path().join("field"), &raw(&of_fused));
    let keys = "reads = \"raw-u32\"\nagreement = \"recipe\"\nrounding = \"separate\"";
    let program = program(folder.path(), COPY, keys);
    assert_eq!(program.agreement(), Agreement::Recipe(Recipe::Separate));
    let cancel = Cancel::default();
    let run = program.run(&separate, folder.path(), &cancel).unwrap();
    let status = program.check(&separate, &of_separate, &run.dwells, &cancel).unwrap();
    assert!(wrong(&status).contains("every count of the recipe separate was promised: at column"), "{status:?}");
    assert_eq!(program.check(&separate, &run.dwells, &run.dwells, &cancel).unwrap(), Status::Equal);
    // For a plan with the other recipe, it is another rounding.
    let status = program.check(&fused, &of_fused, &of_separate, &cancel).unwrap();
    assert!(matches!(status, Status::OtherRounding { .. }), "{status:?}");
}

/// A plan of 4 x 3 pixels with different dwells.
fn small() -> Plan {
    let mut scene = scene(NumberKind::F64, Recipe::Fused);
    scene.view = dwell::View::centred("-0.5", "0.5", "1").unwrap().sized(Size::new(4, 3).unwrap());
    scene.settings.limit = 20;
    Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap()
}

#[test]
fn conventions_are_read() {
    let plan = small();
    let right = dwells(&plan);
    let folder = tempfile::tempdir().unwrap();
    let at = |column: usize, row: usize| right[row * 4 + column];
    let transposed: Vec<u32> = (0..12).map(|i| at(i / 3, i % 3)).collect();
    let upward: Vec<u32> = (0..12).map(|i| at(i % 4, 2 - i / 4)).collect();
    let from_zero: Vec<u32> = right.iter().map(|dwell| if *dwell == 0 { 20 } else { dwell - 1 }).collect();
    let csv: String =
        right.chunks(4).map(|row| row.iter().map(|n| format!("{n},")).collect::<String>() + "\n").collect();
    let grey = [b"P5 4 3 255 ".to_vec(), right.iter().map(|n| *n as u8).collect()].concat();
    let sixteen: Vec<u8> = right.iter().flat_map(|n| (*n as u16).to_le_bytes()).collect();
    let cases = [
        (raw(&transposed), "reads = \"raw-u32\"\nconvention = { transposed = true }"),
        (raw(&upward), "reads = \"raw-u32\"\nconvention = { upward = true }"),
        (raw(&from_zero), "reads = \"raw-u32\"\nconvention = { counts = \"from-zero\" }"),
        (csv.into_bytes(), ""),
        (grey, ""),
        (sixteen, "reads = \"raw-u16\""),
    ];
    for (bytes, keys) in cases {
        write(&folder.path().join("field"), &bytes);
        let program = program(folder.path(), COPY, &format!("{keys}\nagreement = \"other-rounding\""));
        let run = program.run(&plan, folder.path(), &Cancel::default()).unwrap();
        assert_eq!(run.dwells, right, "{keys}");
    }
}

#[test]
fn the_plan_is_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat '{output}.txt' > '{here}/seen'; wc -c < '{columns}' >> '{here}/seen'; cp '{here}/field' '{output}'; \
                  echo 'compute 0.0001 s'";
    let keys = "reads = \"raw-u32\"\nagreement = \"other-rounding\"\nprecision = { f64 = \"double\" }\n\
                seconds-after = \"compute\"\n[[engine.file]]\nname = \"counts.raw.txt\"\n\
                text = \"{width} {height} {limit} {precision} {xmin} {xmax} {ymin} {ymax} {re} {im} {span-x} {span-y} {radius} \
                {radius-squared} {bytes} {no placeholder} {}\\n\"";
    let plan = small();
    write(&folder.path().join("field"), &raw(&dwells(&plan)));
    for (sample, edges) in [
        ("centre", "-3.1666666666666665 2.1666666666666665 -1.5 2.5 -0.5 0.5"),
        (
            "corner",
            "-2.5 2.8333333333333335 -0.8333333333333334 3.1666666666666665 0.16666666666666666 1.1666666666666667",
        ),
    ] {
        let fake = program(folder.path(), script, &format!("sample = \"{sample}\"\n{keys}"));
        let run = fake.run(&plan, folder.path(), &Cancel::default()).unwrap();
        assert_eq!(run.seconds["compute"], 0.0001);
        let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
        assert_eq!(seen, format!("4 3 20 double {edges} 5.333333333333333 4 2 4 8 {{no placeholder}} {{}}\n32\n"));
    }
    let program = program(folder.path(), script, keys);
    let error = |plan: &Plan| program.run(plan, folder.path(), &Cancel::default()).unwrap_err();
    let scene = scene(NumberKind::F32, Recipe::Fused);
    let changed = |change: &dyn Fn(&mut Scene)| {
        let mut scene =
            Scene { settings: dwell::Settings { number: NumberKind::F64, ..scene.settings.clone() }, ..scene.clone() };
        change(&mut scene);
        Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap()
    };
    assert_eq!(error(&changed(&|scene| scene.settings.number = NumberKind::F32)), "fake: it does not compute in f32");
    let rotated = changed(&|scene| scene.view.rotation = "30".parse().unwrap());
    assert!(error(&rotated).contains("neither rotated nor flipped"));
    let flipped = changed(&|scene| scene.view.flip = true);
    assert!(error(&flipped).contains("neither rotated nor flipped"));
    let julia = changed(&|scene| scene.settings.julia = Some(["0.1", "0.2"].map(|part| part.parse().unwrap())));
    assert!(error(&julia).contains("the Mandelbrot set only"));
}

#[test]
fn broken_programs_are_one_clear_error_each() {
    let folder = tempfile::tempdir().unwrap();
    let plan = small();
    write(&folder.path().join("field"), &raw(&[1; 11]));
    for (script, reads, said) in [
        ("exit 3", "raw-u32", "sh failed: exit code 3"),
        ("echo it is broken >&2; exit 1", "raw-u32", "exit code 1; it said: it is broken"),
        ("kill -SEGV $$", "raw-u32", "ended by signal 11"),
        ("true", "raw-u32", "it wrote no file \"counts.raw\""),
        ("cp '{here}/field' '{output}'", "raw-u32", "44 bytes; expected: 48 for 4x3"),
        ("cat '{here}/field' '{here}/field' > '{output}'", "raw-u32", "more bytes; expected: 48"),
        ("echo 'hello, world' > '{output}'", "raster", "is neither a field nor an image that can be read"),
        ("echo '1,2,3' > '{output}'", "raster", "its output has 3x1 pixels; expected: 4x3"),
        ("printf '1,2,3,4\\n1,2,3,4\\n1,2,x,4\\n' > '{output}'", "raster", "line 3"),
        (
            "printf '1,2,3,4\\n1,2,3,4\\n1,2,3,21\\n' > '{output}'",
            "raster",
            "column 3, row 2: 21 is no count for the limit 20",
        ),
        ("printf '1,2,3,4\\n1,2,3,4\\n1,2,3,-1\\n' > '{output}'", "raster", "-1 is no count"),
        ("mkfifo '{output}'", "raster", "is no regular file"),
        ("ln -s /dev/zero '{output}'", "raw-u32", "is no regular file"),
        ("mkdir '{output}'", "raw-u32", "is no regular file"),
        ("head -c 9000000 /dev/zero > '{output}'", "raw-u32", "accepted: "),
        ("exec cat /dev/zero > '{output}'", "raw-u32", "it was ended when its output had"),
    ] {
        let keys = format!("reads = \"{reads}\"\nagreement = \"other-rounding\"\ntimeout = 60");
        let start = Instant::now();
        let error = program(folder.path(), script, &keys).run(&plan, folder.path(), &Cancel::default()).unwrap_err();
        assert!(error.starts_with("fake: ") && error.contains(said), "{script}: {error}");
        assert!(!error.contains('\n') && error.len() < 700, "{error}");
        assert!(start.elapsed() < Duration::from_secs(30), "{script}");
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["field"], "their folders are removed");
}

#[test]
fn gigabytes_on_standard_output_are_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let plan = small();
    let right = dwells(&plan);
    write(&folder.path().join("field"), &raw(&right));
    let script = "head -c 1000000000 /dev/zero; head -c 100000000 /dev/zero >&2; cp '{here}/field' '{output}'";
    let run = program(folder.path(), script, OTHER).run(&plan, folder.path(), &Cancel::default()).unwrap();
    assert_eq!(run.dwells, right);
    let error = program(folder.path(), "exec yes", &format!("{OTHER}timeout = 1"));
    let error = error.run(&plan, folder.path(), &Cancel::default()).unwrap_err();
    assert_eq!(error, "fake: it was ended after 1 seconds, its time limit");
}

/// Starts a child that adds a byte to a file every 50 ms.
const BEATS: &str = "(while :; do printf x >> '{here}/beats'; sleep 0.05; done) &";

/// Whether the child of [`BEATS`] has run and runs no more.
fn has_ended(folder: &Path) -> bool {
    let bytes = || std::fs::metadata(folder.join("beats")).unwrap().len();
    let pause = || std::thread::sleep(Duration::from_millis(400));
    pause();
    let before = bytes();
    pause();
    let ended = before > 0 && bytes() == before;
    std::fs::remove_file(folder.join("beats")).unwrap();
    ended
}

#[test]
fn a_program_that_hangs_is_ended_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let plan = small();
    let script = format!("{BEATS} wait");
    let hangs = program(folder.path(), &script, &format!("{OTHER}timeout = 1"));
    let start = Instant::now();
    let error = hangs.run(&plan, folder.path(), &Cancel::default()).unwrap_err();
    assert!(error.contains("after 1 seconds"), "{error}");
    assert!((1..10).contains(&start.elapsed().as_secs()) && has_ended(folder.path()));

    let hangs = program(folder.path(), &script, OTHER);
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let timer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        stop.cancel();
    });
    let start = Instant::now();
    let error = hangs.run(&plan, folder.path(), &cancel).unwrap_err();
    timer.join().unwrap();
    assert!(error.contains("interrupted") && start.elapsed() < Duration::from_secs(10), "{error}");
    assert!(has_ended(folder.path()));
    // A child that stays behind a program that has ended is ended, too.
    write(&folder.path().join("field"), &raw(&dwells(&plan)));
    let leaves = format!("{BEATS} sleep 0.3; {COPY}");
    program(folder.path(), &leaves, OTHER).run(&plan, folder.path(), &Cancel::default()).unwrap();
    assert!(has_ended(folder.path()));
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 1, "the folders of the programs are removed");
}

#[test]
fn seconds_that_a_program_reports_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let plan = small();
    write(&folder.path().join("field"), &raw(&dwells(&plan)));
    for (said, expected) in [
        ("true", "no line that begins with"),
        ("echo compute nan", "accepted: 0 to"),
        ("echo compute -1", "accepted: 0 to"),
        ("echo compute 1e9", "accepted: 0 to"),
        ("echo compute", "accepted: 0 to"),
    ] {
        let program =
            program(folder.path(), &format!("{said}; {COPY}"), &format!("{OTHER}seconds-after = \"compute\""));
        let error = program.run(&plan, folder.path(), &Cancel::default()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn availability_says_how_to_install() {
    let text = "[[engine]]\nname = \"one\"\ntitle = \"One\"\ncommand = [\"one\"]\navailable = [\"no-such-program-here\"]\n\
                install = \"apt install one\"\noutput = \"o\"\nagreement = \"other-rounding\"\n\
                [[engine]]\nname = \"two\"\ncommand = [\"two\"]\navailable = [\"true\"]\noutput = \"o\"\n\
                agreement = \"other-rounding\"\n[[engine]]\nname = \"three\"\ncommand = [\"two\"]\navailable = [\"false\"]\n\
                output = \"o\"\nagreement = \"other-rounding\"\n";
    let programs = Programs::read("x.toml", text).unwrap();
    let error = programs.get("one").unwrap().available().unwrap_err();
    assert!(error.starts_with("One is not here: no-such-program-here cannot be started: "), "{error}");
    assert!(error.ends_with("; install it: apt install one"), "{error}");
    assert_eq!(programs.get("two").unwrap().available(), Ok(()));
    assert_eq!(
        programs.get("three").unwrap().available(),
        Err("three is not here: false failed: exit code 1".to_owned())
    );
}

/// The programs of lab/engines.toml, where they are installed.
#[test]
#[ignore = "needs NumPy and FractalNow: apt install python3-numpy fractalnow"]
fn the_programs_of_the_laboratory_pass() {
    let folder = tempfile::tempdir().unwrap();
    let (programs, cancel) = (Programs::built_in().unwrap(), Cancel::default());
    for (name, number, recipe) in [
        ("numpy", NumberKind::F32, Recipe::Separate),
        ("numpy", NumberKind::F64, Recipe::Separate),
        ("fractalnow", NumberKind::F64, Recipe::Fused),
    ] {
        let program = programs.get(name).unwrap();
        program.available().unwrap();
        let other = program.agreement() == Agreement::OtherRounding;
        let plan = if other { agreeable(number, recipe) } else { plan(number, recipe) };
        let run = program.run(&plan, folder.path(), &cancel).unwrap();
        let status = program.check(&plan, &dwells(&plan), &run.dwells, &cancel).unwrap();
        println!("{name} {number}: {status:?} {:?}", run.seconds);
        match program.agreement() {
            Agreement::Recipe(_) => assert_eq!(status, Status::Equal),
            Agreement::OtherRounding => assert!(status.is_timed(), "{status:?}"),
        }
    }
}
