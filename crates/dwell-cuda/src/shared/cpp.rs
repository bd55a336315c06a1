//! Types, values and structs of Rust as C++ text.

use crate::deep::formula_layout::DeepTinyParts;
use crate::deep::layout::{DeepOrigin, DeepTiny, WideBlock};
use crate::driver::{Address, ConstAddress};
use crate::lists::Corners;
use crate::proof::CellList;

/// A value of a constant.
pub(crate) enum Value {
    Integer(u32),
    Signed(i32),
    Bits(u64),
    Real(f64),
    Single(f32),
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Signed(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Bits(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Self::Single(value)
    }
}

impl Value {
    /// A constant of that name. Integers have the type of a C++ literal, so that they mix with either signedness as one
    /// does.
    pub(super) fn definition(&self, name: &str) -> String {
        match self {
            Self::Integer(value) => format!("constexpr int {name} = {value};"),
            Self::Signed(value) => format!("constexpr int {name} = {value};"),
            Self::Bits(value) => format!("constexpr unsigned long long {name} = {value:#x}ull;"),
            // The shortest digits that read back as the same double.
            Self::Real(value) => format!("constexpr double {name} = {value:?};"),
            Self::Single(value) => format!("constexpr float {name} = {value:?}f;"),
        }
    }
}

/// A type that structs of the kernels have too.
pub(crate) trait CppType {
    /// Its name in C++.
    fn name() -> String;

    /// A field of this type.
    fn declaration(field: &str) -> String {
        let name = Self::name();
        let space = if name.ends_with('*') { "" } else { " " };
        format!("{name}{space}{field}")
    }
}

/// Stands for the number that a struct is a template over.
pub(crate) struct AnyNumber;

macro_rules! cpp_types {
    ($($type:ty: $name:literal)+) => {
        $(impl CppType for $type {
            fn name() -> String {
                $name.to_owned()
            }
        })+
    };
}

cpp_types! {
    u8: "unsigned char"
    u16: "unsigned short"
    u32: "unsigned"
    u64: "unsigned long long"
    i32: "int"
    i64: "long long"
    f32: "float"
    f64: "double"
    AnyNumber: "N"
    // The C++ struct of the same fields that has methods as well.
    Corners: "Rectangle"
    CellList<'_>: "CellList"
    DeepTiny: "DeepTiny"
    DeepTinyParts: "DeepTinyParts"
    DeepOrigin: "DeepOrigin"
    WideBlock: "WideBlock"
}

impl<T: CppType> CppType for Address<'_, T> {
    fn name() -> String {
        format!("{} *", T::name())
    }
}

impl<T: CppType> CppType for ConstAddress<'_, T> {
    fn name() -> String {
        format!("const {} *", T::name())
    }
}

impl<T: CppType, const LENGTH: usize> CppType for [T; LENGTH] {
    fn name() -> String {
        format!("{}[{LENGTH}]", T::name())
    }

    fn declaration(field: &str) -> String {
        format!("{}[{LENGTH}]", T::declaration(field))
    }
}

/// A field of a struct.
pub(crate) struct Field {
    /// Lines of its documentation.
    pub(crate) about: &'static [&'static str],
    pub(crate) name: &'static str,
    /// As C++ declares it.
    pub(crate) declaration: String,
    /// In bytes from the struct's beginning.
    pub(crate) offset: usize,
}

/// A struct with a twin in the kernels.
pub(crate) trait SharedStruct: Sized {
    /// Its name, in both languages.
    const NAME: &'static str;
    /// Lines of its documentation.
    const ABOUT: &'static [&'static str];

    /// Its fields, in order.
    fn fields() -> Vec<Field>;
}

/// Appends lines of documentation as a comment.
pub(super) fn comment(out: &mut String, indent: &str, about: &[&str]) {
    for (i, line) in about.iter().enumerate() {
        // Only the first is set apart from what is above.
        *out += if i == 0 { indent } else { indent.trim_start_matches('\n') };
        *out += &format!("//{line}\n");
    }
}

/// Appends the definition of a struct, or of the template over its number.
pub(super) fn definition<S: SharedStruct>(out: &mut String, is_template: bool) {
    comment(out, "\n", S::ABOUT);
    *out += if is_template { "template <class N> " } else { "" };
    *out += &format!("struct {} {{\n", S::NAME);
    for field in S::fields() {
        comment(out, "    ", field.about);
        *out += &format!("    {};\n", field.declaration);
    }
    *out += "};\n";
}

/// Appends the checks that C++ lays a struct out as Rust does.
pub(super) fn checks<S: SharedStruct>(out: &mut String, name: &str) {
    let (size, align) = (size_of::<S>(), align_of::<S>());
    *out += &format!("static_assert(sizeof({name}) == {size} && alignof({name}) == {align}, \"{name}\");\n");
    for field in S::fields() {
        let (field, offset) = (field.name, field.offset);
        *out += &format!("static_assert(offsetof({name}, {field}) == {offset}, \"{name}::{field}\");\n");
    }
}
