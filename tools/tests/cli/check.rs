//! `ptx2spv check`: the errors in files, in three forms.

use std::fs;

use serde_json::{Value, json};

use crate::{PTX, fails, odd, run};

/// A module with one error in line 7, from column 5.
const WRONG: &str = "\
.version 7.0
.target sm_50
.address_size 64
.visible .entry wrong()
{
    // é: columns count characters.
    jump there;
}
";

#[test]
fn errors_are_reported_with_their_places() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (right, wrong) = (file("right.ptx", PTX), file("a wrong é.ptx", WRONG));
    let message = "unknown instruction `jump`: PTX has no such opcode";

    let done = run(&["check", &right]);
    assert_eq!((done.status, &*done.out, &*done.err), (Some(0), "", ""));

    let done = run(&["check", &right, &wrong]);
    assert_eq!(done.status, Some(1));
    assert!(done.out.starts_with(&format!("error: {message}\n")) && done.out.contains("7 │     jump there;"));

    let done = run(&["check", &wrong, &right, "--short"]);
    assert_eq!((done.status, done.out), (Some(1), format!("{wrong}:7:5: error: {message}\n")));

    let done = run(&["check", &wrong, "--json"]);
    assert_eq!(done.status, Some(1));
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(report["version"], "2.1.0");
    let [result] = &report["runs"][0]["results"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(result["ruleId"], "unknown-opcode");
    assert_eq!(result["message"]["text"], message);
    assert_eq!(
        result["locations"][0]["physicalLocation"],
        json!({
            "artifactLocation": {"uri": wrong.replace(' ', "%20").replace('é', "%C3%A9")},
            "region": {"startLine": 7, "startColumn": 5, "endLine": 7, "endColumn": 9},
        })
    );
    let done = run(&["check", &right, "--json"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.status, &report["runs"][0]["results"]), (Some(0), &json!([])));
}

#[test]
fn functions_alone_are_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("functions.ptx");
    fs::write(&path, ".version 7.0\n.target sm_50\n.address_size 64\n.visible .func f() { ret; }\n").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(run(&["check", path]).status, Some(0));
    fails(&["translate", path, "--target", "nvidia"], 1, "the file has no kernel");
}

/// A device without 64-bit addresses can't run any kernel.
#[test]
fn targets_are_checked_on_request() {
    let directory = odd("[]");
    let presets: Vec<Value> = serde_json::from_str(&run(&["devices", "--presets", "--json"]).out).unwrap();
    let mut target = presets.into_iter().find(|target| target["name"] == "mali").unwrap();
    target["features"].as_array_mut().unwrap().retain(|feature| feature != "bufferDeviceAddress");
    let (ptx, poor) = (directory.path().join("odd.ptx"), directory.path().join("poor.json"));
    fs::write(&poor, target.to_string()).unwrap();
    let (ptx, poor) = (ptx.to_str().unwrap(), poor.to_str().unwrap());
    assert_eq!(run(&["check", ptx]).status, Some(0));
    let done = run(&["check", ptx, "--target", &format!("nvidia,{poor}"), "--short"]);
    assert_eq!(done.status, Some(1), "{}", done.out);
    assert!(
        done.out.lines().all(|line| line.contains("error: the target lacks `bufferDeviceAddress`")),
        "{}",
        done.out
    );
}

/// Both examples call the program as it is.
#[test]
fn the_examples_for_hooks_and_workflows_run() {
    let directory = odd("[]");
    let ptx = directory.path().join("odd.ptx");
    let hook = include_str!("../../../examples/pre-commit/.pre-commit-config.yaml");
    let workflow = include_str!("../../../examples/pre-commit/code-scanning.yml");
    for (text, before, after) in [(hook, "entry: ptx2spv ", "\n"), (workflow, "xargs -0 ptx2spv ", " >")] {
        let (command, _) = text.split_once(before).unwrap().1.split_once(after).unwrap();
        let words: Vec<&str> = command.split(' ').chain(ptx.to_str()).collect();
        assert_eq!(run(&words).status, Some(0), "{words:?}");
    }
}
