//! Pictures: formulas, colours, samples, and the text that a picture stores about itself.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

/// xorshift64*.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
    fn one_of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len())]
    }
}

fn folder() -> Folder {
    Folder::new()
        .with(
            "mine.toml",
            b"colours = [\"#f00\", \"#0f0\", \"#00f\"]\ncyclic = false\nblend = \"light\"\ndensity = 2.5\n",
        )
        .with("mine.map", b"255 0 0\n0 255 0\n\t1 2 3 ; \"quoted\" \\ and 'more'\n")
        .with(
            "mine.ggr",
            b"GIMP Gradient\nName: Mine\n2\n0 0.2 0.5 0 0 0 1 1 1 1 1 1 0\n0.5 0.7 1 1 1 1 1 0 0.2 0.9 1 2 1\n",
        )
        .with(
            "mine.ugr",
            b"first {\ngradient:\n  title=\"a\" smooth=no\n  index=0 color=255\n  index=200 color=65280\n}\n\
second {\ngradient:\n  title=\"b\" smooth=yes\n  index=0 color=255\n  index=100 color=16711680\n}\n",
        )
}

/// Flags of a random picture.
fn any_picture(random: &mut Random) -> String {
    let mut line = String::new();
    let mut add = |text: String| {
        line.push(' ');
        line.push_str(&text);
    };
    let what = random.one_of(&["", "", "shallow-elephant", "burning-ship", "julia-seahorse", "multibrot-3"]);
    add(what.to_owned());
    add(format!("--size {}", random.one_of(&["40x30", "33x17", "1x9", "64x36"])));
    match random.below(4) {
        0 => add("--bounds -1.8,0.7,-1.1,1.2".to_owned()),
        1 => add("--center -0.2500000000000000000001,0.1 --zoom 1.75e0".to_owned()),
        2 => add("--center 0.1,-0.3 --view-height 2.50".to_owned()),
        _ => {}
    }
    match random.below(4) {
        0 => add(format!("--look {}", random.one_of(&["relief", "cells", "night", "petals", "plaster", "plain"]))),
        1 => add("--shade=200 --shade-height 0.8 --shade-strength 0.5 --interior-by multiplier".to_owned()),
        _ => {}
    }
    if random.below(3) == 0 {
        add(format!("--rotate {}", random.one_of(&["30", "-90.0", "1.25e1"])));
    }
    if random.below(3) == 0 {
        add(random.one_of(&["--flip", "--flip=no", "--sample corner"]).to_owned());
    }
    match random.below(6) {
        0 => add(format!("--formula multibrot --power {}", random.one_of(&["3", "5", "16"]))),
        1 => add(format!("--formula burning-ship --power {}", random.one_of(&["2", "3"]))),
        2 => add("--formula tricorn".to_owned()),
        _ => {}
    }
    if random.below(3) == 0 {
        add(format!("--julia {}", random.one_of(&["-0.8,0.156", "0.3,-0.5", "-1.75000,0"])));
    }
    add(format!("--max-iter {}", random.one_of(&["1", "77", "500", "auto"])));
    if random.below(4) == 0 {
        add(format!("--escape-radius {}", random.one_of(&["2.5", "4.00"])));
    }
    if random.below(3) == 0 {
        add(random
            .one_of(&["--precision f32", "--rounding separate", "--precision f32 --rounding separate"])
            .to_owned());
    }
    let palettes =
        ["ember", "viridis", "toader", "ink", "mine.toml", "mine.map", "mine.ggr", "mine.ugr", "mine.ugr#second"];
    if random.below(5) > 0 {
        add(format!("--palette {}", random.one_of(&palettes)));
    }
    if random.below(2) == 0 {
        let scale = random.one_of(&["root", "linear", "log", "histogram"]);
        add(format!("--color-by {} --scale {scale}", random.one_of(&["smooth", "banded", "distance"])));
    }
    if random.below(2) == 0 {
        add(format!(
            "--density {} --offset {}",
            random.one_of(&["0.1", "3", "1e-3"]),
            random.one_of(&["-0.7", "0.333"])
        ));
    }
    if random.below(4) == 0 {
        add(format!("--interior {}", random.one_of(&["#123", "#abcdef", "#123456789abc"])));
    }
    add(format!("--aa {}", random.one_of(&["1", "1", "2", "3"])));
    add(format!("--depth {}", random.one_of(&["8", "8", "16"])));
    if random.below(5) == 0 {
        let strategy = random.one_of(&["mariani-silver", "boundary-trace --tile 16x16"]);
        add(format!("--strategy {strategy} --shortcuts {}", random.one_of(&["none", "exact", "interior,symmetry"])));
    }
    line + " --force"
}

