//! The page, built and served as `scripts/playground` does it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A web server.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// Serves the page on a free port; `None` if it can't be built for WebAssembly.
    pub fn start() -> Option<Self> {
        let folder = build()?;
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Serving HTTP on 127.0.0.1 port 37441 (http://127.0.0.1:37441/) ...
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(['(', ')']).nth(1).unwrap_or_else(|| panic!("python3 says {line:?}")).to_owned();
        Some(Self { child, url })
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Builds the page once, by the profile of tests unless another is asked for. `None` without Rust's target.
fn build() -> Option<&'static str> {
    static BUILT: OnceLock<Option<String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let target = ["--print", "target-libdir", "--target", "wasm32-unknown-unknown"];
        let libraries = Command::new("rustc").args(target).output().unwrap().stdout;
        if !Path::new(String::from_utf8_lossy(&libraries).trim()).is_dir() {
            return None;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let profile = std::env::var("PLAYGROUND_PROFILE").unwrap_or_else(|_| "playground-test".to_owned());
        let mut script = Command::new(root.join("scripts/playground"));
        let script = script.arg("--build").env("PLAYGROUND_PROFILE", profile).output().unwrap();
        assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
        // The script runs in the root.
        let target = root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
        Some(target.join("page").to_string_lossy().into_owned())
    });
    built.as_deref()
}
