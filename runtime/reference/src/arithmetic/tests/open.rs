//! Freedoms with a finite set of correct results: rounding, denormals, signs of zeros, NaNs. The sets are computed with
//! `rustc_apfloat`.

use std::collections::BTreeSet;

use rustc_apfloat::FloatConvert;

use super::*;

for_all_formats! {
    sums_and_products_are_rounded_either_way: sums_and_products;
    demands_leave_nothing_open: bound;
}

/// The result of an operation on operands in a rounding direction.
type Operation<R> = fn(&[R], Round) -> R;

/// The correct results of an operation.
#[derive(Default)]
struct Right {
    values: BTreeSet<u64>,
    nan: bool,
    any: bool,
}

impl Right {
    fn has<R: Reference>(&self, bits: u64) -> bool {
        self.any || self.values.contains(&bits) || (self.nan && R::of(bits).is_nan())
    }

    /// The correct results of an operation with a single rounding, given its result on operands in a direction, and the
    /// unflushed operands.
    fn of<A: Reference, R: Reference>(operands: &[u64], floats: &FloatControls, op: impl Fn(&[A], Round) -> R) -> Self {
        let control = |bits: u8| floats.0[bits.trailing_zeros() as usize - 4];
        let (from, to) = (control(A::WIDTH), control(R::WIDTH));
        let preserved = from.signed_zero_inf_nan && to.signed_zero_inf_nan;
        let rounds: &[Round] =
            if to.nearest_even { &[Round::NearestTiesToEven] } else { &[Round::TowardPositive, Round::TowardNegative] };
        let mut right = Self::default();
        for flushed in 0..1_u32 << operands.len() {
            if flushed != 0 && from.denormals_kept {
                break;
            }
            let operands: Vec<A> = operands
                .iter()
                .enumerate()
                .map(|(index, bits)| {
                    let operand = A::of(*bits);
                    let flush = operand.is_denormal() && flushed >> index & 1 != 0;
                    if flush { A::ZERO.copy_sign(operand) } else { operand }
                })
                .collect();
            let truncated = op(&operands, Round::TowardZero);
            for round in rounds {
                right.add(op(&operands, *round), truncated, to.denormals_kept, preserved, &operands);
            }
        }
        right
    }

    fn add<A: Reference, R: Reference>(
        &mut self,
        result: R,
        truncated: R,
        kept: bool,
        preserved: bool,
        operands: &[A],
    ) {
        let zero = R::ZERO.copy_sign(result);
        let mut values = vec![result];
        if result.is_nan() {
            self.nan = true;
            self.any |= !preserved;
            return;
        }
        if !kept && (truncated.is_denormal() || result.is_denormal()) {
            values.push(zero);
        }
        let finite = operands.iter().all(|operand| operand.is_finite());
        if !preserved && result.is_infinite() && finite {
            values.push(R::largest().copy_sign(result));
        }
        if !preserved && values.iter().any(|value| value.is_zero()) {
            values.extend([R::ZERO, -R::ZERO]);
        }
        self.values.extend(values.into_iter().map(R::bits));
    }
}

/// Combinations of requirements.
fn demands() -> Vec<FloatControls> {
    let mut all = Vec::new();
    for bits in 0..8 {
        let [denormals_kept, nearest_even, signed_zero_inf_nan] = [1, 2, 4].map(|bit| bits & bit != 0);
        all.push(FloatControls([FloatControl { denormals_kept, nearest_even, signed_zero_inf_nan }; 3]));
    }
    all
}

/// Draws results and checks that they are correct, and that some differ from the plain result if several are correct.
struct Draws {
    choice: Seeded,
    open: u32,
    differing: u32,
}

impl Draws {
    fn new() -> Self {
        Self { choice: Seeded::new(11), open: 0, differing: 0 }
    }

    fn check<R: Reference>(
        &mut self,
        right: &Right,
        plain: u64,
        context: &dyn Fn() -> String,
        run: impl Fn(&mut Seeded) -> u64,
    ) {
        let drawn: Vec<u64> = (0..8).map(|_| run(&mut self.choice)).collect();
        for bits in &drawn {
            assert!(right.has::<R>(*bits), "{}: {bits:x} is not right; plain {plain:x}", context());
        }
        if right.values.len() > 1 {
            self.open += 1;
            self.differing += u32::from(drawn.iter().any(|bits| *bits != plain));
        }
    }

