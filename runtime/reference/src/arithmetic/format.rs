//! Float formats: their bits, their values, and arithmetic on them rounded in a given direction.

use rustc_apfloat::ieee::Double;
use rustc_apfloat::{Float as _, Round};

/// Rounding direction of a value that lies between two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the nearer float, ties to even.
    NearestEven,
    /// To the float of smaller magnitude.
    Zero,
    /// To the greater float.
    Up,
    /// To the lesser float.
    Down,
}

impl From<Direction> for Round {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::NearestEven => Self::NearestTiesToEven,
            Direction::Zero => Self::TowardZero,
            Direction::Up => Self::TowardPositive,
            Direction::Down => Self::TowardNegative,
        }
    }
}

/// Operations with a single rounding in IEEE 754. Unused operands are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    /// `a * b + c`
    Fma,
    Sqrt,
}

/// A binary interchange format of IEEE 754. Values are handled as their bits.
pub trait Format: Sized {
    /// Width.
    const BITS: u8;
    /// Bits of the fraction, without the hidden bit.
    const FRACTION: u32;
    /// Index in [`FloatControls`](crate::code::FloatControls).
    const INDEX: usize = Self::BITS.trailing_zeros() as usize - 4;

    const SIGN: u64 = 1 << (Self::BITS - 1);
    /// Positive infinity, which is also the mask of the exponent.
    const INFINITY: u64 = (Self::SIGN - 1) & !(Self::MIN_NORMAL - 1);
    /// The bit that makes a NaN quiet.
    const QUIET: u64 = 1 << (Self::FRACTION - 1);
    /// The NaN result of operations without NaN operands.
    const NAN: u64 = Self::INFINITY | Self::QUIET;
    /// The smallest positive normal value.
    const MIN_NORMAL: u64 = 1 << Self::FRACTION;
    /// The greatest finite value.
    const MAX: u64 = Self::INFINITY - 1;
    /// The biased exponent of 1.
    const BIAS: i32 = (1 << (Self::BITS as u32 - Self::FRACTION - 2)) - 1;
    /// The value 1.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION;

    /// The value as a double.
    fn widen(a: u64) -> f64;

    /// A double rounded to the format.
    fn narrow(value: f64, direction: Direction) -> u64 {
        narrow::<Self>(value, direction)
    }

    /// The result of an operation, rounded to nearest even. NaNs are arbitrary.
    fn nearest(op: Arithmetic, operands: [u64; 3]) -> u64;

    /// The result of an operation, rounded in a direction. NaNs are arbitrary. Half and single precision round a double that was rounded
    /// to odd.
    fn directed(op: Arithmetic, operands: [u64; 3], direction: Direction) -> u64 {
        let [a, b, c] = operands.map(Self::widen);
        let result = match op {
            Arithmetic::Add => odd_sum(a, b),
            Arithmetic::Sub => odd_sum(a, -b),
            Arithmetic::Mul => a * b,
            Arithmetic::Div => a / b,
            Arithmetic::Fma => odd_sum(a * b, c),
            Arithmetic::Sqrt => a.sqrt(),
        };
        // IEEE 754, 6.3: an exact sum of opposite operands is -0 when rounding down.
        let zero_sum = result == 0.0
            && match op {
                Arithmetic::Add => a != 0.0 || a.is_sign_negative() != b.is_sign_negative(),
                Arithmetic::Sub => a != 0.0 || a.is_sign_negative() == b.is_sign_negative(),
                Arithmetic::Fma => c != 0.0 || (a * b).is_sign_negative() != c.is_sign_negative(),
                _ => false,
            };
        if zero_sum && direction == Direction::Down {
            return Self::SIGN;
        }
        Self::narrow(result, direction)
    }

    #[inline(always)]
    fn is_nan(a: u64) -> bool {
        a & !Self::SIGN > Self::INFINITY
    }

    /// Whether the value is neither infinite nor a NaN.
    #[inline(always)]
    fn is_finite(a: u64) -> bool {
        a & Self::INFINITY != Self::INFINITY
    }

    #[inline(always)]
    fn is_zero(a: u64) -> bool {
        a & !Self::SIGN == 0
    }

