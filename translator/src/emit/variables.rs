//! Variables of a kernel's function. Drivers turn those of the Function storage class into values.
//!
//! SwiftShader keeps each value that lives across blocks, and each phi, in its own slot of its stack, and its compiler
//! fails silently if that stack grows beyond 512 KiB. For SwiftShader, many variables of a type are elements of an
//! array. The array stays in memory if one access has an unknown index.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op, Word};

use super::body::{Body, Row};
use super::instruction::instruction;
use super::module::Global;
use super::result::Result;
use crate::ir::{Function, Type, Var, VarSet, for_each_assigned, for_each_read};
use ptx2spv_target::Quirks;

impl Body<'_, '_, '_> {
    /// A pointer to a variable.
    pub(super) fn variable(&mut self, var: Var) -> Result<Word> {
        if self.vars[var] == 0 {
            let ty = self.function.var_type(var);
            self.vars[var] = match self.row(ty)? {
                Some(row) => self.element(row, ty, var)?,
                None => match self.common.private.get(&var) {
                    Some(&id) => id,
                    None => self.declare_variable(var)?,
                },
            };
        }
        Ok(self.vars[var])
    }

    fn declare_variable(&mut self, var: Var) -> Result<Word> {
        let ty = self.ty(self.function.var_type(var))?;
        let zero = self.module.global(Global::Null(ty))?;
        let id = self.declare(ty, Some(zero), &format!("r{}", var.0))?;
        if self.has_lane_calls() {
            self.common.private.insert(var, id);
        }
        Ok(id)
    }

    /// Declares the arrays of variables, which must not begin anew in each function of the kernel.
    pub(super) fn declare_rows(&mut self) -> Result<()> {
        for ty in [Type::Bool, Type::I32, Type::I64] {
            self.row(ty)?;
        }
        Ok(())
    }

    fn element(&mut self, Row { array, pointer }: Row, ty: Type, var: Var) -> Result<Word> {
        let places = self.common.places.entry(ty).or_default();
        // Numbers of variables are 32 bits.
        let next = places.len() as u32;
        let place = *places.entry(var).or_insert(next);
        let number = self.module.u32_constant(place)?;
        Ok(self.at_start(Op::AccessChain, pointer, vec![Operand::IdRef(array), Operand::IdRef(number)]))
    }

    /// The array of the variables of a type, if they are in one.
    fn row(&mut self, ty: Type) -> Result<Option<Row>> {
        if !self.module.device.workarounds.stack_small {
            return Ok(None);
        }
        if let Some(&row) = self.common.rows.get(&ty) {
            return Ok(row);
        }
        // Numbers of variables have 32 bits.
        let count = self.used(ty);
        let row = if count < Quirks::MANY_VARIABLES { None } else { Some(self.new_row(ty, count as u32)?) };
        self.common.rows.insert(ty, row);
        Ok(row)
    }

    /// The number of variables of a type that are read or assigned.
    fn used(&self, ty: Type) -> usize {
        let Function { body, vars, .. } = self.function;
        let mut used = VarSet::new(vars.len());
        for_each_read(body, &mut |var| used.insert(var));
        for_each_assigned(body, &mut |var| used.insert(var));
        used.iter().filter(|var| self.function.var_type(*var) == ty).count()
    }

    /// An array for `count` variables of a type.
    fn new_row(&mut self, ty: Type, count: u32) -> Result<Row> {
        let element = self.ty(ty)?;
        let pointer = self.module.global(Global::Pointer(self.variable_class(), element))?;
        let length = self.module.u32_constant(count)?;
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
        Ok(Row { array, pointer })
    }
}
