//! The page: built from `page/` by `npm run build`, embedded, so that nothing is installed and nothing is loaded from elsewhere.

use crate::failure::Failure;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

macro_rules! asset {
    ($name:literal, $kind:literal) => {
        ($name, $kind, include_bytes!(concat!("../assets/", $name)))
    };
}

/// Name, kind and bytes of each file.
const ASSETS: [(&str, &str, &[u8]); 5] = [
    asset!("index.html", "text/html; charset=utf-8"),
    asset!("app.js", "text/javascript; charset=utf-8"),
    asset!("tools.js", "text/javascript; charset=utf-8"),
    asset!("app.css", "text/css; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
];

/// The page itself.
pub(crate) async fn index(headers: HeaderMap) -> Result<Response, Failure> {
    asset(Path("index.html".to_owned()), headers).await
}

/// A file of the page.
pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Failure> {
    let found = ASSETS.iter().find(|(known, ..)| *known == name);
    let (_, kind, bytes) = found.ok_or_else(|| Failure::not_found("such file"))?;
    Ok(tagged(&headers, kind, bytes.to_vec()))
}

/// An answer with its content hash; without the content where the client has it.
pub(crate) fn tagged(request: &HeaderMap, kind: &'static str, bytes: Vec<u8>) -> Response {
    let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32]);
    // The client asks each time, and mostly gets no content.
    let headers = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, "private, no-cache".to_owned())];
    let has_it = request.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    if has_it {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, kind)], bytes).into_response()
}
