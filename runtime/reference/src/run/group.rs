//! Subgroup operations: the result of each participating invocation, from the registers of all participants.

use super::lane::Lane;
use super::matrix;
use super::step::{Context, mask};
use super::world::{Value, Who, World};
use crate::arithmetic::{self, undefined};
use crate::code::{Binary, FloatControls, Group, GroupArithmetic, GroupOp, MatrixProduct, Pc, Scan, Slot};
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
    if W::STRICT && uses_other(group.op) {
        for place in places(active) {
            let lane = &mut lanes[place as usize];
            let who = Who { lane: lane.index, subgroup: lane.subgroup, pc };
            cx.demand(lane.shadow.as_deref_mut(), who, group.other, "the index of an operation of the subgroup");
        }
    }
    if let GroupOp::MatrixProduct(product) = group.op {
        return multiply(cx, group, product, lanes, active, size, pc);
    }
    let floats = &cx.launch.program.code.floats;
    let tangle = Tangle { group, lanes, active, size, floats };
    let mut results = [Value::default(); 128];
    for component in 0..group.results() {
        tangle.component(component, cx.world.choice(), &mut results);
        let d = group.d + component;
        for place in places(active) {
            let Value { bits, undefined } = results[place as usize];
            let filled = if W::STRICT { bits & !undefined | cx.arbitrary(undefined) } else { bits };
            let lane = &mut tangle.lanes[place as usize];
            lane.registers[d as usize] = filled;
            if W::STRICT
                && let Some(shadow) = lane.shadow.as_deref_mut()
            {
                shadow.set(d, undefined, pc, &[]);
            }
        }
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
    let firsts = [(group.value, 4 * in_word), (group.other, 2 * in_word), (product.addend, 4)];
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
        matrix::product(product, moved, |lane, numbers| {
            let registers = &lanes[lane as usize].registers;
            [0, 1, 2].map(|part| registers[(firsts[part].0 + numbers[part]) as usize])
        })
    } else {
        vec![[0; 4]; lanes.len()]
    };
    for place in places(active) {
        for (component, bits) in (0..).zip(results[place as usize]) {
            let filled = if W::STRICT { bits & !undefined | cx.arbitrary(undefined) } else { bits };
            let lane = &mut lanes[place as usize];
            lane.registers[(group.d + component) as usize] = filled;
            if W::STRICT
                && let Some(shadow) = lane.shadow.as_deref_mut()
            {
                shadow.set(group.d + component, undefined, pc, &[]);
            }
        }
    }
}

fn is_open<C: Choice>(_: &C) -> bool {
    C::OPEN
}

/// Whether the second operand selects another invocation.
fn uses_other(op: GroupOp) -> bool {
    matches!(
        op,
        GroupOp::Broadcast
            | GroupOp::BallotBitExtract
            | GroupOp::Shuffle
            | GroupOp::ShuffleXor
            | GroupOp::ShuffleUp
            | GroupOp::ShuffleDown
            | GroupOp::Rotate { .. }
            | GroupOp::QuadBroadcast
    )
}

impl Group {
    /// Number of registers of the result.
    pub fn results(&self) -> u32 {
        match self.op {
            GroupOp::Ballot | GroupOp::MatrixProduct(_) => 4,
            GroupOp::Broadcast
            | GroupOp::BroadcastFirst
            | GroupOp::Shuffle
            | GroupOp::ShuffleXor
            | GroupOp::ShuffleUp
            | GroupOp::ShuffleDown
            | GroupOp::Rotate { .. }
            | GroupOp::Arithmetic(..)
            | GroupOp::QuadBroadcast
            | GroupOp::QuadSwap(_) => self.components,
            _ => 1,
        }
    }
}

/// The invocations that execute an operation together.
struct Tangle<'a> {
    group: &'a Group,
    lanes: &'a mut [Lane],
    active: Places,
    size: u32,
    floats: &'a FloatControls,
}

