//! The translator and the reference device behind three functions that take and give JSON, for the page in `page/`.
//!
//! The page writes a request to the buffer of [`request`], calls [`answer`], and finds the answer in the same buffer: see
//! `page/worker.js`.

// The page gets errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod check;
mod run;
mod translate;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

/// A request of the page.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Request {
    /// The names of the devices to translate for.
    Presets,
    /// The errors of a text, and its kernels.
    Check { ptx: String },
    /// A kernel after each pass, and as SPIR-V.
    Translate(translate::Request),
    /// Size and needs of a kernel's SPIR-V.
    Size(translate::Request),
    /// The results of a kernel's run.
    Run(run::Request),
}

/// The answer to a request. The answer has the member `error` if the request can't be carried out.
pub fn reply(request: &[u8]) -> Value {
    match serde_json::from_slice(request) {
        Ok(Request::Presets) => translate::presets(),
        Ok(Request::Check { ptx }) => check::check(&ptx),
        Ok(Request::Translate(request)) => translate::translate(&request),
        Ok(Request::Size(request)) => translate::size(&request),
        Ok(Request::Run(request)) => run::run(&request).unwrap_or_else(|error| json!({"error": error})),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// The request, and later its answer.
static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn buffer() -> MutexGuard<'static, Vec<u8>> {
    BUFFER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a request of this many bytes, and returns its place.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn request(bytes: usize) -> *mut u8 {
    let mut buffer = buffer();
    buffer.clear();
    buffer.resize(bytes, 0);
    buffer.as_mut_ptr()
}

/// Replaces the request by its answer, and returns the length of that.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let mut buffer = buffer();
    *buffer = reply(&buffer).to_string().into_bytes();
    buffer.len()
}

/// The place of the answer.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn answer_place() -> *const u8 {
    buffer().as_ptr()
}
