//! Compares results, and measures their distance.

use ptx2spv::cases::prepare::{Argument, Prepared, Subject};
use ptx2spv::cases::{Outputs, Scalar};

use crate::sides::Side;

/// Compares all buffers and images of both sides, or reports a missing side.
pub fn results(case: &Prepared, cuda: &Side, vulkan: &Side) -> String {
    let errors = [("CUDA", cuda), ("Vulkan", vulkan)];
    let errors =
        errors.iter().filter_map(|(name, side)| Some(format!("{name}: {}", side.error.as_ref()?.lines().next()?)));
    let errors: Vec<String> = errors.collect();
    if !errors.is_empty() {
        return errors.join("; ").replace('|', "/");
    }
    let (Some(cuda), Some(vulkan)) = (&cuda.outputs, &vulkan.outputs) else { return "not compared".to_owned() };
    distance(case, cuda, vulkan)
}

/// The distance of the buffers and images after two launches.
pub fn distance(case: &Prepared, expected: &Outputs, got: &Outputs) -> String {
    let mut total = Distance::default();
    for (index, arg) in case.args.iter().enumerate() {
        if let Argument::Buffer(array) = arg {
            let subject = Subject::Arg(index);
            total.add(array.ty, expected.bytes(&subject), got.bytes(&subject));
        }
    }
    for (name, image) in &case.textures.images {
        let subject = Subject::Image(name.clone());
        total.add(image.contents.ty, expected.bytes(&subject), got.bytes(&subject));
    }
    total.to_string()
}

/// The distance of two results.
#[derive(Default)]
struct Distance {
    differing: usize,
    /// The largest distance of floats, among those that are numbers in both results.
    max_ulp: u64,
    /// Whether an integer, an infinity or a NaN differs.
    other: bool,
}

impl Distance {
    fn add(&mut self, ty: Scalar, expected: &[u8], got: &[u8]) {
        for (expected, got) in ty.elements(expected).zip(ty.elements(got)) {
            if expected != got && !(ty.is_nan(expected) && ty.is_nan(got)) {
                self.differing += 1;
                if ty.is_float() && ty.is_finite(expected) && ty.is_finite(got) {
                    self.max_ulp = self.max_ulp.max(ty.ordinal(expected).abs_diff(ty.ordinal(got)));
                } else {
                    self.other = true;
                }
            }
        }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distance { differing: 0, .. } => write!(f, "equal"),
            Distance { differing, other: true, .. } => write!(f, "**{differing} differ**"),
            Distance { differing, max_ulp, .. } => write!(f, "{differing} differ, by at most {max_ulp} ulp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let text = |ty, expected: &[u8], got: &[u8]| {
            let mut distance = Distance::default();
            distance.add(ty, expected, got);
            distance.to_string()
        };
        let one = floats(&[1.0, f32::NAN]);
        assert_eq!(text(Scalar::F32, &one, &floats(&[1.0, -f32::NAN])), "equal");
        assert_eq!(text(Scalar::F32, &one, &floats(&[1.0 + f32::EPSILON, f32::NAN])), "1 differ, by at most 1 ulp");
        assert_eq!(text(Scalar::F32, &one, &floats(&[f32::INFINITY, f32::NAN])), "**1 differ**");
        assert_eq!(text(Scalar::U8, &[1, 2], &[2, 1]), "**2 differ**");
    }
}
