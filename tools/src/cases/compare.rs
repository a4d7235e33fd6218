//! Compares the results of a launch with the expectations of a case.
//!
//! Elements are compared by their bits. A [`Tolerance`] relaxes that for floats, but infinities and NaNs are never
//! close to a number.

use std::fmt;

use super::Scalar;
use super::prepare::{Check, Subject, Tolerance};
use super::spec::NanRule;

/// Maximum number of differing elements that a [`Mismatch`] stores.
pub const MAX_SHOWN: usize = 4;

/// An element that differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Index in the buffer or variable.
    pub index: usize,
    /// Expected bits.
    pub expected: u64,
    /// Actual bits.
    pub got: u64,
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Buffer or variable.
    pub subject: Subject,
    /// Type of the comparison.
    pub ty: Scalar,
    /// Number of elements that were compared.
    pub compared: usize,
    /// Number of differing elements, including missing ones.
    pub differing: usize,
    /// Number of missing elements, because too few bytes were returned.
    pub missing: usize,
    /// The first [`MAX_SHOWN`] differing elements.
    pub first: Vec<Difference>,
}

/// Compares the contents of the check's subject. `None` if they are as expected.
pub fn compare(check: &Check, got: &[u8]) -> Option<Mismatch> {
    let ty = check.expected.ty;
    let start = check.offset.saturating_mul(ty.size()).min(got.len());
    let compared = check.expected.bytes.len() / ty.size();
    let there = &got[start..];
    let missing = compared.saturating_sub(there.len() / ty.size());
    let mut first = Vec::new();
    let mut differing = missing;
    for (index, (expected, got)) in ty.elements(&check.expected.bytes).zip(ty.elements(there)).enumerate() {
        if !accepts(ty, &check.tolerance, expected, got) {
            differing += 1;
            if first.len() < MAX_SHOWN {
                first.push(Difference { index: check.offset + index, expected, got });
            }
        }
    }
    (differing > 0).then(|| Mismatch { subject: check.subject.clone(), ty, compared, differing, missing, first })
}

/// Whether an element is accepted.
pub fn accepts(ty: Scalar, tolerance: &Tolerance, expected: u64, got: u64) -> bool {
    if expected == got {
        return true;
    }
    if !ty.is_float() {
        return false;
    }
    if ty.is_nan(expected) || ty.is_nan(got) {
        return tolerance.nan == NanRule::Any && ty.is_nan(expected) && ty.is_nan(got);
    }
    if !ty.is_finite(expected) || !ty.is_finite(got) {
        return false;
    }
    let error = (ty.to_f64(expected) - ty.to_f64(got)).abs();
    tolerance.ulp.is_some_and(|ulp| ty.ordinal(expected).abs_diff(ty.ordinal(got)) <= ulp)
        || tolerance.abs.is_some_and(|bound| error <= bound)
        || tolerance.rel.is_some_and(|bound| error <= bound * ty.to_f64(expected).abs())
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Arg(index) => write!(f, "arg {index}"),
            Subject::Global(name) => write!(f, "global {name}"),
            Subject::Image(name) => write!(f, "image {name}"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, ty, compared, differing, .. } = self;
        write!(f, "{subject}: {differing} of {compared} {ty} differ:")?;
        for (position, &Difference { index, expected, got }) in self.first.iter().enumerate() {
            let separator = if position == 0 { "" } else { ";" };
            write!(f, "{separator} [{index}] expected {}, got {}", with_bits(*ty, expected), with_bits(*ty, got))?;
            if ty.is_float() && ty.is_finite(expected) && ty.is_finite(got) {
                write!(f, ", {} ulp", ty.ordinal(expected).abs_diff(ty.ordinal(got)))?;
            }
        }
        if self.missing > 0 {
            write!(f, " ({} elements are missing)", self.missing)?;
        } else if self.differing > self.first.len() {
            write!(f, "; …")?;
        }
        Ok(())
    }
}

