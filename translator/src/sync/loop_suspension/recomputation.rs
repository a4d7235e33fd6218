//! Recomputes variables that a suspended thread need not save, since a few operations give their values again:
//! parameters, the numbers of thread and block, constants that the compiler moved out of loops, addresses of elements
//! that are a sum of others. Each word that is saved costs two accesses, for which drivers take long to compile, and a
//! restored value counts as different in each thread.
//!
//! Reads of such variables become the operations. That needs no knowledge of suspension: a variable with a single
//! assignment whose operands haven't been assigned since, on whichever way control came, has the value that the
//! assignment's operations give (available expressions).

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::liveness::live_at_any;
use crate::cfg::{BlockId, Cfg};
use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Function, Op, Stmt, Type, Unary, Value, Var, VarSet, Varies, for_each_assigned,
    for_each_op_operand, map_op_operands,
};

/// The most operations that take the place of a read. Constants and reads don't count.
const MOST_OPERATIONS: usize = 6;
/// The most variables that they may read.
const MOST_LEAVES: usize = 3;
/// The least number of unsaved variables that come from one variable for that variable to be saved in their place.
const LEAST_SHARING: usize = 3;

/// Lets reads of variables that are live where one of these blocks begins become operations, where that leaves less to be live.
pub fn recompute(function: &mut Function, cfg: &mut Cfg, heads: &[BlockId]) {
    let saved = live_at_any(function, cfg, heads);
    let mut recipes = Recipes::of(function, cfg);
    let entries = recipes.available(cfg);
    recipes.find_readable(cfg, &entries);
    recipes.choose(&saved);
    for block in cfg.blocks.indices().collect::<Vec<_>>() {
        let (Some(entry), Some(block)) = (entries.at(block), cfg.blocks.at_mut(block)) else { continue };
        let body = std::mem::take(&mut block.body);
        let b = Builder::new(function);
        recipes.replace(&b, body, &mut Place::at(entry));
        block.body = b.into_block();
    }
}

/// The computation of a variable.
struct Recipe {
    var: Var,
    /// Operations, operands first; the last gives the value. Among them are reads of other variables.
    operations: Vec<(Value, Op)>,
    /// The variables that are read.
    leaves: Vec<Var>,
    /// The leaves that are computed too.
    expanded: Vec<Var>,
}

/// A place in a block.
struct Place {
    /// The recipes by which variables can be computed there.
    available: FixedBitSet,
    /// The variables that the block has assigned before. They carry nothing from elsewhere.
    own: FxHashSet<Var>,
}

impl Place {
    fn at(entry: &FixedBitSet) -> Self {
        Self { available: entry.clone(), own: FxHashSet::default() }
    }
}

struct Recipes {
    list: Vec<Recipe>,
    of: FxHashMap<Var, usize>,
    /// The recipes that read a variable.
    readers: FxHashMap<Var, Vec<usize>>,
    /// The recipes that are available wherever their variables are read.
    readable: FixedBitSet,
    /// The recipes that take the place of reads.
    chosen: FixedBitSet,
}

impl Recipes {
    /// The recipes of the variables with a single assignment.
    fn of(function: &Function, cfg: &Cfg) -> Self {
        let mut assignments = IndexVec::filled(0_u32, function.vars.len());
        for block in &cfg.blocks {
            for_each_assigned(&block.body, &mut |var| assignments[var] += 1);
        }
        let mut this = Self {
            list: Vec::new(),
            of: FxHashMap::default(),
            readers: FxHashMap::default(),
            readable: FixedBitSet::new(),
            chosen: FixedBitSet::new(),
        };
        for block in &cfg.blocks {
            let mut known = Known::default();
            for (position, stmt) in block.body.iter().enumerate() {
                match stmt {
                    Stmt::Let(value, op) => _ = known.values.insert(*value, (position, *op)),
                    Stmt::Set(var, value) if assignments[*var] == 1 => {
                        if let Some(recipe) = known.recipe(function, *var, *value) {
                            this.add(recipe);
                        }
                    }
                    _ => {}
                }
                for_each_assigned(std::slice::from_ref(stmt), &mut |var| _ = known.assigned.insert(var, position));
            }
        }
        this
    }

