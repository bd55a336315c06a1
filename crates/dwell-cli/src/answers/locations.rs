//! Built-in locations whose names are like one that was typed.

use dwell::Location;

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
    found.into_iter().map(|(_, name)| name).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_parts() {
        assert_eq!(like("seahorse"), ["shallow-seahorse", "shallow-seahorse-1e13", "julia-seahorse"]);
        assert!(like("spiral").len() >= 3);
        assert!(like("dragon").contains(&"rf-dragon"), "{:?}", like("dragon"));
        assert!(like("nothing-like-it").is_empty());
    }
}
