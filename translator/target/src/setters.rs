//! Setters of options.

/// For each public field, a function of its name that returns the options with that field changed, so that types that may grow
/// can still be written as one expression: `Options::new(&target).keep_going(true).line_info(true)`.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($($field:ident: $type:ty,)*) => {$(
        #[doc = concat!("The same, but with this [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $field(self, $field: $type) -> Self {
            Self { $field, ..self }
        }
    )*};
}
