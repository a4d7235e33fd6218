//! Subgroup operations.

use rspirv::spirv::{CooperativeMatrixOperands, GroupOperation, Op};

use super::Result;
use super::compiler::Compiler;
use super::layout::{Kind, Scalar};
use crate::code::{Group, GroupArithmetic, GroupOp, Inst, MatrixKind, MatrixProduct, Scan, Scope, Slot};
use crate::module::{Instruction, rule};

/// The operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The scope, then a value.
    Value,
    /// The scope, then a value and a scalar.
    ValueAndScalar,
    /// The scope, then a group operation and a value, and perhaps the cluster size.
    Scan,
    /// Only the scope.
    Nothing,
}

/// Whether an operation waits for other invocations.
pub(super) fn waits_for_others(op: Op) -> bool {
    let others = [Op::ControlBarrier, Op::GroupNonUniformQuadSwap, Op::CooperativeMatrixMulAddKHR];
    others.contains(&op) || plain(op).is_some() || scanned(op).is_some()
}

/// Operations that are not scans, with their operands, and whether a scope comes first.
fn plain(op: Op) -> Option<(GroupOp, Shape, bool)> {
    use Shape::{Nothing, Value, ValueAndScalar};
    Some(match op {
        Op::GroupNonUniformElect => (GroupOp::Elect, Nothing, true),
        Op::GroupNonUniformAll => (GroupOp::All, Value, true),
        Op::GroupNonUniformAny => (GroupOp::Any, Value, true),
        Op::GroupNonUniformAllEqual => (GroupOp::AllEqual { float: false }, Value, true),
        Op::GroupNonUniformBroadcast => (GroupOp::Broadcast, ValueAndScalar, true),
        Op::GroupNonUniformBroadcastFirst => (GroupOp::BroadcastFirst, Value, true),
        Op::GroupNonUniformBallot => (GroupOp::Ballot, Value, true),
        Op::GroupNonUniformInverseBallot => (GroupOp::InverseBallot, Value, true),
        Op::GroupNonUniformBallotBitExtract => (GroupOp::BallotBitExtract, ValueAndScalar, true),
        Op::GroupNonUniformBallotFindLSB => (GroupOp::BallotFindLsb, Value, true),
        Op::GroupNonUniformBallotFindMSB => (GroupOp::BallotFindMsb, Value, true),
        Op::GroupNonUniformShuffle => (GroupOp::Shuffle, ValueAndScalar, true),
        Op::GroupNonUniformShuffleXor => (GroupOp::ShuffleXor, ValueAndScalar, true),
        Op::GroupNonUniformShuffleUp => (GroupOp::ShuffleUp, ValueAndScalar, true),
        Op::GroupNonUniformShuffleDown => (GroupOp::ShuffleDown, ValueAndScalar, true),
        Op::GroupNonUniformRotateKHR => (GroupOp::Rotate { cluster: 0 }, ValueAndScalar, true),
        Op::GroupNonUniformQuadBroadcast => (GroupOp::QuadBroadcast, ValueAndScalar, true),
        Op::SubgroupBallotKHR => (GroupOp::Ballot, Value, false),
        Op::SubgroupFirstInvocationKHR => (GroupOp::BroadcastFirst, Value, false),
        Op::SubgroupReadInvocationKHR => (GroupOp::Shuffle, ValueAndScalar, false),
        Op::SubgroupAllKHR => (GroupOp::All, Value, false),
        Op::SubgroupAnyKHR => (GroupOp::Any, Value, false),
        Op::SubgroupAllEqualKHR => (GroupOp::AllEqual { float: false }, Value, false),
        _ => return None,
    })
}

/// Operations that combine values; `None` counts bits of a ballot.
fn scanned(op: Op) -> Option<Option<GroupArithmetic>> {
    Some(Some(match op {
        Op::GroupNonUniformBallotBitCount => return Some(None),
        Op::GroupNonUniformIAdd => GroupArithmetic::IAdd,
        Op::GroupNonUniformFAdd => GroupArithmetic::FAdd,
        Op::GroupNonUniformIMul => GroupArithmetic::IMul,
        Op::GroupNonUniformFMul => GroupArithmetic::FMul,
        Op::GroupNonUniformSMin => GroupArithmetic::SMin,
        Op::GroupNonUniformUMin => GroupArithmetic::UMin,
        Op::GroupNonUniformFMin => GroupArithmetic::FMin,
        Op::GroupNonUniformSMax => GroupArithmetic::SMax,
        Op::GroupNonUniformUMax => GroupArithmetic::UMax,
        Op::GroupNonUniformFMax => GroupArithmetic::FMax,
        Op::GroupNonUniformBitwiseAnd | Op::GroupNonUniformLogicalAnd => GroupArithmetic::And,
        Op::GroupNonUniformBitwiseOr | Op::GroupNonUniformLogicalOr => GroupArithmetic::Or,
        Op::GroupNonUniformBitwiseXor | Op::GroupNonUniformLogicalXor => GroupArithmetic::Xor,
        _ => return None,
    }))
}

