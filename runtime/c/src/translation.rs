//! Translation without a device.

use std::ffi::{CString, c_char};

use ptx2spv_runtime::{Error, Math, Source, Target};
use ptx2spv_translator::{Options, Program};

use crate::error::{Failure, Status, call};
use crate::pointer::{free, get, optional_text, put, text};

/// A SPIR-V module with the description of its kernels.
pub struct Translation {
    spirv: Vec<u32>,
    interface: CString,
}

/// Translates a PTX text.
///
/// Messages call the text `name`. `target` is a preset ("nvidia", "vulkan1.1-minimum", …: `ptx2spv devices --presets`
/// lists them) or the JSON of a device (`ptx2spv devices --device X --json`). `math` is "exact", "fast" or topics as
/// for `--math`, such as "matrix=ampere"; null means "exact".
///
/// # Safety
/// The texts end with a zero, and `translation` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_translate(
    name: *const c_char,
    ptx: *const c_char,
    target: *const c_char,
    math: *const c_char,
    translation: *mut *mut Translation,
) -> Status {
    call(|| {
        // SAFETY: by the contract.
        let (name, ptx, target, math) =
            unsafe { (text(name, "name")?, text(ptx, "ptx")?, text(target, "target")?, optional_text(math, "math")?) };
        // SAFETY: by the contract.
        unsafe { put(translation, "translation", || Ok(Box::into_raw(Box::new(translate(name, ptx, target, math)?)))) }
    })
}

fn translate(name: &str, ptx: &str, target: &str, math: Option<&str>) -> Result<Translation, Failure> {
    let target = match target.trim_start().starts_with('{') {
        true => serde_json::from_str(target).map_err(|error| Failure::argument(format!("`target`: {error}")))?,
        false => Target::preset(target).ok_or_else(|| Failure::argument(format!("there is no preset `{target}`")))?,
    };
    let math =
        math.map_or(Ok(Math::EXACT), |math| math.parse().map_err(|error| Failure::argument(format!("{error}"))))?;
    let source = Source::new(name, ptx);
    let refused = |diagnostics| Failure::from(Error::Translation(Box::new(diagnostics)));
    let program = Program::new(&source).map_err(refused)?;
    let translated = program.translate(&Options::new(&target).math(math).suspend_in_loops(true)).map_err(refused)?;
    let interface =
        serde_json::to_string(&translated.interface).map_err(|error| Failure::translation(error.to_string()))?;
    let interface = CString::new(interface).map_err(|error| Failure::translation(error.to_string()))?;
    Ok(Translation { spirv: translated.spirv, interface })
}

/// The words of the module, and their number in `words`. They stay valid as long as the translation. Null for a null
/// pointer.
///
/// # Safety
/// `translation` is null or live, and `words` points to room for a number or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_spirv(translation: *const Translation, words: *mut usize) -> *const u32 {
    // SAFETY: by the contract.
    let Ok(translation) = (unsafe { get(translation, "translation") }) else { return std::ptr::null() };
    // SAFETY: by the contract.
    if let Some(words) = unsafe { words.as_mut() } {
        *words = translation.spirv.len();
    }
    translation.spirv.as_ptr()
}

/// The description of kernels, parameters and variables as JSON, as `ptx2spv translate` writes it (docs/interface.md).
/// It stays valid as long as the translation. Null for a null pointer.
///
/// # Safety
/// `translation` is null or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_interface(translation: *const Translation) -> *const c_char {
    // SAFETY: by the contract.
    unsafe { get(translation, "translation") }.map_or(std::ptr::null(), |translation| translation.interface.as_ptr())
}

/// Frees a translation.
///
/// # Safety
/// `translation` is null or live, and isn't used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx2spv_translation_free(translation: *mut Translation) {
    // SAFETY: by the contract.
    unsafe { free(translation) };
}
