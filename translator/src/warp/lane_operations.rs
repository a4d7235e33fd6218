//! Operations of a warp that lies in one invocation, as loops over its lanes.

use super::flow::Flow;
use super::operations::neutral;
use super::pack::Pack;
use crate::ir::{Stmt, Value, Warp, WarpOp};
use ptx2spv_target::Fault;

impl Pack<'_> {
    /// Appends an operation of a warp for the lanes of a flow.
    pub(super) fn operation_loop(&mut self, warp: &Warp, flow: &Flow) {
        if warp.op != WarpOp::Gathered {
            self.expect_members_in_loop(warp, flow);
        }
        let mask = self.mask(flow);
        let members = warp.members;
        let taking_part = |pack: &mut Self, lane: Value| match members {
            Some(members) => {
                let members = pack.value_at(members, lane);
                pack.b.and(mask, members)
            }
            None => mask,
        };
        let results = &warp.results;
        match warp.op {
            WarpOp::Vote(vote, predicate) => {
                let yes = self.lanes_where(|pack, lane| pack.value_at(predicate, lane));
                self.define_by_lane(results, |pack, lane| {
                    let all = taking_part(pack, lane);
                    let said = pack.b.and(yes, all);
                    vec![pack.vote(vote, said, all)]
                });
            }
            WarpOp::Ballot(predicate) => {
                let yes = self.lanes_where(|pack, lane| pack.value_at(predicate, lane));
                self.define_by_lane(results, |pack, lane| {
                    let all = taking_part(pack, lane);
                    vec![pack.b.and(yes, all)]
                });
            }
            WarpOp::Shuffle { mode, value, lane: asked, clamp } => {
                self.define_by_lane(results, |pack, lane| {
                    let [asked, clamp] = [asked, clamp].map(|operand| pack.value_at(operand, lane));
                    let (from, reached) = pack.source(mode, lane, asked, clamp);
                    let from = pack.b.select(reached, pack.b.and_const(from, 31), lane);
                    vec![pack.value_at(value, from), reached]
                });
            }
            WarpOp::MatchAny(value) => self.define_by_lane(results, |pack, lane| {
                let all = taking_part(pack, lane);
                vec![pack.matching(value, lane, all)]
            }),
            WarpOp::MatchAll(value) => {
                let like_the_lowest = self.lanes_where(|pack, lane| {
                    let all = taking_part(pack, lane);
                    let leader = pack.lowest(all);
                    pack.equals(value, lane, pack.b.and_const(leader, 31))
                });
                self.define_by_lane(results, |pack, lane| {
                    let all = taking_part(pack, lane);
                    let same = pack.b.and(like_the_lowest, all);
                    let are_all = pack.b.eq(same, all);
                    let zero = pack.b.i32(0);
                    vec![pack.b.select(are_all, all, zero), are_all]
                });
            }
            WarpOp::Reduce(reduction, value) => self.define_by_lane(results, |pack, lane| {
                let all = taking_part(pack, lane);
                let neutral = pack.b.i32(neutral(reduction));
                let joined = pack.accumulate(neutral, |pack, other, joined| {
                    let theirs = pack.value_at(value, other);
                    let takes_part = pack.is_in(all, other);
                    pack.join(reduction, joined, pack.b.select(takes_part, theirs, neutral))
                });
                vec![joined]
            }),
            WarpOp::ActiveMask => self.define_by_lane(results, |pack, lane| vec![taking_part(pack, lane)]),
            WarpOp::Elect => self.define_by_lane(results, |pack, lane| {
                let all = taking_part(pack, lane);
                let leader = pack.lowest(all);
                vec![leader, pack.b.eq(leader, lane)]
            }),
            WarpOp::Gathered => self.gathered_in_loop(warp, mask),
            // They have been expanded.
            WarpOp::MatrixProduct(..) => {}
            // An invocation's own accesses are in order.
            WarpOp::Sync => {}
        }
    }

    /// The lanes of a mask that have the same value as a lane.
    fn matching(&mut self, value: Value, lane: Value, all: Value) -> Value {
        let matching = self.lanes_where(|pack, other| pack.equals(value, lane, other));
        self.b.and(matching, all)
    }

    /// The lanes of the block that are not in a mask.
    fn elsewhere(&mut self, mask: Value) -> Value {
        let others = self.b.not(mask);
        let existing = self.mask(&Flow::All);
        self.b.and(existing, others)
    }

    /// Makes the launch fail if a lane of the flow waits for a missing member, one that neither takes part nor has exited.
    fn expect_members_in_loop(&mut self, warp: &Warp, flow: &Flow) {
        let (Some(members), Flow::Some(_)) = (warp.members, flow) else { return };
        let mask = self.mask(flow);
        let nobody = self.b.i32(0);
        let awaited = self.accumulate(nobody, |pack, lane, awaited| {
            let waits = pack.is_in(mask, lane);
            let members = pack.value_at(members, lane);
            pack.b.or(awaited, pack.b.select(waits, members, nobody))
        });
        let elsewhere = self.elsewhere(mask);
        let missing = self.b.and(awaited, elsewhere);
        let some = self.b.is_nonzero(missing);
        let outer = self.b.take_block();
        self.mark();
        let missing = match self.exited_lanes() {
            Some(exited) => self.b.and(missing, self.b.not(exited)),
            None => missing,
        };
        let fails = self.b.is_nonzero(missing);
        self.b.if_(fails, |b| b.push(Stmt::Report(Fault::DivergedMembers, Vec::new())));
        let then = self.b.replace_block(outer);
        self.b.push(Stmt::If { condition: some, then, otherwise: Vec::new() });
    }

    /// Whether each lane's members, except those that have exited, are all here and name the same members.
    fn gathered_in_loop(&mut self, warp: &Warp, mask: Value) {
        let Some(members) = warp.members else {
            return self.define_by_lane(&warp.results, |pack, _| vec![pack.b.bool(true)]);
        };
        let mut elsewhere = self.elsewhere(mask);
        if let Some(exited) = self.exited_lanes() {
            elsewhere = self.b.and(elsewhere, self.b.not(exited));
        }
        let is_constant = self.uniform.constant(members).is_some();
        self.define_by_lane(&warp.results, |pack, lane| {
            let own = pack.value_at(members, lane);
            let missing = pack.b.and(own, elsewhere);
            let here = pack.b.is_zero(missing);
            if is_constant {
                return vec![here];
            }
            let all = pack.b.and(mask, own);
            let alike = pack.matching(members, lane, all);
            let same = pack.b.eq(alike, all);
            vec![pack.b.and(here, same)]
        });
    }
}
