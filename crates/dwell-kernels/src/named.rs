//! Names of values: one idiom for every enumeration that users choose from by name.
//!
//! [`named!`](crate::named!) gives such a type its constant `ALL`, its `name()`, `Display` and `FromStr`. The error of
//! `FromStr` is an [`UnknownName`], which lists the accepted names.

use std::fmt;

/// A text that is none of the names of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// What the names are of, in the singular: `recipe`, `strategy`.
    pub of: &'static str,
    /// The text.
    pub given: String,
    /// The accepted names.
    pub known: Vec<&'static str>,
}

impl UnknownName {
    /// The value in `all` whose name is `text`.
    ///
    /// # Errors
    /// When no value has that name.
    pub fn find<T: Copy>(text: &str, of: &'static str, all: &[T], name: fn(T) -> &'static str) -> Result<T, Self> {
        let found = all.iter().copied().find(|value| name(*value) == text);
        found.ok_or_else(|| Self { of, given: text.to_owned(), known: all.iter().map(|value| name(*value)).collect() })
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?} is not known (accepted: {})", self.of, self.given, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// Names the variants of an enumeration: `named!(Type, "what it is": Variant => "name", ...)` defines `ALL`, `name()`,
/// `Display` and `FromStr`.
#[macro_export]
macro_rules! named {
    ($type:ident, $of:literal: $($variant:ident => $name:expr),+ $(,)?) => {
        impl $type {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name, as `FromStr` reads it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::UnknownName::find(text, $of, &Self::ALL, Self::name)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Formula, LevelName, Recipe};

    #[test]
    fn names_read_back() {
        assert!(LevelName::ALL.into_iter().all(|level| level.name().parse() == Ok(level)));
        assert!(Recipe::ALL.into_iter().all(|recipe| recipe.to_string().parse() == Ok(recipe)));
        assert!(Formula::ALL.into_iter().all(|formula| formula.name().parse() == Ok(formula)));
    }

    #[test]
    fn the_error_lists_the_names() {
        let error = "sse9\n".parse::<LevelName>().unwrap_err();
        assert_eq!(error.known, LevelName::ALL.map(LevelName::name));
        assert_eq!(error.to_string(), "level: \"sse9\\n\" is not known (accepted: scalar, avx2, avx512, neon)");
        assert_eq!(
            "".parse::<Recipe>().unwrap_err(),
            UnknownName { of: "recipe", given: String::new(), known: vec!["fused", "separate"] }
        );
    }
}
