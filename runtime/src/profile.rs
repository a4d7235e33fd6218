//! The profile: where the time goes. With the environment variable [`PROFILE_VARIABLE`], the process prints tables of kernels, copies and
//! calls when it ends, and writes a trace in Chrome's format, which Perfetto shows.
//!
//! Back ends report the device's work ([`DeviceProfile`]), by its own clock where it has one. Everything else is a [`ProfileRange`] of a
//! thread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use ptx2spv_translator::names::demangled;
use serde::Serialize;

use crate::clock::Instant;
use crate::sync::lock;

/// The environment variable that turns the profile on. Its value is the file for the trace, in which `%p` stands for the number of the
/// process, or `-` for the tables alone, which go to the standard error.
pub const PROFILE_VARIABLE: &str = "PTX2SPV_PROFILE";

/// The process row of the trace for the host. Devices follow.
const HOST: u32 = 1;

/// The first event of the trace.
const FIRST: &[u8] = br#"[{"name":"process_name","ph":"M","pid":1,"args":{"name":"host"}}"#;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Kernels,
    Copies,
    Runtime,
    Calls,
}

/// Work of a device, with the attributes that the profile shows.
pub(crate) enum Work {
    Kernel { name: String, grid: [u32; 3], block: [u32; 3], shared_bytes: u32 },
    Copy { direction: &'static str, bytes: u64 },
}

impl Work {
    /// A copy between memory of the host (true) and of the device.
    pub fn copy(from_host: bool, to_host: bool, bytes: u64) -> Self {
        let direction = match (from_host, to_host) {
            (true, false) => "host to device",
            (false, true) => "device to host",
            (false, false) => "device to device",
            (true, true) => "host to host",
        };
        Self::Copy { direction, bytes }
    }

    pub fn fill(bytes: u64) -> Self {
        Self::Copy { direction: "fill", bytes }
    }
}

/// The profile of this process.
struct Profile {
    start: Instant,
    process: u32,
    records: Mutex<Records>,
    threads: AtomicU32,
    devices: AtomicU32,
}

#[derive(Default)]
struct Records {
    /// The events of each table by name.
    totals: [BTreeMap<String, Total>; 4],
    trace: Option<BufWriter<File>>,
    /// The rows of the trace that have names already.
    rows: BTreeSet<(u32, u64)>,
    /// Commands that the device has not finished, or whose times nobody has seen.
    pending: i64,
    untimed: u64,
}

/// The sum of all events of a name.
#[derive(Default)]
struct Total {
    /// The name as it is shown.
    title: String,
    count: u64,
    time: Duration,
    least: Option<Duration>,
    most: Duration,
    bytes: u64,
}

/// An event of Chrome's trace format. Times are in microseconds.
#[derive(Serialize)]
struct Event<'e> {
    name: &'e str,
    ph: &'static str,
    pid: u32,
    tid: u64,
    ts: f64,
    dur: f64,
    args: Arguments<'e>,
}

#[derive(Default, Serialize)]
struct Arguments<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// A row of the trace.
struct Row<'r> {
    process: u32,
    thread: u64,
    name: &'r dyn Fn() -> (String, String),
}

/// Number of living [`Pause`]s.
static PAUSES: AtomicU32 = AtomicU32::new(0);

/// Has a function called when the process ends.
#[cfg(not(target_family = "wasm"))]
fn at_exit(function: extern "C" fn()) {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> std::ffi::c_int;
    }
    // SAFETY: the function is as C declares it, and what it is given lives as long as this library.
    unsafe { atexit(function) };
}

/// WebAssembly has no processes, and no variable that asks for a profile.
#[cfg(target_family = "wasm")]
fn at_exit(_function: extern "C" fn()) {}

