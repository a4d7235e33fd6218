//! Checks whether operations on floats have the same results with operands that the driver's compiler knows: constants, or
//! one value used twice. Results for unknown operands are judged elsewhere.

use std::fmt::Write;

use ptx2spv_translator::target::Facts;

use super::instruction::{Fact, Width};
use super::operands::{double_corners, single_corners};

/// An operation with some operands known to the compiler.
pub struct Known {
    /// PTX with `%o` for the operands and `%d` for the result. It may use the predicate `%c` and the register `%t`, which is like the result.
    form: &'static str,
    pub width: Width,
    operands: usize,
    /// Whether the facts say that its results with unknown operands are right.
    pub trusted: fn(&Facts) -> bool,
}

/// Which operands the compiler knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Zeros and NaNs, also beside other constants, and one value twice.
    Specials,
    /// Other constants.
    Constants,
    /// The same other constant as both factors of an `fma`.
    Factors,
    /// One constant of any kind, or one value twice.
    Any,
}

/// Facts that say whether modules must hide operands of arithmetic.
pub const FACTS: [(Fact, &[Known], Selection); 5] = [
    (|facts| &mut facts.known_specials_f32_right, SINGLE, Selection::Specials),
    (|facts| &mut facts.known_constants_f32_right, SINGLE, Selection::Constants),
    (|facts| &mut facts.known_factors_f32_right, &[SINGLE_FMA], Selection::Factors),
    (|facts| &mut facts.known_specials_f64_right, DOUBLE, Selection::Specials),
    (|facts| &mut facts.known_constants_f64_right, DOUBLE, Selection::Constants),
];

const SINGLE: &[Known] = &[
    Known::single("add.rn.f32 %d, %o;", 2, |facts| facts.are_normals_exact()),
    Known::single("sub.rn.f32 %d, %o;", 2, |facts| facts.are_normals_exact()),
    Known::single("mul.rn.f32 %d, %o;", 2, |facts| facts.are_normals_exact()),
    Known::single("div.rn.f32 %d, %o;", 2, |facts| facts.div_f32_rounded || facts.div_f32_normal),
    SINGLE_FMA,
];

pub const SINGLE_FMA: Known =
    Known::single("fma.rn.f32 %d, %o;", 3, |facts| facts.fma_f32_fused || facts.fma_khr_f32_right);
pub const DOUBLE_FMA: Known =
    Known::double("fma.rn.f64 %d, %o;", 3, |facts| facts.fma_f64_fused || facts.fma_khr_f64_right);

const DOUBLE: &[Known] = &[
    Known::double("add.rn.f64 %d, %o;", 2, |facts| facts.denormals_f64_kept),
    Known::double("sub.rn.f64 %d, %o;", 2, |facts| facts.denormals_f64_kept),
    Known::double("mul.rn.f64 %d, %o;", 2, |facts| facts.denormals_f64_kept),
    Known::double("div.rn.f64 %d, %o;", 2, |facts| facts.div_f64_rounded),
    DOUBLE_FMA,
];

/// Facts that don't hold if the device's operation is wrong with constants. Modules then don't use the operation at all.
pub const OTHERS: [(&[Fact], &[Known]); 6] = [
    (
        &[|facts| &mut facts.denormals_f32_kept, |facts| &mut facts.normal_f32_exact],
        &[Known::single(
            "setp.lt.f32 %c, %o; selp.b32 %d, 1, 0, %c; setp.eq.f32 %c, %o; selp.b32 %t, 2, 0, %c; or.b32 %d, %d, %t; \
             setp.geu.f32 %c, %o; selp.b32 %t, 4, 0, %c; or.b32 %d, %d, %t;",
            2,
            |facts| facts.are_normals_exact(),
        )],
    ),
    (
        &[|facts| &mut facts.denormals_f64_kept],
        &[Known::double(
            "setp.lt.f64 %c, %o; selp.b64 %d, 1, 0, %c; setp.eq.f64 %c, %o; selp.b64 %t, 2, 0, %c; or.b64 %d, %d, %t; \
             setp.geu.f64 %c, %o; selp.b64 %t, 4, 0, %c; or.b64 %d, %d, %t;",
            2,
            |facts| facts.denormals_f64_kept,
        )],
    ),
    (
        &[|facts| &mut facts.min_max_f32_exact],
        &[
            Known::single("min.f32 %d, %o;", 2, |facts| facts.min_max_f32_exact),
            Known::single("max.f32 %d, %o;", 2, |facts| facts.min_max_f32_exact),
        ],
    ),
    (
        &[|facts| &mut facts.sqrt_f32_rounded],
        &[Known::single("sqrt.rn.f32 %d, %o;", 1, |facts| facts.sqrt_f32_rounded)],
    ),
    (
        &[|facts| &mut facts.sqrt_f64_rounded],
        &[Known::double("sqrt.rn.f64 %d, %o;", 1, |facts| facts.sqrt_f64_rounded)],
    ),
    (
        &[|facts| &mut facts.to_integer_f32_saturates],
        &[Known::single("cvt.rzi.s32.f32 %d, %o;", 1, |facts| facts.to_integer_f32_saturates)],
    ),
];

