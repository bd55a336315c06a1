//! The file that describes a zoom beside its frames: what identifies it, and what was found for all frames. By it the same command goes
//! on, and frames of another zoom are not replaced.

use super::target::Target;
use crate::error_text::{Failure, Usage};
use crate::output;
use dwell::store::{self, PartialFiles};
use dwell::{Error, FilmColours, FilmFindings, quote};
use serde_json::{Map, Value, json};
use std::io;

/// The most bytes of a record: two million limits of 20 digits.
const MOST_BYTES: u64 = 64 << 20;
/// The most characters of a value in a message.
const SHOWN: usize = 40;

/// What identifies a zoom: names and values.
pub(super) type Identity = Vec<(String, String)>;

/// What was found for a zoom.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) findings: FilmFindings,
    /// The seconds that the probes of the stations took, from the largest view on.
    pub(super) seconds: Vec<f64>,
}

/// Reads what was found for the zoom in the folder of a target; `None` if there is no record, or it is to be replaced.
///
/// # Errors
/// When the folder has frames of another zoom, or frames and no record.
pub(super) fn read(target: &Target, identity: &Identity, fresh: bool) -> Result<Option<Found>, Failure> {
    let path = target.record();
    let unreadable = |source| Failure::from(Error::Write { path: path.clone(), source });
    if fresh {
        return Ok(None);
    }
    let text = match std::fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(error)),
        Ok(metadata) if !metadata.is_file() || metadata.len() > MOST_BYTES => return Err(damaged(target)),
        Ok(_) => Some(std::fs::read_to_string(&path).map_err(|_| damaged(target))?),
    };
    let Some(text) = text else {
        let there = target.frames_there().map_err(unreadable)?;
        return match there.first() {
            None => Ok(None),
            Some(frame) => Err(super::target::in_the_way(frame)),
        };
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| damaged(target))?;
    let there = value.get("zoom").and_then(Value::as_object).ok_or_else(|| damaged(target))?;
    if let Some(difference) = difference(there, identity) {
        let problem = format!("{} holds frames of another zoom: {difference}", quote(&target.folder.to_string_lossy()));
        return Err(Usage::new("-o", problem)
            .hint("the command of that zoom goes on with it; --fresh replaces its frames; another -o leaves them alone")
            .into());
    }
    found_in(&value).ok_or_else(|| damaged(target)).map(Some)
}

/// The first difference of two identities, in words.
fn difference(there: &Map<String, Value>, identity: &Identity) -> Option<String> {
    let shown = |value: Option<&str>| value.map_or_else(|| "none".to_owned(), |value| output::tame(value, SHOWN));
    let differs = |(name, value): &&(String, String)| there.get(name).and_then(Value::as_str) != Some(value);
    // What is found automatically follows from flags that have names of their own.
    let own = identity.iter().filter(|(name, _)| name != "automatic").find(differs);
    let other = own.or_else(|| identity.iter().find(differs));
    if let Some((name, value)) = other {
        let of_theirs = there.get(name).and_then(Value::as_str);
        return Some(format!("its {name} is {}, not {}", shown(of_theirs), shown(Some(value))));
    }
    let more = there.iter().find(|(name, _)| identity.iter().all(|(known, _)| known != *name));
    more.map(|(name, value)| format!("its {name} is {}, not none", shown(value.as_str())))
}

fn found_in(value: &Value) -> Option<Found> {
    let found = value.get("found")?;
    let limits = found.get("limits")?.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>()?;
    let colours = match found.get("colours")? {
        Value::Null => None,
        colours => {
            let number = |key: &str| colours.get(key)?.as_str()?.parse::<f64>().ok().filter(|value| value.is_finite());
            Some(FilmColours::new(colours.get("scale")?.as_str()?.parse().ok()?, number("density")?, number("offset")?))
        }
    };
    let seconds = found.get("seconds")?.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
    Some(Found { findings: FilmFindings::new(limits, colours), seconds })
}

/// Writes the record.
///
/// # Errors
/// [`Error::Write`].
pub(super) fn write(target: &Target, identity: &Identity, found: &Found, files: &PartialFiles) -> Result<(), Error> {
    let Found { findings: FilmFindings { limits, colours, .. }, seconds } = found;
    // Numbers as texts, since JSON readers may round them.
    let colours = colours.map(|FilmColours { scale, density, offset, .. }| {
        json!({ "scale": scale.name(), "density": format!("{density:?}"), "offset": format!("{offset:?}") })
    });
    let zoom: Map<String, Value> = identity.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let value = json!({ "zoom": zoom, "found": { "limits": limits, "colours": colours, "seconds": seconds } });
    store::write_text(&target.record(), &format!("{}\n", output::json(&value)), files)
}

/// The error of a record that cannot be used.
pub(super) fn damaged(target: &Target) -> Failure {
    let source = io::Error::other("it is in the way: it is no record of a zoom that can be read");
    Failure::from(Error::Write { path: target.record(), source })
        .hint("--fresh replaces it, and the frames beside it; another -o leaves them alone")
}
