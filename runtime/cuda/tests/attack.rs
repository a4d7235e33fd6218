//! Every exported function called with wrong arguments: none may crash or panic.

#[path = "library/calls.rs"]
mod calls;
#[path = "library/mod.rs"]
mod library;

use std::collections::HashMap;
use std::error::Error;
use std::ffi::{c_int, c_uint, c_void};
use std::io::Write;
use std::process::Command;

use calls::{ARGUMENTS, EITHER, Function, call, functions};
use libloading::Library;
use library::library;

type Anything = Result<(), Box<dyn Error>>;

#[test]
fn every_function_survives_null_and_garbage() -> Anything {
    // SAFETY: the library has no initialisation of its own.
    let library = unsafe { Library::new(library()?) }?;
    let mut functions = functions(include_str!("../api.in"));
    functions.extend(calls::functions(include_str!("../cudart.in")));
    functions.extend(calls::functions(include_str!("../nvml.in")));
    let mut place = [0_u64; 32];
    let zeros = [0; ARGUMENTS];
    // Before the library is initialised, and after.
    for context in [false, true] {
        if context {
            assert_eq!(call(&library, "cuInit", zeros), 0);
        }
        for garbage in [0, 1, 3, 0x7fff_ffff, 0x0200_0000_1000_0000, 0xdead_beef_dead_beef, usize::MAX] {
            for Function { names, arguments, has_code } in &functions {
                for name in names {
                    if context {
                        // Earlier calls may have changed the thread's contexts.
                        let out = place.as_mut_ptr().expose_provenance();
                        let mut list = zeros;
                        list[0] = out;
                        assert_eq!(call(&library, "cuDevicePrimaryCtxRetain", list), 0, "before {name}");
                        list[0] = place[0] as usize;
                        assert_eq!(call(&library, "cuCtxSetCurrent", list), 0, "before {name}");
                    }
                    let mut list = [garbage; ARGUMENTS];
                    for (value, ty) in list.iter_mut().zip(arguments) {
                        // Pointers that the library reads or calls can't be garbage.
                        let is_pointer =
                            ["In<", "Text", "Memory", "*const", "HostFunction", "StreamCallback", "SizeFunction"];
                        if is_pointer.iter().any(|start| ty.starts_with(start)) {
                            *value = 0;
                        } else if ty.starts_with("Out<") {
                            *value = if garbage % 2 == 0 { 0 } else { place.as_mut_ptr().expose_provenance() };
                        }
                    }
                    let result = call(&library, name, list);
                    if !has_code {
                        continue;
                    }
                    let mut list = zeros;
                    (list[0], list[1]) = (result as usize, place.as_mut_ptr().expose_provenance());
                    // The runtime API has its own errors below 100.
                    let has_name =
                        call(&library, "cuGetErrorName", list) == 0 || (name.contains("cuda") && result < 100);
                    assert!(has_name, "{name} answers {result}");
                    assert_ne!(result, 999, "{name} panics");
                }
            }
        }
    }
    Ok(())
}

const PTX: &str = ".version 7.0\n.target sm_50\n.address_size 64\n.global .texref t;\n.global .surfref s;\n\
    .visible .global .u32 k_data;\n.visible .entry k()\n{\n    ret;\n}\n\0";

/// Bytes of each memory that functions get.
const BYTES: usize = 1 << 16;

