//! Types with specialized constants: the registers of their values, and their layout in memory.
//!
//! Types with explicit offsets and strides use these. Other types (variables of invocations and workgroups) use
//! Vulkan's standard storage buffer layout, the largest that a device may use for them.

use rspirv::spirv::{Decoration, Scope, StorageClass};
use rustc_hash::FxHashMap;

use super::{Result, refuse};
use crate::module::{Instruction, Module, Type, rule};

/// Invocations of the subgroups that have cooperative matrices.
const SUBGROUP: u32 = 32;

/// Maximum number of registers of a value.
const CELL_LIMIT: u64 = 1 << 16;

/// The type of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int(u8),
    Float(u8),
    Pointer(StorageClass),
}

impl Scalar {
    /// The width in a register.
    pub(super) fn bits(self) -> u8 {
        match self {
            Self::Bool => 1,
            Self::Int(bits) | Self::Float(bits) => bits,
            Self::Pointer(_) => 64,
        }
    }

    /// The size in memory.
    pub(super) fn bytes(self) -> u8 {
        match self {
            // The size that Vulkan counts for limits.
            Self::Bool => 4,
            Self::Int(bits) | Self::Float(bits) => bits / 8,
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

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    Vector {
        component: Scalar,
        count: u32,
    },
    Array {
        element: u32,
        length: u32,
        stride: u64,
    },
    RuntimeArray {
        element: u32,
        stride: u64,
    },
    /// A cooperative matrix, of which an invocation has `length` elements.
    CooperativeMatrix {
        element: u32,
        length: u32,
        rows: u32,
        columns: u32,
        place: u32,
    },
    Struct(Box<[Member]>),
    /// Types without values: functions, void, images.
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
}

#[derive(Default)]
pub(super) struct Layouts(FxHashMap<u32, Layout>);

impl Layouts {
    pub(super) fn get(&self, ty: u32) -> Result<&Layout> {
        self.0.get(&ty).ok_or_else(|| refuse(rule::UNIVERSAL, format!("%{ty} is not a type")))
    }

    pub(super) fn cells(&self, ty: u32) -> Result<u32> {
        let cells = self.get(ty)?.cells;
        cells.ok_or_else(|| refuse(rule::UNSUPPORTED, format!("values of type %{ty}: none, or too large")))
    }

    /// The scalar type and count of a scalar or vector.
    pub(super) fn vector(&self, ty: u32) -> Result<(Scalar, u32)> {
        match self.get(ty)?.kind {
            Kind::Scalar(scalar) => Ok((scalar, 1)),
            Kind::Vector { component, count } => Ok((component, count)),
            _ => Err(refuse(rule::UNIVERSAL, format!("%{ty} is neither scalar nor vector"))),
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
                return Err(refuse(rule::UNIVERSAL, format!("%{ty} has no values in memory")));
            }
        }
        Ok(())
    }

    /// Bytes from one component or element to the next.
    pub(super) fn part_stride(&self, ty: u32) -> Result<u64> {
        match self.get(ty)?.kind {
            Kind::Vector { component, .. } => Ok(u64::from(component.bytes())),
            Kind::Array { stride, .. } | Kind::RuntimeArray { stride, .. } => Ok(stride),
            _ => Err(refuse(rule::UNIVERSAL, format!("%{ty} has no parts to count"))),
        }
    }

    /// Declares a type, whose parts are already declared. `constant` returns the value of one.
    pub(super) fn declare(
        &mut self,
        module: &Module,
        inst: &Instruction<'_>,
        constant: impl Fn(u32) -> Result<u32>,
    ) -> Result<()> {
        let Some(ty) = module.get_type(inst.id) else { return Ok(()) };
        let layout = match ty {
            Type::Bool => scalar(Scalar::Bool),
            Type::Int { bits } => scalar(Scalar::Int(*bits)),
            Type::Float { bits } => scalar(Scalar::Float(*bits)),
            Type::Pointer { class, .. } => scalar(Scalar::Pointer(*class)),
            &Type::Vector { component, count } => {
                let (component, _) = self.vector(component)?;
                let bytes = u64::from(component.bytes());
                Layout {
                    kind: Kind::Vector { component, count },
                    cells: Some(count),
                    bytes: bytes * u64::from(count),
                    align: bytes * u64::from(count.next_power_of_two()),
                    scalar_align: bytes,
                }
            }
            &Type::Array { element, length: count } => {
                let length = constant(count)?;
                inst.refuse_if(length == 0, "an array has at least one element")?;
                let part = self.get(element)?;
                let stride = stride(module, inst, part)?;
                Layout {
                    kind: Kind::Array { element, length, stride },
                    cells: times(part.cells, length),
                    bytes: stride.saturating_mul(u64::from(length) - 1).saturating_add(part.bytes),
                    align: part.align,
                    scalar_align: part.scalar_align,
                }
            }
            &Type::RuntimeArray { element } => {
                let part = self.get(element)?;
                let stride = stride(module, inst, part)?;
                let (align, scalar_align) = (part.align, part.scalar_align);
                Layout { kind: Kind::RuntimeArray { element, stride }, cells: None, bytes: 0, align, scalar_align }
            }
            &Type::CooperativeMatrix { element, parameters: [scope, rows, columns, place] } => {
                let [scope, rows, columns, place] =
                    [constant(scope)?, constant(rows)?, constant(columns)?, constant(place)?];
                if scope != Scope::Subgroup as u32 || !(1..=256).contains(&rows) || !(1..=256).contains(&columns) {
                    return Err(inst.refuse(rule::UNSUPPORTED, "a cooperative matrix of this size or scope"));
                }
                let length = rows * columns / SUBGROUP;
                let kind = Kind::CooperativeMatrix { element, length, rows, columns, place };
                Layout { kind, cells: times(self.get(element)?.cells, length), bytes: 0, align: 1, scalar_align: 1 }
            }
            Type::Struct { members } => self.record(module, inst, members)?,
            Type::Void | Type::Function { .. } | Type::Opaque => {
                Layout { kind: Kind::Other, cells: None, bytes: 0, align: 1, scalar_align: 1 }
            }
        };
        self.0.insert(inst.id, layout);
        Ok(())
    }

    fn record(&self, module: &Module, inst: &Instruction<'_>, types: &[u32]) -> Result<Layout> {
        let mut members = Vec::with_capacity(types.len());
        let (mut cells, mut bytes, mut align, mut scalar_align) = (Some(0u32), 0u64, 1u64, 1u64);
        let mut explicit = false;
        for (number, &ty) in (0..).zip(types) {
            // A forward-declared pointer may be declared later.
            let ahead = scalar(Scalar::Pointer(StorageClass::PhysicalStorageBuffer));
            let part = self.0.get(&ty).unwrap_or(&ahead);
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
        }
        if !explicit {
            bytes = bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        }
        Ok(Layout { kind: Kind::Struct(members.into()), cells, bytes, align, scalar_align })
    }
}

fn scalar(scalar: Scalar) -> Layout {
    let bytes = u64::from(scalar.bytes());
    Layout { kind: Kind::Scalar(scalar), cells: Some(1), bytes, align: bytes, scalar_align: bytes }
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
