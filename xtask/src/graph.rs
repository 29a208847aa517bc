//! The dependency graph: what ARCHITECTURE.md draws is what the manifests say.
//!
//! The drawing is the fenced block that starts with `arrows`; its lines read `a -> b, c`. A crate may
//! use what its line names and everything that those lead to, nothing else. The block that starts
//! with `confined` says which crates alone may name an outside dependency. Development dependencies
//! are free: tests may look at anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Compares the manifests below `root` with the drawing.
///
/// # Errors
///
/// One line for every arrow that is not drawn and every dependency outside its room.
pub(crate) fn check(root: &Path) -> Result<()> {
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let allowed = closure(&block(&page, "arrows")?);
    let confined = block(&page, "confined")?;
    let faults = faults(&manifests(root)?, &allowed, &confined);
    if !faults.is_empty() {
        bail!(
            "the graph is not the one that ARCHITECTURE.md draws:\n  {}",
            faults.join("\n  ")
        );
    }
    Ok(())
}

fn faults(real: &Edges, allowed: &Edges, confined: &Edges) -> Vec<String> {
    let mut faults = Vec::new();
    for (room, dependencies) in real {
        let Some(may) = allowed.get(room) else {
            faults.push(format!("{room} is not drawn"));
            continue;
        };
        for dependency in dependencies {
            if let Some(inner) = dependency.strip_prefix("codecell-") {
                if !may.contains(inner) {
                    faults.push(format!("{room} -> {inner} is not drawn"));
                }
            } else if let Some((pattern, rooms)) =
                confined.iter().find(|(p, _)| matches(p, dependency))
                && !rooms.contains(room)
            {
                faults.push(format!("{room} names {dependency}; {pattern} is confined"));
            }
        }
    }
    faults
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(pattern == name, |prefix| name.starts_with(prefix))
}

fn block(page: &str, name: &str) -> Result<Edges> {
    let opening = format!("```{name}\n");
    let (_, rest) = page
        .split_once(&opening)
        .with_context(|| format!("ARCHITECTURE.md has no block `{name}`"))?;
    let (body, _) = rest.split_once("```").context("the block is not closed")?;
    body.lines()
        .filter(|line| !line.trim().is_empty())
        .map(edge)
        .collect()
}

fn edge(line: &str) -> Result<(String, BTreeSet<String>)> {
    let (from, to) = line
        .split_once("->")
        .with_context(|| format!("no arrow in `{line}`"))?;
    let to = to
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty());
    Ok((from.trim().to_owned(), to.collect()))
}

fn closure(drawn: &Edges) -> Edges {
    let reach = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&String> = drawn.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next.clone()) {
                open.extend(drawn.get(next).into_iter().flatten());
            }
        }
        seen
    };
    drawn
        .keys()
        .map(|from| (from.clone(), reach(from)))
        .collect()
}

fn manifests(root: &Path) -> Result<Edges> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    Ok(packages.iter().filter_map(room).collect())
}

fn room(package: &Value) -> Option<(String, BTreeSet<String>)> {
    let name = package["name"].as_str()?;
    let room = name.strip_prefix("codecell-").unwrap_or(name).to_owned();
    let normal = package["dependencies"]
        .as_array()?
        .iter()
        .filter(|dependency| dependency["kind"].is_null());
    Some((
        room,
        normal
            .filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned()))
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Edges {
        text.lines().map(|line| edge(line).unwrap()).collect()
    }

    #[test]
    fn the_manifests_match_the_drawing() {
        check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_a_fault() {
        let allowed = closure(&edges("top -> middle\nmiddle -> bottom\nbottom ->"));
        let confined = edges("engine* -> bottom");
        let real =
            edges("top -> codecell-bottom, engine-x\nbottom -> codecell-top, engine-y\nattic ->");
        assert_eq!(
            faults(&real, &allowed, &confined),
            [
                "attic is not drawn",
                "bottom -> top is not drawn",
                "top names engine-x; engine* is confined"
            ]
        );
    }
}
