//! `API`: virtual declaration files, served from what the host gave; only `search` is a call.

use rquickjs_sys as sys;

use crate::abi::Method;
use crate::calls::Deferred;
use crate::inject::{self, File};
use crate::js::{self, Args, Js, Thrown, Val};
use crate::natives::Index;
use crate::{errors, tools};

/// The global, made at pre-initialisation.
pub fn global() -> Js<Val> {
    let api = Val::object()?;
    for (name, index, length) in [
        ("search", Index::ApiSearch, 2),
        ("list", Index::ApiList, 1),
        ("read", Index::ApiRead, 1),
    ] {
        js::define(
            &api,
            name,
            js::native(index, name, length, &[])?,
            sys::JS_PROP_ENUMERABLE,
        )?;
    }
    inject::freeze(&api)?;
    Ok(api)
}

/// `API.search(query, options)`.
pub fn search(args: &Args<'_>) -> Js<Val> {
    tools::with_list(Method::ApiSearch, b"", &[args.get(0), args.get(1)])
}

/// A promise that is settled already; an error of ours rejects it.
fn settled(outcome: Js<Val>) -> Js<Val> {
    let (promise, deferred) = Deferred::new()?;
    match outcome {
        Ok(value) => deferred.resolve(&value),
        Err(Thrown) => {
            let thrown = js::take_exception();
            if errors::is_uncatchable(&thrown) {
                return Err(js::throw(thrown));
            }
            deferred.reject(&thrown);
        }
    }
    Ok(promise)
}

/// `API.list(prefix?)`.
pub fn list(args: &Args<'_>) -> Js<Val> {
    settled(list_files(args))
}

/// `API.read(path)`.
pub fn read(args: &Args<'_>) -> Js<Val> {
    settled(read_file(args))
}

fn refusal(message: &str) -> Thrown {
    match errors::plumbing_error(message, Some("invalid_arguments")) {
        Ok(error) => js::throw(error),
        Err(thrown) => thrown,
    }
}

fn path_argument(args: &Args<'_>, what: &str) -> Js<String> {
    let path = tools::required_text(args.get(0), what)?.to_string_lossy();
    if path
        .split('/')
        .any(|segment| segment == "." || segment == "..")
    {
        return Err(refusal("paths of API have no . or .. segments"));
    }
    Ok(path)
}

fn list_files(args: &Args<'_>) -> Js<Val> {
    let prefix = if js::is_undefined(args.get(0)) {
        String::new()
    } else {
        path_argument(args, "API.list takes a path prefix such as \"mcp\"")?
    };
    let folder = prefix.trim_end_matches('/');
    let all = inject::files()?;
    let found = Val::array()?;
    let mut count = 0;
    for file in &all {
        if folder.is_empty() || is_below(&file.path, folder) {
            js::define_index(&found, count, row(file)?)?;
            count += 1;
        }
    }
    if count == 0 && !folder.is_empty() && folder != "mcp" {
        return Err(refusal(&format!(
            "API has no files below {folder:?}; API.list() names all"
        )));
    }
    let answer = Val::object()?;
    js::define(&answer, "files", found, sys::JS_PROP_C_W_E)?;
    Ok(answer)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn row(file: &File) -> Js<Val> {
    let row = Val::object()?;
    js::define(&row, "path", Val::string(&file.path)?, sys::JS_PROP_C_W_E)?;
    js::define(
        &row,
        "description",
        file.description.clone(),
        sys::JS_PROP_C_W_E,
    )?;
    js::define(&row, "bytes", Val::number(file.bytes), sys::JS_PROP_C_W_E)?;
    Ok(row)
}

fn read_file(args: &Args<'_>) -> Js<Val> {
    let path = path_argument(
        args,
        "API.read needs the path of a file that API.list names",
    )?;
    let all = inject::files()?;
    let Some(file) = all.iter().find(|file| file.path == path) else {
        let names: Vec<&str> = all.iter().take(8).map(|file| file.path.as_str()).collect();
        let known = if names.is_empty() {
            "there are none in this run".to_owned()
        } else {
            format!("there is {}", names.join(", "))
        };
        return Err(refusal(&format!("API has no file {path:?}; {known}")));
    };
    let content = file.content.text()?;
    let answer = Val::object()?;
    js::define(
        &answer,
        "path",
        Val::string(&file.path)?,
        sys::JS_PROP_C_W_E,
    )?;
    js::define(&answer, "content", content.clone(), sys::JS_PROP_C_W_E)?;
    js::define(
        &answer,
        "description",
        file.description.clone(),
        sys::JS_PROP_C_W_E,
    )?;
    js::define(
        &answer,
        "bytes",
        Val::number(file.bytes),
        sys::JS_PROP_C_W_E,
    )?;
    let text = js::native(Index::BoundValue, "toString", 0, &[content.raw()])?;
    js::define(
        &answer,
        "toString",
        text,
        sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE,
    )?;
    Ok(answer)
}

/// Gives what was bound when the function was made.
pub fn bound_value(args: &Args<'_>) -> Js<Val> {
    Ok(js::dup(args.bound(0)))
}
