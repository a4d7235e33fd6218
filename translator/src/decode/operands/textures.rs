//! Operands of `tex`, `tld4` and surface instructions: names of textures, samplers and surfaces, and vectors of
//! coordinates.

use super::{Fits, Result, untyped};
use crate::ast;
use crate::decode::function::FunctionDecoder;
use crate::decode::program::{Base, Operand};
use crate::decode::scope::Symbol;
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::modifiers::{Geometry, Modifiers};
use crate::isa::types::{Class, ScalarType};
use crate::isa::word::Word;

/// The dimensions that the modifiers name.
fn geometry(modifiers: &Modifiers, operand: &ast::Operand<'_>) -> Result<Geometry> {
    let refuse = || Diagnostic::internal("a texture or surface whose row names no dimensions", operand.span());
    modifiers.geometry().ok_or_else(refuse)
}

/// Whether a register fits as a texel or coordinate: an integer register fits a float too, but not the reverse.
fn fits(found: ScalarType, wanted: ScalarType) -> bool {
    found.fits(wanted) || (matches!(wanted, ScalarType::F32 | ScalarType::F16) && as_wide(found, wanted))
}

/// Whether a register may stand for another of its width.
fn as_wide(found: ScalarType, wanted: ScalarType) -> bool {
    found.bits() == wanted.bits() && (found == ScalarType::Pred) == (wanted == ScalarType::Pred)
}