impl Compiler<'_> {
    /// Compiles a subgroup operation. Returns whether it is one.
    pub(super) fn group_operation(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        if inst.op == Op::CooperativeMatrixMulAddKHR {
            self.matrix_product(inst)?;
            return Ok(true);
        }
        let (op, shape, scope_first) = match (plain(inst.op), scanned(inst.op)) {
            (Some(plain), _) => plain,
            (None, Some(arithmetic)) => (self.scan(inst, arithmetic)?, Shape::Scan, true),
            (None, None) if inst.op == Op::GroupNonUniformQuadSwap => (self.quad_swap(inst)?, Shape::Value, true),
            (None, None) => return Ok(false),
        };
        let mut first = 0;
        if scope_first {
            if self.scope(inst, inst.operand(0)?)? != Scope::Subgroup {
                let rule = "VUID-StandaloneSpirv-None-04642";
                return Err(inst.refuse(rule, "has a scope other than Subgroup"));
            }
            first = 1;
        }
        first += usize::from(shape == Shape::Scan);
        let nothing = self.emit.constant(0);
        let (mut value, mut other, mut scalar, mut components) = (nothing, nothing, Scalar::Bool, 1);
        if shape != Shape::Nothing {
            let id = inst.operand(first)?;
            (scalar, components) = self.vector_of(id)?;
            let cells = self.cells(id)?;
            value = self.contiguous(&cells)?;
        }
        if shape == Shape::ValueAndScalar {
            let id = inst.operand(first + 1)?;
            if self.vector_of(id)? != (Scalar::Int(32), 1) {
                return Err(inst.refuse(rule::UNIVERSAL, format!("%{id} is not a 32-bit integer")));
            }
            other = self.scalar(id)?;
        }
        let op = match op {
            GroupOp::AllEqual { .. } => GroupOp::AllEqual { float: scalar.is_float() },
            GroupOp::Rotate { .. } => GroupOp::Rotate { cluster: self.cluster(inst, 3)?.unwrap_or(0) },
            op => op,
        };
        self.check_shapes(inst, op, scalar, components)?;
        let d: Slot = self.emit.fresh(self.layouts.cells(inst.ty)?)?;
        self.emit.emit(Inst::Group(self.code.groups.len() as u32))?;
        self.code.groups.push(Group { op, bits: scalar.bits(), components, d, value, other });
        self.result_at(inst, d)?;
        Ok(true)
    }

    fn matrix_product(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let ids = [inst.operand(0)?, inst.operand(1)?, inst.operand(2)?];
        let mut shapes = Vec::new();
        for id in ids {
            let Kind::CooperativeMatrix { element, rows, columns, place, .. } =
                self.layouts.get(self.type_of(id)?)?.kind
            else {
                return Err(inst.refuse(rule::UNIVERSAL, format!("%{id} is no cooperative matrix")));
            };
            let (scalar, _) = self.layouts.vector(element)?;
            shapes.push((scalar, [rows, columns], place));
        }
        let signs = CooperativeMatrixOperands::from_bits_retain(inst.operands.get(3).copied().unwrap_or(0));
        let are_signed = [
            CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR,
            CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR,
        ]
        .map(|sign| signs.contains(sign));
        let [(a, a_size, 0), (b, b_size, 1), (c, [16, 8], 2)] = *shapes else {
            return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these sizes"));
        };
        let kind = match (a, b, c) {
            (Scalar::Float(16), Scalar::Float(16), Scalar::Float(sum @ (16 | 32))) => {
                MatrixKind::Halves { sums_are_halves: sum == 16 }
            }
            (Scalar::Int(8), Scalar::Int(8), Scalar::Int(32)) => MatrixKind::Bytes { are_signed },
            _ => return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these types")),
        };
        let depth = 8 * kind.elements_of_word();
        if (a_size, b_size) != ([16, depth], [depth, 8]) || self.type_of(ids[2])? != inst.ty {
            return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these sizes"));
        }
        let mut first = |id| {
            let cells = self.cells(id)?.to_vec();
            self.contiguous(&cells)
        };
        let (value, other, addend) = (first(ids[0])?, first(ids[1])?, first(ids[2])?);
        let d: Slot = self.emit.fresh(self.layouts.cells(inst.ty)?)?;
        self.emit.emit(Inst::Group(self.code.groups.len() as u32))?;
        let op = GroupOp::MatrixProduct(MatrixProduct { kind, addend });
        self.code.groups.push(Group { op, bits: c.bits(), components: 4, d, value, other });
        self.result_at(inst, d)
    }

    /// Checks the widths and counts of operands and results that the interpreter relies on.
    fn check_shapes(&self, inst: &Instruction<'_>, op: GroupOp, scalar: Scalar, components: u32) -> Result<()> {
        let result = self.layouts.vector(inst.ty)?;
        let ballot = (Scalar::Int(32), 4);
        let right = match op {
            GroupOp::Elect => result == (Scalar::Bool, 1),
            GroupOp::All | GroupOp::Any => result == (Scalar::Bool, 1) && (scalar, components) == result,
            GroupOp::AllEqual { .. } => result == (Scalar::Bool, 1),
            GroupOp::Ballot => result == ballot && (scalar, components) == (Scalar::Bool, 1),
            GroupOp::InverseBallot | GroupOp::BallotBitExtract => {
                result == (Scalar::Bool, 1) && (scalar, components) == ballot
            }
            GroupOp::BallotBitCount(_) | GroupOp::BallotFindLsb | GroupOp::BallotFindMsb => {
                result == (Scalar::Int(32), 1) && (scalar, components) == ballot
            }
            GroupOp::Arithmetic(arithmetic, _) => {
                let family = match arithmetic {
                    GroupArithmetic::FAdd | GroupArithmetic::FMul | GroupArithmetic::FMin | GroupArithmetic::FMax => {
                        scalar.is_float()
                    }
                    GroupArithmetic::And | GroupArithmetic::Or | GroupArithmetic::Xor => !scalar.is_float(),
                    _ => scalar.is_int(),
                };
                family && result == (scalar, components)
            }
            _ => result == (scalar, components),
        };
        if right { Ok(()) } else { Err(inst.refuse(rule::UNIVERSAL, "has operands or a result of another shape")) }
    }

    fn scan(&mut self, inst: &Instruction<'_>, arithmetic: Option<GroupArithmetic>) -> Result<GroupOp> {
        let scan = match GroupOperation::from_u32(inst.operand(1)?) {
            Some(GroupOperation::Reduce) => Scan::Reduce,
            Some(GroupOperation::InclusiveScan) => Scan::Inclusive,
            Some(GroupOperation::ExclusiveScan) => Scan::Exclusive,
            Some(GroupOperation::ClusteredReduce) if arithmetic.is_some() => {
                let size = self.cluster(inst, 3)?;
                Scan::Clustered(size.ok_or_else(|| inst.refuse(rule::INSTRUCTION, "lacks its cluster's size"))?)
            }
            _ => return Err(inst.refuse(rule::UNSUPPORTED, "the group operation")),
        };
        Ok(match arithmetic {
            Some(arithmetic) => GroupOp::Arithmetic(arithmetic, scan),
            None => GroupOp::BallotBitCount(scan),
        })
    }

    /// The constant operand with the cluster size, if there is one.
    fn cluster(&mut self, inst: &Instruction<'_>, index: usize) -> Result<Option<u32>> {
        let Some(&id) = inst.operands.get(index) else { return Ok(None) };
        let size = self.constant_operand(inst, id)?;
        match u32::try_from(size) {
            Ok(size) if size.is_power_of_two() => Ok(Some(size)),
            _ => Err(inst.refuse(rule::INSTRUCTION, format!("the cluster size {size} is not a power of two"))),
        }
    }

    fn quad_swap(&mut self, inst: &Instruction<'_>) -> Result<GroupOp> {
        match self.constant_operand(inst, inst.operand(2)?)? {
            direction @ 0..=2 => Ok(GroupOp::QuadSwap(direction as u8)),
            direction => Err(inst.refuse(rule::INSTRUCTION, format!("unknown direction {direction}"))),
        }
    }
}
