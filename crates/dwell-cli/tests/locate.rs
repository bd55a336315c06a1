//! `dwell locate`: its reports and its location files.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

#[test]
fn a_minibrot_is_located_and_rendered() {
    let folder = Folder::new();
    let ran = folder.good("locate --center -1.76,0 --zoom 20 -o mini.toml --json");
    assert_eq!(ran.err, "", "no progress where standard error is no terminal");
    let report: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!((report["kind"].as_str(), report["period"].as_u64()), (Some("minibrot"), Some(3)));
    assert_eq!((report["shape"].as_str(), report["turned"].as_str()), (Some("cardioid"), Some("0")));
    assert!(report["re"].as_str().unwrap().starts_with("-1.754877666246692760"));
    assert_eq!(report["proof"]["exact_period"].as_bool(), Some(true));
    assert_eq!(report["proof"]["least_period"].as_bool(), Some(true));
    assert_eq!(report["preperiod"], serde_json::Value::Null);
    let text = folder.good("show mini.toml").text();
    assert!(text.contains("title = \"Minibrot of period 3\"") && text.contains("name = \"minibrot-3\""), "{text}");
    folder.good("render mini.toml -o mini.png --size 64x36");
    // From the picture that was made of it, too.
    let again = folder.good("locate mini.png").text();
    assert!(again.starts_with("found       minibrot of period 3\n"), "{again}");
}

#[test]
fn a_location_goes_to_standard_output_alone() {
    let folder = Folder::new();
    let text = folder.good("locate --box -1.8,-1.7,-0.04,0.05 --zoom-to 1e6 -o -").text();
    assert!(text.contains("zoom = \"1e6\"") && text.contains("re = \"-1.7548776662466927"), "{text}");
    assert!(!text.contains("found"), "{text}");
}

#[test]
fn a_misiurewicz_point_is_located() {
    let folder = Folder::new();
    let report = folder.good("locate --center -1.9999,0.00001 --zoom 1e4 --kind misiurewicz --json").text();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((report["preperiod"].as_u64(), report["period"].as_u64()), (Some(2), Some(1)));
    assert_eq!((report["re"].as_str(), report["multiplier"].as_str()), (Some("-2"), Some("4")));
    assert_eq!(report["size"], serde_json::Value::Null);
}

#[test]
fn an_existing_file_is_kept_where_that_is_wanted_and_nothing_is_left_after_an_error() {
    let folder = Folder::new().with("mini.toml", b"kept");
    let ran = folder.run(["locate", "--center", "-1.76,0", "--zoom", "20", "-o", "mini.toml", "--no-clobber"]);
    assert_eq!((ran.code, ran.err.contains("exists already")), (2, true), "{}", ran.err);
    let ran = folder.run(["locate", "--center", "0.6,0.6", "--zoom", "100", "-o", "none.toml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(folder.names(), ["mini.toml"]);
}
