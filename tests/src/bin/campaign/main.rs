//! Compares random programs on all devices: the reference device at two widths and with the worst choices that Vulkan allows, Vulkan devices,
//! and CUDA with and without its assembler's optimizations. Programs whose results differ are reduced and saved as launch cases.

mod forms;
mod journal;
mod kinds;
mod saved;
mod sides;
mod straight;

use std::io::Write;
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Parser, ValueEnum};
use journal::Journal;
use kinds::Kind;
use ptx2spv::cli::{self, Status};
use sides::{Class, Sides};

/// The longest time for a program on all devices, and for the reduction of one. A process that takes longer ends itself.
const LONGEST: Duration = Duration::from_secs(900);
const REDUCTION: Duration = Duration::from_secs(240);

/// The exit status after a failure of CUDA, other than those of results that differ and of errors.
const CUDA_FAILED: i32 = 3;

/// Runs random programs on all devices, and saves those whose results differ.
#[derive(Debug, Parser)]
#[command(name = "campaign", max_term_width = 100)]
struct CommandLine {
    /// The first seed of each kind.
    first: u64,
    /// The seed after the last.
    end: u64,
    /// The programs; all kinds if none is named.
    #[arg(long, value_enum)]
    kind: Vec<Kind>,
    /// A time after which no program begins. Each kind gets as much of it.
    #[arg(long)]
    hours: Option<f64>,
    /// The devices: `cuda`, `adversarial` (a reference device), or as for `ptx2spv run`; all if none is named.
    #[arg(long)]
    device: Vec<String>,
    /// Approximate number of instructions in a kernel of arithmetic.
    #[arg(long, default_value_t = 300)]
    instructions: usize,
    /// Where to keep the journal, and programs whose results differ.
    #[arg(long, default_value = "target/campaign")]
    out: PathBuf,
    /// Maximum number of programs of a kind to reduce.
    #[arg(long, default_value_t = 4)]
    reduce: usize,
}

/// The programs of a kind.
struct Course {
    kind: Kind,
    next: u64,
    spent: Duration,
    reduced: usize,
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    cli::main(|out| run(&command_line, out))
}

fn run(command_line: &CommandLine, out: &mut dyn Write) -> Result<Status> {
    let mut journal = Journal::open(&command_line.out.join("journal"))?;
    let mut sides = Sides::open(&command_line.device)?;
    journal.remark(&format!("{} {}; {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), sides.names()))?;
    writeln!(out, "{}", sides.names())?;
    let kinds = if command_line.kind.is_empty() { Kind::value_variants() } else { &command_line.kind };
    kinds.iter().try_for_each(|kind| kind.check())?;
    let course = |kind: &Kind| Course { kind: *kind, next: command_line.first, spent: Duration::ZERO, reduced: 0 };
    let mut courses: Vec<Course> = kinds.iter().map(course).collect();
    let time = command_line.hours.map(|hours| Duration::from_secs_f64(hours * 3600.0));
    let begin = Instant::now();
    let mut different = 0;
    watch();
    while time.is_none_or(|time| begin.elapsed() < time) {
        courses.iter_mut().for_each(|course| {
            while journal.has(&course.kind.name(), course.next) {
                course.next += 1;
            }
        });
        let open = courses.iter_mut().filter(|course| course.next < command_line.end);
        let Some(course) = open.min_by_key(|course| course.spent) else { break };
        let started = Instant::now();
        different += usize::from(program(course, command_line, &mut sides, &mut journal, out)?);
        course.spent += started.elapsed();
        if sides.cuda_failed() {
            cli::note("CUDA failed; another process can go on with the next program");
            exit(CUDA_FAILED);
        }
    }
    write!(out, "{}", journal.summary())?;
    Ok(if different == 0 { Status::Success } else { Status::Failure })
}

/// Runs the next program of a kind. Returns whether results differ.
fn program(
    course: &mut Course,
    command_line: &CommandLine,
    sides: &mut Sides,
    journal: &mut Journal,
    out: &mut dyn Write,
) -> Result<bool> {
    let (kind, seed) = (course.kind.name(), course.next);
    journal.begin(&kind, seed)?;
    BEGUN.fetch_add(1, Ordering::Relaxed);
    let Some(mut drawn) = course.kind.draw(seed, command_line.instructions) else {
        journal.end(&kind, seed, &Class::LeftOut.to_string())?;
        return Ok(false);
    };
    let (mix, loose) = (drawn.mix, drawn.loose);
    let (class, said) = sides.compare(seed, mix, loose, &drawn.case());
    journal.end(&kind, seed, &class.to_string())?;
    if matches!(class, Class::Same | Class::LeftOut) {
        return Ok(false);
    }
    let mut comment = format!("{class}: {said}");
    // The assembler's faults are many, and not ours to mend.
    if course.reduced < command_line.reduce && class != Class::Assembler && !sides.cuda_failed() {
        course.reduced += 1;
        BEGUN.fetch_add(1, Ordering::Relaxed);
        let begin = Instant::now();
        drawn.reduce(|case| {
            if begin.elapsed() > REDUCTION {
                return false;
            }
            let (reduced, said) = sides.compare(seed, mix, true, case);
            let differs = reduced == class;
            if differs {
                comment = format!("{class}: {said}");
            }
            differs
        });
    }
    let case = drawn.case();
    let expected = sides.first(seed, &case);
    let file = saved::save(&command_line.out, &format!("{kind}_{seed}"), &comment, &case, expected.as_ref());
    let place = file.map_or_else(|error| format!("not saved: {error}"), |file| file.display().to_string());
    writeln!(out, "{kind} {seed}: {comment}  {place}")?;
    out.flush()?;
    Ok(true)
}

/// Counts what has begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Ends the process if a program takes too long: a driver's compiler may hang.
fn watch() {
    thread::spawn(|| {
        loop {
            let begun = BEGUN.load(Ordering::Relaxed);
            thread::sleep(LONGEST);
            if begun > 0 && BEGUN.load(Ordering::Relaxed) == begun {
                cli::note("a program takes too long");
                std::process::abort();
            }
        }
    });
}
