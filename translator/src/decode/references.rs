//! Module variables that are references to textures, samplers or surfaces: records, which the host binds.

use super::program::{InitPiece, InitValue, Variable};
use crate::ast::{self, Linkage, StateSpace};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::types::{Class, ScalarType};
use ptx2spv_interface::texture::{AddressMode, Filter, RECORD_ALIGN, RECORD_BYTES, field, flag};

/// The properties that PTX may give of the memory of a reference that is not bound yet. A record of no memory has no
/// use for them.
const OF_MEMORY: &[&str] = &[
    "width",
    "height",
    "depth",
    "channel_data_type",
    "channel_order",
    "array_size",
    "num_mipmap_levels",
    "num_samples",
    "memory_layout",
];

/// A reference, as declared at module scope; `.tex` declares one to a texture.
pub(super) fn declared(
    variable: &ast::Variable<'_>,
    name: ast::Ident<'_>,
    ty: ScalarType,
) -> Result<Variable, Diagnostic> {
    let is_reference = ty.class() == Class::Opaque;
    if variable.space == StateSpace::Tex && !matches!(ty, ScalarType::U32 | ScalarType::U64) {
        return Err(Diagnostic::invalid(format!("a `.tex` variable has type .u32 or .u64, not {ty}"), variable.span));
    }
    if is_reference && variable.space != StateSpace::Global {
        return Err(Diagnostic::invalid(
            format!("references lie in `.global`, `{}` does not", name.text),
            variable.span,
        ));
    }
    if !variable.dims.is_empty() || variable.vector != 1 {
        return Err(Diagnostic::unsupported("arrays of textures, samplers or surfaces", variable.span));
    }
    Ok(Variable {
        name: name.text.to_owned(),
        space: StateSpace::Global,
        ty: if is_reference { ty } else { ScalarType::TexRef },
        size: RECORD_BYTES,
        align: RECORD_ALIGN,
        unsized_array: false,
        linkage: variable.linkage,
        managed: variable.managed,
        external: variable.linkage == Some(Linkage::Extern),
        in_function: false,
        init: Vec::new(),
        span: variable.span,
    })
}

/// The record's fields that an initialiser sets.
pub(super) fn initial_record(variable: &ast::Variable<'_>) -> Result<Vec<InitPiece>, Diagnostic> {
    let properties = match &variable.init {
        None => return Ok(Vec::new()),
        Some(ast::Init::List(list, _)) => list,
        Some(ast::Init::Scalar(_, span) | ast::Init::Property { span, .. }) => {
            return Err(Diagnostic::invalid("a reference is initialised by a list of properties", *span));
        }
    };
    let is_sampler = variable.ty.text == "samplerref";
    let mut words = Vec::new();
    let mut flags = 0;
    for property in properties {
        let ast::Init::Property { name, value, span } = property else {
            return Err(Diagnostic::invalid("a reference is initialised by properties", variable.span));
        };
        match name.text {
            "addr_mode_0" => words.push((field::ADDRESS_MODE, address_mode(*value, *span)?)),
            "addr_mode_1" => words.push((field::ADDRESS_MODE + 4, address_mode(*value, *span)?)),
            "addr_mode_2" => words.push((field::ADDRESS_MODE + 8, address_mode(*value, *span)?)),
            "filter_mode" => words.push((field::FILTER, filter(*value, *span)?)),
            "normalized_coords" if !is_sampler => flags |= if is_set(*value, *span)? { flag::NORMALIZED } else { 0 },
            "force_unnormalized_coords" if is_sampler => {
                flags |= if is_set(*value, *span)? { flag::FORCE_UNNORMALIZED } else { 0 }
            }
            name if OF_MEMORY.contains(&name) => {}
            other => {
                let message = format!("references of type .{} have no property `{other}`", variable.ty.text);
                return Err(Diagnostic::invalid(message, name.span));
            }
        }
    }
    words.push((field::FLAGS, flags));
    let piece = |(offset, value): (u32, u32)| InitPiece {
        offset: offset.into(),
        size: 4,
        value: InitValue::Bits(value.into()),
    };
    Ok(words.into_iter().filter(|(_, value)| *value != 0).map(piece).collect())
}

fn keyword<'s>(value: ast::Constant<'s>, span: Span) -> Result<&'s str, Diagnostic> {
    match value {
        ast::Constant::Address { symbol, offset: 0, generic: false, mask: None } => Ok(symbol.text),
        ast::Constant::Int { .. } => Err(Diagnostic::unsupported("a number for the mode of a reference", span)),
        _ => Err(Diagnostic::invalid("a keyword is needed here", span)),
    }
}

fn address_mode(value: ast::Constant<'_>, span: Span) -> Result<u32, Diagnostic> {
    let mode = match keyword(value, span)? {
        "wrap" => AddressMode::Wrap,
        "mirror" => AddressMode::Mirror,
        "clamp_ogl" | "clamp_to_edge" => AddressMode::Clamp,
        "clamp_to_border" => AddressMode::Border,
        other => return Err(Diagnostic::invalid(format!("`{other}` is not an address mode"), span)),
    };
    Ok(mode.code())
}

fn filter(value: ast::Constant<'_>, span: Span) -> Result<u32, Diagnostic> {
    match keyword(value, span)? {
        "nearest" => Ok(Filter::Point.code()),
        "linear" => Ok(Filter::Linear.code()),
        other => Err(Diagnostic::invalid(format!("`{other}` is not a filter mode"), span)),
    }
}

fn is_set(value: ast::Constant<'_>, span: Span) -> Result<bool, Diagnostic> {
    match value {
        ast::Constant::Int { bits: 0, .. } => Ok(false),
        ast::Constant::Int { bits: 1, .. } => Ok(true),
        _ => Err(Diagnostic::invalid("0 or 1 is needed here", span)),
    }
}
