//! Advice of programs for ranges of managed memory. Nothing follows the advice; programs can read it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::Mutex;

use crate::abi::lock;

/// The advice for a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub is_read_mostly: bool,
    /// The preferred location: a device, or −1 for the host.
    pub preferred: Option<c_int>,
    /// The devices with access, and −1 for the host.
    pub accessed_by: BTreeSet<c_int>,
    /// The location of the last prefetch.
    pub prefetched: Option<c_int>,
}

/// Ranges by their first addresses: the end, and the advice.
type Ranges = BTreeMap<u64, (u64, Advice)>;

static RANGES: Mutex<Ranges> = Mutex::new(BTreeMap::new());

/// Cuts the range that contains an address in two there.
fn cut(ranges: &mut Ranges, at: u64) {
    let Some((&start, &(end, ref advice))) = ranges.range(..at).next_back() else { return };
    let advice = advice.clone();
    if at < end {
        ranges.insert(start, (at, advice.clone()));
        ranges.insert(at, (end, advice));
    }
}

/// The parts of a range with their advice, which is the default where nothing was advised.
fn parts(ranges: &Ranges, start: u64, end: u64) -> Vec<(u64, u64, Advice)> {
    let (mut list, mut at) = (Vec::new(), start);
    for (&first, &(last, ref advice)) in ranges.range(..end).filter(|(_, (last, _))| *last > start) {
        if at < first {
            list.push((at, first, Advice::default()));
        }
        list.push((first.max(start), last.min(end), advice.clone()));
        at = last;
    }
    if at < end {
        list.push((at, end, Advice::default()));
    }
    list
}

/// Changes the advice for a range.
pub(crate) fn change(start: u64, bytes: u64, act: impl Fn(&mut Advice)) {
    let end = start + bytes;
    let mut ranges = lock(&RANGES);
    cut(&mut ranges, start);
    cut(&mut ranges, end);
    for (first, last, mut advice) in parts(&ranges, start, end) {
        act(&mut advice);
        ranges.insert(first, (last, advice));
    }
}

/// The advice for all parts of a range.
pub(crate) fn of(start: u64, bytes: u64) -> Vec<Advice> {
    parts(&lock(&RANGES), start, start + bytes).into_iter().map(|(_, _, advice)| advice).collect()
}

/// Forgets the advice for a range, whose memory is freed.
pub(crate) fn forget(start: u64, bytes: u64) {
    let end = start + bytes;
    lock(&RANGES).retain(|first, (last, _)| *last <= start || *first >= end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut() {
        let preferred = |start, bytes| of(start, bytes).iter().map(|advice| advice.preferred).collect::<Vec<_>>();
        assert_eq!(preferred(1000, 100), [None]);
        change(1000, 100, |advice| advice.preferred = Some(0));
        change(1050, 10, |advice| advice.preferred = None);
        change(1090, 30, |advice| advice.is_read_mostly = true);
        assert_eq!(preferred(1000, 50), [Some(0)]);
        assert_eq!(preferred(1000, 100), [Some(0), None, Some(0), Some(0)]);
        assert_eq!(of(1080, 40).iter().map(|advice| advice.is_read_mostly).collect::<Vec<_>>(), [false, true, true]);
        forget(1000, 120);
        assert_eq!(of(1000, 120), [Advice::default()]);
    }
}
