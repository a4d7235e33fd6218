//! Options.

/// Defines options: a struct of public fields, each with its default and a setter, a function of its name that returns the options with that
/// field changed. So types that may grow can be written as one expression: `Options::new(&target).keep_going(true).line_info(true)`.
///
/// Options of a lifetime have a first field that has no default, and are made by `new`.
#[doc(hidden)]
#[macro_export]
macro_rules! options {
    (
        $(#[$about:meta])* $name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $crate::options!(@setters $($field: $type,)*);
        }
    };
    (
        $(#[$about:meta])* $name:ident<$life:lifetime> {
            $(#[$first_doc:meta])* $first:ident: $first_type:ty,
            $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)*
        }
        $(#[$new_doc:meta])* new
    ) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $name<$life> {
            $(#[$first_doc])* pub $first: $first_type,
            $($(#[$doc])* pub $field: $type,)*
        }

        impl<$life> $name<$life> {
            $(#[$new_doc])*
            pub fn new($first: $first_type) -> Self {
                Self { $first, $($field: $default,)* }
            }

            $crate::options!(@setters $($field: $type,)*);
        }
    };
    (@setters $($field:ident: $type:ty,)*) => {$(
        #[doc = concat!("The same, but with this [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $field(self, $field: $type) -> Self {
            Self { $field, ..self }
        }
    )*};
}
