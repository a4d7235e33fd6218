//! Tests of launch cases from file to verdict, on a back end with fixed answers.

use std::fs;
use std::path::Path;

use ptx2spv_runtime::{AddressMode, ChannelFormat, ReadMode, TexelFormat};

use super::contents::{Array, MAX_BUFFER_BYTES};
use super::images::{ImageMemory, Object, Textures};
use super::prepare::{Argument, Expectation};
use super::*;
use crate::picture::Picture;

/// Returns a fixed outcome.
struct Canned(Result<Outputs, Failure>);

impl Backend for Canned {
    fn name(&self) -> String {
        "canned".to_owned()
    }

    fn run(&mut self, _case: &Prepared) -> Result<Outputs, Failure> {
        self.0.clone()
    }
}

/// A directory with `k.ptx`, `three.bin` (three bytes) and `case.json`, which contains one case with the given further
/// keys.
fn directory(keys: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let case = format!(r#"{{"name": "c", "ptx": "k.ptx", "entry": "k", {keys}}}"#);
    fs::write(directory.path().join("case.json"), case).unwrap();
    fs::write(directory.path().join("k.ptx"), ".version 8.0").unwrap();
    fs::write(directory.path().join("three.bin"), [1, 2, 3]).unwrap();
    directory
}

fn only_case(keys: &str) -> (tempfile::TempDir, Case) {
    let directory = directory(keys);
    let mut cases = Case::load(&directory.path().join("case.json")).unwrap();
    assert_eq!(cases.len(), 1);
    let case = cases.remove(0);
    (directory, case)
}

fn prepared(keys: &str) -> Result<Prepared> {
    only_case(keys).1.prepare()
}

#[track_caller]
fn refused(keys: &str, place: &str, part: &str) {
    let error = prepared(keys).expect_err(keys);
    assert_eq!(error.place, place, "{error}");
    assert!(error.message.contains(part), "{error}");
}

fn verdict(keys: &str, outcome: Result<Outputs, Failure>) -> Verdict {
    only_case(keys).1.run(&mut Canned(outcome))
}

fn buffer(bytes: &[u8]) -> Result<Outputs, Failure> {
    Ok(Outputs { buffers: vec![Some(bytes.to_vec())], ..Default::default() })
}

#[test]
fn every_way_to_write_an_argument() {
    let case = prepared(
        r#""args": [{"type": "s16", "data": [-1, "0x8000"]}, {"type": "u8", "file": "three.bin"}, {"type": "f64", "zeros": 2},
            {"type": "u32", "fill": "0xdeadbeef", "len": 2}, {"type": "u32", "value": 7}, {"type": "bytes", "value": "00fF10"},
            {"null": true}, {"type": "f32", "zeros": 0}, {"type": "u16", "bits": "0102*2  fF00"}, {"type": "u8", "bits": ""},
            {"type": "u16", "file": "three.bin", "at": 1, "len": 1}]"#,
    )
    .unwrap();
    let array = |ty, bytes: &[u8]| Argument::Buffer(Array { ty, bytes: bytes.to_vec() });
    let expected = [
        array(Scalar::S16, &[0xff, 0xff, 0x00, 0x80]),
        array(Scalar::U8, &[1, 2, 3]),
        array(Scalar::F64, &[0; 16]),
        array(Scalar::U32, &[0xef, 0xbe, 0xad, 0xde, 0xef, 0xbe, 0xad, 0xde]),
        Argument::Value(vec![7, 0, 0, 0]),
        Argument::Value(vec![0, 0xff, 0x10]),
        Argument::Null,
        array(Scalar::F32, &[]),
        array(Scalar::U16, &[2, 1, 2, 1, 0, 0xff]),
        array(Scalar::U8, &[]),
        array(Scalar::U16, &[2, 3]),
    ];
    assert_eq!(case.args, expected);
    assert_eq!(case.ptx.text(), ".version 8.0");
}