    fn add(&mut self, recipe: Recipe) {
        let number = self.list.len();
        self.of.insert(recipe.var, number);
        for leaf in &recipe.leaves {
            self.readers.entry(*leaf).or_default().push(number);
        }
        self.list.push(recipe);
    }

    /// The recipes that are available where blocks begin: on all ways to there.
    fn available(&self, cfg: &Cfg) -> IndexVec<BlockId, FixedBitSet> {
        let mut all = FixedBitSet::with_capacity(self.list.len());
        all.insert_range(..);
        let mut entries = IndexVec::filled(all, cfg.blocks.len());
        if let Some(entry) = entries.at_mut(BlockId::ENTRY) {
            entry.clear();
        }
        let order = cfg.reverse_postorder();
        let mut changed = true;
        // This ends: fewer and fewer are available.
        while changed {
            changed = false;
            for number in order.iter().copied() {
                let (Some(entry), Some(block)) = (entries.at(number), cfg.blocks.at(number)) else { continue };
                let mut place = Place::at(entry);
                block.body.iter().for_each(|stmt| self.pass(stmt, &mut place));
                for next in block.end.successors() {
                    let Some(entry) = entries.at_mut(next) else { continue };
                    changed |= !entry.is_subset(&place.available);
                    entry.intersect_with(&place.available);
                }
            }
        }
        entries
    }

    /// Goes over a statement.
    fn pass(&self, stmt: &Stmt, place: &mut Place) {
        for_each_assigned(std::slice::from_ref(stmt), &mut |var| {
            for reader in self.readers.get(&var).into_iter().flatten() {
                place.available.remove(*reader);
            }
        });
        // A recipe is that of its variable's only assignment.
        if let Stmt::Set(var, _) = stmt {
            place.own.insert(*var);
            if let Some(number) = self.of.get(var) {
                place.available.insert(*number);
            }
        }
    }

    /// Finds the recipes that are available at all reads of their variables but those behind the assignment in its block.
    fn find_readable(&mut self, cfg: &Cfg, entries: &IndexVec<BlockId, FixedBitSet>) {
        let mut lacking = FixedBitSet::with_capacity(self.list.len());
        for (number, block) in cfg.blocks.enumerated() {
            let Some(entry) = entries.at(number) else { continue };
            self.look(&block.body, &mut Place::at(entry), &mut lacking);
        }
        self.readable = FixedBitSet::with_capacity(self.list.len());
        self.readable.insert_range(..);
        self.readable.difference_with(&lacking);
    }

    fn look(&self, list: &[Stmt], place: &mut Place, lacking: &mut FixedBitSet) {
        for stmt in list {
            if let Stmt::Let(_, Op::Get(var)) = stmt
                && let Some(number) = self.of.get(var)
                && !place.own.contains(var)
                && !place.available.contains(*number)
            {
                lacking.insert(*number);
            }
            self.pass(stmt, place);
            stmt.lists().for_each(|list| self.look(list, place, lacking));
        }
    }

