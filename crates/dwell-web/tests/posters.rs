//! Posters and bookmarks: what is kept in the user's folder, and goes on after the end of the server.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Server;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Waits until a poster is in a state.
fn wait(server: &Server, id: &str, state: &str) -> Value {
    let begun = Instant::now();
    loop {
        let jobs = server.get("jobs").json();
        let job = jobs.as_array().unwrap().iter().find(|job| job["id"] == id).unwrap().clone();
        if job["state"] == state {
            return job;
        }
        assert!(job["state"] != "failed" && begun.elapsed() < Duration::from_secs(120), "{job}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn ordered(server: &Server, scene: &Value, size: u32) -> String {
    let answer = server
        .post("jobs", &json!({ "scene": scene, "width": size, "height": size, "samples": 1, "name": "A poster" }));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_poster_is_paused_goes_on_after_a_restart_and_has_the_pixels_of_a_picture() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::with_folder(Some(dir.path()));
    let (port, token) = (server.host.clone(), server.token.clone());
    let scene = server.get("locations/shallow-elephant").json();
    let small = ordered(&server, &scene, 200);
    wait(&server, &small, "done");
    let file = server.get(&format!("jobs/{small}/file"));
    assert!(file.status == 200 && file.header("content-disposition").unwrap().contains(".png"));
    let picture = server.post("pictures", &json!({ "scene": scene, "width": 200, "height": 200, "samples": 1 }));
    assert!(file.body == picture.body && file.body.starts_with(b"\x89PNG"));

    // Long enough to be paused.
    let large = ordered(&server, &scene, 12_000);
    wait(&server, &large, "running");
    assert_eq!(server.post(&format!("jobs/{large}/pause"), &json!({})).json()["state"], "paused");
    assert_eq!(server.get(&format!("jobs/{large}/file")).status, 404);
    drop(server);

    let server = Server::with_folder(Some(dir.path()));
    assert_eq!((&server.host, &server.token), (&port, &token), "pages connect again");
    assert_eq!(wait(&server, &large, "paused")["name"], "A poster");
    assert_eq!(wait(&server, &small, "done")["fraction"], 1.0);
    server.post(&format!("jobs/{large}/resume"), &json!({}));
    wait(&server, &large, "running");
    drop(server);

    let server = Server::with_folder(Some(dir.path()));
    wait(&server, &large, "running");
    assert_eq!(server.call("DELETE", &format!("jobs/{large}"), "").status, 204);
    let begun = Instant::now();
    let is_left = || {
        std::fs::read_dir(dir.path().join("posters"))
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().contains(&large))
    };
    while is_left() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.call("DELETE", &format!("jobs/{large}"), "").status, 404);
    assert_eq!(server.post("jobs/x/pause", &json!({})).status, 404);
}

#[test]
fn bookmarks_are_kept_read_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::with_folder(Some(dir.path()));
    let scene = server.get("locations/kf-1e50").json();
    let body = json!({ "scene": scene }).to_string();
    assert_eq!(server.call("PUT", "bookmarks/here", &body).status, 204);
    assert_eq!(server.get("bookmarks").json()[0]["name"], "here");
    assert_eq!(server.get("bookmarks/here").json()["re"], scene["re"]);
    for name in ["..%2fhere", "%2e%2e", "a.toml", "A", "here%00", &"a".repeat(100)] {
        let status = server.call("PUT", &format!("bookmarks/{name}"), &body).status;
        assert!((400..500).contains(&status), "{name}: {status}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3, "a bookmark, the link and the folder of posters");
    assert_eq!(server.call("DELETE", "bookmarks/here", "").status, 204);
    assert_eq!(server.get("bookmarks/here").status, 404);
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let server = Server::start();
    let scene = server.get("locations/shallow-home").json();
    let answer = server.call("PUT", "bookmarks/here", &json!({ "scene": scene }).to_string());
    assert!(answer.status == 422 && answer.json()["hint"].as_str().unwrap().contains("--folder"));
    assert_eq!(server.post("jobs", &json!({ "scene": scene, "width": 10, "height": 10 })).status, 422);
    assert_eq!(server.get("jobs").json(), json!([]));
}
