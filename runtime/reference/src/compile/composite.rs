//! Construction and extraction of composites, mostly by renaming registers.

use rspirv::spirv::Op;

use super::Result;
use super::compiler::Compiler;
use super::layout::Kind;
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
        match &self.layouts.get(inst.ty)?.kind {
            &Kind::Vector { component, .. } => {
                for &part in parts {
                    if self.vector_of(part)?.0 != component {
                        return Err(wrong());
                    }
                }
            }
            &Kind::Array { element: part, length: count, .. } => {
                if parts.len() != count as usize {
                    return Err(wrong());
                }
                for &id in parts {
                    if self.type_of(id)? != part {
                        return Err(wrong());
                    }
                }
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
                if parts.len() != members.len() {
                    return Err(wrong());
                }
                for (&part, member) in parts.iter().zip(members) {
                    if self.type_of(part)? != member.ty {
                        return Err(wrong());
                    }
                }
            }
            _ => return Err(wrong()),
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
        if ty != inst.ty {
            return Err(inst.refuse(rule::UNIVERSAL, "extracts a part of another type"));
        }
        self.result(inst, part)
    }

    fn insert(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (object, composite) = (inst.operand(0)?, inst.operand(1)?);
        let mut cells = self.cells(composite)?.to_vec();
        let (ty, start) = self.part(inst, self.type_of(composite)?, inst.rest(2))?;
        let object_cells = self.cells(object)?;
        if ty != self.type_of(object)? || self.type_of(composite)? != inst.ty {
            return Err(inst.refuse(rule::UNIVERSAL, "inserts a part of another type"));
        }
        cells[start as usize..start as usize + object_cells.len()].copy_from_slice(&object_cells);
        self.result(inst, cells)
    }

    fn shuffle(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (a, b) = (inst.operand(0)?, inst.operand(1)?);
        let (scalar, _) = self.layouts.vector(inst.ty)?;
        if self.vector_of(a)?.0 != scalar || self.vector_of(b)?.0 != scalar {
            return Err(inst.refuse(rule::UNIVERSAL, "shuffles vectors of other components"));
        }
        let both = [self.cells(a)?, self.cells(b)?].concat();
        let mut cells = Vec::new();
        for &index in inst.rest(2) {
            cells.push(match both.get(index as usize) {
                Some(&slot) => slot,
                None => return Err(inst.refuse(rule::UNIVERSAL, format!("there is no component {index}"))),
            });
        }
        self.result(inst, cells)
    }
}
