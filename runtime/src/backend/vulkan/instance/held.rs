//! Faults of kernels on CPU devices, which run in this process: an access to memory that isn't there would end it. A signal handler holds
//! the driver's thread that faulted for good instead. From then on the driver's devices are lost: nothing may wait for their threads.
//!
//! The driver's threads are those that begin during certain calls ([`noting_threads`]). Signals of all other threads go where they went
//! before, and nothing is done until [`hold`] is called.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Whether faults are held.
static HOLDS: AtomicBool = AtomicBool::new(false);

/// Whether faults of a driver's threads are held, so that those who wait should ask for them often.
pub(crate) fn is_holding() -> bool {
    HOLDS.load(Relaxed)
}

#[cfg(target_os = "linux")]
pub use linux::hold;
#[cfg(target_os = "linux")]
pub(crate) use linux::{fault, noting_threads};

/// Does nothing: faults are only held on Linux.
#[cfg(not(target_os = "linux"))]
pub fn hold() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn fault() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn noting_threads<T>(call: impl FnOnce() -> T) -> T {
    call()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Once;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64};

    use super::HOLDS;

    /// Most threads that are noted. Further ones are not held.
    const MOST: usize = 1024;
    static THREADS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

    static HAS_FAULTED: AtomicBool = AtomicBool::new(false);
    static ADDRESS: AtomicU64 = AtomicU64::new(0);

    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
    /// What was done about these signals before, which is never freed.
    static BEFORE: [AtomicPtr<libc::sigaction>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];

    /// Has the process survive kernels that access memory that isn't there, on devices that are opened afterwards and run on the CPU. Such an
    /// access is [`Error::SegmentationFault`](crate::Error::SegmentationFault) of what waits for the kernel. It installs handlers of `SIGSEGV`
    /// and `SIGBUS`, which pass on what doesn't come from kernels.
    pub fn hold() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
                // SAFETY: all members of the structure may be zero.
                let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
                new.sa_sigaction = handle as *const () as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                // SAFETY: both structures are alive. The handler only does what signal handlers may.
                if unsafe { libc::sigaction(signal, std::ptr::null(), &mut old) } == 0 {
                    before.store(Box::into_raw(Box::new(old)), Release);
                    // SAFETY: as before.
                    unsafe { libc::sigaction(signal, &new, std::ptr::null_mut()) };
                }
            }
            HOLDS.store(true, Relaxed);
        });
    }

    /// The address of the first fault, if there was one.
    pub fn fault() -> Option<u64> {
        HAS_FAULTED.load(Acquire).then(|| ADDRESS.load(Relaxed))
    }

    /// Makes a call of a driver, and notes the threads that have begun meanwhile as the driver's.
    pub fn noting_threads<T>(call: impl FnOnce() -> T) -> T {
        if !super::is_holding() {
            return call();
        }
        let before = threads();
        let result = call();
        for thread in threads().into_iter().filter(|thread| !before.contains(thread)) {
            let free = THREADS.iter().find(|slot| slot.compare_exchange(0, thread, Relaxed, Relaxed).is_ok());
            if free.is_none() {
                break;
            }
        }
        result
    }

    /// The process's threads.
    fn threads() -> Vec<libc::pid_t> {
        let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Holds the driver's threads. It only uses atomics and calls that are allowed in signal handlers.
    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the call has no arguments, and can't fail.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) } as libc::pid_t;
        if THREADS.iter().any(|slot| slot.load(Relaxed) == thread) {
            if !HAS_FAULTED.load(Acquire) {
                // SAFETY: the system gives a valid pointer, and these signals have an address.
                ADDRESS.store(unsafe { (*info).si_addr() } as u64, Relaxed);
                HAS_FAULTED.store(true, Release);
            }
            loop {
                // SAFETY: waits for a signal, for ever: there is nothing to go on with.
                unsafe { libc::pause() };
            }
        }
        pass_on(signal, info, context);
    }

    /// Does what would have been done without this handler.
    fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let before = SIGNALS.iter().position(|known| *known == signal).map(|place| BEFORE[place].load(Acquire));
        // SAFETY: the pointer is null, or that of a structure that is never freed.
        let Some(before) = before.and_then(|before| unsafe { before.as_ref() }) else { return };
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                // The faulting instruction runs again, now without this handler.
                // SAFETY: the structure is alive; the call is allowed in signal handlers.
                unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: with this flag, it is the address of such a function.
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    unsafe { std::mem::transmute(handler) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: without that flag, it is the address of such a function.
                let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
                handler(signal);
            }
        }
    }
}
