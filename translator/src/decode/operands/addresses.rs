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
            ast::Operand::Element { name, register, number, .. } => {
                if !matches!(ty.bits(), 32 | 64) {
                    return Err(Diagnostic::invalid(format!("an address does not fit {ty}"), operand.span()));
                }
                let (base, offset) = self.array_element(*name, *register, *number)?;
                if let Base::Param(param) = base {
                    self.take_address(param, name.span)?;
                }
                return Ok(Operand::AddressOf(base, offset));
            }
            ast::Operand::Name { name, suffix: None } => (*name, 0),
            ast::Operand::Constant(ast::Constant::Address { symbol, offset, generic: false, mask: None }, _) => {
                (*symbol, *offset)
            }
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
                // As ptxas has it: an index in a register stands for the brackets.
                if let ast::Operand::Element { register: Some(register), .. } = base.as_ref() {
                    return Err(Diagnostic::invalid(
                        "a constant is needed as the index of an address in brackets",
                        register.span,
                    ));
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
                    if matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits) && ty.bits() <= 64 {
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
            ast::Operand::Element { name, register, number, .. } => self.array_element(*name, *register, *number),
            ast::Operand::Constant(ast::Constant::Int { bits, .. }, _) => Ok((Base::Absolute, bits.cast_signed())),
            ast::Operand::Constant(ast::Constant::Address { symbol, offset, generic: false, mask: None }, _) => {
                let (base, more) = self.address_base(&ast::Operand::Name { name: *symbol, suffix: None })?;
                Ok((base, offset.wrapping_add(more)))
            }
            other => Err(Diagnostic::invalid("expected a register, variable or constant as an address", other.span())),
        }
    }

    /// The address of element number `register` + `number` of a variable (PTX section 6.4.2).
    fn array_element(
        &mut self,
        name: ast::Ident<'s>,
        register: Option<ast::Ident<'s>>,
        number: i64,
    ) -> Result<(Base, i64)> {
        let refuse = |message: &str| Err(Diagnostic::invalid(format!("`{}` {message}", name.text), name.span));
        let (base, ty) = match self.resolve(name)? {
            Symbol::Variable(variable) => (Base::Variable(variable), self.variable_type(variable)?),
            Symbol::Param(param) => (Base::Param(param), self.param_type(param)?),
            _ => return refuse("has no elements"),
        };
        if ty.class() == Class::Opaque {
            return refuse("is not in memory");
        }
        let offset = number.checked_mul(i64::from(ty.bytes()));
        let offset = offset.ok_or_else(|| Diagnostic::invalid("this index is too large", name.span))?;
        let Some(register) = register else { return Ok((base, offset)) };
        let Base::Variable(variable) = base else {
            return refuse("is a parameter, whose elements can't be chosen by a register");
        };
        let Symbol::Reg(index) = self.resolve(register)? else {
            return Err(Diagnostic::invalid(format!("`{}` is not a register", register.text), register.span));
        };
        let index_type = self.register_type(index)?;
        let constants = match (index_type.class(), index_type.bits()) {
            (Class::Unsigned | Class::Signed | Class::Bits, 32 | 64) => i64::MIN..=i64::MAX,
            (Class::Unsigned | Class::Bits, 16) => 0..=u16::MAX.into(),
            // CUDA gives larger constants a sign.
            (Class::Signed, 16) => 0..=i16::MAX.into(),
            _ => {
                let message = format!("register `{}` of type {index_type} can't be an index", register.text);
                return Err(Diagnostic::invalid(message, register.span));
            }
        };
        if !constants.contains(&number) {
            let message = format!("{number} does not fit the type {index_type} of the index `{}`", register.text);
            return Err(Diagnostic::invalid(message, register.span));
        }
        Ok((Base::Element { variable, index, bytes: ty.bytes() }, offset))
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
