//! The page in a headless Chromium: type, translate, run, see the picture, share, reload.
//!
//! Without Rust's target `wasm32-unknown-unknown` or without Chromium the tests are skipped. In CI that is a failure, unless the target is
//! missing for want of rustup.
//! `PTX2SPV_BLESS=1` takes the pictures in `docs/` anew.

mod devtools;
mod server;

use std::path::Path;

use serde_json::json;

use devtools::{Browser, Page, is_installed};
use server::Server;

/// A browser with the page, or `None` where that can't be had.
fn open() -> Option<(Server, Browser, Page)> {
    let Some(server) = Server::start() else {
        let reason = "Rust's target wasm32-unknown-unknown is not installed (rustup target add wasm32-unknown-unknown)";
        assert!(std::env::var_os("CI").is_none() || !is_installed("rustup"), "{reason}");
        eprintln!("skipped: {reason}");
        return None;
    };
    let Some(mut browser) = Browser::start() else {
        assert!(std::env::var_os("CI").is_none(), "Chromium is not installed");
        eprintln!("skipped: Chromium is not installed");
        return None;
    };
    let page = browser.open(&server.url);
    ready(&mut browser, &page);
    Some((server, browser, page))
}

fn ready(browser: &mut Browser, page: &Page) {
    browser.until(page, "document.documentElement.dataset.ready === '' && !!document.querySelector('#summary b')");
}

fn choose(browser: &mut Browser, page: &Page, example: &str) {
    browser.eval(
        page,
        &format!(
            "(() => {{ const list = document.getElementById('example'); list.value = '{example}'; list.dispatchEvent(new Event('change')); }})()"
        ),
    );
}

/// Chooses an example, runs it by the keyboard before its text may be there, and waits for its end.
fn run(browser: &mut Browser, page: &Page, example: &str) {
    choose(browser, page, example);
    start(browser, page);
}

fn start(browser: &mut Browser, page: &Page) {
    browser.eval(page, "document.getElementById('outcome').replaceChildren()");
    browser.key(page, "Enter", 2);
    browser.until(page, "!!document.querySelector('.verdict')");
}

/// Replaces the text.
fn replace(browser: &mut Browser, page: &Page, ptx: &str) {
    let script = format!(
        "(() => {{ const area = document.getElementById('ptx'); area.value = '{ptx}'; area.dispatchEvent(new Event('input')); }})()"
    );
    browser.eval(page, &script);
}

/// Starts a kernel without an end.
fn start_endless(browser: &mut Browser, page: &Page) {
    replace(browser, page, ".version 7.0\\n.target sm_50\\n.address_size 64\\n.entry k() { next: bra next; }");
    browser.until(page, "document.getElementById('kernel').value === 'k'");
    browser.key(page, "Enter", 2);
    browser.until(page, "!document.getElementById('stop').disabled");
}

/// The numbers that the first buffers show, as text.
fn numbers(browser: &mut Browser, page: &Page, buffer: usize) -> Vec<String> {
    let script = format!(
        "(() => {{ const box = document.querySelectorAll('.buffer')[{buffer}]; box.querySelector('.views button').click();
        return [...box.querySelectorAll('.numbers span:not(.rest)')].map((cell) => cell.textContent); }})()"
    );
    let cells = browser.eval(page, &script);
    cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
}

/// The number of steps of a point of the Mandelbrot set, by the same single operations as the kernel's.
fn mandelbrot(place: u16) -> u32 {
    let (column, row) = (f32::from(place % 192), f32::from(place / 192));
    let (cx, cy) = (column.mul_add(0.016, -2.2), row.mul_add(-0.016, 1.15));
    let (mut x, mut y, mut count) = (0_f32, 0_f32, 0);
    while count < 32 && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, (x + x).mul_add(y, cy));
        count += 1;
    }
    count
}

#[test]
fn the_picture_shows_what_the_kernel_computes() {
    let Some((_server, mut browser, page)) = open() else { return };
    start(&mut browser, &page);
    let colours = "(() => { const canvas = document.querySelector('canvas.picture');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const words = new Uint32Array(data.buffer);
        return [canvas.width, canvas.height, new Set(words).size, words[0] !== words[72 * 192 + 100]]; })()";
    let [width, height, count, differs] =
        <[_; 4]>::try_from(browser.eval(&page, colours).as_array().unwrap().clone()).unwrap();
    assert_eq!((width, height, differs), (json!(192), json!(144), json!(true)));
    assert!(count.as_u64() > Some(20), "{count} colours");
    let shown = numbers(&mut browser, &page, 0);
    let expected: Vec<String> = (0..1024).map(|place| mandelbrot(place).to_string()).collect();
    assert_eq!(shown, expected);
    browser.no_surprises(&page);
}