#[test]
fn slips_are_refused_at_their_place() {
    refused(r#""args": [{"type": "u8", "data": [1, 256]}]"#, "$.args[0].data[1]", "does not fit u8");
    refused(r#""args": [{"type": "u8", "value": -1}]"#, "$.args[0].value", "does not fit u8");
    refused(r#""args": [{"type": "u7", "value": 1}]"#, "$.args[0].type", "`u7` is not a type");
    refused(r#""args": [{"value": 1}]"#, "$.args[0]", "`type` is missing");
    refused(r#""args": [{"type": "u8"}]"#, "$.args[0]", "exactly one of");
    refused(r#""args": [{"type": "u8", "value": 1, "null": true}]"#, "$.args[0]", "exactly one of");
    refused(r#""args": [{"type": "u8", "fill": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "value": 1, "len": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "zeros": 4, "len": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "zeros": 1, "at": 1, "len": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "file": "three.bin", "at": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "file": "three.bin", "len": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "value": 1, "at": 1}]"#, "$.args[0]", "go together");
    refused(r#""args": [{"type": "u8", "file": "three.bin", "at": 2, "len": 2}]"#, "$.args[0].at", "has 3 bytes");
    refused(
        r#""args": [{"type": "u8", "file": "three.bin", "at": 18446744073709551615, "len": 1}]"#,
        "$.args[0].at",
        "3",
    );
    refused(r#""args": [{"type": "u16", "bits": "0102 03"}]"#, "$.args[0].bits", "`03`: expected 4 hexadecimal digits");
    refused(r#""args": [{"type": "u16", "bits": "+102"}]"#, "$.args[0].bits", "4 hexadecimal digits");
    refused(r#""args": [{"type": "u8", "bits": "01*"}]"#, "$.args[0].bits", "a number after `*`");
    refused(
        r#""args": [{"type": "u8", "bits": "01 02*17179869184"}]"#,
        "$.args[0].bits",
        "more than the limit of a buffer",
    );
    refused(r#""args": [{"type": "u8", "table": "t"}]"#, "$.args[0].table", "no table `t`");
    refused(r#""args": [{"type": "bytes", "value": "012"}]"#, "$.args[0]", "hexadecimal digits");
    refused(r#""args": [{"type": "bytes", "value": 12}]"#, "$.args[0]", "hexadecimal digits");
    refused(r#""args": [{"type": "u16", "file": "three.bin"}]"#, "$.args[0]", "not a whole number");
    refused(r#""args": [{"type": "u8", "file": "gone.bin"}]"#, "$.args[0].file", "gone.bin");
    refused(
        r#""args": [{"type": "u64", "zeros": 18446744073709551615}]"#,
        "$.args[0]",
        "more than the limit of a buffer",
    );
    refused(
        &format!(r#""args": [{{"type": "u8", "fill": 0, "len": {}}}]"#, MAX_BUFFER_BYTES + 1),
        "$.args[0]",
        "more than",
    );
    refused(r#""block": [0, 1, 1]"#, "$.block", "begin at 1");
    refused(r#""globals": {"g": {"type": "u8", "data": [300]}}"#, "$.globals.g.data[0]", "does not fit");
}

#[test]
fn expectations_must_be_able_to_fail() {
    let with =
        |expect: &str| format!(r#""args": [{{"type": "u32", "zeros": 2}}, {{"null": true}}], "expect": [{expect}]"#);
    refused(&with(r#"{"arg": 0, "data": []}"#), "$.expect[0]", "can't fail");
    refused(&with(r#"{"arg": 0, "zeros": 0}"#), "$.expect[0]", "can't fail");
    refused(&with(r#"{"arg": 0}"#), "$.expect[0]", "exactly one");
    refused(&with(r#"{"arg": 1, "data": [1]}"#), "$.expect[0]", "is not a buffer");
    refused(&with(r#"{"arg": 2, "data": [1]}"#), "$.expect[0]", "no argument 2");
    refused(&with(r#"{"data": [1]}"#), "$.expect[0]", "exactly one of");
    refused(&with(r#"{"arg": 0, "data": [1], "offset": 2}"#), "$.expect[0]", "reaches to byte 12 of a buffer of 8");
    refused(&with(r#"{"arg": 0, "data": [1], "ulp": 1}"#), "$.expect[0]", "for floats");
    refused(&with(r#"{"arg": 0, "type": "f32", "data": [1], "abs": -1}"#), "$.expect[0]", "not negative");
    refused(&with(r#"{"global": "g", "data": [1]}"#), "$.expect[0]", "`type` is needed");
    refused(r#""expect": [], "error": "x""#, "$", "exclude");
    refused(r#""error": """#, "$", "any message");
}

#[test]
fn globals_are_read_as_far_as_they_are_compared() {
    let case = prepared(
        r#""globals": {"g": {"type": "u16", "data": [1]}},
           "expect": [{"global": "g", "data": [5], "offset": 3}, {"global": "h", "type": "u64", "data": [5]}]"#,
    )
    .unwrap();
    assert_eq!(case.read_globals.get("g"), Some(&8));
    assert_eq!(case.read_globals.get("h"), Some(&8));
}

#[test]
fn verdicts() {
    let keys = r#""args": [{"type": "u8", "zeros": 2}], "expect": [{"arg": 0, "data": [4, 5]}]"#;
    let failed = |verdict: Verdict| match verdict {
        Verdict::Failed(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict(keys, buffer(&[4, 5])), Verdict::Passed);
    assert!(failed(verdict(keys, buffer(&[4, 6]))).contains("[1] expected 5"));
    assert!(failed(verdict(keys, Ok(Outputs::default()))).contains("2 of 2"));
    assert_eq!(failed(verdict(keys, Err(Failure::Broken("lost".into())))), "lost");
    let large = || Err(Failure::TooLarge("49152 needed, there are 32768".into()));
    assert_eq!(verdict(keys, large()), Verdict::LeftOut("49152 needed, there are 32768".into()));
    assert_eq!(verdict(r#""args": [], "error": "needed""#, large()), Verdict::Passed);
    assert!(failed(verdict(r#""args": [], "error": "barrier""#, large())).contains("49152"));
    // Without `expect`, every outcome fails.
    assert!(failed(verdict(r#""args": []"#, buffer(&[]))).contains("expects nothing"));
}

#[test]
fn expected_errors() {
    let keys = r#""error": "no opcode""#;
    assert_eq!(verdict(keys, Err(Failure::Refused("x: no opcode `foo`".into()))), Verdict::Passed);
    // A crash whose message contains the words is not a refusal.
    assert_ne!(verdict(keys, Err(Failure::Broken("no opcode".into()))), Verdict::Passed);
    assert_ne!(verdict(keys, Err(Failure::Refused("other".into()))), Verdict::Passed);
    assert_ne!(verdict(keys, buffer(&[])), Verdict::Passed);
}

#[test]
fn directories_are_searched_and_other_json_is_passed_over() {
    let directory = directory(r#""args": []"#);
    fs::create_dir(directory.path().join("deeper")).unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write("deeper/more.json", r#"[{"name": "a", "ptx": "k", "entry": "k"}, {"name": "b", "ptx": "k", "entry": "k"}]"#);
    write("deeper/other.json", r#"{"some": "thing"}"#);
    write("deeper/number.json", "12");
    let found = find(&[directory.path().to_owned()]).unwrap();
    let names: Vec<&str> = found.cases.iter().map(|case| case.spec.name.as_str()).collect();
    assert_eq!(names, ["c", "a", "b"]);
    assert_eq!(found.cases[2].path, "$[1]");
    assert_eq!(found.skipped.len(), 2);
    // An object with `entry` makes the file a case file, and then every error counts.
    write("deeper/number.json", r#"[{"entry": "k"}, {}]"#);
    assert!(find(&[directory.path().to_owned()]).unwrap_err().to_string().contains("missing field"));
    write("deeper/number.json", "{");
    assert!(find(&[directory.path().to_owned()]).is_err());
    // A file given by name must be a case file.
    assert!(find(&[directory.path().join("deeper/other.json")]).is_err());
    assert!(find(&[Path::new("no/such.json").to_owned()]).is_err());
}

#[test]
fn cases_of_a_file_share_tables() {
    let directory = directory(r#""args": []"#);
    let file = directory.path().join("tables.json");
    let load = |tables: &str, name: &str| {
        let case = format!(
            r#"{{"name": "{name}", "ptx": "k.ptx", "entry": "k", "args": [{{"type": "u16", "table": "{name}"}}],
                "expect": [{{"arg": 0, "table": "{name}"}}]}}"#
        );
        fs::write(&file, format!(r#"{{"tables": {{{tables}}}, "cases": [{case}]}}"#)).unwrap();
        find(&[directory.path().to_owned()]).unwrap().cases.remove(1)
    };
    let case = load(r#""a": {"type": "u8", "data": [1, 2]}, "b": {"type": "u64", "zeros": 1}"#, "a").prepare().unwrap();
    assert_eq!(case.args, [Argument::Buffer(Array { ty: Scalar::U16, bytes: vec![1, 2] })]);
    let refused = |tables: &str, place: &str, part: &str| {
        let error = load(tables, "a").prepare().unwrap_err();
        assert_eq!(error.place, place, "{error}");
        assert!(error.message.contains(part), "{error}");
    };
    refused(r#""a": {"type": "u8", "data": [300]}"#, "$.tables.a.data[0]", "does not fit");
    refused(r#""a": {"type": "u8", "table": "a"}"#, "$.tables.a.table", "no table `a`");
    refused(r#""a": {"type": "u8", "zeros": 3}"#, "$.cases[0].args[0]", "not a whole number");
    refused("", "$.cases[0].args[0].table", "no table `a`");
}

#[test]
fn names_are_unique_in_a_file() {
    let directory = directory(r#""args": []"#);
    let file = directory.path().join("twice.json");
    fs::write(&file, r#"[{"name": "a", "ptx": "k", "entry": "k"}, {"name": "a", "ptx": "k", "entry": "k"}]"#).unwrap();
    assert_eq!(Case::load(&file).unwrap_err().place, "$[1].name");
}

#[test]
fn images_and_what_is_made_on_them() {
    let case = prepared(
        r#""images": {
            "levels": {"format": "f16", "channels": 2, "shape": "2d_layered", "size": [4, 2, 3], "levels": 2, "fill": 1, "len": 60},
            "rows": {"format": "u8", "shape": "pitched", "size": [3, 2], "pitch": 32, "data": [1, 2, 3, 4, 5, 6]},
            "cube": {"format": "u32", "shape": "cube", "size": [2], "surface": true}},
        "references": {"tex": {"texture": {"image": "rows", "read": "normalized", "border": [1, 0.5, 0, 0]}}},
        "args": [{"texture": {"image": "levels", "address": ["mirror", "clamp"], "filter": "linear", "normalized": true,
                "mip_filter": "linear", "mip_levels": [0, 1], "mip_bias": 0.5, "view": {"layers": [1, 2], "levels": [0, 1]}}},
            {"surface": "cube"}, {"sampler": {"address": ["border"]}}, {"handles": [{"surface": "cube"}]}],
        "expect": [{"image": "cube", "type": "u16", "offset": 2, "data": [1, 2]}]"#,
    )
    .unwrap();
    let Textures { images, references } = &case.textures;
    assert_eq!(images["levels"].contents.bytes, [0x00, 0x3c].repeat(60));
    assert_eq!(images["levels"].memory.levels(), [[4, 2, 3], [2, 1, 3]]);
    assert_eq!(images["cube"].contents.bytes, [0; 96]);
    assert!(matches!(images["rows"].memory, ImageMemory::Pitched { width: 3, height: 2, pitch: 32, .. }));
    let Object::Texture { image, descriptor, view: None } = &references["tex"] else { panic!("{references:?}") };
    assert_eq!((&image[..], descriptor.read_mode), ("rows", ReadMode::NormalizedFloat));
    assert_eq!(descriptor.border_color, [1.0, 0.5, 0.0, 0.0]);
    let Argument::Object(Object::Texture { descriptor, view: Some(view), .. }) = &case.args[0] else { panic!() };
    assert_eq!(descriptor.address_mode, [AddressMode::Mirror, AddressMode::Clamp, AddressMode::Clamp]);
    assert_eq!((descriptor.max_mip_level, view.layers), (1.0, (1, 2)));
    assert_eq!(case.args[1], Argument::Object(Object::Surface { image: "cube".to_owned() }));
    assert!(
        matches!(&case.args[2..], [Argument::Object(Object::Sampler { .. }), Argument::Handles(list)] if list.len() == 1)
    );
    let outputs =
        |bytes: [u8; 96]| Outputs { images: [("cube".to_owned(), bytes.to_vec())].into(), ..Default::default() };
    let Expectation::Results(checks) = &case.expectation else { panic!() };
    let mut bytes = [0; 96];
    (bytes[4], bytes[6]) = (1, 3);
    let complaint = judge(&case.expectation, &Ok(outputs(bytes)));
    assert!(
        matches!(complaint, Verdict::Failed(text) if text.contains("image cube: 1 of 2 u16 differ: [3] expected 2"))
    );
    assert_eq!(checks.len(), 1);
}

#[test]
fn slips_in_images_are_refused_at_their_place() {
    let image = |keys: &str, place: &str, part: &str| {
        refused(&format!(r#""images": {{"i": {{{keys}}}}}"#), &format!("$.images.i{place}"), part);
    };
    image(r#""format": "u7", "shape": "1d", "size": [1]"#, "", "`u7` is not a format");
    image(r#""format": "u8", "channels": 3, "shape": "1d", "size": [1]"#, "", "not 3");
    image(r#""format": "u8", "shape": "2d", "size": [1]"#, "", "`size`");
    image(r#""format": "u8", "shape": "1d", "size": [4], "data": [1, 2, 3]"#, "", "3 bytes are not the 4 bytes");
    image(r#""format": "u8", "shape": "1d", "size": [4], "levels": 4"#, "", "1 to 3 levels");
    image(r#""format": "u8", "shape": "linear", "size": [4], "surface": true"#, "", "are for arrays");
    image(r#""format": "u8", "shape": "1d", "size": [4], "pitch": 32"#, "", "`pitch` is for");
    image(r#""format": "u8", "shape": "pitched", "size": [40, 1], "pitch": 32"#, "", "less than a row");
    image(r#""format": "u8", "shape": "pitched", "size": [4, 1]"#, "", "`pitch` is missing");
    image(r#""format": "u8", "shape": "1d", "size": [4], "data": [1, 2, 3, 256]"#, ".data[3]", "does not fit");
    image(
        r#""format": "f32", "channels": 4, "shape": "2d", "size": [131072, 65536]"#,
        "",
        "more than the limit of a buffer",
    );
    image(r#""format": "u8", "shape": "2d", "size": [1, 1], "file": "gone.png""#, ".file", "gone.png");
    let object = |arg: &str, place: &str, part: &str| {
        let image = r#""images": {"i": {"format": "u8", "shape": "1d", "size": [4], "levels": 2}}"#;
        refused(&format!(r#"{image}, "args": [{arg}]"#), place, part);
    };
    object(r#"{"texture": {"image": "j"}}"#, "$.args[0].texture", "no image `j`");
    object(r#"{"texture": {}}"#, "$.args[0].texture", "`image` is missing");
    object(r#"{"surface": "i"}"#, "$.args[0].surface", "without levels");
    object(r#"{"sampler": {"image": "i"}}"#, "$.args[0].sampler", "no image");
    object(r#"{"handles": [{}]}"#, "$.args[0].handles[0]", "exactly one of");
    object(r#"{"surface": "i", "null": true}"#, "$.args[0]", "exactly one of");
    object(r#"{"texture": {"image": "i", "address": ["wrap", "wrap", "wrap", "wrap"]}}"#, "$.args[0].texture", "three");
    refused(r#""expect": [{"image": "i", "type": "u8", "data": [1]}]"#, "$.expect[0]", "no image `i`");
    refused(r#""references": {"r": {"surface": "i"}}"#, "$.references.r.surface", "no image `i`");
}

#[test]
fn pictures_are_elements() {
    let directory = directory(
        r#""images": {"i": {"format": "unorm8", "channels": 4, "shape": "2d", "size": [1, 2], "file": "x.png"},
            "j": {"format": "u8", "shape": "2d", "size": [1, 2], "file": "x.png"}}"#,
    );
    let format = TexelFormat::new(ChannelFormat::U8, 4).unwrap();
    let picture = Picture { width: 1, height: 2, format, bytes: (0..8).collect() };
    picture.write(&directory.path().join("x.png")).unwrap();
    let file = directory.path().join("case.json");
    let error = Case::load(&file).unwrap().remove(0).prepare().unwrap_err();
    assert_eq!(error.place, "$.images.j.file");
    assert!(error.message.contains("1 x 2 pixels of 4 channels of u8"), "{error}");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace(r#""format": "u8", "shape""#, r#""format": "u8", "channels": 4, "shape""#);
    fs::write(&file, text).unwrap();
    let case = Case::load(&file).unwrap().remove(0).prepare().unwrap();
    assert_eq!(case.textures.images["i"].contents.bytes, picture.bytes);
}
