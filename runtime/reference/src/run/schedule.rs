//! Schedules workgroups on host threads, fairly, so that a workgroup that another one waits for makes progress. Also
//! decides when a dispatch must end: when its budget is exhausted, or when all remaining workgroups wait for ever.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::lane::{Lane, Snapshot};
use super::launch::{Launch, ROOM, lock};
use super::workgroup::{Pass, Workgroup};
use super::world::World;
use crate::config::Choice;
use crate::finding::{Finding, FindingKind};

/// Maximum number of instructions of a workgroup before others get a turn.
const QUANTUM: u64 = 50_000_000;

/// Number of waiting workgroups above which a thread only begins another one if all threads are stuck, because other
/// threads may be about to end the wait.
const PATIENT: usize = 16;

/// The state shared by the threads of a dispatch.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The next workgroup to begin.
    next: AtomicU64,
    /// Increases whenever memory has changed.
    pub version: AtomicU64,
    /// Increases whenever it is read.
    pub clock: AtomicU64,
    stop: AtomicBool,
    fatal: Mutex<Option<Box<Finding>>>,
    threads: Mutex<Vec<Status>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Running,
    /// All its workgroups wait, and memory had this version.
    Stuck(u64),
    Through,
}

enum Waited {
    /// Memory has changed.
    Changed,
    /// No thread can change memory any more.
    AllStuck,
    /// The dispatch has ended.
    Stopped,
}

impl Shared {
    /// A dispatch that begins, on a number of threads.
    pub fn new(threads: usize) -> Self {
        Self { threads: Mutex::new(vec![Status::Running; threads]), ..Self::default() }
    }

    /// The finding that ended the dispatch early.
    pub fn into_fatal(self) -> Option<Box<Finding>> {
        self.fatal.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn work<W: World>(&self, thread: usize, launch: &Launch<'_>, world: W) {
        let mut worker = Worker {
            shared: self,
            thread,
            launch,
            world,
            snapshot: Snapshot::default(),
            residents: Vec::new(),
            spare: Vec::new(),
        };
        if let Err(finding) = worker.work() {
            lock(&self.fatal).get_or_insert(finding);
            self.stop.store(true, Relaxed);
        }
        lock(&self.threads)[thread] = Status::Through;
    }

    /// Waits until memory has another version. If all threads are stuck, one of them is told first.
    fn wait(&self, thread: usize, version: u64) -> Waited {
        lock(&self.threads)[thread] = Status::Stuck(version);
        loop {
            {
                let mut threads = lock(&self.threads);
                let waited = if self.stop.load(Relaxed) {
                    Some(Waited::Stopped)
                } else if self.version.load(Relaxed) != version {
                    Some(Waited::Changed)
                } else {
                    let stuck = |&status: &Status| status == Status::Through || status == Status::Stuck(version);
                    threads.iter().all(stuck).then_some(Waited::AllStuck)
                };
                if let Some(waited) = waited {
                    threads[thread] = Status::Running;
                    return waited;
                }
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

struct Worker<'a, W: World> {
    shared: &'a Shared,
    thread: usize,
    launch: &'a Launch<'a>,
    world: W,
    snapshot: Snapshot,
    /// Workgroups that have begun.
    residents: Vec<Workgroup<W>>,
    /// Invocations of workgroups that have ended, for reuse.
    spare: Vec<Vec<Lane>>,
}

impl<W: World> Worker<'_, W> {
    fn work(&mut self) -> Result<(), Box<Finding>> {
        let mut rounds = 0;
        loop {
            if self.residents.is_empty() && !self.begin()? {
                return Ok(());
            }
            let version = self.world.version();
            let (mut ended, mut stuck) = (false, true);
            let mut index = 0;
            while index < self.residents.len() {
                match self.visit(index)? {
                    None => return Ok(()),
                    Some(Pass::Done) => {
                        let lanes = self.residents.remove(index).end(&mut self.world);
                        self.spare.push(lanes);
                        (ended, stuck) = (true, false);
                        continue;
                    }
                    Some(Pass::Stuck) => {}
                    Some(Pass::Moved | Pass::Busy) => stuck = false,
                }
                index += 1;
            }
            stuck &= version == self.world.version();
            rounds = if ended { 0 } else { rounds + 1 };
            let company = W::Choice::OPEN && self.residents.len() < 4 && self.world.choice().pick(4) > 0;
            // A workgroup without progress may be waiting for one that has not begun.
            if ended {
                continue;
            } else if stuck && (self.residents.len() >= PATIENT || !self.begin()?) {
                match self.shared.wait(self.thread, version) {
                    Waited::Changed => {}
                    Waited::Stopped => return Ok(()),
                    Waited::AllStuck if self.begin()? => {}
                    Waited::AllStuck => return Err(self.residents[0].deadlock(self.launch)),
                }
            } else if company || rounds > self.residents.len() {
                self.begin()?;
                rounds = 0;
            }
        }
    }

    /// Begins another workgroup. Returns whether there was one.
    fn begin(&mut self) -> Result<bool, Box<Finding>> {
        let code = &self.launch.program.code;
        let room = ROOM / self.launch.program.workgroup_bytes(self.launch.shadowed).max(1) / self.launch.threads as u64;
        if self.residents.len() as u64 > room {
            return Ok(false);
        }
        let [x, y, z] = self.launch.groups.map(u64::from);
        let total = x.saturating_mul(y).saturating_mul(z);
        if total == 0 {
            return Ok(false);
        }
        loop {
            let number = self.shared.next.fetch_add(1, Relaxed);
            let index = self.world.place_in_order(number, total);
            match index {
                None => {
                    // Prevents an overflow of the counter.
                    self.shared.next.fetch_sub(1, Relaxed);
                    return Ok(false);
                }
                Some(index) if index >= total => {}
                Some(index) => {
                    let id = [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32];
                    let lanes = self.spare.pop();
                    let Some(workgroup) = Workgroup::begin(self.launch, index, id, lanes, &mut self.world) else {
                        let site = self.launch.program.site(code.start, Some(id), None);
                        let message = "the host has no room for workgroup memory";
                        return Err(Finding::new(FindingKind::OutOfBounds, message, site, None).into());
                    };
                    self.residents.push(workgroup);
                    return Ok(true);
                }
            }
        }
    }

    /// Runs a workgroup for a while; `None` if the dispatch has ended in the meantime.
    fn visit(&mut self, index: usize) -> Result<Option<Pass>, Box<Finding>> {
        let workgroup = &mut self.residents[index];
        let mut total = 0;
        loop {
            let mut steps = 0;
            let pass = workgroup.pass(self.launch, &mut self.world, &mut self.snapshot, &mut steps)?;
            self.world.publish(&self.shared.version);
            let all = self.launch.steps.fetch_add(steps, Relaxed) + steps;
            total += steps;
            if self.shared.stop.load(Relaxed) {
                return Ok(None);
            }
            if let Some(budget) = self.launch.step_budget
                && all > budget
            {
                let message = format!("the dispatch has taken more than {budget} instructions");
                let site = workgroup.somewhere(self.launch);
                return Err(Finding::new(FindingKind::StepBudget, message, site, None).into());
            }
            if matches!(pass, Pass::Done | Pass::Stuck) || total > QUANTUM || W::Choice::OPEN {
                return Ok(Some(pass));
            }
        }
    }
}
