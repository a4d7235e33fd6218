//! f16 arithmetic in f64, for expected results of the self-test.

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
