//! Finds arguments that contradict the types of the kernel's parameters, such as a float for a pointer. The runtime
//! checks the rest, by comparing sizes.

use ptx2spv::cases::argument_text;
use ptx2spv::cases::prepare::Argument;
use ptx2spv_translator::interface::Param;

/// Checks arguments, as written and as parsed. The error describes the first wrong one.
pub fn check(params: &[Param], texts: &[String], args: &[Argument]) -> Result<(), String> {
    for (index, ((param, text), arg)) in params.iter().zip(texts).zip(args).enumerate() {
        if let Some(reason) = misfit(param, text, arg) {
            return Err(format!("argument {index}, `{text}`: {reason}"));
        }
    }
    Ok(())
}

fn misfit(param: &Param, text: &str, arg: &Argument) -> Option<String> {
    let name = &param.name;
    let pointer = param.pointer && !param.array;
    match arg {
        Argument::Null if pointer => Some(format!(
            "the kernel accesses memory through its parameter `{name}`: expected a buffer, such as u32[16] (or u64:0, if the \
             kernel tests for null)"
        )),
        Argument::Value(_) if pointer && argument_text::value_type(text).is_some_and(|ty| ty.is_float()) => Some(
            format!("the kernel accesses memory through its parameter `{name}`: expected a buffer, such as f32[16]"),
        ),
        Argument::Buffer(_) if param.ty == "f64" && !param.array => {
            Some(format!("the parameter `{name}` is a number of the type f64: expected a value, such as f64:1.5"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(ty: &str, size: u32, pointer: bool) -> Param {
        Param { name: "p".to_owned(), ty: ty.to_owned(), offset: 0, size, align: size, array: false, pointer }
    }

    #[track_caller]
    fn message(param: Param, text: &str) -> Option<String> {
        let (args, _) = argument_text::parse_all(&[text]).unwrap();
        check(&[param], &[text.to_owned()], &args).err()
    }

    #[test]
    fn what_cannot_be_right() {
        for text in ["null", "f64:5", "f32:1"] {
            let message = message(param("u64", 8, true), text).unwrap();
            assert!(message.starts_with(&format!("argument 0, `{text}`: ")) && message.contains("`p`"), "{message}");
        }
        assert!(message(param("f64", 8, false), "f64[3]").unwrap().contains("type f64"));
    }

    #[test]
    fn what_can() {
        for (param, text) in [
            (param("u64", 8, true), "u32[4]"),
            (param("u64", 8, true), "u64:0"),
            (param("u64", 8, false), "null"),
            (param("u64", 8, false), "u8[1]"),
            (param("f64", 8, false), "f64:1"),
            (param("b64", 8, false), "f64:1"),
        ] {
            assert_eq!(message(param, text), None);
        }
    }
}
