//! `support`: writes `docs/support.md`, the support status of PTX, to the standard output.
//!
//! [`mod@entries`] determines the status: the manual's [`mod@forms`] are compared with the instruction table, and
//! [`mod@directives`] are tried with small modules. This file formats the result.

mod directives;
mod entries;
mod forms;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use ptx2spv::cli::{self, Status};

use entries::{Entry, Family, Support, entries};

const HEAD: &str = "\
# What translates

This file is made by `cargo run -p ptx2spv-dev --bin support > docs/support.md` from the instruction table
(`translator/src/isa/rows.rs`) and the manual's forms (`translator/src/isa/manual.txt`). A test fails when it is out of
date.

The entries are those of the PTX manual 8.1, and some opcodes that it treats under others. *Supported* means that
every form translates; *partly* lists what gives an error instead, forms without those modifiers that may be left out, `(…)`
being a choice; *not yet* means that any use gives an error. Errors name the line and the construct. How exact results are is
told in [numerics.md](numerics.md).
";

fn main() -> ExitCode {
    cli::main(|out| {
        write(&entries(), out)?;
        Ok(Status::Success)
    })
}

fn write(entries: &[Entry], out: &mut dyn Write) -> Result<()> {
    let families = [
        ("Instructions", Family::Instruction, ""),
        ("Directives", Family::Directive, "."),
        ("Special registers", Family::SpecialRegister, "%"),
    ];
    let of = |family: Family| entries.iter().filter(move |entry| entry.family == family);
    writeln!(out, "{HEAD}\n| | supported | partly | not yet |\n| --- | --- | --- | --- |")?;
    for (title, family, _) in families {
        let count = |wanted: &str| of(family).filter(|entry| verdict(&entry.support) == wanted).count();
        writeln!(out, "| {title} | {} | {} | {} |", count("supported"), count("partly"), count("not yet"))?;
    }
    for (title, family, sigil) in families {
        writeln!(out, "\n## {title}\n\n| | | what is missing, and what to know |\n| --- | --- | --- |")?;
        for entry in of(family) {
            let words = words(entry);
            writeln!(out, "| `{sigil}{}` | {} | {words} |", entry.name, verdict(&entry.support))?;
        }
    }
    Ok(())
}

fn verdict(support: &Support) -> &'static str {
    match support {
        Support::Full => "supported",
        Support::Part(_) => "partly",
        Support::None => "not yet",
    }
}

/// The last column. Bars in table cells have to be escaped.
fn words(entry: &Entry) -> String {
    let mut words = match &entry.support {
        Support::Part(missing) => format!("Missing: {}.", missing.join("; ")),
        // The remarks concern uses, of which there are none.
        Support::None => return String::new(),
        Support::Full => String::new(),
    };
    if !words.is_empty() && !entry.remark.is_empty() {
        words.push(' ');
    }
    words.push_str(entry.remark);
    words.replace('|', "\\|")
}
