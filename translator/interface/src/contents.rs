//! The contents of a SPIR-V module, as far as they matter to peculiarities of devices: a bug of a driver, or a fact of
//! its arithmetic, is of no interest to a module without the operations concerned.

use std::collections::BTreeSet;

use rspirv::spirv::{
    Capability, Decoration, ExecutionMode, GlslStd450Op as Glsl, MemoryAccess, MemorySemantics, Op, Scope, StorageClass,
};
use rustc_hash::FxHashMap;

use crate::spec_id;

/// Words of the header.
const HEADER: usize = 5;

/// The operations that facts are about, besides functions of `GLSL.std.450`.
const OPERATIONS: [Op; 11] = [
    Op::FDiv,
    Op::Dot,
    Op::FNegate,
    Op::FConvert,
    Op::ConvertSToF,
    Op::ConvertUToF,
    Op::ConvertFToS,
    Op::ConvertFToU,
    Op::AtomicFAddEXT,
    Op::FmaKHR,
    Op::CooperativeMatrixMulAddKHR,
];

/// The contents of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Widths of floats, in bits.
    pub(crate) floats: BTreeSet<u32>,
    /// Operations by their number, each with the width of its result if that is a float, else zero.
    pub(crate) operations: BTreeSet<(u32, u32)>,
    /// The same of functions of `GLSL.std.450`.
    pub(crate) functions: BTreeSet<(u32, u32)>,
    /// Operations between the invocations of a subgroup.
    pub subgroups: bool,
    /// Whether `MaximallyReconvergesKHR` is declared.
    pub maximal_reconvergence: bool,
    /// Whether `MaximallyReconvergesKHR` or `SubgroupUniformControlFlowKHR` is declared.
    pub reconvergence: bool,
    /// Memory barriers that the host can't leave out.
    pub memory_barriers: bool,
    /// Barriers of a subgroup.
    pub subgroup_barriers: bool,
    /// Accesses to memory that other threads change at the same time.
    pub atomics: bool,
    /// Atomic stores.
    pub atomic_stores: bool,
    /// Loops.
    pub loops: bool,
    /// The depth to which conditions and loops are nested.
    pub nesting: u64,
    /// Bytes of the largest array that an invocation has for itself.
    pub local_bytes: u64,
    /// Whether the length of an invocation's array is no constant of the module's.
    pub(crate) local_bytes_unknown: bool,
    /// Variables of the function that has most of them.
    pub variables: usize,
    /// Integers of 16 bits.
    pub short_integers: bool,
    /// Divisions of 64-bit integers.
    pub long_divisions: bool,
    /// Integers of 64 bits.
    pub long_words: bool,
    /// Whether the host decides by a specialization constant if there are memory barriers.
    pub(crate) barriers_optional: bool,
}

/// The types and constants that sizes come from.
#[derive(Default)]
struct Types {
    /// Widths of integers and floats in bits, by id.
    widths: FxHashMap<u32, u32>,
    floats: FxHashMap<u32, u32>,
    /// Bytes of arrays by id, where their length is a constant.
    arrays: FxHashMap<u32, Option<u64>>,
    pointers: FxHashMap<u32, u32>,
    constants: FxHashMap<u32, u32>,
}

