//! Element types of launch cases, and parsing (with range checks) and printing of their numbers.
//!
//! A value is stored as a bit pattern in the low bits of a `u64`. Nothing wraps.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

/// Names accepted by [`Scalar::from_str`]. If a type has two names, the first one is printed.
const NAMES: &[(&str, Scalar)] = &[
    ("u8", Scalar::U8),
    ("s8", Scalar::S8),
    ("u16", Scalar::U16),
    ("s16", Scalar::S16),
    ("u32", Scalar::U32),
    ("s32", Scalar::S32),
    ("u64", Scalar::U64),
    ("s64", Scalar::S64),
    ("f16", Scalar::F16),
    ("bf16", Scalar::Bf16),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
    ("b8", Scalar::U8),
    ("b16", Scalar::U16),
    ("b32", Scalar::U32),
    ("b64", Scalar::U64),
];

impl Scalar {
    /// Size in bytes.
    pub fn size(self) -> usize {
        match self {
            Scalar::U8 | Scalar::S8 => 1,
            Scalar::U16 | Scalar::S16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::U32 | Scalar::S32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::S64 | Scalar::F64 => 8,
        }
    }

    /// Size in bits.
    pub fn bits(self) -> u32 {
        8 * self.size() as u32
    }

    /// Whether the type is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether the type is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::S8 | Scalar::S16 | Scalar::S32 | Scalar::S64)
    }

    /// The bit pattern of a number: decimal, `0x…` (the bit pattern itself), and for floats `inf`, `-inf`, `nan`. A
    /// number that the type can't hold is an error. Decimal fractions are rounded to nearest.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return self.parse_bits(text, digits);
        }
        if self.is_float() { self.parse_float(text) } else { self.parse_integer(text) }
    }

    fn parse_bits(self, text: &str, digits: &str) -> Result<u64, String> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("`{text}` is not a hexadecimal number"));
        }
        match u64::from_str_radix(digits, 16) {
            Ok(bits) if bits <= self.mask() => Ok(bits),
            _ => Err(format!("`{text}` has more than the {} bits of {self}", self.bits())),
        }
    }

    fn parse_integer(self, text: &str) -> Result<u64, String> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{text}` is not an integer, but {self} was expected"));
        }
        let (min, max) = if self.is_signed() {
            (-(1_i128 << (self.bits() - 1)), (1_i128 << (self.bits() - 1)) - 1)
        } else {
            (0, i128::from(self.mask()))
        };
        match text.parse::<i128>() {
            // The cast keeps the low 64 bits of the two's complement pattern, and the mask those of the type.
            Ok(value) if (min..=max).contains(&value) => Ok(value as u64 & self.mask()),
            _ => Err(format!("{text} does not fit {self} ({min} to {max})")),
        }
    }

    fn parse_float(self, text: &str) -> Result<u64, String> {
        match text {
            "inf" | "+inf" => return Ok(self.infinity()),
            "-inf" => return Ok(self.infinity() | self.sign_bit()),
            "nan" => return Ok(self.quiet_nan()),
            _ => {}
        }
        // Rust's parser also accepts words such as "infinity", but only numbers are wanted here.
        if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
            return Err(format!("`{text}` is not a number"));
        }
        let bits = match self {
            Scalar::F32 => text.parse().map(|value: f32| u64::from(value.to_bits())),
            // Rounded through f64: this differs from rounding once only for numbers with 17 digits close to a tie.
            _ => text.parse().map(|value: f64| self.round(value)),
        };
        match bits {
            Ok(bits) if self.is_finite(bits) => Ok(bits),
            Ok(_) => Err(format!("{text} is too large for {self}")),
            Err(_) => Err(format!("`{text}` is not a number")),
        }
    }

    /// The bits of the nearest value. Integers are truncated, and clamped to their range.
    pub fn round(self, value: f64) -> u64 {
        match self {
            Scalar::F16 => u64::from(f16::from_f64(value).to_bits()),
            Scalar::Bf16 => u64::from(bf16::from_f64(value).to_bits()),
            Scalar::F32 => u64::from((value as f32).to_bits()),
            Scalar::F64 => value.to_bits(),
            _ if self.is_signed() => {
                let max = (self.mask() >> 1) as i64;
                (value as i64).clamp(-max - 1, max) as u64 & self.mask()
            }
            _ => (value as u64).min(self.mask()),
        }
    }

    /// All bits of the type set.
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    fn sign_bit(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Number of stored mantissa bits; 0 for integers.
    fn mantissa_bits(self) -> u32 {
        match self {
            Scalar::F16 => 10,
            Scalar::Bf16 => 7,
            Scalar::F32 => 23,
            Scalar::F64 => 52,
            _ => 0,
        }
    }

    /// The bits of positive infinity.
    fn infinity(self) -> u64 {
        (self.mask() >> 1) & !((1 << self.mantissa_bits()) - 1)
    }

    fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.mantissa_bits() - 1)
    }

    /// Whether the bits are a NaN's; never for integers.
    pub fn is_nan(self, bits: u64) -> bool {
        self.is_float() && bits & (self.mask() >> 1) > self.infinity()
    }

    /// Whether the bits are a finite number's; always for integers.
    pub fn is_finite(self, bits: u64) -> bool {
        !self.is_float() || bits & (self.mask() >> 1) < self.infinity()
    }

    /// A float's value as f64, which is exact for the smaller types; for integers the nearest f64.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
            Scalar::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
            Scalar::F64 => f64::from_bits(bits),
            _ if self.is_signed() => self.sign_extend(bits) as f64,
            _ => bits as f64,
        }
    }

    /// A float's index in the order of its type's values: neighbors differ by one, and both zeros are 0.
    pub fn ordinal(self, bits: u64) -> i64 {
        let magnitude = (bits & (self.mask() >> 1)) as i64;
        if bits & self.sign_bit() == 0 { magnitude } else { -magnitude }
    }

    fn sign_extend(self, bits: u64) -> i64 {
        let shift = 64 - self.bits();
        ((bits << shift) as i64) >> shift
    }

    /// The value as text: for floats, the shortest decimal number with these bits.
    pub fn show(self, bits: u64) -> String {
        match self {
            _ if self.is_nan(bits) => "nan".to_owned(),
            Scalar::F16 => f16::from_bits(bits as u16).to_string(),
            Scalar::Bf16 => bf16::from_bits(bits as u16).to_string(),
            Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
            Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
            _ if self.is_signed() => self.sign_extend(bits).to_string(),
            _ => bits.to_string(),
        }
    }

    /// The bit pattern as `0x…` in the type's full width.
    pub fn show_bits(self, bits: u64) -> String {
        format!("0x{bits:0width$x}", width = 2 * self.size())
    }

    /// The little-endian bytes of a bit pattern.
    pub fn to_bytes(self, bits: u64) -> impl Iterator<Item = u8> {
        bits.to_le_bytes().into_iter().take(self.size())
    }

    /// The bit patterns in little-endian bytes. An incomplete last element is ignored.
    pub fn elements(self, bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> {
        bytes.chunks_exact(self.size()).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
    }
}

impl FromStr for Scalar {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        NAMES.iter().find(|(name, _)| *name == text).map(|&(_, scalar)| scalar).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|&(name, _)| name).collect();
            format!("`{text}` is not a type: expected one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, scalar)| scalar == self).map_or("?", |&(name, _)| name);
        f.write_str(name)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn good(ty: Scalar, text: &str, bits: u64) {
        assert_eq!(ty.parse(text), Ok(bits), "{ty} {text}");
    }

    #[track_caller]
    fn bad(ty: Scalar, text: &str, part: &str) {
        let message = ty.parse(text).expect_err(text);
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn integers_are_checked_against_their_range() {
        good(Scalar::U8, "255", 0xff);
        good(Scalar::S8, "-128", 0x80);
        good(Scalar::S16, "-1", 0xffff);
        good(Scalar::U64, "18446744073709551615", u64::MAX);
        good(Scalar::S64, "-9223372036854775808", 1 << 63);
        good(Scalar::S8, "0x80", 0x80);
        bad(Scalar::U8, "256", "does not fit u8 (0 to 255)");
        bad(Scalar::U8, "-1", "does not fit");
        bad(Scalar::S8, "128", "does not fit");
        bad(Scalar::S64, "9223372036854775808", "does not fit");
        bad(Scalar::U64, "340282366920938463463374607431768211456", "does not fit");
        bad(Scalar::U32, "1.5", "not an integer");
        bad(Scalar::U32, "1e3", "not an integer");
        bad(Scalar::U32, "", "not an integer");
        bad(Scalar::U32, "inf", "not an integer");
    }

    #[test]
    fn bit_patterns_must_fit() {
        good(Scalar::F32, "0x7fc00001", 0x7fc0_0001);
        good(Scalar::F16, "0x1", 1);
        bad(Scalar::F16, "0x10000", "16 bits of f16");
        bad(Scalar::U32, "0x100000000", "32 bits");
        bad(Scalar::U32, "0x", "hexadecimal");
        bad(Scalar::U32, "0x+1", "hexadecimal");
        bad(Scalar::U64, "0x1ffffffffffffffff", "64 bits");
    }

    #[test]
    fn floats_round_once_and_do_not_overflow() {
        good(Scalar::F32, "1.5", 0x3fc0_0000);
        good(Scalar::F64, "-0.0", 1 << 63);
        good(Scalar::F16, "65504", 0x7bff);
        good(Scalar::Bf16, "1", 0x3f80);
        good(Scalar::F32, "inf", 0x7f80_0000);
        good(Scalar::F16, "-inf", 0xfc00);
        good(Scalar::Bf16, "nan", 0x7fc0);
        good(Scalar::F64, "nan", 0x7ff8_0000_0000_0000);
        // Just above the midpoint of 1 and its successor. Rounding through f64 would return 1.
        good(Scalar::F32, "1.00000005960464477539062500000000001", 0x3f80_0001);
        bad(Scalar::F16, "65520", "too large for f16");
        bad(Scalar::F32, "1e39", "too large for f32");
        bad(Scalar::F64, "1e400", "too large for f64");
        bad(Scalar::F32, "infinity", "not a number");
        bad(Scalar::F32, "--1", "not a number");
        bad(Scalar::F32, "", "not a number");
    }

    #[test]
    fn rounding_stays_in_range() {
        assert_eq!(Scalar::S8.round(-1000.0), 0x80);
        assert_eq!(Scalar::S8.round(-1.9), 0xff);
        assert_eq!(Scalar::U8.round(1e9), 0xff);
        assert_eq!(Scalar::S64.round(-1e300), 1 << 63);
        assert_eq!(Scalar::F32.round(0.1), 0x3dcc_cccd);
    }

    #[test]
    fn ordinals_count_representable_values() {
        let one = Scalar::F32.parse("1").unwrap();
        assert_eq!(Scalar::F32.ordinal(one + 3) - Scalar::F32.ordinal(one), 3);
        assert_eq!(Scalar::F32.ordinal(0x8000_0000), 0);
        assert_eq!(Scalar::F32.ordinal(0x8000_0001), -1);
        assert_eq!(Scalar::F64.ordinal(u64::MAX), -i64::MAX);
    }

    #[test]
    fn values_are_shown_so_that_they_read_back() {
        for (ty, text) in [(Scalar::F32, "0.1"), (Scalar::S16, "-7"), (Scalar::F64, "1e-310"), (Scalar::F16, "-0.5")] {
            assert_eq!(ty.show(ty.parse(text).unwrap()), text);
        }
        assert_eq!(Scalar::F16.show_bits(1), "0x0001");
        assert_eq!(Scalar::F32.show(0xffc0_0000), "nan");
        assert_eq!("b16".parse(), Ok(Scalar::U16));
        assert!("pred".parse::<Scalar>().unwrap_err().contains("not a type"));
    }
}
