//! Translates what may be any text, and checks how it is answered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ptx2spv_translator::{Diagnostics, ErrorKind, Options, Program, Source, Target, Translation};

/// The longest that any text of the tests may take; generous, since test machines may be busy.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// How a text was answered.
#[derive(Debug)]
pub enum Answer {
    /// It was translated, some kernels perhaps left out.
    Translated(Option<Diagnostics>),
    /// It was refused.
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

    /// The messages, a line each; empty if there are none.
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
    translate_with(&Options { keep_going: true, ..Options::new(&target) }, name, text).0
}

/// Translates a text, and gives what came out beside the answer.
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

/// Checks what a text is answered with.
///
/// # Panics
/// If there is nothing, far too much or an internal error, or if it points outside the text.
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
