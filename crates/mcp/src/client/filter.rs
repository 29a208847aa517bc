//! Which of a server's tools exist: `toolFilter`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::error::StartError;
use super::options::ToolFilter;

/// A filter that can be asked.
#[derive(Debug)]
pub(super) struct Filter {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Filter {
    /// Reads the patterns.
    ///
    /// # Errors
    /// [`StartError::Options`] for a pattern that is none.
    pub(super) fn new(options: &ToolFilter) -> Result<Self, StartError> {
        let include = (!options.include.is_empty()).then(|| globs(&options.include));
        Ok(Self {
            include: include.transpose()?,
            exclude: globs(&options.exclude)?,
        })
    }

    /// Whether a tool of this name exists.
    pub(super) fn admits(&self, tool: &str) -> bool {
        let is_included = self.include.as_ref().is_none_or(|set| set.is_match(tool));
        is_included && !self.excludes(tool)
    }

    /// Whether something of this name, that need not be a tool, was named to be left out.
    pub(super) fn excludes(&self, name: &str) -> bool {
        self.exclude.is_match(name)
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, StartError> {
    let bad = |error: globset::Error| StartError::Options(format!("toolFilter: {error}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(false).build();
        set.add(glob.map_err(bad)?);
    }
    set.build().map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(include: &[&str], exclude: &[&str]) -> Vec<&'static str> {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        let filter = Filter::new(&ToolFilter {
            include: texts(include),
            exclude: texts(exclude),
        });
        let filter = filter.unwrap();
        ["get_issue", "get_repo", "delete_repo", "admin/wipe"]
            .into_iter()
            .filter(|name| filter.admits(name))
            .collect()
    }

    #[test]
    fn what_is_excluded_is_out_whatever_is_included() {
        assert_eq!(admitted(&[], &[]).len(), 4);
        assert_eq!(admitted(&["get_*"], &[]), ["get_issue", "get_repo"]);
        assert_eq!(admitted(&["*_repo"], &["delete_*"]), ["get_repo"]);
        assert_eq!(admitted(&["*"], &["*wipe"]).len(), 3);
        assert_eq!(admitted(&["none"], &[]), [""; 0]);
    }
}
