//! Sizes, alignments and initial contents of variables.

use super::constants::immediate;
use super::program::{InitPiece, InitValue, Passed, VarId, Variable};
use super::references;
use super::scope::Symbol;
use crate::ast::{self, StateSpace};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::types::{Class, ScalarType};

/// The largest variable in memory: 2^40 bytes, so that offsets never overflow.
const MAX_SIZE: u64 = 1 << 40;

/// The most names that one declaration numbers, of variables in memory.
const MAX_NUMBERED: u32 = 1 << 16;

/// The largest alignment: a mebibyte.
const MAX_ALIGN: u32 = 1 << 20;

pub(super) fn element_type(variable: &ast::Variable<'_>) -> Result<ScalarType, Diagnostic> {
    ScalarType::from_name(variable.ty.text)
        .filter(|ty| ty.class() != Class::Element)
        .ok_or_else(|| Diagnostic::invalid(format!("`.{}` is not a type", variable.ty.text), variable.ty.span))
}

/// Refuses registers of types that registers can't have.
pub(super) fn check_register(variable: &ast::Variable<'_>, ty: ScalarType) -> Result<(), Diagnostic> {
    if !variable.dims.is_empty() {
        return Err(Diagnostic::invalid("registers have no arrays", variable.span));
    }
    if ty.class() == Class::Opaque {
        return Err(Diagnostic::unsupported(format!("registers of type {ty}"), variable.span));
    }
    check_vector(variable, ty)
}

/// Refuses vectors that are longer than those of PTX section 5.4.2.
fn check_vector(variable: &ast::Variable<'_>, ty: ScalarType) -> Result<(), Diagnostic> {
    let fits = ty != ScalarType::Pred && variable.vector <= 4 && ty.bits().saturating_mul(variable.vector) <= 128;
    if fits || variable.vector == 1 {
        return Ok(());
    }
    let message = format!("there are no vectors of {} elements of type {ty}", variable.vector);
    Err(Diagnostic::invalid(message, variable.span))
}

/// The names that a variable in memory declares: one, or those of a range such as `name<4>` (PTX section 5.4.6).
pub(super) fn names(variable: &ast::Variable<'_>, name: ast::Ident<'_>) -> Result<Vec<String>, Diagnostic> {
    let Some(count) = variable.range else { return Ok(vec![name.text.to_owned()]) };
    if !variable.dims.is_empty() || variable.init.is_some() {
        let message = "numbered names declare neither arrays nor initial values";
        return Err(Diagnostic::invalid(message, variable.span));
    }
    if count > MAX_NUMBERED {
        let message = format!("more than {MAX_NUMBERED} numbered variables");
        return Err(Diagnostic::unsupported(message, variable.span));
    }
    Ok((0..count).map(|number| format!("{}{number}", name.text)).collect())
}

/// Refuses initial content where PTX has none (PTX section 5.4.4).
pub(super) fn check_initialiser(variable: &ast::Variable<'_>) -> Result<(), Diagnostic> {
    if variable.init.is_some() && !matches!(variable.space, StateSpace::Global | StateSpace::Const | StateSpace::Tex) {
        let message = format!("only global and constant variables have initial values, `.{}` has none", variable.space);
        return Err(Diagnostic::invalid(message, variable.span));
    }
    if variable.init.is_some() && variable.linkage == Some(ast::Linkage::Extern) {
        return Err(Diagnostic::invalid("a variable of another module has no initial value here", variable.span));
    }
    Ok(())
}

/// Size in bytes; `None` for an array without a size. A leading `[]` takes its size from the initialiser.
pub(super) fn size_of(variable: &ast::Variable<'_>, ty: ScalarType) -> Result<Option<u64>, Diagnostic> {
    check_vector(variable, ty)?;
    let mut size = u64::from(ty.bytes()) * u64::from(variable.vector);
    for (position, dim) in variable.dims.iter().enumerate() {
        let count = match (dim, &variable.init) {
            (Some(count), _) => *count,
            (None, _) if position > 0 => {
                return Err(Diagnostic::invalid("only an array's first dimension can lack a size", variable.span));
            }
            (None, Some(ast::Init::List(list, _))) if !list.is_empty() => list.len() as u64,
            (None, _) => return Ok(None),
        };
        size = size
            .checked_mul(count)
            .filter(|size| *size <= MAX_SIZE)
            .ok_or_else(|| Diagnostic::invalid("this variable is larger than a terabyte", variable.span))?;
    }
    Ok(Some(size))
}

