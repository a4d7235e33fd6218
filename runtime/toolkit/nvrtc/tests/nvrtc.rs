//! The library as programs load it.
#![cfg(target_os = "linux")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;

use libloading::{Library, Symbol};

type Anything = Result<(), Box<dyn std::error::Error>>;

/// The library that cargo has built for this test.
struct Nvrtc(Library);

impl Nvrtc {
    fn load() -> Result<Self, Box<dyn std::error::Error>> {
        let program = std::env::current_exe()?;
        let path = program.with_file_name("libptx2spv_nvrtc.so");
        // Safety: the library has no code that runs when it is loaded.
        Ok(Self(unsafe { Library::new(path) }?))
    }

    /// A function of the library.
    fn get<T>(&self, name: &str) -> Symbol<'_, T> {
        // Safety: the callers below name the functions with the types of CUDA's manual.
        unsafe { self.0.get(name.as_bytes()) }.unwrap()
    }

    fn create(&self, source: &str, headers: &[(&str, &str)]) -> usize {
        self.create_named(source, c"kernels.cu", headers)
    }

    fn create_named(&self, source: &str, name: &CStr, headers: &[(&str, &str)]) -> usize {
        let create: Symbol<
            '_,
            extern "C" fn(
                *mut usize,
                *const c_char,
                *const c_char,
                c_int,
                *const *const c_char,
                *const *const c_char,
            ) -> c_int,
        > = self.get("nvrtcCreateProgram");
        let list = |texts: Vec<&str>| texts.into_iter().map(|text| CString::new(text).unwrap()).collect::<Vec<_>>();
        let texts = list(headers.iter().map(|header| header.1).collect());
        let names = list(headers.iter().map(|header| header.0).collect());
        let pointers = |list: &[CString]| list.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (source, mut handle) = (CString::new(source).unwrap(), 0);
        let (texts, names) = (pointers(&texts), pointers(&names));
        let count = headers.len() as c_int;
        assert_eq!(create(&mut handle, source.as_ptr(), name.as_ptr(), count, texts.as_ptr(), names.as_ptr()), 0);
        handle
    }

    fn compile(&self, handle: usize, options: &[&str]) -> c_int {
        let compile: Symbol<'_, extern "C" fn(usize, c_int, *const *const c_char) -> c_int> =
            self.get("nvrtcCompileProgram");
        let options: Vec<_> = options.iter().map(|option| CString::new(*option).unwrap()).collect();
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        compile(handle, pointers.len() as c_int, pointers.as_ptr())
    }

    /// The PTX or the log.
    fn text(&self, handle: usize, what: &str) -> Result<String, c_int> {
        let size: Symbol<'_, extern "C" fn(usize, *mut usize) -> c_int> = self.get(&format!("nvrtcGet{what}Size"));
        let get: Symbol<'_, extern "C" fn(usize, *mut c_char) -> c_int> = self.get(&format!("nvrtcGet{what}"));
        let mut bytes = 0;
        match size(handle, &mut bytes) {
            0 => {}
            code => return Err(code),
        }
        let mut text = vec![0_u8; bytes];
        assert_eq!(get(handle, text.as_mut_ptr().cast()), 0);
        Ok(CStr::from_bytes_with_nul(&text).unwrap().to_str().unwrap().to_owned())
    }

    fn add_name(&self, handle: usize, expression: &CStr) -> c_int {
        self.get::<extern "C" fn(usize, *const c_char) -> c_int>("nvrtcAddNameExpression")(handle, expression.as_ptr())
    }

    fn lowered(&self, handle: usize, expression: &CStr) -> Result<String, c_int> {
        let mut name = std::ptr::null();
        let get: Symbol<'_, extern "C" fn(usize, *const c_char, *mut *const c_char) -> c_int> =
            self.get("nvrtcGetLoweredName");
        match get(handle, expression.as_ptr(), &mut name) {
            // Safety: the library gave a text that the program keeps.
            0 => Ok(unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()),
            code => Err(code),
        }
    }
}

const SOURCE: &str = r#"
#include "folder/two.h"
namespace a { __device__ int offset; __constant__ float factors[4]; }
int twice(int x) { return x * TWO; }
template <class T> __global__ void scale(T *x) { x[threadIdx.x] = twice(x[threadIdx.x]) + a::offset + a::factors[0]; }
extern "C"__global__ void wave(float *x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }
"#;

