//! Resolves generic accesses whose address provably lies in one space, and turns addresses of shared and local memory
//! into their 32-bit offsets.
//!
//! Each value and variable of 64 bits gets one [`Kind`] for the whole function, whatever the order of execution, and each of 32 bits
//! that of the address whose upper half it is. Accesses that stay generic are [`legalize`](crate::legalize)'s. What counts:
//!
//! * Push constants and constant memory hold values from the host, and the host knows global addresses only. Other
//!   memory may hold any address.
//! * Adding a number to an address of a space gives an address of that space: leaving an object by arithmetic is
//!   undefined in PTX.
//! * [`Kind::Offset`] is what isn't known to be an address, such as a scaled number. It counts as a number where it is
//!   added to an address, and as anything where it is accessed or joined with an address.
//! * The tag that tells an address's space lies in its upper half. Functions that are inlined get their parameters in halves.
//! * What a suspended thread finds in the launch's workspace when it goes on is what it has saved there, so it adds nothing to what a
//!   variable may be.

use super::narrow::{STEPS, narrow};
use crate::index::IndexVec;
use crate::ir::{
    Access, Binary, Builtin, Fact, Flow, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Op, Rewritten,
    Space, Stmt, Type, Unary, Value, rewrite,
};

/// Resolves address spaces; see the module. `workspace` is the offset of the workspace's address in the push constants, if threads save
/// their state there.
pub fn resolve_spaces(function: &mut Function, workspace: Option<u32>) {
    let definition = function.definitions();
    let kinds = Flow::forward(function, |found, result, stmt| {
        let kinds = Kinds { function, definition: &definition, found, workspace };
        match (stmt, function.type_of(result)) {
            (Stmt::Let(value, op), _) => kinds.result(*value, op),
            (Stmt::Load { access, .. }, Type::I64) if access.read_only => Kind::In(Space::Global),
            (Stmt::Load { address, .. }, Type::I32) if kinds.kind(*address) == Kind::Workspace => Kind::Small,
            (_, Type::I32 | Type::I64) => Kind::Unknown,
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

/// The kind of a 64-bit value, or of the 64-bit value whose upper half a 32-bit value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number made from constants and 32-bit numbers; joined with an address (as a null pointer is), it is ignored.
    Small,
    /// Another number.
    Offset,
    /// An address of this space.
    In(Space),
    /// An address in the launch's workspace, where the kernel's own code has none.
    Workspace,
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
    /// Whether the value can contain nothing of shared or local memory's addresses, however disguised.
    fn is_harmless(self) -> bool {
        matches!(self, Kind::Small | Kind::Offset | Kind::In(Space::Global) | Kind::Workspace)
    }
}

/// The function, and the kinds of its values found so far.
struct Kinds<'f> {
    function: &'f Function,
    definition: &'f IndexVec<Value, Option<Op>>,
    found: &'f Flow<Kind>,
    workspace: Option<u32>,
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
        match self.function.type_of(value) {
            Type::I64 | Type::F64 => self.whole(op),
            Type::I32 => self.upper_half(op),
            _ => Kind::Small,
        }
    }

    /// The kind of the 64-bit value whose upper half a 32-bit value is.
    fn upper_half(&self, op: &Op) -> Kind {
        match *op {
            Op::Const(0) => Kind::Small,
            Op::Select(_, a, b) => self.kind(a).join(self.kind(b)),
            Op::Unary(Unary::Truncate, shifted) => match self.definition[shifted] {
                Some(Op::Binary(Binary::Shr, whole, amount)) if self.constant(amount) == Some(32) => {
                    match self.kind(whole) {
                        kind @ (Kind::Small | Kind::In(_)) => kind,
                        Kind::Offset | Kind::Workspace | Kind::Unknown => Kind::Unknown,
                    }
                }
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    fn whole(&self, op: &Op) -> Kind {
        match *op {
            Op::Const(bits) => constant_kind(bits),
            Op::Unary(Unary::ZeroExtend | Unary::SignExtend, _) => Kind::Small,
            Op::Unary(Unary::Bitcast(_), a) => self.kind(a),
            Op::Unary(Unary::Neg | Unary::Not, a) => match self.kind(a) {
                number @ (Kind::Small | Kind::Offset) => number,
                Kind::In(_) | Kind::Workspace | Kind::Unknown => Kind::Unknown,
            },
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Select(_, a, b) => self.kind(a).join(self.kind(b)),
            Op::Builtin(Builtin::PushConstant(offset)) if Some(offset) == self.workspace => Kind::Workspace,
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
            Binary::Shl if self.constant(b) == Some(32) => match self.definition[a] {
                Some(Op::Unary(Unary::ZeroExtend, half)) => self.kind(half),
                _ => Kind::Unknown,
            },
            Binary::Shl if !self.constant(b).is_some_and(|amount| (1..32).contains(&amount)) => Kind::Unknown,
            Binary::Mul if [a, b].iter().any(|&factor| self.constant(factor).is_some() && !self.scales(factor)) => {
                Kind::Unknown
            }
            // What is shifted right or divided can become the address again (`p >> 4 << 4`).
            Binary::Shl | Binary::Shr | Binary::Sar if x.is_harmless() => Kind::Offset,
            Binary::Shl | Binary::Shr | Binary::Sar => Kind::Unknown,
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

    /// Whether the value is a factor, as sizes of elements are.
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
        0 => Kind::Offset,
        // Such as an address with the sign changed.
        _ => Kind::Unknown,
    }
}

fn sum(x: Kind, y: Kind) -> Kind {
    match (x, y) {
        (Kind::Small, kind) | (kind, Kind::Small) => kind,
        (Kind::Offset, kind @ (Kind::Offset | Kind::In(_) | Kind::Workspace))
        | (kind @ (Kind::In(_) | Kind::Workspace), Kind::Offset) => kind,
        // The host's numbers look like the host's addresses.
        (Kind::In(Space::Global), Kind::In(Space::Global)) => x,
        _ => Kind::Unknown,
    }
}
