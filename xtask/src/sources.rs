//! Checks of the Rust sources that the compiler does not make: `unsafe` occurs only where it may, every other crate forbids
//! it, and nothing but the explorer names a type of the network, of which its sources name none that connects.
//!
//! The sources are read as tokens, so that comments and texts do not count, and neither layout nor macros hide a word.

use crate::{Done, root};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// Packages whose sources may contain `unsafe`, in the library, in tests and in benchmarks.
const WITH_UNSAFE: [&str; 3] = ["crates/dwell-kernels", "crates/dwell-cuda", "crates/faulty-alloc"];
/// Files that may contain the word `unsafe` in an attribute and nowhere else.
const WITH_UNSAFE_ATTRIBUTE: [&str; 2] =
    ["crates/dwell-cli/src/machine/arenas.rs", "crates/dwell-cli/src/standard_streams.rs"];
/// The root of the crate with that file. The macro behind the attribute allows its own unsafe code, so it is not forbidden.
const DENYING_ROOT: &str = "crates/dwell-cli/src/main.rs";
/// The package that listens: the explorer. Its tests connect to servers of their own.
const LISTENING: &str = "crates/dwell-web";
/// Folders that hold no sources of ours.
const LEFT_OUT: [&str; 2] = ["target", "node_modules"];
/// Folders with packages.
const FOLDERS: [&str; 3] = ["crates", "xtask", "fuzz"];
/// Types of the standard library that open a connection, to this machine or to another one.
const CONNECTING: [&str; 5] = ["TcpStream", "UdpSocket", "UnixStream", "UnixDatagram", "ToSocketAddrs"];
/// Those that wait for one, or name its end.
const WAITING: [&str; 4] = ["TcpListener", "UnixListener", "SocketAddr", "IpAddr"];

