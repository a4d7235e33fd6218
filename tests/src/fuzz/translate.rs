//! The parser, and the whole translator.

use std::hash::{DefaultHasher, Hash, Hasher};

use ptx2spv_translator::{Program, Source, Translation};

use super::draw;
use super::seed;
use crate::device::environment;
use crate::hostile::{self, Answer};
use crate::random::Random;

/// Parses and decodes any text.
pub fn parse(data: &[u8]) {
    let source = Source::new("fuzzed.ptx", String::from_utf8_lossy(data));
    if let Err(errors) = Program::new(&source) {
        hostile::check(&source, &errors);
    }
}

/// Translates any text, for a target and with options that the text's seed determines. One module in `validate_one_of`
/// goes to `spirv-val`, always the same ones, because running a process takes longer than most translations.
///
/// # Panics
/// If `spirv-val` refuses a module.
pub fn translate(data: &[u8], validate_one_of: u64) {
    let text = String::from_utf8_lossy(data);
    let mut random = Random::new(seed(&text));
    let target = draw::target(&mut random);
    let options = draw::options(&mut random, &target);
    let (answer, translation) = hostile::translate_with(&options, "fuzzed.ptx", &text);
    let (Answer::Translated(_), Some(Translation { spirv, .. })) = (answer, translation) else { return };
    let mut hasher = DefaultHasher::new();
    spirv.hash(&mut hasher);
    if hasher.finish().is_multiple_of(validate_one_of)
        && let Err(message) = ptx2spv_spirv_tools::validate(environment(&target), &spirv)
    {
        panic!("for {target:?} with {options:?}: {message}");
    }
}
