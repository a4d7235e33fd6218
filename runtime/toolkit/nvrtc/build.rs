//! Gives the library the name that programs look for, and has it stay once it is loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnvrtc.so.12");
        // Programs may close the library while a thread that has used it goes on.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