impl Contents {
    /// Reads a module. Words that are none contain nothing.
    pub fn of(spirv: &[u32]) -> Contents {
        let mut contents = Contents::default();
        let mut types = Types::default();
        // Where the constructs end that are open.
        let mut merges: Vec<u32> = Vec::new();
        // Of the module, and of the function.
        let (mut privates, mut variables) = (0, 0);
        let mut rest = spirv.get(HEADER..).unwrap_or_default();
        while let [first, ..] = *rest {
            let length = (first >> 16) as usize;
            let Some((instruction, after)) = rest.split_at_checked(length.max(1)) else { break };
            rest = after;
            let word = |number: usize| instruction.get(number).copied().unwrap_or(0);
            let Some(op) = Op::from_u32(first & 0xffff) else { continue };
            match op {
                Op::LoopMerge | Op::SelectionMerge => {
                    contents.loops |= op == Op::LoopMerge;
                    merges.push(word(1));
                    contents.nesting = contents.nesting.max(merges.len() as u64);
                }
                Op::Label => {
                    if merges.last() == Some(&word(1)) {
                        merges.pop();
                    }
                }
                Op::FunctionEnd => {
                    merges.clear();
                    variables = 0;
                }
                Op::Variable
                    if [StorageClass::Function, StorageClass::Private].map(|class| class as u32).contains(&word(3)) =>
                {
                    match types.pointers.get(&word(1)).and_then(|ty| types.arrays.get(ty)) {
                        Some(Some(bytes)) => contents.local_bytes = contents.local_bytes.max(*bytes),
                        Some(None) => contents.local_bytes_unknown = true,
                        None => {}
                    }
                    let private = word(3) == StorageClass::Private as u32;
                    *(if private { &mut privates } else { &mut variables }) += 1;
                    contents.variables = contents.variables.max(privates + variables);
                }
                _ => contents.note(op, &types, word),
            }
            types.note(op, length, word);
        }
        contents.floats = types.floats.values().copied().collect();
        contents.memory_barriers &= !contents.barriers_optional;
        contents
    }

    /// Contents to which every fact and every bug of a device matters.
    #[cfg(test)]
    pub(crate) fn everything() -> Contents {
        let functions =
            [Glsl::Fma, Glsl::Sqrt, Glsl::InverseSqrt, Glsl::Exp2, Glsl::Log2, Glsl::Sin, Glsl::Trunc, Glsl::NMin];
        Contents {
            floats: [16, 32, 64].into(),
            operations: OPERATIONS.iter().flat_map(|op| [0, 32, 64].map(|width| (*op as u32, width))).collect(),
            functions: functions.iter().flat_map(|name| [32, 64].map(|width| (*name as u32, width))).collect(),
            subgroups: true,
            maximal_reconvergence: true,
            reconvergence: false,
            memory_barriers: true,
            subgroup_barriers: true,
            atomics: true,
            atomic_stores: true,
            loops: true,
            nesting: u64::MAX,
            local_bytes: u64::MAX,
            local_bytes_unknown: false,
            variables: usize::MAX,
            short_integers: true,
            long_divisions: true,
            long_words: true,
            barriers_optional: false,
        }
    }

    fn note(&mut self, op: Op, types: &Types, word: impl Fn(usize) -> u32) {
        let width = types.floats.get(&word(1)).copied().unwrap_or(0);
        if OPERATIONS.contains(&op) {
            self.operations.insert((op as u32, width));
        }
        match op {
            Op::ExtInst => {
                self.functions.insert((word(4), width));
            }
            Op::UDiv | Op::UMod => self.long_divisions |= types.widths.get(&word(1)) == Some(&64),
            Op::TypeInt => {
                self.short_integers |= word(2) == 16;
                self.long_words |= word(2) == 64;
            }
            Op::Capability => self.subgroups |= word(1) == Capability::GroupNonUniform as u32,
            Op::ExecutionMode => {
                let is_maximal = word(2) == ExecutionMode::MaximallyReconvergesKHR as u32;
                self.maximal_reconvergence |= is_maximal;
                self.reconvergence |= is_maximal || word(2) == ExecutionMode::SubgroupUniformControlFlowKHR as u32;
            }
            Op::Decorate => {
                let is_number = word(2) == Decoration::SpecId as u32;
                self.barriers_optional |= is_number && word(3) == spec_id::MEMORY_BARRIERS;
            }
            Op::MemoryBarrier => self.memory_barriers = true,
            Op::ControlBarrier => {
                let scope = types.constants.get(&word(1)).copied();
                self.subgroup_barriers |= scope == Some(Scope::Subgroup as u32);
            }
            Op::AtomicFAddEXT => self.atomics = true,
            Op::Load => self.access(word(4)),
            Op::Store => self.access(word(3)),
            Op::AtomicStore => {
                self.atomic_stores = true;
                self.atomic(types, word(3));
            }
            op if (Op::AtomicLoad as u32..=Op::AtomicXor as u32).contains(&(op as u32)) => self.atomic(types, word(5)),
            _ => {}
        }
    }

