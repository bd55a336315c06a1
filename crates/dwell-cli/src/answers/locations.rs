//! Built-in locations whose names are like one that was typed.

use dwell::{Location, Number, View, bits_needed};

/// The most names that are listed.
const MOST: usize = 8;

/// The names of the built-in locations that have `typed` in them and can be rendered, best first: those of which it is a
/// whole word come before those of which it begins a word, and these before the others.
pub(crate) fn like(typed: &str) -> Vec<&'static str> {
    let typed = typed.to_lowercase().replace(['_', ' '], "-");
    // Two letters are in too many names.
    if typed.chars().count() < 3 {
        return Vec::new();
    }
    let rank = |name: &str| {
        let in_name = format!("-{name}-");
        [format!("-{typed}-"), format!("-{typed}"), typed.clone()].iter().position(|part| in_name.contains(part))
    };
    let mut found: Vec<_> = Location::built_in_names().filter_map(|name| Some((rank(name)?, name))).collect();
    // The order of the list is kept among names of the same rank.
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, name)| name).filter(|name| can_be_rendered(name)).take(MOST).collect()
}

/// Whether f64 resolves a location at the usual size.
fn can_be_rendered(name: &str) -> bool {
    let bits = Location::built_in(name).map(|location| bits_needed(&location.view(View::DEFAULT_SIZE)));
    bits.is_ok_and(|bits| bits <= i64::from(f64::SIGNIFICAND_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_parts() {
        assert_eq!(like("seahorse"), ["shallow-seahorse", "shallow-seahorse-1e13", "julia-seahorse"]);
        assert!(like("spiral").len() >= 3);
        assert!(like("kf").is_empty() && like("kf-1e5").is_empty(), "too deep for f64");
        assert!(like("nothing-like-it").is_empty());
    }
}
