//! Views over the WebSocket: from coarse to fine, and in the end the picture of a render.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Server;
use dwell::{Cancel, CpuEngine, Depth, Field, Limits, Painter, Plan, Samples, Scene, Size, Strategy, Task};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect, stream::MaybeTlsStream};

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

/// What a page gets for a view.
#[derive(Default)]
struct Got {
    scene: Value,
    done: Vec<Value>,
    /// Stage, kind, width, height, first row, rows and content of each binary message.
    rows: Vec<([u32; 6], Vec<u8>)>,
}

fn socket(server: &Server) -> Socket {
    connect(server.socket()).unwrap().0
}

fn ask(socket: &mut Socket, id: u32, scene: &Value, [width, height]: [u32; 2], rest: bool, paint: &str) {
    let view = json!({ "type": "view", "id": id, "scene": scene, "width": width, "height": height, "rest": rest, "paint": paint });
    socket.send(Message::text(view.to_string())).unwrap();
}

/// Reads until a view is done, or has failed.
fn read(socket: &mut Socket, id: u32, last: &str) -> Got {
    let mut got = Got::default();
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["id"] != id {
                    continue;
                }
                match value["type"].as_str().unwrap() {
                    "scene" => got.scene = value,
                    "done" => {
                        let is_last = value["stage"] == last;
                        got.done.push(value);
                        if is_last {
                            return got;
                        }
                    }
                    other => assert_ne!(other, "error", "{value}"),
                }
            }
            Message::Binary(bytes) => {
                let numbers: Vec<u32> =
                    bytes[..32].chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
                assert_eq!(numbers[0], 0x4c45_5744);
                if numbers[1] == id {
                    got.rows.push((numbers[2..8].try_into().unwrap(), bytes[32..].to_vec()));
                }
            }
            _ => {}
        }
    }
}

fn scene(server: &Server, name: &str) -> Value {
    server.get(&format!("locations/{name}")).json()
}

/// The scene that a page is shown, of a size.
fn shown(got: &Got, size: Size) -> Scene {
    let mut json = got.scene["scene"].clone();
    let limit: i64 = json["iterations"].as_str().unwrap().parse().unwrap();
    json["iterations"] = limit.into();
    let text = toml::to_string(&json).unwrap();
    let scene = dwell::Location::parse(&text, "x").unwrap().scene;
    Scene { view: scene.view.clone().sized(size), ..scene }
}

