//! Output of kernels: reads the records of `printf` and formats them like C's `printf`, as CUDA's host side does.
//!
//! Formats and strings are read from the module's variables, where string literals are. Other strings can't be read any
//! more, and only their address is shown.

use ptx2spv_translator::interface::output;

/// Appends the text of all records of an output region, given from its beginning. `string` returns the bytes of the
/// string at an address, without the terminating zero.
pub(crate) fn render(region: &[u8], string: &mut dyn FnMut(u64) -> Option<Vec<u8>>, out: &mut Vec<u8>) {
    let mut rest = region.get(output::RECORDS as usize..).unwrap_or_default();
    let header = output::HEADER as usize;
    while let Some(size) = word(rest, 0).map(|size| size as usize).filter(|size| *size >= header) {
        let Some((record, after)) = rest.split_at_checked(size) else { break };
        let format = long(record, 8).unwrap_or(0);
        match string(format) {
            Some(format) => Formatter { format: &format, values: record, at: header, string, out }.run(),
            None => out.extend(format!("(format at {format:#x})").bytes()),
        }
        rest = after;
    }
    match word(region, output::DROPPED as usize) {
        Some(dropped) if dropped != 0 => {
            out.extend(format!("\n({dropped} more calls of printf found no room)\n").bytes());
        }
        _ => {}
    }
}

/// The number of bytes to read of a region, given its first words.
pub(crate) fn used(first: &[u8], size: u64) -> u64 {
    let used = word(first, output::USED as usize).unwrap_or(0);
    if used == 0 { 0 } else { output::RECORDS.saturating_add(used.into()).min(size) }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

struct Formatter<'a> {
    /// The rest of the format.
    format: &'a [u8],
    /// The record, and the offset of the next argument.
    values: &'a [u8],
    at: usize,
    string: &'a mut dyn FnMut(u64) -> Option<Vec<u8>>,
    out: &'a mut Vec<u8>,
}

/// The parts of a conversion between `%` and the final letter.
#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    bits: u32,
}

/// Widths and precisions are limited to this, so that a kernel can't exhaust the host's memory.
const MOST: u64 = 1 << 16;

