//! Variables of a kernel's function. Drivers turn those of the Function storage class into values.
//!
//! SwiftShader keeps each value that lives across blocks, and each place where values join, in a slot of its own of its stack, and
//! its compiler fails silently where that grows beyond 512 KiB. There, many variables of a type are elements of an array, which is
//! kept in memory if one access to it has an index that nobody knows.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op, StorageClass, Word};

use super::body::{Body, Row};
use super::instruction::instruction;
use super::module::Global;
use super::{Result, not_legal};
use crate::ir::{Type, Var};
use crate::target::Quirks;

impl Body<'_, '_, '_> {
    /// A pointer to a variable.
    pub(super) fn variable(&mut self, var: Var) -> Result<Word> {
        let index = var.0 as usize;
        match self.vars.get(index) {
            None => Err(not_legal()),
            Some(0) => {
                let ty = self.function.var_type(var);
                let id = match self.row(ty)? {
                    Some(row) => self.element(ty, row)?,
                    None => {
                        let ty = self.ty(ty)?;
                        let zero = self.module.global(Global::Null(ty))?;
                        self.declare(ty, Some(zero), &format!("r{}", var.0))?
                    }
                };
                self.vars[index] = id;
                Ok(id)
            }
            Some(&id) => Ok(id),
        }
    }

    /// A pointer to the next element of a type's array.
    fn element(&mut self, ty: Type, row: Row) -> Result<Word> {
        let number = self.module.u32_constant(row.used)?;
        self.rows.insert(ty, Some(Row { used: row.used + 1, ..row }));
        Ok(self.at_start(Op::AccessChain, row.pointer, vec![Operand::IdRef(row.array), Operand::IdRef(number)]))
    }

    /// The array of a type, if its variables are in one.
    fn row(&mut self, ty: Type) -> Result<Option<Row>> {
        if !self.module.target.quirks.stack_small {
            return Ok(None);
        }
        if let Some(row) = self.rows.get(&ty) {
            return Ok(*row);
        }
        let count = self.function.vars.iter().filter(|other| **other == ty).count();
        let row = if count < Quirks::MANY_VARIABLES { None } else { Some(self.new_row(ty, count)?) };
        self.rows.insert(ty, row);
        Ok(row)
    }

    /// An array for so many variables of a type.
    fn new_row(&mut self, ty: Type, count: usize) -> Result<Row> {
        let element = self.ty(ty)?;
        let pointer = self.module.global(Global::Pointer(StorageClass::Function, element))?;
        let length = self.module.u32_constant(u32::try_from(count).unwrap_or(u32::MAX))?;
        let array_type = self.module.global(Global::Array(element, length))?;
        let zeros = self.module.global(Global::Null(array_type))?;
        let array = self.declare(array_type, Some(zeros), "variables")?;
        // All are zero already.
        let u32 = self.module.u32()?;
        let any = self.input(BuiltIn::LocalInvocationIndex, u32)?;
        let any = self.at_start(Op::UMod, u32, vec![Operand::IdRef(any), Operand::IdRef(length)]);
        let place = self.at_start(Op::AccessChain, pointer, vec![Operand::IdRef(array), Operand::IdRef(any)]);
        let zero = self.module.global(Global::Null(element))?;
        self.start.push(instruction(Op::Store, 0, 0, vec![Operand::IdRef(place), Operand::IdRef(zero)]));
        Ok(Row { array, pointer, used: 0 })
    }
}
