//! The host's side of separate compilation: the functions by which the objects of a program register their kernels and variables.

use std::collections::BTreeSet;
use std::fmt::Write;

use ptx2spv_fatbin::WRAPPER_MAGIC;

/// What each function of an object does. The first one registers the program, since the order of constructors isn't known.
const FUNCTIONS: &str = "
extern void **__cudaRegisterFatBinary(const void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));
static void **handle;
static void end(void) { __cudaUnregisterFatBinary(handle); }
static void add(void (*add_contents)(void **)) {
    if (!handle) {
        handle = __cudaRegisterFatBinary(&wrapper);
        atexit(end);
    }
    add_contents(handle);
    __cudaRegisterFatBinaryEnd(handle);
}
";

/// C source with a fat binary, the program that was linked, and with these functions. Each gets a function that registers the contents of
/// an object for the program's handle.
pub fn registration(fat_binary: &[u8], functions: &BTreeSet<String>) -> String {
    let mut text = String::from("static const char image[] __attribute__((aligned(8), section(\".nv_fatbin\"))) =\n\"");
    for &byte in fat_binary {
        match byte {
            b'\n' => text.push_str("\\n\"\n\""),
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            // `??` begins trigraphs.
            b' '..=b'~' if byte != b'?' => text.push(char::from(byte)),
            // Three digits, so that digits may follow.
            _ => drop(write!(text, "\\{byte:03o}")),
        }
    }
    text.push_str("\";\n");
    text += &format!(
        "static const struct {{ unsigned magic, version; const void *image, *none; }} wrapper \
         __attribute__((section(\".nvFatBinSegment\"))) = {{{WRAPPER_MAGIC:#x}, 1, image, 0}};\n"
    );
    text += FUNCTIONS;
    for name in functions {
        text += &format!(
            "void {name}(void (*add_contents)(void **), void *object, void *module, void (*none)(void *)) {{ add(add_contents); }}\n"
        );
    }
    text
}
