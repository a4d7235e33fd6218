//! Variables that may hold any NaN until their bits are seen: the sums of loops, whose additions then need no test of
//! their own.

use super::exposed::Exposed;
use crate::index::IndexVec;
use crate::ir::{Binary, Block, Fact, Flow, Function, Op, Stmt, Type, Unary, Value, Var};
use crate::soft::SINGLE;

/// For each variable, whether reading it may replace its NaN instead of assigning it: all that it is assigned are numbers and NVIDIA's NaN on
/// f32, and its bits are seen outside of the loops alone that compute them.
pub fn late_nans(function: &Function, exposed: &Exposed) -> IndexVec<Var, bool> {
    let contents = Flow::forward(function, |contents, result, stmt| match stmt {
        Stmt::Let(_, op) => content(function, exposed, contents, result, *op),
        _ => Content::Bits,
    });
    let mut depths = Depths {
        contents: &contents,
        exposed,
        set: IndexVec::filled(0, function.vars.len()),
        seen: IndexVec::filled(None, function.vars.len()),
    };
    depths.list(&function.body, 0);
    let Depths { set, seen, .. } = depths;
    let is_late = |var: Var| contents.var(var) < Content::Bits && seen[var].is_some_and(|seen| seen < set[var]);
    function.vars.indices().map(is_late).collect()
}

/// The content of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    /// A number or NVIDIA's NaN.
    Number,
    /// The same, as a result that was marked so.
    Marked,
    /// Bits that may be those of another NaN than NVIDIA's.
    Bits,
}

impl Fact for Content {
    const LEAST: Content = Content::Number;
    const MOST_WALKS: Option<(usize, Content)> = Some((8, Content::Bits));

    fn join(self, other: Content) -> Content {
        self.max(other)
    }

    fn read(self) -> Content {
        if self == Content::Marked { Content::Number } else { self }
    }
}

fn content(function: &Function, exposed: &Exposed, contents: &Flow<Content>, value: Value, op: Op) -> Content {
    let is_single = |value| matches!(function.type_of(value), Type::I32 | Type::F32);
    let of = |value| contents.at(value).unwrap_or(Content::Bits);
    match op {
        _ if !is_single(value) => Content::Bits,
        Op::Const(bits) if bits & (SINGLE.sign() - 1) <= SINGLE.infinity() || bits == SINGLE.nan => Content::Number,
        Op::Binary(Binary::OrNan, _, nan) if exposed.constant(nan) == Some(SINGLE.nan) => Content::Marked,
        Op::Unary(Unary::Bitcast(_), a) if is_single(a) => of(a),
        Op::Select(_, a, b) => of(a).join(of(b)),
        _ => Content::Bits,
    }
}

/// The depths in loops at which variables are used.
struct Depths<'f> {
    contents: &'f Flow<Content>,
    exposed: &'f Exposed,
    /// The depth of the deepest loop in which a variable is assigned a marked result.
    set: IndexVec<Var, u32>,
    /// The depth of the deepest loop in which the bits of a variable are seen; `None` for nowhere.
    seen: IndexVec<Var, Option<u32>>,
}

impl Depths<'_> {
    fn list(&mut self, list: &Block, loops: u32) {
        for stmt in list {
            match stmt {
                Stmt::Let(value, Op::Get(var)) if self.exposed.value(*value) => {
                    self.seen[*var] = self.seen[*var].max(Some(loops));
                }
                Stmt::Set(var, value) if self.contents.at(*value) == Some(Content::Marked) => {
                    self.set[*var] = self.set[*var].max(loops);
                }
                Stmt::Loop(body) => self.list(body, loops + 1),
                Stmt::If { .. } => stmt.lists().for_each(|list| self.list(list, loops)),
                _ => {}
            }
        }
    }
}
