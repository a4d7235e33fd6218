//! Construction and extraction of composites, mostly by renaming registers.

use rspirv::spirv::Op;

use super::Result;
use super::compiler::Compiler;
use super::layout::Kind;
use crate::code::Slot;
use crate::module::{Instruction, rule};

impl Compiler<'_> {
    /// Compiles a composite instruction. Returns whether it is one.
    pub(super) fn composite_operation(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        match inst.op {
            Op::CompositeConstruct => self.composite(inst)?,
            Op::CompositeExtract => self.extract(inst)?,
            Op::CompositeInsert => self.insert(inst)?,
            Op::VectorShuffle => self.shuffle(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A composite from its parts. Vectors may also be made of vectors.
    pub(super) fn composite(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let wrong = || inst.refuse(rule::UNIVERSAL, "has parts that don't fit its type");
        let parts = inst.operands;
        let fits = match &self.layouts.get(inst.ty)?.kind {
            &Kind::Vector { component, .. } => all(parts, |part| Ok(self.vector_of(part)?.0 == component))?,
            &Kind::Array { element, length, .. } => {
                parts.len() == length as usize && all(parts, |part| Ok(self.type_of(part)? == element))?
            }
            // All elements are the same.
            &Kind::CooperativeMatrix { element, length, .. } => {
                let &[part] = parts else { return Err(wrong()) };
                if self.type_of(part)? != element {
                    return Err(wrong());
                }
                let cells = self.cells(part)?.repeat(length as usize);
                return self.result(inst, cells);
            }
            Kind::Struct(members) => {
                let mut types = members.iter().map(|member| member.ty);
                parts.len() == members.len() && all(parts, |part| Ok(Some(self.type_of(part)?) == types.next()))?
            }
            _ => false,
        };
        if !fits {
            return Err(wrong());
        }
        // Allocated first, because there may be many large parts.
        let mut cells = Vec::with_capacity(self.layouts.cells(inst.ty)? as usize);
        for &part in parts {
            cells.extend_from_slice(&self.cells(part)?);
        }
        self.result(inst, cells)
    }

    /// Follows literal indices into a composite. Returns the type of the part and its first register.
    fn part(&self, inst: &Instruction<'_>, mut ty: u32, indices: &[u32]) -> Result<(u32, u32)> {
        let mut start = 0;
        for &index in indices {
            let outside = || inst.refuse(rule::UNIVERSAL, format!("there is no part {index}"));
            let (part, count, stride) = match &self.layouts.get(ty)?.kind {
                Kind::Vector { count, .. } => (self.module.component_type(ty), *count, 1),
                &Kind::Array { element: part, length: count, .. } => (part, count, self.layouts.cells(part)?),
                &Kind::CooperativeMatrix { element, length, .. } => (element, length, 1),
                Kind::Struct(members) => {
                    let member = members.get(index as usize).ok_or_else(outside)?;
                    start += member.cell;
                    ty = member.ty;
                    continue;
                }
                _ => return Err(outside()),
            };
            if index >= count {
                return Err(outside());
            }
            start += index * stride;
            ty = part;
        }
        Ok((ty, start))
    }

    fn extract(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let id = inst.operand(0)?;
        let cells = self.cells(id)?;
        let (ty, start) = self.part(inst, self.type_of(id)?, inst.rest(1))?;
        let count = self.layouts.cells(ty)?;
        // The value has all registers of its type, including those of the part.
        let part = &cells[start as usize..(start + count) as usize];
        inst.refuse_if(ty != inst.ty, "extracts a part of another type")?;
        self.result(inst, part)
    }

    fn insert(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (object, composite) = (inst.operand(0)?, inst.operand(1)?);
        let mut cells = self.cells(composite)?.to_vec();
        let (ty, start) = self.part(inst, self.type_of(composite)?, inst.rest(2))?;
        let wrong = ty != self.type_of(object)? || self.type_of(composite)? != inst.ty;
        inst.refuse_if(wrong, "inserts a part of another type")?;
        let part = self.cells(object)?;
        cells[start as usize..start as usize + part.len()].copy_from_slice(&part);
        self.result(inst, cells)
    }

    fn shuffle(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (a, b) = (inst.operand(0)?, inst.operand(1)?);
        let (scalar, _) = self.layouts.vector(inst.ty)?;
        let wrong = self.vector_of(a)?.0 != scalar || self.vector_of(b)?.0 != scalar;
        inst.refuse_if(wrong, "shuffles vectors of other components")?;
        let both = [self.cells(a)?, self.cells(b)?].concat();
        let part = |&index: &u32| {
            let slot = both.get(index as usize).copied();
            slot.ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("there is no component {index}")))
        };
        let cells: Vec<Slot> = inst.rest(2).iter().map(part).collect::<Result<_>>()?;
        self.result(inst, cells)
    }
}

/// Whether something that may fail holds for all parts.
fn all(parts: &[u32], mut fits: impl FnMut(u32) -> Result<bool>) -> Result<bool> {
    for &part in parts {
        if !fits(part)? {
            return Ok(false);
        }
    }
    Ok(true)
}