    /// Leaves of the chosen recipes those of saved variables that come from other saved variables, or share with others
    /// the variable that is saved instead.
    fn choose(&mut self, saved: &VarSet) {
        let mut costs = vec![None; self.list.len()];
        self.chosen = self.readable.ones().filter(|number| saved.contains(self.list[*number].var)).collect();
        let mut sharing: FxHashMap<Var, usize> = FxHashMap::default();
        for number in self.chosen.ones() {
            self.cost(number, &mut costs, &mut Vec::new());
        }
        let leaves_of = |number: usize| costs[number].iter().flat_map(|cost: &Cost| &cost.leaves);
        for leaf in self.chosen.ones().flat_map(leaves_of) {
            *sharing.entry(*leaf).or_default() += 1;
        }
        let is_cheap = |leaf: &Var| saved.contains(*leaf) || sharing.get(leaf) >= Some(&LEAST_SHARING);
        let is_worth = |number: &usize| costs[*number].is_some() && leaves_of(*number).all(is_cheap);
        let mut chosen: FixedBitSet = self.chosen.ones().filter(is_worth).collect();
        chosen.grow(self.list.len());
        // Those are saved.
        let leaves: Vec<Var> = chosen.ones().flat_map(leaves_of).copied().collect();
        for leaf in leaves.iter().filter_map(|leaf| self.of.get(leaf)) {
            chosen.remove(*leaf);
        }
        self.chosen = chosen;
        for (recipe, cost) in self.list.iter_mut().zip(costs) {
            recipe.expanded = cost.map_or_else(Vec::new, |cost| cost.expanded);
        }
    }

    /// The cost of a recipe with the recipes of its leaves, as far as these aren't too long; `None` if the recipe is
    /// too long by itself. `under_way` are the recipes that ask for the cost.
    fn cost(&self, number: usize, costs: &mut [Option<Cost>], under_way: &mut Vec<usize>) -> Option<Cost> {
        if under_way.contains(&number) || under_way.len() > MOST_OPERATIONS {
            return None;
        }
        if let Some(known) = &costs[number] {
            return Some(known.clone());
        }
        let recipe = &self.list[number];
        let counts = |op: &Op| !matches!(op, Op::Const(_) | Op::Get(_));
        let operations = recipe.operations.iter().filter(|(_, op)| counts(op)).count();
        let mut cost = Cost { operations, leaves: recipe.leaves.clone(), expanded: Vec::new() }.fitting()?;
        under_way.push(number);
        for leaf in &recipe.leaves {
            let inner = self.of.get(leaf).filter(|inner| self.readable.contains(**inner));
            let inner = inner.and_then(|inner| self.cost(*inner, costs, under_way));
            if let Some(larger) = inner.and_then(|inner| cost.expand(*leaf, &inner).fitting()) {
                cost = larger;
            }
        }
        under_way.pop();
        costs[number] = Some(cost.clone());
        Some(cost)
    }

    /// Appends a list with the chosen recipes in the place of reads.
    fn replace(&self, b: &Builder<'_>, list: Block, place: &mut Place) {
        for mut stmt in list {
            if let Stmt::Let(value, Op::Get(var)) = stmt
                && !place.own.contains(&var)
                && let Some(number) = self.of.get(&var).filter(|number| self.chosen.contains(**number))
                && let Some(op) = self.operation(b, *number, place)
            {
                b.push(Stmt::Let(value, op));
                continue;
            }
            self.pass(&stmt, place);
            if let Stmt::If { then, otherwise, .. } = &mut stmt {
                self.replace_nested(b, then, place);
                self.replace_nested(b, otherwise, place);
            } else if let Stmt::Loop(body) = &mut stmt {
                self.replace_nested(b, body, place);
            }
            b.push(stmt);
        }
    }

    fn replace_nested(&self, b: &Builder<'_>, list: &mut Block, place: &mut Place) {
        let outer = b.take_block();
        self.replace(b, std::mem::take(list), place);
        *list = b.replace_block(outer);
    }