impl Formatter<'_> {
    fn run(mut self) {
        while let Some((&letter, rest)) = self.format.split_first() {
            self.format = rest;
            if letter == b'%' { self.conversion() } else { self.out.push(letter) }
        }
    }

    fn conversion(&mut self) {
        let written = self.format;
        let mut spec = Spec { bits: 32, ..Spec::default() };
        while let Some((&letter, rest)) = self.format.split_first() {
            match letter {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            self.format = rest;
        }
        let width = self.number();
        spec.left |= width < 0;
        spec.width = width.unsigned_abs().min(MOST) as usize;
        if let Some((b'.', rest)) = self.format.split_first() {
            self.format = rest;
            spec.precision = u64::try_from(self.number()).ok().map(|precision| precision.min(MOST) as usize);
        }
        while let Some((&letter, rest)) = self.format.split_first() {
            match letter {
                b'h' => spec.bits /= 2,
                b'l' | b'j' | b'z' | b't' | b'L' | b'q' => spec.bits = 64,
                _ => break,
            }
            self.format = rest;
        }
        let Some((&letter, rest)) = self.format.split_first() else {
            // The format ends within a conversion.
            self.out.push(b'%');
            self.out.extend(written);
            return;
        };
        self.format = rest;
        match letter {
            b'%' => self.out.push(b'%'),
            b'd' | b'i' => {
                let value = self.integer(spec);
                let unused = 64 - spec.bits.clamp(8, 64);
                let value = (value << unused).cast_signed() >> unused;
                self.digits(spec, value < 0, sign(spec, value < 0), &value.unsigned_abs().to_string());
            }
            b'u' | b'o' | b'x' | b'X' => {
                let value = self.integer(spec) & (u64::MAX >> (64 - spec.bits.clamp(8, 64)));
                let (mut prefix, digits) = match letter {
                    b'o' => ("", format!("{value:o}")),
                    b'x' => ("0x", format!("{value:x}")),
                    b'X' => ("0X", format!("{value:X}")),
                    _ => ("", value.to_string()),
                };
                if !spec.alternate || value == 0 {
                    prefix = "";
                }
                let mut spec = spec;
                if letter == b'o' && spec.alternate && !digits.starts_with('0') {
                    spec.precision = Some(spec.precision.unwrap_or(0).max(digits.len() + 1));
                }
                self.digits(spec, false, prefix, &digits);
            }
            b'c' => {
                let value = self.value(4) as u8;
                self.pad(Spec { zero: false, ..spec }, &[], &[value]);
            }
            b's' => {
                let address = self.value(8);
                let text = match (address, (self.string)(address)) {
                    (0, _) => b"(null)".to_vec(),
                    (_, Some(text)) => text,
                    (_, None) => format!("(string at {address:#x})").into_bytes(),
                };
                let length = spec.precision.map_or(text.len(), |most| most.min(text.len()));
                self.pad(Spec { zero: false, ..spec }, &[], &text[..length]);
            }
            b'p' => {
                let address = self.value(8);
                let text = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
                self.pad(Spec { zero: false, ..spec }, &[], text.as_bytes());
            }
            b'n' => {
                self.value(8);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = f64::from_bits(self.value(8));
                self.float(spec, letter, value);
            }
            _ => {
                // Not a C conversion: written literally.
                let length = written.len() - self.format.len();
                self.out.push(b'%');
                self.out.extend(&written[..length]);
            }
        }
    }

    /// A number in the format, or an argument for `*`; zero if there is none.
    fn number(&mut self) -> i64 {
        if let Some((b'*', rest)) = self.format.split_first() {
            self.format = rest;
            return i64::from((self.value(4) as u32).cast_signed());
        }
        let mut number = 0_i64;
        while let Some((digit @ b'0'..=b'9', rest)) = self.format.split_first() {
            number = number.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            self.format = rest;
        }
        number
    }

    /// The next argument; zero if there are no more.
    fn value(&mut self, bytes: usize) -> u64 {
        self.at = self.at.next_multiple_of(bytes);
        let value = if bytes == 8 { long(self.values, self.at) } else { word(self.values, self.at).map(u64::from) };
        self.at += bytes;
        value.unwrap_or(0)
    }

    fn integer(&mut self, spec: Spec) -> u64 {
        self.value(if spec.bits == 64 { 8 } else { 4 })
    }

    /// Writes an integer's digits, with sign or prefix.
    fn digits(&mut self, spec: Spec, negative: bool, prefix: &str, digits: &str) {
        let prefix = if negative { "-" } else { prefix };
        let digits = if digits == "0" && spec.precision == Some(0) { "" } else { digits };
        let zeros = spec.precision.unwrap_or(1).saturating_sub(digits.len());
        let digits = "0".repeat(zeros) + digits;
        // A precision disables padding with zeros.
        self.pad(Spec { zero: spec.zero && spec.precision.is_none(), ..spec }, prefix.as_bytes(), digits.as_bytes());
    }

    /// Writes a prefix and a text, padded to the field's width.
    fn pad(&mut self, spec: Spec, prefix: &[u8], text: &[u8]) {
        let missing = spec.width.saturating_sub(prefix.len() + text.len());
        let (blanks, zeros, after) = match spec {
            Spec { left: true, .. } => (0, 0, missing),
            Spec { zero: true, .. } => (0, missing, 0),
            _ => (missing, 0, 0),
        };
        self.out.extend(std::iter::repeat_n(b' ', blanks));
        self.out.extend(prefix);
        self.out.extend(std::iter::repeat_n(b'0', zeros));
        self.out.extend(text);
        self.out.extend(std::iter::repeat_n(b' ', after));
    }

    fn float(&mut self, spec: Spec, letter: u8, value: f64) {
        let upper = letter.is_ascii_uppercase();
        let magnitude = value.abs();
        let text = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            match letter.to_ascii_lowercase() {
                b'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate),
                b'e' => exponential(magnitude, spec.precision.unwrap_or(6), spec.alternate),
                b'g' => general(magnitude, spec.precision.unwrap_or(6).max(1), spec.alternate),
                _ => hexadecimal(magnitude, spec.precision, spec.alternate),
            }
        };
        let mut prefix = sign(spec, value.is_sign_negative()).to_owned();
        let mut text = text.as_str();
        if let Some(rest) = text.strip_prefix("0x") {
            prefix += "0x";
            text = rest;
        }
        let (prefix, text) = match upper {
            true => (prefix.to_uppercase(), text.to_uppercase()),
            false => (prefix, text.to_owned()),
        };
        self.pad(Spec { zero: spec.zero && value.is_finite(), ..spec }, prefix.as_bytes(), text.as_bytes());
    }
}

