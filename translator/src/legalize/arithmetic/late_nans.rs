//! Which variables may hold any NaN until somebody sees it: the sums of loops, whose additions then need no test of their own.

use super::exposed::Exposed;
use crate::index::IndexVec;
use crate::ir::{Binary, Block, Function, Op, Stmt, Type, Unary, Value, Var};
use crate::soft::SINGLE;

/// Rounds until variables that still change count as any bits: each of them takes a walk over the function.
const ROUNDS: usize = 8;

/// For each variable, whether reading it may replace its NaN instead of assigning it: all that it is assigned are numbers and NVIDIA's NaN on
/// f32, and its bits are seen outside of the loops alone that compute them.
pub fn late_nans(function: &Function, exposed: &Exposed) -> IndexVec<Var, bool> {
    let mut found = LateNans {
        function,
        exposed,
        values: IndexVec::filled(Content::Bits, function.values.len()),
        vars: function.vars.indices().map(|var| is_single(function.vars[var])).collect(),
        changed: true,
        set: IndexVec::filled(0, function.vars.len()),
        seen: IndexVec::filled(u32::MAX, function.vars.len()),
    };
    for round in 0.. {
        if !found.changed {
            break;
        }
        found.changed = false;
        if round == ROUNDS {
            found.vars.fill(false);
        }
        found.list(&function.body, 0);
    }
    let LateNans { vars, set, seen, .. } = found;
    vars.indices().map(|var| vars[var] && seen[var] < set[var]).collect()
}

/// What a value holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    /// What may be another NaN than NVIDIA's.
    Bits,
    /// A number or NVIDIA's NaN.
    Number,
    /// A result that was marked so.
    Marked,
}

struct LateNans<'f> {
    function: &'f Function,
    exposed: &'f Exposed,
    values: IndexVec<Value, Content>,
    /// Whether a variable holds numbers and NVIDIA's NaN.
    vars: IndexVec<Var, bool>,
    changed: bool,
    /// In how many loops a variable is assigned a marked result, at most.
    set: IndexVec<Var, u32>,
    /// In how many loops its bits are seen, at most; `u32::MAX` for nowhere.
    seen: IndexVec<Var, u32>,
}

impl LateNans<'_> {
    fn list(&mut self, list: &Block, loops: u32) {
        for stmt in list {
            match stmt {
                Stmt::Let(value, op) => {
                    self.values[*value] = self.content(*value, *op);
                    if let Op::Get(var) = *op
                        && self.exposed.value(*value)
                    {
                        let seen = self.seen[var];
                        self.seen[var] = if seen == u32::MAX { loops } else { seen.max(loops) };
                    }
                }
                Stmt::Set(var, value) => match self.values[*value] {
                    Content::Bits => self.changed |= std::mem::take(&mut self.vars[*var]),
                    Content::Number => {}
                    Content::Marked => self.set[*var] = self.set[*var].max(loops),
                },
                Stmt::If { then, otherwise, .. } => {
                    self.list(then, loops);
                    self.list(otherwise, loops);
                }
                Stmt::Loop(body) => self.list(body, loops + 1),
                _ => {}
            }
        }
    }

    fn content(&self, value: Value, op: Op) -> Content {
        let types = &self.function.values;
        match op {
            _ if !is_single(types[value]) => Content::Bits,
            Op::Const(bits) if bits & (SINGLE.sign() - 1) <= SINGLE.infinity() || bits == SINGLE.nan => Content::Number,
            Op::Get(var) if self.vars[var] => Content::Number,
            Op::Binary(Binary::OrNan, _, nan) if self.exposed.constant(nan) == Some(SINGLE.nan) => Content::Marked,
            Op::Unary(Unary::Bitcast(_), a) if is_single(types[a]) => self.values[a],
            Op::Select(_, a, b) if self.values[a].min(self.values[b]) > Content::Bits => {
                self.values[a].max(self.values[b])
            }
            _ => Content::Bits,
        }
    }
}

fn is_single(ty: Type) -> bool {
    [Type::I32, Type::F32].contains(&ty)
}