#[test]
fn other_examples_run_and_faults_are_found_at_their_lines() {
    let Some((_server, mut browser, page)) = open() else { return };
    run(&mut browser, &page, "reduction");
    // Blocks of 128 of the numbers 0 to 999.
    let sum = |block: u32| (128 * block..(128 * block + 128).min(1000)).sum::<u32>().to_string();
    assert_eq!(numbers(&mut browser, &page, 1), (0..8).map(sum).collect::<Vec<_>>());
    run(&mut browser, &page, "vector_add");
    let [a, b, c] = [0, 1, 2].map(|buffer| numbers(&mut browser, &page, buffer));
    let number = |text: &String| text.parse::<f32>().unwrap();
    for (index, ((a, b), c)) in a.iter().zip(&b).zip(&c).enumerate() {
        assert_eq!(number(a), index as f32);
        // Numbers are shown with six digits.
        assert!((number(a) + number(b) - number(c)).abs() <= number(c) * 6e-6, "{a} + {b} = {c}");
    }
    run(&mut browser, &page, "mma");
    let [a, b, d] = [0, 1, 2].map(|buffer| numbers(&mut browser, &page, buffer).iter().map(number).collect::<Vec<_>>());
    for (place, d) in d.iter().enumerate() {
        let (row, column) = (place / 8, place % 8);
        let product: f32 = (0..16).map(|k| a[16 * row + k] * b[16 * column + k]).sum();
        assert!((product - d).abs() < 1e-3, "row {row}, column {column}: {d} for {product}");
    }
    for (example, finding, instruction) in [
        ("race", "data race", ".shared.u32"),
        ("out_of_bounds", "out-of-bounds access", "ld.global.f32"),
        ("uninitialised", "uninitialised value", "ld.global.u32"),
    ] {
        run(&mut browser, &page, example);
        let found = "(() => { const text = document.querySelector('.problem.finding b').textContent;
            document.querySelector('.problem.finding').click();
            const area = document.getElementById('ptx');
            return [text, area.value.slice(area.selectionStart, area.selectionEnd), document.querySelectorAll('.finding-line').length]; })()";
        let [text, line, marked] = <[_; 3]>::try_from(browser.eval(&page, found).as_array().unwrap().clone()).unwrap();
        assert!(text.as_str().unwrap().contains(finding), "{example}: {text}");
        assert!(line.as_str().unwrap().contains(instruction), "{example}: {line}");
        assert!(marked.as_u64() > Some(0), "{example}");
    }
    browser.no_surprises(&page);
}

