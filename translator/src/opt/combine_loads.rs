//! Loads of neighbouring words of shared memory become one load of a vector, where its alignment is known: compilers that take
//! PTX do so, and devices read 16 bytes as fast as 4.

use rustc_hash::{FxHashMap, FxHashSet};

use super::alignment::Alignment;
use crate::index::IndexVec;
use crate::ir::{Access, Binary, Block, Function, MemoryOrder, Op, Space, Stmt, Type, Value};

/// Bytes of the widest load.
const WIDEST: u32 = 16;

/// Combines loads that stand in one list with nothing between them that writes shared memory or orders accesses.
pub fn combine_loads(function: &mut Function) {
    let mut combiner = Combiner {
        alignment: Alignment::of(function),
        places: IndexVec::filled(None, function.values.len()),
        function,
    };
    let mut body = std::mem::take(&mut combiner.function.body);
    combiner.list(&mut body);
    combiner.function.body = body;
}

/// An address: a value plus a constant.
type BaseOffset = (Option<Value>, u32);

struct Combiner<'f> {
    function: &'f mut Function,
    alignment: Alignment,
    /// Of the values seen so far, those that are a sum with a constant, or one.
    places: IndexVec<Value, Option<BaseOffset>>,
}

/// A load of one element.
#[derive(Clone, Copy)]
struct Load {
    /// Its number in the list.
    index: usize,
    result: Value,
    access: Access,
    place: BaseOffset,
}

/// A list under way. It lies on the heap: the recursion must fit a small stack.
struct Level {
    list: Vec<Option<Stmt>>,
    /// The statements that replace a load.
    wide: FxHashMap<usize, Vec<Stmt>>,
    run: Vec<Load>,
}

impl Level {
    #[inline(never)]
    fn new(list: Block) -> Box<Self> {
        let list = list.into_iter().map(Some).collect();
        Box::new(Self { list, wide: FxHashMap::default(), run: Vec::new() })
    }

    #[inline(never)]
    fn finish(&mut self) -> Block {
        let Self { list, wide, .. } = self;
        let statements = std::mem::take(list).into_iter().enumerate().flat_map(|(index, stmt)| {
            let instead = wide.remove(&index).unwrap_or_default();
            instead.into_iter().chain(stmt)
        });
        statements.collect()
    }
}

impl Combiner<'_> {
    fn list(&mut self, list: &mut Block) {
        let mut level = Level::new(std::mem::take(list));
        for index in 0..level.list.len() {
            match &mut level.list[index] {
                Some(stmt @ (Stmt::If { .. } | Stmt::Loop(_))) => {
                    stmt.lists_mut().for_each(|list| self.list(list));
                    self.combine(&mut level);
                }
                _ => self.statement(&mut level, index),
            }
        }
        self.combine(&mut level);
        *list = level.finish();
    }

    /// Sees a statement without lists.
    #[inline(never)]
    fn statement(&mut self, level: &mut Level, index: usize) {
        match &level.list[index] {
            Some(Stmt::Let(value, op)) => self.note(*value, op),
            Some(stmt) => match self.load(index, stmt) {
                Some(load) => level.run.push(load),
                None if is_passed(stmt) => {}
                None => self.combine(level),
            },
            None => {}
        }
    }

    fn note(&mut self, value: Value, op: &Op) {
        let place = match *op {
            Op::Const(bits) => u32::try_from(bits).ok().map(|bits| (None, bits)),
            Op::Binary(Binary::Add, a, b) if self.function.type_of(value) == Type::I32 => {
                match (self.place(a), self.place(b)) {
                    ((base, offset), (None, more)) | ((None, more), (base, offset)) => {
                        Some((base, offset.wrapping_add(more)))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(entry) = self.places.at_mut(value) {
            *entry = place;
        }
    }

    fn place(&self, value: Value) -> BaseOffset {
        self.places.of(value).unwrap_or((Some(value), 0))
    }

    /// A load that may be combined with others.
    fn load(&self, index: usize, stmt: &Stmt) -> Option<Load> {
        let Stmt::Load { results, access, address } = stmt else { return None };
        let [result] = results[..] else { return None };
        let is_plain = access.space == Space::Shared && access.order == MemoryOrder::Weak;
        (is_plain && matches!(access.bytes, 4 | 8)).then(|| Load {
            index,
            result,
            access: *access,
            place: self.place(*address),
        })
    }

    /// Combines the loads of a run as far as possible; then the run is empty.
    #[inline(never)]
    fn combine(&mut self, Level { list, wide, run }: &mut Level) {
        let mut seen = FxHashSet::default();
        let mut loads: Vec<Load> =
            std::mem::take(run).into_iter().filter(|load| seen.insert((load.place, load.access))).collect();
        // Addresses that are constants come last.
        let base = |load: &Load| (load.place.0.is_none(), load.place.0);
        loads.sort_by_key(|load| (base(load), load.access.bytes, load.access.read_only, load.place.1));
        let mut rest = &loads[..];
        while let Some(first) = rest.first() {
            let most = (WIDEST / u32::from(first.access.bytes)) as usize;
            let fitting = [most, 2].into_iter().find(|&count| self.fit(rest, count));
            let (group, after) = rest.split_at(fitting.unwrap_or(1));
            if group.len() > 1 {
                let at = group.iter().map(|load| load.index).min().unwrap_or(first.index);
                wide.insert(at, self.wide(group));
                group.iter().for_each(|load| list[load.index] = None);
            }
            rest = after;
        }
    }

    /// Whether the first loads of a sorted list are neighbours that one aligned vector holds.
    fn fit(&self, loads: &[Load], count: usize) -> bool {
        let Some(group) = loads.get(..count) else { return false };
        let Load { access, place: (base, offset), .. } = group[0];
        let bytes = u32::from(access.bytes);
        let follows = |(number, load): (u32, &Load)| {
            load.access == access && load.place == (base, offset.wrapping_add(number * bytes))
        };
        let zeros = base.map_or(u32::BITS, |base| self.alignment.zeros(base)).min(offset.trailing_zeros());
        let size = bytes * count as u32;
        zeros >= size.trailing_zeros() && (0..).zip(group).all(follows)
    }

    fn wide(&mut self, group: &[Load]) -> Vec<Stmt> {
        let Load { access, place: (base, offset), .. } = group[0];
        let constant = self.function.value(Type::I32);
        let mut stmts = vec![Stmt::Let(constant, Op::Const(offset.into()))];
        let mut address = constant;
        if let Some(base) = base {
            address = self.function.value(Type::I32);
            stmts.push(Stmt::Let(address, Op::Binary(Binary::Add, base, constant)));
        }
        let results = group.iter().map(|load| load.result).collect();
        stmts.push(Stmt::Load { results, access, address });
        stmts
    }
}

/// Whether loads of shared memory may move across a statement.
fn is_passed(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::At(_) | Stmt::Let(..) | Stmt::Set(..) => true,
        Stmt::Load { access, .. } => access.order == MemoryOrder::Weak,
        Stmt::Store { access, .. } => {
            access.order == MemoryOrder::Weak && matches!(access.space, Space::Global | Space::Local)
        }
        _ => false,
    }
}
