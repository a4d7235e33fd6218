//! Runs launch cases in a separate process, so that a kernel that ends the process only fails its own case.
//!
//! The process is this program with the same arguments. It reads requests from its standard input, one line of JSON
//! each, and writes answers to its standard output, each after [`MARK`] on a line of its own. The end of its input
//! tells it to stop.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::suite::Runner;
use super::{Backend, Case, Verdict};
use crate::watch;

/// The environment variable that marks the separate process.
const VARIABLE: &str = "PTX2SPV_RUNS_CASES";

/// Begins an answer, since drivers and layers may write lines too.
const MARK: char = '\u{1e}';

/// A case to run.
#[derive(Serialize, Deserialize)]
struct Request {
    file: PathBuf,
    name: String,
}

/// An answer of the process.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// The device with this name is ready.
    Ready(String),
    /// There is no device, for this reason.
    NoDevice(String),
    Passed,
    Failed(String),
    LeftOut(String),
}

/// A process that runs cases.
pub struct Worker {
    /// `None` after the process has ended.
    process: Option<Process>,
    device: String,
}

struct Process {
    child: Child,
    /// `None` after the last request.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a process, and waits for its device.
    ///
    /// # Errors
    /// The process can't be started, or has no device.
    pub fn start() -> Result<Self> {
        let (process, device) = Process::start()?;
        Ok(Self { process: Some(process), device })
    }

    /// Ends the process. The next case gets a new one.
    pub fn end(&mut self) {
        self.process = None;
    }
}

impl Runner for Worker {
    fn device(&self) -> String {
        self.device.clone()
    }

    fn run_case(&mut self, case: &Case) -> Verdict {
        let process = match self.process.take().map_or_else(|| Process::start().map(|(process, _)| process), Ok) {
            Ok(process) => self.process.insert(process),
            Err(error) => return Verdict::Failed(format!("{error:#}")),
        };
        let request = Request { file: case.file.clone(), name: case.spec.name.clone() };
        match process.ask(&request) {
            Ok(Answer::Passed) => Verdict::Passed,
            Ok(Answer::LeftOut(message)) => Verdict::LeftOut(message),
            Ok(Answer::Failed(message) | Answer::NoDevice(message)) => Verdict::Failed(message),
            Ok(Answer::Ready(_)) => Verdict::Failed("internal error: an answer to nothing".to_owned()),
            Err(_) => {
                let end = self.process.take().map(Process::end);
                let kernel = format!("kernel `{}` (case `{}`) on {}", case.spec.entry, case.spec.name, self.device);
                Verdict::Failed(match end {
                    Some(Ok(status)) => match watch::verdict(status, &[&kernel]) {
                        Ok(_) => format!("{kernel} ended the process ({status})"),
                        Err(error) => error.to_string(),
                    },
                    Some(Err(error)) => format!("waiting for the process that runs {kernel}: {error}"),
                    None => format!("{kernel} ended the process"),
                })
            }
        }
    }
}

impl Process {
    fn start() -> Result<(Self, String)> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(&program)
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let (input, output) = (child.stdin.take(), child.stdout.take().context("a process without output")?);
        let mut process = Self { child, input, output: BufReader::new(output) };
        match process.answer() {
            Ok(Answer::Ready(device)) => Ok((process, device)),
            Ok(Answer::NoDevice(error)) => bail!("{error}"),
            _ => bail!("the process that is to run kernels ended ({})", process.end()?),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer> {
        let input = self.input.as_mut().context("the worker takes no more requests")?;
        writeln!(input, "{}", serde_json::to_string(request)?)?;
        input.flush()?;
        self.answer()
    }

    /// The next answer. Earlier lines are passed on to the user.
    fn answer(&mut self) -> Result<Answer> {
        let mut line = Vec::new();
        while self.output.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            if let Some(answer) = text.strip_prefix(MARK) {
                return Ok(serde_json::from_str(answer)?);
            }
            if text != "\n" {
                eprint!("{text}");
            }
            line.clear();
        }
        bail!("the process has ended")
    }

    /// Waits for the process to end.
    fn end(mut self) -> io::Result<std::process::ExitStatus> {
        self.input = None;
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        // Errors can't be reported here.
        let _ = self.child.wait();
    }
}

/// Whether this process is a worker, started by [`Worker::start`].
pub fn is_worker() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Serves requests on the device that `make` opens.
///
/// # Errors
/// Answers can't be written.
pub fn serve<B: Backend>(make: impl FnOnce() -> Result<B>) -> Result<()> {
    let mut backend = match make() {
        Ok(backend) => backend,
        Err(error) => return say(&Answer::NoDevice(format!("{error:#}"))),
    };
    say(&Answer::Ready(backend.name()))?;
    let is_busy = Arc::new(AtomicBool::new(false));
    let requests = requests(&is_busy);
    let mut files = HashMap::new();
    for request in requests {
        let answer = match run(&request, &mut files, &mut backend) {
            Verdict::Passed => Answer::Passed,
            Verdict::Failed(message) => Answer::Failed(message),
            Verdict::LeftOut(message) => Answer::LeftOut(message),
        };
        is_busy.store(false, Ordering::SeqCst);
        say(&answer)?;
    }
    Ok(())
}

fn run(request: &Request, files: &mut HashMap<PathBuf, Vec<Case>>, backend: &mut dyn Backend) -> Verdict {
    if !files.contains_key(&request.file) {
        match Case::load(&request.file) {
            Ok(cases) => drop(files.insert(request.file.clone(), cases)),
            Err(error) => return Verdict::Failed(error.to_string()),
        }
    }
    let case = files.get(&request.file).and_then(|cases| cases.iter().find(|case| case.spec.name == request.name));
    match case {
        Some(case) => case.run(backend),
        None => Verdict::Failed(format!("{} has no case `{}` any more", request.file.display(), request.name)),
    }
}

fn say(answer: &Answer) -> Result<()> {
    let mut out = io::stdout().lock();
    // On a new line, after any text from other code.
    writeln!(out, "\n{MARK}{}", serde_json::to_string(answer)?)?;
    Ok(out.flush()?)
}

/// The requests. If they end while a case is running, so does this process.
fn requests(is_busy: &Arc<AtomicBool>) -> Receiver<Request> {
    let (sender, receiver) = channel();
    let is_busy = is_busy.clone();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(io::Result::ok) {
            let Ok(request) = serde_json::from_str(&line) else { break };
            is_busy.store(true, Ordering::SeqCst);
            if sender.send(request).is_err() {
                return;
            }
        }
        if is_busy.load(Ordering::SeqCst) {
            // Not `exit`: on exit, drivers clean up and would wait for their kernels.
            std::process::abort();
        }
    });
    receiver
}
