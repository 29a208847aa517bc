//! The comment at the head of a test, which says how to run it: the part of YAML that the suite uses.

use super::{Negative, Test};

/// The test that a file is, by what its head says; `None` for a file without a head.
pub(super) fn read(path: &str, source: String) -> Option<Test> {
    let (_, rest) = source.split_once("/*---")?;
    let (head, _) = rest.split_once("---*/")?;
    let head = head.replace("\r\n", "\n").replace('\r', "\n");
    let phase = nested(&head, "negative", "phase");
    let name = nested(&head, "negative", "type");
    Some(Test {
        path: path.to_owned(),
        flags: list(&head, "flags"),
        includes: list(&head, "includes"),
        features: list(&head, "features"),
        negative: phase
            .zip(name)
            .map(|(phase, name)| Negative { phase, name }),
        source,
    })
}

/// What follows `key:` at the start of a line, and the indented lines after it.
fn entry<'h>(head: &'h str, key: &str) -> Option<(&'h str, Vec<&'h str>)> {
    let mut lines = head.lines();
    let first = lines.by_ref().find_map(|line| {
        let value = line.strip_prefix(key)?.strip_prefix(':')?;
        Some(value.trim())
    })?;
    let more = lines.take_while(|line| line.starts_with([' ', '\t', '-']) || line.is_empty());
    Some((first, more.collect()))
}

/// A list, in brackets (on one line or several) or with dashes.
fn list(head: &str, key: &str) -> Vec<String> {
    let Some((first, more)) = entry(head, key) else {
        return Vec::new();
    };
    let items: Vec<&str> = match first.strip_prefix('[') {
        Some(inline) => {
            let whole = std::iter::once(inline).chain(more);
            whole.flat_map(|line| line.split(',')).collect()
        }
        None => more
            .iter()
            .filter_map(|line| line.trim().strip_prefix('-'))
            .collect(),
    };
    let bare = items
        .iter()
        .map(|item| item.trim().trim_end_matches(']').trim());
    bare.filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

fn nested(head: &str, key: &str, field: &str) -> Option<String> {
    let (_, more) = entry(head, key)?;
    more.iter().find_map(|line| {
        let value = line.trim().strip_prefix(field)?.strip_prefix(':')?;
        Some(value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_lists_are_read() {
        let source = "// c\n/*---\ndescription: |\n  flags: [no]\nnegative:\n  phase: parse\n  type: SyntaxError\n\
                      flags: [onlyStrict, async]\nincludes:\n  - a.js\n  - b.js\nfeatures: [x,\n  y]\n---*/\nbody";
        let test = read("test/x.js", source.to_owned()).unwrap();
        assert_eq!(test.flags, ["onlyStrict", "async"]);
        assert_eq!(test.includes, ["a.js", "b.js"]);
        assert_eq!(test.features, ["x", "y"]);
        let negative = test.negative.unwrap();
        assert_eq!(
            (negative.phase.as_str(), negative.name.as_str()),
            ("parse", "SyntaxError")
        );
    }

    #[test]
    fn a_file_without_a_head_is_no_test() {
        assert!(read("test/x.js", "1".to_owned()).is_none());
    }
}
