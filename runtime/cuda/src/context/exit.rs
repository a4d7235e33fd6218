//! The process's exit. Kernels and calls of other threads that don't end must not run beside the driver's exit handlers, which may crash then, or
//! wait for ever. So the process ends at once then, and other exit handlers don't run.

use std::sync::{Once, OnceLock};

use ptx2spv_runtime::Process;

use super::state;

/// The process whose exit is waited for. Forked children have handlers too, but neither devices nor other threads, and locks that are never unlocked.
static PROCESS: OnceLock<Process> = OnceLock::new();

/// Has the exit wait for the devices, and end the library. The Vulkan driver is loaded, so the exit handlers that it has registered run later.
pub fn register() {
    PROCESS.get_or_init(Process::this);
    system::register(end);
}

/// Has the exit wait for the devices once more, and earlier: a launch has had the driver register the exit handlers of its compiler. The library goes
/// on, since the program's own exit handlers may use it.
pub fn launched() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| system::register(is_idle));
}

fn is_forked() -> bool {
    !PROCESS.get().is_some_and(|process| process.is_this())
}

fn end() -> bool {
    is_forked() || state::end()
}

fn is_idle() -> bool {
    is_forked() || state::is_idle()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;
    use std::sync::mpsc::channel;
    use std::thread::Builder;
    use std::time::Duration;

    type Handler = extern "C" fn(c_int, *mut c_void);

    unsafe extern "C" {
        /// Has a function called when the process exits, with the exit's status.
        fn on_exit(function: Handler, argument: *mut c_void) -> c_int;
    }

    /// Has a function called at the exit. The process ends at once if it says that the devices are in use.
    pub fn register(is_idle: fn() -> bool) {
        // SAFETY: the function is declared as the C library calls it, doesn't unwind, and stays loaded (`-z nodelete`). Its argument is a function.
        unsafe { on_exit(handle, is_idle as *mut c_void) };
    }

    extern "C" fn handle(status: c_int, is_idle: *mut c_void) {
        // SAFETY: that is what `register` passes.
        let is_idle: fn() -> bool = unsafe { std::mem::transmute(is_idle) };
        // A panic is ignored, since the process is exiting.
        if !std::panic::catch_unwind(is_idle).unwrap_or(true) {
            flush();
            // SAFETY: nothing runs in this process after that.
            unsafe { libc::_exit(status) };
        }
    }

    /// Writes what the C library's files have in buffers. That doesn't wait long for files that other threads use, as one does that reads the standard
    /// input.
    fn flush() {
        let (done, is_done) = channel();
        let flush = move || {
            // SAFETY: NULL means all files.
            unsafe { libc::fflush(null_mut()) };
            // Fails if nobody waits any more.
            let _ = done.send(());
        };
        // The process ends in any case.
        if Builder::new().spawn(flush).is_ok() {
            let _ = is_done.recv_timeout(Duration::from_secs(1));
        }
    }
}

/// Elsewhere, exit handlers don't learn the exit's status, and so can't end the process.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    use std::sync::Once;

    /// Has the library end at the exit. There is nothing else to do.
    pub fn register(_is_idle: fn() -> bool) {
        static ONCE: Once = Once::new();
        // SAFETY: the function takes no arguments, doesn't unwind, and stays loaded.
        ONCE.call_once(|| unsafe {
            libc::atexit(end);
        });
    }

    extern "C" fn end() {
        // A panic is ignored, since the process is exiting.
        let _ = std::panic::catch_unwind(super::end);
    }
}
