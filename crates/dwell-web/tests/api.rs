//! The API over HTTP: what it answers, and that nothing sent to it does harm.

mod common;

use common::Server;
use dwell::{Cancel, CpuEngine, Limits, Location, Size};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The scene of a built-in location.
fn scene(server: &Server, name: &str) -> Value {
    let answer = server.get(&format!("locations/{name}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn the_page_and_the_api_need_the_token_and_say_what_a_browser_may_do() {
    let server = Server::start();
    let (host, token) = (&server.host, &server.token);
    let page = server.raw(&format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
    assert!(page.header("access-control-allow-origin").is_none());
    for (what, request, status) in [
        ("no token", format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"), 403),
        (
            "a wrong token",
            format!("GET /{}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", "x".repeat(32)),
            403,
        ),
        ("another host", format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"), 403),
        ("no host", format!("GET /{token}/ HTTP/1.1\r\nConnection: close\r\n\r\n"), 400),
        (
            "another origin",
            format!(
                "GET /{token}/api/v1/start HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n"
            ),
            403,
        ),
        (
            "the socket from another origin",
            format!(
                "GET /{token}/api/v1/socket HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: \
                 websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            ),
            403,
        ),
        (
            "a file elsewhere",
            format!("GET /{token}/../../etc/passwd HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            404,
        ),
        (
            "a file elsewhere, encoded",
            format!("GET /{token}/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            404,
        ),
        (
            "another method",
            format!("DELETE /{token}/api/v1/start HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
            405,
        ),
    ] {
        let answer = server.raw(&request);
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        assert!(answer.json()["error"].is_string(), "{what}");
    }
    let bearer = format!(
        "GET /api/v1/start HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.raw(&bearer).status, 200);
}

#[test]
fn a_picture_has_the_pixels_of_a_render_and_its_scene() {
    let server = Server::start();
    let size = Size::new(96, 54).unwrap();
    for name in ["shallow-home", "julia-rabbit", "burning-ship-armada", "kf-1e50"] {
        let body = json!({ "scene": scene(&server, name), "width": 96, "height": 54 });
        let answer = server.post("pictures", &body);
        assert_eq!(answer.status, 200, "{name}");
        assert_eq!(answer.header("content-type"), Some("image/png"));
        let drawn = Location::from_png(std::io::Cursor::new(answer.body.clone()), "x").unwrap().scene;
        let expected = dwell::picture(&drawn, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
        let png =
            dwell::png_bytes(expected.bytes(), size, expected.depth(), &drawn.text(&[]), &dwell::ThreadPool::new(1));
        assert_eq!(answer.body, png.unwrap(), "{name}");

        let tag = answer.header("etag").unwrap().to_owned();
        let text = body.to_string();
        let known = server.raw(&format!(
            "POST /{}/api/v1/pictures HTTP/1.1\r\nHost: {}\r\nIf-None-Match: {tag}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
            server.token, server.host, text.len()
        ));
        assert_eq!((known.status, known.body.len()), (304, 0));
    }
}

#[test]
fn tiles_are_parts_of_one_picture() {
    let server = Server::start();
    let whole = server.get("tiles/0/0/0.png?iterations=200");
    assert_eq!(whole.status, 200, "{whole:?}");
    let deep = server.get(&format!("tiles/100/{}/{}?iterations=50", "1".repeat(30), "2".repeat(30)));
    assert_eq!(deep.status, 200, "{deep:?}");
    for wrong in
        ["tiles/0/1/0", "tiles/x/0/0", "tiles/0/0/0?shine=3", "tiles/0/0/0?palette=%2Fetc%2Fpasswd", "tiles/20000/0/0"]
    {
        assert!((400..500).contains(&server.get(wrong).status), "{wrong}");
    }
}

#[test]
fn points_say_what_is_known() {
    let server = Server::start();
    let of = |name: &str, x: u32, y: u32| {
        let body = json!({ "scene": scene(&server, name), "width": 320, "height": 180, "x": x, "y": y });
        let answer = server.post("points", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let inside = of("shallow-home", 160, 90);
    assert_eq!((&inside["escaped"], &inside["period"], &inside["dwell"]), (&false.into(), &1.into(), &"0".into()));
    let outside = of("shallow-home", 0, 0);
    assert!(outside["escaped"] == true && outside["distance"].as_f64().unwrap() > 0.0 && outside["period"].is_null());
    let deep = of("kf-1e14", 10, 20);
    assert!(deep["number"] == "exact" && deep["proved"] == true && deep["re"].as_str().unwrap().len() > 16, "{deep}");
    let beyond = json!({ "scene": scene(&server, "shallow-home"), "width": 320, "height": 180, "x": 320, "y": 0 });
    assert_eq!(server.post("points", &beyond).status, 422);
}

#[test]
fn scenes_go_to_files_and_back() {
    let server = Server::start();
    let home = scene(&server, "kf-1e50");
    for format in ["toml", "kfr", "f3.toml", "upr", "par"] {
        let file = server.post("scenes/export", &json!({ "scene": home, "format": format })).json();
        let text = file["text"].as_str().unwrap();
        let again = server.call("POST", &format!("files?name=a.{format}"), text);
        assert_eq!(again.status, 200, "{format}: {again:?}");
        assert_eq!(again.json()["scene"]["re"], home["re"], "{format}");
    }
    let palette = server.call("POST", "files?name=a.map", "0 0 0\n255 255 255\n255 160 0\n").json();
    assert!(
        palette["palette"]["palette_text"].is_string() && palette["colours"].as_array().unwrap().len() == 32,
        "{palette}"
    );
    let command = server.post("scenes/command", &json!({ "scene": home, "width": 640, "height": 360 })).json();
    assert!(command["command"].as_str().unwrap().starts_with("dwell render -o picture.png - <<'END'"), "{command}");
    let wrong = server.call("POST", "files?name=a.toml", "no location");
    assert!(wrong.status == 422 && wrong.json()["error"].is_string());
}

#[test]
fn flavours_differ_where_their_dwells_do() {
    let server = Server::start();
    let home = scene(&server, "shallow-elephant");
    let of = |ways: Value| {
        server.post("flavours", &json!({ "scene": home, "width": 128, "height": 72, "configurations": ways }))
    };
    let same =
        of(json!([{ "threads": 1, "level": "scalar" }, { "threads": 2, "schedule": "guided", "shortcuts": "none" }]))
            .json();
    assert_eq!((&same["differing"], &same["results"][0]["hash"]), (&0.into(), &same["results"][1]["hash"]), "{same}");
    assert!(same["results"][0]["peak_fraction"].as_f64().unwrap() > 0.0);
    let other = of(json!([{}, { "precision": "f32" }])).json();
    assert!(other["differing"].as_u64().unwrap() > 0, "{other}");
    for wrong in
        [json!([{}]), json!([{}, { "level": "mmx" }]), json!([{}, { "threads": 0 }]), json!([{}, { "shine": 1 }])]
    {
        assert!((400..500).contains(&of(wrong).status));
    }
}

#[test]
fn work_ends_when_its_client_has_gone() {
    let server = Server::start();
    // No shortcut ends these orbits soon, and the limit is far away.
    let slow = json!({ "scene": {
        "re": "-0.75", "im": "0", "zoom": "1e3", "formula": "burning-ship", "iterations": "4000000000", "number": "f64",
    }, "width": 4000, "height": 4000, "samples": 1 })
    .to_string();
    let mut gone = TcpStream::connect(&server.host).unwrap();
    let head = format!(
        "POST /{}/api/v1/pictures HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        server.token,
        server.host,
        slow.len()
    );
    gone.write_all(format!("{head}{slow}").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(gone);
    let begun = Instant::now();
    let quick = json!({ "scene": scene(&server, "shallow-home"), "width": 16, "height": 9, "samples": 1 });
    assert_eq!(server.post("pictures", &quick).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(20), "the only turn was taken for {:?}", begun.elapsed());
}

#[test]
fn sizes_are_bounded_whatever_the_path() {
    let server = Server::start();
    let home = scene(&server, "shallow-home");
    for (path, body) in [
        ("pictures", json!({ "scene": home, "width": 100_000, "height": 100_000 })),
        ("pictures", json!({ "scene": home, "width": 4096, "height": 4096, "samples": 16 })),
        ("fields", json!({ "scene": home, "width": 4_294_967_295_u32, "height": 1 })),
        ("points", json!({ "scene": home, "width": 65_536, "height": 65_536, "x": 0, "y": 0 })),
        ("flavours", json!({ "scene": home, "width": 65_536, "height": 65_536, "configurations": [{}, {}] })),
        ("jobs", json!({ "scene": home, "width": 1_000_000, "height": 1_000_000 })),
        ("pictures", json!({ "scene": home, "width": 0, "height": 1 })),
        ("pictures", json!({ "scene": home, "width": -1, "height": 1 })),
        ("pictures", json!({ "scene": home, "width": 1e99, "height": 1 })),
    ] {
        let begun = Instant::now();
        let answer = server.post(path, &body);
        assert!((400..500).contains(&answer.status), "{path} {body}: {answer:?}");
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
    let long = server.call("POST", "scenes", &format!("{{\"scene\":{{\"re\":\"0.{}\"}}}}", "1".repeat(70_000)));
    assert_eq!(long.status, 413);
    assert_eq!(server.get(&"a".repeat(9000)).status, 414);
    let nested = server.call("POST", "scenes", &format!("{{\"scene\":{}", "[".repeat(60_000)));
    assert_eq!(nested.status, 400);
}

#[test]
fn colours_of_palettes_are_those_of_style_sheets() {
    let server = Server::start();
    let palettes = server.get("palettes").json();
    for palette in palettes.as_array().unwrap() {
        let colours = palette["colours"].as_array().unwrap();
        assert_eq!(colours.len(), 32);
        for colour in colours.iter().chain([&palette["interior"]]) {
            let text = colour.as_str().unwrap();
            let digits = text.strip_prefix('#').unwrap();
            assert!(digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{palette}");
        }
    }
}