    /// A load or store with these memory operands.
    fn access(&mut self, operands: u32) {
        let operands = MemoryAccess::from_bits_truncate(operands);
        self.atomics |= operands.contains(MemoryAccess::VOLATILE);
        let ordered = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE;
        self.memory_barriers |= operands.intersects(ordered);
    }

    /// An atomic with semantics of that id. A driver may make a barrier of its order.
    fn atomic(&mut self, types: &Types, semantics: u32) {
        self.atomics = true;
        // Semantics that aren't constants may be any.
        let orders = |semantics: &u32| semantics & !MemorySemantics::VOLATILE.bits() != 0;
        self.memory_barriers |= types.constants.get(&semantics).is_none_or(orders);
    }

    fn has_function(&self, functions: &[Glsl], width: u32) -> bool {
        functions.iter().any(|function| self.functions.contains(&(*function as u32, width)))
    }

    /// Whether divisions of 64-bit floats may stand within loops.
    pub(crate) fn divides_doubles_in_loops(&self) -> bool {
        self.loops && self.has(&[Op::FDiv], 64)
    }

    /// Whether the module has floats of 32 or 64 bits.
    pub(crate) fn has_floats(&self) -> bool {
        [32, 64].iter().any(|width| self.floats.contains(width))
    }

    fn has(&self, operations: &[Op], width: u32) -> bool {
        debug_assert!(operations.iter().all(|op| OPERATIONS.contains(op)), "{operations:?}");
        operations.iter().any(|op| self.operations.contains(&(*op as u32, width)))
    }

    /// Whether a fact, by its name, concerns this module. Unknown facts do.
    pub(crate) fn concerns(&self, fact: &str) -> bool {
        let roots = [Glsl::Sqrt, Glsl::InverseSqrt];
        let rounding = [Glsl::Trunc, Glsl::RoundEven, Glsl::Floor, Glsl::Ceil];
        match fact {
            "fma_f32_fused" | "fma_f32_denormals" | "fma_f32_flushes" | "known_factors_f32_right" => {
                self.has_function(&[Glsl::Fma], 32)
            }
            "min_max_f32_exact" => self.has_function(&[Glsl::NMin, Glsl::NMax], 32),
            "negate_f32_exact" => self.has(&[Op::FNegate], 32),
            "to_integer_f32_saturates" => self.has(&[Op::ConvertFToS, Op::ConvertFToU], 0),
            "clamp_f32_right" => self.has_function(&[Glsl::NClamp], 32),
            "arithmetic_f16_exact" | "known_operands_f16_right" | "nan_f16_nvidia" => self.floats.contains(&16),
            "convert_f16_exact" | "nan_conversions_f16_nvidia" => {
                self.floats.contains(&16) && (self.has(&[Op::FConvert], 16) || self.has(&[Op::FConvert], 32))
            }
            "matrix_f16_exact" | "matrix_bf16_exact" | "matrix_bytes_exact" => {
                self.has(&[Op::CooperativeMatrixMulAddKHR], 0)
            }
            "dot_f32_fused" => self.has(&[Op::Dot], 32),
            "fma_f64_fused" => self.has_function(&[Glsl::Fma], 64),
            "fma_khr_f32_right" => self.has(&[Op::FmaKHR], 32),
            "fma_khr_f64_right" => self.has(&[Op::FmaKHR], 64),
            "div_f32_rounded" | "div_f32_normal" => self.has(&[Op::FDiv], 32),
            "div_f64_rounded" => self.has(&[Op::FDiv], 64),
            "sqrt_f32_rounded" | "sqrt_f32_normal" => self.has_function(&[Glsl::Sqrt], 32),
            "sqrt_f32_refined" => self.has_function(&[Glsl::InverseSqrt], 32),
            "sqrt_f64_rounded" => self.has_function(&[Glsl::Sqrt], 64),
            "roots_f32_close" | "roots_f32_ends" | "roots_f32_denormals" | "roots_f32_flush" => {
                self.has_function(&roots, 32)
            }
            "exp2_f32_close" | "exp2_f32_denormals" | "exp2_f32_flushes" => self.has_function(&[Glsl::Exp2], 32),
            "log2_f32_close" => self.has_function(&[Glsl::Log2], 32),
            "sin_cos_f32_close" => self.has_function(&[Glsl::Sin, Glsl::Cos], 32),
            "rounding_exact" => self.has_function(&rounding, 32) || self.has_function(&rounding, 64),
            "convert_f32_exact" => self.has(&[Op::ConvertSToF, Op::ConvertUToF], 32),
            "global_atomic_add_f32_flushes" | "shared_atomic_add_f32_keeps" => self.has(&[Op::AtomicFAddEXT], 32),
            "atomic_add_f64_exact" => self.has(&[Op::AtomicFAddEXT], 64),
            "nan_f32_nvidia" | "denormals_f32_kept" | "normal_f32_exact" | "add_f32_flushes" => {
                self.floats.contains(&32)
            }
            "nan_f64_nvidia" | "denormals_f64_kept" => self.floats.contains(&64),
            "known_specials_f32_right" | "known_constants_f32_right" => self.floats.contains(&32),
            "known_specials_f64_right" | "known_constants_f64_right" => self.floats.contains(&64),
            // The host says by a texture's record whether its sampler is exact.
            "sampled_points_exact"
            | "sampled_points_normalized_exact"
            | "sampled_filters_exact"
            | "sampled_filters_normalized_exact"
            | "sampled_srgb_exact" => false,
            "subgroups_reconverge" => self.subgroups && !self.reconvergence,
            _ => true,
        }
    }
}

