//! Kernel arguments in the form of the command line: `u32:7`, `f32[]:1,2,3`, `f32[1024]:iota`, `u8[]:@file.bin`.

use std::path::Path;

use super::Scalar;
use super::contents::{Array, MAX_BUFFER_BYTES, hex_bytes};
use super::elements_text::{buffer, element};
use super::image_text;
use super::images::Textures;
use super::prepare::Argument;
use anyhow::{Context, Result, anyhow, bail};

/// The forms, for `--help`.
pub const HELP: &str = "\
Arguments:
  u32:7  f32:1.5  u64:0xff       a value; 0x gives its bit pattern; inf, -inf, nan for floats
  f32[]:1,2,3                    a buffer with these elements
  f32[1024]:0                    a buffer of 1024 times this; without `:0` of zeros
  u32[1024]:iota  u32[9]:iota(4) 0, 1, 2, … or multiples of a step
  f32[1024]:random(7)            pseudo-random by seed: floats in [-1, 1), integers of all bits
  u32[1024]:random(7,0,10)       the same from 0 up to but without 10
  u8[]:@file.bin                 a buffer with a file's bytes, little endian
  bytes:00ff10                   a struct by value, in hexadecimal
  {f32[4]:1,2,3,4;u32:4}         a struct by value with such members, which lie as in C
  null                           the null pointer
  texture:@photo.png             a texture on the picture's pixels, of 1, 2 or 4 channels of u8 or u16
  texture:f32x4[64x64]@data.raw  the same with a raw file's elements; without a file, zeros
  texture:u8[64x64]:random(7)    the same with the numbers of a buffer
  texture:@photo.png,linear,clamp,normalized,float
                                 how it is read: point or linear; wrap, clamp, mirror or border; coordinates from 0
                                 to 1; integers as floats from 0 to 1; srgb
  texture:f32[1024]:iota,memory  a texture on linear memory
  surface:u8x4[640x480]          a surface on such an image, which --save can write as a picture
  Types: u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64";

/// The type of an argument that is a plain value.
pub fn value_type(text: &str) -> Option<Scalar> {
    text.split_once(':').and_then(|(kind, _)| kind.parse().ok())
}

/// Parses the arguments of a kernel, and makes the images of textures and surfaces, which are named by argument number.
pub fn parse_all(texts: &[impl AsRef<str>]) -> Result<(Vec<Argument>, Textures)> {
    let mut textures = Textures::default();
    let args = texts.iter().enumerate().map(|(index, text)| parse(text.as_ref(), &index.to_string(), &mut textures));
    Ok((args.collect::<Result<_>>()?, textures))
}

/// Parses the binding of a module's reference, such as `table=texture:@photo.png`, and makes the image.
pub fn bind(text: &str, textures: &mut Textures) -> Result<()> {
    let (name, object) = text.split_once('=').with_context(|| format!("`{text}`: expected a name and `=`"))?;
    let object = image_text::parse(object, name, textures)
        .unwrap_or_else(|| bail!("expected a texture or a surface"))
        .with_context(|| format!("`{text}`"))?;
    textures.references.insert(name.to_owned(), object);
    Ok(())
}

fn parse(text: &str, name: &str, textures: &mut Textures) -> Result<Argument> {
    parse_unnamed(text, name, textures).with_context(|| match Path::new(text).is_file() {
        true => format!("argument `{text}`: to link another module, write `--link {text}`"),
        false => format!("argument `{text}`"),
    })
}

fn parse_unnamed(text: &str, name: &str, textures: &mut Textures) -> Result<Argument> {
    if text == "null" {
        return Ok(Argument::Null);
    }
    if let Some(members) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        let member = |(index, text): (usize, &str)| parse(text, &format!("{name}.{index}"), textures);
        return members_of(members).into_iter().enumerate().map(member).collect::<Result<_>>().map(Argument::Struct);
    }
    if let Some(object) = image_text::parse(text, name, textures) {
        return object.map(Argument::Object);
    }
    let (kind, value) = match text.split_once(':') {
        Some((kind, value)) => (kind, Some(value)),
        None => (text, None),
    };
    if kind == "bytes" {
        let bytes = value.and_then(hex_bytes).context("expected pairs of hexadecimal digits")?;
        return Ok(Argument::Value(bytes));
    }
    if let Some((ty, len)) = kind.strip_suffix(']').and_then(|kind| kind.split_once('[')) {
        let ty: Scalar = ty.parse().map_err(|message: String| anyhow!(message))?;
        let len = if len.is_empty() { None } else { Some(parse_len(ty, len)?) };
        let bytes = buffer(ty, len, value)?;
        return Ok(Argument::Buffer(Array { ty, bytes }));
    }
    let ty: Scalar = kind.parse().map_err(|message: String| anyhow!(message))?;
    let value = value.context("expected a value after `:`")?;
    Ok(Argument::Value(element(ty, value)?.collect()))
}

/// The parts between semicolons, except parts inside of inner structs.
fn members_of(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_separator = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ';' && depth == 0
    };
    text.split(is_separator).map(str::trim).collect()
}