#[test]
fn what_rests_is_the_picture_of_a_render_byte_for_byte() {
    let server = Server::start();
    let mut socket = socket(&server);
    let size = Size::new(160, 90).unwrap();
    let looks = json!({ "re": "-0.75", "im": "0.1", "zoom": "20", "colour": { "look": "night" } });
    let four = json!({ "re": "-0.75", "im": "0.1", "zoom": "20", "samples": 4 });
    let even = json!({ "re": "-0.75", "im": "0.1", "zoom": "20", "colour": { "scale": "histogram" } });
    let turned = json!({ "re": "-0.75", "im": "0.1", "zoom": "20", "rotation": "33.3", "samples": 1 });
    let names = ["shallow-home", "shallow-seahorse", "burning-ship-armada", "julia-rabbit", "kf-1e14", "kf-1e50"];
    let scenes = names.map(|name| scene(&server, name)).into_iter().chain([looks, four, even, turned]);
    for (number, scene) in scenes.enumerate() {
        for paint in ["page", "server"] {
            let id = 2 * number as u32 + u32::from(paint == "page");
            ask(&mut socket, id, &scene, [160, 90], true, paint);
            let got = read(&mut socket, id, "final");
            let (header, picture) = got.rows.last().unwrap();
            assert_eq!(*header, [2, 1, 160, 90, 0, 90]);
            let shown = shown(&got, size);
            let expected =
                dwell::picture(&shown, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
            assert!(picture == expected.bytes(), "{scene} by {paint}");
        }
    }
}

#[test]
fn dwells_and_values_are_those_of_the_field_from_coarse_to_fine() {
    let server = Server::start();
    let mut socket = socket(&server);
    for (id, name) in (1..).zip(["shallow-home", "shallow-elephant", "kf-1e14"]) {
        ask(&mut socket, id, &scene(&server, name), [203, 117], false, "page");
        let got = read(&mut socket, id, "full");
        assert_eq!(got.done.iter().map(|done| done["stage"].as_str().unwrap()).collect::<Vec<_>>(), ["coarse", "full"]);
        for (stage, size) in [(0, Size::new(26, 15).unwrap()), (1, Size::new(203, 117).unwrap())] {
            let scene = shown(&got, size);
            let plan = Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap();
            let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: scene.colouring.channels() };
            let field = dwell::field(&task, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
            check_rows(&got, stage, size, &field);
            let painter = Painter::new(&scene.colouring, plan.limit(), Depth::Eight, Samples::Fixed(1), true).unwrap();
            let tables = painter.tables().unwrap().unwrap();
            let density = got.scene["tables"]["density"].as_f64().unwrap();
            assert_eq!(tables.slope, density * 8192.0 / scene.colouring.palette.period(), "{name}");
        }
    }
}

/// Compares the rows that came with a field: each row once, in order.
fn check_rows(got: &Got, stage: u32, size: Size, field: &Field) {
    let mut next = 0;
    for ([_, kind, width, height, first, rows], bytes) in got.rows.iter().filter(|(header, _)| header[0] == stage) {
        assert_eq!([*kind, *width, *height, *first], [0, size.width, size.height, next]);
        let (from, count) = ((first * width) as usize, (rows * width) as usize);
        assert_eq!(bytes.len(), 8 * count);
        for i in 0..count {
            let at = |offset: usize| bytes[offset + 4 * i..offset + 4 * i + 4].try_into().unwrap();
            let (dwell, value) = (u32::from_le_bytes(at(0)), f32::from_le_bytes(at(4 * count)));
            assert_eq!(dwell, field.dwell()[from + i]);
            assert_eq!(value, (field.smooth()[from + i] - f64::from(dwell)) as f32);
        }
        next += rows;
    }
    assert_eq!(next, size.height);
}

#[test]
fn a_new_view_ends_the_one_before() {
    let server = Server::start();
    let mut socket = socket(&server);
    // Orbits that no proof ends, far from their limit: minutes of work.
    let slow = json!({ "re": "-1.76", "im": "-0.03", "zoom": "30", "formula": "burning-ship", "iterations": "4000000000", "samples": 1 });
    let home = scene(&server, "shallow-home");
    for id in 1..8 {
        ask(&mut socket, 2 * id, &slow, [1280, 720], true, "page");
        std::thread::sleep(Duration::from_millis(60));
        let begun = Instant::now();
        ask(&mut socket, 2 * id + 1, &home, [64, 36], true, "page");
        let got = read(&mut socket, 2 * id + 1, "final");
        assert_eq!(got.done.len(), 3);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn many_pages_get_their_views_while_some_compute_long() {
    let server = Server::start();
    let home = scene(&server, "shallow-elephant");
    std::thread::scope(|scope| {
        for page in 0..20_u32 {
            let (server, home) = (&server, &home);
            scope.spawn(move || {
                let mut socket = socket(server);
                for id in 1..4 {
                    ask(&mut socket, id, home, [200 + page, 100], true, "page");
                    read(&mut socket, id, "final");
                }
            });
        }
    });
}

#[test]
fn wrong_messages_get_an_error_and_the_page_goes_on() {
    let server = Server::start();
    let mut socket = socket(&server);
    let good = scene(&server, "shallow-home");
    let wrong = [
        "".to_owned(),
        "{".to_owned(),
        "{}".to_owned(),
        "[1]".to_owned(),
        r#"{"type":"view"}"#.to_owned(),
        r#"{"type":"shine"}"#.to_owned(),
        json!({ "type": "view", "id": 1, "scene": {}, "width": 10, "height": 10 }).to_string(),
        json!({ "type": "view", "id": 1, "scene": good, "width": 0, "height": 10 }).to_string(),
        json!({ "type": "view", "id": 1, "scene": good, "width": 100_000, "height": 100_000 }).to_string(),
        json!({ "type": "view", "id": -1, "scene": good, "width": 10, "height": 10 }).to_string(),
    ];
    for text in wrong {
        socket.send(Message::text(text.clone())).unwrap();
        loop {
            if let Message::Text(answer) = socket.read().unwrap() {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                if answer["type"] == "error" {
                    assert!(answer["error"].is_string(), "{text}");
                    break;
                }
            }
        }
    }
    ask(&mut socket, 5, &good, [32, 18], true, "page");
    assert_eq!(read(&mut socket, 5, "final").done.len(), 3);
    // A message beyond the bound ends the connection, and no other.
    let _ = socket.send(Message::text("x".repeat(100_000)));
    while socket.read().is_ok() {}
    assert_eq!(server.get("start").status, 200);
}