impl Types {
    fn note(&mut self, op: Op, length: usize, word: impl Fn(usize) -> u32) {
        match op {
            Op::TypeInt => {
                self.widths.insert(word(1), word(2));
            }
            Op::TypeFloat => {
                self.widths.insert(word(1), word(2));
                // Another format, with which there is no arithmetic, has a word more.
                if length == 3 {
                    self.floats.insert(word(1), word(2));
                }
            }
            Op::TypePointer => {
                self.pointers.insert(word(1), word(3));
            }
            Op::Constant => {
                self.constants.insert(word(2), word(3));
            }
            Op::TypeArray => {
                let element = self.widths.get(&word(2)).map_or(4, |bits| bits / 8);
                let length = self.constants.get(&word(3));
                self.arrays.insert(word(1), length.map(|&length| u64::from(element) * u64::from(length)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_without_arithmetic_are_no_floats() {
        let half = [0x0723_0203, 0, 0, 0, 0, 3 << 16 | Op::TypeFloat as u32, 1, 16];
        let bfloat = [0x0723_0203, 0, 0, 0, 0, 4 << 16 | Op::TypeFloat as u32, 1, 16, 0];
        assert!(Contents::of(&half).concerns("arithmetic_f16_exact"));
        assert!(!Contents::of(&bfloat).concerns("arithmetic_f16_exact"));
    }

    #[test]
    fn operations_with_facts_of_their_own_are_found() {
        const INSTRUCTION: u32 = 6 << 16;
        let header = [0x0723_0203, 0, 0, 0, 0];
        let single = [3 << 16 | Op::TypeFloat as u32, 1, 32];
        let fused = Contents::of(&[&header[..], &single, &[INSTRUCTION | Op::FmaKHR as u32, 1, 2, 3, 3, 3]].concat());
        assert!(fused.concerns("fma_khr_f32_right") && !fused.concerns("fma_khr_f64_right"));
        assert!(!fused.concerns("fma_f32_fused") && !fused.concerns("matrix_f16_exact"));
        let product = [INSTRUCTION | Op::CooperativeMatrixMulAddKHR as u32, 9, 2, 3, 3, 3];
        assert!(Contents::of(&[&header[..], &product].concat()).concerns("matrix_f16_exact"));
    }

    #[test]
    fn words_that_are_no_module_contain_nothing() {
        for words in [&[][..], &[1, 2], &[0; 9], &[0x0723_0203, 0, 0, 0, 0, 0xffff_0001, 7]] {
            assert_eq!(Contents::of(words), Contents::default());
        }
    }
}
