//! Constants as the bits of a type.

use crate::ast;
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::types::{Class, ScalarType};

/// The bits of a constant in a type, zero-extended. Integers have 64 bits and are cut to the type (PTX section 4.5.1).
pub(super) fn immediate(constant: ast::Constant<'_>, ty: ScalarType, span: Span) -> Result<u64, Diagnostic> {
    let refuse = |what: &str| Err(Diagnostic::invalid(format!("{what} is not a constant of type {ty}"), span));
    match (constant, ty.class()) {
        (ast::Constant::Int { bits, .. }, Class::Predicate) => Ok(u64::from(bits != 0)),
        (ast::Constant::Int { .. }, Class::Float | Class::Packed) => refuse("an integer"),
        (ast::Constant::Int { bits, unsigned }, _) => {
            let width = ty.bits();
            if width > 64 && !unsigned && bits.cast_signed() < 0 {
                return Err(Diagnostic::unsupported(format!("a negative constant of type {ty}"), span));
            }
            Ok(if width >= 64 { bits } else { bits & ((1 << width) - 1) })
        }
        (ast::Constant::F32(bits), _) => match ty {
            // In double precision too, NVIDIA's assembler keeps the bits.
            ScalarType::F32 | ScalarType::B32 | ScalarType::F64 => Ok(u64::from(bits)),
            _ => refuse("a single-precision number"),
        },
        (ast::Constant::F64(bits), _) => match ty {
            ScalarType::F64 | ScalarType::B64 => Ok(bits),
            #[allow(clippy::cast_possible_truncation)] // rounding to nearest is what PTX asks for
            ScalarType::F32 => Ok(u64::from((f64::from_bits(bits) as f32).to_bits())),
            _ => refuse("a double-precision number"),
        },
        (ast::Constant::Address { symbol, .. }, _) => refuse(&format!("the address of `{}`", symbol.text)),
    }
}
