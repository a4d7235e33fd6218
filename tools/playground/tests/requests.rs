//! Answers of the WebAssembly module, without a browser.

use ptx2spv_playground::reply;
use serde_json::{Value, json};

const PTX: &str = ".version 7.0
.target sm_50
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    ld.param.u32 %r, [value];
    st.global.u32 [%rd], %r;
    ret;
}";

fn ask(request: &Value) -> Value {
    reply(request.to_string().as_bytes())
}

fn run(ptx: &str, args: &Value, device: &str) -> Value {
    ask(&json!({
        "ask": "run", "ptx": ptx, "kernel": "store", "grid": [1, 1, 1], "block": [1, 1, 1], "shared": 0, "args": args, "device": device,
    }))
}

#[test]
fn requests_that_are_none_get_an_error() {
    for request in ["", "{}", "[1", "{\"ask\": \"nothing\"}", "{\"ask\": \"check\"}", "\u{0}"] {
        assert!(reply(request.as_bytes())["error"].is_string(), "{request}");
    }
    let wrong = ask(&json!({"ask": "translate", "ptx": PTX, "preset": "atari", "kernel": "store"}));
    assert_eq!(wrong["error"], "there is no preset `atari`");
    let args = json!([{"buffer": "AAAA"}, {"value": "AQAAAA=="}]);
    for (args, device) in [(&json!([{"buffer": "?"}]), "target=mali"), (&args, "target=atari"), (&args, "speed=1")] {
        assert!(run(PTX, args, device)["error"].is_string(), "{device}");
    }
    // Too few arguments, and a kernel that isn't there.
    assert!(run(PTX, &json!([]), "check")["error"].is_string());
    assert!(run(&PTX.replace("store(", "other("), &args, "check")["error"].is_string());
}

#[test]
fn places_of_errors_are_lines_and_columns_of_characters() {
    let wrong = PTX.replace("    ret;", "    /* ää */ jump there;");
    let answer = ask(&json!({"ask": "check", "ptx": wrong}));
    let error = &answer["diagnostics"][0];
    assert_eq!((&error["start"], &error["function"]), (&json!({"line": 11, "column": 14}), &json!("store")));
    assert!(answer["kernels"].is_null());
    assert_eq!(ask(&json!({"ask": "check", "ptx": PTX})), json!({"diagnostics": [], "kernels": ["store"]}));
}

#[test]
fn translations_have_stages_and_sizes() {
    for preset in ask(&json!({"ask": "presets"})).as_array().unwrap() {
        let request = |ask: &str| json!({"ask": ask, "ptx": PTX, "preset": preset["name"], "kernel": "store"});
        let (translated, size) = (ask(&request("translate")), ask(&request("size")));
        assert!(
            translated["stages"].as_array().unwrap().len() > 2
                && translated["spirv"].as_str().unwrap().contains("OpStore")
        );
        assert!(size["bytes"].as_u64() > Some(100));
        let params = size["params"].as_array().unwrap().iter().map(|param| [&param["name"], &param["pointer"]]);
        assert!(params.eq([[&json!("out"), &json!(true)], [&json!("value"), &json!(false)]]), "{size}");
        for same in ["bytes", "version", "features"] {
            assert_eq!(translated[same], size[same], "{preset}");
        }
    }
}

#[test]
fn launches_have_buffers_and_findings() {
    let args = |buffer: Value| json!([buffer, {"value": "AQIAAA=="}]);
    let answer = run(PTX, &args(json!({"uninitialised": 8})), "target=nvidia");
    assert_eq!((&answer["findings"], &answer["error"]), (&json!([]), &Value::Null));
    // 0x201, then what nobody has written.
    assert!(answer["buffers"][0].as_str().unwrap().starts_with("AQIAA"), "{answer}");
    assert!(answer["buffers"][1].is_null() && answer["steps"].as_u64() > Some(0));
    let short = run(PTX, &args(json!({"buffer": "AAA="})), "target=nvidia,check");
    let finding = &short["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["stops"], &finding["site"]["line"]),
        (&json!("out-of-bounds access"), &json!(true), &json!(10))
    );
}
