//! How inputs are taken apart.

/// Parts of an input that has two: up to the first zero byte, and after that.
pub fn parts(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// What a text says that its options are drawn from: sixteen hexadecimal digits in a comment at its start. 0 without them.
pub fn seed(text: &str) -> u64 {
    let digits = text.strip_prefix("// ").and_then(|rest| rest.get(..16));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}
