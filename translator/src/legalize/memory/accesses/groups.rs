//! Groups of accesses that one check answers for: those of one list of statements to known distances from one address.

use rustc_hash::FxHashMap;

use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Binary, Block, MemoryOrder, Op, Space, Stmt, Type, Value};
use ptx2spv_target::CheckedAccess;

/// The most bytes from the first to the last of a group.
const MAX_SPAN: u64 = 1 << 16;

/// The properties that the accesses of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    pub space: Space,
    pub what: CheckedAccess,
    pub read_only: bool,
    /// Bytes of each access; its address must be a multiple.
    pub bytes: u64,
    pub address: Type,
}

/// An access that must be checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    pub kind: Kind,
    /// The address: a value, unless it is a constant, and a constant. The sum wraps around at the address's type.
    pub place: (Option<Value>, u64),
    /// Whether the access may be checked together with others.
    pub is_weak: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Distance from the first access of the group in the order of the program.
    pub distance: i64,
    /// The PTX instruction.
    pub at: Option<Span>,
}

/// Accesses that are checked together before the first of them. All of them happen if the first one does.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// In the order of the program; at least one.
    pub members: Vec<Member>,
    /// The least distance of a member.
    pub lowest: i64,
    /// Bytes from there to the end of the last.
    pub span: u64,
}

/// The groups of a function's accesses.
#[derive(Default)]
pub(crate) struct Groups {
    /// For each access in the order of the program, the number of its group; `None` if it needs no check.
    pub of: Vec<Option<usize>>,
    pub list: Vec<Group>,
}

impl Groups {
    /// Groups the accesses of a function. `checked` gives `None` for those that need no check.
    pub fn of(
        body: &Block,
        is_access: impl Fn(&Stmt) -> bool,
        mut checked: impl FnMut(&Stmt) -> Option<Checked>,
    ) -> Self {
        let mut groups = Self::default();
        groups.add(body, None, &is_access, &mut checked);
        groups
    }

    fn add(
        &mut self,
        list: &Block,
        mut at: Option<Span>,
        is_access: &impl Fn(&Stmt) -> bool,
        checked: &mut impl FnMut(&Stmt) -> Option<Checked>,
    ) {
        // The last group of each kind of access from a value, and the constant of its first access.
        let mut open: FxHashMap<(Kind, Option<Value>), (usize, u64)> = FxHashMap::default();
        for stmt in list {
            match stmt {
                Stmt::At(span) => at = *span,
                Stmt::Let(..) | Stmt::Set(..) => {}
                stmt if is_access(stmt) => {
                    let checked = checked(stmt);
                    let Some(Checked { kind, place: (base, constant), is_weak }) = checked else {
                        self.of.push(None);
                        continue;
                    };
                    if !is_weak {
                        open.clear();
                    }
                    let joined = open.get(&(kind, base)).filter(|_| is_weak).and_then(|&(number, first)| {
                        let distance = distance(kind.address, first, constant);
                        self.list.get_mut(number)?.join(Member { distance, at }, kind.bytes).then_some(number)
                    });
                    let number = joined.unwrap_or_else(|| {
                        self.list.push(Group {
                            members: vec![Member { distance: 0, at }],
                            lowest: 0,
                            span: kind.bytes,
                        });
                        open.insert((kind, base), (self.list.len() - 1, constant));
                        self.list.len() - 1
                    });
                    if !is_weak {
                        open.clear();
                    }
                    self.of.push(Some(number));
                }
                stmt => {
                    open.clear();
                    stmt.lists().for_each(|list| self.add(list, at, is_access, checked));
                }
            }
        }
    }
}

impl Group {
    /// Adds an access, unless it lies too far away or is aligned in another way.
    fn join(&mut self, member: Member, bytes: u64) -> bool {
        let lowest = self.lowest.min(member.distance);
        let end = (self.lowest.saturating_add_unsigned(self.span)).max(member.distance.saturating_add_unsigned(bytes));
        let span = lowest.abs_diff(end);
        let fits = span <= MAX_SPAN && member.distance.unsigned_abs().is_multiple_of(bytes);
        if fits {
            (self.lowest, self.span) = (lowest, span);
            self.members.push(member);
        }
        fits
    }
}

/// The distance between two constants that are added to an address.
fn distance(address: Type, from: u64, to: u64) -> i64 {
    let distance = to.wrapping_sub(from);
    if address == Type::I32 { i64::from(distance as u32 as i32) } else { distance as i64 }
}

/// The value and the constant whose sum an address is. Constants are the sum of nothing and themselves.
pub(crate) fn place(definitions: &IndexVec<Value, Option<Op>>, address: Value) -> (Option<Value>, u64) {
    let (mut at, mut offset) = (address, 0_u64);
    loop {
        match definitions.of(at) {
            Some(Op::Const(bits)) => return (None, offset.wrapping_add(bits)),
            Some(Op::Binary(Binary::Add, a, c)) => match (definitions.of(a), definitions.of(c)) {
                (_, Some(Op::Const(bits))) => (at, offset) = (a, offset.wrapping_add(bits)),
                (Some(Op::Const(bits)), _) => (at, offset) = (c, offset.wrapping_add(bits)),
                _ => return (Some(at), offset),
            },
            _ => return (Some(at), offset),
        }
    }
}

/// Whether an access may be checked together with others: it orders no other accesses.
pub(crate) fn is_weak(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Load { access, .. } | Stmt::Store { access, .. } => access.order == MemoryOrder::Weak,
        _ => false,
    }
}
