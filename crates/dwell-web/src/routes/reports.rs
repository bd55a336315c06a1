//! The laboratory's reports.

use super::LONGEST;
use crate::admission::Turn;
use crate::assets::tagged;
use crate::failure::Failure;
use crate::reports::Report;
use crate::state::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use dwell::Cancel;
use std::sync::Arc;

/// A report has its styles and pictures in itself, and no script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; sandbox";

pub(crate) async fn all(State(shared): State<Arc<Shared>>) -> Result<Json<Vec<Report>>, Failure> {
    let of = shared.clone();
    let work = move |_: &Cancel| Ok(of.reports.as_ref().map(|reports| reports.all()).unwrap_or_default());
    shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await.map(Json)
}

pub(crate) async fn page(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let of = shared.clone();
    let work = move |_: &Cancel| {
        let page = of.reports.as_ref().and_then(|reports| reports.page(&name));
        let page = page.ok_or_else(|| Failure::not_found("report of that name"))?;
        page.map_err(|problem| Failure::new(StatusCode::UNPROCESSABLE_ENTITY, problem))
    };
    let page = shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await?;
    let mut response = tagged(&headers, "text/html; charset=utf-8", page.into_bytes());
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}
