//! The example that the README shows works, and the README shows it as it is.

#[path = "../examples/vector_add.rs"]
mod vector_add;

#[test]
fn example_runs() {
    vector_add::main().unwrap();
}

#[test]
fn readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let example = include_str!("../examples/vector_add.rs");
    assert!(readme.contains(&format!("```rust\n{example}```\n")), "README.md shows another `vector_add.rs`");
}
