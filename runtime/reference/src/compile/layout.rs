//! Types with specialized constants: the registers of their values, and their layout in memory.
//!
//! Types with explicit offsets and strides use these. Other types (variables of invocations and workgroups) use
//! Vulkan's standard storage buffer layout, the largest that a device may use for them.

use rspirv::spirv::{Decoration, FPEncoding, Op, Scope, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Result;
use crate::module::{Instruction, Module, Refusal, rule};

/// Invocations of the subgroups that have cooperative matrices.
const SUBGROUP: u32 = 32;

/// The depth of nested types that SPIR-V consumers must accept.
const DEPTH_LIMIT: u32 = 255;

/// Maximum number of registers of a value.
const CELL_LIMIT: u64 = 1 << 16;

/// The type of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int(u8),
    Float(u8),
    /// A type for elements of cooperative matrices, without arithmetic.
    Bfloat16,
    Pointer(StorageClass),
}

impl Scalar {
    /// The width in a register.
    pub(super) fn bits(self) -> u8 {
        match self {
            Self::Bool => 1,
            Self::Int(bits) | Self::Float(bits) => bits,
            Self::Bfloat16 => 16,
            Self::Pointer(_) => 64,
        }
    }

    /// The size in memory.
    pub(super) fn bytes(self) -> u8 {
        match self {
            // The size that Vulkan counts for limits.
            Self::Bool => 4,
            Self::Int(bits) | Self::Float(bits) => bits / 8,
            Self::Bfloat16 => 2,
            Self::Pointer(_) => 8,
        }
    }

    pub(super) fn is_int(self) -> bool {
        matches!(self, Self::Int(_))
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) ty: u32,
    pub(super) offset: u64,
    /// Index of the member's first register in the value.
    pub(super) cell: u32,
}

/// The structure of a type. An invocation has `length` elements of a cooperative matrix. `Other` are types without values: functions,
/// void, images.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    Vector { component: Scalar, count: u32 },
    Array { element: u32, length: u32, stride: u64 },
    RuntimeArray { element: u32, stride: u64 },
    CooperativeMatrix { element: u32, length: u32, rows: u32, columns: u32, place: u32 },
    Struct(Box<[Member]>),
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) kind: Kind,
    /// Number of registers of a value; `None` if the type has no values, or too large ones.
    pub(super) cells: Option<u32>,
    /// Bytes in memory, without runtime arrays.
    pub(super) bytes: u64,
    /// Alignment in the standard storage buffer layout.
    align: u64,
    /// The largest size of a scalar in the type.
    pub(super) scalar_align: u64,
    /// How deep types nest in it.
    depth: u32,
}

#[derive(Default)]
pub(super) struct Layouts {
    types: FxHashMap<u32, Layout>,
    /// Pointers that are declared later.
    ahead: FxHashSet<u32>,
}

impl Layouts {
    pub(super) fn get(&self, ty: u32) -> Result<&Layout> {
        self.types.get(&ty).ok_or_else(|| Refusal::new(rule::UNIVERSAL, format!("%{ty} is not a type")))
    }

    pub(super) fn cells(&self, ty: u32) -> Result<u32> {
        let cells = self.get(ty)?.cells;
        cells.ok_or_else(|| Refusal::new(rule::UNSUPPORTED, format!("values of type %{ty}: none, or too large")))
    }

    /// The scalar type and count of a scalar or vector.
    pub(super) fn vector(&self, ty: u32) -> Result<(Scalar, u32)> {
        match self.get(ty)?.kind {
            Kind::Scalar(scalar) => Ok((scalar, 1)),
            Kind::Vector { component, count } => Ok((component, count)),
            _ => Err(Refusal::new(rule::UNIVERSAL, format!("%{ty} is neither scalar nor vector"))),
        }
    }

    /// The scalar types of a value's registers, with their offsets in memory.
    pub(super) fn leaves(&self, ty: u32) -> Result<Vec<(u64, Scalar)>> {
        let mut leaves = Vec::with_capacity(self.cells(ty)? as usize);
        self.add_leaves(ty, 0, &mut leaves)?;
        Ok(leaves)
    }

