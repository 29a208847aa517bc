//! Which pages may be laid out.
//!
//! Layout takes time and memory that grow with the square of nesting, of unclosed formatting and of table
//! cells, so a hostile page could cost minutes and gigabytes. What holds no readable text is cut out first; what remains
//! is laid out only if a cautious reading of its tags stays within bounds: a tag counts as closed only by its own end tag in its
//! own turn, and markup on whose reading parsers could differ is not tame.

/// Largest markup that is laid out, once scripts and the like are cut out.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_DEPTH: usize = 256;
/// Sum of the nesting over all tags.
const MAX_COST: usize = 1_000_000;
const MAX_CELLS: usize = 20_000;

/// Elements without readable text, or whose content is not read as markup.
const CUT: [&str; 14] = [
    "script", "style", "svg", "math", "noscript", "template", "iframe", "textarea", "title", "xmp",
    "noembed", "noframes", "object", "select",
];

/// Elements that have no end tag, or mostly go without one; none of them nests in itself without another between.
const UNCLOSED: [&str; 20] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "html", "body", "img", "input", "li",
    "link", "meta", "option", "p", "param", "source", "wbr",
];

/// `html` without comments and the elements of [`CUT`].
pub(super) fn cut(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let mut kept = String::with_capacity(html.len());
    let mut at = 0;
    while let Some(found) = lower[at..].find('<').map(|found| at + found) {
        kept.push_str(&html[at..found]);
        let rest = &lower[found + 1..];
        let end = if rest.starts_with("!--") {
            Some("-->".to_owned())
        } else {
            CUT.iter()
                .find(|name| name_of(rest) == **name)
                .map(|name| format!("</{name}"))
        };
        let Some(end) = end else {
            kept.push('<');
            at = found + 1;
            continue;
        };
        // Without an end the rest of the page belongs to it.
        let Some(close) = rest.find(&end).map(|close| found + 1 + close) else {
            return kept;
        };
        at = lower[close..]
            .find('>')
            .map_or(lower.len(), |length| close + length + 1);
    }
    kept.push_str(&html[at..]);
    kept
}

/// The name as parsers read it: from a letter to a space, `/` or `>`. Empty where no tag begins.
fn name_of(tag: &str) -> &str {
    if !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return "";
    }
    let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
    &tag[..tag.find(ends).unwrap_or(tag.len())]
}

/// Whether the layout of `html`, which was [`cut`], is bounded.
pub(super) fn is_tame(html: &str) -> bool {
    if html.len() > MAX_BYTES {
        return false;
    }
    let lower = html.to_ascii_lowercase();
    let mut open: Vec<&str> = Vec::new();
    let (mut cost, mut cells) = (0, 0);
    let mut at = 0;
    while let Some(found) = lower[at..].find('<').map(|found| at + found) {
        let rest = &lower[found + 1..];
        let (closing, name) = rest
            .strip_prefix('/')
            .map_or_else(|| (false, name_of(rest)), |rest| (true, name_of(rest)));
        if name.is_empty() && !rest.starts_with(['!', '?', '/']) {
            at = found + 1;
            continue;
        }
        let Some(length) = tag_length(rest) else {
            return false;
        };
        at = found + 1 + length;
        if CUT.contains(&name)
            || name == "plaintext"
            || rest.starts_with("!--")
            || rest.starts_with("![")
        {
            return false;
        }
        if closing {
            open.pop_if(|top| *top == name);
        } else if !name.is_empty() && !UNCLOSED.contains(&name) {
            open.push(name);
        }
        cells += usize::from(matches!(name, "td" | "th"));
        cost += open.len();
        if open.len() > MAX_DEPTH
            || cost > MAX_COST
            || cells > MAX_CELLS
            || has_wide_span(&rest[..length])
        {
            return false;
        }
    }
    true
}

/// Bytes up to and with the `>`; `None` where parsers could disagree on it, or for an unfinished tag.
fn tag_length(tag: &str) -> Option<usize> {
    let bytes = tag.as_bytes();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'>' => return Some(at + 1),
            b'<' => return None,
            b'=' if bytes
                .get(at.checked_sub(1)?)
                .is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'')) =>
            {
                return None;
            }
            b'=' => {
                at += 1;
                at += bytes[at..]
                    .iter()
                    .take_while(|b| b.is_ascii_whitespace())
                    .count();
                if let Some(quote @ (b'"' | b'\'')) = bytes.get(at).copied() {
                    at += 2 + bytes[at + 1..].iter().position(|b| *b == quote)?;
                }
            }
            b'"' | b'\'' if !bytes.starts_with(b"!") => return None,
            _ => at += 1,
        }
    }
}

/// A cell that claims to span a thousand columns or rows, or hides how many.
fn has_wide_span(tag: &str) -> bool {
    tag.split("span=").skip(1).any(|value| {
        let value = value.trim_start_matches(['"', '\'', ' ']);
        value.starts_with('&') || value.bytes().take_while(u8::is_ascii_digit).count() > 3
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_pages_are_tame() {
        let page = "<!DOCTYPE html><html><head><title>a < b</title><script>if (a<b) '</div>'</script></head><body class=\"x > y\">\
            <!-- note <div> --><div id=a><p>One<p>Two <b>bold</b> <a href='/x?a=1'>link</a><br/><ul><li>x<li>y</ul>\
            <table><tr><td colspan=\"2\">c</td></tr></table><svg><path d=\"\"/></svg> 1 < 2 && 3 <4</div></body></html>";
        let text = cut(page);
        assert!(is_tame(&text), "{text}");
        assert!(
            !text.contains("script") && !text.contains("svg") && !text.contains("note"),
            "{text}"
        );
    }

    #[test]
    fn bounds_hold_however_end_tags_are_faked() {
        let just = format!(
            "{}{}",
            "<div>".repeat(MAX_DEPTH),
            "</div>".repeat(MAX_DEPTH)
        );
        assert!(is_tame(&just));
        for piece in [
            "<div>",
            "<div></x>",
            "<div title='</div>'>",
            "<table><td><div></table>",
            "<b id=1>",
            "<div><p></div></p><i>",
            "<div/>",
            "<div><!x ></div>",
            "<div:x></div>",
            "<x a=b><y></x>",
        ] {
            let page = piece.repeat(MAX_DEPTH * 2 + 2);
            let tame = is_tame(&cut(&page));
            // The one that does close its tags.
            assert_eq!(tame, piece == "<div><!x ></div>", "{piece}");
        }
    }

    #[test]
    fn tables_and_doubtful_markup_are_refused() {
        let wide = [
            "<td colspan=1000>",
            "<td rowspan='99999'>",
            "<td colspan=\"&#49;0000\">",
        ];
        let doubtful = [
            "<a =\"x>",
            "<a b\"c>",
            "<a <b>",
            "<a",
            "<![CDATA[x]]>",
            "<plaintext>",
            "<a x=\"1\"=2>",
        ];
        for page in wide.iter().chain(&doubtful) {
            assert!(!is_tame(page), "{page}");
        }
        assert!(is_tame("<td colspan=999>"));
        assert!(!is_tame(&"<td>x</td>".repeat(MAX_CELLS + 1)));
        assert!(!is_tame(&"x".repeat(MAX_BYTES + 1)));
    }
}
