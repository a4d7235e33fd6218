//! Operands of the self-test as bits: corners of the formats, neighbours of each other, and evenly spread or random
//! bits. They are the same in every call.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Up to three operands.
pub type Operands = [u64; 3];

/// Number of random operands for each instruction.
const RANDOM: usize = 60_000;
/// Step between operands that cover all of f32. It is prime, so that all bits vary.
const STRIDE: usize = 8_209;

/// A binary format.
struct Format {
    width: u32,
    /// Stored bits of the significand.
    fraction: u32,
}

const SINGLE: Format = Format { width: 32, fraction: 23 };
const HALF: Format = Format { width: 16, fraction: 10 };
const DOUBLE: Format = Format { width: 64, fraction: 52 };

impl Format {
    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    fn sign(&self) -> u64 {
        1 << (self.width - 1)
    }

    /// The bits of 1.
    fn one(&self) -> u64 {
        (self.sign() >> 1) - (1 << self.fraction)
    }

    /// Both signs of zero, the least and the greatest subnormal and normal numbers, infinity, a NaN, and small numbers
    /// with their neighbours.
    fn corners(&self) -> Vec<u64> {
        let unit = 1u64 << self.fraction;
        let infinity = self.sign() - unit;
        let mut list = vec![0, 1, 2, 3, unit / 2, unit - 1, unit, unit + 1, 2 * unit - 1, 2 * unit];
        list.extend([infinity - 1, infinity - 2, infinity, infinity + unit / 2]);
        let half = self.fraction.div_ceil(2);
        for power in [self.one(), self.one() + unit, self.one() - unit, self.one() + (u64::from(half) << self.fraction)]
        {
            list.extend([power - 1, power, power + 1, power + 2, power + unit / 2, power + unit / 3]);
        }
        list.extend(list.clone().into_iter().map(|bits| bits | self.sign()));
        list
    }

    /// Random bits, with an exponent near that of 1 in half of all cases.
    fn random(&self, random: &mut SplitMix64) -> u64 {
        let bits = random.next_u64();
        if random.next_u64() & 1 == 0 {
            return bits & self.mask();
        }
        let near = self.one().wrapping_add((random.next_u64() % 64).wrapping_sub(32).wrapping_shl(self.fraction));
        (bits & (self.sign() | ((1 << self.fraction) - 1))) | near
    }

    /// Pairs of corners, and random operands. The third operand is often close to minus the product of the others, or
    /// minus what `product` returns for it.
    fn operands(&self, product: fn(u64, u64) -> u64) -> Vec<Operands> {
        let corners = self.corners();
        let mut random = SplitMix64::seed_from_u64(1);
        let mut list = Vec::new();
        for &a in &corners {
            for &b in &corners {
                let c = corners[(random.next_u64() % corners.len() as u64) as usize];
                list.push([a, b, c]);
            }
        }
        for _ in 0..RANDOM {
            let (a, b) = (self.random(&mut random), self.random(&mut random));
            let c = match random.next_u64() % 4 {
                0 => corners[(random.next_u64() % corners.len() as u64) as usize],
                1 => self.random(&mut random),
                // Minus the rounded product, or near it, so that the sum is about the rounding error.
                _ => (product(a, b) ^ self.sign()).wrapping_add(random.next_u64() % 3).wrapping_sub(1) & self.mask(),
            };
            list.push([a, b, c]);
        }
        list
    }
}

/// Corners of f32.
pub fn single_corners() -> Vec<u64> {
    SINGLE.corners()
}

/// Corners of f64.
pub fn double_corners() -> Vec<u64> {
    DOUBLE.corners()
}

