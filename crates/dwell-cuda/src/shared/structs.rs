//! A struct that is passed to kernels, defined once for both languages.

/// Defines a `#[repr(C)]` struct and its [`SharedStruct`](crate::shared::SharedStruct), from which the C++ text is
/// made.
macro_rules! shared_struct {
    (
        $(#[doc = $about:literal])+
        struct $name:ident $(<$($generic:tt),+>)? {
            $($(#[doc = $text:literal])* $visibility:vis $field:ident: $type:ty,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub(crate) struct $name $(<$($generic),+>)? {
            $($(#[doc = $text])* $visibility $field: $type,)+
        }

        impl $(<$($generic),+>)? $crate::shared::SharedStruct for $name $(<$($generic),+>)?
        where
            $($type: $crate::shared::CppType,)+
        {
            const NAME: &'static str = stringify!($name);
            const ABOUT: &'static [&'static str] = &[$($about),+];

            fn fields() -> Vec<$crate::shared::Field> {
                vec![$($crate::shared::Field {
                    about: &[$($text),*],
                    name: stringify!($field),
                    declaration: <$type as $crate::shared::CppType>::declaration(stringify!($field)),
                    offset: std::mem::offset_of!(Self, $field),
                }),+]
            }
        }
    };
}

pub(crate) use shared_struct;