    // Types nest at most 255 deep, and `leaves` has limited their number.
    fn add_leaves(&self, ty: u32, base: u64, leaves: &mut Vec<(u64, Scalar)>) -> Result<()> {
        match &self.get(ty)?.kind {
            Kind::Scalar(scalar) => leaves.push((base, *scalar)),
            &Kind::Vector { component, count } => {
                let stride = self.part_stride(ty)?;
                leaves.extend((0..u64::from(count)).map(|index| (base.saturating_add(index * stride), component)));
            }
            &Kind::Array { element, length: count, .. } => {
                let stride = self.part_stride(ty)?;
                for index in 0..u64::from(count) {
                    let offset = index.saturating_mul(stride).saturating_add(base);
                    self.add_leaves(element, offset, leaves)?;
                }
            }
            Kind::Struct(members) => {
                for member in members {
                    self.add_leaves(member.ty, base.saturating_add(member.offset), leaves)?;
                }
            }
            Kind::RuntimeArray { .. } | Kind::CooperativeMatrix { .. } | Kind::Other => {
                return Err(Refusal::new(rule::UNIVERSAL, format!("%{ty} has no values in memory")));
            }
        }
        Ok(())
    }

    /// Bytes from one component or element to the next.
    pub(super) fn part_stride(&self, ty: u32) -> Result<u64> {
        match self.get(ty)?.kind {
            Kind::Vector { component, .. } => Ok(u64::from(component.bytes())),
            Kind::Array { stride, .. } | Kind::RuntimeArray { stride, .. } => Ok(stride),
            _ => Err(Refusal::new(rule::UNIVERSAL, format!("%{ty} has no parts to count"))),
        }
    }

    /// Declares a type. All parts of a type are declared before it, except through pointers, so there are no cycles. `constant` returns
    /// the value of one.
    pub(super) fn declare(
        &mut self,
        module: &Module,
        inst: &Instruction<'_>,
        constant: impl Fn(u32) -> Result<u32>,
    ) -> Result<()> {
        let physical = StorageClass::PhysicalStorageBuffer;
        let layout = match inst.op {
            Op::TypeBool => scalar(Scalar::Bool),
            Op::TypeInt => match inst.operand(0)? {
                bits @ (8 | 16 | 32 | 64) => scalar(Scalar::Int(bits as u8)),
                bits => return Err(inst.refuse(rule::UNIVERSAL, format!("an integer of {bits} bits"))),
            },
            Op::TypeFloat => match *inst.operands {
                [bits @ (16 | 32 | 64)] => scalar(Scalar::Float(bits as u8)),
                [16, encoding] if encoding == FPEncoding::BFloat16KHR as u32 => scalar(Scalar::Bfloat16),
                _ => return Err(inst.refuse(rule::UNIVERSAL, "a float of another format")),
            },
            Op::TypePointer => match StorageClass::from_u32(inst.operand(0)?) {
                Some(class) => scalar(Scalar::Pointer(class)),
                None => return Err(inst.refuse(rule::UNIVERSAL, "an unknown storage class")),
            },
            Op::TypeForwardPointer => {
                if inst.operand(1)? != physical as u32 {
                    let message = "only pointers to physical storage buffers can be forward-declared";
                    return Err(inst.refuse("VUID-StandaloneSpirv-OpTypeForwardPointer-04711", message));
                }
                self.ahead.insert(inst.operand(0)?);
                return Ok(());
            }
            Op::TypeVector => {
                let (component, count) = (self.vector(inst.operand(0)?)?, inst.operand(1)?);
                let (component @ (Scalar::Bool | Scalar::Int(_) | Scalar::Float(_)), 1, 2..=4) =
                    (component.0, component.1, count)
                else {
                    return Err(inst.refuse(rule::UNIVERSAL, "a vector has 2 to 4 scalar components"));
                };
                let bytes = u64::from(component.bytes());
                Layout {
                    kind: Kind::Vector { component, count },
                    cells: Some(count),
                    bytes: bytes * u64::from(count),
                    align: bytes * u64::from(count.next_power_of_two()),
                    scalar_align: bytes,
                    depth: 1,
                }
            }
            Op::TypeArray => {
                let (element, length) = (inst.operand(0)?, constant(inst.operand(1)?)?);
                inst.refuse_if(length == 0, "an array has at least one element")?;
                let part = self.part(inst, element)?;
                let stride = stride(module, inst, part)?;
                Layout {
                    kind: Kind::Array { element, length, stride },
                    cells: times(part.cells, length),
                    bytes: stride.saturating_mul(u64::from(length) - 1).saturating_add(part.bytes),
                    depth: part.depth + 1,
                    ..*part
                }
            }
            Op::TypeRuntimeArray => {
                let element = inst.operand(0)?;
                let part = self.part(inst, element)?;
                let kind = Kind::RuntimeArray { element, stride: stride(module, inst, part)? };
                Layout { kind, cells: None, bytes: 0, depth: part.depth + 1, ..*part }
            }
            Op::TypeCooperativeMatrixKHR => {
                let element = inst.operand(0)?;
                let parameter = |index| constant(inst.operand(index)?);
                let (scope, rows, columns, place) = (parameter(1)?, parameter(2)?, parameter(3)?, parameter(4)?);
                if scope != Scope::Subgroup as u32 || !(1..=256).contains(&rows) || !(1..=256).contains(&columns) {
                    return Err(inst.refuse(rule::UNSUPPORTED, "a cooperative matrix of this size or scope"));
                }
                let length = rows * columns / SUBGROUP;
                let kind = Kind::CooperativeMatrix { element, length, rows, columns, place };
                let part = self.part(inst, element)?;
                Layout { cells: times(part.cells, length), depth: part.depth + 1, ..without_values(kind) }
            }
            Op::TypeStruct => self.record(module, inst)?,
            Op::TypeVoid | Op::TypeFunction => without_values(Kind::Other),
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage | Op::TypeAccelerationStructureKHR => {
                without_values(Kind::Other)
            }
            _ => return Err(inst.refuse(rule::UNSUPPORTED, "a type for other kinds of shaders")),
        };
        let is_pointer = matches!(layout.kind, Kind::Scalar(Scalar::Pointer(class)) if class == physical);
        let wrong = self.ahead.contains(&inst.id) && !is_pointer;
        inst.refuse_if(wrong, "was forward-declared as a pointer to a physical storage buffer")?;
        if layout.depth > DEPTH_LIMIT {
            return Err(inst.refuse(rule::LIMITS, format!("types nest more than {DEPTH_LIMIT} deep")));
        }
        self.types.insert(inst.id, layout);
        Ok(())
    }

