//! Answers to requests that cannot be fulfilled: a status, one sentence, and a hint.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dwell::{Error, InputError, Problem};
use serde::Serialize;

/// Why a request is refused or has failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) told: Told,
}

/// What the client is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Told {
    /// One sentence.
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, told: Told { error: error.into(), hint: None } }
    }

    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn unprocessable(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    /// Too much is under way.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are waiting").hint("try again in a second")
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.told.hint = Some(hint);
        self
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        let hint = match error.problem() {
            Problem::TooDeep { .. } => Some("leave \"number\" out, so that exact arithmetic is used"),
            Problem::Memory { .. } => Some("a smaller picture or a shallower view needs less"),
            _ => None,
        };
        Told { error: error.to_string(), hint }.into()
    }
}

impl From<Told> for Failure {
    fn from(told: Told) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, told }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(error) => error.into(),
            Error::Interrupted => Self::new(StatusCode::SERVICE_UNAVAILABLE, "the request was ended"),
            Error::Write { .. } => Self::new(StatusCode::INSUFFICIENT_STORAGE, error.to_string()),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.told)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.told.error)
    }
}
