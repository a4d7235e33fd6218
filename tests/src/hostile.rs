//! Translates arbitrary text and checks the result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ptx2spv_translator::{Diagnostics, ErrorKind, Options, Program, Source, Target, Translation};

/// Time limit for any text of the tests; generous, because test machines may be busy.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The result of a translation.
#[derive(Debug)]
pub enum Answer {
    /// The text was translated, perhaps without some kernels.
    Translated(Option<Diagnostics>),
    /// The text was refused.
    Refused(Diagnostics),
}

impl Answer {
    /// All diagnostics.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Answer::Translated(skipped) => skipped.as_ref(),
            Answer::Refused(errors) => Some(errors),
        }
    }

    /// The messages, one per line.
    pub fn messages(&self) -> String {
        let list = self.diagnostics().into_iter().flat_map(|errors| &errors.list);
        list.map(|error| format!("{}\n", error.kind)).collect()
    }
}

/// As [`translate_for`], for the preset `lavapipe`.
pub fn translate(name: &str, text: &str) -> Answer {
    translate_for("lavapipe", name, text)
}

/// Translates a text for a preset, kernel by kernel.
///
/// # Panics
/// As [`translate_with`].
pub fn translate_for(preset: &str, name: &str, text: &str) -> Answer {
    let target = Target::preset(preset).expect("a preset");
    translate_with(&Options::new(&target).keep_going(true), name, text).0
}

/// Translates a text, and returns the translation besides the answer.
///
/// # Panics
/// If the translator panics, takes too long, reports an internal error, or points outside the text.
pub fn translate_with(options: &Options<'_>, name: &str, text: &str) -> (Answer, Option<Translation>) {
    let start = Instant::now();
    let source = Source::new(name, text);
    let answer = catch_unwind(AssertUnwindSafe(|| answer(&source, options)));
    let Ok(answer) = answer else { panic!("{name}: the translator panicked on\n{text:.60000}") };
    assert!(start.elapsed() < TIME_LIMIT, "{name}: {:?}", start.elapsed());
    if let Some(errors) = answer.0.diagnostics() {
        check(&source, errors);
    }
    answer
}

/// Checks the diagnostics for a text.
///
/// # Panics
/// If there are none or far too many, or one is an internal error or points outside the text.
pub fn check(source: &Source, errors: &Diagnostics) {
    let (name, length) = (source.name(), source.text().len());
    assert!(!errors.list.is_empty() && errors.list.len() <= Diagnostics::MAX, "{name}: {}", errors.list.len());
    for error in &errors.list {
        let (start, end) = (error.place().start as usize, error.place().end as usize);
        assert!(start <= end && end <= length, "{name}: {error:?} of {length} bytes");
        assert!(!matches!(error.kind, ErrorKind::Internal(_)), "{name}: {error:?}");
    }
    assert!(errors.render().contains("error"), "{name}");
}

fn answer(source: &Source, options: &Options<'_>) -> (Answer, Option<Translation>) {
    let program = match Program::new(source) {
        Ok(program) => program,
        Err(errors) => return (Answer::Refused(errors), None),
    };
    match program.translate(options) {
        Ok(mut translation) => (Answer::Translated(translation.skipped.take()), Some(translation)),
        Err(errors) => (Answer::Refused(errors), None),
    }
}