    /// At least two fifths of the cases with several correct results showed a different one in eight draws.
    fn finish(self) {
        assert!(self.differing >= self.open * 2 / 5, "{} of {} differ", self.differing, self.open);
    }
}

fn sums_and_products<R: Reference>() {
    let ops: [(Binary, Operation<R>); 3] = [
        (Binary::FAdd, |x, round| x[0].add_r(x[1], round).value),
        (Binary::FSub, |x, round| x[0].sub_r(x[1], round).value),
        (Binary::FMul, |x, round| x[0].mul_r(x[1], round).value),
    ];
    for floats in demands() {
        let mut draws = Draws::new();
        let mut sample = samples::<R>(12);
        for _ in 0..600 {
            let (a, b) = (sample(), sample());
            for (op, reference) in ops {
                let right = Right::of(&[a, b], &floats, reference);
                let plain = binary(op, R::WIDTH, a, b, &floats, &mut Plain);
                assert!(right.has::<R>(plain), "{op:?} {a:x} {b:x} {floats:?}: plain {plain:x}");
                draws.check::<R>(&right, plain, &|| format!("{op:?} {a:x} {b:x} {floats:?}"), |choice| {
                    binary(op, R::WIDTH, a, b, &floats, choice)
                });
            }
        }
        draws.finish();
    }
}

fn narrowing<A: Reference + FloatConvert<R>, R: Reference>() {
    for floats in demands() {
        let mut draws = Draws::new();
        let mut sample = samples::<A>(13);
        for _ in 0..600 {
            let a = sample();
            let right = Right::of(&[a], &floats, |x: &[A], round| x[0].convert_r(round, &mut false).value);
            let run = |choice: &mut Seeded| convert(Conversion::FConvert, A::WIDTH, R::WIDTH, a, &floats, choice);
            let plain = convert(Conversion::FConvert, A::WIDTH, R::WIDTH, a, &floats, &mut Plain);
            assert!(right.has::<R>(plain), "{a:x} {floats:?}: plain {plain:x}");
            draws.check::<R>(&right, plain, &|| format!("{a:x} {floats:?}"), run);
        }
        draws.finish();
    }
}

#[test]
fn conversions_are_rounded_either_way() {
    narrowing::<Single, Half>();
    narrowing::<Double, Half>();
    narrowing::<Double, Single>();
    narrowing::<Half, Single>();
}

#[test]
fn integers_become_either_neighbour() {
    let mut choice = Seeded::new(14);
    let found: BTreeSet<u64> = (0..64)
        .map(|_| convert(Conversion::ConvertSToF, 32, 32, -16_777_217_i32 as u32 as u64, &FREE, &mut choice))
        .collect();
    // -(2^24 + 1) lies between -2^24 and -(2^24 + 2).
    assert_eq!(found, BTreeSet::from([0xcb80_0000, 0xcb80_0001]));
    let found: BTreeSet<u64> =
        (0..64).map(|_| convert(Conversion::ConvertUToF, 32, 32, 3, &FREE, &mut choice)).collect();
    assert_eq!(found, BTreeSet::from([0x4040_0000]));
}

fn fused_or_not<R: Reference>() {
    for demanded in demands() {
        // `SignedZeroInfNanPreserve` doesn't apply to this operation.
        let mut floats = demanded;
        floats.0.iter_mut().for_each(|control| control.signed_zero_inf_nan = false);
        let mut draws = Draws::new();
        let mut sample = samples::<R>(15);
        for _ in 0..400 {
            let operands @ [a, b, c] = [sample(), sample(), sample()];
            let mut right = Right::of(&operands, &floats, |x: &[R], round| x[0].mul_add_r(x[1], x[2], round).value);
            let products = Right::of(&[a, b], &floats, |x: &[R], round| x[0].mul_r(x[1], round).value);
            for product in &products.values {
                let sums = Right::of(&[*product, c], &floats, |x: &[R], round| x[0].add_r(x[1], round).value);
                right.values.extend(sums.values);
                right.nan |= sums.nan;
                right.any |= sums.any;
            }
            right.any |= products.any;
            let plain = ternary(Ternary::Fma, R::WIDTH, operands, &demanded, &mut Plain);
            draws.check::<R>(&right, plain, &|| format!("{operands:x?} {demanded:?}"), |choice| {
                ternary(Ternary::Fma, R::WIDTH, operands, &demanded, choice)
            });
        }
        draws.finish();
    }
}

