//! `mov` with packing and unpacking (PTX sections 9.7.9.1 and 9.7.9.2).

use super::lowering::{Lowering, carrier};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Type, Value};
use crate::isa::types::ScalarType;

pub fn mov(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    scalar_or_vector(l, i)?;
    let value = match l.operand(i, 1) {
        Operand::Vector(parts) => pack(l, ty, parts)?,
        source => l.source(source, ty)?,
    };
    match l.operand(i, 0) {
        Operand::Vector(parts) => unpack(l, ty, parts, value),
        destination => l.assign(destination, ty, value),
    }
}

/// `mov` of vectors, element by element. All elements are read before any is written: `mov.v2.b32 {a, b}, {b, a};`
pub fn mov_vector(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let (Operand::Vector(destinations), Operand::Vector(sources)) = (l.operand(i, 0), l.operand(i, 1)) else {
        return Err(Diagnostic::invalid("`mov` needs two vectors here", i.span));
    };
    let values = sources.iter().map(|source| l.source(source, ty)).collect::<Result<Vec<_>>>()?;
    destinations.iter().zip(values).try_for_each(|(destination, value)| l.assign(destination, ty, value))
}

/// `mov` of 128 bits, as two halves. Each half is packed from two parts, or is a register's half.
pub fn mov128(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    scalar_or_vector(l, i)?;
    let values = match l.operand(i, 1) {
        Operand::Vector(parts) => {
            let (low, high) = parts.split_at(parts.len() / 2);
            [pack(l, ScalarType::B64, low)?, pack(l, ScalarType::B64, high)?]
        }
        register => l.source128(register)?,
    };
    match l.operand(i, 0) {
        Operand::Vector(parts) => {
            let (low, high) = parts.split_at(parts.len() / 2);
            unpack(l, ScalarType::B64, low, values[0])?;
            unpack(l, ScalarType::B64, high, values[1])
        }
        register => l.assign128(register, values[0], values[1]),
    }
}

fn scalar_or_vector(l: &Lowering<'_, '_>, i: &Instruction) -> Result {
    match (l.operand(i, 0), l.operand(i, 1)) {
        (Operand::Vector(_), Operand::Vector(_)) => {
            Err(Diagnostic::invalid("`mov` packs or unpacks: one side must be a scalar", i.span))
        }
        _ => Ok(()),
    }
}

/// The unsigned type of that many bits, for parts of a packed value.
fn part_type(bits: u32) -> Result<ScalarType> {
    match bits {
        8 => Ok(ScalarType::B8),
        16 => Ok(ScalarType::B16),
        32 => Ok(ScalarType::B32),
        64 => Ok(ScalarType::B64),
        _ => Err(Diagnostic::internal(format!("a part of {bits} bits"), None)),
    }
}

fn part_bits(ty: ScalarType, parts: &[Operand]) -> u32 {
    ty.bits() / u32::try_from(parts.len().max(1)).unwrap_or(1)
}

fn pack(l: &mut Lowering<'_, '_>, ty: ScalarType, parts: &[Operand]) -> Result<Value> {
    let bits = part_bits(ty, parts);
    let mut whole = l.b.constant(carrier(ty), 0);
    let mut position = 0;
    for part in parts {
        let mut value = l.source(part, part_type(bits)?)?;
        if carrier(ty) == Type::I64 && l.b.type_of(value) == Type::I32 {
            value = l.b.zero_extend(value);
        }
        whole = l.b.or(whole, l.b.shl(value, position));
        position += bits;
    }
    Ok(whole)
}

fn unpack(l: &mut Lowering<'_, '_>, ty: ScalarType, parts: &[Operand], whole: Value) -> Result {
    let bits = part_bits(ty, parts);
    let mut position = 0;
    for part in parts {
        let value = l.b.shr(whole, position);
        let value = if bits < 64 { l.narrow(value) } else { value };
        l.assign(part, part_type(bits)?, value)?;
        position += bits;
    }
    Ok(())
}