/// Checks every Rust file of the workspace and of the fuzz targets.
pub(crate) fn check() -> Done {
    let mut found = Vec::new();
    for folder in FOLDERS {
        rust_files(&root().join(folder), &mut found)?;
    }
    if found.len() < 100 {
        return Err(format!("{} Rust files were found", found.len()).into());
    }
    let mut problems = Vec::new();
    for path in &found {
        let name = path.strip_prefix(root())?.to_string_lossy().replace('\\', "/");
        let tokens = tokens(&std::fs::read_to_string(path)?).map_err(|e| format!("{name}: {e}"))?;
        problems.extend(problems_of(&name, &tokens).into_iter().map(|problem| format!("{name}: {problem}")));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The Rust files below a folder, without those that a build has written.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| LEFT_OUT.iter().all(|left_out| name != *left_out)) {
                rust_files(&path, found)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// A token without its place. Groups are opened and closed by tokens of their own.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Mark(char),
    /// A literal; its text does not matter.
    Literal,
}

/// The tokens of a file.
fn tokens(text: &str) -> Result<Vec<Token>, proc_macro2::LexError> {
    fn add(stream: TokenStream, tokens: &mut Vec<Token>) {
        for tree in stream {
            match tree {
                TokenTree::Ident(word) => tokens.push(Token::Word(word.to_string())),
                TokenTree::Punct(mark) => tokens.push(Token::Mark(mark.as_char())),
                TokenTree::Literal(_) => tokens.push(Token::Literal),
                TokenTree::Group(group) => {
                    let [open, close] = match group.delimiter() {
                        Delimiter::Parenthesis => ['(', ')'],
                        Delimiter::Brace => ['{', '}'],
                        Delimiter::Bracket => ['[', ']'],
                        // Groups without delimiters come from macros, not from texts.
                        Delimiter::None => [' ', ' '],
                    };
                    tokens.push(Token::Mark(open));
                    add(group.stream(), tokens);
                    tokens.push(Token::Mark(close));
                }
            }
        }
    }
    let mut all = Vec::new();
    add(text.parse()?, &mut all);
    Ok(all)
}

/// What is wrong with the file of that name.
fn problems_of(name: &str, tokens: &[Token]) -> Vec<String> {
    let mut problems = Vec::new();
    let may_hold =
        WITH_UNSAFE.iter().any(|package| name.strip_prefix(package).is_some_and(|rest| rest.starts_with('/')));
    let is_unsafe = |token: &Token| matches!(token, Token::Word(word) if word == "unsafe");
    if !may_hold {
        let uses = tokens.iter().filter(|token| is_unsafe(token)).count();
        let in_attributes = if WITH_UNSAFE_ATTRIBUTE.contains(&name) { in_constructors(tokens) } else { 0 };
        if uses > in_attributes {
            problems.push(format!("`unsafe` is only for {}", WITH_UNSAFE.join(" and ")));
        }
        let level = if name == DENYING_ROOT { "deny" } else { "forbid" };
        if is_root(name) && !has_level(level, tokens) {
            problems.push(format!("the root of a crate without `unsafe` says #![{level}(unsafe_code)]"));
        }
    }
    let is_of = |package: &str, folder: &str| name.strip_prefix(package).is_some_and(|rest| rest.starts_with(folder));
    let may_connect = is_of(LISTENING, "/tests/");
    let may_listen = may_connect || is_of(LISTENING, "/src/");
    let is_wrong = |word: &&str| if may_listen { !may_connect && CONNECTING.contains(word) } else { true };
    let wrong = network(tokens).filter(is_wrong);
    problems.extend(
        wrong.map(|word| format!("`{word}` is about network connections: {LISTENING} listens, and nothing connects")),
    );
    problems
}

/// The occurrences of `unsafe` in attributes `#[ctor(unsafe)]`.
fn in_constructors(tokens: &[Token]) -> usize {
    let word = |word: &str| Token::Word(word.to_owned());
    let attribute = [
        Token::Mark('#'),
        Token::Mark('['),
        word("ctor"),
        Token::Mark('('),
        word("unsafe"),
        Token::Mark(')'),
        Token::Mark(']'),
    ];
    tokens.windows(attribute.len()).filter(|window| **window == attribute).count()
}

/// Whether a file is the root of a library, of a program or of a build script.
fn is_root(name: &str) -> bool {
    name.ends_with("/src/lib.rs")
        || name.ends_with("/src/main.rs")
        || name.ends_with("/build.rs") && !name.contains("/src/")
}

/// Whether the root of a crate has the attribute `#![LEVEL(unsafe_code)]`.
fn has_level(level: &str, tokens: &[Token]) -> bool {
    let word = |word: &str| Token::Word(word.to_owned());
    let attribute = [
        Token::Mark('#'),
        Token::Mark('!'),
        Token::Mark('['),
        word(level),
        Token::Mark('('),
        word("unsafe_code"),
        Token::Mark(')'),
        Token::Mark(']'),
    ];
    tokens.windows(attribute.len()).any(|window| *window == attribute)
}

/// Words that are about network connections: names of types, and a module `net` in a path.
fn network(tokens: &[Token]) -> impl Iterator<Item = &str> {
    let colon = Token::Mark(':');
    let at = |index: Option<usize>| index.and_then(|index| tokens.get(index));
    tokens.iter().enumerate().filter_map(move |(index, token)| {
        let Token::Word(word) = token else { return None };
        let in_path = at(index.checked_sub(1)) == Some(&colon) && at(index.checked_sub(2)) == Some(&colon)
            || at(Some(index + 1)) == Some(&colon) && at(Some(index + 2)) == Some(&colon);
        (CONNECTING.contains(&word.as_str()) || WAITING.contains(&word.as_str()) || word == "net" && in_path)
            .then_some(word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, text: &str) -> Vec<String> {
        problems_of(name, &tokens(text).unwrap())
    }

    #[test]
    fn the_sources_of_the_workspace_are_in_order() {
        check().unwrap();
    }

    #[test]
    fn unsafe_is_found_however_it_is_written() {
        let inside = "crates/dwell-kernels/src/level.rs";
        for text in [
            "fn f() { unsafe { g() } }",
            "unsafe impl Send for X {}",
            "macro_rules! m { () => { unsafe { g() } } }",
            "#[unsafe(no_mangle)] fn f() {}",
            "#[ctor(unsafe)] fn f() {}",
            "extern \"C\" { } /* \" */ unsafe fn f() {}",
        ] {
            assert_eq!(problems("crates/dwell/src/plan.rs", text).len(), 1, "{text}");
            assert_eq!(problems("crates/dwell/tests/exact.rs", text).len(), 1, "{text}");
            assert_eq!(problems("crates/dwell-kernels-more/src/a.rs", text).len(), 1, "{text}");
            assert!(problems(inside, text).is_empty(), "{text}");
        }
        for text in ["// unsafe", "/* /* */ unsafe */", "/// unsafe\nfn f() {}", "const X: &str = r#\"unsafe \"{}\"#;"]
        {
            assert!(problems("crates/dwell/src/plan.rs", text).is_empty(), "{text}");
        }
        let streams = WITH_UNSAFE_ATTRIBUTE[0];
        assert!(problems(streams, "#[ctor(unsafe)] fn f() {}").is_empty());
        assert_eq!(problems(streams, "#[ctor(unsafe)] fn f() { unsafe {} }").len(), 1);
    }

    #[test]
    fn roots_forbid_unsafe_code() {
        for root in ["crates/dwell/src/lib.rs", "xtask/src/main.rs", "crates/dwell-cli/build.rs"] {
            assert_eq!(problems(root, "//! #![forbid(unsafe_code)]\n#![deny(unsafe_code)]\nmod a;").len(), 1, "{root}");
            assert!(problems(root, "//! A crate.\n#![forbid(unsafe_code)]\nmod a;").is_empty(), "{root}");
        }
        assert!(problems("crates/dwell-cuda/src/lib.rs", "mod a;").is_empty());
        assert_eq!(problems(DENYING_ROOT, "mod a;").len(), 1);
        assert!(problems(DENYING_ROOT, "#![deny(unsafe_code)]\nmod a;").is_empty());
    }

    #[test]
    fn network_connections_are_found() {
        for text in [
            "use std::net::{IpAddr as A};",
            "use std::{fs, net::*};",
            "fn f(_: std::os::unix::net::UnixStream) {}",
            "fn f() { TcpListener::bind(\"127.0.0.1:0\"); }",
        ] {
            assert!(!problems("crates/dwell-cuda/tests/a.rs", text).is_empty(), "{text}");
        }
        let listens = "fn f() { TcpListener::bind(\"127.0.0.1:0\"); }";
        assert!(problems("crates/dwell-web/src/server.rs", listens).is_empty());
        assert!(!problems("crates/dwell-web-more/src/server.rs", listens).is_empty());
        let connects = "fn f() { TcpStream::connect(\"127.0.0.1:0\"); }";
        assert!(!problems("crates/dwell-web/src/server.rs", connects).is_empty());
        assert!(problems("crates/dwell-web/tests/api.rs", connects).is_empty());
        assert!(problems("crates/dwell/src/a.rs", "let net = gross - tare; // std::net").is_empty());
    }
}
