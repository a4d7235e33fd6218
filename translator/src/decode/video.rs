//! Operands of video instructions (PTX section 9.7.17): registers with selectors and signs. See the table in
//! [`super::operands`].

use super::constants::immediate;
use super::function::FunctionDecoder;
use super::operands::Fits;
use super::program::{Operand, Parts, Selected};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::isa::types::ScalarType;

impl<'s> FunctionDecoder<'_, 's> {
    /// An operand of one of the roles with a dot.
    pub(super) fn video_operand(
        &mut self,
        operand: &ast::Operand<'s>,
        role: &str,
        ty: ScalarType,
        fits: Fits,
    ) -> Result<Operand, Diagnostic> {
        let (negatable, role) = match role.strip_prefix('-') {
            Some(role) => (true, role),
            None => (false, role),
        };
        let (name, suffix, negated) = match operand {
            ast::Operand::Name { name, suffix } => (*name, *suffix, false),
            ast::Operand::Negate { name, suffix } if negatable => (*name, *suffix, true),
            ast::Operand::Constant(constant, span) if matches!(role, "a.s" | "c.s") => {
                return Ok(Operand::Imm(immediate(*constant, ty, *span)?));
            }
            other => return Err(Diagnostic::invalid(format!("expected a register of type {ty}"), other.span())),
        };
        let Operand::Reg(register) = self.register(name, None, ty, fits)? else {
            return Err(Diagnostic::internal("a register that is none", name.span));
        };
        let parts = match suffix {
            None => None,
            Some(suffix) => match Parts::parse(suffix.text).filter(|parts| selects(role, parts)) {
                None => {
                    let message = format!("selector `.{}` is not allowed here", suffix.text);
                    return Err(Diagnostic::invalid(message, suffix.span));
                }
                parts => parts,
            },
        };
        Ok(Operand::Video(Box::new(Selected { register, parts, negated })))
    }
}

/// Whether an operand of that role may have the selector.
fn selects(role: &str, parts: &Parts) -> bool {
    let Parts { bits, numbers } = parts;
    let below = |limit| numbers.iter().all(|number| *number < limit);
    let ascending = || numbers.is_sorted_by(|low, high| low < high);
    match role {
        "d.s" | "a.s" => numbers.len() == 1 && below(32 / bits),
        "d.h" => *bits == 16 && below(2) && ascending(),
        "d.b" => *bits == 8 && below(4) && ascending(),
        "a.h" => *bits == 16 && below(4) && numbers.len() == 2,
        "a.b" => *bits == 8 && below(8) && numbers.len() == 4,
        _ => false,
    }
}
