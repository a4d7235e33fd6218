//! The spelling of variants' names in texts: in lower case, with `_` between words. So nobody writes the names twice.

/// The characters of a variant's name in lower case, with `_` where a word begins. The array has the length that [`len`] tells.
pub(crate) const fn bytes<const LEN: usize>(variant: &str) -> [u8; LEN] {
    let (variant, mut name) = (variant.as_bytes(), [b'_'; LEN]);
    let (mut from, mut to) = (0, 0);
    while from < variant.len() {
        to += begins_word(variant, from) as usize;
        name[to] = variant[from].to_ascii_lowercase();
        (from, to) = (from + 1, to + 1);
    }
    name
}

/// The number of these characters.
pub(crate) const fn len(variant: &str) -> usize {
    let variant = variant.as_bytes();
    let (mut from, mut len) = (0, variant.len());
    while from < variant.len() {
        len += begins_word(variant, from) as usize;
        from += 1;
    }
    len
}

/// Whether a capital letter begins a word, since another character than a capital stands before: `MulHighUnsigned` has
/// three words, `FNotEqual` two.
const fn begins_word(variant: &[u8], at: usize) -> bool {
    at > 0 && variant[at].is_ascii_uppercase() && !variant[at - 1].is_ascii_uppercase()
}

/// A variant's name, as a constant.
macro_rules! spelled {
    ($variant:ident) => {{
        const VARIANT: &str = stringify!($variant);
        const BYTES: [u8; $crate::spelling::len(VARIANT)] = $crate::spelling::bytes(VARIANT);
        const NAME: &str = match std::str::from_utf8(&BYTES) {
            Ok(name) => name,
            Err(_) => VARIANT,
        };
        NAME
    }};
}
pub(crate) use spelled;
