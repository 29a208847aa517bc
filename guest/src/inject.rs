//! What the host says about the world of a cell: names, virtual files, globals to leave out.
//!
//! The injection is JSON of the host, parsed once; it is read by own data properties only.

use core::cell::RefCell;
use std::collections::BTreeMap;

use rquickjs_sys as sys;

use crate::js::{self, Js, Own, Text, Thrown, Val};
use crate::local::Local;
use crate::{intrinsics, tools};

/// The `api` part, kept for as long as the cell lives.
static API: Local<RefCell<Option<Val>>> = Local::new(RefCell::new(None));

/// Takes the injection; an empty one costs nothing.
pub fn take(text: &[u8]) -> Js<()> {
    if text.is_empty() {
        return Ok(());
    }
    let parsed = js::parse_json(&mut text.to_vec())?;
    if let Some(names) = js::own_data(parsed.raw(), "names") {
        tools::set_names(texts(&names)?);
    }
    if let Some(count) = js::own_data(parsed.raw(), "allTools") {
        let count = intrinsics::number_of(count.raw());
        if !count.is_nan() {
            crate::catalog::set_count(count as usize);
        }
    }
    if let Some(mcp) = js::own_data(parsed.raw(), "mcp") {
        crate::mcp::set_names(members(&mcp)?);
    }
    if let Some(absent) = js::own_data(parsed.raw(), "absent") {
        for name in texts(&absent)? {
            crate::globals::remove(&name)?;
        }
    }
    *API.borrow_mut() = js::own_data(parsed.raw(), "api");
    Ok(())
}

/// The items of an array.
pub fn items(array: &Val) -> Js<Vec<Val>> {
    if !js::is_object(array.raw()) {
        return Ok(Vec::new());
    }
    let length = intrinsics::array_length(array.raw())?;
    let mut items = Vec::with_capacity(length as usize);
    for index in 0..length {
        if let Own::Data(item) = intrinsics::array_item(array.raw(), index)? {
            items.push(item);
        }
    }
    Ok(items)
}

fn texts(array: &Val) -> Js<Vec<String>> {
    items(array)?
        .iter()
        .filter(|item| js::is_string(item.raw()))
        .map(|item| Ok(Text::of(item.raw())?.to_string_lossy()))
        .collect()
}

/// Pairs of a path and its keys.
fn members(pairs: &Val) -> Js<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for pair in items(pairs)? {
        if let [path, keys] = items(&pair)?.as_slice() {
            found.insert(Text::of(path.raw())?.to_string_lossy(), texts(keys)?);
        }
    }
    Ok(found)
}

/// One virtual file of `API`.
pub struct File {
    /// Its path.
    pub path: String,
    /// What it describes.
    pub description: Val,
    /// Size of its text in UTF-8, in bytes.
    pub bytes: f64,
    /// Where its text is.
    pub content: Content,
}

/// Where the text of a virtual file is.
pub enum Content {
    /// In the injection.
    Inline(Val),
    /// In the catalog region, as the entry with this index.
    Region(usize),
}

impl Content {
    /// The text.
    pub fn text(&self) -> Js<Val> {
        match self {
            Self::Inline(text) => Ok(text.clone()),
            Self::Region(index) => crate::catalog::text(*index),
        }
    }
}

/// All virtual files, in the host's order.
pub fn files() -> Js<Vec<File>> {
    let api = API.borrow().clone();
    let Some(list) = api.and_then(|api| js::own_data(api.raw(), "files")) else {
        return Ok(Vec::new());
    };
    items(&list)?.iter().map(file).collect()
}

fn file(entry: &Val) -> Js<File> {
    let field = |key: &str| match js::own_data(entry.raw(), key) {
        Some(value) if js::is_string(value.raw()) => Ok(value),
        _ => Val::string(""),
    };
    let (bytes, content) = match js::own_data(entry.raw(), "at") {
        Some(at) => {
            let bytes = js::own_data(entry.raw(), "bytes").unwrap_or_else(Val::undefined);
            let index = intrinsics::number_of(at.raw()) as usize;
            (intrinsics::number_of(bytes.raw()), Content::Region(index))
        }
        None => {
            let content = field("content")?;
            let bytes = Text::of(content.raw())?.bytes().len() as f64;
            (bytes, Content::Inline(content))
        }
    };
    Ok(File {
        path: Text::of(field("path")?.raw())?.to_string_lossy(),
        description: field("description")?,
        bytes,
        content,
    })
}

/// Freezes an object of the plumbing's own.
pub fn freeze(object: &Val) -> Js<()> {
    // SAFETY: the object is fresh and ordinary, so no user code runs.
    if unsafe { sys::JS_FreezeObject(js::ctx(), object.raw()) } < 0 {
        return Err(Thrown);
    }
    Ok(())
}
