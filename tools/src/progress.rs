//! A progress bar for work that takes more than a second, on the standard error if that is a terminal.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli;

/// A bar that appears after a second and disappears when dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// When dropped, tells the thread that would show the bar that the work is done.
    _alive: Sender<()>,
}

impl Progress {
    /// A bar for a number of steps.
    pub fn new(steps: usize, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden())
            .with_message(what.to_owned());
        // The templates are valid: a test checks that.
        let template = if steps > 1 {
            "{spinner} {msg} [{wide_bar}] {pos}/{len}, {eta} left"
        } else {
            "{spinner} {msg}, {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (alive, done) = channel();
        if !cli::is_quiet() {
            let shown = bar.clone();
            thread::spawn(move || {
                if done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Self { bar, _alive: alive }
    }

    /// Shows a bar while one thing is done.
    pub fn during<R>(what: &str, body: impl FnOnce() -> R) -> R {
        let _progress = Self::new(1, what);
        body()
    }

    /// Advances by one step.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Hides the bar while lines are written.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_right() {
        for steps in [1, 2] {
            let progress = Progress::new(steps, "testing");
            progress.step();
            assert_eq!((progress.aside(|| 7), progress.bar.position()), (7, 1));
        }
        assert!(ProgressStyle::with_template("{spinner} {msg} [{wide_bar}] {pos}/{len}, {eta} left").is_ok());
        assert!(ProgressStyle::with_template("{spinner} {msg}, {elapsed}").is_ok());
    }
}