#[test]
fn names_headers_and_ptx() -> Anything {
    let nvrtc = Nvrtc::load()?;
    let handle = nvrtc.create(SOURCE, &[("folder/two.h", "#define TWO 2\n")]);
    for expression in [c"scale<int>", c"scale<float>", c"&a::offset", c"a::factors"] {
        assert_eq!(nvrtc.add_name(handle, expression), 0);
    }
    assert_eq!(nvrtc.lowered(handle, c"scale<int>"), Err(9));
    let options =
        ["--gpu-architecture=compute_80", "-default-device", "--use_fast_math", "--std=c++17", "--pch", "-DX"];
    let code = nvrtc.compile(handle, &options);
    assert_eq!(code, 0, "{:?}", nvrtc.text(handle, "ProgramLog"));
    let ptx = nvrtc.text(handle, "PTX").unwrap();
    assert!(ptx.contains(".target sm_80") && ptx.contains(".visible .entry wave("), "{ptx}");
    // The mathematics is in the kernel, and knows that denormal numbers are zeros.
    assert!(ptx.contains("sin.approx.ftz.f32") && !ptx.contains("call") && !ptx.contains("name_expression"), "{ptx}");
    assert_eq!(nvrtc.lowered(handle, c"scale<int>").as_deref(), Ok("_Z5scaleIiEvPT_"));
    assert_eq!(nvrtc.lowered(handle, c"scale<float>").as_deref(), Ok("_Z5scaleIfEvPT_"));
    assert_eq!(nvrtc.lowered(handle, c"&a::offset").as_deref(), Ok("_ZN1a6offsetE"));
    assert_eq!(nvrtc.lowered(handle, c"a::factors").as_deref(), Ok("_ZN1a7factorsE"));
    assert_eq!(nvrtc.lowered(handle, c"other"), Err(10));
    assert_eq!(nvrtc.add_name(handle, c"late"), 8);
    let mut place = handle;
    let destroy: Symbol<'_, extern "C" fn(*mut usize) -> c_int> = nvrtc.get("nvrtcDestroyProgram");
    assert_eq!((destroy(&mut place), place, destroy(&mut place)), (0, 0, 4));
    assert_eq!(nvrtc.text(handle, "PTX"), Err(4));
    Ok(())
}

#[test]
fn names_without_headers() -> Anything {
    let nvrtc = Nvrtc::load()?;
    let source = "extern \"C\" __global__ void k(int **p) { assert(*p); memset(p, 0, 8); printf(\"%p\", p[1]); delete p[2]; p[3] = new int(1); }";
    let handle = nvrtc.create(source, &[]);
    let code = nvrtc.compile(handle, &[]);
    assert_eq!(code, 0, "{:?}", nvrtc.text(handle, "ProgramLog"));
    let ptx = nvrtc.text(handle, "PTX").unwrap();
    assert!(["__assertfail", "vprintf", "malloc", "free"].iter().all(|name| ptx.contains(name)), "{ptx}");
    Ok(())
}

#[test]
fn headers_beside_the_source() -> Anything {
    let nvrtc = Nvrtc::load()?;
    let source = "#include \"nvrtc_test_header.h\"\nextern \"C\" __global__ void NAME() {}\n";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("nvrtc_test_header.h"), "#define NAME kernel_of_header\n")?;
    let name = CString::new(folder.join("kernels.cu").to_str().unwrap())?;
    let handle = nvrtc.create_named(source, &name, &[]);
    assert_eq!(nvrtc.compile(handle, &[]), 0, "{:?}", nvrtc.text(handle, "ProgramLog"));
    assert!(nvrtc.text(handle, "PTX").unwrap().contains(".entry kernel_of_header("));
    let handle = nvrtc.create_named(source, &name, &[]);
    assert_eq!(nvrtc.compile(handle, &["-no-source-include"]), 6);
    Ok(())
}

#[test]
fn errors() -> Anything {
    let nvrtc = Nvrtc::load()?;
    let handle = nvrtc.create("__global__ void k()\n{\n    nothing;\n}\n", &[]);
    assert_eq!(nvrtc.compile(handle, &[]), 6);
    let log = nvrtc.text(handle, "ProgramLog").unwrap();
    assert!(log.starts_with("kernels.cu:3:5: error: use of undeclared identifier 'nothing'"), "{log}");
    assert_eq!(nvrtc.text(handle, "PTX"), Err(6));
    let handle = nvrtc.create("", &[]);
    assert_eq!(nvrtc.compile(handle, &["--frobnicate"]), 5);
    assert!(nvrtc.text(handle, "ProgramLog").unwrap().contains("--frobnicate: nvcc has no such option"));
    let name: Symbol<'_, extern "C" fn(c_int) -> *const c_char> = nvrtc.get("nvrtcGetErrorString");
    // Safety: the library's texts are constants.
    let name = |code| unsafe { CStr::from_ptr(name(code)) };
    assert_eq!((name(6), name(99)), (c"NVRTC_ERROR_COMPILATION", c"NVRTC_ERROR unknown"));
    let (mut major, mut minor) = (0, 0);
    let version: Symbol<'_, extern "C" fn(*mut c_int, *mut c_int) -> c_int> = nvrtc.get("nvrtcVersion");
    assert_eq!((version(&mut major, &mut minor), major, minor), (0, 12, 8));
    Ok(())
}
