//! A light stemmer for English: it brings the forms of one verb or noun together.
//!
//! It strips a plural, then one of `-ing`, `-ed`, then an ending that makes a noun or adverb of a
//! verb, then a silent `e`. It only ever shortens, keeps at least three letters, leaves words alone
//! that hold anything but a to z, and is not meant to give real words: `create`, `creating`,
//! `creation` and `creator` all become `creat`. The table is in docs/technical/search-ranking.md.

/// The shortest stem, in letters.
const MIN_STEM: usize = 3;

/// The stem of a word in lower case.
pub(crate) fn stem(word: &str) -> &str {
    if word.len() <= MIN_STEM || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word;
    }
    let word = without_plural(word);
    let word = without_inflection(word);
    let word = without_derivation(word);
    without_final_vowel(word)
}

fn without_plural(word: &str) -> &str {
    let keeps_s = ["ss", "us", "is", "as", "os"]
        .iter()
        .any(|end| word.ends_with(end));
    if keeps_s || !word.ends_with('s') {
        return word;
    }
    let sibilant = ["sses", "xes", "ches", "shes", "zes"]
        .iter()
        .any(|end| word.ends_with(end));
    let cut = if sibilant || word.ends_with("ies") {
        2
    } else {
        1
    };
    shortened(word, cut)
}

fn without_inflection(word: &str) -> &str {
    for ending in ["ing", "ed"] {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        if rest.len() >= MIN_STEM && rest.bytes().any(is_vowel) {
            return undoubled(rest);
        }
    }
    word
}

/// `running` is `runn` by now; `calling` keeps both letters, as `call` does.
fn undoubled(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && !is_vowel(*b) && !matches!(b, b'l' | b's' | b'z') => {
            shortened(word, 1)
        }
        _ => word,
    }
}

fn without_derivation(word: &str) -> &str {
    const ENDINGS: [(&str, &str); 8] = [
        ("ation", "at"),
        ("ator", "at"),
        ("ition", "it"),
        ("tion", "t"),
        ("sion", "s"),
        ("ment", ""),
        ("ally", "al"),
        ("ly", ""),
    ];
    for (ending, kept) in ENDINGS {
        if word.ends_with(ending) {
            let stem_len = word.len() - ending.len() + kept.len();
            return if stem_len > MIN_STEM {
                &word[..stem_len]
            } else {
                word
            };
        }
    }
    match word.strip_suffix("er") {
        Some(rest) if rest.len() > MIN_STEM => undoubled(rest),
        _ => word,
    }
}

fn without_final_vowel(word: &str) -> &str {
    match word.as_bytes() {
        [.., b'e' | b'y' | b'i'] => shortened(word, 1),
        _ => word,
    }
}

fn is_vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// The word without its last `cut` letters, or the word itself if too little would be left.
fn shortened(word: &str, cut: usize) -> &str {
    match word.len() >= MIN_STEM + cut {
        true => &word[..word.len() - cut],
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_meet() {
        let groups = [
            "create creates created creating creation creator creations",
            "translate translates translation translator",
            "search searches searching searched",
            "query queries querying",
            "run running runner",
            "manage manages management",
            "call calls calling caller",
            "file files",
            "city cities",
            "delete deletes deleted deletion",
            "convert converter converting converts",
        ];
        for group in groups {
            let stems: Vec<_> = group.split(' ').map(stem).collect();
            assert!(
                stems.windows(2).all(|pair| pair[0] == pair[1]),
                "{group}: {stems:?}"
            );
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        for word in [
            "is", "s3", "bus", "status", "é", "naïves", "ing", "天气", "",
        ] {
            assert_eq!(stem(word), word);
        }
    }
}
