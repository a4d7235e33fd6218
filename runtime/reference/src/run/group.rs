//! Subgroup operations: the result of each participating invocation, from the registers of all participants.

use super::lane::Lane;
use super::matrix;
use super::step::{Context, mask};
use super::world::{Value, Who, World};
use crate::arithmetic::undefined;
use crate::code::{Binary, FloatControls, Group, GroupOp, MatrixProduct, Pc, Scan, Slot};
use crate::config::Choice;

/// A set of invocations of a subgroup, by position.
pub(super) type Places = u128;

/// The positions in a set, in ascending order.
pub(super) fn places(mut set: Places) -> impl Iterator<Item = u32> + Clone {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        place
    })
}

/// Executes an operation for the invocations at the positions `active` of a subgroup of nominal size `size`. `pc` is
/// the instruction.
pub(super) fn execute<W: World>(
    cx: &mut Context<'_, W>,
    group: &Group,
    lanes: &mut [Lane],
    active: Places,
    size: u32,
    pc: Pc,
) {
    if W::STRICT && matches!(group.op, GroupOp::Broadcast | GroupOp::Shuffle | GroupOp::ShuffleXor) {
        for place in places(active) {
            let lane = &mut lanes[place as usize];
            let who = Who { lane: lane.index, subgroup: lane.subgroup, pc };
            cx.demand(lane.shadow.as_deref_mut(), who, group.other, "the index of an operation of the subgroup");
        }
    }
    if let GroupOp::MatrixProduct(product) = group.op {
        return multiply(cx, group, product, lanes, active, size, pc);
    }
    let mut results = [Value::default(); 128];
    for component in 0..group.results() {
        let tangle = Tangle { group, lanes, active, size, floats: &cx.launch.program.code.floats };
        if let GroupOp::Arithmetic(op, scan) = group.op {
            tangle.arithmetic(op, scan, component, cx.world.choice(), &mut results);
        } else {
            let ballot = if group.op == GroupOp::Ballot { tangle.ballot(component) } else { Value::default() };
            for place in places(active) {
                let other = || tangle.register(place, group.other).bits;
                results[place as usize] = match group.op {
                    GroupOp::Broadcast | GroupOp::Shuffle => tangle.value(other(), component),
                    GroupOp::ShuffleXor => tangle.value(u64::from(place) ^ other(), component),
                    GroupOp::Ballot | GroupOp::Arithmetic(..) | GroupOp::MatrixProduct(_) => ballot,
                };
            }
        }
        for place in places(active) {
            set(cx, &mut lanes[place as usize], group.d + component, results[place as usize], pc);
        }
    }
}

fn set<W: World>(cx: &mut Context<'_, W>, lane: &mut Lane, d: Slot, Value { bits, undefined }: Value, pc: Pc) {
    lane.registers[d as usize] = if W::STRICT { bits & !undefined | cx.arbitrary(undefined) } else { bits };
    if W::STRICT
        && let Some(shadow) = lane.shadow.as_deref_mut()
    {
        shadow.set(d, undefined, pc, &[]);
    }
}

/// A product of cooperative matrices. All of it is undefined if an element is, or if invocations are missing.
fn multiply<W: World>(
    cx: &mut Context<'_, W>,
    group: &Group,
    product: MatrixProduct,
    lanes: &mut [Lane],
    active: Places,
    size: u32,
    pc: Pc,
) {
    let in_word = product.kind.elements_of_word();
    let blocks = product.kind.columns() / 8;
    let firsts = [(group.value, 4 * in_word), (group.other, 2 * in_word * blocks), (product.addend, 4 * blocks)];
    let is_undefined = |lane: &Lane| {
        let registers = |(first, count): (Slot, u32)| first as usize..(first + count) as usize;
        let shadow = lane.shadow.as_ref();
        shadow.is_some_and(|shadow| {
            firsts.into_iter().any(|part| shadow.undefined[registers(part)].iter().any(|bits| *bits != 0))
        })
    };
    let is_whole = size == matrix::SIZE && active == Places::MAX >> (128 - size);
    let undefined = if is_whole && !lanes.iter().take(size as usize).any(is_undefined) { 0 } else { mask(group.bits) };
    let results = if is_whole {
        // Vulkan doesn't say which elements an invocation has.
        let moved = u32::from(is_open(cx.world.choice()));
        matrix::product(product, moved, |lane, part, number| {
            lanes[lane as usize].registers[(firsts[part].0 + number) as usize]
        })
    } else {
        vec![vec![0; 4 * blocks as usize]; lanes.len()]
    };
    for place in places(active) {
        for (component, &bits) in (0..).zip(&results[place as usize]) {
            set(cx, &mut lanes[place as usize], group.d + component, Value { bits, undefined }, pc);
        }
    }
}

