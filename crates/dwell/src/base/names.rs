//! Lists of known names, for errors about unknown ones.

use crate::base::quote::LONGEST;

/// The name in `known` nearest to `given`, if it is near enough to be a typing error.
#[must_use]
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    if given.chars().count() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|name| {
            let alike = strsim::jaro_winkler(&given, &name.to_lowercase());
            let slip = strsim::osa_distance(&given, &name.to_lowercase()) <= 1;
            let inside = !given.is_empty() && name.split('-').any(|part| part == given);
            (if inside || slip { alike.max(0.9) } else { alike }, name)
        })
        .filter(|(alike, _)| *alike > 0.75)
        // Of equals the shortest: it adds least to what was typed.
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.len().cmp(&a.1.len())))
        .map(|(_, name)| name)
}

/// Names of a long list that an error shows.
const LISTED: usize = 8;

/// The first names of a list, and how many more there are.
pub(crate) fn short_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut list = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        list += &format!(" and {} more", names.len() - LISTED);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors() {
        let known = ["shallow-home", "shallow-seahorse", "kf-1e50"];
        assert_eq!(nearest("shalow-home", known), Some("shallow-home"));
        assert_eq!(nearest("seahorse", known), Some("shallow-seahorse"));
        assert_eq!(nearest("zzz", known), None);
    }
}