#[test]
fn sixty_random_pictures_are_reproduced_from_their_own_text() {
    let folder = folder();
    let mut kinds = std::collections::HashSet::new();
    for seed in 1..=60 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let line = any_picture(&mut random);
        folder.good(&format!("render {line} -o old.png"));
        let old = folder.read("old.png");
        // With other threads, schedules and levels.
        let how = random.one_of(&["", "--threads 1", "--threads 3 --schedule guided", "--level scalar"]);
        folder.good(&format!("render old.png -o new.png {how}"));
        assert!(old == folder.read("new.png"), "seed {seed}: {line}, then {how}");
        // From the printed text.
        let text = folder.good("show old.png").text();
        let from_text = Folder::new().with("place.toml", text.as_bytes());
        from_text.good("render place.toml -o new.png");
        assert!(old == from_text.read("new.png"), "seed {seed}: {line}\n{text}");
        kinds.insert(blake3::hash(&old));
    }
    assert_eq!(kinds.len(), 60, "no two alike");
}

/// Width, height, and samples in bytes.
fn decode(bytes: &[u8]) -> (u32, u32, png::BitDepth, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut picture = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut picture).unwrap();
    picture.truncate(info.buffer_size());
    (info.width, info.height, info.bit_depth, picture)
}

#[test]
fn a_picture_is_rendered_larger_and_in_other_colours() {
    let folder = Folder::new();
    folder.good("render shallow-elephant -o old.png --size 32x18 --palette fire --color-by distance --aa 2");
    folder.good("render old.png -o large.png --size 64x36 --aa 1");
    assert_eq!((decode(&folder.read("large.png")).0, decode(&folder.read("large.png")).1), (64, 36));
    let text = folder.good("show large.png").text();
    for line in
        ["title = \"Elephant valley\"", "palette = \"fire\"", "by = \"distance\"", "size = \"64x36\"", "samples = 1"]
    {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    folder.good("render old.png -o other.png --palette ember");
    let text = folder.good("show other.png").text();
    assert!(text.contains("palette = \"ember\"") && text.contains("by = \"distance\""), "{text}");
    // Another place does not keep the title.
    folder.good("render old.png -o other.png --zoom 200");
    assert!(!folder.good("show other.png").text().contains("Elephant"));
    // A copy under another name is accepted; writing over the input is an error.
    std::fs::copy(folder.join("old.png"), folder.join("copy")).unwrap();
    folder.good("render ./copy -o again.png");
    assert!(folder.read("again.png") == folder.read("old.png"));
    assert_eq!(folder.run(["render", "old.png", "-o", "old.png"]).code, 2);
}

#[test]
fn a_chosen_interior_colour_survives_a_new_palette() {
    let folder = Folder::new();
    let interior = |line: &str| {
        folder.good(&format!("render {line} -o new.png"));
        let text = folder.good("show new.png").text();
        text.lines().find(|line| line.starts_with("interior")).unwrap().to_owned()
    };
    folder.good("render --size 8x8 -o white.png --interior #ffffff");
    assert_eq!(interior("white.png --palette ember"), "interior = \"#ffffff\"");
    assert_eq!(interior("white.png --palette ember --interior #123456"), "interior = \"#123456\"");
    folder.good("render --size 8x8 -o ink.png --palette ink");
    assert_eq!(interior("ink.png --palette ember"), "interior = \"#000000\"", "that of the old palette is replaced");
}

#[test]
fn the_burning_ship_is_flipped_by_default() {
    let folder = Folder::new();
    let flip = |line: &str| {
        folder.good(&format!("render {line} --size 8x8 --max-iter 100 -o new.png"));
        folder.good("show new.png").text().contains("flip = true")
    };
    for place in ["", "--zoom 2", "--center -0.5,-0.5 --view-height 3", "--bounds -2,2,-2,2"] {
        assert!(flip(&format!("--formula burning-ship {place}")), "{place}");
        assert!(!flip(&format!("--formula burning-ship --flip=no {place}")), "{place}");
        assert!(!flip(&format!("--formula tricorn {place}")), "{place}");
    }
    assert!(!flip("shallow-home --formula burning-ship"), "a location's own setting is kept");
}

#[test]
fn a_rectangle_is_zoomed_about_its_centre_and_keeps_its_height_elsewhere() {
    let folder = Folder::new();
    folder.good("render --bounds -2,1,-1.5,1.2 --size 30x20 -o rect.png");
    let text = |flags: &str| {
        folder.good(&format!("render rect.png -o new.png {flags}"));
        folder.good("show new.png").text()
    };
    let zoomed = text("--zoom 3");
    assert!(zoomed.contains("re = \"-0.5\"\nim = \"-0.15\"\nzoom = \"3\"\n"), "{zoomed}");
    let moved = text("--center 0.25,1");
    assert!(moved.contains("re = \"0.25\"\nim = \"1\"\nview_height = \"2.7\"\n"), "{moved}");
}

#[test]
fn a_location_file_names_a_palette_file_beside_it() {
    let place = "re = \"-0.75\"\nim = \"0.1\"\nzoom = \"20\"\niterations = 300\nsize = \"20x10\"\n[colour]\n";
    let folder = folder().with("here.toml", format!("{place}palette = \"./mine.ugr#second\"\n").as_bytes());
    std::fs::create_dir(folder.join("p")).unwrap();
    let ggr = folder.read("mine.ggr");
    let folder =
        folder.with("p/ok.ggr", &ggr).with("p/there.toml", format!("{place}palette = \"ok.ggr\"\n").as_bytes());
    folder.good("render here.toml -o a.ppm");
    folder.good("render here.toml -o b.ppm --palette mine.ugr#second");
    assert!(folder.read("a.ppm") == folder.read("b.ppm"));
    // The path is relative to the location file, not to the current folder; the picture stores the palette itself.
    folder.good("render p/there.toml -o there.png");
    folder.good("render here.toml -o ggr.png --palette p/ok.ggr");
    assert!(decode(&folder.read("there.png")) == decode(&folder.read("ggr.png")));
    std::fs::remove_file(folder.join("p/ok.ggr")).unwrap();
    folder.good("render there.png -o again.png");
    assert!(folder.read("again.png") == folder.read("there.png"));
}

#[test]
#[cfg(unix)]
fn locations_and_pictures_are_read_from_standard_input() {
    let place = b"re = \"-0.75\"\nim = \"0.1\"\nzoom = \"20\"\niterations = 300\n[colour]\npalette = \"./mine.map\"\n";
    let folder = folder().with("here.toml", place);
    folder.good("render here.toml --size 20x10 -o here.png");
    let here = folder.read("here.png");
    for (from, what) in [
        ("cat here.toml |", "-"),
        ("cat here.toml |", "/dev/stdin"),
        ("cat here.png |", "-"),
        ("cat here.png |", "/dev/stdin"),
    ] {
        let script = format!("{from} \"$0\" render {what} --size 20x10 -o new.png");
        assert!(folder.shell(&script).status().unwrap().success(), "{script}");
        assert!(folder.read("new.png") == here, "{script}");
    }
    assert!(folder.shell("\"$0\" render /dev/stdin --size 20x10 -o new.png < here.toml").status().unwrap().success());
    assert!(folder.read("new.png") == here);
    let shown = folder.good("show here.png").text();
    for script in ["cat here.png | \"$0\" show -", "\"$0\" show - < here.png", "cat here.png | \"$0\" show /dev/stdin"]
    {
        assert_eq!(String::from_utf8(folder.shell(script).output().unwrap().stdout).unwrap(), shown, "{script}");
    }
    let bad = folder.shell("echo nonsense | \"$0\" show -").output().unwrap();
    let said = String::from_utf8(bad.stderr).unwrap();
    assert!(bad.status.code() == Some(2) && said.contains("standard input, line 1"), "{said}");
}

#[test]
fn a_file_of_a_newer_version_gives_a_warning() {
    let text = b"dwell = \"99.1.0\"\nre = \"0\"\nim = \"0\"\nzoom = \"1\"\niterations = 50\n";
    let folder = Folder::new().with("new.toml", text);
    for line in ["render new.toml --size 8x8 -o a.png", "show new.toml"] {
        let said = folder.good(line).err;
        assert!(said.starts_with("warning: \"new.toml\" was written by dwell 99.1.0, which is newer"), "{said}");
    }
    let stats = folder.good("render new.toml --size 8x8 --stats -").err;
    assert!(serde_json::from_str::<serde_json::Value>(&stats).is_ok(), "{stats}");
}

#[test]
fn warnings_are_stored_in_the_picture() {
    let folder = Folder::new();
    folder.good("render kf-1e50 --size 4x4 --max-iter 50 --force -o deep.png");
    assert!(folder.good("show deep.png").text().contains("warnings = ["));
    folder.good("render deep.png -o again.png");
    assert!(folder.read("again.png") == folder.read("deep.png"));
}

#[test]
fn sixteen_bit_colours_agree_with_eight_bit_colours() {
    let folder = Folder::new();
    for flags in ["--dither no", "--aa 3 --dither no", "--color-by banded --scale limit --dither no"] {
        folder.good(&format!("render --size 60x40 {flags} -o a.png -o a.ppm"));
        folder.good(&format!("render --size 60x40 {flags} --depth 16 -o b.png -o b.ppm"));
        let (.., narrow_depth, narrow) = decode(&folder.read("a.png"));
        let (.., wide_depth, wide) = decode(&folder.read("b.png"));
        assert_eq!((narrow_depth, wide_depth), (png::BitDepth::Eight, png::BitDepth::Sixteen));
        for (narrow, wide) in narrow.iter().zip(wide.chunks(2)) {
            let wide = f64::from(u16::from_be_bytes([wide[0], wide[1]])) / 257.0;
            assert!((wide - f64::from(*narrow)).abs() <= 0.51);
        }
        let (a, b) = (folder.read("a.ppm"), folder.read("b.ppm"));
        assert!(a.starts_with(b"P6\n60 40\n255\n") && a.ends_with(&narrow));
        assert!(b.starts_with(b"P6\n60 40\n65535\n") && b.ends_with(&wide));
    }
}

#[test]
fn samples_are_averages_of_a_larger_field() {
    let folder = Folder::new();
    let one = folder.stats("--size 90x60 --aa 1 --dither no -o fine.ppm --palette graphite");
    let aa = folder.stats("--size 30x20 --aa 3 --dither no -o aa.ppm --palette graphite");
    assert_eq!(one["field_blake3"], aa["field_blake3"], "statistics are those of the samples");
    assert_eq!((&aa["width"], &aa["height"], &aa["samples"]), (&90.into(), &60.into(), &3.into()));
    let (fine, aa) = (folder.read("fine.ppm"), folder.read("aa.ppm"));
    let (fine, aa) = (&fine[fine.len() - 90 * 60 * 3..], &aa[aa.len() - 30 * 20 * 3..]);
    // Linear light by the formula of IEC 61966-2-1.
    #[expect(clippy::disallowed_methods, reason = "a reference")]
    let light = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    for y in 0..20 {
        for x in 0..30 {
            let mean = (0..9).map(|k| light(fine[((3 * y + k / 3) * 90 + 3 * x + k % 3) * 3])).sum::<f64>() / 9.0;
            let found = light(aa[(y * 30 + x) * 3]);
            assert!((found - mean).abs() < 0.006, "{x} {y}: {found} {mean}");
        }
    }
}

#[test]
fn every_formula_gives_its_own_field() {
    let folder = Folder::new();
    let hash = |flags: &str| folder.stats(&format!("--size 50x40 --max-iter 200 {flags}"))["field_blake3"].clone();
    let set = hash("--center -0.5,0 --zoom 1");
    assert_eq!(set, hash("--center -0.5,0 --zoom 1 --formula mandelbrot --power 2"));
    // multibrot of power 2 is the Mandelbrot set.
    assert_eq!(set, hash("--center -0.5,0 --zoom 1 --formula multibrot --power 2"));
    let mut seen = std::collections::HashSet::new();
    for flags in [
        "--formula mandelbrot",
        "--formula multibrot",
        "--formula multibrot --power 4",
        "--formula burning-ship",
        "--formula burning-ship --power 3",
        "--formula tricorn",
        "--formula tricorn --power 4",
        "--julia 0.3,0.5",
        "--julia 0.3,0.5 --formula burning-ship",
        "--julia 0.3,0.5 --formula tricorn",
        "--julia 0.3,0.5 --formula multibrot",
    ] {
        assert!(seen.insert(hash(&format!("--center -0.1,0.05 --zoom 1 {flags}"))), "{flags}");
    }
    // Flags override the formula and the Julia constant of a location.
    let stats = folder.stats("burning-ship --size 8x8 --power 3");
    assert_eq!((&stats["formula"], &stats["power"]), (&"burning-ship".into(), &3.into()));
    assert!(folder.stats("julia-seahorse --size 8x8 --julia none")["julia"].is_null());
    assert_eq!(folder.stats("julia-seahorse --size 8x8")["julia"][0], "-0.74543");
    let point = |flags: &str| folder.good(&format!("point 0.5,0.5 --json {flags}")).text();
    let json: serde_json::Value = serde_json::from_str(&point("--formula tricorn --power 3 --max-iter 5000")).unwrap();
    assert_eq!((&json["f64"], &json["formula"]), (&json["precise"], &"tricorn".into()));
}

#[test]
fn whole_sets_fit_the_size_and_bounds_choose_one() {
    let folder = folder();
    // The share of the columns and rows that points of the set, or near it, take.
    let extent = |flags: &str| {
        folder.good(&format!("render {flags} --max-iter 40 -o a.csv"));
        let text = String::from_utf8(folder.read("a.csv")).unwrap();
        let rows: Vec<Vec<u32>> = text.lines().map(|l| l.split(',').map(|n| n.parse().unwrap()).collect()).collect();
        let near = |n: &u32| *n == 0 || *n > 20;
        let across: Vec<usize> = (0..rows[0].len()).filter(|i| rows.iter().any(|row| near(&row[*i]))).collect();
        let down: Vec<usize> = (0..rows.len()).filter(|j| rows[*j].iter().any(near)).collect();
        let share = |taken: &[usize], of: usize| {
            assert!(taken[0] > 0 && taken[taken.len() - 1] + 1 < of, "{flags}: cut");
            (taken[taken.len() - 1] - taken[0] + 1) as f64 / of as f64
        };
        (share(&across, rows[0].len()), share(&down, rows.len()))
    };
    for flags in [
        "--size 117x253",
        "--size 253x117 --rotate 90",
        "--size 200x100 --formula multibrot --power 5",
        "--size 100x200 --formula multibrot --power 16",
        "--size 160x90 --julia -0.8,0.156",
        "--size 90x160 --julia -0.8,0.156 --rotate 60",
        "julia-rabbit --size 117x253",
        "burning-ship --size 117x253",
        "burning-ship --size 160x90 --formula tricorn --power 4",
    ] {
        let (across, down) = extent(flags);
        assert!(across.max(down) > 0.75, "{flags}: {across} x {down}");
    }
    let stats = folder.stats("--bounds -2,1,-1,1");
    assert_eq!((&stats["width"], &stats["height"]), (&1764.into(), &1176.into()));
    let stats = folder.stats("--bounds -2,1,-1,1 --size 64x36");
    assert_eq!((&stats["width"], &stats["height"]), (&64.into(), &36.into()));
    let stats = folder.stats("--size a6@50dpi-landscape");
    assert_eq!((&stats["width"], &stats["height"]), (&291.into(), &207.into()));
    folder.good("render --size phone -o phone.png --max-iter 20");
    let text = folder.good("show phone.png").text();
    assert!(text.contains("size = \"1170x2532\"") && text.contains("view_height") && !text.contains("fit"), "{text}");
    folder.good("render -o made/for/it/a.png --size 8x8");
    assert!(folder.join("made/for/it/a.png").is_file());
}

#[test]
fn palettes_lists_and_draws_palettes() {
    let folder = folder();
    let list = folder.good("palettes").text();
    assert!(list.lines().count() >= 20);
    for name in ["zhong", "hybridizer", "genova", "nvidia", "toader", "viridis", "classic"] {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}");
        folder.good(&format!("render --size 8x8 -o a.png --palette {name}"));
    }
    let names = folder.good("palettes --names").text();
    assert_eq!(names.lines().next(), Some("twilight"));
    assert_eq!(names.lines().count(), list.lines().count());
    folder.good("palettes -o sheet.png");
    let (width, height, _, _) = decode(&folder.read("sheet.png"));
    folder.good("palettes ember mine.ggr mine.ugr#second -o small.png");
    let small = decode(&folder.read("small.png"));
    assert!(small.0 <= width && small.1 < height);
    assert!(folder.good("palettes mine.ggr").text().contains("Mine"));
    // Control characters in the name of a palette file are escaped, and long titles are cut.
    let evil = format!("colours = [\"#fff\"]\nname = \"a\\u001b[31mb\\nc\"\ntitle = \"{}\"\n", "x".repeat(10_000));
    let folder = folder.with("evil.toml", evil.as_bytes());
    for line in ["palettes evil.toml", "palettes --names evil.toml"] {
        let text = folder.good(line).text();
        assert!(text.contains("a\\u{1b}[31mb\\nc") && text.lines().count() == 1 && text.len() < 200, "{text}");
    }
    folder.good("palettes ember -o sheet");
    assert!(folder.read("sheet").starts_with(b"\x89PNG"), "a name without an ending gets a PNG");
}

