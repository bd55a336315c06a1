//! Where the server listens.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on: `HOST:PORT`, `:PORT` or `HOST`, where HOST is an IP address or `localhost`. Port 0 is a free one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen(pub(crate) SocketAddr);

impl Default for Listen {
    /// A free port of 127.0.0.1.
    fn default() -> Self {
        Self(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0))
    }
}

impl Listen {
    /// The accepted form, for messages.
    pub const ACCEPTED: &'static str = "HOST:PORT, such as 127.0.0.1:8080, where HOST is an IP address or localhost";

    /// Whether only programs of this machine can reach it.
    #[must_use]
    pub fn is_loopback(self) -> bool {
        self.0.ip().is_loopback()
    }

    /// Whether a port is named.
    pub(crate) fn has_port(self) -> bool {
        self.0.port() != 0
    }

    /// The same address with a port, where none is named.
    pub(crate) fn or_port(self, port: u16) -> Self {
        if self.has_port() { self } else { Self(SocketAddr::new(self.0.ip(), port)) }
    }
}

impl FromStr for Listen {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let host = |text: &str| -> Result<IpAddr, ()> {
            match text.trim_start_matches('[').trim_end_matches(']') {
                "" | "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
                text => text.parse().map_err(drop),
            }
        };
        if let Ok(address) = host(text) {
            return Ok(Self(SocketAddr::new(address, 0)));
        }
        let (before, port) = text.rsplit_once(':').ok_or(())?;
        Ok(Self(SocketAddr::new(host(before)?, port.parse().map_err(drop)?)))
    }
}

/// Whether a `Host` header names this server, which listens at `address`: a browser that was led here by a name of another
/// site (DNS rebinding) sends that name. Names other than `localhost` are refused, and other addresses where it listens on one alone.
pub(crate) fn is_own_host(host: &str, address: SocketAddr) -> bool {
    let Some((name, port)) = host.rsplit_once(':') else {
        return address.port() == 80 && is_own_name(host, address.ip());
    };
    port.bytes().all(|digit| digit.is_ascii_digit())
        && port.parse() == Ok(address.port())
        && is_own_name(name, address.ip())
}

fn is_own_name(name: &str, listens_at: IpAddr) -> bool {
    if name == "localhost" {
        return listens_at.is_loopback() || listens_at.is_unspecified();
    }
    let literal = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(v6) => v6.parse().ok().filter(IpAddr::is_ipv6),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    };
    // On every interface, each address of the machine is its own; a name of another site is none.
    literal.is_some_and(|literal| literal == listens_at || listens_at.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let at = |text: &str| text.parse::<Listen>().map(|listen| listen.0.to_string());
        assert_eq!(at("127.0.0.1:8080").as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(at(":8080").as_deref(), Ok("127.0.0.1:8080"));
        assert_eq!(at("localhost").as_deref(), Ok("127.0.0.1:0"));
        assert_eq!(at("localhost:1").as_deref(), Ok("127.0.0.1:1"));
        assert_eq!(at("0.0.0.0").as_deref(), Ok("0.0.0.0:0"));
        assert_eq!(at("[::1]:80").as_deref(), Ok("[::1]:80"));
        assert_eq!(at("::1").as_deref(), Ok("[::1]:0"));
        for wrong in ["example.org", "example.org:80", "127.0.0.1:99999", "127.0.0.1:x", "1.2.3", "http://127.0.0.1"] {
            assert_eq!(at(wrong), Err(()), "{wrong}");
        }
        assert!(at("127.0.0.1").is_ok() && Listen::default().is_loopback());
        assert!(!"0.0.0.0:80".parse::<Listen>().unwrap().is_loopback());
    }

    #[test]
    fn hosts_of_other_names_are_refused() {
        let loopback: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        for good in ["127.0.0.1:8080", "localhost:8080"] {
            assert!(is_own_host(good, loopback), "{good}");
        }
        for bad in [
            "",
            ":",
            ":8080",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "127.0.0.1:+8080",
            "127.0.0.1: 8080",
            "evil.example:8080",
            "127.0.0.1.nip.example:8080",
            "localhost.evil.example:8080",
            "[::ffff:127.0.0.1]:8080",
            "[::1]:8080",
            "127.1:8080",
            "2130706433:8080",
            "0.0.0.0:8080",
            "LOCALHOST.:8080",
            "127.0.0.1:8080:8080",
            "127.0.0.1@evil:8080",
        ] {
            assert!(!is_own_host(bad, loopback), "{bad}");
        }
        let six: SocketAddr = "[::1]:8080".parse().unwrap();
        assert!(is_own_host("[::1]:8080", six) && is_own_host("localhost:8080", six) && !is_own_host("::1:8080", six));
        let all: SocketAddr = "0.0.0.0:8080".parse().unwrap();
        assert!(is_own_host("192.168.1.2:8080", all) && !is_own_host("rebound.example:8080", all));
    }
}
