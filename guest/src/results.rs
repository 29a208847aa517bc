//! `results`: values kept by the host for later cells of the same run.

use rquickjs_sys as sys;

use crate::abi::Method;
use crate::js::{self, Args, Js, Val};
use crate::natives::Index;
use crate::{calls, inject, tools};

/// The global, made at pre-initialisation.
pub fn global() -> Js<Val> {
    let results = Val::object()?;
    for (name, index, length) in [
        ("save", Index::ResultsSave, 2),
        ("load", Index::ResultsLoad, 1),
        ("delete", Index::ResultsDelete, 1),
    ] {
        let function = js::native(index, name, length, &[])?;
        js::define(&results, name, function, sys::JS_PROP_ENUMERABLE)?;
    }
    inject::freeze(&results)?;
    Ok(results)
}

/// `results.save(value, options)`.
pub fn save(args: &Args<'_>) -> Js<Val> {
    tools::with_list(Method::ResultsSave, b"", &[args.get(0), args.get(1)])
}

fn by_id(method: Method, what: &str, args: &Args<'_>) -> Js<Val> {
    let id = tools::required_text(args.get(0), what)?;
    calls::make_with(method, id.bytes(), b"null")
}

/// `results.load(id)`.
pub fn load(args: &Args<'_>) -> Js<Val> {
    by_id(
        Method::ResultsLoad,
        "results.load needs the id that results.save gave",
        args,
    )
}

/// `results.delete(id)`.
pub fn delete(args: &Args<'_>) -> Js<Val> {
    by_id(
        Method::ResultsDelete,
        "results.delete needs the id that results.save gave",
        args,
    )
}
