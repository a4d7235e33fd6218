//! The interface as a C header, for programs in C and C++ that load a module without reading JSON.
//!
//! It holds constants alone, in types that all such headers share; `docs/interface.md` says what they mean. The module's words
//! stay in their file.

use std::fmt::Write;

use crate::{Assumptions, Entry, Interface, Launches, ParamLocation};

/// Declarations that the headers share.
const TYPES: &str = include_str!("header.h");

impl Interface {
    /// The header that defines `name` as a `ptx2spv_module`; characters that C's names don't have become `_`.
    pub fn c_header(&self, name: &str) -> String {
        let mut header = Header { name: identifier(name), text: String::new() };
        header.module(self);
        header.text
    }
}

struct Header {
    name: String,
    text: String,
}

impl Header {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }

    /// An array, which C doesn't let be empty: its name, or `0` if there is nothing to put in.
    fn array(&mut self, ty: &str, suffix: &str, elements: &[String]) -> String {
        if elements.is_empty() {
            return "0".to_owned();
        }
        let name = format!("{}_{suffix}", self.name);
        self.line(format_args!("static const {ty}{name}[] = {{"));
        for chunk in elements.chunks(if ty.starts_with("uint") { 16 } else { 1 }) {
            self.line(format_args!("    {},", chunk.join(", ")));
        }
        self.line(format_args!("}};"));
        name
    }

    fn module(&mut self, interface: &Interface) {
        let name = self.name.clone();
        self.line(format_args!("/* Made by ptx2spv for the target {}. */", comment(&interface.target)));
        self.line(format_args!("#ifndef PTX2SPV_MODULE_{name}\n#define PTX2SPV_MODULE_{name} 1\n"));
        self.line(format_args!("#include <stdint.h>\n\n{TYPES}"));
        let kernels: Vec<String> =
            interface.entries.iter().enumerate().map(|(index, entry)| self.kernel(index, entry)).collect();
        let kernels = (self.array("ptx2spv_kernel ", "kernels", &kernels), kernels.len());
        let features: Vec<String> = interface.features.iter().map(|feature| quoted(feature.name())).collect();
        let features = (self.array("char *const ", "features", &features), features.len());
        let variables = &interface.variables;
        let runs: Vec<String> = variables
            .image
            .iter()
            .enumerate()
            .map(|(index, run)| {
                let bytes: Vec<String> = run.bytes.iter().map(u8::to_string).collect();
                let array = self.array("uint8_t ", &format!("bytes_{index}"), &bytes);
                format!("{{{}u, {}u, {array}}}", run.offset, run.bytes.len())
            })
            .collect();
        let runs = (self.array("ptx2spv_run ", "runs", &runs), runs.len());
        let relocations: Vec<String> = variables
            .relocations
            .iter()
            .map(|relocation| {
                format!("{{{}u, {}u, {}, {}}}", relocation.offset, relocation.target, relocation.size, relocation.shift)
            })
            .collect();
        let relocations = (self.array("ptx2spv_relocation ", "relocations", &relocations), relocations.len());
        let status = interface.status.map_or("PTX2SPV_NONE".to_owned(), |status| format!("{}u", status.offset));
        let launched = interface.launches.iter().flat_map(|launches| &launches.kernels);
        let launched: Vec<String> = launched.map(|kernel| quoted(&kernel.name)).collect();
        let (launched, launched_count) = (self.array("char *const ", "launched", &launched), launched.len());
        let launches =
            interface.launches.as_ref().map_or("PTX2SPV_NONE, 0u, 0, 0, PTX2SPV_NONE".to_owned(), |launches| {
                let Launches { offset, records, capacity, record_bytes, attributes, .. } = launches;
                let attributes = attributes.map_or("PTX2SPV_NONE".to_owned(), |attributes| format!("{attributes}u"));
                format!("{offset}u, {records}u, {capacity}, {record_bytes}, {attributes}")
            });
        let relies_on = interface.relies_on.as_ref().map(Assumptions::names).unwrap_or_default();
        let relies_on: Vec<String> = relies_on.iter().map(|name| quoted(name)).collect();
        let (relied, relied_count) = (self.array("char *const ", "relies_on", &relies_on), relies_on.len());
        self.line(format_args!("static const ptx2spv_module {name} = {{"));
        let version = interface.spirv;
        self.line(format_args!("    {}, {},", version.0, version.1));
        for (array, count) in [kernels, features] {
            self.line(format_args!("    {array}, {count},"));
        }
        self.line(format_args!("    {}u,", variables.size));
        for (array, count) in [runs, relocations] {
            self.line(format_args!("    {array}, {count},"));
        }
        self.line(format_args!("    {},", u32::from(variables.near)));
        self.line(format_args!(
            "    {status},\n    {launches}, {launched}, {launched_count},\n    {relied}, {relied_count},\n}};\n\n#endif"
        ));
    }

    /// The arrays of a kernel, and its initializer.
    fn kernel(&mut self, index: usize, entry: &Entry) -> String {
        let param = |param: &crate::Param| format!("{{{}, {}, {}}}", quoted(&param.name), param.offset, param.size);
        let params: Vec<String> = entry.params.iter().map(param).collect();
        let params_array = self.array("ptx2spv_param ", &format!("params_{index}"), &params);
        let lines: Vec<String> = entry.reports.iter().map(|place| place.line.to_string()).collect();
        let lines_array = self.array("uint32_t ", &format!("lines_{index}"), &lines);
        let in_buffer = u32::from(entry.params_location == ParamLocation::Buffer);
        let (subgroup_size, lanes) = entry.packing.map_or((0, 0), |packing| (packing.subgroup_size, packing.lanes));
        let scratch = entry
            .scratch
            .map_or((0, 0, 0), |scratch| (scratch.address, scratch.local_bytes, u32::from(scratch.shared)));
        let scratch = format!("{}, {}, {}", scratch.0, scratch.1, scratch.2);
        let saved_words = entry.workspace().and_then(|cooperative| cooperative.saved_words).unwrap_or(0);
        let cooperative = format!(
            "{}, {saved_words}",
            match (entry.cooperative, entry.waits_for_launches) {
                (Some(_), _) => 1,
                (None, Some(_)) => 2,
                (None, None) => 0,
            }
        );
        let block = |size: Option<[u32; 3]>| {
            let [x, y, z] = size.unwrap_or_default();
            format!("{{{x}, {y}, {z}}}")
        };
        format!(
            "{{{}, {params_array}, {}, {}, {in_buffer}, {}, {}, {scratch}, {subgroup_size}, {lanes}, {}, {}, {}, {cooperative}, {}, {}, {lines_array}}}",
            quoted(&entry.name),
            params.len(),
            entry.params_size,
            entry.push_constant_size,
            entry.shared.static_bytes,
            block(entry.block.required),
            block(entry.block.max),
            entry.block.threads.unwrap_or(0),
            u32::from(entry.launches),
            lines.len(),
        )
    }
}

/// A name in C.
fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// A string in C: characters that might end it or mean something else are written by their numbers.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_$%.-".contains(&byte);
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        if plain(byte) {
            literal.push(char::from(byte));
        } else {
            let _ = write!(literal, "\\{byte:03o}");
        }
    }
    literal.push('"');
    literal
}

/// Text that can stand in a comment.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_graphic() && c != '*' && c != '\\' || c == ' ' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_strings() {
        assert_eq!(identifier("3d.sm_80"), "_3d_sm_80");
        assert_eq!(identifier(""), "_");
        assert_eq!(quoted("_Z3fooPf$x%1"), "\"_Z3fooPf$x%1\"");
        assert_eq!(quoted("a\"b\\\u{e9}?"), "\"a\\042b\\134\\303\\251\\077\"");
        assert_eq!(comment("llvmpipe (LLVM 15) */ int x;\n"), "llvmpipe (LLVM 15) _/ int x;_");
    }
}