/// Constants that compilers treat specially. The first ones are "specials": the zeros, and a NaN. The square of the last but one doesn't fit
/// an f32, which shows compilers that round the product of two known factors of `fma`, as Mesa's for Intel does, and NVIDIA's in dot products. The last is the least normal f32.
const NUMBERS: [f64; 13] = [
    0.0,
    -0.0,
    f64::NAN,
    1.0,
    -1.0,
    2.0,
    0.5,
    4.0,
    0.25,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1.000_244_140_625,
    1.175_494_350_822_287_5e-38,
];
const SPECIALS: usize = 3;

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// One of the [`NUMBERS`].
    Constant(usize),
    /// A number from memory.
    First,
    /// Another number from memory.
    Second,
}

impl Operand {
    /// The operand in PTX, visible to the compiler as a constant or as a repeated value.
    fn known(self, width: Width) -> String {
        match self {
            Self::Constant(number) => literal(width, NUMBERS[number]),
            Self::First => "%x".to_owned(),
            Self::Second => "%y".to_owned(),
        }
    }

    /// The operand in PTX, loaded from memory. `place` distinguishes several loads.
    fn unknown(self, place: usize) -> String {
        match self {
            Self::Constant(number) => format!("%n{number}"),
            Self::First => ["%x", "%again", "%again"][place].to_owned(),
            Self::Second => "%y".to_owned(),
        }
    }
}

fn literal(width: Width, number: f64) -> String {
    match width {
        Width::Single => format!("0f{:08x}", (number as f32).to_bits()),
        Width::Double => format!("0d{:016x}", number.to_bits()),
    }
}

impl Known {
    const fn single(form: &'static str, operands: usize, trusted: fn(&Facts) -> bool) -> Self {
        Self { form, width: Width::Single, operands, trusted }
    }

    const fn double(form: &'static str, operands: usize, trusted: fn(&Facts) -> bool) -> Self {
        Self { form, width: Width::Double, operands, trusted }
    }

    /// The combinations of operands to test.
    fn applications(&self, selection: Selection) -> Vec<Vec<Operand>> {
        use Operand::{Constant, First, Second};
        let numbers = match selection {
            Selection::Specials => 0..SPECIALS,
            Selection::Constants | Selection::Factors => SPECIALS..NUMBERS.len(),
            Selection::Any => 0..NUMBERS.len(),
        };
        let mut list = Vec::new();
        for constant in numbers.map(Constant) {
            list.extend([vec![constant, First, Second], vec![First, constant, Second], vec![First, Second, constant]]);
            if selection != Selection::Any {
                list.extend([vec![constant, constant, First], vec![First, constant, constant]]);
            }
            if selection == Selection::Specials {
                let others = (0..NUMBERS.len()).map(Constant);
                list.extend(others.flat_map(|other| [vec![constant, other, First], vec![other, constant, First]]));
            }
        }
        if matches!(selection, Selection::Specials | Selection::Any) {
            list.extend([vec![First, First, Second], vec![First, Second, First], vec![Second, First, First]]);
        }
        // With two operands, some combinations become equal, and some have no known operand left.
        list.iter_mut().for_each(|operands| operands.truncate(self.operands));
        let is_known = |operands: &Vec<Operand>| {
            operands.iter().any(|operand| matches!(operand, Constant(_)))
                || operands.iter().filter(|operand| **operand == First).count() > 1
        };
        list.retain(is_known);
        // Both factors of an `fma` on f32 are a selection of their own.
        let has_known_factors = |operands: &Vec<Operand>| {
            self.width == Width::Single && matches!(operands[..], [Constant(_), Constant(_), _])
        };
        match selection {
            Selection::Constants => list.retain(|operands| !has_known_factors(operands)),
            Selection::Factors => list.retain(has_known_factors),
            Selection::Specials | Selection::Any => {}
        }
        let mut distinct: Vec<Vec<Operand>> = Vec::new();
        for operands in list {
            if !distinct.contains(&operands) {
                distinct.push(operands);
            }
        }
        distinct
    }