fn is_open<C: Choice>(_: &C) -> bool {
    C::OPEN
}

impl Group {
    pub fn results(&self) -> u32 {
        match self.op {
            GroupOp::Ballot => 4,
            GroupOp::MatrixProduct(product) => product.kind.columns() / 2,
            GroupOp::Broadcast | GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::Arithmetic(..) => self.components,
        }
    }
}

/// The invocations that execute an operation together.
struct Tangle<'a> {
    group: &'a Group,
    lanes: &'a [Lane],
    active: Places,
    size: u32,
    floats: &'a FloatControls,
}

impl Tangle<'_> {
    fn register(&self, place: u32, slot: Slot) -> Value {
        let lane = &self.lanes[place as usize];
        let undefined = lane.shadow.as_ref().map_or(0, |shadow| shadow.undefined[slot as usize]);
        Value { bits: lane.registers[slot as usize], undefined }
    }

    /// The operand of an invocation. Inactive ones have an undefined value.
    fn value(&self, place: u64, component: u32) -> Value {
        if place < self.size.into() && self.active >> place & 1 != 0 {
            return self.register(place as u32, self.group.value + component);
        }
        Value { bits: 0, undefined: mask(self.group.bits) }
    }

    /// A word of a ballot.
    fn ballot(&self, component: u32) -> Value {
        let voters = places(self.active).filter(|place| place / 32 == component);
        voters.fold(Value::default(), |word, place| {
            let Value { bits, undefined } = self.register(place, self.group.value);
            let bit = |set: u64| (set & 1) << (place % 32);
            Value { bits: word.bits | bit(bits), undefined: word.undefined | bit(undefined) }
        })
    }

    fn arithmetic<C: Choice>(
        &self,
        op: Binary,
        scan: Scan,
        component: u32,
        choice: &mut C,
        results: &mut [Value; 128],
    ) {
        let identity = Value { bits: identity(op, self.group.bits), undefined: 0 };
        match scan {
            Scan::Reduce => {
                let total = self.join(op, places(self.active), component, choice);
                places(self.active).for_each(|place| results[place as usize] = total.unwrap_or(identity));
            }
            // If the order of rounding is open, each prefix is combined separately.
            Scan::Inclusive | Scan::Exclusive if C::OPEN => {
                for place in places(self.active) {
                    let own = u32::from(scan == Scan::Inclusive);
                    let before = self.active & !(Places::MAX.checked_shl(place + own).unwrap_or(0));
                    let total = self.join(op, places(before), component, choice);
                    results[place as usize] = total.unwrap_or(identity);
                }
            }
            Scan::Inclusive | Scan::Exclusive => {
                let mut total = None;
                for place in places(self.active) {
                    let value = self.value(place.into(), component);
                    let next = total.map_or(value, |total| self.joined(op, total, value, choice));
                    results[place as usize] = if scan == Scan::Inclusive { next } else { total.unwrap_or(identity) };
                    total = Some(next);
                }
            }
        }
    }

    /// Combines the values of invocations in an open order; `None` without invocations.
    fn join<C: Choice>(
        &self,
        op: Binary,
        of: impl Iterator<Item = u32>,
        component: u32,
        choice: &mut C,
    ) -> Option<Value> {
        let mut values = of.map(|place| self.value(place.into(), component));
        if !C::OPEN {
            let first = values.next()?;
            return Some(values.fold(first, |total, value| self.joined(op, total, value, choice)));
        }
        let mut values: Vec<Value> = values.collect();
        while values.len() > 1 {
            let first = values.remove(choice.pick(values.len() as u32) as usize);
            let index = choice.pick(values.len() as u32) as usize;
            values[index] = self.joined(op, first, values[index], choice);
        }
        values.pop()
    }

    fn joined<C: Choice>(&self, op: Binary, a: Value, b: Value, choice: &mut C) -> Value {
        let bits = self.group.bits;
        let undefined = if a.undefined | b.undefined == 0 {
            0
        } else {
            undefined::binary(op, bits, [a.bits, b.bits], [a.undefined, b.undefined])
        };
        Value { bits: op.apply(bits, [a.bits, b.bits], self.floats, choice), undefined }
    }
}

/// The result of an exclusive scan for the first invocation.
fn identity(op: Binary, bits: u8) -> u64 {
    match (op, bits) {
        (Binary::UMin, _) => mask(bits),
        (Binary::GroupNonUniformFMax, 16) => 0xfc00,
        (Binary::GroupNonUniformFMax, 32) => 0xff80_0000,
        (Binary::GroupNonUniformFMax, _) => 0xfff0_0000_0000_0000,
        // Sums.
        _ => 0,
    }
}