#[test]
#[cfg(unix)]
fn a_palette_file_is_never_overwritten() {
    let folder = folder();
    std::os::unix::fs::symlink("mine.ugr", folder.join("link.png")).unwrap();
    for line in ["palettes mine.ugr#second -o link.png", "palettes ember mine.ugr -o ./link.png"] {
        let ran = folder.run(line.split(' '));
        assert!(ran.code == 2 && ran.err.contains("is the file of a palette as well"), "{}", ran.err);
    }
    let ran = folder.run("render --palette mine.ugr#second --size 8x8 -o link.png".split(' '));
    assert!(ran.code == 2 && ran.err.contains("is the file of --palette as well"), "{}", ran.err);
    assert!(folder.read("mine.ugr").starts_with(b"first"));
}

#[test]
fn palettes_of_other_programs_need_not_be_utf_8() {
    let folder = Folder::new()
        .with("old.ugr", b"bl\xe4u {\ngradient:\n  title=\"Bl\xe4u\" index=0 color=255\n}\n")
        .with("old.map", b"0 0 0 schwarz\n255 255 255 wei\xdf\n");
    assert!(folder.good("palettes old.ugr").text().contains("Bl\u{e4}u"));
    folder.good("render --size 8x8 --palette old.map -o a.png");
    folder.good("render a.png -o b.png");
    assert!(folder.read("a.png") == folder.read("b.png"));
}

