//! The choice of an engine on a machine without a CUDA device. Machines with a device are tested by
//! `cargo bench -p dwell-cuda --bench device`.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

#[test]
fn without_a_device_the_processors_render() {
    let folder = Folder::new();
    let silent = folder.good("render -o none.png --size 60x40");
    assert_eq!(silent.err, "", "a warning only where --engine is given");
    let cpu = folder.good("render -o cpu.png --size 60x40 --engine cpu");
    assert_eq!(cpu.err, "");
    let auto = folder.good("render -o auto.png --size 60x40 --engine auto");
    assert_eq!(auto.err, "", "no device is looked for, since its driver takes longer than the picture");
    let large = "--bounds 3,4,3,3.5 --size 2048x1025 --max-iter 10 --aa 1 --scale root";
    assert_eq!(folder.good(&format!("render -o large.png {large}")).err, "");
    let auto = folder.good(&format!("render -o large.png {large} --engine auto"));
    assert_eq!(auto.err.lines().count(), 1, "{}", auto.err);
    assert!(auto.err.starts_with("warning: on processors: "), "{}", auto.err);
    assert_eq!(folder.read("auto.png"), folder.read("cpu.png"));
    assert_eq!(folder.read("none.png"), folder.read("cpu.png"));
    assert_eq!(folder.good(&format!("render -o large.png {large} --engine auto -q")).err, "");
    let stats = folder.stats("-o stats.png --size 60x40 --engine auto");
    assert_eq!(stats["engine"], "cpu");
    assert!(stats.get("device").is_none());
    // Nothing was measured, so no measurement is stored.
    assert!(!folder.names().contains(&"cache".to_owned()));
}

#[test]
fn a_missing_device_named_by_a_flag_is_code_5() {
    let folder = Folder::new();
    for line in [
        "render -o a.png --engine cuda",
        "render -o a.png --engine cuda:3",
        "render -o a.png --gpu-kernel per-pixel",
        "render -o a.png --engine auto --gpu-kernel mariani-silver-cdp",
        "render -o a.png --strategy mariani-silver-levels",
        "render -o a.png --block 8x8 --gpu-kernel per-pixel",
        "gallery -o pages --engine cuda",
        "peak --engine cuda",
    ] {
        let ran = folder.run(line.split_whitespace());
        assert_eq!(ran.code, 5, "{line}: {}", ran.err);
        assert!(ran.err.starts_with("error: --engine: cuda"), "{line}: {}", ran.err);
        assert!(ran.err.contains("is not available: "), "{line}: {}", ran.err);
        assert_eq!(folder.names(), Vec::<String>::new(), "{line} leaves nothing");
    }
}

#[test]
fn conflicting_engine_flags_are_errors() {
    let folder = Folder::new();
    for (line, flag) in [
        ("render -o a.png --engine gpu", "--engine"),
        ("render -o a.png --engine cuda:x", "--engine"),
        ("render -o a.png --engine cuda:-1", "--engine"),
        ("render -o a.png --engine cpu --gpu-kernel tuned", "--engine"),
        ("render -o a.png --gpu-kernel fast", "--gpu-kernel"),
        ("render -o a.png --gpu-kernel per-pixel --strategy mariani-silver", "--gpu-kernel"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --strategy every-pixel", "--gpu-kernel"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --strategy mariani-silver-levels", "--gpu-kernel"),
        ("render -o a.png --gpu-kernel per-pixel --block 0x4", "--block"),
        ("render -o a.png --gpu-kernel per-pixel --block 4x", "--block"),
        ("render -o a.png --gpu-kernel per-pixel --block 2000", "--block"),
        ("render -o a.png --gpu-kernel per-pixel --max-depth 4", "--max-depth"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --formula tricorn", "--gpu-kernel"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --subdiv 1", "--subdiv"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --min-size 0", "--min-size"),
        ("render -o a.png --gpu-kernel mariani-silver-cdp --init-subdiv many", "--init-subdiv"),
    ] {
        let ran = folder.run(line.split_whitespace());
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.starts_with(&format!("error: {flag}")), "{line}: {}", ran.err);
        assert_eq!(folder.names(), Vec::<String>::new(), "{line} leaves nothing");
    }
}

#[test]
fn info_reports_why_there_is_no_device() {
    let folder = Folder::new();
    let text = String::from_utf8(folder.good("info").out).unwrap();
    assert!(text.lines().any(|line| line.starts_with("cuda       none: ")), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&folder.good("info --json").out).unwrap();
    assert_eq!(json["cuda_devices"], serde_json::json!([]));
    assert!(json["no_cuda"].as_str().is_some_and(|why| !why.is_empty()));
}