#[test]
fn fma_is_rounded_once_or_twice() {
    fused_or_not::<Half>();
    fused_or_not::<Single>();
    fused_or_not::<Double>();
    // Even with all requirements: (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46 if fused, else 0.
    let operands = [0x3f80_0001, 0x3f80_0001, 0xbf80_0002];
    let mut choice = Seeded::new(16);
    let found: BTreeSet<u64> =
        (0..64).map(|_| ternary(Ternary::Fma, 32, operands, &BOUND, &mut choice) & 0x7fff_ffff).collect();
    assert_eq!(found, BTreeSet::from([0, 0x2880_0000]));
}

/// With all requirements, only the payloads of NaNs are open.
fn bound<R: Reference + FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>>() {
    use Binary as B;
    let mut sample = samples::<R>(17);
    let mut choice = Seeded::new(18);
    let compares = [B::FOrdEqual, B::FUnordNotEqual, B::FOrdLessThan, B::FOrdGreaterThanEqual];
    for _ in 0..5_000 {
        let (a, b) = (sample(), sample());
        for op in [B::FAdd, B::FSub, B::FMul] {
            let plain = R::of(binary(op, R::WIDTH, a, b, &BOUND, &mut Plain));
            let found = binary(op, R::WIDTH, a, b, &BOUND, &mut choice);
            assert!(same(plain, found), "{op:?} {a:x} {b:x}: {found:x}");
        }
        for op in compares {
            let found = binary(op, R::WIDTH, a, b, &BOUND, &mut choice);
            assert_eq!(found, binary(op, R::WIDTH, a, b, &BOUND, &mut Plain), "{op:?} {a:x} {b:x}");
        }
        let found = unary(Unary::FNegate, R::WIDTH, a, &BOUND, &mut choice);
        assert!(same(-R::of(a), found), "{a:x}: {found:x}");
        for to in [16, 32, 64] {
            let [plain, found] = [
                convert(Conversion::FConvert, R::WIDTH, to, a, &BOUND, &mut Plain),
                convert(Conversion::FConvert, R::WIDTH, to, a, &BOUND, &mut choice),
            ];
            assert!(plain == found || R::of(a).is_nan(), "{a:x} to {to}: {found:x}");
            let [plain, found] = [
                convert(Conversion::ConvertUToF, 64, to, a, &BOUND, &mut Plain),
                convert(Conversion::ConvertUToF, 64, to, a, &BOUND, &mut choice),
            ];
            assert_eq!(plain, found, "{a} to {to}");
        }
    }
}

/// All results of several hundred draws.
fn drawn(run: impl Fn(&mut Seeded) -> u64) -> BTreeSet<u64> {
    let mut choice = Seeded::new(19);
    (0..300).map(|_| run(&mut choice)).collect()
}

#[test]
fn nans_are_arbitrary() {
    let single = Single::of;
    let (nan, one) = (0x7fc0_0000, 0x3f80_0000);
    let preserved = drawn(|choice| binary(Binary::FAdd, 32, nan, one, &BOUND, choice));
    assert!(preserved.len() > 50 && preserved.iter().all(|bits| single(*bits).is_nan()));
    assert!(preserved.iter().any(|bits| single(*bits).is_signaling()));
    let loose = drawn(|choice| binary(Binary::FAdd, 32, nan, one, &FREE, choice));
    assert!(loose.iter().any(|bits| !single(*bits).is_nan()));
    // Comparisons may go either way.
    assert_eq!(drawn(|choice| binary(Binary::FOrdLessThan, 32, nan, one, &FREE, choice)).len(), 2);
    // For a number and a NaN, FMin returns either, NMin the number.
    let either = drawn(|choice| binary(Binary::FMin, 32, nan, one, &BOUND, choice));
    assert!(either.contains(&one) && either.len() > 2);
    assert_eq!(drawn(|choice| binary(Binary::NMin, 32, nan, one, &BOUND, choice)), BTreeSet::from([one]));
    assert_eq!(drawn(|choice| binary(Binary::NMax, 32, one, nan, &FREE, choice)), BTreeSet::from([one]));
}