impl Tangle<'_> {
    /// Sets a component of the result for each participant.
    fn component<C: Choice>(&self, component: u32, choice: &mut C, results: &mut [Value; 128]) {
        let mut each = |result: &dyn Fn(u32) -> Value| {
            for place in places(self.active) {
                results[place as usize] = result(place);
            }
        };
        let size = self.size;
        let other = |place| self.register(place, self.group.other).bits;
        let from = |source: Option<u64>| match source {
            Some(source) if source < size.into() => self.value(source as u32, component),
            _ => self.nothing(),
        };
        match self.group.op {
            GroupOp::Elect => each(&|place| truth(place == self.active.trailing_zeros())),
            GroupOp::All => {
                let result = self.any(|value| value.bits == 0).negated();
                each(&|_| result);
            }
            GroupOp::Any => {
                let result = self.any(|value| value.bits != 0);
                each(&|_| result);
            }
            GroupOp::AllEqual { float } => {
                let result = self.all_equal(float, choice);
                each(&|_| result);
            }
            GroupOp::Broadcast | GroupOp::Shuffle => each(&|place| from(Some(other(place)))),
            GroupOp::BroadcastFirst => each(&|_| self.value(self.active.trailing_zeros(), component)),
            GroupOp::ShuffleXor => each(&|place| from(Some(u64::from(place) ^ other(place)))),
            GroupOp::ShuffleUp => each(&|place| from(u64::from(place).checked_sub(other(place)))),
            GroupOp::ShuffleDown => each(&|place| from(u64::from(place).checked_add(other(place)))),
            GroupOp::Rotate { cluster } => {
                let cluster = u64::from(if cluster == 0 { size } else { cluster });
                each(&|place| {
                    let place = u64::from(place);
                    let turned = (place % cluster + other(place as u32) % cluster) % cluster;
                    from(Some(place - place % cluster + turned))
                });
            }
            GroupOp::QuadBroadcast => {
                each(&|place| from(other(place).checked_add((place & !3).into()).filter(|_| other(place) < 4)));
            }
            GroupOp::QuadSwap(direction) => {
                each(&|place| from(Some(u64::from(place) ^ (u64::from(direction & 3) + 1).min(3))));
            }
            // It has its own function.
            GroupOp::MatrixProduct(_) => {}
            GroupOp::Ballot => {
                let voters = places(self.active).filter(|place| place / 32 == component);
                let word = voters.fold(Value::default(), |word, place| {
                    let Value { bits, undefined } = self.value(place, 0);
                    let bit = |set: u64| (set & 1) << (place % 32);
                    Value { bits: word.bits | bit(bits), undefined: word.undefined | bit(undefined) }
                });
                each(&|_| word);
            }
            GroupOp::InverseBallot => each(&|place| self.ballot(place).bit(place)),
            GroupOp::BallotBitExtract => each(&|place| match other(place) {
                bit if bit < size.into() => self.ballot(place).bit(bit as u32),
                _ => self.nothing(),
            }),
            GroupOp::BallotBitCount(scan) => each(&|place| {
                let counted = match scan {
                    Scan::Reduce | Scan::Clustered(_) => self.all(),
                    Scan::Inclusive => Places::MAX >> (127 - place),
                    Scan::Exclusive => !(Places::MAX << place),
                };
                let Ballot { bits, undefined } = self.ballot(place).within(counted & self.all());
                number(bits.count_ones(), undefined)
            }),
            GroupOp::BallotFindLsb => each(&|place| {
                let Ballot { bits, undefined } = self.ballot(place).within(self.all());
                if bits == 0 { self.nothing() } else { number(bits.trailing_zeros(), undefined) }
            }),
            GroupOp::BallotFindMsb => each(&|place| {
                let Ballot { bits, undefined } = self.ballot(place).within(self.all());
                if bits == 0 { self.nothing() } else { number(127 - bits.leading_zeros(), undefined) }
            }),
            GroupOp::Arithmetic(op, scan) => self.arithmetic(op, scan, component, choice, results),
        }
    }

    /// All positions of a full subgroup.
    fn all(&self) -> Places {
        Places::MAX >> (128 - self.size)
    }

    fn register(&self, place: u32, slot: Slot) -> Value {
        let lane = &self.lanes[place as usize];
        let undefined = lane.shadow.as_ref().map_or(0, |shadow| shadow.undefined[slot as usize]);
        Value { bits: lane.registers[slot as usize], undefined }
    }

    /// The operand of an invocation. Inactive ones have an undefined value.
    fn value(&self, place: u32, component: u32) -> Value {
        if self.active >> place & 1 == 0 {
            return self.nothing();
        }
        self.register(place, self.group.value + component)
    }

    /// An undefined value.
    fn nothing(&self) -> Value {
        let bits = match self.group.op {
            GroupOp::BallotFindLsb | GroupOp::BallotFindMsb => 32,
            GroupOp::BallotBitExtract => 1,
            _ => self.group.bits,
        };
        Value { bits: 0, undefined: mask(bits) }
    }

    /// Whether the predicate holds for any participant's value. Undefined if only undefined values decide.
    fn any(&self, is_so: impl Fn(Value) -> bool) -> Value {
        let values = || places(self.active).map(|place| self.value(place, 0));
        let sure = values().any(|value| value.undefined == 0 && is_so(value));
        let open = values().any(|value| value.undefined != 0);
        Value { bits: values().any(is_so).into(), undefined: (open && !sure).into() }
    }

    fn all_equal<C: Choice>(&self, float: bool, choice: &mut C) -> Value {
        let first = self.active.trailing_zeros();
        let op = if float { Binary::FOrdEqual } else { Binary::IEqual };
        let mut result = Value { bits: 1, undefined: 0 };
        for component in 0..self.group.components {
            let reference = self.value(first, component);
            for place in places(self.active) {
                let value = self.value(place, component);
                result.bits &= arithmetic::binary(op, self.group.bits, reference.bits, value.bits, self.floats, choice);
                result.undefined |= u64::from((reference.undefined | value.undefined) != 0);
            }
        }
        result
    }

    /// The ballot in four registers of an invocation.
    fn ballot(&self, place: u32) -> Ballot {
        (0..4).rev().fold(Ballot { bits: 0, undefined: 0 }, |high, word| {
            let Value { bits, undefined } = self.register(place, self.group.value + word);
            Ballot {
                bits: high.bits << 32 | Places::from(bits),
                undefined: high.undefined << 32 | Places::from(undefined),
            }
        })
    }

    fn arithmetic<C: Choice>(
        &self,
        op: GroupArithmetic,
        scan: Scan,
        component: u32,
        choice: &mut C,
        results: &mut [Value; 128],
    ) {
        let cluster = match scan {
            Scan::Clustered(cluster) => cluster.clamp(1, self.size),
            _ => self.size,
        };
        let identity = Value { bits: identity(op, self.group.bits), undefined: 0 };
        for first in (0..self.size).step_by(cluster as usize) {
            let members = self.active & (Places::MAX >> (128 - cluster)) << first;
            match scan {
                Scan::Reduce | Scan::Clustered(_) => {
                    let total = self.join(op, places(members), component, choice);
                    places(members).for_each(|place| results[place as usize] = total.unwrap_or(identity));
                }
                // If the order of rounding is open, each prefix is combined separately.
                Scan::Inclusive | Scan::Exclusive if C::OPEN => {
                    for place in places(members) {
                        let own = u32::from(scan == Scan::Inclusive);
                        let before = members & !(Places::MAX.checked_shl(place + own).unwrap_or(0));
                        let total = self.join(op, places(before), component, choice);
                        results[place as usize] = total.unwrap_or(identity);
                    }
                }
                Scan::Inclusive | Scan::Exclusive => {
                    let mut total = None;
                    for place in places(members) {
                        let value = self.value(place, component);
                        let next = total.map_or(value, |total| self.joined(op, total, value, choice));
                        results[place as usize] =
                            if scan == Scan::Inclusive { next } else { total.unwrap_or(identity) };
                        total = Some(next);
                    }
                }
            }
        }
    }

    /// Combines the values of invocations in an open order; `None` without invocations.
    fn join<C: Choice>(
        &self,
        op: GroupArithmetic,
        of: impl Iterator<Item = u32>,
        component: u32,
        choice: &mut C,
    ) -> Option<Value> {
        let mut values = of.map(|place| self.value(place, component));
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

    fn joined<C: Choice>(&self, op: GroupArithmetic, a: Value, b: Value, choice: &mut C) -> Value {
        let (bits, op) = (self.group.bits, binary(op));
        let undefined = if a.undefined | b.undefined == 0 {
            0
        } else {
            undefined::binary(op, bits, [a.bits, b.bits], [a.undefined, b.undefined])
        };
        Value { bits: arithmetic::binary(op, bits, a.bits, b.bits, self.floats, choice), undefined }
    }
}

