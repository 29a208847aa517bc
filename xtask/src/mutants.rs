//! Switches off one defence after the other and looks whether a named test notices.
//!
//! The table is `xtask/mutants.json`: a place in a file, what stands there instead, and the test that
//! must then fail. Each mutation is made in a copy of the checkout below the build folder, built, and
//! that test alone is run. A test that hangs has noticed as well: switched-off deadlines do that. A
//! mutation that no longer applies is a defect of the table, which a unit test finds.
//!
//! What was seen is kept below the build folder by the mutation's own text, so that `--new` runs only
//! what was not run as it stands now, and `--table` can write `docs/technical/mutations.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// How long a named test may take: none takes a minute when nothing is wrong.
const PATIENCE: Duration = Duration::from_secs(180);

/// The page that `--table` writes, from the root.
const PAGE: &str = "docs/technical/mutations.md";

/// A change of one place.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// The file, from the root.
    file: String,
    /// The text, which occurs once.
    from: String,
    /// What stands there instead.
    to: String,
}

/// One mutation.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Mutant {
    /// What is switched off.
    name: String,
    /// Where and how.
    #[serde(flatten)]
    change: Change,
    /// Another place, where two defences stand one behind the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also: Vec<Change>,
    /// Where the test is: `lib` for unit tests, `it` for integration tests.
    kind: String,
    /// The test that must fail.
    test: String,
    /// Whether the guest has to be built again.
    #[serde(default)]
    guest: bool,
}

/// What became of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
enum Verdict {
    /// The test failed.
    Killed,
    /// The test never ended.
    Hung,
    /// The test passed: nothing noticed.
    Survived,
}

impl Mutant {
    fn changes(&self) -> impl Iterator<Item = &Change> {
        std::iter::once(&self.change).chain(&self.also)
    }

    /// What a verdict is kept under: another text is another mutation.
    fn key(&self) -> Result<String> {
        let text = serde_json::to_vec(self)?;
        Ok(blake3::hash(&text).to_hex().to_string())
    }
}

/// Runs the mutations whose names contain one of `only`, or all; with `new` only those that have not
/// been run as they stand now.
///
/// # Errors
/// When one survives, does not apply or does not build.
pub(crate) fn run(root: &Path, only: &[&str], new: bool) -> Result<()> {
    let target = target_folder(root);
    let mut seen = Seen::load(&target)?;
    let mut failed = Vec::new();
    for mutant in table(root)? {
        let named = only.is_empty() || only.iter().any(|part| mutant.name.contains(part));
        let key = mutant.key()?;
        if !named || (new && seen.verdicts.contains_key(&key)) {
            continue;
        }
        let started = Instant::now();
        let outcome = judge(root, &target, &mutant);
        let word = match &outcome {
            Ok(verdict) => format!("{verdict:?}"),
            Err(error) => format!("{error:#}"),
        };
        println!(
            "{:<50} {:<70} {word} ({} s)",
            mutant.name,
            mutant.test,
            started.elapsed().as_secs()
        );
        match outcome {
            Ok(Verdict::Survived) | Err(_) => failed.push(mutant.name),
            Ok(verdict) => {
                seen.verdicts.insert(key, verdict);
                seen.save()?;
            }
        }
    }
    if !failed.is_empty() {
        bail!("not noticed: {}", failed.join(", "));
    }
    Ok(())
}

/// Writes the page of the table, with what was seen of each mutation as it stands now.
///
/// # Errors
/// When a mutation was not run, or survived.
pub(crate) fn write_page(root: &Path) -> Result<()> {
    let seen = Seen::load(&target_folder(root))?;
    let mut page = String::from(
        "# Mutations\n\nEach row is a defence that was switched off in a copy of the checkout, and the test that then failed, \
         or never ended\n(hung). `cargo xtask mutants` runs them all, `cargo xtask mutants NAME..` those whose names contain a word, \
         `--new` those that\nwere not run as they stand now, and `--table` writes this page. The places and their replacements are in\n\
         `xtask/mutants.json`.\n\n| switched off | in | test | noticed |\n|---|---|---|---|\n",
    );
    for mutant in table(root)? {
        let verdict = seen
            .verdicts
            .get(&mutant.key()?)
            .with_context(|| format!("not run as it stands: {}", mutant.name))?;
        let noticed = match verdict {
            Verdict::Killed => "failed",
            Verdict::Hung => "hung",
            Verdict::Survived => bail!("survived: {}", mutant.name),
        };
        let files: Vec<String> = mutant.changes().map(|c| format!("`{}`", c.file)).collect();
        writeln!(
            page,
            "| {} | {} | `{}` | {noticed} |",
            mutant.name,
            files.join(", "),
            mutant.test
        )?;
    }
    std::fs::write(root.join(PAGE), page).context(PAGE)
}

