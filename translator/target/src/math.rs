//! The required exactness of float arithmetic where a device's own isn't exact, topic by topic.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::facts::Facts;

macro_rules! topics {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// A topic of float arithmetic that can be left to the device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Topic {
            $($(#[$doc])* $variant,)*
        }

        impl Topic {
            /// Every topic.
            pub const ALL: &'static [Topic] = &[$(Topic::$variant),*];

            /// Its name, as [`Math`] reads and writes it.
            pub fn name(self) -> &'static str {
                match self { $(Topic::$variant => $name,)* }
            }
        }
    };
}

topics! {
    /// `fma` and `mad`: the device's `Fma`, which may round the product too, and flush denormals.
    Fma = "fma",
    /// `div`, `rcp`, `sqrt` with a rounding to nearest: the device's own, which may be some units off.
    Division = "division",
    /// Denormals: those of the device, in conversions within expansions, in `fma`, approximate roots and logarithms; `.ftz` asks for nothing.
    Denormals = "denormals",
    /// `.approx` and `.full`: the device's own functions, within Vulkan's bounds.
    Approximate = "approximate",
    /// The choice of a result's NaN.
    Nan = "nan",
    /// Rounding to integral numbers in floats: the device's own functions, which may lose NaNs and the sign of zeros.
    Rounding = "rounding",
    /// Textures that have an image: the device's sampler, whose weights and sums may differ from those of NVIDIA's hardware.
    Textures = "textures",
    /// Products of matrices of floats: sums as the device does them fastest.
    Matrix = "matrix",
    /// Operands that the driver's compiler knows, such as zeros, NaNs and constants: it may compute with them as it likes, and so lose the
    /// sign of a zero or a NaN.
    Constants = "constants",
}

/// Generations of NVIDIA's matrix units, whose sums of products of floats differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Generation {
    /// sm_70.
    Volta,
    /// sm_75.
    Turing,
    /// sm_80 to sm_87.
    Ampere,
    /// sm_89.
    Ada,
    /// sm_90.
    #[default]
    Hopper,
}

impl Generation {
    /// All generations.
    pub const ALL: [Self; 5] = [Self::Volta, Self::Turing, Self::Ampere, Self::Ada, Self::Hopper];

    /// Its name, as [`Math`] reads and writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Volta => "volta",
            Self::Turing => "turing",
            Self::Ampere => "ampere",
            Self::Ada => "ada",
            Self::Hopper => "hopper",
        }
    }
}

/// The required exactness of float arithmetic: as PTX has it, bit by bit, with everything emulated that no fact vouches
/// for; or, in some topics, as the device does it. Products of matrices, which PTX leaves to the hardware, are those of
/// one generation of the hardware.
///
/// Written as `exact`, `fast`, or a list such as `fma=fast,division=fast`; topics that are not named are exact.
/// `fast,nan=exact` leaves all topics but one to the device. `matrix=ampere` names a generation; `matrix=exact` is the
/// latest one, `hopper`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Math {
    /// A bit for every topic that is left to the device.
    fast: u16,
    /// The generation whose products of matrices are computed, unless they are left to the device.
    generation: Generation,
}

impl Math {
    /// All as PTX has it: the default.
    pub const EXACT: Math = Math { fast: 0, generation: Generation::Hopper };
    /// All as the device does it.
    pub const FAST: Math = Math { fast: (1 << Topic::ALL.len()) - 1, ..Math::EXACT };

    /// Whether a topic is left to the device.
    pub fn is_fast(self, topic: Topic) -> bool {
        self.fast & 1 << topic as u8 != 0
    }

    /// The same with a topic left to the device, or not.
    #[must_use]
    pub fn with(self, topic: Topic, fast: bool) -> Math {
        let bit = 1 << topic as u8;
        let generation = if topic == Topic::Matrix { Generation::default() } else { self.generation };
        Math { fast: if fast { self.fast | bit } else { self.fast & !bit }, generation }
    }

    /// The same with products of matrices as a generation of matrix units computes them.
    #[must_use]
    pub fn with_generation(self, generation: Generation) -> Math {
        Math { generation, ..self.with(Topic::Matrix, false) }
    }

    /// The generation whose products of matrices are computed; `None` if they are left to the device.
    pub fn generation(self) -> Option<Generation> {
        (!self.is_fast(Topic::Matrix)).then_some(self.generation)
    }