/// Objects of a context, by the types of the tables.
struct Objects(HashMap<&'static str, usize>);

impl Objects {
    /// Makes objects of all kinds in the current context.
    fn new(library: &Library) -> Self {
        let (device, array) = (0_usize, [64_u64, 4, 1, 1].map(|number| number as usize));
        // Width, height, depth, then format and channels, then flags.
        let array_3d: [usize; 5] = [64, 4, 0, 1 | 1 << 32, 0];
        let mut objects = HashMap::new();
        let mut add = |kind, name, position: usize, rest: &[usize]| {
            let mut made = 0_usize;
            let mut list = [0; ARGUMENTS];
            list[..rest.len()].copy_from_slice(rest);
            list[position] = (&raw mut made).expose_provenance();
            assert_eq!(call(library, name, list), 0, "{name}");
            objects.insert(kind, made);
            made
        };
        let image = PTX.as_ptr().expose_provenance();
        let names = [c"k", c"t", c"s"].map(|name| name.as_ptr().expose_provenance());
        let description = [array[0], array[1], 1 | 1 << 32];
        add("u64", "cuMemAlloc_v2", 0, &[0, BYTES]);
        add("StreamHandle", "cuStreamCreate", 0, &[0, 0]);
        add("EventHandle", "cuEventCreate", 0, &[0, 0]);
        let module = add("ModuleHandle", "cuModuleLoadData", 0, &[0, image]);
        add("FunctionHandle", "cuModuleGetFunction", 0, &[0, module, names[0]]);
        add("TextureReferenceHandle", "cuModuleGetTexRef", 0, &[0, module, names[1]]);
        add("SurfaceReferenceHandle", "cuModuleGetSurfRef", 0, &[0, module, names[2]]);
        add("LibraryHandle", "cuLibraryLoadData", 0, &[0, image]);
        add("LinkHandle", "cuLinkCreate_v2", 3, &[]);
        let graph = add("GraphHandle", "cuGraphCreate", 0, &[0, 0]);
        add("NodeHandle", "cuGraphAddEmptyNode", 0, &[0, graph, 0, 0]);
        add("ExecHandle", "cuGraphInstantiateWithFlags", 0, &[0, graph, 0]);
        add("ArrayHandle", "cuArrayCreate_v2", 0, &[0, description.as_ptr().expose_provenance()]);
        add("MipmappedHandle", "cuMipmappedArrayCreate", 0, &[0, array_3d.as_ptr().expose_provenance(), 2]);
        // Pinned, for no other process, on device 0.
        let properties: [u32; 8] = [1, 0, 1, 0, 0, 0, 0, 0];
        add("PhysicalHandle", "cuMemCreate", 0, &[0, 2 << 20, properties.as_ptr().expose_provenance(), 0]);
        add("PoolHandle", "cuDeviceGetDefaultMemPool", 0, &[0, device]);
        let destroy = (nothing as unsafe extern "C" fn(*mut c_void)) as usize;
        add("UserObjectHandle", "cuUserObjectCreate", 0, &[0, 0, destroy, 1, 1]);
        Self(objects)
    }

    /// Destroys all objects that functions can destroy.
    fn destroy(&self, library: &Library) {
        for (kind, name) in [
            ("u64", "cuMemFree_v2"),
            ("StreamHandle", "cuStreamDestroy_v2"),
            ("EventHandle", "cuEventDestroy_v2"),
            ("LibraryHandle", "cuLibraryUnload"),
            ("LinkHandle", "cuLinkDestroy"),
            ("ExecHandle", "cuGraphExecDestroy"),
            ("GraphHandle", "cuGraphDestroy"),
            ("ArrayHandle", "cuArrayDestroy"),
            ("MipmappedHandle", "cuMipmappedArrayDestroy"),
            ("ModuleHandle", "cuModuleUnload"),
            ("PhysicalHandle", "cuMemRelease"),
        ] {
            let mut list = [0; ARGUMENTS];
            list[0] = self.0[kind];
            call(library, name, list);
        }
    }
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

unsafe extern "C" fn nothing_of_stream(_: usize, _: c_uint, _: *mut c_void) {}

unsafe extern "C" fn no_bytes(_: c_int) -> usize {
    0
}

/// A new current context with objects, and its handle.
fn context(library: &Library) -> (usize, Objects) {
    let mut context = 0_usize;
    let mut list = [0; ARGUMENTS];
    list[0] = (&raw mut context).expose_provenance();
    assert_eq!(call(library, "cuCtxCreate_v2", list), 0);
    let mut objects = Objects::new(library);
    objects.0.insert("ContextHandle", context);
    (context, objects)
}

/// Whether a function is left out.
fn is_left_out(name: &str, arguments: &[&str]) -> bool {
    // CUDA's compilers make the calls, with structures that they put into programs.
    name.starts_with("__cuda") || arguments.contains(&EITHER)
}

/// Calls each function with arguments that are right but for one. Writes each call's name first, for the process that waits for this
/// one.
fn attack() -> Anything {
    // SAFETY: the library has no initialisation of its own.
    let library = unsafe { Library::new(library()?) }?;
    let library = &library;
    let zeros = [0; ARGUMENTS];
    assert_eq!(call(library, "cuInit", zeros), 0);
    let (mut memory, mut room) = (vec![0_usize; BYTES / 8], vec![0_usize; BYTES / 8]);
    let mut panics = Vec::new();
    let (_, other) = context(library);
    let (_, freed) = context(library);
    freed.destroy(library);
    let mut functions = functions(include_str!("../api.in"));
    functions.extend(calls::functions(include_str!("../cudart.in")));
    functions.extend(calls::functions(include_str!("../nvml.in")));
    for Function { names, arguments, .. } in &functions {
        let name = &names[0];
        if is_left_out(name, arguments) {
            continue;
        }
        let (current, objects) = context(library);
        let mut wrong_handles = vec![0; BYTES / 8];
        let kinds = [objects.0["StreamHandle"], freed.0["NodeHandle"], other.0["EventHandle"], usize::MAX, 1];
        wrong_handles[..kinds.len()].copy_from_slice(&kinds);
        let usual = |ty: &str| match ty {
            "Text" => c"k".as_ptr().expose_provenance(),
            "HostFunction" => (nothing as unsafe extern "C" fn(*mut c_void)) as usize,
            "StreamCallback" => (nothing_of_stream as unsafe extern "C" fn(usize, c_uint, *mut c_void)) as usize,
            "SizeFunction" => (no_bytes as unsafe extern "C" fn(c_int) -> usize) as usize,
            "usize" => 1,
            ty if ["In<", "Memory", "Out<", "*const"].iter().any(|start| ty.starts_with(start)) => 0,
            ty => objects.0.get(ty).copied().unwrap_or(0),
        };
        for (index, ty) in arguments.iter().enumerate() {
            let is_pointer = |ty: &str| ["In<", "Memory", "Out<", "*const"].iter().any(|start| ty.starts_with(start));
            let right = usual(ty);
            let attacks: Vec<usize> = if is_pointer(ty) {
                // Handles in lists are wrong too.
                vec![0, memory.as_mut_ptr().expose_provenance() + 1, wrong_handles.as_ptr().expose_provenance()]
            } else if ty.ends_with("Function") || ty.ends_with("Callback") || *ty == "Text" {
                vec![0]
            } else {
                let of = |objects: &Objects| objects.0.get(ty).copied().unwrap_or(2);
                let is_known = !ty.ends_with("Handle") || objects.0.contains_key(ty);
                assert!(is_known, "{name}: no object for a {ty}");
                let wrong = [0, 1, usize::MAX, 0x10000, right + 1, right.wrapping_sub(1), of(&freed), of(&other)];
                let foreign = objects.0.iter().filter(|(kind, _)| kind != &ty && ty.ends_with("Handle"));
                wrong.into_iter().chain(foreign.map(|(_, object)| *object)).collect()
            };
            for attack in attacks {
                writeln!(std::io::stdout(), "{name}, argument {index}: {attack:#x}")?;
                memory.fill(0);
                room.fill(0);
                let mut list = zeros;
                for (place, ty) in list.iter_mut().zip(arguments) {
                    *place = match *ty {
                        // A list of handles, or one.
                        ty if ty.starts_with("In<") && ty.ends_with("Handle>") => {
                            let kind = ty.trim_start_matches("In<").trim_end_matches('>');
                            memory[..4].fill(objects.0.get(kind).copied().unwrap_or(0));
                            memory.as_mut_ptr().expose_provenance()
                        }
                        ty if ty.starts_with("Out<") => room.as_mut_ptr().expose_provenance(),
                        ty if is_pointer(ty) => memory.as_mut_ptr().expose_provenance(),
                        ty => usual(ty),
                    };
                }
                list[index] = attack;
                if call(library, name, list) == 999 {
                    panics.push(format!("{name}, argument {index}: {attack:#x}"));
                }
            }
        }
        let mut list = zeros;
        list[0] = current;
        call(library, "cuCtxDestroy_v2", list);
        list[0] = 0;
        call(library, "cuCtxSetCurrent", list);
    }
    assert!(panics.is_empty(), "{panics:?}");
    Ok(())
}

/// Tells the process that it is the one to attack.
const VARIABLE: &str = "PTX2SPV_ATTACKED";

#[test]
fn one_wrong_argument_crashes_nothing() -> Anything {
    if std::env::var_os(VARIABLE).is_some() {
        return attack();
    }
    // Some functions write files.
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.current_dir(folder.path());
    let run =
        command.args(["--exact", "one_wrong_argument_crashes_nothing", "--nocapture"]).env(VARIABLE, "1").output()?;
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let last: Vec<&str> = out.lines().rev().take(3).collect();
    let end = &errors[errors.len().saturating_sub(2000)..];
    assert!(run.status.success(), "{:?} after {last:?}\n{end}", run.status);
    Ok(())
}
