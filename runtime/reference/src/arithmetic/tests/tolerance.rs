//! Freedoms with a tolerance: division, roots and functions stay within Vulkan's limits, and make use of them.

use rustc_apfloat::FloatConvert;
use rustc_apfloat::ieee::Quad;

use super::*;

fn quad<R: Reference + FloatConvert<Quad>>(value: R) -> Quad {
    value.convert(&mut false).value
}

fn double(value: Quad) -> f64 {
    let double: Double = value.convert(&mut false).value;
    f64::from_bits(double.bits())
}

fn from_double(value: f64) -> Quad {
    quad(Double::of(value.to_bits()))
}

/// Vulkan's unit in the last place of a positive value: the distance between the floats around it. If it is a float,
/// the lesser distance.
fn ulp<R: Reference + FloatConvert<Quad>>(exact: Quad) -> Quad
where
    Quad: FloatConvert<R>,
{
    let below: R = exact.convert_r(Round::TowardZero, &mut false).value;
    let below = if quad(below) == exact && !below.is_zero() { below.bits() - 1 } else { below.bits() };
    (quad(R::of(below + 1)) - quad(R::of(below))).value
}

/// The error of a result, in ULP.
fn off<R: Reference + FloatConvert<Quad>>(bits: u64, exact: Quad) -> f64
where
    Quad: FloatConvert<R>,
{
    let error = (quad(R::of(bits)) - exact).value.abs();
    double((error / ulp::<R>(exact.abs())).value)
}

fn division<R: Reference + FloatConvert<Quad>>()
where
    Quad: FloatConvert<R>,
{
    let mut sample = samples::<R>(21);
    let mut choice = Seeded::new(22);
    let (mut greatest, mut differing, mut count) = (0.0_f64, 0, 0);
    let bias = (R::INFINITY.bits() >> R::FRACTION) / 2;
    for _ in 0..4_000 {
        let (a, b) = (sample(), sample());
        let plain = binary(Binary::FDiv, R::WIDTH, a, b, &BOUND, &mut Plain);
        let (x, y) = (R::of(a), R::of(b));
        let magnitude = b & !(1 << (R::WIDTH - 1));
        // The divisor's range with a limit: 2^-14 to 2^14 for halves, 2^-126 to 2^126 for singles, and so on.
        let bounded = (1 << R::FRACTION..=(2 * bias - 1) << R::FRACTION).contains(&magnitude);
        for _ in 0..8 {
            let found = binary(Binary::FDiv, R::WIDTH, a, b, &BOUND, &mut choice);
            // `DenormPreserve` doesn't apply to division.
            let flushed = R::of(found).is_zero() || R::of(found).is_nan();
            if (x.is_denormal() || y.is_denormal() || R::of(plain).is_denormal()) && flushed {
                continue;
            }
            if !x.is_finite_non_zero() || !y.is_finite() || y.is_zero() {
                assert!(same(R::of(plain), found), "{a:x} / {b:x}: {found:x}");
                continue;
            }
            if !bounded {
                assert!(!R::of(found).is_nan());
                continue;
            }
            let exact = (quad(x) / quad(y)).value;
            if R::of(found).is_infinite() || R::of(plain).is_infinite() {
                let limit = (quad(R::largest()) - (ulp::<R>(quad(R::largest())) * from_double(2.5)).value).value;
                assert!(exact.abs() >= limit, "{a:x} / {b:x}: {found:x}");
                continue;
            }
            let off = off::<R>(found, exact);
            assert!(off <= 2.5, "{a:x} / {b:x}: {found:x}, off by {off}");
            greatest = greatest.max(off);
            count += 1;
            differing += u32::from(found != plain);
        }
    }
    assert!(greatest > 2.2 && differing > count / 4, "{greatest} {differing} of {count}");
}

