//! Operands that are vectors: lists of elements, and vectors of registers by their names.

use super::{Fits, Result};
use crate::ast;
use crate::decode::function::FunctionDecoder;
use crate::decode::program::{Operand, Reg};
use crate::decode::scope::Symbol;
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::types::ScalarType;

/// A vector of registers by its name.
pub(super) struct VectorRegister<'s> {
    name: ast::Ident<'s>,
    first: Reg,
    width: u32,
}

impl<'s> VectorRegister<'s> {
    pub(super) fn width(&self) -> usize {
        self.width as usize
    }

    /// Its elements by their names.
    pub(super) fn elements(&self) -> impl Iterator<Item = ast::Operand<'s>> {
        let VectorRegister { name, .. } = *self;
        let elements = ["x", "y", "z", "w"].into_iter().take(self.width());
        elements.map(move |text| ast::Operand::Name { name, suffix: Some(ast::Ident { text, span: name.span }) })
    }
}

impl<'s> FunctionDecoder<'_, 's> {
    pub(super) fn vector(
        &mut self,
        operand: &ast::Operand<'s>,
        ty: ScalarType,
        fits: Fits,
        wanted: usize,
        destination: bool,
    ) -> Result<Operand> {
        match operand {
            ast::Operand::Vector(elements, span) if elements.len() == wanted => {
                self.elements(elements, *span, ty, fits, destination)
            }
            ast::Operand::Vector(elements, span) => {
                let message = format!("a vector of {wanted} is needed here, {} elements are given", elements.len());
                Err(Diagnostic::invalid(message, *span))
            }
            scalar if wanted == 1 => {
                let only =
                    if destination { self.destination(scalar, ty, fits)? } else { self.source(scalar, ty, fits)? };
                Ok(Operand::Vector(vec![only]))
            }
            other => match self.vector_register(other) {
                Some(vector) if vector.width() == wanted => self.registers_of(&vector, ty, fits),
                _ => {
                    if let ast::Operand::Name { name, .. } = other {
                        self.resolve(*name)?;
                    }
                    Err(Diagnostic::invalid(format!("a vector of {wanted} is needed here"), other.span()))
                }
            },
        }
    }

    /// A vector that has braces even if it has one element alone.
    pub(super) fn braced(
        &mut self,
        operand: &ast::Operand<'s>,
        ty: ScalarType,
        wanted: usize,
        destination: bool,
    ) -> Result<Operand> {
        if wanted == 1 && !matches!(operand, ast::Operand::Vector(..)) {
            return Err(Diagnostic::invalid("a vector of 1 is needed here", operand.span()));
        }
        self.vector(operand, ty, ScalarType::fits, wanted, destination)
    }

    /// A vector of registers that stands there as a whole.
    pub(super) fn vector_register(&mut self, operand: &ast::Operand<'s>) -> Option<VectorRegister<'s>> {
        let ast::Operand::Name { name, suffix: None } = operand else { return None };
        match self.lookup(name.text) {
            Some(Symbol::Vector(first, width)) => Some(VectorRegister { name: *name, first, width }),
            _ => None,
        }
    }

    pub(super) fn registers_of(&self, vector: &VectorRegister<'s>, ty: ScalarType, fits: Fits) -> Result<Operand> {
        let Reg(first) = vector.first;
        let registers = (first..first.saturating_add(vector.width)).map(Reg);
        let elements = registers.map(|register| self.fitting(register, vector.name, ty, fits));
        Ok(Operand::Vector(elements.collect::<Result<_>>()?))
    }

    /// The elements of a vector; of destinations, not all may be `_`.
    pub(super) fn elements(
        &mut self,
        elements: &[ast::Operand<'s>],
        span: Span,
        ty: ScalarType,
        fits: Fits,
        destination: bool,
    ) -> Result<Operand> {
        if destination && elements.iter().all(|element| matches!(element, ast::Operand::Sink(_))) {
            return Err(Diagnostic::invalid("a destination must have a register", span));
        }
        let elements = elements.iter().map(|element| {
            if destination {
                self.destination_or_sink(element, ty, fits)
            } else {
                self.source_or_special(element, ty, fits)
            }
        });
        Ok(Operand::Vector(elements.collect::<Result<_>>()?))
    }
}