    /// A device's facts, where the topics left to the device are taken to be right.
    pub fn relax(self, facts: &Facts) -> Facts {
        let mut facts = facts.clone();
        for topic in Topic::ALL.iter().filter(|topic| self.is_fast(**topic)) {
            match topic {
                Topic::Fma => {
                    facts.fma_f32_fused = true;
                    facts.fma_f32_denormals = true;
                    facts.fma_f64_fused = true;
                }
                Topic::Division => {
                    facts.div_f32_rounded = true;
                    facts.div_f64_rounded = true;
                    // What refines the device's inverse root is faster than its root.
                    facts.sqrt_f32_rounded |= !facts.sqrt_f32_refined;
                    facts.sqrt_f64_rounded = true;
                }
                Topic::Denormals => {
                    facts.denormals_f32_kept = true;
                    facts.denormals_f64_kept = true;
                    facts.fma_f32_denormals = true;
                    facts.roots_f32_denormals = true;
                    facts.roots_f32_flush = true;
                    facts.exp2_f32_flushes = true;
                }
                Topic::Approximate => {
                    facts.exp2_f32_close = true;
                    facts.exp2_f32_denormals = true;
                    facts.log2_f32_close = true;
                    facts.sin_cos_f32_close = true;
                    facts.roots_f32_close = true;
                }
                Topic::Nan => {
                    facts.nan_f16_nvidia = true;
                    facts.nan_conversions_f16_nvidia = true;
                    facts.nan_f32_nvidia = true;
                    facts.nan_f64_nvidia = true;
                }
                Topic::Rounding => facts.rounding_exact = true,
                // The policy asks for the topic itself, since kernels then read other images too.
                Topic::Textures => {}
                // So it does of products, which are then made of other operations.
                Topic::Matrix => {}
                Topic::Constants => {
                    facts.known_specials_f32_right = true;
                    facts.known_constants_f32_right = true;
                    facts.known_factors_f32_right = true;
                    facts.known_specials_f64_right = true;
                    facts.known_constants_f64_right = true;
                }
            }
        }
        // What f16 differs in are the rounding of products and the denormals.
        if [Topic::Fma, Topic::Denormals].into_iter().all(|topic| self.is_fast(topic)) {
            facts.arithmetic_f16_exact = true;
            facts.known_operands_f16_right = true;
        }
        facts
    }
}

/// Text that is no [`Math`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not `exact`, `fast` or one of {topics} with `=exact` or `=fast`, nor `matrix=` with one of {generations}",
    topics = list(Topic::ALL.iter().map(|topic| topic.name())),
    generations = list(Generation::ALL.map(Generation::name))
)]
pub struct MathError(String);

fn list(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl FromStr for Math {
    type Err = MathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(',').try_fold(Math::EXACT, |math, part| {
            let part = part.trim();
            let wrong = || MathError(part.to_owned());
            let is_fast = |how| match how {
                "exact" => Ok(false),
                "fast" => Ok(true),
                _ => Err(wrong()),
            };
            let Some((name, how)) = part.split_once('=') else {
                return Ok(if is_fast(part)? { Math::FAST } else { Math::EXACT });
            };
            let topic = Topic::ALL.iter().find(|topic| topic.name() == name).ok_or_else(wrong)?;
            let generation = Generation::ALL.into_iter().find(|generation| generation.name() == how);
            if let (Topic::Matrix, Some(generation)) = (topic, generation) {
                return Ok(math.with_generation(generation));
            }
            Ok(math.with(*topic, is_fast(how)?))
        })
    }
}

impl fmt::Display for Math {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Math::EXACT => f.write_str("exact"),
            Math::FAST => f.write_str("fast"),
            _ => {
                let fast = Topic::ALL.iter().filter(|topic| self.is_fast(**topic));
                let mut parts: Vec<_> = fast.map(|topic| format!("{}=fast", topic.name())).collect();
                if self.generation != Generation::default() {
                    parts.push(format!("{}={}", Topic::Matrix.name(), self.generation.name()));
                }
                f.write_str(&parts.join(","))
            }
        }
    }
}

impl TryFrom<String> for Math {
    type Error = MathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Math> for String {
    fn from(math: Math) -> String {
        math.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for fast in 0..=Math::FAST.fast {
            let math = Math { fast, ..Math::EXACT };
            assert_eq!(math.to_string().parse(), Ok(math));
            for generation in Generation::ALL {
                let math = math.with_generation(generation);
                assert_eq!(math.generation(), Some(generation));
                assert_eq!(math.to_string().parse(), Ok(math));
            }
        }
        assert_eq!("matrix=hopper".parse(), Ok(Math::EXACT));
        assert_eq!("matrix=ada,matrix=exact".parse(), Ok(Math::EXACT));
        assert_eq!("fast,matrix=ada".parse(), Ok(Math::FAST.with_generation(Generation::Ada)));
        assert_eq!("matrix=volta,matrix=fast".parse(), Ok(Math::EXACT.with(Topic::Matrix, true)));
        assert_eq!(Math::FAST.generation(), None);
        assert_eq!("fma=fast, nan=fast".parse(), Ok(Math::EXACT.with(Topic::Fma, true).with(Topic::Nan, true)));
        assert_eq!("fast,nan=exact".parse(), Ok(Math::FAST.with(Topic::Nan, false)));
        assert_eq!(Math::default().to_string(), "exact");
        for wrong in ["", "quick", "fma", "fma=", "fma=slow", "ftz=fast", "fma=fast,", "matrix=pascal", "fma=ada"] {
            assert!(wrong.parse::<Math>().is_err(), "{wrong}");
        }
    }
}
