//! Texts of many megabytes that go on where something should end. The program must refuse each in seconds and in
//! memory that grows no faster than the text.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use ptx2spv_tests::{binary, hostile};

/// The text before the repeated part.
const PLACES: &[(&str, &str)] = &[
    ("file", ""),
    ("module", ".version 7.0\n.target sm_70\n"),
    ("parameters", ".version 7.0\n.target sm_70\n.entry k("),
    ("initialiser", ".version 7.0\n.target sm_70\n.global .u32 g[] = {"),
    ("body", ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .b32 %r<8>;\n"),
    ("operand", ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .b32 %r<8>;\nmov.u32 %r1, "),
];

/// The start of the repeated part, and the repeated text.
const FLOODS: &[(&str, &str)] =
    &[("", "{"), ("", "("), ("", "["), ("", ","), ("", "7"), ("", "a"), ("", "{a,"), ("/* ", "x"), ("\"", "x")];

#[test]
fn a_megabyte_anywhere() {
    for (place, before) in PLACES {
        for (start, piece) in FLOODS {
            let text = format!("{before}{start}{}", piece.repeat(1_000_000 / piece.len()));
            let answer = hostile::translate(&format!("{start}{piece} in {place}"), &text);
            assert!(answer.diagnostics().is_some(), "{start}{piece} in {place}");
        }
    }
}

/// Megabytes of a text.
const MEGABYTES: u64 = 40;
/// Kilobytes of address space for the program: the text, a few copies, and the needs of any program.
const MEMORY: u64 = 15_000 * MEGABYTES + 50_000;

#[test]
fn many_megabytes() {
    let places = ["body", "operand", "operand", "initialiser", "operand", "module", "body", "body", "module"];
    for (place, (start, piece)) in places.iter().zip(FLOODS) {
        let (_, before) = PLACES.iter().find(|(name, _)| name == place).unwrap();
        let time = Instant::now();
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"")])
            .arg(binary::ptx2spv())
            .args(["translate", "--target", "lavapipe", "--emit", "spirv", "-o", "-", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{before}{start}").as_bytes()).unwrap();
        let block = piece.repeat(1_000_000 / piece.len());
        for _ in 0..MEGABYTES {
            stdin.write_all(block.as_bytes()).unwrap();
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{start}{piece} in {place}: {err:.1000}");
        assert!(err.starts_with("error: ") && err.len() < 100_000, "{start}{piece} in {place}: {err:.1000}");
        assert!(time.elapsed() < hostile::TIME_LIMIT, "{start}{piece} in {place}: {:?}", time.elapsed());
    }
}