/// The profile, if there is one. A forked process has none: the file and the locks are its parent's.
fn profile() -> Option<&'static Profile> {
    static PROFILE: OnceLock<Option<Profile>> = OnceLock::new();
    let profile = PROFILE.get_or_init(|| {
        let value = std::env::var_os(PROFILE_VARIABLE).filter(|value| !value.is_empty())?;
        let process = std::process::id();
        let trace =
            if value == "-" { None } else { create(&value.to_string_lossy().replace("%p", &process.to_string())) };
        at_exit(finish);
        let records = Mutex::new(Records { trace, ..Records::default() });
        Some(Profile {
            start: Instant::now(),
            process,
            records,
            threads: AtomicU32::new(1),
            devices: AtomicU32::new(HOST),
        })
    });
    profile.as_ref().filter(|profile| profile.process == std::process::id())
}

fn is_paused() -> bool {
    PAUSES.load(Relaxed) > 0
}

/// The file of the trace. Readers take a list that has no end, as a process that crashes leaves it.
fn create(name: &str) -> Option<BufWriter<File>> {
    let made = File::create(name).map(BufWriter::new).and_then(|mut file| file.write_all(FIRST).map(|()| file));
    made.inspect_err(warn).ok()
}

/// Prints the tables and completes the trace at the end of the process.
extern "C" fn finish() {
    let Some(profile) = profile() else { return };
    // On some systems, other threads have been ended by now, maybe one that had the lock.
    let Ok(mut records) = profile.records.try_lock() else { return };
    if let Some(mut trace) = records.trace.take() {
        let done = trace.write_all(b"\n]\n").and_then(|()| trace.flush());
        done.unwrap_or_else(|error| warn(&error));
    }
    let _ = io::stderr().write_all(records.text().as_bytes());
}

/// Records nothing while it lives, such as during the self-test of a device.
pub(crate) struct Pause;

impl Pause {
    pub fn new() -> Self {
        PAUSES.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        PAUSES.fetch_sub(1, Relaxed);
    }
}

/// A range of a thread's time in the profile, from its creation to its drop. The tables sum up ranges of one name.
///
/// ```
/// let _range = ptx2spv_runtime::ProfileRange::new("load the picture");
/// ```
#[must_use = "the range ends when it is dropped"]
pub struct ProfileRange(Option<OpenRange>);

struct OpenRange {
    profile: &'static Profile,
    table: Table,
    name: &'static str,
    detail: Option<String>,
    begin: Instant,
}

impl ProfileRange {
    /// Begins a range, such as a call or a phase of the program. Without a profile this does nothing.
    pub fn new(name: &'static str) -> Self {
        Self::begin(Table::Calls, name, None)
    }

    /// Begins work of the runtime itself in a call, for a kernel or a module.
    pub(crate) fn of_runtime(name: &'static str, what: Option<&str>) -> Self {
        Self::begin(Table::Runtime, name, what)
    }

    fn begin(table: Table, name: &'static str, what: Option<&str>) -> Self {
        Self(profile().filter(|_| !is_paused()).map(|profile| {
            let detail = what.map(demangled);
            OpenRange { profile, table, name, detail, begin: Instant::now() }
        }))
    }
}

impl Drop for ProfileRange {
    fn drop(&mut self) {
        thread_local! {
            static THREAD: OnceLock<u64> = const { OnceLock::new() };
        }
        let Some(OpenRange { profile, table, name, detail, begin }) = self.0.take() else { return };
        // A thread that is at its end has no number any more.
        let number = || u64::from(profile.threads.fetch_add(1, Relaxed));
        let thread = THREAD.try_with(|thread| *thread.get_or_init(number)).unwrap_or(0);
        let title = || {
            let title = std::thread::current().name().map_or_else(|| format!("thread {thread}"), str::to_owned);
            ("host".to_owned(), title)
        };
        let row = Row { process: HOST, thread, name: &title };
        let arguments = Arguments { name: detail.as_deref(), ..Arguments::default() };
        profile.add(table, name, row, begin.duration_since(profile.start), begin.elapsed(), arguments);
    }
}

/// The rows of a device in the trace, one for each stream.
pub(crate) struct DeviceProfile {
    profile: &'static Profile,
    device: String,
    number: u32,
    /// The profile's time at zero of the device's clock, in nanoseconds.
    offset: AtomicI64,
    /// The first reading of the device's clock.
    pub first: OnceLock<u64>,
}

