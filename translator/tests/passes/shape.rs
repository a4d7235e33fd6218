//! Writes numbers of a float format: corners, random ones, and neighbours of others.

use crate::support::Random;
use ptx2spv_translator::internals::ir::Type;

/// A format as far as writing numbers in it goes.
#[derive(Clone, Copy)]
pub struct Shape {
    pub ty: Type,
    pub fraction_bits: u32,
    pub top_exponent: u64,
}

impl Shape {
    pub fn of(ty: Type) -> Shape {
        if ty == Type::F32 {
            Shape { ty, fraction_bits: 23, top_exponent: 255 }
        } else {
            Shape { ty, fraction_bits: 52, top_exponent: 2047 }
        }
    }

    pub fn float(self, negative: bool, exponent: u64, fraction: u64) -> u64 {
        let exponent = exponent.min(self.top_exponent);
        let fraction = fraction & ((1 << self.fraction_bits) - 1);
        ((u64::from(negative) * (self.top_exponent + 1) + exponent) << self.fraction_bits) | fraction
    }

    pub fn exponent(self, bits: u64) -> u64 {
        (bits >> self.fraction_bits) & self.top_exponent
    }

    /// Bits of a host's computation on two numbers of the format.
    pub fn compute(self, x: u64, y: u64, on_f32: fn(f32, f32) -> f32, on_f64: fn(f64, f64) -> f64) -> u64 {
        if self.ty == Type::F32 {
            on_f32(f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits().into()
        } else {
            on_f64(f64::from_bits(x), f64::from_bits(y)).to_bits()
        }
    }

    /// Numbers where arithmetic has its corners.
    pub fn corners(self) -> Vec<u64> {
        let bias = self.top_exponent / 2;
        let fraction = 1u64 << (self.fraction_bits - 1);
        let exponents =
            [0, 1, 2, bias - 1, bias, bias + 1, bias + 24, bias + 53, self.top_exponent - 1, self.top_exponent];
        let fractions = [0, 1, 2, fraction - 1, fraction, fraction + 1, 2 * fraction - 1];
        let magnitudes = exponents.iter().flat_map(|exponent| fractions.map(|f| self.float(false, *exponent, f)));
        magnitudes.flat_map(|magnitude| [magnitude, magnitude | self.float(true, 0, 0)]).collect()
    }

    pub fn random(self, random: &mut Random) -> u64 {
        let bias = self.top_exponent / 2;
        let negative = random.below(2) == 0;
        let noise = random.bits();
        let fraction = match random.below(5) {
            0 => 0,
            // Few ones, few zeros, a short one.
            1 => (1 << random.below(52)) | (1 << random.below(52)),
            2 => !((1 << random.below(52)) | (1 << random.below(52))),
            3 => noise << random.below(self.fraction_bits as usize),
            _ => noise,
        };
        let exponent = match random.below(8) {
            0 => 0,
            1 => random.below(4) as u64,
            2 => self.top_exponent - random.below(5) as u64,
            3 => random.bits() % (self.top_exponent + 1),
            4 => bias / 2 + random.below(40) as u64 - 20,
            _ => bias + random.below(24) as u64 - 12,
        };
        self.float(negative, exponent, fraction)
    }

    /// A number close to another one: a few units off, or with another exponent.
    pub fn near(self, bits: u64, random: &mut Random) -> u64 {
        let sign = if random.below(2) == 0 { self.float(true, 0, 0) } else { 0 };
        let near = match random.below(3) {
            0 => (bits.wrapping_add(random.below(7) as u64).wrapping_sub(3)) ^ sign,
            1 => {
                let distance = random.below(2 * self.fraction_bits as usize + 8) as u64;
                let noise = random.bits();
                let fraction = random.pick(&[0, 0, 1, noise]);
                let exponent = (self.exponent(bits) + distance).saturating_sub(u64::from(self.fraction_bits) + 4);
                self.float(random.below(2) == 0, exponent, fraction)
            }
            _ => bits ^ sign,
        };
        if self.ty == Type::F32 { near & 0xffff_ffff } else { near }
    }
}
