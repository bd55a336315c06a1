//! Flags of two numbers, such as `block = "16x8"`, whose numbers are varied in two lists: a heat map needs two axes.

use super::{Axis, Flags, Text};

/// Puts `NAME = "XxY"` in place of each pair `NAME-x = "X"` and `NAME-y = "Y"`. No flag of `dwell render` has such a name.
pub fn join_parts(flags: &mut Flags) {
    let names: Vec<String> = flags.keys().filter_map(|name| name.strip_suffix("-x")).map(str::to_owned).collect();
    for name in names {
        let (x, y) = (format!("{name}-x"), format!("{name}-y"));
        if let (Some(across), Some(down)) = (flags.get(&x).cloned(), flags.get(&y).cloned()) {
            flags.remove(&x);
            flags.remove(&y);
            flags.insert(name, Text(format!("{}x{}", across.0, down.0)));
        }
    }
}

/// Checks that each list for one of the two numbers has its counterpart.
pub(super) fn check(sweep: &[Axis]) -> Result<(), String> {
    for Axis { flag, .. } in sweep {
        let other = flag
            .strip_suffix("-x")
            .map(|name| format!("{name}-y"))
            .or_else(|| flag.strip_suffix("-y").map(|name| format!("{name}-x")));
        if let Some(other) = other.filter(|other| sweep.iter().all(|axis| axis.flag != *other)) {
            return Err(format!("{flag} is varied, but {other} is not"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_one_flag_and_others_stay() {
        let flags = |pairs: &[(&str, &str)]| -> Flags {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), Text::from(*value))).collect()
        };
        let mut given = flags(&[("block-x", "16"), ("block-y", "4"), ("size", "64x64"), ("tile-x", "8")]);
        join_parts(&mut given);
        assert_eq!(given, flags(&[("block", "16x4"), ("size", "64x64"), ("tile-x", "8")]));
    }

    #[test]
    fn a_list_without_its_counterpart_is_an_error() {
        let axis = |flag: &str| Axis { flag: flag.to_owned(), values: vec![Text::from("1")], quick: None, check: None };
        assert_eq!(check(&[axis("block-x"), axis("block-y"), axis("size")]), Ok(()));
        assert_eq!(check(&[axis("block-y")]), Err("block-y is varied, but block-x is not".to_owned()));
    }
}