#[test]
fn what_is_typed_is_checked_translated_and_shared() {
    let Some((mut server, mut browser, page)) = open() else { return };
    // An instruction that PTX doesn't have, at the start of the kernel.
    let place = "(() => { const area = document.getElementById('ptx'); area.focus();
        const at = area.value.indexOf('    mov.u32'); area.setSelectionRange(at, at); })()";
    browser.eval(&page, place);
    browser.type_text(&page, "    jump there;\n");
    browser.until(&page, "document.querySelector('.error-mark')?.textContent.includes('jump')");
    let problem = browser.eval(&page, "document.querySelector('.problem').textContent");
    assert!(problem.as_str().unwrap().contains("unknown instruction `jump`"), "{problem}");
    // Another one, which is right.
    browser.eval(
        &page,
        "(() => { const area = document.getElementById('ptx'); const at = area.value.indexOf('    jump');
        area.setSelectionRange(at, at + 16); })()",
    );
    browser.type_text(&page, "    bar.sync 0; // mine\n");
    browser.until(&page, "!document.querySelector('.problem')");
    browser.until(&page, "document.querySelector('#spirv pre').textContent.includes('OpControlBarrier')");
    let stages = browser.eval(&page, "document.getElementById('stage').length");
    assert!(stages.as_u64() > Some(5), "{stages}");
    // Choices by the keyboard: the next tab, a device.
    browser.eval(&page, "document.getElementById('tab-run').focus()");
    browser.key(&page, "ArrowRight", 0);
    browser.until(&page, "!document.getElementById('stages').hidden && document.activeElement.id === 'tab-stages'");
    let choose = "(() => { const list = document.getElementById('preset'); list.value = 'mali'; list.dispatchEvent(new Event('change'));
        const width = document.querySelectorAll('.arguments .values')[0]; width.value = '191'; width.dispatchEvent(new Event('input', { bubbles: true })); })()";
    browser.eval(&page, choose);
    browser.until(&page, "document.querySelector('[name=grid0]').value = '11', document.querySelector('[name=grid0]').dispatchEvent(new Event('input', { bubbles: true })), true");
    browser.eval(&page, "document.getElementById('share').click()");
    browser.until(&page, "document.getElementById('note').textContent.startsWith('The link is in')");
    let hash = browser.eval(&page, "location.hash").as_str().unwrap().to_owned();
    assert!(hash.len() < 4000, "{} characters", hash.len());
    // Another visitor, and the same one again.
    let state = "[document.getElementById('ptx').value.includes('bar.sync 0; // mine'), document.getElementById('preset').value,
        document.querySelectorAll('.arguments .values')[0].value, document.querySelector('[name=grid0]').value,
        document.querySelector('[role=tab][aria-selected=true]').id]";
    let expected = json!([true, "mali", "191", "11", "tab-stages"]);
    let other = browser.open(&format!("{}{hash}", server.url));
    ready(&mut browser, &other);
    assert_eq!(browser.eval(&other, state), expected);
    browser.until(&other, "navigator.serviceWorker.ready.then(() => true)");
    // Without the server, from what the first visit has kept: all of the page's files.
    let kept = "caches.open('ptx2spv').then((kept) => kept.keys()).then((keys) => keys.map(({ url }) => new URL(url).pathname.slice(1)))";
    let mut kept: Vec<String> = serde_json::from_value(browser.eval(&other, kept)).unwrap();
    kept.sort();
    assert_eq!(kept, files());
    server.stop();
    browser.reload(&other);
    ready(&mut browser, &other);
    assert_eq!(browser.eval(&other, state), expected);
    start(&mut browser, &other);
    browser.no_surprises(&page);
}

#[test]
fn devices_are_compared_and_long_kernels_stop() {
    let Some((_server, mut browser, page)) = open() else { return };
    browser.eval(&page, "document.getElementById('tab-devices').click()");
    let rows = "[...document.querySelectorAll('#devices tbody tr')].map((row) => Number(row.cells[1].textContent))";
    browser.until(&page, &format!("{rows}.every((bytes) => bytes > 500)"));
    // Devices that lack something need more instructions.
    let least = browser.eval(&page, &format!("Math.max(...{rows}) > 2 * Math.min(...{rows})"));
    assert_eq!(least, json!(true));
    // Which of PTX translates, by a filter.
    browser.eval(&page, "document.getElementById('tab-support').click()");
    browser.until(&page, "document.querySelectorAll('#support tbody tr').length > 150");
    let filter = "(() => { const field = document.querySelector('#support input'); field.value = 'shfl'; field.dispatchEvent(new Event('input')); })()";
    browser.eval(&page, filter);
    let found =
        "[...document.querySelectorAll('#support tbody tr:not([hidden])')].map((row) => row.cells[0].textContent)";
    assert_eq!(browser.eval(&page, found), json!(["shfl"]));
    start_endless(&mut browser, &page);
    browser.eval(&page, "document.getElementById('stop').click()");
    browser.until(&page, "document.querySelector('.verdict')?.textContent.startsWith('stopped')");
    // And goes on.
    run(&mut browser, &page, "reduction");
    browser.no_surprises(&page);
}

/// The files that a visitor without a network needs, sorted.
fn files() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(page.join(folder)).unwrap().map(|entry| entry.unwrap());
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        files.map(|file| format!("{folder}{}", file.file_name().to_str().unwrap())).collect()
    };
    let made = ["", "ptx2spv.wasm", "support.md"].map(String::from);
    let all = [names(""), names("examples/"), made.into()].concat();
    let mut all: Vec<_> = all.into_iter().filter(|name| name != "offline.js").collect();
    all.sort();
    all
}