fn sign(spec: Spec, negative: bool) -> &'static str {
    match spec {
        _ if negative => "-",
        Spec { plus: true, .. } => "+",
        Spec { space: true, .. } => " ",
        _ => "",
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$}");
    if point && precision == 0 { text + "." } else { text }
}

/// Digits and the decimal exponent.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let (mut digits, exponent) = scientific(value, precision);
    if point && precision == 0 {
        digits.push('.');
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let (_, exponent) = scientific(value, precision - 1);
    let fixed_form = exponent >= -4 && usize::try_from(exponent).unwrap_or(0) < precision;
    let trim = |text: String| match text.contains('.') && !keep_zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if fixed_form {
        // Between -4 and the precision, so none of these overflow.
        let places = precision as i64 - 1 - i64::from(exponent);
        trim(fixed(value, places.unsigned_abs() as usize, keep_zeros))
    } else {
        let text = exponential(value, precision - 1, keep_zeros);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{exponent}", trim(digits.to_owned()))
    }
}

/// `%a` as the GNU library writes it: normal numbers and zero begin with 1 and 0, subnormal ones with 0.
fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION) as i32;
    let mut significand = bits & ((1 << FRACTION) - 1);
    let exponent = match biased {
        0 if significand == 0 => 0,
        0 => -1022,
        _ => {
            significand |= 1 << FRACTION;
            biased - 1023
        }
    };
    let mut digits = 13;
    match precision {
        Some(precision) if precision < 13 => {
            let dropped = 4 * (13 - precision as u32);
            let (half, rest) = (1_u64 << (dropped - 1), significand & ((1 << dropped) - 1));
            significand >>= dropped;
            if rest > half || (rest == half && significand & 1 == 1) {
                significand += 1;
            }
            digits = precision;
        }
        Some(_) => {}
        None => {
            while digits > 0 && significand & 15 == 0 {
                significand >>= 4;
                digits -= 1;
            }
        }
    }
    let whole = significand >> (4 * digits);
    let fraction = significand & ((1_u64 << (4 * digits)) - 1);
    let mut text = format!("0x{whole}");
    if digits > 0 || point || precision.unwrap_or(0) > 0 {
        text.push('.');
    }
    if digits > 0 {
        text += &format!("{fraction:0digits$x}");
    }
    text += &"0".repeat(precision.unwrap_or(0).saturating_sub(13));
    format!("{text}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Value {
        Int(i32),
        Long(i64),
        Float(f64),
        Text(&'static str),
    }
    use Value::{Float, Int, Long, Text};

    /// Formats like a kernel's record. Strings have the addresses 1, 2, and so on.
    fn printf(format: &str, values: &[Value]) -> String {
        let mut strings = vec![format.as_bytes().to_vec()];
        let mut arguments = Vec::new();
        for value in values {
            let align = if let Int(_) = value { 4 } else { 8 };
            arguments.resize(arguments.len().next_multiple_of(align), 0);
            match value {
                Int(value) => arguments.extend(value.to_le_bytes()),
                Long(value) => arguments.extend(value.to_le_bytes()),
                Float(value) => arguments.extend(value.to_le_bytes()),
                Text(text) => {
                    strings.push(text.as_bytes().to_vec());
                    arguments.extend((strings.len() as u64).to_le_bytes());
                }
            }
        }
        arguments.resize(arguments.len().next_multiple_of(8), 0);
        let size = output::HEADER as u32 + arguments.len() as u32;
        let mut region = vec![0; output::RECORDS as usize];
        region.extend(size.to_le_bytes());
        region.extend([0; 4]);
        region.extend(1_u64.to_le_bytes());
        region.extend(arguments);
        let mut string = |address: u64| strings.get(usize::try_from(address).ok()?.checked_sub(1)?).cloned();
        let mut out = Vec::new();
        render(&region, &mut string, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Expected values are the output of the GNU C library.
    #[test]
    fn formats_as_c_does() {
        let cases: &[(&str, &[Value], &str)] = &[
            ("plain %% text\n", &[], "plain % text\n"),
            (
                "[%d|%5d|%-5d|%05d|%+d|% d]",
                &[Int(-7), Int(42), Int(42), Int(-42), Int(3), Int(3)],
                "[-7|   42|42   |-0042|+3| 3]",
            ),
            ("[%.3d|%8.3d|%.0d|%i]", &[Int(5), Int(-5), Int(0), Int(i32::MIN)], "[005|    -005||-2147483648]"),
            (
                "%u %o %#o %x %X %#x %#X %#x",
                &[Int(-1), Int(8), Int(8), Int(255), Int(255), Int(255), Int(255), Int(0)],
                "4294967295 10 010 ff FF 0xff 0XFF 0",
            ),
            ("%hd %hhd %hu %hhx", &[Int(70000), Int(300), Int(-1), Int(-1)], "4464 44 65535 ff"),
            (
                "%d %ld %d %llu %zx",
                &[Int(1), Long(-5_000_000_000), Int(2), Long(-1), Long(255)],
                "1 -5000000000 2 18446744073709551615 ff",
            ),
            ("%c%c|%3c|%-3c|", &[Int(72), Int(105), Int(33), Int(33)], "Hi|  !|!  |"),
            ("%s|%6s|%-6s|%.2s|", &[Text("abc"), Text("abc"), Text("abc"), Text("abc")], "abc|   abc|abc   |ab|"),
            ("%s %p %p", &[Long(0), Long(0), Long(0x1234)], "(null) (nil) 0x1234"),
            (
                "%f %.2f %8.3f %-8.1f| %08.2f %+.0f %#.0f",
                &[Float(1.5), Float(-2.345), Float(3.14059), Float(2.25), Float(-3.5), Float(2.5), Float(2.5)],
                "1.500000 -2.35    3.141 2.2     | -0003.50 +2 2.",
            ),
            (
                "%e %.0e %.3E %#.0e",
                &[Float(12345.678), Float(0.00015), Float(1e-300), Float(5.0)],
                "1.234568e+04 1e-04 1.000E-300 5.e+00",
            ),
            (
                "%g %g %g %g %g %g",
                &[Float(100000.0), Float(1e6), Float(0.0001), Float(0.00001), Float(123456789.0), Float(0.0)],
                "100000 1e+06 0.0001 1e-05 1.23457e+08 0",
            ),
            ("%.3g %#g %G %.10g", &[Float(2.0), Float(2.0), Float(1e-10), Float(0.1)], "2 2.00000 1E-10 0.1"),
            (
                "%f %F %5.1f %05f %e",
                &[
                    Float(f64::INFINITY),
                    Float(f64::NEG_INFINITY),
                    Float(f64::INFINITY),
                    Float(f64::INFINITY),
                    Float(-0.0),
                ],
                "inf -INF   inf   inf -0.000000e+00",
            ),
            (
                "%a %a %a %.2a %A %.0a",
                &[Float(1.0), Float(-0.1), Float(0.0), Float(1.999), Float(255.5), Float(1.5)],
                "0x1p+0 -0x1.999999999999ap-4 0x0p+0 0x2.00p+0 0X1.FFP+7 0x2p+0",
            ),
            (
                "%*d|%-*d|%.*f|%*d|",
                &[Int(4), Int(1), Int(4), Int(2), Int(1), Float(0.25), Int(-3), Int(5)],
                "   1|2   |0.2|5  |",
            ),
            ("%d %f", &[Int(1)], "1 0.000000"),
            ("100%", &[], "100%"),
            ("%y %d", &[Int(3)], "%y 3"),
        ];
        for (format, values, expected) in cases {
            assert_eq!(printf(format, values), *expected, "{format}");
        }
    }

    #[test]
    fn malformed_regions_end() {
        let mut nothing = |_: u64| None;
        let mut out = Vec::new();
        for region in [&[][..], &[255; 16], &[255; 24], &[1; 64]] {
            render(region, &mut nothing, &mut out);
        }
        let mut region = [0; 16];
        region[4] = 2;
        out.clear();
        render(&region, &mut nothing, &mut out);
        assert_eq!(out, b"\n(2 more calls of printf found no room)\n");
        assert_eq!(used(&[0; 8], 64), 0);
        assert_eq!(used(&[8, 0, 0, 0], 64), 24);
        assert_eq!(used(&[255; 4], 64), 64);
    }
}