fn with_bits(ty: Scalar, bits: u64) -> String {
    format!("{} ({})", ty.show(bits), ty.show_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::contents::Array;

    fn bytes(ty: Scalar, values: &[&str]) -> Vec<u8> {
        values.iter().flat_map(|text| ty.to_bytes(ty.parse(text).unwrap())).collect()
    }

    fn check(ty: Scalar, values: &[&str], offset: usize, tolerance: Tolerance) -> Check {
        let expected = Array { ty, bytes: bytes(ty, values) };
        Check { subject: Subject::Arg(2), offset, expected, tolerance }
    }

    fn accepts_text(ty: Scalar, tolerance: Tolerance, expected: &str, got: &str) -> bool {
        accepts(ty, &tolerance, ty.parse(expected).unwrap(), ty.parse(got).unwrap())
    }

    #[test]
    fn equal_bits_pass_and_any_other_bit_fails() {
        let check = check(Scalar::U32, &["1", "2", "3"], 0, Tolerance::default());
        let good = bytes(Scalar::U32, &["1", "2", "3", "99"]);
        assert_eq!(compare(&check, &good), None);
        for bit in 0..96 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(compare(&check, &bad).map(|mismatch| mismatch.differing), Some(1), "bit {bit}");
        }
    }

    #[test]
    fn differences_are_counted_and_the_first_ones_told() {
        let expected = vec!["0"; 20];
        let mut got = vec!["0"; 20];
        got[3] = "-1";
        got[17] = "5";
        let check = check(Scalar::S16, &expected, 0, Tolerance::default());
        let mismatch = compare(&check, &bytes(Scalar::S16, &got)).unwrap();
        let text = "arg 2: 2 of 20 s16 differ: [3] expected 0 (0x0000), got -1 (0xffff); [17] expected 0 (0x0000), got 5 (0x0005)";
        assert_eq!(mismatch.to_string(), text);
        let all = compare(&check, &bytes(Scalar::S16, &["1"; 20])).unwrap();
        assert_eq!((all.differing, all.first.len()), (20, MAX_SHOWN));
        assert!(all.to_string().ends_with("; …"));
    }

    #[test]
    fn the_offset_is_in_elements() {
        let check = check(Scalar::U16, &["7", "8"], 2, Tolerance::default());
        assert_eq!(compare(&check, &bytes(Scalar::U16, &["0", "0", "7", "8"])), None);
        let mismatch = compare(&check, &bytes(Scalar::U16, &["7", "8", "7", "0"])).unwrap();
        assert_eq!(mismatch.first, [Difference { index: 3, expected: 8, got: 0 }]);
    }

    #[test]
    fn missing_elements_fail() {
        let check = check(Scalar::U32, &["0", "0"], 1, Tolerance::default());
        for len in 0..12 {
            assert!(compare(&check, &vec![0; len]).is_some(), "{len} bytes");
        }
        assert_eq!(compare(&check, &[]).unwrap().missing, 2);
    }

    #[test]
    fn zeros_differ_in_sign_unless_a_tolerance_is_given() {
        assert!(!accepts_text(Scalar::F32, Tolerance::default(), "0", "-0"));
        assert!(accepts_text(Scalar::F32, Tolerance { ulp: Some(0), ..Default::default() }, "0", "-0"));
    }

    #[test]
    fn ulp_abs_and_rel_each_have_an_edge() {
        let ulp = Tolerance { ulp: Some(2), ..Default::default() };
        assert!(accepts_text(Scalar::F32, ulp, "1", "0x3f800002"));
        assert!(!accepts_text(Scalar::F32, ulp, "1", "0x3f800003"));
        assert!(accepts_text(Scalar::F16, ulp, "0x0001", "0x8001"));
        assert!(!accepts_text(Scalar::F16, ulp, "0x0001", "0x8002"));
        let abs = Tolerance { abs: Some(0.25), ..Default::default() };
        assert!(accepts_text(Scalar::F64, abs, "1", "1.25"));
        assert!(!accepts_text(Scalar::F64, abs, "1", "1.2500001"));
        let rel = Tolerance { rel: Some(0.5), ..Default::default() };
        assert!(accepts_text(Scalar::Bf16, rel, "-8", "-12"));
        assert!(!accepts_text(Scalar::Bf16, rel, "-8", "-13"));
        // The limit is relative to the expected value, not to the larger one.
        assert!(!accepts_text(Scalar::F32, rel, "0", "1e-30"));
    }

    #[test]
    fn tolerances_are_alternatives() {
        let both = Tolerance { ulp: Some(0), abs: Some(1.0), ..Default::default() };
        assert!(accepts_text(Scalar::F32, both, "1", "1.5"));
    }

    #[test]
    fn infinities_are_close_to_nothing() {
        let loose = Tolerance { ulp: Some(u64::MAX), abs: Some(f64::MAX), rel: Some(f64::MAX), nan: NanRule::Any };
        assert!(accepts_text(Scalar::F32, loose, "inf", "inf"));
        for (expected, got) in
            [("inf", "0x7f7fffff"), ("0x7f7fffff", "inf"), ("inf", "-inf"), ("nan", "inf"), ("1", "nan")]
        {
            assert!(!accepts_text(Scalar::F32, loose, expected, got), "{expected} {got}");
        }
    }

    #[test]
    fn nans_are_equal_unless_bits_count() {
        let bits = Tolerance { nan: NanRule::Bits, ulp: Some(u64::MAX), ..Default::default() };
        assert!(accepts_text(Scalar::F32, Tolerance::default(), "0x7fc00000", "0xffffffff"));
        assert!(!accepts_text(Scalar::F32, bits, "0x7fc00000", "0x7fc00001"));
        assert!(accepts_text(Scalar::F32, bits, "0x7fc00001", "0x7fc00001"));
        // As an integer, the same bits are a plain number.
        assert!(!accepts_text(Scalar::U32, Tolerance::default(), "0x7fc00000", "0xffffffff"));
    }
}
