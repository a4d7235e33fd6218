//! Types as declared in a module. Their layout is computed elsewhere, because array lengths may be specialized.

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;

use super::instruction::Instruction;
use super::rule;
use crate::finding::Refusal;

/// The depth of nested types that SPIR-V consumers must accept.
const DEPTH_LIMIT: u32 = 255;

/// A type. Other types are referred to by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Bool,
    Int {
        bits: u8,
    },
    Float {
        bits: u8,
    },
    Vector {
        component: u32,
        count: u32,
    },
    /// `length` is a constant's id.
    Array {
        element: u32,
        length: u32,
    },
    RuntimeArray {
        element: u32,
    },
    Struct {
        members: Box<[u32]>,
    },
    /// The pointee may be declared later.
    Pointer {
        class: StorageClass,
        pointee: u32,
    },
    Function {
        result: u32,
        parameters: Box<[u32]>,
    },
    /// A matrix whose elements lie in the invocations of a subgroup. The scope, rows, columns and use are constants' ids.
    CooperativeMatrix {
        element: u32,
        parameters: [u32; 4],
    },
    /// Images, samplers and the like, which are not supported.
    Opaque,
}

#[derive(Debug, Default)]
pub(crate) struct Types {
    types: FxHashMap<u32, Type>,
    /// The nesting depth of types, including forward-declared pointers.
    depths: FxHashMap<u32, u32>,
}

impl Types {
    pub fn get(&self, id: u32) -> Option<&Type> {
        self.types.get(&id)
    }

    /// Declares a type, if the instruction does. All parts of a type are declared before it, except through pointers,
    /// so there are no cycles.
    pub fn declare(&mut self, inst: &Instruction<'_>) -> Result<(), Refusal> {
        let ty = match inst.op {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeInt => match inst.operand(0)? {
                bits @ (8 | 16 | 32 | 64) => Type::Int { bits: bits as u8 },
                bits => return Err(inst.refuse(rule::UNIVERSAL, format!("an integer of {bits} bits"))),
            },
            Op::TypeFloat => match (inst.operand(0)?, inst.operands.len()) {
                (bits @ (16 | 32 | 64), 1) => Type::Float { bits: bits as u8 },
                (bits, _) => return Err(inst.refuse(rule::UNIVERSAL, format!("a float of {bits} bits"))),
            },
            Op::TypeVector => {
                let (component, count) = (inst.operand(0)?, inst.operand(1)?);
                if !matches!(self.get(component), Some(Type::Bool | Type::Int { .. } | Type::Float { .. }))
                    || !(2..=4).contains(&count)
                {
                    return Err(inst.refuse(rule::UNIVERSAL, "a vector has 2 to 4 scalar components"));
                }
                Type::Vector { component, count }
            }
            Op::TypeArray => Type::Array { element: self.part(inst, 0)?, length: inst.operand(1)? },
            Op::TypeRuntimeArray => Type::RuntimeArray { element: self.part(inst, 0)? },
            Op::TypeStruct => {
                (0..inst.operands.len()).try_for_each(|index| self.part(inst, index).map(drop))?;
                Type::Struct { members: inst.operands.into() }
            }
            Op::TypePointer => {
                let class = inst.operand(0)?;
                let class = StorageClass::from_u32(class)
                    .ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("storage class {class}")))?;
                Type::Pointer { class, pointee: inst.operand(1)? }
            }
            Op::TypeForwardPointer => {
                let (id, class) = (inst.operand(0)?, inst.operand(1)?);
                if class != StorageClass::PhysicalStorageBuffer as u32 {
                    let message = "only pointers to physical storage buffers can be forward-declared";
                    return Err(inst.refuse("VUID-StandaloneSpirv-OpTypeForwardPointer-04711", message));
                }
                self.depths.insert(id, 0);
                return Ok(());
            }
            Op::TypeFunction => {
                (0..inst.operands.len()).try_for_each(|index| self.declared(inst, index).map(drop))?;
                Type::Function { result: inst.operand(0)?, parameters: inst.rest(1).into() }
            }
            Op::TypeCooperativeMatrixKHR => {
                let parameters = [inst.operand(1)?, inst.operand(2)?, inst.operand(3)?, inst.operand(4)?];
                Type::CooperativeMatrix { element: self.part(inst, 0)?, parameters }
            }
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage | Op::TypeAccelerationStructureKHR => Type::Opaque,
            _ if inst.op.is_type() => return Err(inst.refuse(rule::UNSUPPORTED, "a type for other kinds of shaders")),
            _ => return Ok(()),
        };
        let announced = self.depths.contains_key(&inst.id);
        if announced && !matches!(ty, Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }) {
            return Err(inst.refuse(rule::UNIVERSAL, "was forward-declared as a pointer to a physical storage buffer"));
        }
        let parts: &[u32] = match &ty {
            Type::Vector { component: part, .. }
            | Type::Array { element: part, .. }
            | Type::RuntimeArray { element: part }
            | Type::CooperativeMatrix { element: part, .. } => &[*part],
            Type::Struct { members } => members,
            _ => &[],
        };
        let depth = parts.iter().filter_map(|part| self.depths.get(part)).max().map_or(0, |depth| depth + 1);
        if depth > DEPTH_LIMIT {
            return Err(inst.refuse(rule::LIMITS, format!("types nest more than {DEPTH_LIMIT} deep")));
        }
        self.depths.insert(inst.id, depth);
        self.types.insert(inst.id, ty);
        Ok(())
    }

    /// An operand that is a type declared before.
    fn declared(&self, inst: &Instruction<'_>, index: usize) -> Result<u32, Refusal> {
        let id = inst.operand(index)?;
        if self.depths.contains_key(&id) {
            return Ok(id);
        }
        Err(inst.refuse(rule::UNIVERSAL, format!("%{id} is not a type declared before")))
    }

    /// An operand that is the type of a part.
    fn part(&self, inst: &Instruction<'_>, index: usize) -> Result<u32, Refusal> {
        let id = self.declared(inst, index)?;
        match self.get(id) {
            Some(Type::Void | Type::Function { .. }) => {
                Err(inst.refuse(rule::UNIVERSAL, format!("%{id} can't be part of another type")))
            }
            _ => Ok(id),
        }
    }
}
