//! A forked process whose parent has an open device. It has its own test program: only the forking thread continues in
//! a child, so no other test may run at the same time.
#![cfg(unix)]

use std::time::{Duration, Instant};

use ptx2spv_runtime::{Device, DeviceSelector, Error, LaunchConfig};
use ptx2spv_translator::Source;

const PTX: &str = include_str!("ptx/fork.ptx");

/// A child's use of its parent's device. The device doesn't work there, so nothing may wait for it.
fn use_in_child() -> bool {
    let device = Device::open(&DeviceSelector::Default).unwrap();
    if device.instance().is_none() {
        // The reference device has no driver, and may be used.
        return true;
    }
    let buffer = device.upload(&[0_u32; 4]).unwrap();
    let module = device.load(&Source::new("one.ptx", PTX)).unwrap();
    let kernel = module.kernel("one").unwrap();
    let launch = |device: &Device| {
        // SAFETY: the kernel writes the buffer's first element.
        unsafe { kernel.launch(&LaunchConfig::new([1; 3], [1; 3]), &[(&buffer).into()]) }?;
        device.synchronize()
    };
    launch(&device).unwrap();
    // SAFETY: the child calls nothing but the runtime, which was made for this, and ends itself.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process");
    if child == 0 {
        let forked = |result: Result<(), Error>| matches!(result, Err(Error::Forked));
        let right = forked(launch(&device))
            && forked(device.synchronize())
            && forked(device.alloc(64).map(|_| ()))
            && forked(buffer.write(0, &[1]))
            && forked(buffer.read(0, &mut [0]))
            && forked(buffer.fill(1))
            && device.instance().is_some_and(|instance| forked(instance.devices().map(|_| ())));
        // Closing must not wait either.
        drop((kernel, module, buffer, device));
        // SAFETY: ends the process without the test program's exit handlers.
        unsafe { libc::_exit(if right { 0 } else { 1 }) };
    }
    let end = Instant::now() + Duration::from_secs(60);
    let mut status = 0;
    loop {
        // SAFETY: the child is ours, and `status` is alive.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            0 => {
                // SAFETY: the child is ours and has not ended.
                unsafe { libc::kill(child, libc::SIGKILL) };
                return false;
            }
            _ => break,
        }
    }
    // The parent's device still works.
    launch(&device).unwrap();
    assert_eq!(buffer.download::<u32>().unwrap(), [1, 0, 0, 0]);
    status == 0
}

#[test]
fn a_forked_process_gets_errors_from_its_parents_device() {
    assert!(use_in_child(), "the child hung, or had no error");
}