#[test]
fn zeros_and_infinities_are_loose() {
    let (zero, negative) = (0, 0x8000_0000);
    let add = |floats| drawn(|choice| binary(Binary::FAdd, 32, zero, negative, floats, choice));
    assert_eq!(add(&FREE), BTreeSet::from([zero, negative]));
    assert_eq!(add(&BOUND), BTreeSet::from([zero]));
    let max = 0x7f7f_ffff;
    let double = |floats| drawn(|choice| binary(Binary::FAdd, 32, max, max, floats, choice));
    assert_eq!(double(&FREE), BTreeSet::from([max, max + 1]));
    assert_eq!(double(&BOUND), BTreeSet::from([max + 1]));
    let infinity = max + 1;
    assert_eq!(drawn(|choice| binary(Binary::FAdd, 32, infinity, zero, &FREE, choice)), BTreeSet::from([infinity]));
    assert_eq!(drawn(|choice| unary(Unary::FAbs, 32, negative, &FREE, choice)), BTreeSet::from([zero]));
}

#[test]
fn conversions_preserve_what_both_widths_do() {
    let preserving = |widths: [bool; 3]| {
        FloatControls(widths.map(|signed_zero_inf_nan| FloatControl { signed_zero_inf_nan, ..FREE.0[0] }))
    };
    let half =
        |floats: FloatControls| drawn(|choice| convert(Conversion::FConvert, 32, 16, 0x8000_0000, &floats, choice));
    assert_eq!(half(preserving([true, true, false])), BTreeSet::from([0x8000]));
    assert_eq!(half(preserving([true, false, false])), BTreeSet::from([0, 0x8000]));
    assert_eq!(half(preserving([false, true, false])), BTreeSet::from([0, 0x8000]));
}

#[test]
fn denormals_may_be_flushed() {
    let denormal = 5;
    for op in [Binary::FMin, Binary::FMax, Binary::NMax] {
        assert_eq!(drawn(|choice| binary(op, 32, denormal, denormal, &BOUND, choice)), BTreeSet::from([denormal]));
        assert!(drawn(|choice| binary(op, 32, denormal, denormal, &FREE, choice)).contains(&0));
    }
    let equal = |floats| drawn(|choice| binary(Binary::FOrdEqual, 32, denormal, 0, floats, choice));
    assert_eq!((equal(&FREE).len(), equal(&BOUND).len()), (2, 1));
    // `DenormPreserve` doesn't apply to these operations.
    assert!(drawn(|choice| unary(Unary::Ceil, 32, denormal, &BOUND, choice)).contains(&0));
    assert!(drawn(|choice| binary(Binary::FDiv, 32, denormal, 0x3f80_0000, &BOUND, choice)).contains(&0));
    // The smallest normal number, rounded up from below, counts as denormal: (1 - 2^-24) 2^-126.
    let factors = (0x3f7f_ffff, 0x0080_0000);
    let floats =
        FloatControls(FREE.0.map(|control| FloatControl { nearest_even: true, signed_zero_inf_nan: true, ..control }));
    let found = drawn(|choice| binary(Binary::FMul, 32, factors.0, factors.1, &floats, choice));
    assert_eq!(found, BTreeSet::from([0, 0x0080_0000]));
}

#[test]
fn the_same_seed_decides_the_same() {
    let run = |seed| {
        let mut choice = Seeded::new(seed);
        (0..100).map(|index| binary(Binary::FDiv, 32, 0x3f80_0000 + index, 0x4040_0000, &FREE, &mut choice)).collect()
    };
    let runs: [Vec<u64>; 3] = [run(1), run(1), run(2)];
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}