/// Operands for f32.
pub fn single() -> Vec<Operands> {
    SINGLE.operands(|a, b| u64::from((f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits()))
}

/// Pairs of f16 operands: each operand is in the lower half of one pair, and in the upper half of another.
pub fn halves() -> Vec<Operands> {
    let list = HALF.operands(|a, b| narrowed(widened(a) * widened(b)));
    let other = list.iter().cycle().skip(list.len() / 3);
    list.iter().zip(other).map(|(low, high)| std::array::from_fn(|index| low[index] | high[index] << 16)).collect()
}

/// All f16, each with other bits above.
pub fn half() -> Vec<Operands> {
    (0..=0xffff_u64).map(|bits| [bits | (bits ^ 0x9b05) << 16, 0, 0]).collect()
}

/// All f16 but NaNs as f32, and the f32 around the middle between an f16 and the next one.
pub fn near_half() -> Vec<Operands> {
    let mut list = Vec::new();
    for bits in 0..=0x7c00 {
        let [here, next] = [bits, bits + 1].map(|bits| if bits < 0x7c00 { widened(bits) } else { 65536.0 });
        let middle = (((here + next) / 2.0) as f32).to_bits();
        for number in [(here as f32).to_bits(), middle - 1, middle, middle + 1] {
            list.extend([number, number | 1 << 31].map(|number| [number.into(), 0, 0]));
        }
    }
    list
}

/// Operands for f64.
pub fn double() -> Vec<Operands> {
    DOUBLE.operands(|a, b| (f64::from_bits(a) * f64::from_bits(b)).to_bits())
}

/// Single f32 operands over the whole range, denser between 1 and 4 and below a quarter turn.
pub fn unary() -> Vec<Operands> {
    let spread = (0..=u32::MAX).step_by(STRIDE);
    let near_one = (0x3f80_0000..0x4080_0000).step_by(61);
    let angles = (0..100_000u32).map(|step| (step as f32 * (std::f32::consts::FRAC_PI_2 / 100_000.0)).to_bits());
    spread.chain(near_one).chain(angles).chain(around_powers()).map(|bits| [bits.into(), 0, 0]).collect()
}

/// Powers of two of both signs, zeros, infinities, and their neighbours.
fn around_powers() -> impl Iterator<Item = u32> {
    (0..512u32).flat_map(|top| (0..9).map(move |step| (top << 23).wrapping_add(step).wrapping_sub(4)))
}

/// Single f32 operands at the ends of the range: subnormals, zeros, infinities and NaNs, and powers of two of both
/// signs.
pub fn ends() -> Vec<Operands> {
    let subnormals = (0..1u32 << 23).step_by(2053).flat_map(|bits| [bits, bits | 1 << 31]);
    subnormals.chain(around_powers()).map(|bits| [bits.into(), 0, 0]).collect()
}

/// Like [`single`], and operands whose sums and products are tiny, or almost tiny.
pub fn tiny() -> Vec<Operands> {
    let mut list = single();
    let least = f32::MIN_POSITIVE;
    let mut signs = |[a, b, c]: [f32; 3]| {
        for sign in [1.0f32, -1.0] {
            for other in [1.0f32, -1.0] {
                list.push([sign * a, b, other * c].map(|x| u64::from(x.to_bits())));
            }
        }
    };
    // Exactly or nearly the least normal number.
    for exponent in 140..160 {
        let a = 2f32.powi(-exponent / 2);
        let b = 2f32.powi(exponent / 2 - exponent);
        for b in [b, b.next_up(), b.next_down(), 1.5 * b] {
            signs([a, b, least]);
            signs([a, b, least.next_up()]);
        }
    }
    // Products whose significands are just below 2.
    let mut random = SplitMix64::seed_from_u64(2);
    for _ in 0..5_000 {
        let a = f32::from_bits(0x3f80_0000 | random.next_u64() as u32 & 0x7f_ffff);
        let b = f32::from_bits((2.0 / a).to_bits() + (random.next_u64() % 3) as u32 - 1);
        signs([a * 2f32.powi(-63), b * 2f32.powi(-64), 0.0]);
    }
    // The factors of 2^47 - 1.
    signs([13_264_529.0 * 2f32.powi(-86), 10_610_063.0 * 2f32.powi(-87), 0.0]);
    list
}

impl Format {
    /// Triples of numbers, infinities and several NaNs.
    fn nans(&self) -> Vec<Operands> {
        let unit = 1u64 << self.fraction;
        let infinity = self.sign() - unit;
        let quiet = infinity + unit / 2;
        let sign = self.sign();
        let few =
            [self.one(), sign | self.one(), 0, infinity, sign | infinity, quiet | 5, sign | quiet | 9, infinity | 3];
        let thirds = move |a, b| few.into_iter().map(move |c| [a, b, c]);
        few.into_iter().flat_map(|a| few.into_iter().flat_map(move |b| thirds(a, b))).collect()
    }
}

/// Operands for results that are f32 NaNs.
pub fn single_nans() -> Vec<Operands> {
    SINGLE.nans()
}

/// Operands for results that are f64 NaNs.
pub fn double_nans() -> Vec<Operands> {
    DOUBLE.nans()
}

/// The value of an f16.
pub fn widened(bits: u64) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, bits & 1023);
    let magnitude = match exponent {
        0 => fraction as f64 * 2f64.powi(-24),
        31 if fraction == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024) as f64 * 2f64.powi(exponent as i32 - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// The bits of the f16 nearest to a number, ties to even; 0x7fff for NaN.
pub fn narrowed(number: f64) -> u64 {
    if number.is_nan() {
        return 0x7fff;
    }
    let sign = (number.to_bits() >> 63) << 15;
    let magnitude = number.abs();
    // The unit in the last place near this number. Subnormal numbers have that of the least normal number.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let units = (magnitude / 2f64.powi(exponent - 10)).round_ties_even();
    let bits = if magnitude >= 65520.0 { 0x7c00 } else { (((exponent + 14) as u64) << 10) + units as u64 };
    sign | bits
}

/// The sum of two numbers rounded to odd, so that rounding it to f16 has no double rounding.
pub fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let of_b = sum - a;
    let error = (a - (sum - of_b)) + (b - of_b);
    let is_odd = sum.to_bits() & 1 == 1;
    match () {
        () if error == 0.0 || is_odd => sum,
        () if (error > 0.0) == (sum > 0.0) => f64::from_bits(sum.to_bits() + 1),
        () => f64::from_bits(sum.to_bits() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_f16_come_back() {
        for bits in 0..=0xffff_u64 {
            let is_nan = bits & 0x7fff > 0x7c00;
            assert_eq!(narrowed(widened(bits)), if is_nan { 0x7fff } else { bits }, "{bits:#x}");
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        for (number, bits) in [
            (1.0 + 2f64.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2f64.powi(-11), 0x3c02),
            (2f64.powi(-25), 0),
            (1.5 * 2f64.powi(-24), 2),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (-2f64.powi(-14) * (1.0 - 2f64.powi(-12)), 0x8400),
            (2047.5 * 2f64.powi(-11), 0x3c00),
        ] {
            assert_eq!(narrowed(number), bits, "{number}");
        }
    }

    #[test]
    fn sums_that_f64_rounds_keep_their_side() {
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(narrowed(odd_sum(tie, 2f64.powi(-60))), 0x3c01);
        assert_eq!(narrowed(odd_sum(tie, -2f64.powi(-60))), 0x3c00);
    }
}
