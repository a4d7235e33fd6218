//! The process's exit. Kernels and calls of other threads that don't end must not run beside the driver's exit handlers, which may crash then, or
//! wait for ever. So the process ends at once then, and other exit handlers don't run.

use std::sync::OnceLock;

use ptx2spv_runtime::Process;

/// The process whose exit is waited for. Forked children have handlers too, but neither devices nor other threads, and locks that are never unlocked.
static PROCESS: OnceLock<Process> = OnceLock::new();

/// Has a function called at the exit, which waits for the devices and says whether nothing uses them any more. The Vulkan driver is loaded, so the exit
/// handlers that it has registered run later. On some systems only the first function is called.
pub fn register(is_idle: fn() -> bool) {
    PROCESS.get_or_init(Process::this);
    system::register(is_idle);
}

/// Whether this process was forked off after a device was opened.
pub fn is_forked() -> bool {
    !PROCESS.get().is_some_and(|process| process.is_this())
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
        if !std::panic::catch_unwind(|| super::is_forked() || is_idle()).unwrap_or(true) {
            flush();
            // SAFETY: nothing runs in this process after that.
            unsafe { libc::_exit(status) };
        }
    }

    /// Writes the output in the buffers of the C library's files. The wait is short where another thread uses a file, such as a thread that
    /// reads the standard input.
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
    use std::sync::OnceLock;

    /// The function that the exit calls.
    static IS_IDLE: OnceLock<fn() -> bool> = OnceLock::new();

    /// Has the first function called at the exit. There is nothing else to do.
    pub fn register(is_idle: fn() -> bool) {
        IS_IDLE.get_or_init(|| {
            // SAFETY: the function takes no arguments, doesn't unwind, and stays loaded.
            unsafe { libc::atexit(end) };
            is_idle
        });
    }

    extern "C" fn end() {
        // A panic is ignored, since the process is exiting.
        let _ = std::panic::catch_unwind(|| super::is_forked() || IS_IDLE.get().is_none_or(|is_idle| is_idle()));
    }
}