impl DeviceProfile {
    /// The rows of a device; `None` without a profile.
    pub fn new(device: &str) -> Option<Self> {
        let profile = profile()?;
        let number = profile.devices.fetch_add(1, Relaxed) + 1;
        Some(Self {
            profile,
            device: device.to_owned(),
            number,
            offset: AtomicI64::new(i64::MIN),
            first: OnceLock::new(),
        })
    }

    /// Measures work by the host's clock, until the result is dropped.
    pub fn measure(&self, stream: u64, work: Work) -> Measured<'_> {
        Measured { device: self, stream, work, begin: Instant::now() }
    }

    /// Counts commands that are recorded, and with a negative number commands that were reported.
    pub fn count(&self, commands: i64) {
        lock(&self.profile.records).pending += commands;
    }

    /// Counts a command that no clock measured.
    pub fn untimed(&self) {
        if !is_paused() {
            lock(&self.profile.records).untimed += 1;
        }
    }

    /// Updates the offset of the device's clock: a command that was submitted at a time begins later, by as little as was ever seen.
    pub fn submitted(&self, at: Instant, begin: Duration) {
        let at = at.duration_since(self.profile.start);
        self.offset.fetch_max(at.as_nanos() as i64 - begin.as_nanos() as i64, Relaxed);
    }

    /// Reports work that was measured by the device's clock.
    pub fn ran(&self, stream: u64, begin: Duration, end: Duration, work: &Work) {
        let begin_there = begin.as_nanos() as i64 + self.offset.load(Relaxed);
        self.add(stream, work, Duration::from_nanos(begin_there.max(0) as u64), end.saturating_sub(begin));
    }

    fn add(&self, stream: u64, work: &Work, begin: Duration, time: Duration) {
        if is_paused() {
            return;
        }
        let title = || {
            let stream = if stream == 0 { "default stream".to_owned() } else { format!("stream {stream}") };
            (self.device.clone(), stream)
        };
        let row = Row { process: self.number, thread: stream, name: &title };
        let (table, name, arguments) = match work {
            Work::Kernel { name, grid, block, shared_bytes } => {
                let arguments = Arguments {
                    grid: Some(*grid),
                    block: Some(*block),
                    shared_bytes: Some(*shared_bytes),
                    ..Arguments::default()
                };
                (Table::Kernels, &**name, arguments)
            }
            Work::Copy { direction, bytes } => {
                (Table::Copies, *direction, Arguments { bytes: Some(*bytes), ..Arguments::default() })
            }
        };
        self.profile.add(table, name, row, begin, time, arguments);
    }
}

/// Work that the host measures.
pub(crate) struct Measured<'d> {
    device: &'d DeviceProfile,
    stream: u64,
    work: Work,
    begin: Instant,
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        let begin = self.begin.duration_since(self.device.profile.start);
        self.device.add(self.stream, &self.work, begin, self.begin.elapsed());
    }
}

impl Profile {
    fn add(&self, table: Table, name: &str, row: Row<'_>, begin: Duration, time: Duration, args: Arguments<'_>) {
        let mut records = lock(&self.records);
        let Records { totals, trace, rows, .. } = &mut *records;
        let totals = &mut totals[table as usize];
        let total = match totals.get_mut(name) {
            Some(total) => total,
            None => totals.entry(name.to_owned()).or_insert_with(|| Total::new(name)),
        };
        total.add(time, args.bytes.unwrap_or(0));
        let Some(file) = trace else { return };
        let mut written = Ok(());
        if rows.insert((row.process, row.thread)) {
            let (process, thread) = (row.name)();
            for (name, title) in [("process_name", &process), ("thread_name", &thread)] {
                let args = Arguments { name: Some(title), ..Arguments::default() };
                let event = Event { name, ph: "M", pid: row.process, tid: row.thread, ts: 0.0, dur: 0.0, args };
                written = written.and_then(|()| event.write(file));
            }
        }
        let [ts, dur] = [begin, time].map(|time| time.as_nanos() as f64 / 1000.0);
        let event = Event { name: &total.title, ph: "X", pid: row.process, tid: row.thread, ts, dur, args };
        // After a failure the trace stays as it is.
        if let Err(error) = written.and_then(|()| event.write(file)) {
            warn(&error);
            *trace = None;
        }
    }
}

