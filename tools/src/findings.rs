//! Prints findings of the reference device, or of kernels that check their accesses, in the style of NVIDIA's
//! compute-sanitizer.

use std::io::{self, Write};

use ptx2spv_runtime::{Finding, FindingKind, Site, SpirvInstruction};
use ptx2spv_translator::{Program, Source, names};

const BAR: &str = "=========";

/// Writes a block for each finding, and a last line with their number. Quotes the lines of `source` that findings name.
pub fn write(out: &mut dyn Write, findings: &[Finding], source: &Source) -> io::Result<()> {
    // There are no lines to quote if the source can't be parsed.
    let program = if findings.is_empty() { None } else { Program::new(source).ok() };
    let text = Text { source, program };
    for finding in findings {
        let name = finding.kind.name();
        let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
        let mut message = finding.message.lines();
        writeln!(out, "{BAR} {}{rest}: {}", first.to_uppercase(), message.next().unwrap_or_default())?;
        for line in message {
            writeln!(out, "{BAR}     {}", line.trim())?;
        }
        site(out, "at", &finding.site, &text)?;
        if let Some(other) = &finding.other {
            let role = match finding.kind {
                FindingKind::Race | FindingKind::DivergedWarp => "against",
                _ => "value from",
            };
            site(out, role, other, &text)?;
        }
        if finding.repeated > 0 {
            writeln!(out, "{BAR}     and {} more times", finding.repeated)?;
        }
        writeln!(out, "{BAR}")?;
    }
    match findings.len() {
        0 => writeln!(out, "{BAR} SUMMARY: nothing found"),
        1 => writeln!(out, "{BAR} SUMMARY: 1 finding"),
        many => writeln!(out, "{BAR} SUMMARY: {many} findings"),
    }
}

/// The text with the lines that findings name.
struct Text<'s> {
    source: &'s Source,
    program: Option<Program>,
}

/// The place of a finding: source line, instruction, thread.
fn site(out: &mut dyn Write, role: &str, site: &Site, text: &Text<'_>) -> io::Result<()> {
    let instruction = site.instruction.as_ref();
    let instruction =
        instruction.map(|SpirvInstruction { text, word }| format!("`{text}` (word {word} of the SPIR-V)"));
    let kernel = format!("in kernel {}", names::demangled(&site.entry));
    match &site.line {
        Some((file, line)) => {
            writeln!(out, "{BAR}     {role} {file}:{line} {kernel}")?;
            if let Some(quote) = text.source.line(file, *line) {
                writeln!(out, "{BAR}         {}", text.source.slice(quote).trim())?;
                let known = || text.program.as_ref().and_then(|program| program.origin(file, *line));
                if let Some(origin) = site.origin.clone().or_else(known) {
                    writeln!(out, "{BAR}     from {origin}")?;
                }
            }
            if let Some(instruction) = instruction {
                writeln!(out, "{BAR}     in {instruction}")?;
            }
        }
        None => {
            let instruction = instruction.map(|instruction| format!(" {role} {instruction}")).unwrap_or_default();
            writeln!(out, "{BAR}    {instruction} {kernel}")?;
        }
    }
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    match (site.local.map(triple), site.workgroup.map(triple)) {
        (Some(thread), Some(block)) => writeln!(out, "{BAR}     by thread {thread} of block {block}"),
        (None, Some(block)) => writeln!(out, "{BAR}     by block {block}"),
        (Some(thread), None) => writeln!(out, "{BAR}     by thread {thread}"),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: Option<(&str, u32)>, local: Option<[u32; 3]>) -> Site {
        Site {
            entry: "k".to_owned(),
            instruction: Some(SpirvInstruction { text: "OpStore %7 %8".to_owned(), word: 90 }),
            line: line.map(|(file, line)| (file.to_owned(), line)),
            origin: None,
            workgroup: Some([1, 0, 0]),
            local,
        }
    }

    #[test]
    fn findings_are_printed_with_what_is_known_of_them() {
        let source = Source::new("k.ptx", "one\n  two;\nthree");
        let race = Finding {
            kind: FindingKind::Race,
            message: "4 bytes at 0x1000000000".to_owned(),
            site: at(Some(("k.ptx", 2)), Some([5, 0, 0])),
            other: Some(at(Some(("k.cu", 3)), Some([6, 0, 0]))),
            repeated: 41,
        };
        let barrier = Finding {
            kind: FindingKind::DivergentBarrier,
            message: "3 of 4 threads wait\n  (3,0,0) has ended".to_owned(),
            site: at(None, None),
            other: None,
            repeated: 0,
        };
        let mut out = Vec::new();
        write(&mut out, &[race, barrier], &source).unwrap();
        let expected = "\
========= Data race: 4 bytes at 0x1000000000
=========     at k.ptx:2 in kernel k
=========         two;
=========     in `OpStore %7 %8` (word 90 of the SPIR-V)
=========     by thread (5,0,0) of block (1,0,0)
=========     against k.cu:3 in kernel k
=========     in `OpStore %7 %8` (word 90 of the SPIR-V)
=========     by thread (6,0,0) of block (1,0,0)
=========     and 41 more times
=========
========= Barrier in non-uniform control flow: 3 of 4 threads wait
=========     (3,0,0) has ended
=========     at `OpStore %7 %8` (word 90 of the SPIR-V) in kernel k
=========     by block (1,0,0)
=========
========= SUMMARY: 2 findings
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        write(&mut out, &[], &source).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "========= SUMMARY: nothing found\n");
    }

    #[test]
    fn findings_name_the_line_of_the_cuda_source() {
        let text = "\
.version 7.0
.target sm_70
.address_size 64
.file 1 \"kernel.cu\"
.file 2 \"vector.h\"
.visible .entry k(.param .u64 at)
{
    .reg .b64 %rd;
    ld.param.u64 %rd, [at];
    .loc 1 12 3
    st.global.u32 [%rd], 1;
    .loc 2 3 5, function_name name, inlined_at 1 13 3
    st.global.u32 [%rd+4], 1;
    .loc 1 27 3
    .loc 1 10 5, function_name name, inlined_at 1 27 3
    .loc 2 15 3, function_name name, inlined_at 1 10 5
    st.global.u32 [%rd+8], 1;
    .loc 2 15 3, function_name name, inlined_at 2 15 3
    st.global.u32 [%rd+12], 1;
    .loc 1 10 5
    ret;
}
";
        let source = Source::new("k.ptx", text);
        for (line, origin) in [
            (9, None),
            (10, None),
            (11, Some("kernel.cu:12")),
            (13, Some("vector.h:3, inlined at kernel.cu:13")),
            (17, Some("vector.h:15, inlined at kernel.cu:10, inlined at kernel.cu:27")),
            (19, Some("vector.h:15, inlined at vector.h:15, inlined at kernel.cu:10, inlined at kernel.cu:27")),
            (21, Some("kernel.cu:10")),
            (99, None),
        ] {
            let finding = Finding {
                kind: FindingKind::OutOfBounds,
                message: "somewhere".to_owned(),
                site: at(Some(("k.ptx", line)), None),
                other: None,
                repeated: 0,
            };
            let mut out = Vec::new();
            write(&mut out, &[finding], &source).unwrap();
            let out = String::from_utf8(out).unwrap();
            let found = out.lines().find_map(|line| line.strip_prefix("=========     from "));
            assert_eq!(found, origin, "{out}");
        }
    }
}
