//! Files in the user's cache folder: translations, the driver's pipeline caches, and results of self-tests.
//!
//! Many processes use the folder at a time. A file is written under a temporary name and then renamed, so that no
//! reader sees half of it. It contains the key it belongs to. Damaged files count as missing and are written again. The
//! folder's size is limited: the least recently used files are deleted first. Errors of reading and writing cost time,
//! but nothing else.

pub(crate) mod translations;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use etcetera::{BaseStrategy, choose_base_strategy};
use sha2::{Digest, Sha256};

/// Names the folder of cached files, instead of the user's cache folder; empty to disable the cache.
pub const CACHE_VARIABLE: &str = "PTX2SPV_CACHE";

/// Maximum bytes of all files.
const MOST: u64 = 512 << 20;

/// Bytes that a process writes between two checks of the limit.
const WRITTEN: u64 = 16 << 20;

/// Files used within this time count as just used, which saves an update of the file's time at each use.
const RECENT: Duration = Duration::from_secs(3600);

/// The kinds of files, by the prefix of their names.
const KINDS: [(&str, &str); 3] = [("code-", "translations"), ("pipelines-", "pipelines"), ("device-", "self-tests")];

/// The suffix of incomplete files.
const UNFINISHED: &str = ".part";

/// The folder in which translations, data of the driver's pipeline caches and results of self-tests are kept.
///
/// ```
/// use ptx2spv_runtime::Cache;
///
/// let cache = Cache::new(std::env::temp_dir().join("an-empty-folder-for-ptx2spv"));
/// assert!(cache.usage().iter().all(|usage| usage.files == 0));
/// println!("{:?}", Cache::of_user().map(|cache| cache.folder().to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// Usage of the cache by one kind of file.
///
/// ```
/// for usage in ptx2spv_runtime::Cache::of_user().iter().flat_map(|cache| cache.usage()) {
///     println!("{}: {} files, {} bytes", usage.kind, usage.files, usage.bytes);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheUsage {
    /// The kind of file.
    pub kind: &'static str,
    /// Number of files.
    pub files: u64,
    /// Bytes in all files.
    pub bytes: u64,
}

struct Found {
    path: PathBuf,
    kind: usize,
    bytes: u64,
    used: SystemTime,
    unfinished: bool,
}

impl Cache {
    /// The cache in the folder of [`CACHE_VARIABLE`], or else in the user's cache folder. `None` if the variable is
    /// empty, or there is no such folder.
    pub fn of_user() -> Option<Self> {
        let folder = match std::env::var_os(CACHE_VARIABLE) {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => choose_base_strategy().ok()?.cache_dir().join("ptx2spv"),
        };
        Some(Self { folder })
    }

    /// A cache in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The usage by each kind of file. Other files in the folder don't count.
    pub fn usage(&self) -> Vec<CacheUsage> {
        let found = self.list();
        let of_kind = |(number, (_, kind)): (usize, &(&str, &'static str))| {
            let files = || found.iter().filter(move |file| file.kind == number);
            CacheUsage { kind, files: files().count() as u64, bytes: files().map(|file| file.bytes).sum() }
        };
        KINDS.iter().enumerate().map(of_kind).collect()
    }

    /// Deletes all cached files, and returns their number. Other files in the folder stay.
    ///
    /// # Errors
    /// A file can't be deleted.
    pub fn clear(&self) -> io::Result<u64> {
        let mut count = 0;
        for file in self.list() {
            match fs::remove_file(file.path) {
                Ok(()) => count += 1,
                // Another process has deleted the file already.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// The path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The contents stored under a key.
    pub(crate) fn read(&self, kind: &str, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(&name(kind, key));
        let contents = unpack(key, fs::read(&path).ok()?)?;
        touch(&path);
        Some(contents)
    }

    /// Stores contents under a key.
    pub(crate) fn write(&self, kind: &str, key: &Key, contents: &[u8]) {
        if contents.len() as u64 <= MOST / 4 {
            self.write_file(&name(kind, key), &pack(key, contents));
        }
    }

    /// Writes a temporary file and renames it, so that readers never see an incomplete file.
    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let beside = self.path(&format!("{name}.{}-{number}{UNFINISHED}", std::process::id()));
        let _ = fs::create_dir_all(&self.folder);
        if fs::write(&beside, bytes).is_err() || fs::rename(&beside, self.path(name)).is_err() {
            let _ = fs::remove_file(&beside);
        }
        self.bound(bytes.len() as u64);
    }

    /// Counts written bytes, and shrinks the cache from time to time.
    fn bound(&self, written: u64) {
        static LEFT: AtomicU64 = AtomicU64::new(0);
        let spent = LEFT.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(written));
        if spent.is_err() {
            LEFT.store(WRITTEN, Relaxed);
            self.shrink(MOST);
        }
    }

    /// If there are more than `most` bytes, deletes the least recently used files until a quarter is free.
    fn shrink(&self, most: u64) {
        let mut found = self.list();
        let mut bytes: u64 = found.iter().map(|file| file.bytes).sum();
        let now = SystemTime::now();
        // An incomplete file of a killed process.
        let is_left = |file: &Found| file.unfinished && now.duration_since(file.used).is_ok_and(|age| age > RECENT);
        found.sort_by_key(|file| (!is_left(file), file.used));
        let bound = if bytes > most { most / 4 * 3 } else { most };
        for file in found {
            if !is_left(&file) && bytes <= bound {
                break;
            }
            if fs::remove_file(file.path).is_ok() {
                bytes -= file.bytes;
            }
        }
    }

    fn list(&self) -> Vec<Found> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let (name, data) = (entry.file_name().into_string().ok()?, entry.metadata().ok()?);
            let kind = KINDS.iter().position(|(prefix, _)| name.starts_with(prefix)).filter(|_| data.is_file())?;
            let unfinished = name.ends_with(UNFINISHED);
            Some(Found { path: entry.path(), kind, bytes: data.len(), used: data.modified().ok()?, unfinished })
        });
        found.collect()
    }
}

