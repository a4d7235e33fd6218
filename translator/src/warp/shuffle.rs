//! Shuffles: the source lane of each thread, and its value by as few subgroup operations as possible.

use std::mem::{Discriminant, discriminant};

use rustc_hash::FxHashMap;

use super::choose::WARP;
use super::pack::Pack;
use crate::ir::{Compare, Shuffle, Stmt, SubgroupOp, Type, Value};

/// Subgroup operations that an operation of a warp has done already.
#[derive(Default)]
pub(super) struct Done {
    /// By kind of operation, operand and source.
    results: FxHashMap<(Discriminant<SubgroupOp>, Value, Value), Value>,
    /// Constant sources, so that the same number is the same value.
    sources: FxHashMap<u32, Value>,
}

impl Pack<'_> {
    /// A shuffle for all lanes: their values, and whether their source lanes are in range. `is_whole`: all lanes of the warp take part, and are
    /// one segment.
    pub(super) fn shuffle(
        &mut self,
        mode: Shuffle,
        value: Value,
        lane: Value,
        clamp: Value,
        is_whole: bool,
    ) -> (Vec<Value>, Vec<Value>) {
        let offered = self.lanes(value);
        let asked = self.lanes(lane);
        let clamps = self.lanes(clamp);
        let constant = self.uniform.constant(lane).zip(self.uniform.constant(clamp));
        // Otherwise the operations couldn't leave a loop, where they cost more than the shuffle.
        let by_number = is_whole && self.is_from_number(lane);
        let mut done = Done::default();
        let (mut results, mut in_range) = (Vec::new(), Vec::new());
        for own in 0..self.lane_count() {
            let lane = self.positions.lane[own];
            let (from, reached) = self.source(mode, lane, asked[own], clamps[own]);
            let found = match constant {
                Some((distance, clamp)) => {
                    let segment = clamp >> 8 & 31;
                    self.constant_source(mode, own, &offered, (distance & 31, segment), &mut done)
                }
                None => {
                    let recomputed = if by_number { self.recomputed(value, own, from) } else { None };
                    recomputed.unwrap_or_else(|| self.fetch(own, &offered, from, &mut done))
                }
            };
            results.push(self.b.select(reached, found, offered[own]));
            in_range.push(reached);
        }
        (results, in_range)
    }

    /// The source lane of a lane, and whether it is in range (PTX, `shfl`, "Semantics").
    pub(super) fn source(&mut self, mode: Shuffle, lane: Value, asked: Value, clamp: Value) -> (Value, Value) {
        let b = &self.b;
        // Where a segment ends with its last lane and lanes stay in theirs, the source is in range.
        let stays = b.known(clamp).is_some_and(|clamp| {
            let segment = clamp >> 8 & 31;
            let crosses = segment != 0 && b.known(asked).is_none_or(|asked| asked & segment != 0);
            (clamp | segment) & 31 == 31 && (mode == Shuffle::Index || !crosses)
        });
        let distance = b.and_const(asked, 31);
        let bound = b.and_const(clamp, 31);
        let segment = b.and_const(b.shr(clamp, 8), 31);
        let not_segment = b.not(segment);
        let least = b.and(lane, segment);
        let within = b.and(bound, not_segment);
        let most = b.or(least, within);
        match mode {
            Shuffle::Up => {
                let from = b.sub(lane, distance);
                let in_range = match b.known(most) {
                    // As programs test it themselves, so that a driver sees that the tests are one.
                    Some(0) => b.not(b.ult(lane, distance)),
                    _ => b.compare(Compare::LessEqualSigned, most, from),
                };
                (from, in_range)
            }
            Shuffle::Down => {
                let from = b.add(lane, distance);
                (from, b.ule(from, most))
            }
            Shuffle::Butterfly => {
                let from = b.xor(lane, distance);
                (from, if stays { b.bool(true) } else { b.ule(from, most) })
            }
            Shuffle::Index => {
                let from = b.or(least, b.and(distance, not_segment));
                (from, if stays { b.bool(true) } else { b.ule(from, most) })
            }
        }
    }

    /// The value of a lane at a constant distance, if there is such a lane; else any value.
    fn constant_source(
        &mut self,
        mode: Shuffle,
        own: usize,
        offered: &[Value],
        (distance, segment): (u32, u32),
        done: &mut Done,
    ) -> Value {
        // Of the lane's number in its warp, the invocation is the lower part and the packed lane the upper.
        let size = self.packing.subgroup_size.min(WARP);
        let bits = size.trailing_zeros();
        let packed = own as u32 % self.packing.warp_lanes();
        let first = own - packed as usize;
        let (low, high) = (distance & (size - 1), distance >> bits);
        let invocation = self.warp_invocation();
        let from = |packed: u32| offered.get(first..).and_then(|lanes| lanes.get(packed as usize));
        let from = |packed: u32| from(packed).copied().filter(|_| packed < WARP / size);
        let (other, near, far) = match mode {
            Shuffle::Butterfly => {
                return from(packed ^ high).map_or(offered[own], |value| self.exchange_across(value, low, done));
            }
            Shuffle::Index => {
                let kept = self.b.and_const(invocation, u64::from(segment & (size - 1)));
                let other = self.b.or_const(kept, u64::from(low & !segment));
                (other, (packed & segment >> bits) | (high & !(segment >> bits)), None)
            }
            Shuffle::Up => {
                let other = self.b.sub_const(invocation, low.into());
                let borrow = self.b.compare_const(Compare::LessUnsigned, invocation, low.into());
                let near = packed.wrapping_sub(high);
                (other, near, (low > 0).then_some((borrow, near.wrapping_sub(1))))
            }
            Shuffle::Down => {
                let other = self.b.add_const(invocation, low.into());
                let carry = self.b.ule(self.b.i32(size), other);
                (other, packed + high, (low > 0).then_some((carry, packed + high + 1)))
            }
        };
        let other = self.b.and_const(other, u64::from(size - 1));
        let near = from(near).map(|value| self.exchange(value, other, done));
        match far.and_then(|(carried, far)| from(far).map(|value| (carried, value))) {
            Some((carried, far)) => {
                let far = self.exchange(far, other, done);
                match near {
                    Some(near) => self.b.select(carried, far, near),
                    None => far,
                }
            }
            // Out of range: the lane keeps its own.
            None => near.unwrap_or(offered[own]),
        }
    }

    /// The value that lane `from & 31` of a lane's warp offers.
    pub(super) fn fetch(&mut self, own: usize, offered: &[Value], from: Value, done: &mut Done) -> Value {
        let size = self.packing.subgroup_size.min(WARP);
        let lanes = self.packing.warp_lanes() as usize;
        let first = own / lanes * lanes;
        let other = self.b.and_const(from, u64::from(size - 1));
        let packed = self.b.shr(from, size.trailing_zeros());
        let mut candidates: Vec<Value> = Vec::with_capacity(lanes);
        for &value in offered.iter().skip(first).take(lanes) {
            candidates.push(self.exchange(value, other, done));
        }
        // Select by the bits of the packed lane's number, the lowest first.
        let mut bit = 0;
        while candidates.len() > 1 {
            let upper = self.b.is_nonzero(self.b.and_const(packed, 1 << bit));
            candidates = candidates
                .chunks(2)
                .map(|pair| match *pair {
                    [even, odd] if even != odd => self.b.select(upper, odd, even),
                    _ => pair[0],
                })
                .collect();
            bit += 1;
        }
        candidates.first().copied().unwrap_or(from)
    }

    /// The value that the lane with a constant number has, in every lane of the same warp.
    pub(super) fn broadcast(&mut self, group: usize, offered: &[Value], lane: u32, done: &mut Done) -> Value {
        let size = self.packing.subgroup_size.min(WARP);
        let first = group * self.packing.warp_lanes() as usize;
        let value = offered.get(first + (lane / size) as usize).copied().unwrap_or(self.positions.invocation);
        let other = self.number(lane % size, done);
        self.exchange(value, other, done)
    }

    /// The values of all invocations of the same warp, joined; the same in each of them.
    pub(super) fn join_all(&mut self, value: Value, mut join: impl FnMut(&mut Self, Value, Value) -> Value) -> Value {
        let size = self.packing.subgroup_size.min(WARP);
        let (mut joined, mut distance) = (value, 1);
        while distance < size {
            let theirs = self.exchange_across(joined, distance, &mut Done::default());
            joined = join(self, joined, theirs);
            distance *= 2;
        }
        joined
    }

    /// The invocation's number among those of its warp.
    pub(super) fn warp_invocation(&mut self) -> Value {
        let size = self.packing.subgroup_size;
        if size > WARP {
            self.b.and_const(self.positions.invocation, u64::from(WARP - 1))
        } else {
            self.positions.invocation
        }
    }

    /// The value of another invocation of the same warp, by its number there.
    pub(super) fn exchange(&mut self, value: Value, other: Value, done: &mut Done) -> Value {
        let size = self.packing.subgroup_size;
        if size == 1 {
            return value;
        }
        let mut from = other;
        if size > WARP {
            let warp = self.b.and_const(self.positions.invocation, u64::from(!(WARP - 1)));
            from = self.b.or(warp, other);
        }
        self.exchange_by(SubgroupOp::Shuffle(value, from), (value, other), done)
    }

    /// The value of the invocation of the same warp whose number differs in these bits.
    fn exchange_across(&mut self, value: Value, bits: u32, done: &mut Done) -> Value {
        if bits == 0 {
            return value;
        }
        let bits = self.number(bits, done);
        self.exchange_by(SubgroupOp::ShuffleXor(value, bits), (value, bits), done)
    }

    fn exchange_by(&mut self, op: SubgroupOp, (value, by): (Value, Value), done: &mut Done) -> Value {
        *done.results.entry((discriminant(&op), value, by)).or_insert_with(|| {
            let result = self.b.value(Type::I32);
            self.b.push(Stmt::Subgroup(vec![result], op));
            result
        })
    }

    fn number(&mut self, number: u32, done: &mut Done) -> Value {
        *done.sources.entry(number).or_insert_with(|| self.b.i32(number))
    }
}