impl Event<'_> {
    fn write(&self, file: &mut BufWriter<File>) -> io::Result<()> {
        file.write_all(b",\n")?;
        Ok(serde_json::to_writer(file, self)?)
    }
}

/// Says why there is no trace, or only a part of one.
fn warn(error: &io::Error) {
    // An error of the standard error can't be reported anywhere.
    let _ = writeln!(io::stderr(), "ptx2spv: {PROFILE_VARIABLE}: {error}");
}

impl Records {
    /// The tables.
    fn text(&self) -> String {
        let mut text = String::new();
        for (table, title) in [
            (Table::Kernels, "Kernels"),
            (Table::Copies, "Copies and fills"),
            (Table::Runtime, "Translation, pipelines, waits"),
            (Table::Calls, "Calls"),
        ] {
            let mut list: Vec<_> = self.totals[table as usize].values().collect();
            if list.is_empty() {
                continue;
            }
            list.sort_by_key(|total| std::cmp::Reverse(total.time));
            let all: Duration = list.iter().map(|total| total.time).sum();
            let is_copy = table == Table::Copies;
            let bytes = if is_copy { format!(" {:>12} {:>9}", "MB", "GB/s") } else { String::new() };
            // A failed write to a string doesn't happen.
            let _ = writeln!(
                text,
                "\n{title}\n{:>7} {:>14} {:>9} {:>12} {:>12} {:>12}{bytes}  Name",
                "Time %", "Total us", "Count", "Mean us", "Min us", "Max us"
            );
            for total in list {
                let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
                let seconds = total.time.as_secs_f64();
                let _ = write!(
                    text,
                    "{:>7.1} {:>14.1} {:>9} {:>12.2} {:>12.2} {:>12.2}",
                    100.0 * seconds / all.as_secs_f64().max(f64::MIN_POSITIVE),
                    micros(total.time),
                    total.count,
                    micros(total.time) / total.count as f64,
                    micros(total.least.unwrap_or_default()),
                    micros(total.most),
                );
                if is_copy {
                    let rate = total.bytes as f64 / seconds.max(f64::MIN_POSITIVE) / 1e9;
                    let _ = write!(text, " {:>12.3} {rate:>9.2}", total.bytes as f64 / 1e6);
                }
                let _ = writeln!(text, "  {}", total.title);
            }
        }
        if self.pending > 0 {
            let _ = writeln!(text, "\n{} commands are missing: nobody waited for them", self.pending);
        }
        if self.untimed > 0 {
            let _ = writeln!(text, "\n{} commands are missing: the device has no clock for them", self.untimed);
        }
        text
    }
}

impl Total {
    fn new(name: &str) -> Self {
        Self { title: demangled(name), ..Self::default() }
    }

    fn add(&mut self, time: Duration, bytes: u64) {
        self.count += 1;
        self.time += time;
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
        self.most = self.most.max(time);
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_by_time() {
        let mut records = Records { pending: 2, ..Records::default() };
        for (table, name, micros, bytes) in [
            (Table::Kernels, "short", 250, 0),
            (Table::Kernels, "long", 500, 0),
            (Table::Kernels, "long", 250, 0),
            (Table::Copies, "fill", 1000, 3_000_000),
        ] {
            let totals = &mut records.totals[table as usize];
            let total = totals.entry(name.to_owned()).or_insert_with(|| Total::new(name));
            total.add(Duration::from_micros(micros), bytes);
        }
        let text = records.text();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[3], ["75.0", "750.0", "2", "375.00", "250.00", "500.00", "long"]);
        assert_eq!(lines[4], ["25.0", "250.0", "1", "250.00", "250.00", "250.00", "short"]);
        assert_eq!(lines[8], ["100.0", "1000.0", "1", "1000.00", "1000.00", "1000.00", "3.000", "3.00", "fill"]);
        assert!(text.ends_with("2 commands are missing: nobody waited for them\n"));
    }
}