    /// Whether the value is nonzero and below the normal numbers.
    #[inline(always)]
    fn is_denormal(a: u64) -> bool {
        !Self::is_zero(a) && a & !Self::SIGN < Self::MIN_NORMAL
    }

    /// `±significand * 2^exponent`, rounded. The exponent is 0, or the significand has at most 53 bits.
    fn round(negative: bool, significand: u64, exponent: i32, direction: Direction) -> u64 {
        let sign = if negative { Self::SIGN } else { 0 };
        if significand == 0 {
            return sign;
        }
        let lowest = 1 - Self::BIAS - Self::FRACTION as i32;
        let highest_bit = exponent + significand.ilog2() as i32;
        // Exponent of the result's last bit.
        let last = (highest_bit - Self::FRACTION as i32).max(lowest);
        let magnitude = if last <= exponent {
            // Exact: the shift moves the highest bit at most to the place of the hidden bit.
            significand << (exponent - last)
        } else {
            // More than 63 dropped bits are possible only for a significand of at most 53 bits, which is then less than
            // half of the last place.
            let dropped = (last - exponent).min(63) as u32;
            let (kept, rest, half) = (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1));
            let away = match direction {
                Direction::NearestEven => rest > half || (rest == half && kept & 1 == 1),
                Direction::Zero => false,
                Direction::Up => rest > 0 && !negative,
                Direction::Down => rest > 0 && negative,
            };
            kept + u64::from(away)
        };
        // The hidden bit adds 1 to the exponent, which is 0 for denormals. So does a carry out of the fraction.
        let result = ((last - lowest) as u64 * Self::MIN_NORMAL).saturating_add(magnitude);
        if result < Self::INFINITY {
            return sign | result;
        }
        match direction {
            Direction::NearestEven => sign | Self::INFINITY,
            Direction::Up if !negative => Self::INFINITY,
            Direction::Down if negative => sign | Self::INFINITY,
            _ => sign | Self::MAX,
        }
    }
}

/// [`Format::narrow`] of a double to fewer bits.
fn narrow<F: Format>(value: f64, direction: Direction) -> u64 {
    let bits = value.to_bits();
    let negative = value.is_sign_negative();
    let sign = if negative { F::SIGN } else { 0 };
    let fraction = bits & (F64::MIN_NORMAL - 1);
    match (bits & F64::INFINITY) >> F64::FRACTION {
        0x7ff if fraction == 0 => sign | F::INFINITY,
        // A NaN keeps the upper bits of its payload, as on processors.
        0x7ff => sign | F::NAN | (fraction >> (F64::FRACTION - F::FRACTION)),
        0 => F::round(negative, fraction, 1 - F64::BIAS - F64::FRACTION as i32, direction),
        biased => {
            let exponent = biased as i32 - F64::BIAS - F64::FRACTION as i32;
            F::round(negative, fraction | F64::MIN_NORMAL, exponent, direction)
        }
    }
}

/// Defines a format that the processor computes with.
macro_rules! native {
    ($name:ident: $float:ident, $bits:literal, $fraction:literal, $($more:item)*) => {
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Format for $name {
            const BITS: u8 = $bits;
            const FRACTION: u32 = $fraction;

            #[inline(always)]
            fn widen(a: u64) -> f64 {
                $float::from_bits(a as _).into()
            }

            #[inline(always)]
            fn nearest(op: Arithmetic, operands: [u64; 3]) -> u64 {
                let [a, b, c] = operands.map(|bits| $float::from_bits(bits as _));
                let result = match op {
                    Arithmetic::Add => a + b,
                    Arithmetic::Sub => a - b,
                    Arithmetic::Mul => a * b,
                    Arithmetic::Div => a / b,
                    Arithmetic::Fma => a.mul_add(b, c),
                    Arithmetic::Sqrt => a.sqrt(),
                };
                result.to_bits().into()
            }

            $($more)*
        }
    };
}

native! {
    F32: f32, 32, 23,

    #[inline]
    fn narrow(value: f64, direction: Direction) -> u64 {
        match direction {
            Direction::NearestEven => (value as f32).to_bits().into(),
            _ => narrow::<Self>(value, direction),
        }
    }
}

