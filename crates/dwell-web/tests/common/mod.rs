//! A server of this process, and the simplest clients of it.

#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::store::PartialFiles;
use dwell::{Cancel, CpuEngine, Limits, Scene};
use dwell_web::{Explorer, Listen, Options};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A server that ends when it is dropped.
pub(crate) struct Server {
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
    /// HOST:PORT.
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with_folder(None)
    }

    pub(crate) fn with_folder(folder: Option<&Path>) -> Self {
        let explorer = Explorer::start(Options {
            listen: Listen::default(),
            engine: Arc::new(CpuEngine::default()),
            limits: Limits::default(),
            scene: Scene::default(),
            folder: folder.map(Path::to_owned),
            reports: None,
            partial_files: PartialFiles::default(),
            is_test: true,
        });
        let explorer = explorer.unwrap();
        let link = explorer.link();
        let mut parts = link.trim_start_matches("http://").split('/');
        let (host, token) = (parts.next().unwrap().to_owned(), parts.next().unwrap().to_owned());
        let cancel = Cancel::default();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let of_thread = cancel.clone();
        let thread = std::thread::spawn(move || explorer.serve(&of_thread, || ready.send(()).unwrap()).unwrap());
        is_ready.recv().unwrap();
        Self { cancel, thread: Some(thread), host, token }
    }

    /// The address of the WebSocket.
    pub(crate) fn socket(&self) -> String {
        format!("ws://{}/{}/api/v1/socket", self.host, self.token)
    }

    /// The answer to a request of the API.
    pub(crate) fn call(&self, method: &str, path: &str, body: &str) -> Answer {
        self.raw(&format!(
            "{method} /{}/api/v1/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            self.host,
            body.len()
        ))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, &body.to_string())
    }

    /// The answer to bytes.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // A server that refuses a request may close before it is sent.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::read(&bytes)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cancel.cancel();
        let ended = self.thread.take().unwrap().join();
        assert!(std::thread::panicking() || ended.is_ok());
    }
}

/// An answer of HTTP; the status is 0 where there is none.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = bytes.get(end + 4..).unwrap_or(&[]);
        let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.to_vec() };
        Self { status, head, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// The parts of a body in chunks, as one.
fn joined(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            break;
        }
        all.extend_from_slice(&body[end + 2..end + 2 + length]);
        body = &body[end + 4 + length..];
    }
    all
}

/// Numbers that look random and are the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    pub(crate) fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}