/// A ballot with its undefined bits.
#[derive(Clone, Copy)]
struct Ballot {
    bits: Places,
    undefined: Places,
}

impl Ballot {
    fn bit(self, place: u32) -> Value {
        Value { bits: (self.bits >> place) as u64 & 1, undefined: (self.undefined >> place) as u64 & 1 }
    }

    fn within(self, places: Places) -> Self {
        Self { bits: self.bits & places, undefined: self.undefined & places }
    }
}

impl Value {
    /// The negation of a boolean.
    fn negated(self) -> Self {
        Self { bits: self.bits ^ 1, ..self }
    }
}

fn truth(value: bool) -> Value {
    Value { bits: value.into(), undefined: 0 }
}

/// A number computed from a ballot. It is undefined if any bit of the ballot is.
fn number(value: u32, ballot: Places) -> Value {
    Value { bits: value.into(), undefined: if ballot == 0 { 0 } else { mask(32) } }
}

/// The scalar operation that combines two values.
fn binary(op: GroupArithmetic) -> Binary {
    match op {
        GroupArithmetic::IAdd => Binary::IAdd,
        GroupArithmetic::FAdd => Binary::FAdd,
        GroupArithmetic::IMul => Binary::IMul,
        GroupArithmetic::FMul => Binary::FMul,
        GroupArithmetic::SMin => Binary::SMin,
        GroupArithmetic::UMin => Binary::UMin,
        GroupArithmetic::FMin => Binary::AtomicFMin,
        GroupArithmetic::SMax => Binary::SMax,
        GroupArithmetic::UMax => Binary::UMax,
        GroupArithmetic::FMax => Binary::AtomicFMax,
        GroupArithmetic::And => Binary::BitwiseAnd,
        GroupArithmetic::Or => Binary::BitwiseOr,
        GroupArithmetic::Xor => Binary::BitwiseXor,
    }
}

/// The result of an exclusive scan for the first invocation.
fn identity(op: GroupArithmetic, bits: u8) -> u64 {
    let float = |half: u64, single: u64, double: u64| match bits {
        16 => half,
        32 => single,
        _ => double,
    };
    let one = float(0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000);
    let infinity = float(0x7c00, 0x7f80_0000, 0x7ff0_0000_0000_0000);
    let sign = 1 << (bits - 1);
    match op {
        GroupArithmetic::IAdd
        | GroupArithmetic::FAdd
        | GroupArithmetic::UMax
        | GroupArithmetic::Or
        | GroupArithmetic::Xor => 0,
        GroupArithmetic::IMul => 1,
        GroupArithmetic::FMul => one,
        GroupArithmetic::FMin => infinity,
        GroupArithmetic::FMax => infinity | sign,
        GroupArithmetic::UMin | GroupArithmetic::And => mask(bits),
        GroupArithmetic::SMin => mask(bits) >> 1,
        GroupArithmetic::SMax => sign,
    }
}
