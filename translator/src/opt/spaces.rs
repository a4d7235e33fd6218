//! Resolves generic accesses whose address provably lies in one space, and turns addresses of shared and local memory
//! into their 32-bit offsets.
//!
//! Each 64-bit value and variable gets one [`Kind`] for the whole function, whatever the order of execution. Accesses
//! that stay generic are [`legalize`](crate::legalize)'s. What counts:
//!
//! * Push constants and constant memory hold values from the host, and the host knows global addresses only. Other
//!   memory may hold any address.
//! * Adding a number to an address of a space gives an address of that space: leaving an object by arithmetic is
//!   undefined in PTX.
//! * [`Kind::Offset`] is what isn't known to be an address, such as a scaled number. It counts as a number where it is
//!   added to an address, and as anything where it is accessed or joined with an address.

use super::narrow::{STEPS, narrow};
use crate::index::IndexVec;
use crate::ir::{
    Access, Binary, Builtin, Fact, Flow, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Op, Rewritten,
    Space, Stmt, Type, Unary, Value, rewrite,
};

/// Resolves address spaces; see the module.
pub fn resolve_spaces(function: &mut Function) {
    let definition = function.definitions();
    let kinds = Flow::forward(function, |found, result, stmt| {
        let is_long = function.type_of(result) == Type::I64;
        match stmt {
            Stmt::Let(value, op) => Kinds { function, definition: &definition, found }.result(*value, op),
            Stmt::Load { access, .. } if is_long && access.read_only => Kind::In(Space::Global),
            _ if is_long => Kind::Unknown,
            _ => Kind::Small,
        }
    });
    let resolve = |access: &Access, address: Value| match kinds.at(address) {
        Some(Kind::In(space)) if access.space == Space::Generic => Some(space),
        _ => None,
    };
    rewrite(function, |b, stmt| {
        let mut stmt = stmt.clone();
        let Some((access, address)) = stmt.access_mut() else { return Rewritten::Kept };
        let Some(space) = resolve(access, *address) else { return Rewritten::Kept };
        access.space = space;
        if space != Space::Global {
            *address = narrow(b, &definition, *address, STEPS);
        }
        if space == Space::Shared {
            *address = b.shared_offset(*address);
        }
        b.push(stmt);
        Rewritten::Replaced
    });
}

/// What a 64-bit value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number made from constants and 32-bit numbers; joined with an address (as a null pointer is), it is ignored.
    Small,
    /// Another number.
    Offset,
    /// An address of this space.
    In(Space),
    /// Anything.
    Unknown,
}

/// Each rises at most twice.
impl Fact for Kind {
    const LEAST: Kind = Kind::Small;

    fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Small, kind) | (kind, Kind::Small) => kind,
            (a, b) if a == b => a,
            _ => Kind::Unknown,
        }
    }
}

impl Kind {
    /// Whether nothing of shared or local memory's addresses can be in it, however disguised.
    fn is_harmless(self) -> bool {
        matches!(self, Kind::Small | Kind::Offset | Kind::In(Space::Global))
    }
}

/// What is known while the kinds of the function's values are found.
struct Kinds<'f> {
    function: &'f Function,
    definition: &'f IndexVec<Value, Option<Op>>,
    found: &'f Flow<Kind>,
}