fn name(kind: &str, key: &Key) -> String {
    format!("{kind}-{}", key.name())
}

/// Notes that a file was used.
fn touch(path: &Path) {
    let now = SystemTime::now();
    let used = fs::metadata(path).and_then(|data| data.modified());
    if used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > RECENT)) {
        let _ = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(now));
    }
}

/// Changes with the format.
const MARK: &[u8; 8] = b"ptx2spv1";

const HASH: usize = 32;

/// The key of a file: a hash of everything that the contents depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key([u8; HASH]);

impl Key {
    /// The key of a list of parts. Their boundaries count too.
    pub fn new(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Half of the key in hexadecimal, for a file's name.
    pub fn name(&self) -> String {
        self.0[..HASH / 2].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Packs contents into a file.
pub(super) fn pack(key: &Key, contents: &[u8]) -> Vec<u8> {
    [&MARK[..], &key.0, &Sha256::digest(contents), contents].concat()
}

/// The contents of a file, if the file is complete and has this key.
pub(super) fn unpack(key: &Key, mut file: Vec<u8>) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(&MARK[..])?.strip_prefix(&key.0[..])?;
    let (hash, contents) = rest.split_at_checked(HASH)?;
    if Sha256::digest(contents)[..] != *hash {
        return None;
    }
    let length = contents.len();
    file.drain(..file.len() - length);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("not there yet"));
        (folder, cache)
    }

    fn key(text: &str) -> Key {
        Key::new(&[text.as_bytes()])
    }

