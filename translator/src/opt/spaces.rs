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
    Access, Binary, Block, Builtin, Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Op, Rewritten, Space,
    Stmt, Type, Unary, Value, Var, Warp, rewrite,
};

/// Resolves address spaces; see the module.
pub fn resolve_spaces(function: &mut Function) {
    let mut facts = Vec::new();
    let mut definition = IndexVec::filled(None, function.values.len());
    collect(&function.body, &mut facts, &mut definition);
    let mut kinds = Kinds {
        value: IndexVec::filled(Kind::Small, function.values.len()),
        var: IndexVec::filled(Kind::Small, function.vars.len()),
        definition,
        function,
    };
    // Ends because kinds only rise, at most twice each.
    while kinds.round(&facts) {}
    let Kinds { value: kind, definition, .. } = kinds;
    let resolve = |access: &Access, address: Value| match kind.at(address) {
        Some(Kind::In(space)) if access.space == Space::Generic => Some(*space),
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

impl Kind {
    fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Small, kind) | (kind, Kind::Small) => kind,
            (a, b) if a == b => a,
            _ => Kind::Unknown,
        }
    }

    /// Whether nothing of shared or local memory's addresses can be in it, however disguised.
    fn is_harmless(self) -> bool {
        matches!(self, Kind::Small | Kind::Offset | Kind::In(Space::Global))
    }
}

/// What says something about kinds.
enum Fact {
    Let(Value, Op),
    Set(Var, Value),
    Loaded(Value, Kind),
}

fn collect(block: &Block, facts: &mut Vec<Fact>, definition: &mut IndexVec<Value, Option<Op>>) {
    for stmt in block {
        match stmt {
            Stmt::Let(value, op) => {
                facts.push(Fact::Let(*value, *op));
                definition[*value] = Some(*op);
            }
            Stmt::Set(var, value) => facts.push(Fact::Set(*var, *value)),
            Stmt::Load { results, access, .. } => {
                let kind = if access.read_only { Kind::In(Space::Global) } else { Kind::Unknown };
                facts.extend(results.iter().map(|result| Fact::Loaded(*result, kind)));
            }
            Stmt::Atomic(atomic) => facts.extend(atomic.result.map(|result| Fact::Loaded(result, Kind::Unknown))),
            Stmt::Warp(Warp { results, .. }) | Stmt::Subgroup(results, _) => {
                facts.extend(results.iter().map(|result| Fact::Loaded(*result, Kind::Unknown)));
            }
            Stmt::If { then, otherwise, .. } => {
                collect(then, facts, definition);
                collect(otherwise, facts, definition);
            }
            Stmt::Loop(body) => collect(body, facts, definition),
            Stmt::At(_)
            | Stmt::Store { .. }
            | Stmt::Barrier(_)
            | Stmt::Report(..)
            | Stmt::Arrive(_)
            | Stmt::Fence(_)
            | Stmt::Break
            | Stmt::Return(_) => {}
        }
    }
}

struct Kinds<'f> {
    function: &'f Function,
    value: IndexVec<Value, Kind>,
    var: IndexVec<Var, Kind>,
    definition: IndexVec<Value, Option<Op>>,
}

impl Kinds<'_> {
    /// Applies every fact once; true if that changed anything.
    fn round(&mut self, facts: &[Fact]) -> bool {
        let mut changed = false;
        for fact in facts {
            let (kind, entry) = match fact {
                Fact::Let(value, op) => (self.result(*value, op), &mut self.value[*value]),
                Fact::Set(var, value) => (self.value[*value], &mut self.var[*var]),
                Fact::Loaded(value, kind) if self.function.type_of(*value) == Type::I64 => {
                    (*kind, &mut self.value[*value])
                }
                Fact::Loaded(..) => continue,
            };
            let joined = entry.join(kind);
            changed |= joined != *entry;
            *entry = joined;
        }
        changed
    }

    fn kind(&self, value: Value) -> Kind {
        self.value[value]
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
            Op::Get(var) => self.var[var],
            Op::Unary(Unary::ZeroExtend | Unary::SignExtend, _) => Kind::Small,
            Op::Unary(Unary::Bitcast(_), a) => self.kind(a),
            Op::Unary(Unary::Neg | Unary::Not, a) => match self.kind(a) {
                number @ (Kind::Small | Kind::Offset) => number,
                Kind::In(_) | Kind::Unknown => Kind::Unknown,
            },
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Select(_, a, b) => self.kind(a).join(self.kind(b)),
            Op::Builtin(Builtin::PushConstant(_)) => Kind::In(Space::Global),
            Op::Unary(..)
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
