//! `libnvrtc.so.12`: CUDA's library for compiling at run time. clang compiles, as a program.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]
#![allow(missing_docs, reason = "CUDA's manual documents the functions")]
#![allow(non_snake_case, reason = "the functions have CUDA's names")]
#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "C programs call the functions, whose pointers CUDA's manual demands to be valid"
)]

mod program;

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{LazyLock, Mutex, PoisonError};

use program::Program;

/// `nvrtcResult`.
type Code = c_int;
const SUCCESS: Code = 0;
const INVALID_INPUT: Code = 3;
const INVALID_PROGRAM: Code = 4;
const INVALID_OPTION: Code = 5;
const COMPILATION: Code = 6;
const NO_NAME_EXPRESSIONS_AFTER_COMPILATION: Code = 8;
const NO_LOWERED_NAMES_BEFORE_COMPILATION: Code = 9;
const NAME_EXPRESSION_NOT_VALID: Code = 10;
const INTERNAL_ERROR: Code = 11;

/// The names of the codes, from zero.
const NAMES: [&CStr; 12] = [
    c"NVRTC_SUCCESS",
    c"NVRTC_ERROR_OUT_OF_MEMORY",
    c"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    c"NVRTC_ERROR_INVALID_INPUT",
    c"NVRTC_ERROR_INVALID_PROGRAM",
    c"NVRTC_ERROR_INVALID_OPTION",
    c"NVRTC_ERROR_COMPILATION",
    c"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    c"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    c"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    c"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    c"NVRTC_ERROR_INTERNAL_ERROR",
];

/// The release of CUDA that is answered.
const VERSION: (c_int, c_int) = (12, 8);

/// The architectures that PTX is made for.
const ARCHITECTURES: [c_int; 13] = [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 89, 90];

/// A handle: a number, so that stale ones are errors.
type Handle = usize;

#[derive(Default)]
struct Programs {
    last: Handle,
    list: HashMap<Handle, Program>,
}

static PROGRAMS: LazyLock<Mutex<Programs>> = LazyLock::new(Mutex::default);

/// Runs a function with a handle's program.
fn with(handle: Handle, run: impl FnOnce(&mut Program) -> Result<(), Code>) -> Code {
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    match programs.list.get_mut(&handle).map(run) {
        Some(Ok(())) => SUCCESS,
        Some(Err(code)) => code,
        None => INVALID_PROGRAM,
    }
}

/// A caller's text; `None` for the null pointer.
fn text(pointer: *const c_char) -> Option<String> {
    // Safety: the caller passes a text that ends with a zero, as CUDA's manual demands.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// A caller's list of texts.
fn texts(count: c_int, list: *const *const c_char) -> Result<Vec<String>, Code> {
    let count = usize::try_from(count).map_err(|_| INVALID_INPUT)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(INVALID_INPUT);
    }
    // Safety: the caller passes as many pointers as it says.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    list.iter().map(|&pointer| text(pointer).ok_or(INVALID_INPUT)).collect()
}

/// Writes a result to a caller's place.
fn put<T>(place: *mut T, value: T) -> Result<(), Code> {
    if place.is_null() {
        return Err(INVALID_INPUT);
    }
    // Safety: the caller passes a place for the result.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes a text, with a zero at its end, to a caller's place, which has the size that the caller was told.
fn put_text(place: *mut c_char, text: &str) -> Result<(), Code> {
    if place.is_null() {
        return Err(INVALID_INPUT);
    }
    // Safety: the caller's buffer has the size that the function for it has told.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), text.len());
        place.add(text.len()).write(0);
    }
    Ok(())
}

fn code(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(SUCCESS)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(result: Code) -> *const c_char {
    let name = usize::try_from(result).ok().and_then(|number| NAMES.get(number));
    name.unwrap_or(&c"NVRTC_ERROR unknown").as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> Code {
    code(put(major, VERSION.0).and_then(|()| put(minor, VERSION.1)))
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> Code {
    code(put(count, ARCHITECTURES.len() as c_int))
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetSupportedArchs(list: *mut c_int) -> Code {
    if list.is_null() {
        return INVALID_INPUT;
    }
    // Safety: the caller's list has as many places as nvrtcGetNumSupportedArchs tells.
    unsafe { std::ptr::copy_nonoverlapping(ARCHITECTURES.as_ptr(), list, ARCHITECTURES.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcCreateProgram(
    handle: *mut Handle,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    headers: *const *const c_char,
    names: *const *const c_char,
) -> Code {
    let create = || {
        let source = text(source).ok_or(INVALID_INPUT)?;
        let headers = texts(count, names)?.into_iter().zip(texts(count, headers)?).collect();
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        programs.last += 1;
        let new = programs.last;
        put(handle, new)?;
        programs.list.insert(new, Program::new(source, text(name), headers));
        Ok(())
    };
    code(create())
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcDestroyProgram(handle: *mut Handle) -> Code {
    if handle.is_null() {
        return INVALID_INPUT;
    }
    // Safety: the caller passes the place of its handle.
    let found = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).list.remove(&unsafe { handle.read() });
    if found.is_none() {
        return INVALID_PROGRAM;
    }
    code(put(handle, 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcAddNameExpression(handle: Handle, expression: *const c_char) -> Code {
    with(handle, |program| program.add_expression(text(expression).ok_or(INVALID_INPUT)?))
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcCompileProgram(handle: Handle, count: c_int, options: *const *const c_char) -> Code {
    let options = match texts(count, options) {
        Ok(options) => options,
        Err(code) => return code,
    };
    // Other programs can be used while clang runs.
    let mut copy = None;
    let found = with(handle, |program| {
        copy = Some(program.clone());
        Ok(())
    });
    let Some(mut copy) = copy else { return found };
    let result = copy.compile(&options);
    let replaced = with(handle, |program| {
        *program = copy;
        Ok(())
    });
    if replaced == SUCCESS { code(result) } else { replaced }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetLoweredName(handle: Handle, expression: *const c_char, lowered: *mut *const c_char) -> Code {
    with(handle, |program| put(lowered, program.lowered(&text(expression).ok_or(INVALID_INPUT)?)?))
}

/// A pair of functions for a text: its size with the zero at its end, and the text.
macro_rules! texts_of_programs {
    ($($size:ident $get:ident $what:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $size(handle: Handle, size: *mut usize) -> Code {
                with(handle, |program| put(size, program.$what()?.len() + 1))
            }

            #[unsafe(no_mangle)]
            pub extern "C" fn $get(handle: Handle, place: *mut c_char) -> Code {
                with(handle, |program| put_text(place, program.$what()?))
            }
        )*
    };
}

texts_of_programs! {
    nvrtcGetPTXSize nvrtcGetPTX ptx;
    // The driver library takes PTX in the place of machine code.
    nvrtcGetCUBINSize nvrtcGetCUBIN ptx;
    nvrtcGetProgramLogSize nvrtcGetProgramLog log;
}

/// Functions for formats of NVIDIA's compilers.
macro_rules! refused {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(_handle: Handle, _place: *mut c_char) -> Code {
                INVALID_INPUT
            }
        )*
    };
}

refused! { nvrtcGetLTOIRSize nvrtcGetLTOIR nvrtcGetOptiXIRSize nvrtcGetOptiXIR nvrtcGetNVVMSize nvrtcGetNVVM }
