//! Executes programs by CUDA's rules: a barrier waits for all threads that have not ended, wherever they wait, and a
//! warp operation waits for the lanes of its mask.

mod memory;
mod thread;

use crate::program::collective::Member;
use crate::program::{Collective, Decision, GATHERED, Launch, Program, Stmt, UNTOUCHED};
use memory::{Memory, Word};
use thread::{Thread, Wait};

/// The buffers after a launch. Before it, all words are [`UNTOUCHED`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// [`OUTPUTS`](super::OUTPUTS) words for each thread.
    pub output: Vec<u32>,
    /// The words that atomics worked on, and after them the sum of the results of all threads that reached the end.
    pub gathered: Vec<u32>,
}

/// The reason why a program has no defined result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Two threads used a word of shared memory between the same barriers, and one of them wrote it.
    Race,
    /// Threads wait for each other forever.
    Deadlock,
    /// The program takes too long.
    Long,
}

/// The outcome of a launch.
pub fn interpret(program: &Program, launch: &Launch) -> Result<Outcome, Invalid> {
    let mut outcome = Outcome { output: Vec::new(), gathered: vec![UNTOUCHED; GATHERED + 1] };
    for block in 0..launch.blocks() {
        run_block(program, launch, block, &mut outcome)?;
    }
    Ok(outcome)
}

fn run_block(program: &Program, launch: &Launch, block: u32, outcome: &mut Outcome) -> Result<(), Invalid> {
    let count = launch.threads();
    let mut memory = Memory {
        words: vec![Word::default(); count as usize],
        phase: 0,
        gathered: [UNTOUCHED; GATHERED],
        gathered_in: [None; GATHERED],
        read_in: [None; GATHERED],
        global: std::mem::take(&mut outcome.gathered),
    };
    let mut threads: Vec<Thread<'_>> = (0..count).map(|number| Thread::new(program, launch, block, number)).collect();
    while threads.iter().any(|thread| !thread.ended) {
        for thread in threads.iter_mut().filter(|thread| !thread.ended && thread.waits.is_none()) {
            thread.run(&mut memory)?;
        }
        let mut released = false;
        for warp in threads.chunks_mut(32) {
            released |= release_members(warp);
        }
        for pair in threads.chunks_mut(64) {
            released |= pass(pair);
        }
        if released {
            continue;
        }
        barrier(&mut threads)?;
        memory.phase += 1;
    }
    outcome.gathered = memory.global;
    outcome.output.extend(threads.into_iter().flat_map(|thread| thread.output));
    Ok(())
}

/// Resumes threads of a warp whose mask is complete; returns whether there are any.
fn release_members(warp: &mut [Thread<'_>]) -> bool {
    let mut released = false;
    for lane in 0..warp.len() {
        let Some(Wait::Members(first, mask, _)) = warp[lane].waits else { continue };
        let named = |lane: usize| mask >> lane & 1 == 1;
        let here = |thread: &Thread<'_>| matches!(thread.waits, Some(Wait::Members(stmt, other, _)) if synchronize(stmt, first) && other == mask);
        if !warp.iter().enumerate().all(|(lane, thread)| !named(lane) || thread.ended || here(thread)) {
            continue;
        }
        let (mut members, mut stmts) = (Vec::new(), Vec::new());
        for (lane, thread) in warp.iter_mut().enumerate().filter(|(lane, _)| named(*lane)) {
            if let Some(Wait::Members(stmt, _, (value, by))) = thread.waits.take() {
                members.push(Member { lane: lane as u32, value, by });
                stmts.push(stmt);
            }
        }
        for (member, stmt) in members.iter().zip(stmts) {
            warp[member.lane as usize].go_on(stmt, mask, &members, *member);
        }
        released = true;
    }
    released
}

/// Resumes the threads of two warps if they wait for each other; returns whether they do.
fn pass(pair: &mut [Thread<'_>]) -> bool {
    let mut values = Vec::new();
    let mut handed = 0;
    for thread in &*pair {
        let Some(Wait::Pair { value, from, .. }) = thread.waits else { return false };
        handed += usize::from(from.is_none());
        values.push(value);
    }
    if handed != 0 && handed != values.len() {
        return false;
    }
    for (number, thread) in pair.iter_mut().enumerate() {
        let Some(Wait::Pair { from, to, .. }) = thread.waits.take() else { continue };
        match from {
            Some(from) => thread.scope.registers[to] = values[from as usize % values.len()],
            None if number >= 32 => thread.scope.registers[to] = values[number - 32],
            None => {}
        }
    }
    true
}

/// Resumes the threads of a block that wait at a barrier together.
fn barrier(threads: &mut [Thread<'_>]) -> Result<(), Invalid> {
    let mut first = None;
    let (mut count, mut holding) = (0, 0);
    for thread in threads.iter().filter(|thread| !thread.ended) {
        let kind = match thread.waits {
            Some(Wait::Barrier) => None,
            Some(Wait::Decide { how, holds, .. }) => {
                count += 1;
                holding += u32::from(holds);
                Some(how)
            }
            _ => return Err(Invalid::Deadlock),
        };
        if *first.get_or_insert(kind) != kind {
            return Err(Invalid::Deadlock);
        }
    }
    for thread in threads {
        let Some(Wait::Decide { how, to, .. }) = thread.waits.take() else { continue };
        thread.scope.registers[to] = match how {
            Decision::Count => holding,
            Decision::All => u32::from(holding == count),
            Decision::Any => u32::from(holding > 0),
        };
    }
    Ok(())
}

/// Whether two operations synchronize with each other: they must be of the same instruction and qualifiers.
fn synchronize(a: &Stmt, b: &Stmt) -> bool {
    match (a, b) {
        (Stmt::Collective { what: a, .. }, Stmt::Collective { what: b, .. }) => match (a, b) {
            (Collective::Reduce(a, _), Collective::Reduce(b, _)) => a == b,
            (Collective::Shuffle { mode: a, .. }, Collective::Shuffle { mode: b, .. }) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        },
        _ => is_ballot(a) && is_ballot(b),
    }
}

/// Whether a statement is translated to a ballot.
fn is_ballot(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Collective { what, .. } => matches!(what, Collective::Ballot(_)),
        stmt => matches!(stmt, Stmt::Split { .. } | Stmt::Rounds { .. } | Stmt::Leave { .. } | Stmt::Refresh { .. }),
    }
}
