//! The C library's standard output, which the program uses too. Kernels' output appears between what the program prints
//! before and after, and follows redirections such as `freopen` and `setvbuf`.

use libc::FILE;

#[cfg(all(unix, not(target_vendor = "apple")))]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        static stdout: *mut FILE;
    }
    // SAFETY: a variable of the C library. Programs that change it do so before they start other threads.
    unsafe { stdout }
}

#[cfg(target_vendor = "apple")]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        #[link_name = "__stdoutp"]
        static stdout: *mut FILE;
    }
    // SAFETY: a variable of the C library. Programs that change it do so before they start other threads.
    unsafe { stdout }
}

#[cfg(windows)]
fn standard() -> *mut FILE {
    unsafe extern "C" {
        fn __acrt_iob_func(number: u32) -> *mut FILE;
    }
    // SAFETY: the C library's streams have the numbers 0 to 2.
    unsafe { __acrt_iob_func(1) }
}

/// Appends to the stream's buffer. The program decides when it is flushed.
pub(crate) fn write(bytes: &[u8]) {
    let stream = standard();
    if bytes.is_empty() || stream.is_null() {
        return;
    }
    // SAFETY: `bytes` has `bytes.len()` bytes, and `stream` is a C stream. Errors of a closed output are ignored.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
}
