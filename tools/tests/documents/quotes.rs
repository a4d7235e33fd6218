//! Blocks that documents quote from files are there: `<!-- quoted from: FILE -->` stands before such a block. Pieces between lines of `…`
//! are looked for one after another, whatever the indentation.

use crate::{documents, root};

const MARK: &str = "<!-- quoted from: ";

#[test]
fn quotes_are_in_their_files() {
    let mut count = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for part in text.split(MARK).skip(1) {
            let (file, rest) = part.split_once(" -->\n```").expect("a file's name, and a block");
            let block = rest.split_once('\n').unwrap().1.split("```").next().unwrap();
            let source = lines(&std::fs::read_to_string(root().join(file)).unwrap());
            let missing = missing(block, &source);
            assert!(missing.is_none(), "{}: {file} has no\n{}", document.display(), missing.unwrap());
            count += 1;
        }
    }
    assert!(count >= 4, "{count} quotes are too few to be all");
}

/// The first piece of a block that isn't in a text.
fn missing(block: &str, text: &str) -> Option<String> {
    let block = lines(block);
    let pieces = block.split("\n…\n").filter(|piece| !piece.is_empty());
    let mut rest = text;
    for piece in pieces {
        let piece = format!("\n{}\n", piece.trim_matches('\n'));
        match rest.find(&piece) {
            // The line's end may be the next one's beginning.
            Some(at) => rest = &rest[at + piece.len() - 1..],
            None => return Some(piece),
        }
    }
    None
}

/// A text's lines without their indentation, between line ends.
fn lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    format!("\n{}\n", lines.join("\n"))
}

#[test]
fn missing_pieces() {
    let text = lines("one\n  two\nthree\n");
    for block in ["two\nthree", "one\n…\nthree", "  one\n  two\nthree"] {
        assert_eq!(missing(block, &text), None, "{block}");
    }
    for block in ["two\none", "tw", "three\n…\none", "one\nthree"] {
        assert!(missing(block, &text).is_some(), "{block}");
    }
}