    fn age(cache: &Cache, text: &str, hours: u32) -> PathBuf {
        let path = cache.path(&name("code", &key(text)));
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600) * hours).unwrap();
        path
    }

    #[test]
    fn what_was_written_is_read() {
        let (_folder, cache) = cache();
        assert_eq!(cache.read("code", &key("a")), None);
        assert_eq!(cache.clear().unwrap(), 0);
        cache.write("code", &key("a"), b"one");
        cache.write("pipelines", &key("a"), b"other");
        cache.write("code", &key("a"), b"two");
        fs::write(cache.path("notes.txt"), "not ours").unwrap();
        assert_eq!(cache.read("code", &key("a")).as_deref(), Some(&b"two"[..]));
        assert_eq!(cache.read("pipelines", &key("a")).as_deref(), Some(&b"other"[..]));
        // 72 bytes before the contents.
        let usage: Vec<_> = cache.usage().iter().map(|usage| (usage.kind, usage.files, usage.bytes)).collect();
        assert_eq!(usage, [("translations", 1, 75), ("pipelines", 1, 77), ("self-tests", 0, 0)]);
        assert_eq!(cache.clear().unwrap(), 2);
        assert_eq!((cache.read("code", &key("a")), cache.path("notes.txt").exists()), (None, true));
    }

    #[test]
    fn damaged_files_are_written_anew() {
        let (_folder, cache) = cache();
        cache.write("code", &key("a"), b"contents");
        let path = cache.path(&name("code", &key("a")));
        for damage in [&b""[..], b"ptx2spv1", &fs::read(&path).unwrap()[1..]] {
            fs::write(&path, damage).unwrap();
            assert_eq!(cache.read("code", &key("a")), None);
            cache.write("code", &key("a"), b"contents");
            assert_eq!(cache.read("code", &key("a")).as_deref(), Some(&b"contents"[..]));
        }
        // A file of another key in its place.
        fs::write(&path, pack(&key("b"), b"others")).unwrap();
        assert_eq!(cache.read("code", &key("a")), None);
    }

    #[test]
    fn the_oldest_goes_first() {
        let (_folder, cache) = cache();
        for text in ["a", "b", "c", "d"] {
            cache.write("code", &key(text), &[0; 28]);
        }
        let [a, b, c, d] = [("a", 30), ("b", 50), ("c", 10), ("d", 40)].map(|(text, hours)| age(&cache, text, hours));
        // One file left by a killed process, and one that is being written.
        let [left, written] = ["code-x.1-0.part", "code-y.1-0.part"].map(|name| cache.path(name));
        fs::write(&left, "x").unwrap();
        fs::write(&written, "y").unwrap();
        let old = SystemTime::now() - 2 * RECENT;
        fs::File::options().append(true).open(&left).unwrap().set_modified(old).unwrap();
        let there = |paths: [&PathBuf; 6]| paths.map(|path| path.exists());
        cache.shrink(1000);
        assert_eq!(there([&a, &b, &c, &d, &left, &written]), [true, true, true, true, false, true]);
        // Reading a file marks it as used. Each file has 100 bytes.
        assert!(cache.read("code", &key("b")).is_some());
        cache.shrink(400);
        assert_eq!(there([&a, &b, &c, &d, &left, &written]), [false, true, true, false, false, true]);
    }

    /// The folder that the test below writes to when run again as a process of its own, which is then killed.
    const WRITER: &str = "PTX2SPV_TEST_WRITER";

    #[test]
    fn a_killed_writer_damages_nothing() {
        let contents = |number: u8| vec![number; 300_000];
        if let Some(folder) = std::env::var_os(WRITER) {
            let cache = Cache::new(folder);
            for number in (0..8).cycle() {
                cache.write("code", &key(&number.to_string()), &contents(number));
            }
        }
        let (_folder, cache) = cache();
        let mut seen = 0;
        for kill in 0..20 {
            let mut writer = std::process::Command::new(std::env::current_exe().unwrap());
            writer.args(["--exact", "cache::tests::a_killed_writer_damages_nothing"]).env(WRITER, &cache.folder);
            let mut writer = writer.stdout(std::process::Stdio::null()).spawn().unwrap();
            // The writer is killed as soon as it starts to write, or some time after its first complete file.
            let before = cache.list().len();
            let writes = || match kill {
                0..8 => cache.list().len() != before,
                _ => cache.list().iter().any(|file| !file.unfinished),
            };
            while !writes() && writer.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_micros(if kill < 8 { 0 } else { 1_300 * kill }));
            writer.kill().unwrap();
            writer.wait().unwrap();
            for number in 0..8_u8 {
                let key = key(&number.to_string());
                let read = cache.read("code", &key);
                assert_eq!(read.is_some(), cache.path(&name("code", &key)).exists(), "a file that is not whole");
                if let Some(read) = read {
                    seen += 1;
                    assert!(read == contents(number), "others' contents");
                }
            }
        }
        assert!(seen > 0, "nothing was written");
        // Incomplete files of killed writers are deleted once they are old.
        for file in cache.list().into_iter().filter(|file| file.unfinished) {
            let old = SystemTime::now() - 2 * RECENT;
            fs::File::options().append(true).open(file.path).unwrap().set_modified(old).unwrap();
        }
        cache.shrink(MOST);
        assert!(cache.list().iter().all(|file| !file.unfinished));
    }

    #[test]
    fn many_write_at_once() {
        let (_folder, cache) = cache();
        let contents = |number: u8| vec![number; 10_000];
        std::thread::scope(|scope| {
            for number in 0..8_u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for _ in 0..30 {
                        cache.write("code", &key("shared"), &contents(number));
                        let read = cache.read("code", &key("shared")).expect("somebody's");
                        assert_eq!(read, contents(read[0]));
                    }
                });
            }
        });
        assert_eq!(cache.usage()[0].files, 1);
    }

    #[test]
    fn any_damage_is_seen() {
        let key = Key::new(&[b"a", b"bc"]);
        assert_ne!(key, Key::new(&[b"ab", b"c"]));
        let file = pack(&key, b"contents");
        assert_eq!(unpack(&key, file.clone()).as_deref(), Some(&b"contents"[..]));
        assert_eq!(unpack(&Key::new(&[b"x"]), file.clone()), None);
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!(unpack(&key, damaged), None, "byte {at}");
            assert_eq!(unpack(&key, file[..at].to_vec()), None, "{at} bytes");
        }
        assert_eq!(unpack(&key, pack(&key, b"")).as_deref(), Some(&b""[..]));
    }
}