fn parse_len(ty: Scalar, text: &str) -> Result<usize> {
    let len: usize = text.parse().ok().with_context(|| format!("`{text}` is not a length"))?;
    match (len as u64).checked_mul(ty.size() as u64) {
        Some(bytes) if bytes <= MAX_BUFFER_BYTES => Ok(len),
        _ => bail!("more than the limit of a buffer ({MAX_BUFFER_BYTES} bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse(text: &str) -> Result<Argument> {
        let (mut args, _) = parse_all(&[text])?;
        args.pop().context("one argument")
    }

    fn bytes(text: &str) -> Vec<u8> {
        match parse(text).unwrap() {
            Argument::Buffer(array) => array.bytes,
            Argument::Value(bytes) => bytes,
            argument => panic!("{argument:?}"),
        }
    }

    #[track_caller]
    fn bad(text: &str, part: &str) {
        let message = format!("{:#}", parse(text).expect_err(text));
        assert!(message.starts_with(&format!("argument `{text}`: ")) && message.contains(part), "{message}");
    }

    #[test]
    fn every_form() {
        assert_eq!(parse("u16:7").unwrap(), Argument::Value(vec![7, 0]));
        assert_eq!(parse("null").unwrap(), Argument::Null);
        assert_eq!(parse("bytes:0aFF").unwrap(), Argument::Value(vec![10, 255]));
        assert_eq!(parse("s8[]:1, -1").unwrap(), Argument::Buffer(Array { ty: Scalar::S8, bytes: vec![1, 255] }));
        assert_eq!(bytes("f32:-1.5"), (-1.5_f32).to_le_bytes());
        assert_eq!(bytes("u8[3]:9"), [9, 9, 9]);
        assert_eq!(bytes("u8[2]:3,4"), [3, 4]);
        assert_eq!(bytes("u16[2]"), [0; 4]);
        assert_eq!(bytes("u8[4]:iota"), [0, 1, 2, 3]);
        assert_eq!(bytes("u8[3]:iota(100)"), [0, 100, 200]);
        assert!(bytes("u8[]:").is_empty());
        assert_eq!(bytes("bf16[2]:iota"), [0, 0, 0x80, 0x3f]);
    }

    #[test]
    fn structs_lie_as_in_c() {
        let argument = parse("{u8:1; f32[2]:1,2; {u16:2;bytes:030405}; u32:6; null}").unwrap();
        let kinds: Vec<bool> = argument.parts().iter().map(|part| matches!(part, Argument::Buffer(_))).collect();
        assert_eq!(kinds, [false, true, false, false, false, false]);
        let mut addresses = [0x0102_0304_0506_0708].into_iter();
        let bytes = argument.bytes(&mut addresses);
        let expected = [
            [1, 0, 0, 0, 0, 0, 0, 0],
            [8, 7, 6, 5, 4, 3, 2, 1],
            // The inner struct ends at a multiple of 2, and the number after it begins at a multiple of 4.
            [2, 0, 3, 4, 5, 0, 0, 0],
            [6, 0, 0, 0, 0, 0, 0, 0],
            [0; 8],
        ];
        assert_eq!(bytes, expected.concat());
        bad("{u8:1;}", "not a type");
        bad("{}", "not a type");
        bad("{u8:1", "not a type");
    }

    #[test]
    fn files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [1, 2, 3, 4]).unwrap();
        let path = file.path().display().to_string();
        assert_eq!(bytes(&format!("u16[]:@{path}")), [1, 2, 3, 4]);
        assert_eq!(bytes(&format!("u16[2]:@{path}")), [1, 2, 3, 4]);
        bad(&format!("u16[3]:@{path}"), "expected 3 elements, found 2");
        bad(&format!("u64[]:@{path}"), "not a whole number");
        bad("u8[]:@no/such/file", "no/such/file");
    }

    #[test]
    fn random_numbers_depend_on_the_seed_alone() {
        // SplitMix64's published first output for seed 1234567.
        assert_eq!(bytes("u64[1]:random(1234567)"), 6457827717110365317_u64.to_le_bytes());
        assert_ne!(bytes("f32[8]:random(1)"), bytes("f32[8]:random(2)"));
        assert!(bytes("u8[1000]:random(5,3,6)").iter().all(|byte| (3..6).contains(byte)));
        for chunk in bytes("f32[1000]:random(3)").chunks_exact(4) {
            let value = f32::from_le_bytes(chunk.try_into().unwrap());
            assert!((-1.0..1.0).contains(&value), "{value}");
        }
    }

    #[test]
    fn references() {
        let mut textures = Textures::default();
        bind("table=texture:f32[4],linear", &mut textures).unwrap();
        assert!(textures.images.contains_key("table") && textures.references.contains_key("table"));
        for (text, part) in
            [("table", "a name"), ("t=f32[4]", "a texture or a surface"), ("t=texture:f32[x]", "a size")]
        {
            let message = format!("{:#}", bind(text, &mut textures).unwrap_err());
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn another_module_is_linked() {
        bad(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "to link another module, write `--link ");
    }

    #[test]
    fn slips() {
        bad("u8:256", "does not fit u8");
        bad("u8", "expected a value");
        bad("u9:1", "`u9` is not a type");
        bad("u8[x]:1", "not a length");
        bad("u8[]:iota", "expected a length");
        bad("u8[300]:iota", "256 does not fit u8");
        bad("u8[]:random(1)", "expected a length");
        bad("u8[1]:random(x)", "not a seed");
        bad("u8[1]:random(1,2)", "expected random");
        bad("u8[1]:random(1,2,300)", "does not fit");
        bad("u8[1]:random(1,3,2)", "not a range");
        bad("f32[1]:random(1,nan,2)", "not a range");
        bad("u8[4]:iota(100)", "300 does not fit u8");
        bad("u8[4]:iota(-1)", "not a step");
        bad("u8[3]:1,2", "expected 3 elements, found 2");
        bad("u8[]:1,,2", "not an integer");
        bad("bytes:1", "hexadecimal");
        bad("u64[99999999999999999]:1", "more than the limit of a buffer");
        bad("", "not a type");
    }
}
