//! The interface as a C header, for programs in C and C++ that load a module without reading JSON.
//!
//! It holds constants alone, in types that all such headers share; `docs/interface.md` says what they mean. The module's words
//! stay in their file.

use std::fmt::Write;

use crate::{Assumptions, Entry, Interface, Launches, ParamLocation};

/// Declarations that the headers share.
const TYPES: &str = r#"#ifndef PTX2SPV_TYPES
#define PTX2SPV_TYPES 1

/* A parameter: its place in the parameter block, in bytes. */
typedef struct ptx2spv_param {
    const char *name;
    uint32_t offset, size;
} ptx2spv_param;

typedef struct ptx2spv_kernel {
    const char *name; /* of the entry point */
    const ptx2spv_param *params;
    uint32_t param_count;
    uint32_t params_size;         /* bytes of the parameter block */
    uint32_t params_in_buffer;    /* 1: it lies in a buffer; 0: in the push constants from byte 40 */
    uint32_t push_constant_size;  /* bytes */
    uint32_t shared_bytes;        /* static shared memory */
    uint32_t scratch_address;     /* byte of the push constants with the address of scratch memory; 0: it uses none */
    uint32_t scratch_local_bytes; /* of it for each invocation; 0: local memory lies elsewhere */
    uint32_t scratch_shared;      /* 1: all shared memory lies in it */
    uint32_t subgroup_size;       /* packing; 0: each thread is an invocation */
    uint32_t lanes;
    uint32_t required_block[3];   /* .reqntid; 0: any */
    uint32_t max_block[3];        /* .maxntid; 0: any */
    uint32_t block_multiple;      /* the block's threads, in whole warps, are a multiple of this; 0: any */
    uint32_t cooperative;         /* 1: made for cooperative launches, 2: waits for what it launches; byte 48 of the push constants has the address of a workspace then */
    uint32_t saved_words;         /* words there for each thread; 0: workgroups are not suspended */
    uint32_t launches;            /* 1: it may launch kernels */
    uint32_t report_count;        /* places from which it may report a fault */
    const uint32_t *report_lines; /* their lines in the PTX */
} ptx2spv_kernel;

/* Bytes to write to the variables' allocation. */
typedef struct ptx2spv_run {
    uint64_t offset, size;
    const uint8_t *bytes;
} ptx2spv_run;

/* (address of the variables' allocation + target) >> shift, its low `size` bytes at `offset`. */
typedef struct ptx2spv_relocation {
    uint64_t offset, target;
    uint32_t size, shift;
} ptx2spv_relocation;

#define PTX2SPV_NONE UINT64_MAX

typedef struct ptx2spv_module {
    uint32_t spirv_major, spirv_minor;
    const ptx2spv_kernel *kernels;
    uint32_t kernel_count;
    const char *const *features; /* Vulkan's names of what must be enabled */
    uint32_t feature_count;
    uint64_t variables_size;     /* bytes; 0: there are none */
    const ptx2spv_run *runs;
    uint32_t run_count;
    const ptx2spv_relocation *relocations;
    uint32_t relocation_count;
    uint32_t near;               /* 1: pointers have 32 bits, and reach less than 1 GiB before or behind the variables */
    uint64_t status_offset;      /* of the status record in the variables; PTX2SPV_NONE: there is none */
    uint64_t launches_offset;    /* of the region for launches in the variables; PTX2SPV_NONE: there is none */
    uint64_t launches_records;   /* offset of the first record in the region */
    uint32_t launches_capacity;  /* records */
    uint32_t launch_record_bytes;
    uint64_t launches_attributes; /* offset of the device's attributes in the region, which the host writes, or PTX2SPV_NONE */
    const char *const *launched; /* the kernels that records have the numbers of */
    uint32_t launched_count;
    const char *const *relies_on; /* what it takes for granted of the device: on others its results may be wrong */
    uint32_t relies_on_count;
} ptx2spv_module;

#endif
"#;

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

/// A string in C: what might end it or mean something else is written by its number.
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
