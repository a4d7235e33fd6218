//! Warp operations, made of ballots and shuffles of the subgroup.

use super::choose::WARP;
use super::flow::Flow;
use super::pack::{Members, Pack, Slot};
use super::shuffle::Done;
use crate::ir::{Compare, Reduction, Stmt, SubgroupOp, Type, Value, Vote, Warp, WarpOp};
use ptx2spv_target::Fault;

impl Pack<'_> {
    /// Appends an operation of a warp for the lanes of a flow.
    pub(super) fn operation(&mut self, warp: &Warp, flow: &Flow) {
        if self.in_loops {
            return self.operation_loop(warp, flow);
        }
        if warp.op != WarpOp::Gathered {
            self.expect_members(warp, flow);
        }
        let taking_part = self.taking_part(warp, flow);
        let results: Vec<Vec<Value>> = match warp.op {
            WarpOp::Vote(vote, predicate) => {
                let said = self.said(predicate, &taking_part);
                let votes = said.into_iter().zip(&taking_part).map(|(said, &all)| self.vote(vote, said, all));
                vec![votes.collect()]
            }
            WarpOp::Ballot(predicate) => vec![self.said(predicate, &taking_part)],
            WarpOp::Shuffle { mode, value, lane, clamp } => {
                // Where all lanes take part, none may keep its own value.
                let is_whole = warp.members.is_some_and(|members| self.uniform.constant(members) == Some(u32::MAX))
                    && self.uniform.constant(clamp).is_some_and(|clamp| clamp & 0x1f1f == 0x1f);
                let (values, in_range) = self.shuffle(mode, value, lane, clamp, is_whole);
                vec![values, in_range]
            }
            WarpOp::MatchAny(value) => vec![self.match_any(value, &taking_part)],
            WarpOp::MatchAll(value) => self.match_all(value, &taking_part),
            WarpOp::Reduce(reduction, value) => {
                let same = warp.members.is_none_or(|members| self.uniform.value(members));
                vec![if same {
                    self.reduce(reduction, value, &taking_part)
                } else {
                    self.reduce_apart(reduction, value, &taking_part)
                }]
            }
            WarpOp::ActiveMask => vec![taking_part],
            WarpOp::Elect => self.elect(&taking_part),
            WarpOp::Gathered => vec![self.gathered(warp, flow, &taking_part)],
            WarpOp::MatrixProduct(types, fragments) => {
                // Those that are left are of warps whose lanes are invocations.
                let fragments = fragments.map(|word| self.lanes(word).first().copied().unwrap_or(word));
                let results = [(); 4].map(|()| self.b.value(Type::I32));
                self.b.push(Stmt::Subgroup(results.to_vec(), SubgroupOp::MatrixProduct(types, fragments)));
                results.map(|result| vec![result]).to_vec()
            }
            WarpOp::Sync => {
                // An invocation's own accesses are in order.
                if self.packing.subgroup_size > 1 {
                    self.b.push(Stmt::Subgroup(Vec::new(), SubgroupOp::Barrier));
                }
                Vec::new()
            }
        };
        for (&result, each) in warp.results.iter().zip(results) {
            let slot = match each.first() {
                Some(&same) if self.uniform.value(result) => Slot::Same(same),
                _ => Slot::Each(each),
            };
            self.set_slot(result, slot);
        }
    }

    /// For each lane, the mask of the lanes that take part in an operation.
    fn taking_part(&mut self, warp: &Warp, flow: &Flow) -> Vec<Value> {
        let masks = self.masks(flow);
        let members = warp.members.map(|members| self.lanes(members));
        let each = (0..self.lane_count()).map(|lane| {
            let mask = masks.get(self.group(lane)).copied().unwrap_or(self.positions.invocation);
            match members.as_ref().and_then(|members| members.get(lane)) {
                Some(&members) => self.b.and(mask, members),
                None => mask,
            }
        });
        each.collect()
    }

    /// Makes the launch fail if a lane of the flow waits for a missing member, one that neither takes part nor has exited. An earlier operation
    /// of the same lanes has looked for the same members.
    fn expect_members(&mut self, warp: &Warp, flow: &Flow) {
        let (Some(members), Flow::Some(masks)) = (warp.members, flow) else { return };
        let constant = self.uniform.constant(members);
        let members = self.lanes(members);
        let expected = (constant.map_or_else(|| Members::Each(members.clone()), Members::Known), masks.clone());
        if self.expected.contains(&expected) {
            return;
        }
        self.expected.push(expected);
        let mut absent = Vec::new();
        let mut some = None;
        for (lane, &members) in members.iter().enumerate() {
            let group = self.group(lane);
            let elsewhere = self.b.and(self.positions.existing[group], self.b.not(masks[group]));
            let missing = self.b.and(members, elsewhere);
            let waits = self.b.is_nonzero(missing);
            let waits = match self.takes_part(flow, lane) {
                Some(takes_part) => self.b.and(takes_part, waits),
                None => waits,
            };
            some = Some(some.map_or(waits, |some| self.b.or(some, waits)));
            absent.push((waits, missing));
        }
        let Some(some) = some else { return };
        let condition = self.anywhere(some);
        let outer = self.b.take_block();
        self.mark();
        let exited = self.exited();
        // Which lane fails is not reported.
        let mut any = None;
        for (lane, (waits, missing)) in absent.into_iter().enumerate() {
            let missing = match exited.get(self.group(lane)) {
                Some(&exited) => self.b.and(missing, self.b.not(exited)),
                None => missing,
            };
            let fails = self.b.and(waits, self.b.is_nonzero(missing));
            any = Some(any.map_or(fails, |any| self.b.or(any, fails)));
        }
        if let Some(fails) = any {
            self.b.if_(fails, |b| b.push(Stmt::Report(Fault::DivergedMembers, Vec::new())));
        }
        let then = self.b.replace_block(outer);
        self.b.push(Stmt::If { condition, then, otherwise: Vec::new() });
    }

    /// The lanes that have exited, by group; empty if the kernel doesn't record exits.
    fn exited(&mut self) -> Vec<Value> {
        let Some(exited) = self.b.function(|function| function.exited) else { return Vec::new() };
        let each = (0..self.lane_count()).map(|lane| {
            let var = self.var(exited, lane);
            self.b.get(var)
        });
        let each: Vec<Value> = each.collect();
        self.ballot(&each)
    }

    /// Whether each lane's members, except those that have exited, are all here and name the same members.
    fn gathered(&mut self, warp: &Warp, flow: &Flow, taking_part: &[Value]) -> Vec<Value> {
        let Some(members) = warp.members else { return vec![self.b.bool(true); self.lane_count()] };
        let masks = self.masks(flow);
        let exited = self.exited();
        let each = self.lanes(members).into_iter().enumerate().map(|(lane, members)| {
            let group = self.group(lane);
            let elsewhere = self.b.and(self.positions.existing[group], self.b.not(masks[group]));
            let missing = self.b.and(members, elsewhere);
            let missing = match exited.get(group) {
                Some(&exited) => self.b.and(missing, self.b.not(exited)),
                None => missing,
            };
            self.b.is_zero(missing)
        });
        let here: Vec<Value> = each.collect();
        if self.uniform.constant(members).is_some() {
            return here;
        }
        let alike = self.match_any(members, taking_part);
        let each = here
            .into_iter()
            .zip(alike)
            .zip(taking_part)
            .map(|((here, alike), &all)| self.b.and(here, self.b.eq(alike, all)));
        each.collect()
    }

    /// For each lane, the participating lanes whose predicate holds.
    fn said(&mut self, predicate: Value, taking_part: &[Value]) -> Vec<Value> {
        let predicates = self.lanes(predicate);
        self.among(&predicates, taking_part)
    }

    fn among(&mut self, conditions: &[Value], taking_part: &[Value]) -> Vec<Value> {
        let ballots = self.ballot(conditions);
        let each = taking_part.iter().enumerate().map(|(lane, &all)| {
            let ballot = ballots.get(self.group(lane)).copied().unwrap_or(all);
            self.b.and(ballot, all)
        });
        each.collect()
    }

    pub(super) fn vote(&mut self, vote: Vote, said: Value, all: Value) -> Value {
        match vote {
            Vote::All => self.b.eq(said, all),
            Vote::Any => self.b.is_nonzero(said),
            Vote::Uniform => self.b.or(self.b.eq(said, all), self.b.is_zero(said)),
        }
    }

    /// The words of 32 bits of a value, for each lane.
    fn words(&mut self, value: Value) -> Vec<Vec<Value>> {
        let each = self.lanes(value);
        if self.b.type_of(value) != Type::I64 {
            return vec![each];
        }
        let (low, high) = each.into_iter().map(|value| self.b.halves(value)).unzip();
        vec![low, high]
    }

    fn match_any(&mut self, value: Value, taking_part: &[Value]) -> Vec<Value> {
        let words = self.words(value);
        let zero = self.b.i32(0);
        let mut matching = vec![zero; self.lane_count()];
        let mut done = Done::default();
        for other in 0..WARP {
            for (lane, matching) in matching.iter_mut().enumerate() {
                let same =
                    self.equal(&words, lane, |pack, word| pack.broadcast(pack.group(lane), word, other, &mut done));
                let with = self.b.or(*matching, self.b.i32(1 << other));
                *matching = self.b.select(same, with, *matching);
            }
        }
        matching.into_iter().zip(taking_part).map(|(matching, &all)| self.b.and(matching, all)).collect()
    }

    /// Whether all words of a lane equal those that `other` gives.
    fn equal(
        &mut self,
        words: &[Vec<Value>],
        lane: usize,
        mut other: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> Value {
        let mut same = None;
        for word in words {
            let theirs = other(self, word);
            let equal = self.b.eq(word[lane], theirs);
            same = Some(same.map_or(equal, |same| self.b.and(same, equal)));
        }
        // There is at least one word.
        same.unwrap_or_else(|| self.b.bool(true))
    }

    fn match_all(&mut self, value: Value, taking_part: &[Value]) -> Vec<Vec<Value>> {
        let words = self.words(value);
        let mut done = Done::default();
        let leaders: Vec<Value> = taking_part.iter().map(|&all| self.lowest(all)).collect();
        let same = leaders
            .into_iter()
            .enumerate()
            .map(|(lane, leader)| self.equal(&words, lane, |pack, word| pack.fetch(lane, word, leader, &mut done)));
        let same: Vec<Value> = same.collect();
        let same = self.among(&same, taking_part);
        let all = same.into_iter().zip(taking_part).map(|(same, &all)| self.b.eq(same, all));
        let all: Vec<Value> = all.collect();
        let zero = self.b.i32(0);
        let masks = all.iter().zip(taking_part).map(|(&same, &all)| self.b.select(same, all, zero)).collect();
        vec![masks, all]
    }

    /// The number of the lowest lane in a mask; any number if it is empty.
    pub(super) fn lowest(&mut self, mask: Value) -> Value {
        self.b.find_high_bit(self.b.and(mask, self.b.neg(mask)))
    }

    fn elect(&mut self, taking_part: &[Value]) -> Vec<Vec<Value>> {
        let leaders: Vec<Value> = taking_part.iter().map(|&all| self.lowest(all)).collect();
        let lanes = self.positions.lane.clone();
        let elected = leaders.iter().zip(lanes).map(|(&leader, lane)| self.b.eq(leader, lane)).collect();
        vec![leaders, elected]
    }

    /// A reduction with the same members in all lanes of a warp.
    fn reduce(&mut self, reduction: Reduction, value: Value, taking_part: &[Value]) -> Vec<Value> {
        let values = self.lanes(value);
        let neutral = self.b.i32(neutral(reduction));
        let values = values.into_iter().enumerate().map(|(lane, value)| {
            let own = self.b.and(taking_part[lane], self.positions.bit[lane]);
            self.b.select(self.b.is_nonzero(own), value, neutral)
        });
        let values: Vec<Value> = values.collect();
        let mut results = Vec::new();
        for group in values.chunks(self.packing.warp_lanes() as usize) {
            let mut joined = neutral;
            for &value in group {
                joined = if joined == neutral { value } else { self.join(reduction, joined, value) };
            }
            joined = self.join_all(joined, |pack, a, b| pack.join(reduction, a, b));
            results.extend(group.iter().map(|_| joined));
        }
        results
    }

    /// A reduction where the lanes of a warp may have different members.
    fn reduce_apart(&mut self, reduction: Reduction, value: Value, taking_part: &[Value]) -> Vec<Value> {
        let values = self.lanes(value);
        let neutral = self.b.i32(neutral(reduction));
        let mut results = vec![neutral; self.lane_count()];
        let mut done = Done::default();
        for other in 0..WARP {
            for (lane, result) in results.iter_mut().enumerate() {
                let theirs = self.broadcast(self.group(lane), &values, other, &mut done);
                let takes_part = self.b.is_nonzero(self.b.and_const(taking_part[lane], 1 << other));
                let joined = self.join(reduction, *result, theirs);
                *result = self.b.select(takes_part, joined, *result);
            }
        }
        results
    }

    pub(super) fn join(&mut self, reduction: Reduction, a: Value, b: Value) -> Value {
        let lesser = |pack: &mut Self, compare, a, b| {
            let less = pack.b.compare(compare, a, b);
            pack.b.select(less, a, b)
        };
        match reduction {
            Reduction::Add => self.b.add(a, b),
            Reduction::And => self.b.and(a, b),
            Reduction::Or => self.b.or(a, b),
            Reduction::Xor => self.b.xor(a, b),
            Reduction::MinUnsigned => lesser(self, Compare::LessUnsigned, a, b),
            Reduction::MinSigned => lesser(self, Compare::LessSigned, a, b),
            // The greater operand is the one that isn't less.
            Reduction::MaxUnsigned => self.b.select(self.b.ult(a, b), b, a),
            Reduction::MaxSigned => self.b.select(self.b.slt(a, b), b, a),
        }
    }
}

/// The identity element of a reduction.
pub(super) fn neutral(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::Add | Reduction::Or | Reduction::Xor | Reduction::MaxUnsigned => 0,
        Reduction::And | Reduction::MinUnsigned => u32::MAX,
        Reduction::MinSigned => i32::MAX.cast_unsigned(),
        Reduction::MaxSigned => i32::MIN.cast_unsigned(),
    }
}
