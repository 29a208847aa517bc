//! `${...}` in the texts of other clients' files.

/// What becomes of a variable of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableUse {
    /// Its value is put in.
    Resolve,
    /// It stays a variable, in our own spelling, so that its value is in no file.
    Keep,
}

/// What variables stand for.
#[derive(Clone, Copy)]
pub struct Variables<'a> {
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// What becomes of it.
    pub usage: VariableUse,
    /// What `${workspaceFolder}` stands for.
    pub workspace: &'a str,
    /// What `${userHome}` stands for, if there is a home folder.
    pub home: Option<&'a str>,
}

impl Variables<'_> {
    /// A text with its variables worked in, and what is to be said of them.
    ///
    /// # Errors
    /// Why the text cannot be used; a phrase that follows the key's name.
    pub(super) fn work_in(&self, text: &str) -> Result<(String, Vec<String>), String> {
        let mut result = String::new();
        let mut notes = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            result.push_str(&rest[..start]);
            let Some(end) = rest[start..].find('}').map(|end| start + end) else {
                break;
            };
            let (value, note) = self.one(&rest[start + 2..end])?;
            result.push_str(&value);
            notes.extend(note);
            rest = &rest[end + 1..];
        }
        result.push_str(rest);
        Ok((result, notes))
    }

    fn one(&self, inside: &str) -> Result<(String, Option<String>), String> {
        let plain = |value: &str| Ok((value.to_owned(), None));
        match inside {
            "workspaceFolder" | "workspaceRoot" | "cwd" => return plain(self.workspace),
            "workspaceFolderBasename" => {
                let last = self.workspace.rsplit('/').next();
                return plain(last.unwrap_or_default());
            }
            "userHome" => {
                let home = self
                    .home
                    .ok_or("uses ${userHome}, and there is no home folder")?;
                return plain(home);
            }
            "pathSeparator" | "/" => return plain("/"),
            _ => {}
        }
        if let Some(asked) = inside.strip_prefix("input:") {
            return Err(format!(
                "asks a person for ${{input:{asked}}}; write ${{env:NAME}} instead, and set that variable"
            ));
        }
        let named = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) = match named.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (named, None),
        };
        if !is_name(name) {
            return Err(format!("uses ${{{inside}}}, which codecell does not know"));
        }
        self.variable(name, default)
    }

    fn variable(
        &self,
        name: &str,
        default: Option<&str>,
    ) -> Result<(String, Option<String>), String> {
        let value = (self.env)(name).filter(|value| default.is_none() || !value.is_empty());
        let missing = || format!("needs the environment variable {name}, which is not set");
        match (self.usage, value, default) {
            (VariableUse::Resolve, Some(value), _) => Ok((value, None)),
            (VariableUse::Resolve, None, Some(default)) => Ok((default.to_owned(), None)),
            (VariableUse::Resolve, None, None) => Err(missing()),
            (VariableUse::Keep, None, Some(default)) => {
                let note = format!("{name} is not set, so its default is written down");
                Ok((default.to_owned(), Some(note)))
            }
            (VariableUse::Keep, value, _) if is_our_name(name) => {
                let note = value.is_none().then(|| format!("{} yet", missing()));
                Ok((format!("${{{name}}}"), note))
            }
            (VariableUse::Keep, Some(value), _) => {
                let note = format!(
                    "the value of {name} is written down, since its name has small letters"
                );
                Ok((value, Some(note)))
            }
            (VariableUse::Keep, None, None) => Err(missing()),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether our own configuration takes the name for a variable.
fn is_our_name(name: &str) -> bool {
    is_name(name) && !name.bytes().any(|b| b.is_ascii_lowercase())
}