#[test]
fn results_are_those_of_the_text_that_is_shown() {
    let Some((_server, mut browser, page)) = open() else { return };
    // Two key strokes, one launch; the text changes while it runs.
    let script = "(() => { const post = Worker.prototype.postMessage; window.launches = 0;
        const area = document.getElementById('ptx');
        Worker.prototype.postMessage = function (message) {
            post.call(this, message);
            if (message.request?.ask !== 'run') return;
            window.launches++;
            if (!window.edits) return;
            area.value += '\\n// later';
            area.dispatchEvent(new Event('input'));
        };
        window.edits = true;
        for (let i = 0; i < 2; i++) dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true })); })()";
    browser.eval(&page, script);
    browser.until(&page, "document.getElementById('note').textContent.startsWith('The text has changed')");
    browser.until(&page, "!document.getElementById('start').disabled");
    assert_eq!(browser.eval(&page, "[window.launches, !!document.querySelector('.verdict')]"), json!([1, false]));
    browser.eval(&page, "window.edits = false");
    // Another example ends a kernel that runs.
    start_endless(&mut browser, &page);
    run(&mut browser, &page, "reduction");
    assert_eq!(numbers(&mut browser, &page, 1).len(), 8);
    browser.no_surprises(&page);
}

#[test]
fn the_text_that_was_asked_for_last_is_shown() {
    let Some((server, mut browser, page)) = open() else { return };
    // Answers to these requests wait.
    let script = "(() => { const get = window.fetch; window.held = [];
        window.fetch = async (place, ...more) => {
            const answer = await get(place, ...more);
            if (/race|mma/.test(place)) await new Promise((resolve) => window.held.push(resolve));
            return answer;
        }; })()";
    browser.eval(&page, script);
    choose(&mut browser, &page, "race");
    run(&mut browser, &page, "reduction");
    choose(&mut browser, &page, "mma");
    browser.until(&page, "window.held.length === 2");
    // A link with two kernels, the second of which is chosen, while the text of an example is on its way.
    let kernels = ".version 7.0\\n.target sm_50\\n.address_size 64\\n.entry one() { ret; }\\n.entry two() { ret; }";
    let script = format!(
        "import('{}state.js').then(({{ encode }}) => encode({{ ptx: '{kernels}', kernel: 'two' }})).then((hash) => {{ location.hash = hash; }})",
        server.url
    );
    browser.eval(&page, &script);
    let state = "JSON.stringify([document.getElementById('ptx').value.split('.entry').length, document.getElementById('kernel').value])";
    let expected = "JSON.stringify([3, 'two'])";
    browser.until(&page, &format!("{state} === {expected}"));
    browser.eval(&page, "window.held.forEach((resolve) => resolve())");
    start(&mut browser, &page);
    assert_eq!(browser.eval(&page, &format!("{state} === {expected}")), json!(true));
    browser.no_surprises(&page);
}

#[test]
fn numbers_get_the_bytes_of_their_type_or_are_refused() {
    let Some((server, mut browser, page)) = open() else { return };
    let mut parse = |ty: &str, text: &str| {
        let script = format!(
            "import('{}elements.js').then(({{ parse }}) => {{ try {{ return [...parse('{ty}', '{text}')]; }} catch {{ return null; }} }})",
            server.url
        );
        browser.eval(&page, &script)
    };
    for (text, bits) in [
        ("inf", 0x7c00_u16),
        ("-Infinity", 0xfc00),
        ("NaN", 0x7e00),
        ("65504", 0x7bff),
        // Halfway to the next, which would be 65536.
        ("65520", 0x7c00),
        ("-1.5e0", 0xbe00),
        ("6e-8", 1),
        ("0x3c01", 0x3c01),
    ] {
        assert_eq!(parse("f16", text), json!(bits.to_le_bytes()), "{text}");
    }
    assert_eq!(parse("f32", "-inf .5"), json!([f32::NEG_INFINITY.to_le_bytes(), 0.5_f32.to_le_bytes()].concat()));
    assert_eq!(parse("u32", "4e9, -1"), json!([4_000_000_000_u32.to_le_bytes(), [255; 4]].concat()));
    assert_eq!(parse("s32", "-2.5e1 0xffffffff"), json!([(-25_i32).to_le_bytes(), [255; 4]].concat()));
    // More digits than doubles have.
    for text in ["9007199254740993e0", "9007199254740993.0", "90071992547409930e-1"] {
        assert_eq!(parse("u64", text), json!(9_007_199_254_740_993_u64.to_le_bytes()), "{text}");
    }
    assert_eq!(parse("u64", "1e19 0e999"), json!([10_000_000_000_000_000_000_u64, 0].map(u64::to_le_bytes).concat()));
    for (ty, text) in [
        ("u32", "1e10"),
        ("s32", "3e9"),
        ("s32", "3000000000"),
        ("s32", "0x100000000"),
        ("u8", "1e3"),
        ("u64", "1e30"),
        ("u64", "1e999999999"),
        ("u32", "1.5"),
        ("u32", "1e-999999999"),
        ("u32", "inf"),
        ("u32", "0b1"),
        ("f32", "nanook"),
        ("f32", "infant"),
        ("f32", "1e"),
        ("f32", "."),
        ("f16", "0x10000"),
    ] {
        assert_eq!(parse(ty, text), json!(null), "{ty} {text}");
    }
}

