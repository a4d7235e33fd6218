//! The errors of a text.

use ptx2spv_translator::{Diagnostics, Program, Source, names};
use serde_json::{Value, json};

/// The name of the page's text.
pub const NAME: &str = "page.ptx";

/// The names of the text's kernels, and its errors, as far as they show before kernels are translated.
pub fn check(ptx: &str) -> Value {
    let source = Source::new(NAME, ptx);
    match Program::new(&source) {
        Ok(program) => {
            json!({"kernels": program.entries(), "diagnostics": []})
        }
        Err(errors) => json!({"diagnostics": diagnostics(&errors)}),
    }
}

/// Errors with their places: lines from 1, columns from 1 in characters.
pub fn diagnostics(errors: &Diagnostics) -> Value {
    let place = |offset| {
        let (line, column) = errors.source.line_column(offset);
        json!({"line": line, "column": column})
    };
    let describe = |error: &ptx2spv_translator::Diagnostic| {
        json!({
            "message": names::readable(&error.kind.to_string()),
            "start": place(error.place().start),
            "end": place(error.place().end),
            "function": error.function.as_deref().map(names::demangled),
            "help": error.help,
            "related": error.related.as_deref().map(|(span, what)| json!({"start": place(span.start), "message": what})),
        })
    };
    errors.list.iter().map(describe).collect()
}