/// What was seen of mutations, by their keys.
struct Seen {
    file: PathBuf,
    verdicts: BTreeMap<String, Verdict>,
}

impl Seen {
    fn load(target: &Path) -> Result<Self> {
        let file = target.join("mutants/seen.json");
        let verdicts = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).context("what was seen of mutations")?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { file, verdicts })
    }

    fn save(&self) -> Result<()> {
        let text = serde_json::to_string(&self.verdicts)?;
        std::fs::write(&self.file, text).context("what was seen of mutations")
    }
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
/// built again for nothing. The copy has a version of its own: dependencies from outside are shared with
/// the checkout's build, but nothing that is built of a mutation can be taken for the checkout's.
fn copy_tree(root: &Path, tree: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("git ls-files")?;
    let names = String::from_utf8(listed.stdout).context("a file name is not UTF-8")?;
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let Ok(mut bytes) = std::fs::read(root.join(name)) else {
            continue;
        };
        if name == "Cargo.toml" {
            bytes = own_version(bytes)?;
        }
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

fn own_version(manifest: Vec<u8>) -> Result<Vec<u8>> {
    let text = String::from_utf8(manifest).context("Cargo.toml is not UTF-8")?;
    let (head, rest) = text
        .split_once("\nversion = \"")
        .context("Cargo.toml has no version")?;
    let (version, rest) = rest.split_once('"').context("Cargo.toml has no version")?;
    Ok(format!("{head}\nversion = \"{version}+mutant\"{rest}").into_bytes())
}

fn mutate(text: &str, change: &Change) -> Result<String> {
    match text.matches(&change.from).count() {
        1 => Ok(text.replacen(&change.from, &change.to, 1)),
        count => bail!("the text occurs {count} times in {}", change.file),
    }
}

fn judge(root: &Path, target: &Path, mutant: &Mutant) -> Result<Verdict> {
    let tree = target.join("mutants/tree");
    copy_tree(root, &tree)?;
    for change in mutant.changes() {
        let file = tree.join(&change.file);
        let text = std::fs::read_to_string(&file)?;
        std::fs::write(&file, mutate(&text, change)?)?;
    }
    if mutant.guest {
        let built = cargo(&tree, target, &["xtask", "guest"]).status()?;
        if !built.success() {
            bail!("the guest does not build");
        }
    }
    let select: &[&str] = match mutant.kind.as_str() {
        "lib" => &["test", "--workspace", "--lib"],
        "it" => &["test", "--workspace", "--test", "it"],
        other => bail!("{other} is no kind of test"),
    };
    if mutant.kind == "it" {
        leave_out_other_tests(&tree, mutant)?;
    }
    let built = cargo(&tree, target, &[select, &["--quiet", "--no-run"]].concat()).status()?;
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
    watch(cargo(&tree, target, &[select, &words].concat()))
}

/// Takes the integration tests of crates that do not have this test out of the copy: building and
/// linking them would take most of the time. (Naming the crate would build other dependencies.)
fn leave_out_other_tests(tree: &Path, mutant: &Mutant) -> Result<()> {
    let (module, test) = mutant.test.rsplit_once("::").context("no module")?;
    let file = module.split("::").next().unwrap_or(module);
    for one in std::fs::read_dir(tree.join("crates"))? {
        let tests = one?.path().join("tests/it");
        let source = std::fs::read_to_string(tests.join(format!("{file}.rs"))).unwrap_or_default();
        let main = tests.join("main.rs");
        if main.exists() && !source.contains(test) && !tests.join(file).is_dir() {
            std::fs::remove_file(main)?;
        }
    }
    Ok(())
}

fn cargo(tree: &Path, target: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(words)
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
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
            for change in mutant.changes() {
                let text = std::fs::read_to_string(root.join(&change.file)).unwrap();
                mutate(&text, change).unwrap();
            }
            let (module, test) = mutant.test.rsplit_once("::").unwrap();
            let file = module.split("::").find(|part| *part != "tests").unwrap();
            let has_test = sources(root)
                .any(|(path, text)| path.to_string_lossy().contains(file) && text.contains(test));
            assert!(has_test, "{}", mutant.test);
        }
    }

    #[test]
    fn the_page_has_a_row_for_every_mutation_and_no_other() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
        let table = table(root).unwrap();
        for mutant in &table {
            let files: Vec<String> = mutant.changes().map(|c| format!("`{}`", c.file)).collect();
            let row = format!(
                "| {} | {} | `{}` | ",
                mutant.name,
                files.join(", "),
                mutant.test
            );
            assert!(page.contains(&row), "{row}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, table.len() + 1, "the heading and a row each");
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
