//! Subgroup operations.

use rspirv::spirv::{CooperativeMatrixOperands, GroupOperation, Op};

use super::Result;
use super::compiler::Compiler;
use super::layout::{Kind, Scalar};
use crate::code::{Binary, Group, GroupOp, Inst, MatrixKind, MatrixProduct, Scan, Scope, Slot, Source};
use crate::module::{Instruction, rule};

/// Whether an operation waits for other invocations.
pub(super) fn waits_for_others(op: Op) -> bool {
    [Op::ControlBarrier, Op::CooperativeMatrixMulAddKHR].contains(&op) || operation(op).is_some()
}

fn operation(op: Op) -> Option<GroupOp> {
    match op {
        Op::GroupNonUniformBroadcast => Some(GroupOp::Broadcast),
        Op::GroupNonUniformBallot => Some(GroupOp::Ballot),
        Op::GroupNonUniformShuffle => Some(GroupOp::Shuffle),
        Op::GroupNonUniformShuffleXor => Some(GroupOp::ShuffleXor),
        _ => Binary::of(Source::Group(op)).map(|combine| GroupOp::Arithmetic(combine, Scan::Reduce)),
    }
}

/// The values that a reduction or scan combines.
fn scan(inst: &Instruction<'_>, operation: u32) -> Result<Scan> {
    match GroupOperation::from_u32(operation) {
        Some(GroupOperation::Reduce) => Ok(Scan::Reduce),
        Some(GroupOperation::InclusiveScan) => Ok(Scan::Inclusive),
        Some(GroupOperation::ExclusiveScan) => Ok(Scan::Exclusive),
        _ => Err(inst.refuse(rule::UNSUPPORTED, "the group operation")),
    }
}

impl Compiler<'_> {
    /// Compiles a subgroup operation. Returns whether it is one.
    pub(super) fn group_operation(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        if inst.op == Op::CooperativeMatrixMulAddKHR {
            self.matrix_product(inst)?;
            return Ok(true);
        }
        let Some(mut op) = operation(inst.op) else { return Ok(false) };
        if self.scope(inst, inst.operand(0)?)? != Scope::Subgroup {
            let rule = "VUID-StandaloneSpirv-None-04642";
            return Err(inst.refuse(rule, "has a scope other than Subgroup"));
        }
        let mut id = inst.operand(1)?;
        let mut other = self.emit.constant(0);
        if let GroupOp::Arithmetic(combine, _) = op {
            op = GroupOp::Arithmetic(combine, scan(inst, id)?);
            id = inst.operand(2)?;
        } else if op != GroupOp::Ballot {
            let lane = inst.operand(2)?;
            let wrong = self.vector_of(lane)? != (Scalar::Int(32), 1);
            inst.refuse_if(wrong, format_args!("%{lane} is not a 32-bit integer"))?;
            other = self.scalar(lane)?;
        }
        let (scalar, components) = self.vector_of(id)?;
        let result = self.layouts.vector(inst.ty)?;
        let right = match op {
            GroupOp::Ballot => result == (Scalar::Int(32), 4) && (scalar, components) == (Scalar::Bool, 1),
            GroupOp::Arithmetic(combine, _) => result == (scalar, components) && combine.family().accepts(scalar),
            _ => result == (scalar, components),
        };
        inst.refuse_if(!right, "has operands or a result of another shape")?;
        let cells = self.cells(id)?;
        let value = self.contiguous(&cells)?;
        self.group(inst, Group { op, bits: scalar.bits(), components, d: 0, value, other })?;
        Ok(true)
    }

    /// Emits a subgroup operation, with new registers for its result.
    fn group(&mut self, inst: &Instruction<'_>, group: Group) -> Result<()> {
        let d: Slot = self.emit.fresh(self.layouts.cells(inst.ty)?)?;
        self.emit.emit(Inst::Group(self.code.groups.len() as u32))?;
        self.code.groups.push(Group { d, ..group });
        self.result_at(inst, d)
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
        let [(a, a_size, 0), (b, b_size, 1), (c, c_size, 2)] = *shapes else {
            return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these sizes"));
        };
        let kind = match (a, b, c) {
            (Scalar::Float(16), Scalar::Float(16), Scalar::Float(sum @ (16 | 32))) => {
                MatrixKind::Halves { sums_are_halves: sum == 16 }
            }
            (Scalar::Bfloat16, Scalar::Bfloat16, Scalar::Float(32)) => MatrixKind::Bfloats,
            (Scalar::Int(8), Scalar::Int(8), Scalar::Int(32)) => MatrixKind::Bytes { are_signed },
            _ => return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these types")),
        };
        let depth = 8 * kind.elements_of_word();
        let columns = kind.columns();
        if [a_size, b_size, c_size] != [[16, depth], [depth, columns], [16, columns]]
            || self.type_of(ids[2])? != inst.ty
        {
            return Err(inst.refuse(rule::UNSUPPORTED, "cooperative matrices of these sizes"));
        }
        let mut first = |id| {
            let cells = self.cells(id)?.to_vec();
            self.contiguous(&cells)
        };
        let (value, other, addend) = (first(ids[0])?, first(ids[1])?, first(ids[2])?);
        let op = GroupOp::MatrixProduct(MatrixProduct { kind, addend });
        self.group(inst, Group { op, bits: c.bits(), components: columns / 2, d: 0, value, other })
    }
}
