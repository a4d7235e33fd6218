//! The C library's standard output, which is the program's too: what kernels print stands between what the program prints before and
//! after, and goes where the program has it go (`freopen`, `setvbuf`).

use libc::FILE;

#[cfg(all(unix, not(target_vendor = "apple")))]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        static stdout: *mut FILE;
    }
    // SAFETY: the C library's variable, which programs set, if ever, before they have other threads.
    unsafe { stdout }
}

#[cfg(target_vendor = "apple")]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        #[link_name = "__stdoutp"]
        static stdout: *mut FILE;
    }
    // SAFETY: the C library's variable, which programs set, if ever, before they have other threads.
    unsafe { stdout }
}

#[cfg(windows)]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        fn __acrt_iob_func(number: u32) -> *mut FILE;
    }
    // SAFETY: the C library's streams are there from 0 to 2.
    unsafe { __acrt_iob_func(1) }
}

/// Appends to the stream's buffer. When that is written out is the program's affair.
pub(crate) fn write(bytes: &[u8]) {
    let stream = standard();
    if bytes.is_empty() || stream.is_null() {
        return;
    }
    // SAFETY: so many bytes are there, and the stream is one. A closed output is no error of the kernel's.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
}
