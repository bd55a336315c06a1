//! Deep views from the command line.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

#[test]
fn auto_takes_exact_arithmetic_where_f64_does_not_resolve_the_view() {
    let folder = Folder::new();
    let stats = folder.stats("kf-1e50 --size 32x18 -o deep.png");
    assert_eq!((stats["precision"].as_str(), stats["exact"].as_bool()), (Some("exact"), Some(true)));
    assert_eq!(stats["deep"]["reference_length"], 86614);
    let tiers = stats["deep"]["tiers"].as_array().unwrap();
    let decided: u64 = tiers.iter().map(|tier| tier["decided"].as_u64().unwrap()).sum();
    assert_eq!(decided, 32 * 18, "{stats}");
    assert_eq!(folder.stats("shallow-seahorse --size 32x18")["precision"], "f64");
    assert_eq!(folder.stats("shallow-seahorse --size 32x18 --precision exact")["precision"], "exact");
    // Near 0 an f64 has any number of digits, and its square plus a constant has not.
    let near = folder.stats("--julia 0,1 --center 0,0 --zoom 1e30 --size 32x18");
    assert_eq!((near["precision"].as_str(), near["interior_pixels"].as_u64()), (Some("exact"), Some(0)), "{near}");
    assert_eq!(folder.stats("--julia 0,1 --center 0,0 --zoom 1e3 --size 32x18")["precision"], "f64");
    // The text of a picture says what was found.
    let shown = folder.good("show deep.png").text();
    assert!(shown.contains("number = \"exact\""), "{shown}");
    let again = folder.stats("deep.png --size 32x18 -o again.png");
    assert_eq!(folder.read("deep.png"), folder.read("again.png"));
    assert_eq!(again["field_blake3"], stats["field_blake3"]);
}

#[test]
fn deep_dwells_are_true_and_do_not_depend_on_the_way_they_are_computed() {
    let folder = Folder::new();
    let line = "kf-1e14 --size 40x24 --precision exact";
    let plain = folder.stats(&format!("{line} -o a.npy"));
    folder.good("compare --truth a.npy kf-1e14 --size 40x24 --all");
    for way in ["--threads 1", "--threads 3 --tile 5x3", "--level scalar", "--schedule static --tile 64x64"] {
        let stats = folder.stats(&format!("{line} {way}"));
        assert_eq!(stats["field_blake3"], plain["field_blake3"], "{way}");
    }
    // A zoom of 1e1000, a rotated view, and a limit that is found.
    for line in ["rf-e1000 --size 12x8", "kf-5e113 --size 12x8 --rotate 30", "kf-1e14 --zoom 1e20 --size 24x16"] {
        let stats = folder.stats(line);
        assert_eq!(stats["precision"], "exact", "{line}");
        assert!(stats["interior_pixels"].as_u64().unwrap() < 10, "{line}: {stats}");
    }
}

