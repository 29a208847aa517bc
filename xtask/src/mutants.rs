//! Switches off one defence after the other and looks whether a named test notices.
//!
//! The table is `xtask/mutants.json`: a place in a file, what stands there instead, and the test that
//! must then fail. Each mutation is made in a copy of the checkout below the build folder, built, and
//! that test alone is run. A test that hangs has noticed as well: switched-off deadlines do that. A
//! mutation that no longer applies is a defect of the table, which a unit test finds.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// How long a named test may take: none takes a minute when nothing is wrong.
const PATIENCE: Duration = Duration::from_secs(180);

/// One mutation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    /// What is switched off.
    name: String,
    /// The file, from the root.
    file: String,
    /// The text, which occurs once.
    from: String,
    /// What stands there instead.
    to: String,
    /// Where the test is: `lib` for unit tests, `it` for integration tests.
    kind: String,
    /// The test that must fail.
    test: String,
    /// Whether the guest has to be built again.
    #[serde(default)]
    guest: bool,
}

/// What became of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The test failed.
    Killed,
    /// The test never ended.
    Hung,
    /// The test passed: nothing noticed.
    Survived,
}

/// Runs the mutations whose names contain one of `only`, or all.
///
/// # Errors
/// When one survives, does not apply or does not build.
pub(crate) fn run(root: &Path, only: &[&str]) -> Result<()> {
    let all = table(root)?;
    let wanted =
        |mutant: &&Mutant| only.is_empty() || only.iter().any(|part| mutant.name.contains(part));
    let mutants: Vec<&Mutant> = all.iter().filter(wanted).collect();
    let target = target_folder(root);
    let tree = target.join("mutants/tree");
    let mut survivors = 0;
    for mutant in mutants {
        copy_tree(root, &tree)?;
        let started = Instant::now();
        let verdict = judge(&tree, &target, mutant).with_context(|| mutant.name.clone())?;
        survivors += usize::from(verdict == Verdict::Survived);
        println!(
            "{:<50} {:<70} {verdict:?} ({} s)",
            mutant.name,
            mutant.test,
            started.elapsed().as_secs()
        );
    }
    if survivors > 0 {
        bail!("{survivors} mutations survived");
    }
    Ok(())
}

fn table(root: &Path) -> Result<Vec<Mutant>> {
    let file = root.join("xtask/mutants.json");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    serde_json::from_str(&text).context("the table of mutations")
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Copies what git knows, as it is on disk. Files that are the same are left alone, so that nothing is
/// built again for nothing.
fn copy_tree(root: &Path, tree: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("git ls-files")?;
    let names = String::from_utf8(listed.stdout).context("a file name is not UTF-8")?;
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let Ok(bytes) = std::fs::read(root.join(name)) else {
            continue;
        };
        let to = tree.join(name);
        if std::fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&to, bytes)?;
    }
    Ok(())
}

fn mutate(text: &str, mutant: &Mutant) -> Result<String> {
    match text.matches(&mutant.from).count() {
        1 => Ok(text.replacen(&mutant.from, &mutant.to, 1)),
        count => bail!("the text occurs {count} times in {}", mutant.file),
    }
}

fn judge(tree: &Path, target: &Path, mutant: &Mutant) -> Result<Verdict> {
    let file = tree.join(&mutant.file);
    let text = std::fs::read_to_string(&file)?;
    std::fs::write(&file, mutate(&text, mutant)?)?;
    if mutant.guest {
        let built = cargo(tree, target, &["xtask", "guest"]).status()?;
        if !built.success() {
            bail!("the guest does not build");
        }
    }
    let select: &[&str] = match mutant.kind.as_str() {
        "lib" => &["test", "--workspace", "--lib"],
        "it" => &["test", "--workspace", "--test", "it"],
        other => bail!("{other} is no kind of test"),
    };
    let built = cargo(tree, target, &[select, &["--quiet", "--no-run"]].concat()).status()?;
    if !built.success() {
        bail!("the mutation does not build");
    }
    let words = [
        "--quiet",
        "--no-fail-fast",
        "--",
        "--exact",
        mutant.test.as_str(),
    ];
    watch(cargo(tree, target, &[select, &words].concat()))
}

fn cargo(tree: &Path, target: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(words)
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs the test, in a process group of its own that can be ended as one.
fn watch(mut command: Command) -> Result<Verdict> {
    use std::os::unix::process::CommandExt as _;
    let mut child = command.stdout(Stdio::piped()).process_group(0).spawn()?;
    let Some(mut out) = child.stdout.take() else {
        bail!("the test says nothing");
    };
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        let _ = out.read_to_string(&mut said);
        said
    });
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= deadline {
            break None;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let Some(status) = status else {
        Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", child.id())])
            .status()?;
        child.wait()?;
        return Ok(Verdict::Hung);
    };
    let said = said.join().unwrap_or_default();
    if !said.contains("running 1 test") {
        bail!("there is no test of this name");
    }
    Ok(if status.success() {
        Verdict::Survived
    } else {
        Verdict::Killed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_applies_and_its_test_exists() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        for mutant in table(root).unwrap() {
            let text = std::fs::read_to_string(root.join(&mutant.file)).unwrap();
            mutate(&text, &mutant).unwrap();
            let (module, test) = mutant.test.rsplit_once("::").unwrap();
            let file = module.split("::").find(|part| *part != "tests").unwrap();
            let has_test = sources(root)
                .any(|(path, text)| path.to_string_lossy().contains(file) && text.contains(test));
            assert!(has_test, "{}", mutant.test);
        }
    }

    fn sources(root: &Path) -> impl Iterator<Item = (PathBuf, String)> {
        let listed = Command::new("git")
            .arg("ls-files")
            .current_dir(root)
            .output()
            .unwrap();
        let names = String::from_utf8(listed.stdout).unwrap();
        let root = root.to_owned();
        let names: Vec<String> = names
            .lines()
            .filter(|name| name.ends_with(".rs"))
            .map(str::to_owned)
            .collect();
        names.into_iter().filter_map(move |name| {
            let text = std::fs::read_to_string(root.join(&name)).ok()?;
            Some((PathBuf::from(name), text))
        })
    }
}
