//! Names and texts of errors, as `cudaGetErrorName` and `cudaGetErrorString` give them: strings among the module's initial bytes, and a
//! table of their offsets.

/// A line for each error: its number, its name, and after a bar the text.
const ERRORS: &str = include_str!("errors.txt");
/// The text for unknown error numbers.
const UNKNOWN: &str = "unrecognized error code";

/// The errors by their numbers: name and text.
fn errors() -> impl Iterator<Item = (u32, [&'static str; 2])> {
    ERRORS.lines().filter_map(|line| {
        let (number, strings) = line.split_once(' ')?;
        let (name, text) = strings.split_once(" | ")?;
        Some((number.parse().ok()?, [name, text]))
    })
}

/// Number of entries in the table.
pub fn count() -> u32 {
    errors().map(|(number, _)| number + 1).max().unwrap_or(0)
}

/// The table, and after it the strings. Their offsets count from the table's start.
pub fn bytes() -> Vec<u8> {
    let count = count() as usize;
    let mut strings = UNKNOWN.as_bytes().to_vec();
    strings.push(0);
    let first = 8 * count;
    let mut table = vec![[u32::try_from(first).unwrap_or(0); 2]; count];
    for (number, texts) in errors() {
        for (which, text) in texts.into_iter().enumerate() {
            if let Some(entry) = table.get_mut(number as usize).and_then(|entry| entry.get_mut(which)) {
                *entry = u32::try_from(first + strings.len()).unwrap_or(0);
            }
            strings.extend(text.as_bytes());
            strings.push(0);
        }
    }
    table.into_iter().flatten().flat_map(u32::to_le_bytes).chain(strings).collect()
}

/// Size of the table and the strings.
pub fn size() -> u64 {
    bytes().len() as u64
}

/// A number in the table that is no error's.
pub const UNUSED: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_is_where_the_table_says() {
        let bytes = bytes();
        let string = |number: u32, which: usize| {
            let at = 8 * number as usize + 4 * which;
            let start = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let end = start + bytes[start..].iter().position(|&byte| byte == 0).unwrap();
            std::str::from_utf8(&bytes[start..end]).unwrap()
        };
        assert_eq!(errors().count(), ERRORS.lines().count());
        for (number, texts) in errors() {
            assert_eq!([string(number, 0), string(number, 1)], texts);
        }
        assert_eq!(string(UNUSED, 0), UNKNOWN);
        assert_eq!(string(69, 0), "cudaErrorLaunchPendingCountExceeded");
    }
}