#[test]
fn quotients_are_off_by_two_and_a_half_units() {
    division::<Half>();
    division::<Single>();
    division::<Double>();
    // Even for x / x, and more often below a power of two than above.
    let one = 0x3f80_0000;
    let mut choice = Seeded::new(23);
    let found: std::collections::BTreeSet<u64> =
        (0..200).map(|_| binary(Binary::FDiv, 32, one + 5, one + 5, &BOUND, &mut choice)).collect();
    assert_eq!(found, [one - 2, one - 1, one, one + 1].into());
}

/// The range of values that a formula may have, in half or single precision.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
    half: bool,
}

impl Range {
    fn of(value: f64, half: bool) -> Self {
        Self { low: value, high: value, half }
    }

    /// One unit in the last place at a value, which is also the maximum error of a flushed denormal.
    fn unit(self, value: f64) -> f64 {
        let (fraction, least) = if self.half { (10, -14) } else { (23, -126) };
        (value.abs() * 2_f64.powi(-fraction)).max(2_f64.powi(least))
    }

    /// Extends the range by a number of ULP. An overflow may return any value from the greatest one up.
    fn ulps(self, count: f64) -> Self {
        let greatest = if self.half { 65504.0 } else { f64::from(f32::MAX) };
        let low = self.low - count * self.unit(self.low);
        let high = self.high + count * self.unit(self.high);
        let low = if low < -greatest { f64::NEG_INFINITY } else { low.min(greatest) };
        let high = if high > greatest { f64::INFINITY } else { high.max(-greatest) };
        Self { low, high, ..self }
    }

    fn absolute(self, error: f64) -> Self {
        Self { low: self.low - error, high: self.high + error, ..self }
    }

    /// The range of an operation that is monotonic in each operand, from its extremes.
    fn corners(self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let all = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let all = all.map(|(a, b)| op(a, b));
        if all.iter().any(|value| value.is_nan()) {
            return Self { low: f64::NEG_INFINITY, high: f64::INFINITY, ..self };
        }
        Self {
            low: all.into_iter().fold(f64::INFINITY, f64::min),
            high: all.into_iter().fold(f64::NEG_INFINITY, f64::max),
            ..self
        }
    }

    fn add(self, other: Self) -> Self {
        self.corners(other, |a, b| a + b).ulps(1.0)
    }

    fn sub(self, other: Self) -> Self {
        self.corners(other, |a, b| a - b).ulps(1.0)
    }

    fn mul(self, other: Self) -> Self {
        self.corners(other, |a, b| a * b).ulps(1.0)
    }

    fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Self { low: f64::NEG_INFINITY, high: f64::INFINITY, ..self };
        }
        self.corners(other, |a, b| a / b).ulps(2.5)
    }

    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        self.corners(self, |a, _| function(a))
    }

    fn sqrt(self) -> Self {
        // 2 ULP for the inverse and 2.5 for the division.
        let result = Self { low: self.low.max(0.0), ..self }.map(f64::sqrt).ulps(5.0);
        Self { low: result.low.max(0.0), ..result }
    }

    fn exp(self, function: impl Fn(f64) -> f64) -> Self {
        let greatest = self.low.abs().max(self.high.abs());
        self.map(function).ulps(if self.half { 1.0 } else { 3.0 } + 2.0 * greatest)
    }

    fn log(self, function: impl Fn(f64) -> f64) -> Self {
        // Where the range overlaps [0.5, 2], a larger error is permitted.
        let result = self.map(function).ulps(3.0);
        let near = self.low <= 2.0 && self.high >= 0.5;
        if near { result.absolute(2_f64.powi(if self.half { -7 } else { -21 })) } else { result }
    }

    /// Whether Vulkan permits a result, given the exact one. `self` is the range of the formula.
    fn permits(self, found: f64, exact: f64) -> bool {
        let error = (exact - self.low).abs().max((exact - self.high).abs());
        error.is_nan() || (found >= exact - error && found <= exact + error)
    }
}

type Function = fn(f64) -> f64;