impl Kinds<'_> {
    fn kind(&self, value: Value) -> Kind {
        self.found.at(value).unwrap_or(Kind::Unknown)
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.definition[value] {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        }
    }

    fn result(&self, value: Value, op: &Op) -> Kind {
        if !matches!(self.function.type_of(value), Type::I64 | Type::F64) {
            return Kind::Small;
        }
        match *op {
            Op::Const(bits) => constant_kind(bits),
            Op::Unary(Unary::ZeroExtend | Unary::SignExtend, _) => Kind::Small,
            Op::Unary(Unary::Bitcast(_), a) => self.kind(a),
            Op::Unary(Unary::Neg | Unary::Not, a) => match self.kind(a) {
                number @ (Kind::Small | Kind::Offset) => number,
                Kind::In(_) | Kind::Unknown => Kind::Unknown,
            },
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Select(_, a, b) => self.kind(a).join(self.kind(b)),
            Op::Builtin(Builtin::PushConstant(_)) => Kind::In(Space::Global),
            Op::Get(_)
            | Op::Unary(..)
            | Op::Compare(..)
            | Op::Fma(..)
            | Op::DotFma(..)
            | Op::Matrix(..)
            | Op::Rounded(..)
            | Op::Half(..)
            | Op::Flushed(..)
            | Op::Pair(..)
            | Op::Builtin(_)
            | Op::Sample(_)
            | Op::Call(..) => Kind::Offset,
        }
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Kind {
        let (x, y) = (self.kind(a), self.kind(b));
        match op {
            Binary::Add => sum(x, y),
            Binary::Sub => match (x, y) {
                (_, Kind::Small | Kind::Offset) => sum(x, y),
                (Kind::In(from), Kind::In(to)) if from == to => Kind::Offset,
                _ => Kind::Unknown,
            },
            Binary::Or if self.is_extended(a) && self.is_tag(b) => y,
            Binary::Or if self.is_extended(b) && self.is_tag(a) => x,
            Binary::Or | Binary::Xor if self.lacks_tag(b) => x,
            Binary::Or | Binary::Xor if self.lacks_tag(a) => y,
            Binary::And if self.keeps_tag(b) => x,
            Binary::And if self.keeps_tag(a) => y,
            Binary::And if self.lacks_tag(a) || self.lacks_tag(b) => Kind::Offset,
            // A shift by half the width or more may be on the way to joining the halves of an address.
            Binary::Shl if self.constant(b).is_some_and(|amount| (1..32).contains(&amount)) => Kind::Offset,
            Binary::Shr | Binary::Sar if self.constant(b).is_some_and(|amount| amount > 0) => Kind::Offset,
            Binary::Mul if self.scales(a) || self.scales(b) => Kind::Offset,
            Binary::Shl => Kind::Unknown,
            Binary::Mul if self.constant(a).is_some() || self.constant(b).is_some() => Kind::Unknown,
            _ if x.is_harmless() && y.is_harmless() => Kind::Offset,
            _ => Kind::Unknown,
        }
    }

    fn is_extended(&self, value: Value) -> bool {
        matches!(self.definition[value], Some(Op::Unary(Unary::ZeroExtend, _)))
    }

    fn is_tag(&self, value: Value) -> bool {
        self.constant(value).is_some_and(|bits| matches!(constant_kind(bits), Kind::In(_)))
    }

    /// Whether the tag bits are zero.
    fn lacks_tag(&self, value: Value) -> bool {
        self.is_extended(value) || self.constant(value).is_some_and(|bits| bits >> GENERIC_TAG_SHIFT == 0)
    }

    /// Whether, as a mask, it lets the tag bits pass.
    fn keeps_tag(&self, value: Value) -> bool {
        self.constant(value).is_some_and(|bits| bits >> GENERIC_TAG_SHIFT == 3)
    }

    /// Whether it is a factor such as sizes of elements are.
    fn scales(&self, value: Value) -> bool {
        self.constant(value).is_some_and(|bits| (2..1 << 32).contains(&bits))
    }
}

fn constant_kind(bits: u64) -> Kind {
    let offset = bits & (u64::MAX >> (u64::BITS - GENERIC_TAG_SHIFT));
    match bits >> GENERIC_TAG_SHIFT {
        _ if u32::try_from(bits).is_ok() || i32::try_from(bits as i64).is_ok() => Kind::Small,
        GENERIC_SHARED if u32::try_from(offset).is_ok() => Kind::In(Space::Shared),
        GENERIC_LOCAL if u32::try_from(offset).is_ok() => Kind::In(Space::Local),
        _ => Kind::Offset,
    }
}

fn sum(x: Kind, y: Kind) -> Kind {
    match (x, y) {
        (Kind::Small, kind) | (kind, Kind::Small) => kind,
        (Kind::Offset, kind @ (Kind::Offset | Kind::In(_))) | (kind @ Kind::In(_), Kind::Offset) => kind,
        // The host's numbers look like the host's addresses.
        (Kind::In(Space::Global), Kind::In(Space::Global)) => x,
        _ => Kind::Unknown,
    }
}
