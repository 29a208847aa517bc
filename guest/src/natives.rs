//! The table of native functions: an index, the function, and how many values are bound to it.

use crate::js::Native;
use crate::{
    api, catalog, codecs, conformance, dynamic, globals, intrinsics, mcp, output, prelude, random,
    results, timers, tools, web, yields,
};

macro_rules! natives {
    ($($(#[$doc:meta])* $index:ident = ($function:path, $bound:expr),)*) => {
        /// Index of a native function in [`TABLE`].
        #[derive(Clone, Copy)]
        #[repr(u16)]
        pub enum Index {
            $($(#[$doc])* $index,)*
        }

        /// The functions by index.
        pub static TABLE: &[(Native, usize)] = &[$(($function, $bound)),*];
    };
}

natives! {
    /// Callback over a map.
    CollectPair = (intrinsics::collect_pair, 0),
    /// Callback over a set.
    CollectItem = (intrinsics::collect_item, 0),
    /// `tools.search`.
    ToolsSearch = (tools::search, 0),
    /// `tools.describe`.
    ToolsDescribe = (tools::describe, 0),
    /// `tools.call`.
    ToolsCall = (tools::call, 0),
    /// `tools.callRaw`.
    ToolsCallRaw = (tools::call_raw, 0),
    /// `tools.<name>`.
    ToolByName = (tools::by_name, 1),
    /// `setTimeout`.
    SetTimeout = (timers::set_timeout, 0),
    /// `clearTimeout`.
    ClearTimeout = (timers::clear_timeout, 0),
    /// `text`.
    Text = (output::text, 0),
    /// `json`.
    Json = (output::json, 0),
    /// `console.*`.
    Console = (output::console, 1),
    /// `print`.
    Print = (conformance::print, 0),
    /// `Math.random`.
    MathRandom = (random::math_random, 0),
    /// `crypto.randomUUID`.
    RandomUuid = (random::random_uuid, 0),
    /// `yield_control`.
    YieldControl = (yields::yield_control, 0),
    /// `performance.now`.
    PerformanceNow = (globals::performance_now, 0),
    /// Constructors of functions.
    NoDynamicCode = (dynamic::no_dynamic_code, 0),
    /// `API.search`.
    ApiSearch = (api::search, 0),
    /// `API.list`.
    ApiList = (api::list, 0),
    /// `API.read`.
    ApiRead = (api::read, 0),
    /// `MCP.<server>.<tool>`; the target is bound.
    McpCall = (mcp::call, 1),
    /// `MCP.$api` and `MCP.<server>.$api`; the server is bound.
    McpApi = (mcp::api, 1),
    /// `results.save`.
    ResultsSave = (results::save, 0),
    /// `results.load`.
    ResultsLoad = (results::load, 0),
    /// `results.delete`.
    ResultsDelete = (results::delete, 0),
    /// `ALL_TOOLS`: a read.
    CatalogGet = (catalog::get, 0),
    /// `ALL_TOOLS`: `in`.
    CatalogHas = (catalog::has, 0),
    /// `ALL_TOOLS`: a property's descriptor.
    CatalogDescriptor = (catalog::descriptor, 0),
    /// `ALL_TOOLS`: a change.
    CatalogRefuse = (catalog::refuse, 0),
    /// Helper of the prelude.
    Define = (prelude::define, 0),
    /// Helper of the prelude.
    DefineHidden = (prelude::define_hidden, 0),
    /// Helper of the prelude.
    OwnData = (prelude::own_data, 0),
    /// Helper of the prelude.
    SetLength = (prelude::set_length, 0),
    /// Helper of the prelude.
    Kind = (prelude::kind, 0),
    /// Helper of the prelude.
    RegExpFlags = (prelude::regexp_flags, 0),
    /// Helper of the prelude.
    DataCloneError = (prelude::data_clone_error, 0),
    /// Helper of the prelude.
    MapItems = (prelude::map_items, 0),
    /// Helper of the prelude.
    SetItems = (prelude::set_items, 0),
    /// Helper of the prelude.
    Unbox = (prelude::unbox, 0),
    /// Helper of the prelude.
    Encode = (codecs::encode, 0),
    /// Helper of the prelude.
    EncodeInto = (codecs::encode_into, 0),
    /// Helper of the prelude.
    EncodingName = (codecs::encoding_name, 0),
    /// Helper of the prelude.
    Decode = (codecs::decode, 0),
    /// Helper of the prelude.
    UrlParse = (web::url_parse, 0),
    /// Helper of the prelude.
    UrlCanParse = (web::url_can_parse, 0),
    /// Helper of the prelude.
    UrlSet = (web::url_set, 0),
    /// Helper of the prelude.
    QueryNormal = (web::query_normal, 0),
    /// Helper of the prelude.
    QueryAppend = (web::query_append, 0),
    /// Helper of the prelude.
    QueryDelete = (web::query_delete, 0),
    /// Helper of the prelude.
    QueryHas = (web::query_has, 0),
    /// Helper of the prelude.
    QueryGet = (web::query_get, 0),
    /// Helper of the prelude.
    QueryGetAll = (web::query_get_all, 0),
    /// Helper of the prelude.
    QuerySet = (web::query_set, 0),
    /// Helper of the prelude.
    QuerySort = (web::query_sort, 0),
    /// Helper of the prelude.
    QueryEntries = (web::query_entries, 0),
    /// `ALL_TOOLS`: a question about the whole; the trap's name is bound.
    CatalogWhole = (catalog::whole, 1),
    /// Gives the value that is bound.
    BoundValue = (api::bound_value, 1),
    /// `$262.evalScript`; the realm is bound.
    TestEvalScript = (conformance::eval_script, 1),
    /// `$262.createRealm`.
    TestCreateRealm = (conformance::create_realm, 1),
    /// `$262.detachArrayBuffer`.
    TestDetach = (conformance::detach, 1),
    /// `$262.gc`.
    TestGc = (conformance::gc, 1),
    /// `$262.IsHTMLDDA`.
    TestNull = (conformance::null, 0),
}