    /// The layout of a type that is part of another one.
    fn part(&self, inst: &Instruction<'_>, ty: u32) -> Result<&Layout> {
        let layout = self.get(ty)?;
        inst.refuse_if(matches!(layout.kind, Kind::Other), format_args!("%{ty} can't be part of another type"))?;
        Ok(layout)
    }

    fn record(&self, module: &Module, inst: &Instruction<'_>) -> Result<Layout> {
        let mut members = Vec::with_capacity(inst.operands.len());
        let (mut cells, mut bytes, mut align, mut scalar_align) = (Some(0u32), 0u64, 1u64, 1u64);
        let (mut explicit, mut depth) = (false, 0);
        let ahead = scalar(Scalar::Pointer(StorageClass::PhysicalStorageBuffer));
        for (number, &ty) in (0..).zip(inst.operands) {
            // A forward-declared pointer may be declared later.
            let part = if self.ahead.contains(&ty) { &ahead } else { self.part(inst, ty)? };
            let offset = match module.member_decoration(inst.id, number, Decoration::Offset) {
                Some(offset) => {
                    explicit = true;
                    u64::from(offset)
                }
                None => bytes.checked_next_multiple_of(part.align).unwrap_or(u64::MAX),
            };
            if explicit && offset % part.scalar_align != 0 {
                return Err(inst.refuse(rule::OFFSETS, format!("member {number} is not aligned to its scalars")));
            }
            // Registers are counted up to the limit, so a member that exists begins within it.
            members.push(Member { ty, offset, cell: cells.unwrap_or(0) });
            cells = cells.zip(part.cells).and_then(|(before, more)| limited(u64::from(before) + u64::from(more)));
            bytes = bytes.max(offset.saturating_add(part.bytes));
            align = align.max(part.align);
            scalar_align = scalar_align.max(part.scalar_align);
            depth = depth.max(part.depth + 1);
        }
        if !explicit {
            bytes = bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        }
        Ok(Layout { kind: Kind::Struct(members.into()), cells, bytes, align, scalar_align, depth })
    }
}

fn scalar(scalar: Scalar) -> Layout {
    let bytes = u64::from(scalar.bytes());
    Layout { kind: Kind::Scalar(scalar), cells: Some(1), bytes, align: bytes, scalar_align: bytes, depth: 0 }
}

fn without_values(kind: Kind) -> Layout {
    Layout { kind, cells: None, bytes: 0, align: 1, scalar_align: 1, depth: 0 }
}

fn limited(cells: u64) -> Option<u32> {
    if cells <= CELL_LIMIT { u32::try_from(cells).ok() } else { None }
}

fn times(cells: Option<u32>, count: u32) -> Option<u32> {
    limited(u64::from(cells?) * u64::from(count))
}

/// Bytes from one element of an array to the next.
fn stride(module: &Module, array: &Instruction<'_>, element: &Layout) -> Result<u64> {
    match module.decoration(array.id, Decoration::ArrayStride) {
        Some(stride) if stride == 0 || u64::from(stride) % element.scalar_align != 0 => {
            Err(array.refuse(rule::OFFSETS, format!("elements {stride} bytes apart are not aligned to their scalars")))
        }
        Some(stride) => Ok(u64::from(stride)),
        None => Ok(element.bytes.checked_next_multiple_of(element.align).unwrap_or(u64::MAX).max(1)),
    }
}