#[test]
fn limits_beyond_32_bits_take_exact_arithmetic_and_64_bits_of_a_file() {
    let folder = Folder::new();
    let (most, below) = ("9223372036854775807", "4294967295");
    // Points inside the set are proved to stay, so that the limit costs nothing: of the whole set, beside a component, and inside one.
    for view in
        ["--size 48x32", "--center -0.75,0.1 --zoom 1e20 --size 32x18", "--center -0.1,0.1 --zoom 1e60 --size 32x18"]
    {
        let far = folder.stats(&format!("{view} --max-iter {most} -o far.npy -o far.csv -o far.png"));
        assert_eq!(
            (far["precision"].as_str(), &far["max_iterations"]),
            (Some("exact"), &most.parse::<u64>().unwrap().into())
        );
        assert!(folder.read("far.npy").starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '<u8'"));
        folder.stats(&format!("{view} --max-iter {below} --precision exact -o near.npy"));
        assert!(folder.read("near.npy").starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '<u4'"));
        for file in ["far.csv", "near.npy"] {
            let text = folder.good(&format!("compare far.npy {file}")).text();
            assert!(text.contains("the same"), "{text}");
        }
        folder.good("check far.png");
    }
    let text = folder.good("point -0.1225611668766536,0.7448617666197442 --max-iter 1e18").text();
    assert!(text.contains("precise  did not escape within 1000000000000000000"), "{text}");
    assert!(text.contains("f64      did not escape within 4294967295"), "{text}");
}

#[test]
fn extreme_views_are_drawn() {
    let folder = Folder::new();
    // From far away, so deep that a delta has an exponent beyond that of f64 by far, and at a centre of 20,000 digits.
    let stats = folder.stats("--center 0,0 --zoom 1e-5 --size 17x9 --precision exact --max-iter 50");
    assert_eq!(stats["interior_pixels"], 1, "{stats}");
    let stats = folder.stats("--center -0.75,0.1 --zoom 1e100000 --size 16x9 --max-iter 10");
    assert_eq!(stats["interior_pixels"], 144, "{stats}");
    let digits = "3141592653".repeat(2000);
    let stats = folder.stats(&format!("--center -0.7{digits},0.1{digits} --zoom 1e19990 --size 16x9 --max-iter 40"));
    assert_eq!(stats["precision"], "exact", "{stats}");
}

#[test]
fn what_tiles_leave_is_decided_alike_with_few_and_with_many_threads() {
    let folder = Folder::new();
    let of = |threads: usize| {
        folder.stats(&format!("fs-view05 --size 480x270 --precision exact --aa 1 --threads {threads} -o a.npy"))
    };
    let one = of(1);
    for threads in [2, 3, 8] {
        let other = of(threads);
        assert_eq!(one["field_blake3"], other["field_blake3"], "{threads} threads");
        // With more than two threads, eight of these are decided as soon as they wait, and the others in the end.
        let tiers = other["deep"]["tiers"].as_array().unwrap();
        let in_fixed_point = tiers.iter().find(|tier| tier["tier"] == "fixed-point").unwrap();
        assert!(in_fixed_point["decided"].as_u64().unwrap() > 8, "{other}");
    }
}

#[test]
fn an_orbit_that_meets_the_circle_of_escape_is_counted_and_the_picture_is_not_called_exact() {
    let folder = Folder::new();
    // Turned by 45 degrees, the pixels beside the centre are at sqrt(2) (1 + i) and the like: |c| = 2, which no bits decide. They escape at 2.
    let stats = folder.stats("--bounds -3,3,-3,3 --size 3x3 --rotate 45 --precision exact --max-iter 50 -o a.csv");
    assert_eq!(stats["deep"]["unproved"], 4, "{stats}");
    assert_eq!(stats["exact"], false);
    assert!(stats["warnings"][0].as_str().unwrap().contains("|z_n| = R"), "{stats}");
    assert_eq!(folder.read("a.csv"), b"1,2,1\n2,0,2\n1,2,1\n");
    // Without the rotation they are whole numbers, and decided.
    let stats = folder.stats("--bounds -3,3,-3,3 --size 3x3 --precision exact --max-iter 50 -o b.csv");
    assert_eq!((&stats["deep"]["unproved"], &stats["exact"]), (&0.into(), &true.into()));
    assert_eq!(folder.read("b.csv"), b"1,2,1\n0,0,2\n1,2,1\n");
}

#[test]
fn a_limit_of_memory_holds_for_a_deep_view() {
    let folder = Folder::new();
    let ran = folder.run("render kf-1e50 --size 32x18 -o a.png --max-memory 20M".split(' '));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("memory") || ran.err.contains("needs"), "{}", ran.err);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_long_reference_is_compressed_where_there_is_little_memory() {
    let folder = Folder::new();
    let of = |how: &str| folder.stats(&format!("rf-dragon --size 16x9 --aa 1 {how} -o a.npy"));
    let (whole, compressed) = (of(""), of("--max-memory 80M"));
    let is_compressed = |stats: &serde_json::Value| stats["deep"]["reference_compressed"].as_bool();
    assert_eq!([&whole, &compressed].map(is_compressed), [Some(false), Some(true)]);
    let bytes = |stats: &serde_json::Value| stats["deep"]["reference_bytes"].as_u64().unwrap();
    assert!(bytes(&compressed) < bytes(&whole) / 6, "{compressed}");
    assert_eq!(compressed["field_blake3"], whole["field_blake3"]);
}

#[test]
fn messages_name_what_a_deep_view_takes() {
    let folder = Folder::new();
    let ran = folder.run("render kf-1e50 --size 32x18 -o a.png --precision f16".split(' '));
    assert!(ran.err.contains("(accepted: f32, f64, exact, auto)"), "{}", ran.err);
    let ran = folder.run("render rf-dragon --size 32x18 -o a.png --max-memory 40M".split(' '));
    assert!(ran.code == 2 && ran.err.contains("--max-memory") && ran.err.contains("hint: allow more"), "{}", ran.err);
    let plan = folder.good("render kf-1e50 --size 32x18 --dry-run").text();
    assert!(plan.contains("exact arithmetic") && !plan.contains("fused") && !plan.contains("tiles"), "{plan}");
}

#[test]
fn chaotic_orbits_of_a_map_with_a_fold_have_a_limit_in_seconds() {
    let folder = Folder::new();
    // Beside the edge of what stays, orbits on one side are chaotic and stay for ever, while at the other point all of them escape some time.
    for (place, limit) in [
        ("0.3828916284380466231970262179044874252934,0.3830421401327478087676038531665657552412", 1000),
        ("-1.0351665564979547762280986944460892118514,-0.5373975011386421737902274742282315855846", 50_000),
    ] {
        let view = format!("--formula burning-ship --center={place} --zoom 1e30 --size 32x18 --aa 1");
        let of = |how: &str| {
            let stats = folder.stats(&format!("{view} {how} -o a.npy"));
            (stats["max_iterations"].as_u64().unwrap(), stats["field_blake3"].clone())
        };
        let found = of("--threads 2");
        assert_eq!(found.0, limit);
        assert_eq!(of("--threads 1 --level scalar"), found);
    }
}
