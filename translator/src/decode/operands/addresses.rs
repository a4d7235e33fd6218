//! Operands that are addresses: of memory, of variables as values, and of tensors with coordinates.

use super::Result;
use crate::ast;
use crate::decode::function::FunctionDecoder;
use crate::decode::program::{Base, Operand};
use crate::decode::scope::Symbol;
use crate::diagnostic::Diagnostic;
use crate::isa::modifiers::Modifiers;
use crate::isa::types::{Class, ScalarType};

impl<'s> FunctionDecoder<'_, 's> {
    /// `cvta` and `mov` sources: the address of a variable, or a register that holds one.
    pub(super) fn address_value(&mut self, operand: &ast::Operand<'s>, ty: ScalarType) -> Result<Operand> {
        let (name, offset) = match operand {
            ast::Operand::Name { name, suffix: None } => (*name, 0),
            ast::Operand::Constant(ast::Constant::Address { symbol, offset, generic: false, mask: None }, _) => {
                (*symbol, *offset)
            }
            ast::Operand::Element { name, offset, .. } => (*name, self.element_offset(*name, *offset)?),
            other => return self.source(other, ty, ScalarType::fits),
        };
        if !matches!(ty.bits(), 32 | 64) {
            return Err(Diagnostic::invalid(format!("an address does not fit {ty}"), operand.span()));
        }
        match self.resolve(name)? {
            Symbol::Variable(variable) => Ok(Operand::AddressOf(Base::Variable(variable), offset)),
            Symbol::Param(param) if self.param_type(param)?.class() == Class::Opaque && offset == 0 => {
                Ok(Operand::Handle(param))
            }
            Symbol::Param(param) => {
                self.take_address(param, name.span)?;
                Ok(Operand::AddressOf(Base::Param(param), offset))
            }
            Symbol::Function(function) if offset == 0 => Ok(Operand::FunctionAddress(function)),
            Symbol::Function(_) => Err(Diagnostic::invalid("an offset from a function's address", name.span)),
            _ => self.source(operand, ty, ScalarType::fits),
        }
    }

    pub(super) fn address(&mut self, operand: &ast::Operand<'s>) -> Result<Operand> {
        let (base, offset) = match operand {
            ast::Operand::Address { base, offset, more, span } => {
                if !more.is_empty() {
                    return Err(Diagnostic::invalid("a plain address is needed here", *span));
                }
                (base.as_ref(), *offset)
            }
            element @ ast::Operand::Element { .. } => (element, 0),
            other => return Err(Diagnostic::invalid("expected an address in brackets", other.span())),
        };
        let (base, more) = self.address_base(base)?;
        Ok(Operand::Address(base, offset.wrapping_add(more)))
    }

    fn address_base(&mut self, base: &ast::Operand<'s>) -> Result<(Base, i64)> {
        match base {
            ast::Operand::Name { name, suffix: None } => match self.resolve(*name)? {
                Symbol::Reg(reg) => {
                    let ty = self.register_type(reg)?;
                    if matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits)
                        && matches!(ty.bits(), 32 | 64)
                    {
                        return Ok((Base::Reg(reg), 0));
                    }
                    Err(Diagnostic::invalid(
                        format!("register `{}` of type {ty} can't hold an address", name.text),
                        name.span,
                    ))
                }
                Symbol::Variable(variable) if self.variable_type(variable)?.class() == Class::Opaque => {
                    Err(Diagnostic::invalid(format!("`{}` is not in memory", name.text), name.span))
                }
                Symbol::Param(param) if self.param_type(param)?.class() == Class::Opaque => {
                    Err(Diagnostic::invalid(format!("`{}` is not in memory", name.text), name.span))
                }
                Symbol::Variable(variable) => Ok((Base::Variable(variable), 0)),
                Symbol::Param(param) => Ok((Base::Param(param), 0)),
                _ => {
                    Err(Diagnostic::invalid(format!("`{}` is neither a register nor a variable", name.text), name.span))
                }
            },
            ast::Operand::Element { name, offset, .. } => {
                let offset = self.element_offset(*name, *offset)?;
                let (base, more) = self.address_base(&ast::Operand::Name { name: *name, suffix: None })?;
                Ok((base, offset.wrapping_add(more)))
            }
            ast::Operand::Constant(ast::Constant::Int { bits, .. }, _) => Ok((Base::Absolute, bits.cast_signed())),
            ast::Operand::Constant(ast::Constant::Address { symbol, offset, generic: false, mask: None }, _) => {
                let (base, more) = self.address_base(&ast::Operand::Name { name: *symbol, suffix: None })?;
                Ok((base, offset.wrapping_add(more)))
            }
            other => Err(Diagnostic::invalid("expected a register, variable or constant as an address", other.span())),
        }
    }

    /// Byte offset of element number `index` of a variable (PTX section 6.4.2).
    fn element_offset(&mut self, name: ast::Ident<'s>, index: i64) -> Result<i64> {
        let bytes = match self.resolve(name)? {
            Symbol::Variable(variable) => self.variable_type(variable)?.bytes(),
            Symbol::Param(param) => self.param_type(param)?.bytes(),
            _ => return Err(Diagnostic::invalid(format!("`{}` has no elements", name.text), name.span)),
        };
        index.checked_mul(i64::from(bytes)).ok_or_else(|| Diagnostic::invalid("this index is too large", name.span))
    }

    /// `[map, {x, y}]`: the map's address, then the coordinates.
    pub(super) fn tensor_place(&mut self, operand: &ast::Operand<'s>, modifiers: &Modifiers) -> Result<Operand> {
        let refuse = || Err(Diagnostic::invalid("expected a tensor map and coordinates in brackets", operand.span()));
        let ast::Operand::Address { base, offset, more, span } = operand else { return refuse() };
        let [vector] = more.as_slice() else { return refuse() };
        let plain = ast::Operand::Address { base: base.clone(), offset: *offset, more: Vec::new(), span: *span };
        let mut parts = vec![self.address(&plain)?];
        let count = super::coordinates(modifiers, operand)?;
        let Operand::Vector(coordinates) = self.vector(vector, ScalarType::S32, ScalarType::fits, count, false)? else {
            return refuse();
        };
        parts.extend(coordinates);
        Ok(Operand::List(parts))
    }
}