    /// The last operation of a recipe, after the others, if it is available.
    fn operation(&self, b: &Builder<'_>, number: usize, place: &Place) -> Option<Op> {
        if !place.available.contains(number) {
            return None;
        }
        let recipe = self.list.get(number)?;
        let mut new: FxHashMap<Value, Value> = FxHashMap::default();
        let mut last = None;
        for (value, op) in &recipe.operations {
            if let Some((value, op)) = last.take() {
                new.insert(value, b.op(b.type_of(value), op));
            }
            let op = match *op {
                Op::Get(leaf) => {
                    let inner = self.of.get(&leaf).filter(|_| recipe.expanded.contains(&leaf));
                    inner.and_then(|inner| self.operation(b, *inner, place)).unwrap_or(Op::Get(leaf))
                }
                op => map_op_operands(op, |operand| new.get(&operand).copied().unwrap_or(operand)),
            };
            last = Some((*value, op));
        }
        last.map(|(_, op)| op)
    }
}

/// The operations and reads that take the place of a read.
#[derive(Clone)]
struct Cost {
    operations: usize,
    /// The variables that are read in the end.
    leaves: Vec<Var>,
    /// The leaves of the recipe itself that are computed too.
    expanded: Vec<Var>,
}

impl Cost {
    /// The cost where a leaf is computed too.
    fn expand(&self, leaf: Var, inner: &Self) -> Self {
        let mut cost = self.clone();
        cost.operations += inner.operations;
        cost.leaves.retain(|var| *var != leaf);
        cost.leaves.extend(inner.leaves.iter().copied());
        cost.leaves.sort_unstable();
        cost.leaves.dedup();
        cost.expanded.push(leaf);
        cost
    }

    /// The cost, unless that is too much.
    fn fitting(self) -> Option<Self> {
        (self.operations <= MOST_OPERATIONS && self.leaves.len() <= MOST_LEAVES).then_some(self)
    }
}

/// Facts about a block's values and variables before a statement.
#[derive(Default)]
struct Known {
    /// The operations that give values, with their positions.
    values: FxHashMap<Value, (usize, Op)>,
    /// Positions of the last assignments of variables.
    assigned: FxHashMap<Var, usize>,
}

impl Known {
    /// The computation of a variable that is assigned a value here.
    fn recipe(&self, function: &Function, var: Var, value: Value) -> Option<Recipe> {
        let mut recipe = Recipe { var, operations: Vec::new(), leaves: Vec::new(), expanded: Vec::new() };
        (self.collect(function, value, &mut recipe, 2 * MOST_OPERATIONS) && !recipe.leaves.contains(&var))
            .then_some(recipe)
    }

    /// Adds the operations that give a value to a recipe, if all of them can be repeated cheaply, at most so many after each other.
    fn collect(&self, function: &Function, value: Value, recipe: &mut Recipe, most: usize) -> bool {
        if recipe.operations.iter().any(|(known, _)| *known == value) {
            return true;
        }
        let Some((position, op)) = self.values.get(&value) else { return false };
        let is_able = match op {
            Op::Get(var) => {
                if !recipe.leaves.contains(var) {
                    recipe.leaves.push(*var);
                }
                // Since then, another value may have been assigned.
                self.assigned.get(var).is_none_or(|assigned| assigned < position)
            }
            Op::Builtin(builtin) => builtin.varies() != Varies::InTime,
            Op::Const(_) => true,
            Op::Unary(op, _) => matches!(
                op,
                Unary::Truncate | Unary::ZeroExtend | Unary::SignExtend | Unary::Not | Unary::Neg | Unary::Bitcast(_)
            ),
            Op::Binary(op, ..) => matches!(
                op,
                Binary::Add
                    | Binary::Sub
                    | Binary::Mul
                    | Binary::And
                    | Binary::Or
                    | Binary::Xor
                    | Binary::Shl
                    | Binary::Shr
                    | Binary::Sar
            ),
            Op::Compare(_, a, _) => matches!(function.type_of(*a), Type::I32 | Type::I64),
            _ => false,
        };
        let mut are_able = is_able && most > 0 && recipe.operations.len() <= 3 * MOST_OPERATIONS;
        for_each_op_operand(*op, |operand| are_able = are_able && self.collect(function, operand, recipe, most - 1));
        recipe.operations.push((value, *op));
        are_able
    }
}
