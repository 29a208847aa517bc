//! How close two names are: by letters, for slips of the keyboard, and by words, for names that a
//! model guessed.
//!
//! It ranks suggestions only; nothing is ever resolved by it.

/// The longest name that is compared letter by letter, in characters; what is longer is cut.
const MAX_COMPARED_CHARS: usize = 64;

/// The one of `names` that is closest to `asked`, if any is close.
pub fn nearest<'n>(asked: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let needle = Needle::new(asked);
    let ranked = names
        .into_iter()
        .filter_map(|name| Some((needle.distance(name)?, name)));
    ranked
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The name that was asked for, prepared for many comparisons.
pub(crate) struct Needle {
    letters: String,
    words: Vec<String>,
}

impl Needle {
    pub(crate) fn new(name: &str) -> Self {
        let name: String = name.chars().take(MAX_COMPARED_CHARS).collect();
        Self {
            letters: letters(&name),
            words: words(&name),
        }
    }

    /// How far `name` is, smaller is nearer; `None` when it is no sensible suggestion.
    ///
    /// By letters a third of the longer name may differ; by words, half of all words must agree.
    pub(crate) fn distance(&self, name: &str) -> Option<u32> {
        let name: String = name.chars().take(MAX_COMPARED_CHARS).collect();
        let by_letters = self.by_letters(&letters(&name));
        let by_words = self.by_words(&words(&name));
        match (by_letters, by_words) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The share of differing letters, in thousandths.
    fn by_letters(&self, other: &str) -> Option<u32> {
        let longer = self.letters.chars().count().max(other.chars().count());
        let difference = self.letters.len().abs_diff(other.len());
        let allowed = longer.div_ceil(3);
        // Bytes bound characters only for ASCII; elsewhere the cheap test is skipped.
        let ascii = self.letters.is_ascii() && other.is_ascii();
        if longer == 0 || (ascii && difference > allowed) {
            return None;
        }
        let edits = strsim::osa_distance(&self.letters, other);
        (edits <= allowed).then(|| thousandths(edits, longer))
    }

    /// The share of words that only one of the names has, in thousandths.
    fn by_words(&self, other: &[String]) -> Option<u32> {
        let shared = self
            .words
            .iter()
            .filter(|word| other.contains(word))
            .count();
        let all = self.words.len() + other.len() - shared.min(other.len());
        (shared > 0 && shared * 2 >= all).then(|| thousandths(all - shared, all))
    }
}

fn thousandths(part: usize, whole: usize) -> u32 {
    u32::try_from(part * 1000 / whole.max(1)).unwrap_or(u32::MAX)
}

fn letters(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

fn words(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    crate::search::text::each_term(name, &mut |term| {
        if !found.iter().any(|word| word == term) {
            found.push(term.to_owned());
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::Needle;

    #[test]
    fn slips_and_guesses_are_near_and_strangers_are_not() {
        let near = |asked: &str, name: &str| Needle::new(asked).distance(name).is_some();
        assert!(near("raed", "read"));
        assert!(near("readFile", "read_file"));
        assert!(near("file_read", "read_file"));
        assert!(near("get_issue", "issues_get"));
        assert!(near("list_issues", "list_all_issues"));
        assert!(!near("read", "write"));
        assert!(!near("ls", "grep"));
        assert!(!near("", "read"));
        assert!(!near("get_weather", "get_issue_comments"));
    }
}
