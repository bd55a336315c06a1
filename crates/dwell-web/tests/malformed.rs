//! Requests and messages made of good parts and broken ones: each gets an answer, and none does harm.

mod common;

use common::{Random, Server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use tokio_tungstenite::tungstenite::{Message, connect};

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];
const PATHS: [&str; 22] = [
    "start",
    "locations",
    "locations/x",
    "palettes",
    "tables",
    "scenes",
    "scenes/text",
    "scenes/export",
    "files?name=a.kfr",
    "pictures",
    "points",
    "flavours",
    "bookmarks/a",
    "jobs",
    "jobs/1",
    "tiles/1/0/0",
    "tiles/9/x/\u{1}",
    "socket",
    "openapi.json",
    "%",
    "..",
    "",
];
const VALUES: [&str; 17] = [
    "null",
    "0",
    "-1",
    "1e999",
    "\"\"",
    "\"1e-1000000\"",
    "\"nan\"",
    "[]",
    "{}",
    "true",
    "\"\\u0000\"",
    "[[[[]]]]",
    "9999999999999999999999",
    "\"0.1\"",
    "\"auto\"",
    "\"\\ud800\"",
    "\"1e1000\"",
];
const KEYS: [&str; 22] = [
    "scene",
    "width",
    "height",
    "x",
    "y",
    "re",
    "im",
    "zoom",
    "view_height",
    "iterations",
    "colour",
    "layer",
    "palette",
    "power",
    "julia",
    "configurations",
    "text",
    "format",
    "rotation",
    "bounds",
    "type",
    "id",
];

/// How many are sent; `DWELL_SOAK=N` sends N.
fn count() -> usize {
    std::env::var("DWELL_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// An object of some keys and values, of which some are objects themselves.
fn object(random: &mut Random, depth: usize) -> String {
    let entry = |random: &mut Random| {
        let nests = depth > 0 && random.below(3) == 0;
        let value = if nests { object(random, depth - 1) } else { random.of(&VALUES).to_owned() };
        format!("\"{}\":{value}", random.of(&KEYS))
    };
    let entries: Vec<String> = (0..random.below(6)).map(|_| entry(random)).collect();
    format!("{{{}}}", entries.join(","))
}

/// A body that is nearly right, or not at all.
fn body(random: &mut Random) -> String {
    let mut body = match random.below(5) {
        0 => object(random, 0),
        1 => {
            let (width, height) = (random.of(&["8", "-8", "9e9", "\"8\""]), random.of(&["8", "0"]));
            format!("{{\"scene\":{},\"width\":{width},\"height\":{height}}}", object(random, 1))
        }
        2 => {
            let (key, value) = (random.of(&KEYS), random.of(&VALUES));
            let scene = format!("{{\"re\":\"0\",\"im\":\"0\",\"zoom\":\"1\",\"iterations\":\"9\",\"{key}\":{value}}}");
            format!("{{\"scene\":{scene},\"width\":4,\"height\":4,\"x\":1,\"y\":1}}")
        }
        3 => format!(
            "{{\"type\":\"view\",\"id\":{},\"scene\":{},\"width\":9,\"height\":5}}",
            random.of(&VALUES),
            object(random, 1)
        ),
        _ => (0..random.below(60)).map(|_| char::from(32 + random.below(90) as u8)).collect(),
    };
    if random.below(8) == 0 {
        body.truncate(random.below(body.len() + 1));
    }
    body
}

#[test]
fn malformed_requests_get_answers_and_do_no_harm() {
    let server = Server::start();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for number in 0..count() {
        let body = body(&mut random);
        let length = if random.below(10) == 0 { random.below(100) } else { body.len() };
        let token = if random.below(20) == 0 { "x" } else { &server.token };
        let (method, path, host) = (random.of(&METHODS), random.of(&PATHS), &server.host);
        let request = format!(
            "{method} /{token}/api/v1/{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(host).unwrap();
        let _ = stream.write_all(request.as_bytes());
        // What a body lacks of its length never comes.
        let _ = stream.shutdown(Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        assert!(status < 500 || status == 503, "{number}: {request}\n{head}");
    }
    assert_eq!(server.get("start").status, 200);
}

#[test]
fn malformed_messages_do_no_harm() {
    let server = Server::start();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut socket, _) = connect(server.socket()).unwrap();
    for number in 0..count() {
        if socket.send(Message::text(body(&mut random))).is_err() {
            socket = connect(server.socket()).unwrap().0;
        }
        // What is wrong is told before the next message is read, and it is read here so that the connection stays free.
        if number % 8 == 7 {
            socket.send(Message::text("{")).unwrap();
            while !matches!(socket.read().unwrap(), Message::Text(text) if text.contains("EOF while parsing an object"))
            {
            }
        }
    }
    assert_eq!(server.get("start").status, 200);
}
