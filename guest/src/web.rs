//! URLs and query strings: the native half of `URL` and `URLSearchParams`.
//!
//! A query is passed as its serialisation, which names the list of pairs exactly.

use url::Url;
use url::form_urlencoded::{self, Serializer};

use crate::codecs;
use crate::js::{self, Args, ErrorKind, JSValue, Js, Text, Val};

fn text(value: JSValue) -> Js<String> {
    Ok(Text::of(value)?.to_string_lossy())
}

fn optional(value: JSValue) -> Js<Option<String>> {
    if js::is_undefined(value) {
        return Ok(None);
    }
    text(value).map(Some)
}

fn parse(args: &Args<'_>) -> Js<Option<Url>> {
    let input = text(args.get(0))?;
    Ok(match optional(args.get(1))? {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&input)).ok(),
        None => Url::parse(&input).ok(),
    })
}

/// `urlParse(url, base)`: the parts in the order of the prelude's `PARTS`.
pub fn url_parse(args: &Args<'_>) -> Js<Val> {
    match parse(args)? {
        Some(url) => parts(&url),
        None => Err(js::throw_error(ErrorKind::Type, "Invalid URL")),
    }
}

/// `urlCanParse(url, base)`.
pub fn url_can_parse(args: &Args<'_>) -> Js<Val> {
    Ok(Val::bool(parse(args)?.is_some()))
}

fn parts(url: &Url) -> Js<Val> {
    use url::quirks;
    let origin = quirks::origin(url);
    let texts = [
        quirks::href(url),
        &origin,
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    let values = texts
        .iter()
        .map(|part| Val::string(part))
        .collect::<Js<Vec<_>>>()?;
    codecs::list(&values)
}

/// `urlSet(href, part, value)`: the parts afterwards; a value that does not fit changes nothing.
pub fn url_set(args: &Args<'_>) -> Js<Val> {
    use url::quirks;
    let value = text(args.get(2))?;
    let part = js::int_of(args.get(1));
    if part == 0 {
        return match Url::parse(&value) {
            Ok(url) => parts(&url),
            Err(_) => Err(js::throw_error(ErrorKind::Type, "Invalid URL")),
        };
    }
    let Ok(mut url) = Url::parse(&text(args.get(0))?) else {
        return Err(js::throw_error(ErrorKind::Type, "Invalid URL"));
    };
    let _ = match part {
        2 => quirks::set_protocol(&mut url, &value),
        3 => quirks::set_username(&mut url, &value),
        4 => quirks::set_password(&mut url, &value),
        5 => quirks::set_host(&mut url, &value),
        6 => quirks::set_hostname(&mut url, &value),
        7 => quirks::set_port(&mut url, &value),
        8 => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        9 => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        _ => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
    };
    parts(&url)
}

type Pairs = Vec<(String, String)>;

fn pairs(query: JSValue) -> Js<Pairs> {
    let query = text(query)?;
    let query = query.strip_prefix('?').unwrap_or(&query);
    Ok(form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect())
}

fn query(pairs: &Pairs) -> Js<Val> {
    let mut out = Serializer::new(String::new());
    out.extend_pairs(pairs);
    Val::string(&out.finish())
}

/// `queryNormal(text)`.
pub fn query_normal(args: &Args<'_>) -> Js<Val> {
    query(&pairs(args.get(0))?)
}

/// `queryAppend(query, name, value)`.
pub fn query_append(args: &Args<'_>) -> Js<Val> {
    let mut list = pairs(args.get(0))?;
    list.push((text(args.get(1))?, text(args.get(2))?));
    query(&list)
}

/// `queryDelete(query, name, value?)`.
pub fn query_delete(args: &Args<'_>) -> Js<Val> {
    let (mut list, wanted) = (pairs(args.get(0))?, wanted(args)?);
    list.retain(|pair| !wanted.matches(pair));
    query(&list)
}

struct Wanted {
    name: String,
    value: Option<String>,
}

impl Wanted {
    fn matches(&self, pair: &(String, String)) -> bool {
        pair.0 == self.name && self.value.as_ref().is_none_or(|value| *value == pair.1)
    }
}

fn wanted(args: &Args<'_>) -> Js<Wanted> {
    Ok(Wanted {
        name: text(args.get(1))?,
        value: optional(args.get(2))?,
    })
}

/// `queryHas(query, name, value?)`.
pub fn query_has(args: &Args<'_>) -> Js<Val> {
    let wanted = wanted(args)?;
    let list = pairs(args.get(0))?;
    Ok(Val::bool(list.iter().any(|pair| wanted.matches(pair))))
}

/// `queryGet(query, name)`.
pub fn query_get(args: &Args<'_>) -> Js<Val> {
    let wanted = wanted(args)?;
    let list = pairs(args.get(0))?;
    match list.iter().find(|pair| wanted.matches(pair)) {
        Some((_, value)) => Val::string(value),
        None => Ok(Val::null()),
    }
}

/// `queryGetAll(query, name)`.
pub fn query_get_all(args: &Args<'_>) -> Js<Val> {
    let wanted = wanted(args)?;
    let list = pairs(args.get(0))?;
    let found = list.iter().filter(|pair| wanted.matches(pair));
    let values = found
        .map(|pair| Val::string(&pair.1))
        .collect::<Js<Vec<_>>>()?;
    codecs::list(&values)
}

/// `querySet(query, name, value)`.
pub fn query_set(args: &Args<'_>) -> Js<Val> {
    let (name, value) = (text(args.get(1))?, text(args.get(2))?);
    let mut list = pairs(args.get(0))?;
    match list.iter().position(|pair| pair.0 == name) {
        Some(at) => {
            list[at].1 = value;
            let mut index = 0;
            list.retain(|pair| {
                index += 1;
                index <= at + 1 || pair.0 != name
            });
        }
        None => list.push((name, value)),
    }
    query(&list)
}

/// `querySort(query)`: by UTF-16 code units of the names, stable.
pub fn query_sort(args: &Args<'_>) -> Js<Val> {
    let mut list = pairs(args.get(0))?;
    list.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    query(&list)
}

/// `queryEntries(query)`: names and values, alternating.
pub fn query_entries(args: &Args<'_>) -> Js<Val> {
    let mut values = Vec::new();
    for (name, value) in pairs(args.get(0))? {
        values.push(Val::string(&name)?);
        values.push(Val::string(&value)?);
    }
    codecs::list(&values)
}
