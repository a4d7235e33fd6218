//! Chromium by its DevTools protocol: messages of JSON through two pipes, each with a zero at its end.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

/// Whether there is a program of this name.
pub fn is_installed(name: &str) -> bool {
    Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser without a window.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _profile: tempfile::TempDir,
    last: u64,
    /// Errors of pages.
    surprises: Vec<String>,
    /// Addresses that pages have requested.
    requests: Vec<String>,
    origin: String,
}

/// A tab.
pub struct Page {
    session: String,
}

impl Browser {
    /// Starts Chromium, if it is installed.
    pub fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let name = names.into_iter().find(|name| is_installed(name))?;
        // The shell moves the pipes to where Chromium expects them.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", name])
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--window-size=1280,800",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self {
            child,
            to,
            from,
            _profile: profile,
            last: 0,
            surprises: Vec::new(),
            requests: Vec::new(),
            origin: String::new(),
        })
    }

    /// Opens a page in a new tab.
    pub fn open(&mut self, url: &str) -> Page {
        self.origin = url.split('#').next().unwrap_or_default().to_owned();
        let target = self.send(None, "Target.createTarget", json!({"url": "about:blank"})).unwrap();
        let options = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.send(None, "Target.attachToTarget", options).unwrap();
        let page = Page { session: attached["sessionId"].as_str().unwrap().to_owned() };
        for domain in ["Page.enable", "Runtime.enable", "Network.enable"] {
            self.call(&page, domain, json!({}));
        }
        self.call(&page, "Page.navigate", json!({"url": url}));
        page
    }

    pub fn reload(&mut self, page: &Page) {
        self.eval(page, "delete document.documentElement.dataset.ready");
        self.call(page, "Page.reload", json!({}));
    }

    /// Calls a method of the protocol for a page.
    pub fn call(&mut self, page: &Page, method: &str, params: Value) -> Value {
        self.send(Some(page), method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn send(&mut self, page: Option<&Page>, method: &str, params: Value) -> Result<Value, String> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(page) = page {
            message["sessionId"] = page.session.clone().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "Chromium has ended");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == json!(self.last) {
                let error = &answer["error"];
                return if error.is_null() { Ok(answer["result"].clone()) } else { Err(error.to_string()) };
            }
            let event = &answer["params"];
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.surprises.push(event["exceptionDetails"].to_string()),
                Some("Runtime.consoleAPICalled") if event["type"] == "error" => self.surprises.push(event.to_string()),
                Some("Network.requestWillBeSent") => {
                    self.requests.push(event["request"]["url"].as_str().unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
    }

    /// The value of an expression, awaited.
    pub fn eval(&mut self, page: &Page, script: &str) -> Value {
        self.try_eval(page, script).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    fn try_eval(&mut self, page: &Page, script: &str) -> Result<Value, String> {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let answer = self.send(Some(page), "Runtime.evaluate", params)?;
        let exception = &answer["exceptionDetails"];
        if exception.is_null() { Ok(answer["result"]["value"].clone()) } else { Err(exception.to_string()) }
    }

    /// Waits until an expression is true. It may fail before, as while the page loads.
    pub fn until(&mut self, page: &Page, script: &str) {
        let start = Instant::now();
        while self.try_eval(page, script) != Ok(json!(true)) {
            if start.elapsed() > PATIENCE {
                let state = self.eval(page, "document.body.innerText");
                panic!("never true: {script}\n{}\n{:?}", state.as_str().unwrap_or_default(), self.surprises);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key; 2 is Control.
    pub fn key(&mut self, page: &Page, key: &str, modifiers: u32) {
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "modifiers": modifiers});
            self.call(page, "Input.dispatchKeyEvent", params);
        }
    }

    /// Types into the element that has the focus.
    pub fn type_text(&mut self, page: &Page, text: &str) {
        self.call(page, "Input.insertText", json!({"text": text}));
    }

    /// Writes a picture of the page to `docs/`.
    pub fn picture(&mut self, page: &Page, name: &str) {
        let answer = self.call(page, "Page.captureScreenshot", json!({"format": "png", "optimizeForSpeed": false}));
        let bytes = BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name), bytes).unwrap();
    }

    /// Fails if scripts have failed, or asked other servers.
    pub fn no_surprises(&mut self, page: &Page) {
        self.eval(page, "1");
        assert_eq!(self.surprises, Vec::<String>::new());
        let foreign: Vec<_> =
            self.requests.iter().filter(|url| !url.starts_with(&self.origin) && !url.starts_with("data:")).collect();
        assert!(foreign.is_empty(), "{foreign:?}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