/// The number of parameters that a parameter or result as written stands for: in a vector of registers, one for each of
/// them.
pub(super) fn registers_of(variable: &ast::Variable<'_>) -> usize {
    if variable.space == StateSpace::Reg { variable.vector as usize } else { 1 }
}

/// The ways in which a function's parameters or results are passed.
pub(super) fn passed(variables: &[ast::Variable<'_>]) -> Result<Vec<Passed>, Diagnostic> {
    let mut all = Vec::new();
    for variable in variables {
        let ty = element_type(variable)?;
        let register = variable.space == StateSpace::Reg;
        let scalar = (variable.dims.is_empty() && (register || variable.vector == 1)).then_some(ty);
        let whole = size_of(variable, ty)?;
        let size = if register { Some(ty.bytes().into()) } else { whole };
        let passed = Passed { scalar, bytes: size.unwrap_or(0), register, open: size.is_none() };
        all.extend(std::iter::repeat_n(passed, registers_of(variable)));
    }
    Ok(all)
}

/// Alignment in bytes: the declared one, else that of the whole vector.
pub(super) fn align_of(variable: &ast::Variable<'_>, ty: ScalarType) -> Result<u32, Diagnostic> {
    let natural = ty.bytes().saturating_mul(variable.vector);
    match variable.align.unwrap_or(natural).max(1).checked_next_power_of_two() {
        Some(align) if align <= MAX_ALIGN => Ok(align),
        _ => Err(Diagnostic::unsupported(format!("alignments of more than {MAX_ALIGN} bytes"), variable.span)),
    }
}

/// The initial content in pieces. `find` resolves names of variables.
pub(super) fn initial_content(
    variable: &ast::Variable<'_>,
    ty: ScalarType,
    find: &dyn Fn(&str) -> Option<Symbol>,
) -> Result<Vec<InitPiece>, Diagnostic> {
    if ty.class() == Class::Opaque {
        return references::initial_record(variable);
    }
    let Some(init) = &variable.init else { return Ok(Vec::new()) };
    let mut pieces = Vec::new();
    let mut rooms: Vec<_> = variable.dims.iter().map(|dim| dim.unwrap_or(u64::MAX)).collect();
    if variable.vector > 1 {
        rooms.push(variable.vector.into());
    }
    Filler { ty, vector: variable.vector.into(), next: 0, find, pieces: &mut pieces }.fill(init, &rooms)?;
    Ok(pieces)
}

/// Places the values of an initialiser one behind the other, as NVIDIA's assembler does: elements that an inner list
/// lacks are not left free.
struct Filler<'a> {
    ty: ScalarType,
    /// Elements of a vector.
    vector: u64,
    /// Offset of the next value.
    next: u64,
    find: &'a dyn Fn(&str) -> Option<Symbol>,
    pieces: &'a mut Vec<InitPiece>,
}

