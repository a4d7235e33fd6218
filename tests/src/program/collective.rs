//! Results of warp operations, by the PTX manual.

use super::{Collective, Gather, Shuffle};

/// A lane's inputs to an operation.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub lane: u32,
    /// The lane's value, or 1 if its condition holds.
    pub value: u32,
    /// The number that selects its source lane.
    pub by: u32,
}

/// The result of an operation for one of its members.
pub fn collective(what: &Collective, members: &[Member], own: Member) -> u32 {
    let mask = lanes(members, |_| true);
    let ballot = lanes(members, |member| member.value != 0);
    let value = |lane: u32| members.iter().find(|member| member.lane == lane).map(|member| member.value);
    match what {
        Collective::Ballot(_) => ballot,
        Collective::All(_) => u32::from(ballot == mask),
        Collective::Any(_) => u32::from(ballot != 0),
        Collective::Same(_) => u32::from(ballot == 0 || ballot == mask),
        Collective::MatchAny(..) => lanes(members, |member| member.value == own.value),
        Collective::MatchAll(..) => {
            if lanes(members, |member| member.value == own.value) == mask {
                mask
            } else {
                0
            }
        }
        Collective::Reduce(how, _) => {
            members.iter().map(|member| member.value).reduce(|a, b| gather(*how, a, b)).unwrap_or(0)
        }
        Collective::Shuffle { mode, segment, .. } => {
            let first = own.lane & !(segment - 1);
            let last = first + segment - 1;
            let by = own.by & 31;
            let (source, there) = match mode {
                Shuffle::Up => (own.lane.wrapping_sub(by), own.lane >= first + by),
                Shuffle::Down => (own.lane + by, own.lane + by <= last),
                Shuffle::Butterfly => (own.lane ^ by, own.lane ^ by <= last),
                Shuffle::Index => (first | (by & (segment - 1)), true),
            };
            let source = if there { source } else { own.lane };
            value(source).map_or(source, |value| value.wrapping_add(u32::from(there)))
        }
        Collective::Exchange { .. } => value(own.by & 31).unwrap_or(own.value),
        Collective::Elect => mask.count_ones(),
    }
}

/// The mask of the members that satisfy a predicate.
pub fn lanes(members: &[Member], holds: impl Fn(&Member) -> bool) -> u32 {
    members.iter().filter(|member| holds(member)).fold(0, |mask, member| mask | 1 << member.lane)
}

/// Combines two numbers.
pub fn gather(how: Gather, a: u32, b: u32) -> u32 {
    match how {
        Gather::Add => a.wrapping_add(b),
        Gather::Min => a.min(b),
        Gather::MaxSigned => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
        Gather::And => a & b,
        Gather::Or => a | b,
        Gather::Xor => a ^ b,
    }
}
