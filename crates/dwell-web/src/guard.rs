//! What every request must have, and what every answer says to the browser.
//!
//! A server on this machine is reachable from every page in the user's browser and from every program. So each request must name this
//! server (`Host`), come from its own page (`Origin`, where a browser sends one) and have the token, in the path of the link or as
//! `Authorization: Bearer`. There is no CORS: pages of other origins read nothing.

use crate::address::is_own_host;
use crate::bounds::MOST_URL;
use crate::failure::Failure;
use crate::token::Token;
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;

/// Checks requests.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) address: SocketAddr,
    pub(crate) token: Token,
}

/// Headers of every answer. Scripts and styles come from this server alone, no other page frames it, and the link is told nobody.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
             worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

impl Guard {
    /// The request as the routes see it, without the token; or why it is refused.
    pub(crate) fn admitted(&self, mut request: Request) -> Result<Request, Failure> {
        let refused = |why: &str| Failure::new(StatusCode::FORBIDDEN, why);
        if request.uri().path_and_query().is_none_or(|path| path.as_str().len() > MOST_URL) {
            return Err(Failure::new(
                StatusCode::URI_TOO_LONG,
                "the address is too long (accepted: at most 8192 bytes)",
            ));
        }
        let headers = request.headers();
        let host =
            single(headers, &header::HOST).ok_or_else(|| Failure::bad("the request names no host, or several"))?;
        if !is_own_host(host, self.address) {
            return Err(refused("the request is for another host"));
        }
        let origin = headers.contains_key(header::ORIGIN).then(|| single(headers, &header::ORIGIN).unwrap_or(""));
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(refused("the request comes from another origin"));
        }
        // Sent by browsers: a page of another site may link to this one, and load nothing from it.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_followed = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if matches!(site, Some(b"cross-site" | b"same-site")) && !is_followed {
            return Err(refused("the request comes from another site"));
        }
        let rest = self.without_token(request.uri(), headers);
        let path = rest.ok_or_else(|| {
            refused("the link has no valid token").hint("use the link that dwell explore has printed")
        })?;
        *request.uri_mut() = Uri::from(path);
        Ok(request)
    }

    /// The path and query after the token; all of it where a header has the token.
    fn without_token(&self, uri: &Uri, headers: &HeaderMap) -> Option<PathAndQuery> {
        let all = uri.path_and_query()?;
        let bearer = single(headers, &header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|given| self.token.is(given)) {
            return Some(all.clone());
        }
        let path = all.as_str().strip_prefix('/')?;
        let end = path.find(['/', '?']).filter(|end| path.as_bytes()[*end] == b'/')?;
        let (token, rest) = path.split_at(end);
        self.token.is(token).then(|| rest.parse().ok())?
    }
}

/// The value of a header that is given once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// An answer with the headers of every answer. What says nothing about it is not kept by the browser.
pub(crate) fn secured(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // A report has a policy of its own, which allows no script.
        headers.entry(name).or_insert(value);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    const HOST: &str = "127.0.0.1:8080";

    fn guard() -> Guard {
        Guard { address: HOST.parse().unwrap(), token: Token::random().unwrap() }
    }

    /// The path that the routes see, or the status.
    fn seen(guard: &Guard, path: &str, headers: &[(&str, &str)]) -> Result<String, u16> {
        let request =
            headers.iter().fold(Request::builder().uri(path), |request, (name, value)| request.header(*name, *value));
        let admitted = guard.admitted(request.body(Body::empty()).unwrap());
        admitted.map(|request| request.uri().to_string()).map_err(|failure| failure.status.as_u16())
    }

    #[test]
    fn hosts_origins_and_tokens_are_checked_in_every_combination() {
        let guard = guard();
        let token = guard.token.text().to_owned();
        let hosts: [(&[&str], bool); 12] = [
            (&[HOST], true),
            (&["localhost:8080"], true),
            (&["[::1]:8080"], false),
            (&["127.0.0.1"], false),
            (&["localhost"], false),
            (&["127.0.0.1.rebound.example:8080"], false),
            (&["evil.example"], false),
            (&[], false),
            (&[HOST, HOST], false),
            (&["[::ffff:127.0.0.1]:8080"], false),
            (&["127.0.0.1:8081"], false),
            (&["0.0.0.0:8080"], false),
        ];
        let origins: [(Option<&str>, bool); 7] = [
            (None, true),
            (Some("http://HOST"), true),
            (Some("null"), false),
            (Some("http://evil.example"), false),
            (Some("https://HOST"), false),
            (Some("http://HOST.evil.example"), false),
            (Some(""), false),
        ];
        let tokens = [
            (format!("/{token}/api"), true),
            ("/api".to_owned(), false),
            (format!("/{}/api", &token[1..]), false),
            (format!("/{token}"), false),
            (format!("/x{token}/api"), false),
        ];
        let mut checked = 0;
        for (host, good_host) in hosts {
            for (origin, good_origin) in origins {
                for (path, good_token) in &tokens {
                    let origin = origin.map(|origin| origin.replace("HOST", host.first().unwrap_or(&"")));
                    let mut headers: Vec<(&str, &str)> = host.iter().map(|host| ("host", *host)).collect();
                    headers.extend(origin.as_deref().map(|origin| ("origin", origin)));
                    let good = good_host && good_origin && *good_token;
                    let found = seen(&guard, path, &headers);
                    assert_eq!(found.is_ok(), good, "{headers:?} {path}: {found:?}");
                    checked += 1;
                }
            }
        }
        assert!(checked >= 400, "{checked}");
    }

    #[test]
    fn the_token_is_taken_out_of_the_path() {
        let guard = guard();
        let token = guard.token.text().to_owned();
        let seen = |path: &str, more: &[(&str, &str)]| seen(&guard, path, &[&[("host", HOST)], more].concat());
        assert_eq!(seen(&format!("/{token}/"), &[]).as_deref(), Ok("/"));
        assert_eq!(seen(&format!("/{token}/a?b=c"), &[]).as_deref(), Ok("/a?b=c"));
        assert_eq!(seen(&format!("/{token}?b=/"), &[]), Err(403));
        assert_eq!(seen(&format!("//{token}/a"), &[]), Err(403));
        let bearer = format!("Bearer {token}");
        assert_eq!(seen("/a?b", &[("authorization", &bearer)]).as_deref(), Ok("/a?b"));
        assert_eq!(seen("/a?b", &[("authorization", "Bearer x")]), Err(403));
        assert_eq!(seen(&format!("/{token}/{}", "a".repeat(MOST_URL)), &[]), Err(414));
        assert_eq!(seen(&format!("/{token}/"), &[("sec-fetch-site", "cross-site")]), Err(403));
        let followed = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(seen(&format!("/{token}/"), &followed).as_deref(), Ok("/"));
    }
}
