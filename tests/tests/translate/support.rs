//! Translations of small modules, and expectations of them.

use ptx2spv_translator::{Diagnostics, Options, Program, Source, Target, Translation};

pub const HEADER: &str = ".version 8.3\n.target sm_90\n.address_size 64\n";

pub fn lavapipe() -> Target {
    Target::preset("lavapipe").unwrap()
}

pub fn translate(
    text: &str,
    target: &Target,
    entries: Option<&[String]>,
    keep_going: bool,
) -> Result<Translation, Diagnostics> {
    let source = Source::new("test.ptx", text);
    Program::new(&source)?.translate(&Options::new(target).entries(entries).keep_going(keep_going))
}

/// A module as it is if it tells its version, else after [`HEADER`].
fn module(text: &str) -> String {
    if text.starts_with(".version") { text.to_owned() } else { HEADER.to_owned() + text }
}

/// Translates a module, which must succeed.
#[track_caller]
pub fn accepted(text: &str) -> Translation {
    let result = translate(&module(text), &lavapipe(), None, false);
    result.unwrap_or_else(|errors| panic!("{errors}"))
}

/// Refuses a module at its marks with these messages, or pieces of them, and returns the diagnostics.
#[track_caller]
pub fn refused(marked: &str, parts: &[&str]) -> Diagnostics {
    let marked = module(marked);
    let places = marked.match_indices('¦').enumerate().map(|(n, (at, mark))| at - n * mark.len());
    let text = marked.replace('¦', "");
    let errors = translate(&text, &lavapipe(), None, false).expect_err("accepted");
    let found: Vec<usize> = errors.list.iter().map(|error| error.place().start as usize).collect();
    assert_eq!(found, places.collect::<Vec<_>>(), "{errors}");
    assert_eq!(errors.list.len(), parts.len(), "{errors}");
    for (error, part) in errors.list.iter().zip(parts) {
        assert!(error.kind.to_string().contains(part), "expected …{part}…:\n{errors}");
    }
    errors
}

/// A kernel with registers of all kinds.
pub fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 {name}_out)\n{{\n\t.reg .pred %p<5>;\n\t.reg .b16 %h<5>;\n\t.reg .u16 %rs<5>;\n\
         \t.reg .u32 %r<9>;\n\t.reg .b32 %b<5>;\n\t.reg .u64 %rd<5>;\n\t.reg .f32 %f<5>;\n\t.reg .f64 %fd<5>;\n\
         \tld.param.u64 %rd1, [{name}_out];\n\t{body}\n\tret;\n}}\n"
    )
}

pub fn body_accepted(body: &str) {
    accepted(&kernel("k", body));
}

#[track_caller]
pub fn body_refused(body: &str, part: &str) {
    refused(&kernel("k", body), &[part]);
}
