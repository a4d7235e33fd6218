//! Arrivals of each warp's threads at barrier instructions. All threads of a warp must arrive at the same aligned
//! barriers in the same order, as far as they get.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::world::Who;

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// Number of remembered arrivals of a warp. A thread can only get further ahead of another by arriving this often
/// without waiting.
const REMEMBERED: usize = 64;

/// The first arrival of a warp's thread at a barrier instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    place: u32,
    pub thread: u32,
    pub who: Who,
}

/// Arrivals of a workgroup's warps.
#[derive(Debug, Default)]
pub(super) struct Arrivals(FxHashMap<u32, Warp>);

#[derive(Debug, Default)]
struct Warp {
    /// The last arrivals of the thread that is furthest ahead.
    last: VecDeque<Arrival>,
    /// Number of arrivals before these.
    forgotten: u64,
    counts: [u64; WARP as usize],
    /// Whether threads were found at different barriers, which is reported only once.
    apart: bool,
}

impl Arrivals {
    /// Records a thread's arrival at a barrier instruction. The first time that another thread of its warp has arrived
    /// at a different one, returns that arrival.
    pub fn arrive(&mut self, thread: u32, place: u32, who: Who) -> Option<Arrival> {
        let warp = self.0.entry(thread / WARP).or_default();
        let count = &mut warp.counts[(thread % WARP) as usize]; // less than `WARP`
        let number = *count;
        *count += 1;
        let index = usize::try_from(number.checked_sub(warp.forgotten)?).ok()?;
        match warp.last.get(index) {
            Some(first) if first.place != place && !warp.apart => {
                warp.apart = true;
                Some(*first)
            }
            Some(_) => None,
            None => {
                warp.last.push_back(Arrival { place, thread, who });
                if warp.last.len() > REMEMBERED {
                    warp.last.pop_front();
                    warp.forgotten += 1;
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets threads arrive one after another. Returns pairs of threads that were found at different barriers.
    fn found(arrivals: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut all = Arrivals::default();
        let arrive = |&(thread, place): &(u32, u32)| {
            let other = all.arrive(thread, place, Who { lane: thread, subgroup: 0, pc: place })?;
            Some((thread, other.thread))
        };
        arrivals.iter().filter_map(arrive).collect()
    }

    #[test]
    fn threads_of_a_warp_arrive_at_the_same_instructions() {
        assert_eq!(found(&[(0, 7), (5, 7), (5, 8), (0, 8)]), []);
        // Other warps may be at other barriers.
        assert_eq!(found(&[(0, 7), (32, 8), (33, 8), (1, 7)]), []);
        assert_eq!(found(&[(0, 7), (32, 8), (31, 8), (33, 7)]), [(31, 0), (33, 32)]);
        // Reported only once.
        assert_eq!(found(&[(0, 7), (1, 8), (0, 9), (1, 7)]), [(1, 0)]);
        // A thread that is ahead.
        assert_eq!(found(&[(0, 7), (0, 8), (0, 9), (1, 7), (1, 9)]), [(1, 0)]);
        // A thread that has ended early.
        let long: Vec<(u32, u32)> = (0..1_000).map(|round| (1, round % 3)).collect();
        assert_eq!(found(&[&[(0, 0)], &long[..]].concat()), []);
    }
}
