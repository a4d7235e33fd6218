//! Runs `spirv-val` of SPIRV-Tools for the tests.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

/// Checks a module for an environment such as `vulkan1.3`, but for what is newer than the `spirv-val` that tests may meet.
///
/// # Errors
/// What `spirv-val` says against it.
///
/// # Panics
/// If `spirv-val` can't be run.
pub fn validate(environment: &str, spirv: &[u32]) -> Result<(), String> {
    let output = run(environment, spirv).expect("spirv-val of SPIRV-Tools must be installed");
    let message = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if output.status.success() { Ok(()) } else { Err(format!("spirv-val --target-env {environment}: {message}")) }
}

fn run(environment: &str, spirv: &[u32]) -> io::Result<Output> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let bytes: Vec<u8> = without_news(spirv).into_iter().flat_map(u32::to_le_bytes).collect();
    if let Some(mut pipe) = child.stdin.take() {
        // It may end before it has read all; then it says why.
        let _ = pipe.write_all(&bytes);
    }
    child.wait_with_output()
}

/// A module's words without what SPIRV-Tools know since 2024 only: the execution mode of `SPV_KHR_maximal_reconvergence`, and the
/// capability, modes and decorations of `SPV_KHR_float_controls2`.
fn without_news(spirv: &[u32]) -> Vec<u32> {
    const OP_EXECUTION_MODE: u32 = 16;
    const MAXIMALLY_RECONVERGES: u32 = 6023;
    const OP_CAPABILITY: u32 = 17;
    const FLOAT_CONTROLS_2: u32 = 6029;
    const OP_EXECUTION_MODE_ID: u32 = 331;
    const FAST_MATH_DEFAULT: u32 = 6028;
    const OP_DECORATE: u32 = 71;
    const FAST_MATH_MODE: u32 = 40;
    let is_new = |op, operands: &[u32]| match op {
        OP_CAPABILITY => operands.first() == Some(&FLOAT_CONTROLS_2),
        OP_EXECUTION_MODE => operands.get(1) == Some(&MAXIMALLY_RECONVERGES),
        OP_EXECUTION_MODE_ID => operands.get(1) == Some(&FAST_MATH_DEFAULT),
        OP_DECORATE => operands.get(1) == Some(&FAST_MATH_MODE),
        _ => false,
    };
    let (header, mut rest) = spirv.split_at(spirv.len().min(5));
    let mut words = header.to_vec();
    while let Some(&first) = rest.first() {
        let len = ((first >> 16) as usize).clamp(1, rest.len());
        let (instruction, after) = rest.split_at(len);
        rest = after;
        if !is_new(first & 0xffff, &instruction[1..]) {
            words.extend(instruction);
        }
    }
    words
}