#[test]
fn links_of_any_content_open() {
    let Some((server, mut browser, page)) = open() else { return };
    let buffer = |count: u64| json!({"kind": "buffer", "type": "f32", "count": count, "fill": "zeros"});
    let launch = |args: serde_json::Value| json!({"grid": [7, 1, 1], "block": [1, 1, 1], "shared": 0, "args": args, "check": false, "subgroup": ""});
    let mut grid = |state: &serde_json::Value| {
        let hash =
            browser.eval(&page, &format!("import('{}state.js').then(({{ encode }}) => encode({state}))", server.url));
        let other = browser.open(&format!("{}#{}", server.url, hash.as_str().unwrap()));
        ready(&mut browser, &other);
        let grid = browser.eval(&other, "document.querySelector('[name=grid0]').value");
        browser.no_surprises(&other);
        grid
    };
    assert_eq!(grid(&json!({"example": "mma", "launch": launch(json!([buffer(16 << 20)]))})), json!("7"));
    // The example's own launch.
    for wrong in [
        json!({"grid": 5}),
        launch(json!(null)),
        launch(json!([null])),
        launch(json!([buffer((16 << 20) + 1)])),
        launch(json!([{"kind": "value", "text": 1}])),
    ] {
        assert_eq!(grid(&json!({"example": "mma", "launch": wrong})), json!("1"), "{wrong}");
    }
    assert_eq!(grid(&json!({"example": {}, "kernel": 5, "preset": [], "tab": 1, "stage": {}, "ptx": 7})), json!("12"));
    assert_eq!(grid(&json!("text")), json!("12"));
}

#[test]
fn parameters_begin_with_a_value_of_their_size() {
    let Some((_server, mut browser, page)) = open() else { return };
    let ptx = ".version 7.0\\n.target sm_50\\n.address_size 64\\n.entry k(.param .align 4 .f32 three[3]) { ret; }";
    replace(&mut browser, &page, ptx);
    browser.until(&page, "document.querySelectorAll('.arguments li').length === 1");
    assert_eq!(browser.eval(&page, "document.querySelector('.arguments .values').value"), json!("0, 0, 0"));
    start(&mut browser, &page);
    assert_eq!(browser.eval(&page, "document.querySelector('.verdict').className"), json!("verdict good"));
    browser.no_surprises(&page);
}

#[test]
fn the_page_suits_phones_and_dark_rooms() {
    let Some((_server, mut browser, page)) = open() else { return };
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = browser.eval(&page, ground);
    browser.call(
        &page,
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    assert_ne!(browser.eval(&page, ground), light);
    start(&mut browser, &page);
    let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    browser.call(&page, "Emulation.setDeviceMetricsOverride", phone);
    for tab in ["support", "devices", "stages", "spirv", "run"] {
        browser.eval(&page, &format!("document.getElementById('tab-{tab}').click()"));
        let width = browser.eval(&page, "document.documentElement.scrollWidth");
        assert_eq!(width, json!(390), "{tab}");
    }
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        let wide = json!({"width": 1280, "height": 960, "deviceScaleFactor": 1, "mobile": false});
        browser.call(&page, "Emulation.setDeviceMetricsOverride", wide);
        browser.picture(&page, "playground-dark.png");
        browser.call(&page, "Emulation.setEmulatedMedia", json!({"features": []}));
        browser.picture(&page, "playground.png");
        run(&mut browser, &page, "race");
        browser.picture(&page, "playground-race.png");
    }
    browser.no_surprises(&page);
}