/// The range of a function's formula.
fn permitted(op: Unary, exact: Function, x: f64, half: bool) -> Range {
    let a = Range::of(x, half);
    let point_five = Range::of(0.5, half);
    match op {
        Unary::Sqrt => a.sqrt(),
        Unary::InverseSqrt => a.map(exact).ulps(2.0),
        Unary::Exp | Unary::Exp2 => a.exp(exact),
        Unary::Log | Unary::Log2 => a.log(exact),
        Unary::Sin | Unary::Cos => a.map(exact).absolute(2_f64.powi(if half { -7 } else { -11 })),
        Unary::Tanh => {
            let (up, down) = (a.exp(f64::exp), Range::of(-x, half).exp(f64::exp));
            up.sub(down).mul(point_five).div(up.add(down).mul(point_five))
        }
        _ => unreachable!("not a function"),
    }
}

/// A float of the given width near a double.
fn encode(value: f64, half: bool) -> u64 {
    let single = u64::from((value as f32).to_bits());
    if half { convert(Conversion::FConvert, 32, 16, single, &FREE, &mut Plain) } else { single }
}

fn decode(bits: u64, half: bool) -> f64 {
    let single = if half { convert(Conversion::FConvert, 16, 32, bits, &FREE, &mut Plain) } else { bits };
    f32::from_bits(single as u32).into()
}

#[test]
fn functions_are_off_by_what_vulkan_allows() {
    let ops: [(Unary, Function, f64, f64); 9] = [
        (Unary::Sqrt, f64::sqrt, 1e-3, 1e4),
        (Unary::InverseSqrt, |x| 1.0 / x.sqrt(), 1e-3, 1e4),
        (Unary::Exp, f64::exp, -8.0, 8.0),
        (Unary::Exp2, f64::exp2, -10.0, 12.0),
        (Unary::Log, f64::ln, 1e-3, 1e4),
        (Unary::Log2, f64::log2, 0.25, 4.0),
        (Unary::Sin, f64::sin, -3.1, 3.1),
        (Unary::Cos, f64::cos, -3.1, 3.1),
        (Unary::Tanh, f64::tanh, -8.0, 8.0),
    ];
    let mut random = Seeded::new(24);
    let mut choice = Seeded::new(25);
    for half in [true, false] {
        let width = if half { 16 } else { 32 };
        for (op, exact, low, high) in ops {
            let mut differing = 0;
            for _ in 0..1_000 {
                let fraction = random.bits() as f64 / 2_f64.powi(64);
                let bits = encode(low + (high - low) * fraction, half);
                let x = decode(bits, half);
                if domain::unary(op, width, bits) {
                    continue;
                }
                let plain = unary(op, width, bits, &FREE, &mut Plain);
                let range = permitted(op, exact, x, half);
                for _ in 0..8 {
                    let found = unary(op, width, bits, &FREE, &mut choice);
                    let value = decode(found, half);
                    assert!(range.permits(value, exact(x)), "{op:?} {x} ({width}): {value} not in {range:?}");
                    differing += u32::from(found != plain);
                }
            }
            assert!(differing > 1_000, "{op:?} {width}: {differing} of 8000 differ");
        }
    }
}

#[test]
fn roots_of_doubles_are_off_by_a_few_units() {
    let mut sample = samples::<Double>(29);
    let mut choice = Seeded::new(30);
    let mut greatest = 0.0_f64;
    for _ in 0..4_000 {
        let a = sample() & (u64::MAX >> 1);
        let x = f64::from_bits(a);
        if !x.is_normal() {
            continue;
        }
        let root = f64::from_bits(unary(Unary::Sqrt, 64, a, &BOUND, &mut choice));
        let off = (root - x.sqrt()).abs() / (x.sqrt() * f64::EPSILON);
        // 2 ULP for the inverse root, 2.5 for the division, half an ULP for our own rounding. Units differ in size by a
        // factor of at most 2.
        assert!(off <= 5.0, "{x}: {root}, off by {off}");
        greatest = greatest.max(off);
    }
    assert!(greatest > 1.5, "{greatest}");
}