native! {
    F64: f64, 64, 52,

    #[inline(always)]
    fn narrow(value: f64, _direction: Direction) -> u64 {
        value.to_bits()
    }

    fn directed(op: Arithmetic, operands: [u64; 3], direction: Direction) -> u64 {
        if direction == Direction::NearestEven {
            return Self::nearest(op, operands);
        }
        let [a, b, c] = operands.map(|bits| Double::from_bits(bits.into()));
        let result = match op {
            Arithmetic::Sqrt => return directed_root(f64::from_bits(operands[0]), direction).to_bits(),
            Arithmetic::Add => a.add_r(b, direction.into()),
            Arithmetic::Sub => a.sub_r(b, direction.into()),
            Arithmetic::Mul => a.mul_r(b, direction.into()),
            Arithmetic::Div => a.div_r(b, direction.into()),
            Arithmetic::Fma => a.mul_add_r(b, c, direction.into()),
        };
        result.value.to_bits() as u64
    }
}

#[derive(Clone, Copy, Debug)]
pub struct F16;

impl Format for F16 {
    const BITS: u8 = 16;
    const FRACTION: u32 = 10;

    #[inline]
    fn widen(a: u64) -> f64 {
        let magnitude = a & !Self::SIGN;
        let value = if magnitude >= Self::INFINITY {
            f64::from_bits(F64::INFINITY | (magnitude & (Self::MIN_NORMAL - 1)) << (F64::FRACTION - Self::FRACTION))
        } else {
            // The bits, read as a double, are too small by the difference of the biases. This holds for denormals too.
            let unscaled = f64::from_bits(magnitude << (F64::FRACTION - Self::FRACTION));
            unscaled * f64::from_bits(((2 * F64::BIAS - Self::BIAS) as u64) << F64::FRACTION)
        };
        if a & Self::SIGN != 0 { -value } else { value }
    }

    #[inline]
    fn nearest(op: Arithmetic, operands: [u64; 3]) -> u64 {
        let [a, b, _] = operands.map(Self::widen);
        // Exact in double precision: at most 41 bits for the sum, and 22 for the product.
        let result = match op {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            _ => return Self::directed(op, operands, Direction::NearestEven),
        };
        Self::narrow(result, Direction::NearestEven)
    }
}

/// Rounds to odd, given the exact value rounded to nearest, and the error of that.
#[inline]
fn odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    // If infinities make the error a NaN, the result is exact.
    if error == 0.0 || error.is_nan() || bits & 1 == 1 {
        nearest
    } else if (error > 0.0) == (nearest > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

/// A sum rounded to odd: an inexact one becomes the neighbor whose last bit is 1.
///
/// A result rounded to odd at 53 bits can be rounded again to any format of at most 51 bits, in any direction, and then equals the
/// infinitely precise result rounded once (Boldo and Melquiond 2008, "Emulation of a FMA and correctly rounded sums: proved algorithms
/// using rounding to odd"). The odd last bit keeps it away from ties and representable values of the narrower format. Operands are
/// values of half or single precision, or products of two, which are exact and neither overflow nor underflow as doubles.
///
/// Only sums need it. Quotients and roots of values of at most 24 bits either have at most 25 bits, or differ from all such values by
/// a relative 2^-51 or more, which exceeds the error of a double: they can be rounded twice.
#[inline]
fn odd_sum(a: f64, b: f64) -> f64 {
    // Knuth's two-sum: the error of a rounded sum is itself a double.
    let sum = a + b;
    let from_b = sum - a;
    let from_a = sum - from_b;
    odd(sum, (a - from_a) + (b - from_b))
}

/// The square root of a double, rounded in a direction.
fn directed_root(a: f64, direction: Direction) -> f64 {
    let root = a.sqrt();
    // The remainder of a rounded root is exactly a double, unless it underflows.
    let scale = if a < TWO_300.recip() { TWO_300 } else { 1.0 };
    let remainder = (-(root * scale)).mul_add(root * scale, a * scale * scale);
    match direction {
        Direction::Up if remainder > 0.0 => root.next_up(),
        Direction::Down | Direction::Zero if remainder < 0.0 => root.next_down(),
        _ => root,
    }
}

/// 2^300
const TWO_300: f64 = f64::from_bits((300 + 1023) << 52);
