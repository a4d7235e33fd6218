//! What devices were measured to do.

use serde::{Deserialize, Serialize};

macro_rules! facts {
    ($($(#[$doc:meta])* $fact:ident = $holds:literal,)*) => {
        /// What the device was *seen* to do, its arithmetic above all. Vulkan does not say, so what isn't known is assumed absent.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Facts {
            $($(#[$doc])* pub $fact: bool,)*
        }

        impl Facts {
            /// A device whose numbers are all exact, denormals included, and whose subgroups run in lockstep; its NaNs may be any.
            pub const ALL: Facts = Facts { $($fact: $holds,)* };
        }
    };
}

// Each fact, and whether it is among [`Facts::ALL`].
facts! {
    /// `GLSL.std.450 Fma` on f32 rounds once.
    fma_f32_fused = true,
    /// `GLSL.std.450 Fma` on f32 keeps denormal operands and results.
    fma_f32_denormals = true,
    /// `GLSL.std.450 Fma` on f32 does what `fma.rn.ftz` does: subnormal operands count as zeros, the result is rounded once,
    /// to 24 bits of any exponent, and is zero of its sign if that is below the least normal number.
    fma_f32_flushes = false,
    /// `OpDot` of (a, c) and (b, 1) on f32, with `AllowContract` where nothing else is allowed by default, is `a * b + c` rounded
    /// once. It keeps denormal operands and results, whatever else is done with the product.
    dot_f32_fused = false,
    /// `GLSL.std.450 Fma` on f64 rounds once.
    fma_f64_fused = true,
    /// `OpFmaKHR` on f32 rounds once and keeps denormals, as Vulkan promises; it gives the NaN of the device's other operations, and the same
    /// results for operands that the driver's compiler knows.
    fma_khr_f32_right = true,
    /// The same on f64.
    fma_khr_f64_right = true,
    /// `OpFDiv` on f32 is correctly rounded, denormals included.
    div_f32_rounded = true,
    /// `OpFDiv` on f64 is correctly rounded, denormals included.
    div_f64_rounded = true,
    /// `GLSL.std.450 Sqrt` on f32 is correctly rounded.
    sqrt_f32_rounded = true,
    /// `GLSL.std.450 Sqrt` on f64 is correctly rounded.
    sqrt_f64_rounded = true,
    /// Where `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpFConvert` and the functions of `GLSL.std.450` give f32's NaN, it is the one
    /// that NVIDIA's instructions give: 0x7fffffff; but of f64's NaN the sign and the upper bits, made quiet.
    nan_f32_nvidia = false,
    /// Where those give f64's NaN, it is the one that NVIDIA's instructions give: an operand's, made quiet, and 0xfff8000000000000
    /// if no operand is NaN. Of several operands, `OpFAdd`, `OpFSub` and `OpFMul` take the second, `OpFDiv` the first, and
    /// `Fma` the second, else the third, else the first.
    nan_f64_nvidia = false,
    /// f32 add, multiply, comparisons and conversions keep denormal operands and results.
    denormals_f32_kept = true,
    /// f64 add, subtract and multiply, and conversions to f64 and from it to f32, are rounded to nearest even and keep denormals of
    /// f64, in operands and results; so do comparisons. Signs of zeros, infinities and NaNs are right.
    denormals_f64_kept = true,
    /// f32 from integers of 32 and 64 bits is rounded to nearest even.
    convert_f32_exact = true,
    /// f32 add, subtract, multiply and comparisons are right where neither operands nor the exact result are denormal: rounded to nearest even, with the signs of zeros, infinities and NaNs. Denormal operands are taken
    /// and denormal results given as they are or as zeros of their sign, one way or the other each time.
    normal_f32_exact = true,
    /// f32 add, subtract and multiply do what PTX's do with `.ftz`.
    add_f32_flushes = false,
    /// `OpFDiv` on f32 is correctly rounded where neither operands nor the exact result are denormal.
    div_f32_normal = true,
    /// `GLSL.std.450 Sqrt` on f32 is correctly rounded but for denormals.
    sqrt_f32_normal = true,
    /// f32 atomic add on buffers flushes denormals, as PTX's does.
    global_atomic_add_f32_flushes = true,
    /// f32 atomic add on workgroup memory keeps denormals, as PTX's does.
    shared_atomic_add_f32_keeps = true,
    /// `GLSL.std.450 Exp2` on f32 is within the error that PTX allows (2^-22.5 for a mantissa).
    exp2_f32_close = true,
    /// `GLSL.std.450 Exp2` on f32 gives subnormal results.
    exp2_f32_denormals = true,
    /// `GLSL.std.450 Exp2` on f32 takes subnormal operands for zeros and gives +0.0 for subnormal results, as `.ftz` does.
    exp2_f32_flushes = false,
    /// `GLSL.std.450 Log2` on f32 is within the error that PTX allows (2^-22.6 for a mantissa), zeros and infinities included.
    log2_f32_close = true,
    /// `GLSL.std.450 Sin` and `Cos` on f32 are those of NVIDIA's hardware but for 2^-20.9, for angles of any size.
    sin_cos_f32_close = true,
    /// `GLSL.std.450 Sqrt` and `InverseSqrt` on f32 are within the errors that PTX allows (2^-23 and 2^-22.9, relative).
    roots_f32_close = true,
    /// Those functions are right about zeros, infinities, negative numbers and NaNs, where Vulkan leaves them undefined too:
    /// `InverseSqrt` of a zero is infinity of its sign, `Sqrt` of a zero that zero, of negative numbers both are NaN.
    roots_f32_ends = true,
    /// `InverseSqrt` on f32 is so close that two `Fma` make the correctly rounded root of it (`legalize/sqrt.rs`), for
    /// operands from 2^-101.
    sqrt_f32_refined = true,
    /// They are as close for subnormal operands, and NaN for negative ones.
    roots_f32_denormals = true,
    /// They take subnormal operands for zeros of their sign, as `.ftz` does.
    roots_f32_flush = false,
    /// Sums, differences, products, quotients and `Fma` on f32 that the facts vouch for give no other result where the driver's
    /// compiler knows that an operand is zero or NaN, or that two are the same value. Which NaN it is may differ where no fact says.
    known_specials_f32_right = true,
    /// The same where it knows an operand to be another constant, but for both factors of an `Fma`.
    known_constants_f32_right = true,
    /// The same where it knows both factors of an `Fma`.
    known_factors_f32_right = true,
    /// [`Facts::known_specials_f32_right`] on f64.
    known_specials_f64_right = true,
    /// [`Facts::known_constants_f32_right`] on f64, both factors of an `Fma` included.
    known_constants_f64_right = true,
    /// `Trunc`, `RoundEven`, `Floor` and `Ceil` keep NaNs and the sign of zeros, and treat no operand as zero that isn't.
    rounding_exact = true,
    /// `NMin` and `NMax` on f32 take -0.0 for less than +0.0 and keep denormals.
    min_max_f32_exact = true,
    /// `OpFNegate` on f32 changes the sign of what is not NaN, and nothing else.
    negate_f32_exact = true,
    /// `OpConvertFToS` and `OpConvertFToU` from f32 to 32 bits give the nearest bound of what is out of range, and zero of NaN.
    to_integer_f32_saturates = true,
    /// `NClamp` to [0, 1] on f32 gives a zero for NaN and for zeros, and is right but for subnormals, for which it may give a zero too.
    clamp_f32_right = true,
    /// f16 add, subtract, multiply and `GLSL.std.450 Fma` are rounded once to nearest even and keep denormals, infinities and the signs
    /// of zeros, of operands that the driver's compiler doesn't know.
    arithmetic_f16_exact = false,
    /// The same of operands that it knows, such as constants, and of an operand that is there twice.
    known_operands_f16_right = false,
    /// Where those give f16's NaN, it is the one that NVIDIA's instructions give: 0x7fff.
    nan_f16_nvidia = false,
    /// `OpFConvert` from f32 to f16 is rounded to nearest even, that from f16 to f32 is exact, and both keep denormals of f16, infinities and
    /// the signs of zeros, also of operands that the driver's compiler knows.
    convert_f16_exact = false,
    /// Where those give a NaN, it is the one that NVIDIA's instructions give: 0x7fff and 0x7fffffff.
    nan_conversions_f16_nvidia = false,
    /// Products of cooperative matrices of f16 are those of NVIDIA's instructions for sm_90, and an invocation's elements are those of its lane
    /// there: of the first factor those of row `g` before those of row `g + 8`, else in the same order.
    matrix_f16_exact = false,
    /// The same of bf16, of which an invocation has the elements of two products by the same first factor: of the second factors all of the first
    /// product, then all of the other; of the sums those of row `g` in both before those of row `g + 8`.
    matrix_bf16_exact = false,
    /// The same of bytes.
    matrix_bytes_exact = false,
    /// f64 atomic add is correctly rounded, and keeps denormals, NaNs and the sign of zeros.
    atomic_add_f64_exact = true,
    /// Invocations of a subgroup that have parted meet again where the structure of control flow joins, also where no feature
    /// promises it ([`crate::Target::convergence`]).
    subgroups_reconverge = true,
    /// Samplers without a filter read what NVIDIA's texture units read for CUDA, bit for bit, by coordinates that count texels. sRGB is
    /// a fact of its own, here and in the next three.
    sampled_points_exact = false,
    /// The same by normalised coordinates, in images of up to [`Facts::SAMPLED_EXTENT`] columns and rows.
    sampled_points_normalized_exact = false,
    /// Samplers with a linear filter give what those units give, bit for bit, by coordinates that count texels.
    sampled_filters_exact = false,
    /// The same by normalised coordinates, in images as small.
    sampled_filters_normalized_exact = false,
    /// Where one of those four facts holds, the same holds for sRGB.
    sampled_srgb_exact = false,
}

impl Facts {
    /// Every fact's name, and whether the fact holds.
    pub fn named(&self) -> impl Iterator<Item = (String, bool)> + use<> {
        let facts = match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(facts)) => facts,
            _ => serde_json::Map::new(),
        };
        facts.into_iter().map(|(name, holds)| (name, holds == true))
    }

    /// Takes a fact for established or not, by its name; nothing happens if there is none of that name.
    pub fn set(&mut self, name: &str, holds: bool) {
        let facts = self.named().map(|(known, held)| {
            let holds = if known == name { holds } else { held };
            (known, serde_json::Value::Bool(holds))
        });
        if let Ok(facts) = serde_json::from_value(serde_json::Value::Object(facts.collect())) {
            *self = facts;
        }
    }

    /// Whether f32 add, subtract and multiply are right but for denormals.
    pub fn are_normals_exact(&self) -> bool {
        self.denormals_f32_kept || self.normal_f32_exact
    }

    /// The greatest extent of an image that is read by normalised coordinates. In wider textures, NVIDIA's units round these coordinates
    /// otherwise for CUDA than for Vulkan.
    pub const SAMPLED_EXTENT: u32 = 8192;

    /// Whether samplers read some images as NVIDIA's texture units do.
    pub fn has_exact_samplers(&self) -> bool {
        self.sampled_points_exact
            || self.sampled_points_normalized_exact
            || self.sampled_filters_exact
            || self.sampled_filters_normalized_exact
    }

    /// Everything is left to the device, denormals that are kept and such that are flushed: as a self-test needs it.
    pub const TRUSTED: Facts = Facts {
        fma_f32_flushes: true,
        dot_f32_fused: true,
        add_f32_flushes: true,
        exp2_f32_flushes: true,
        roots_f32_flush: true,
        arithmetic_f16_exact: true,
        known_operands_f16_right: true,
        nan_f16_nvidia: true,
        convert_f16_exact: true,
        nan_conversions_f16_nvidia: true,
        matrix_f16_exact: true,
        matrix_bf16_exact: true,
        matrix_bytes_exact: true,
        nan_f32_nvidia: true,
        nan_f64_nvidia: true,
        sampled_points_exact: true,
        sampled_points_normalized_exact: true,
        sampled_filters_exact: true,
        sampled_filters_normalized_exact: true,
        sampled_srgb_exact: true,
        ..Facts::ALL
    };

    /// The reference device where it decides nothing badly: all is exact, angles too, which NVIDIA's hardware rounds, and
    /// atomic additions keep denormals everywhere; of zeros either is the smaller one.
    pub const REFERENCE: Facts = Facts {
        global_atomic_add_f32_flushes: false,
        sin_cos_f32_close: false,
        min_max_f32_exact: false,
        arithmetic_f16_exact: true,
        known_operands_f16_right: true,
        convert_f16_exact: true,
        matrix_f16_exact: true,
        matrix_bf16_exact: true,
        matrix_bytes_exact: true,
        ..Facts::ALL
    };

    /// The reference device where it looks for what Vulkan leaves undefined, such as the root of a negative number.
    pub const CHECKED: Facts = Facts {
        sqrt_f32_rounded: false,
        sqrt_f32_normal: false,
        sqrt_f32_refined: false,
        sqrt_f64_rounded: false,
        log2_f32_close: false,
        roots_f32_ends: false,
        to_integer_f32_saturates: false,
        matrix_f16_exact: false,
        matrix_bf16_exact: false,
        matrix_bytes_exact: false,
        ..Facts::REFERENCE
    };
}
