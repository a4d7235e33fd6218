//! Links in documents lead to files that exist, and to headings that these have.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{documents, root};

#[test]
fn links_lead_somewhere() {
    let more =
        ["CONTRIBUTING.md", "CHANGELOG.md", "tools/README.md", "runtime/python/README.md", "runtime/toolkit/README.md"];
    let files = documents().into_iter().chain(more.map(|file| root().join(file)));
    let (mut count, mut broken) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for link in links(&text) {
            count += 1;
            if !leads_somewhere(&file, link) {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(count > 150, "only {count} links were found");
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// The targets of links to files of the repository and to headings, outside of code.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let is_none = |c: char| c == ':' || c == '…' || c.is_whitespace();
    targets.filter(|target| !target.contains(is_none)).collect()
}

fn leads_somewhere(from: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target: PathBuf = if file.is_empty() { from.to_owned() } else { from.parent().unwrap().join(file) };
    match heading {
        None => target.exists(),
        Some(heading) => fs::read_to_string(target).is_ok_and(|text| anchors(&text).any(|anchor| anchor == heading)),
    }
}

/// The names of headings in links: lower case, hyphens for spaces, without punctuation.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let prose = text.split("```").step_by(2).flat_map(str::lines);
    prose.filter(|line| line.starts_with('#')).map(|line| {
        let kept = line.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    })
}

#[test]
fn what_is_a_link() {
    let text = "a [b](c.md), [d](e.md#f-g) ![h](i.png) [j](https://k)\n```\n[l](m)\n```\n[n](#o)";
    assert_eq!(links(text), ["c.md", "e.md#f-g", "i.png", "#o"]);
    assert_eq!(anchors("# A b\n```\n# c\n```\n## `D_e`: f-g").collect::<Vec<_>>(), ["a-b", "d_e-f-g"]);
}