#[test]
fn a_gallery_of_locations() {
    let folder = Folder::new();
    // Shallow and deep ones: all of them take half a minute.
    let names = "shallow-home julia-dendrite burning-ship kf-1e14 rf-flake rf-e1000";
    folder.good(&format!("gallery -o page/of/pictures {names} --size 24x14 --aa 1"));
    let page = String::from_utf8(folder.read("page/of/pictures/index.html")).unwrap();
    for name in names.split(' ') {
        assert!(page.contains(&format!("src=\"{name}.png\"")), "{name}");
        assert_eq!(decode(&folder.read(&format!("page/of/pictures/{name}.png"))).0, 24);
    }
    assert!(!page.contains("take hours"));
    // A page that dwell wrote is replaced.
    assert!(page.contains("<meta name=\"generator\" content=\"dwell "));
    folder.good("gallery -o page/of/pictures shallow-home --size 24x14 --aa 1 -q");
    // Nothing is rendered if the page cannot be written.
    std::fs::create_dir_all(folder.join("bad/index.html")).unwrap();
    let ran = folder.run("gallery -o bad --size 24x14 --aa 1".split(' '));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(std::fs::read_dir(folder.join("bad")).unwrap().count(), 1);
    let ran = folder.run("gallery -o none shallow-hom".split(' '));
    assert!(ran.code == 2 && ran.err.contains("shallow-home"), "{}", ran.err);
}