impl Filler<'_> {
    /// Writes one level of an initialiser: each dimension of an array, and a vector, has braces of its own, with room for so many values.
    fn fill(&mut self, init: &ast::Init<'_>, rooms: &[u64]) -> Result<(), Diagnostic> {
        match (init, rooms) {
            (ast::Init::Scalar(constant, span), []) => self.value(constant, *span),
            (ast::Init::Scalar(_, span), [..]) => {
                Err(Diagnostic::invalid("the initial values of an array or a vector stand in braces", *span))
            }
            (ast::Init::Property { span, .. }, _) => Err(Diagnostic::invalid("only references have properties", *span)),
            (ast::Init::List(_, span), []) => {
                Err(Diagnostic::invalid("braces nest deeper than the variable's dimensions", *span))
            }
            (ast::Init::List(list, span), [room, rest @ ..]) => {
                let count = list.len() as u64;
                if self.vector > 1 && rest.is_empty() && count != self.vector {
                    let message = format!("a vector of {} has {count} initial values", self.vector);
                    return Err(Diagnostic::invalid(message, *span));
                }
                if count > *room {
                    return Err(Diagnostic::invalid("more initial values than the variable has room for", *span));
                }
                list.iter().try_for_each(|element| self.fill(element, rest))
            }
        }
    }

    fn value(&mut self, constant: &ast::Constant<'_>, span: Span) -> Result<(), Diagnostic> {
        let value = match *constant {
            ast::Constant::Address { symbol, offset, mask, .. } => {
                // PTX section 5.4.4.
                let fits = match mask {
                    Some(_) => self.ty == ScalarType::U8,
                    None => matches!(self.ty, ScalarType::U32 | ScalarType::U64),
                };
                if !fits {
                    let message = format!("the address of `{}` does not fit {}", symbol.text, self.ty);
                    return Err(Diagnostic::invalid(message, span));
                }
                let shift = match mask {
                    None => 0,
                    Some(mask) => mask_shift(mask)
                        .ok_or_else(|| Diagnostic::invalid("a mask must select whole bytes of an address", span))?,
                };
                match (self.find)(symbol.text) {
                    Some(Symbol::Variable(variable)) => InitValue::Address { variable, offset, shift },
                    Some(Symbol::Function(function)) if offset == 0 => InitValue::Function { function, shift },
                    Some(_) => return Err(unknown_address(symbol.text, symbol.span)),
                    None => {
                        let message = format!("`{}` is not declared", symbol.text);
                        return Err(Diagnostic::invalid(message, symbol.span));
                    }
                }
            }
            constant => InitValue::Bits(initial_bits(constant, self.ty, span)?),
        };
        let bytes = self.ty.bytes();
        // What 128 bits have above a constant's 64 is zero.
        self.pieces.push(InitPiece { offset: self.next, size: u8::try_from(bytes.min(8)).unwrap_or(8), value });
        self.next += u64::from(bytes);
        Ok(())
    }
}

/// The bits of an initial value. Unlike instructions, variables of bits take all numbers, of which NVIDIA's assembler keeps the lowest bits.
fn initial_bits(constant: ast::Constant<'_>, ty: ScalarType, span: Span) -> Result<u64, Diagnostic> {
    match (constant, ty.class()) {
        (_, Class::Packed) => Err(Diagnostic::invalid(format!("variables of type {ty} have no initial values"), span)),
        (ast::Constant::F64(_), Class::Bits) if ty == ScalarType::B32 => immediate(constant, ScalarType::F32, span),
        (ast::Constant::F32(bits), Class::Bits) => Ok(bits.into()),
        (ast::Constant::F64(bits) | ast::Constant::Int { bits, .. }, Class::Bits) => Ok(bits),
        _ => immediate(constant, ty, span),
    }
}

/// Refuses initial values that are addresses of variables in memory of blocks or threads (PTX section 5.4.4); else gives them back.
pub(super) fn check_addresses<'v>(
    content: Vec<InitPiece>,
    find: impl Fn(VarId) -> Option<&'v Variable>,
    span: Span,
) -> Result<Vec<InitPiece>, Diagnostic> {
    let mut targets = content.iter().filter_map(InitPiece::target).filter_map(find);
    match targets.find(|target| !matches!(target.space, StateSpace::Global | StateSpace::Const)) {
        Some(target) => {
            let message =
                format!("the address of `{}`, which lies in `.{}`, as an initial value", target.name, target.space);
            Err(Diagnostic::invalid(message, span))
        }
        None => Ok(content),
    }
}

/// Refuses an initial value that is the address of something which has none before a kernel runs.
pub(super) fn unknown_address(name: &str, span: Span) -> Diagnostic {
    Diagnostic::unsupported(format!("the address of `{name}` as an initial value"), span)
}

/// Right shift of a `0xFF00(…)` operator: the mask is one byte of an address.
fn mask_shift(mask: u64) -> Option<u8> {
    (0..8u8).map(|byte| byte * 8).find(|shift| mask == 0xff << shift)
}
