//! Bodies of requests: JSON of a known shape, and files; each bounded in size and time.

use crate::bounds::{MOST_BODY, MOST_FILE};
use crate::failure::Failure;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long a client may take to send a body.
const LONGEST: Duration = Duration::from_secs(10);

/// A body of JSON.
pub(crate) struct Json<T>(pub(crate) T);

/// The bytes of a file.
pub(crate) struct FileBytes(pub(crate) Bytes);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let bytes = read(request, MOST_BODY).await?;
        parsed(&bytes).map(Self)
    }
}

impl<S: Sync> FromRequest<S> for FileBytes {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        read(request, MOST_FILE).await.map(Self)
    }
}

/// A value of JSON. The error says what is wrong with it and where.
pub(crate) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|error| Failure::bad(format!("the body is not as described: {error}")))
}

async fn read(request: Request, most: usize) -> Result<Bytes, Failure> {
    let body = Limited::new(request.into_body(), most).collect();
    match tokio::time::timeout(LONGEST, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is too long (accepted: at most {most} bytes)"),
        )),
        Ok(Err(_)) => Err(Failure::bad("the body ended early")),
        Err(_) => Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}

/// A body whose parts come from a thread.
pub(crate) struct Parts(pub(crate) tokio::sync::mpsc::Receiver<std::io::Result<Bytes>>);

impl hyper::body::Body for Parts {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<std::io::Result<hyper::body::Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| part.map(hyper::body::Frame::data)))
    }
}