impl<'s> FunctionDecoder<'_, 's> {
    /// `{d}|p, [texture, sampler, {c}], level or gradients, offset, comparison` become a pair of destinations, a list
    /// of the handles and the coordinates, and the rest in seven places, `_` for missing operands.
    pub(super) fn texture_operands(
        &mut self,
        instruction: &ast::Instruction<'s>,
        modifiers: &Modifiers,
    ) -> Result<Vec<Operand>> {
        let [destination, place, rest @ ..] = instruction.operands.as_slice() else {
            return Err(Diagnostic::invalid("a destination and a texture are needed", instruction.span));
        };
        let geometry = geometry(modifiers, place)?;
        let dimensions = geometry.dimensions();
        let by = modifiers.ty(1).ok_or_else(|| untyped(place))?;
        let destination = self.texture_destination(destination, modifiers)?;
        let place = self.texture_place(place, geometry, by)?;
        let mut rest = rest.iter();
        let mut needed =
            |what: &str| rest.next().ok_or_else(|| Diagnostic::invalid(format!("{what} is missing"), instruction.span));
        let mut level = Operand::Sink;
        let mut gradients = [Operand::Sink, Operand::Sink];
        if modifiers.has(Word::Level) {
            level = self.source(needed("the level")?, by, ScalarType::fits)?;
        } else if modifiers.has(Word::Grad) {
            for gradient in &mut gradients {
                let written = needed("a gradient")?;
                if !self.is_vector(written) {
                    return Err(Diagnostic::invalid("a gradient is a vector", written.span()));
                }
                *gradient = self.coordinates(written, &vec![ScalarType::F32; dimensions], ScalarType::fits)?;
                let count = dimensions.next_power_of_two();
                if self.parts(written).len() != count {
                    let message = format!("a gradient on {} has {count} elements", geometry.word());
                    return Err(Diagnostic::invalid(message, written.span()));
                }
            }
        }
        let mut next = rest.next();
        let offset = match next {
            Some(written) if self.is_vector(written) => {
                if geometry.is_cube() {
                    return Err(Diagnostic::invalid("an offset in a cube", written.span()));
                }
                next = rest.next();
                self.coordinates(written, &vec![ScalarType::S32; dimensions], fits)?
            }
            _ => Operand::Sink,
        };
        let compared = match next {
            Some(written) if geometry == Geometry::D3 || by != ScalarType::F32 => {
                let message = format!("a depth to compare with on {} with coordinates of {by}", geometry.word());
                return Err(Diagnostic::invalid(message, written.span()));
            }
            Some(written) => self.source(written, ScalarType::F32, fits)?,
            None => Operand::Sink,
        };
        if let Some(surplus) = rest.next() {
            return Err(Diagnostic::invalid("an operand too many", surplus.span()));
        }
        let [along_x, along_y] = gradients;
        Ok(vec![destination, place, level, along_x, along_y, offset, compared])
    }

    /// `{d0, d1, d2, d3}|p`
    fn texture_destination(&mut self, operand: &ast::Operand<'s>, modifiers: &Modifiers) -> Result<Operand> {
        let (vector, predicate) = match operand {
            ast::Operand::Pair(pair, _) => (&pair[0], Some(&pair[1])),
            vector => (vector, None),
        };
        let ty = modifiers.ty(0).ok_or_else(|| untyped(vector))?;
        let vector = self.vector(vector, ty, fits, modifiers.elements(), true)?;
        let predicate = match predicate {
            Some(predicate) => self.destination_or_sink(predicate, ScalarType::Pred, ScalarType::fits)?,
            None => Operand::Sink,
        };
        Ok(Operand::Pair(Box::new([vector, predicate])))
    }

    /// `[texture, {c}]` or `[texture, sampler, {c}]` become texture, sampler or `_`, coordinates.
    fn texture_place(&mut self, operand: &ast::Operand<'s>, geometry: Geometry, by: ScalarType) -> Result<Operand> {
        let ast::Operand::Address { base, offset: 0, more, span } = operand else {
            return Err(Diagnostic::invalid("expected a texture and coordinates in brackets", operand.span()));
        };
        let texture = self.handle(base, &[ScalarType::TexRef])?;
        let (sampler, coordinates) = match more.as_slice() {
            [coordinates] => (Operand::Sink, coordinates),
            [sampler, coordinates] => {
                (self.handle(sampler, &[ScalarType::SamplerRef, ScalarType::TexRef])?, coordinates)
            }
            _ => return Err(Diagnostic::invalid("expected a texture and coordinates in brackets", *span)),
        };
        let coordinates = self.coordinates(coordinates, &coordinate_types(geometry, by), fits)?;
        let mut all = vec![texture, sampler];
        if let Operand::List(coordinates) = coordinates {
            all.extend(coordinates);
        }
        Ok(Operand::List(all))
    }

    /// `[surface, {c}]` becomes the surface and the coordinates.
    pub(super) fn surface_place(&mut self, operand: &ast::Operand<'s>, modifiers: &Modifiers) -> Result<Operand> {
        let ast::Operand::Address { base, offset: 0, more, span } = operand else {
            return Err(Diagnostic::invalid("expected a surface and coordinates in brackets", operand.span()));
        };
        let [coordinates] = more.as_slice() else {
            return Err(Diagnostic::invalid("expected a surface and coordinates in brackets", *span));
        };
        let surface = self.handle(base, &[ScalarType::SurfRef])?;
        let types = coordinate_types(geometry(modifiers, operand)?, ScalarType::S32);
        // As ptxas has it, a coordinate alone is no pair of halves, and one of several may be.
        let fits = if types.len() == 1 { ScalarType::fits_fixed } else { ScalarType::fits };
        let mut all = vec![surface];
        if let Operand::List(coordinates) = self.coordinates(coordinates, &types, fits)? {
            all.extend(coordinates);
        }
        Ok(Operand::List(all))
    }

    /// `[a]` of `txq` and `suq`.
    pub(super) fn queried(&mut self, operand: &ast::Operand<'s>, types: &[ScalarType]) -> Result<Operand> {
        match operand {
            ast::Operand::Address { base, offset: 0, more, .. } if more.is_empty() => self.handle(base, types),
            other => Err(Diagnostic::invalid("expected a handle or reference in brackets", other.span())),
        }
    }

    /// A reference of one of these types, or a register with a handle.
    fn handle(&mut self, operand: &ast::Operand<'s>, types: &[ScalarType]) -> Result<Operand> {
        let wanted = || types.iter().map(|ty| format!("`{ty}`, ")).collect::<String>();
        let refuse = |span: Span| {
            let message = format!("expected {}or a 64-bit register with a handle", wanted());
            Err(Diagnostic::invalid(message, span))
        };
        let ast::Operand::Name { name, suffix: None } = operand else { return refuse(operand.span()) };
        match self.resolve(*name)? {
            Symbol::Variable(variable) if types.contains(&self.variable_type(variable)?) => {
                Ok(Operand::AddressOf(Base::Variable(variable), 0))
            }
            Symbol::Param(param) if types.contains(&self.param_type(param)?) => Ok(Operand::Handle(param)),
            Symbol::Reg(register) => {
                let ty = self.register_type(register)?;
                let holds = ty.bits() == 64 && matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits);
                if holds { Ok(Operand::Reg(register)) } else { refuse(name.span) }
            }
            _ => refuse(name.span),
        }
    }

    /// A vector of 1, 2 or 4 elements, or a scalar in place of one, whose first elements have these types. The other
    /// elements are padding.
    fn coordinates(&mut self, operand: &ast::Operand<'s>, types: &[ScalarType], fits: Fits) -> Result<Operand> {
        let elements = self.parts(operand);
        let least = if types.len() == 3 { 4 } else { types.len() };
        if elements.len() < least || !matches!(elements.len(), 1 | 2 | 4) {
            let message = format!("a vector of {least} is needed here, {} elements are given", elements.len());
            return Err(Diagnostic::invalid(message, operand.span()));
        }
        let padding = types.iter().rev().take(1).cycle();
        // As ptxas has it, a layer beside floats is no float and no pair of halves.
        let has_floats = types.iter().any(|ty| ty.is_float());
        let mut decoded = Vec::new();
        for (element, ty) in elements.iter().zip(types.iter().chain(padding)) {
            let fits = match ty {
                ScalarType::U32 if has_floats => ScalarType::fits_fixed,
                ScalarType::U32 => ScalarType::fits,
                _ => fits,
            };
            decoded.push(self.source(element, *ty, fits)?);
        }
        decoded.truncate(types.len());
        Ok(Operand::List(decoded))
    }

    /// The elements of a vector, or an operand that stands alone.
    fn parts(&mut self, operand: &ast::Operand<'s>) -> Vec<ast::Operand<'s>> {
        match operand {
            ast::Operand::Vector(elements, _) => elements.clone(),
            other => match self.vector_register(other) {
                Some(vector) => vector.elements().collect(),
                None => vec![other.clone()],
            },
        }
    }

    fn is_vector(&mut self, operand: &ast::Operand<'s>) -> bool {
        matches!(operand, ast::Operand::Vector(..)) || self.vector_register(operand).is_some()
    }
}

/// Types of a geometry's coordinates, the sample first, then the layer.
fn coordinate_types(geometry: Geometry, ty: ScalarType) -> Vec<ScalarType> {
    let sample = geometry.is_multisampled().then_some(ScalarType::U32);
    let layer = geometry.is_layered().then_some(ScalarType::U32);
    sample.into_iter().chain(layer).chain(std::iter::repeat_n(ty, geometry.dimensions())).collect()
}