    /// Describes the fault that a thread found; `None` if it found none.
    pub fn describe(&self, selection: Selection, [place, with, without]: [u64; 3]) -> Option<String> {
        let application = usize::try_from(place.checked_sub(1)?).ok()?;
        let operands = self.applications(selection).get(application).map(|operands| self.written(operands));
        let (form, digits) = (self.applied("%r", &operands.unwrap_or_default()), 2 * self.width.size());
        Some(format!("`{form}` gives 0x{with:0digits$x}, and 0x{without:0digits$x} with all operands from memory"))
    }

    fn written(&self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| operand.known(self.width)).collect::<Vec<_>>().join(", ")
    }

    fn applied(&self, result: &str, operands: &str) -> String {
        self.form.replace("%d", result).replace("%o", operands)
    }

    /// A module with a kernel `probe` of operands and results. Each thread reads the constants and its own three
    /// operands. It writes three results: the number of a faulty combination, counted from 1, its result with known
    /// operands, and its result with all operands from memory. There is only one set of results, because drivers are
    /// slow to compile many stores.
    pub fn ptx(&self, selection: Selection, facts: &Facts) -> String {
        let size = self.width.size();
        let bits = 8 * size;
        let applications = self.applications(selection);
        let mut body = String::new();
        for number in 0..NUMBERS.len() {
            // Writing to a string can't fail.
            let _ = writeln!(body, "    ld.global.b{bits} %n{number}, [%in+{}];", number * size);
        }
        for (number, operands) in applications.iter().enumerate() {
            let known = self.written(operands);
            let unknown: Vec<String> =
                operands.iter().enumerate().map(|(place, operand)| operand.unknown(place)).collect();
            let (with, without) = (self.applied("%r", &known), self.applied("%s", &unknown.join(", ")));
            let _ = writeln!(body, "    {with}\n    {without}\n    setp.ne.b{bits} %p, %r, %s;");
            if !self.are_nans_told_apart(facts) {
                let ty = format!("f{bits}");
                let _ = writeln!(
                    body,
                    "    setp.num.{ty} %q, %r, %r;\n    setp.num.or.{ty} %q, %s, %s, %q;\n    and.pred %p, %p, %q;"
                );
            }
            let place = number + 1;
            for (kept, value) in [("%place", place.to_string()), ("%with", "%r".into()), ("%without", "%s".into())] {
                let _ = writeln!(body, "    selp.b{bits} {kept}, {value}, {kept}, %p;");
            }
        }
        format!(
            ".version 8.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 operands, .param .u64 results)
{{
    .reg .pred %p, %q, %c;
    .reg .b32 %i;
    .reg .b64 %in, %out, %own, %at;
    .reg .b{bits} %x, %y, %again, %r, %s, %t, %place, %with, %without, %n<{numbers}>;
    mov.u32 %i, %tid.x;
    ld.param.u64 %in, [operands];
    ld.param.u64 %out, [results];
    mul.wide.u32 %at, %i, {triple};
    add.u64 %own, %in, %at;
    add.u64 %out, %out, %at;
    ld.global.b{bits} %x, [%own+{after}];
    ld.global.b{bits} %y, [%own+{second}];
    ld.global.b{bits} %again, [%own+{third}];
    mov.b{bits} %place, 0;
    mov.b{bits} %with, 0;
    mov.b{bits} %without, 0;
{body}    st.global.b{bits} [%out], %place;
    st.global.b{bits} [%out+{size}], %with;
    st.global.b{bits} [%out+{double}], %without;
    ret;
}}
",
            numbers = NUMBERS.len(),
            triple = 3 * size,
            double = 2 * size,
            after = NUMBERS.len() * size,
            second = (NUMBERS.len() + 1) * size,
            third = (NUMBERS.len() + 2) * size,
        )
    }

    /// The kernel's input and number of threads. The input is the constants, and three numbers for each thread: one,
    /// another one, and the first one again.
    pub fn operands(&self) -> (Vec<u8>, usize) {
        let corners = match self.width {
            Width::Single => single_corners(),
            Width::Double => double_corners(),
        };
        let constants = NUMBERS.iter().map(|number| match self.width {
            Width::Single => u64::from((*number as f32).to_bits()),
            Width::Double => number.to_bits(),
        });
        // Pairs each corner with a distant one.
        let others = corners.iter().cycle().skip(corners.len() / 3);
        let triples = corners.iter().zip(others).flat_map(|(x, y)| [*x, *y, *x]);
        let bytes = constants.chain(triples).flat_map(|bits| self.width.bytes(bits)).collect();
        (bytes, corners.len())
    }

    /// Whether the facts define which NaN a result is. Otherwise all NaNs are equivalent.
    fn are_nans_told_apart(&self, facts: &Facts) -> bool {
        match self.width {
            Width::Single => facts.nan_f32_nvidia,
            Width::Double => facts.nan_f64_nvidia,
        }
    }
}
