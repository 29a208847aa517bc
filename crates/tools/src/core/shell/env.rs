//! The environment of a shell child.
//!
//! Invariant: nothing reaches a child that is not in [`CHILD_VARIABLES`], named `LC_*`, or given by the call itself, so
//! that provider keys in the program's own environment cannot leak into a command.

use std::collections::BTreeMap;

use crate::core::error::CoreError;

/// The variables that children get from the program's environment; every `LC_*` comes on top.
pub const CHILD_VARIABLES: [&str; 16] = [
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "SHELL",
    "TZ",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOPATH",
];

/// The variable by which the processes of a job are recognised, whatever group or session they moved to.
pub(super) const JOB_VARIABLE: &str = "CODECELL_JOB";

const MAX_VARIABLES: usize = 64;
const MAX_VALUE_BYTES: usize = 32 * 1024;

/// What of `env` a child may see, and the marks of the jobs that this program itself runs in.
pub(super) fn scrub(env: &[(String, String)]) -> (Vec<(String, String)>, String) {
    let allowed = |name: &str| CHILD_VARIABLES.contains(&name) || name.starts_with("LC_");
    let kept = env
        .iter()
        .filter(|(name, value)| allowed(name) && !value.contains('\0'))
        .cloned()
        .collect();
    let outer = env
        .iter()
        .find(|(name, _)| name == JOB_VARIABLE)
        .map(|(_, value)| value.clone());
    (kept, outer.unwrap_or_default())
}

/// Checks the variables that a call wants to add.
///
/// # Errors
/// [`CoreError::Input`] naming the variable.
pub(super) fn check(env: &BTreeMap<String, String>) -> Result<(), CoreError> {
    if env.len() > MAX_VARIABLES {
        return Err(CoreError::Input(format!(
            "env has {} variables, at most {MAX_VARIABLES} are taken",
            env.len()
        )));
    }
    for (name, value) in env {
        let named = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name != JOB_VARIABLE;
        if !named {
            return Err(CoreError::Input(format!(
                "env: {name:?} is not a usable variable name"
            )));
        }
        if value.contains('\0') || value.len() > MAX_VALUE_BYTES {
            return Err(CoreError::Input(format!(
                "env: the value of {name} has a NUL or more than {MAX_VALUE_BYTES} bytes"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_providers_do_not_pass() {
        let pairs = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "k"),
            ("LC_ALL", "C"),
            ("LD_PRELOAD", "x"),
            ("CODECELL_JOB", "outer."),
        ];
        let env: Vec<_> = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        let (kept, outer) = scrub(&env);
        let names: Vec<_> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, outer.as_str()), (vec!["PATH", "LC_ALL"], "outer."));
    }

    #[test]
    fn unusable_names_are_refused() {
        for name in ["", "A=B", "1A", "A B", JOB_VARIABLE] {
            assert!(
                check(&BTreeMap::from([(name.to_owned(), String::new())])).is_err(),
                "{name:?}"
            );
        }
        assert!(check(&BTreeMap::from([("_A1".to_owned(), "x".to_owned())])).is_ok());
    }
}
