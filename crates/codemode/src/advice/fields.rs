//! Fields that a program reads of results, against the outputs that the tools declare.

use codecell_catalog::Operation;
use codecell_script::{FieldRead, Step, Target};

use super::schema::Schema;
use super::{Advice, cut, instead, spelled};

/// What every array has; a read of anything else takes it for another thing.
const ARRAY_MEMBERS: [&str; 41] = [
    "length",
    "at",
    "concat",
    "constructor",
    "copyWithin",
    "entries",
    "every",
    "fill",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "hasOwnProperty",
    "includes",
    "indexOf",
    "isPrototypeOf",
    "join",
    "keys",
    "lastIndexOf",
    "map",
    "pop",
    "push",
    "reduce",
    "reduceRight",
    "reverse",
    "shift",
    "slice",
    "some",
    "sort",
    "splice",
    "toLocaleString",
    "toReversed",
    "toSorted",
    "toSpliced",
    "toString",
    "unshift",
    "values",
];

/// What every object has.
const OBJECT_MEMBERS: [&str; 8] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "toJSON",
];

/// What the result of an MCP tool has.
const MCP_RESULT: [&str; 3] = ["content", "structuredContent", "isError"];

pub(super) fn judge(advice: &mut Advice<'_>) {
    let calls = advice.calls;
    for read in &calls.reads {
        if advice.found.len() >= super::MAX_FINDINGS {
            return;
        }
        let Some(call) = calls.calls.get(read.call) else {
            continue;
        };
        // `callRaw` gives the whole result, which no schema describes.
        if matches!(call.target, Target::RawId(_)) || !advice.budget.take(1 + read.path.len()) {
            continue;
        }
        let Some(entry) = advice.entry(&call.target) else {
            continue;
        };
        let output = entry.output_schema.as_deref().map(Schema::root);
        let problem = match call.target {
            Target::Mcp(_) if entry.operation != Operation::Tool => None,
            Target::Mcp(_) => problem_of_mcp(read, output),
            _ => output.and_then(|output| problem_of(&read.path, read, output, "the result")),
        };
        if let Some(problem) = problem {
            let message = format!("{}: {problem}", spelled(&call.target));
            advice.say("unknown_field", read.offset, message);
        }
    }
}

/// What is wrong with a read of an MCP tool's result: its own value is a field of that.
fn problem_of_mcp(read: &FieldRead, output: Option<Schema<'_>>) -> Option<String> {
    match read.path.split_first() {
        None => {
            let field = read.field.as_str();
            let known = MCP_RESULT.contains(&field) || OBJECT_MEMBERS.contains(&field);
            (!known).then(|| {
                format!(
                    "the result of an MCP tool has no field `{}`; there are `content`, `structuredContent`, `isError`",
                    cut(field)
                )
            })
        }
        Some((Step::Field(own), rest)) if own == "structuredContent" => {
            problem_of(rest, read, output?, "`structuredContent`")
        }
        Some(_) => None,
    }
}

/// What is wrong with a read, if that is sure. `path` leads from what `output` describes, named `place`.
fn problem_of(path: &[Step], read: &FieldRead, output: Schema<'_>, place: &str) -> Option<String> {
    let mut at = output;
    let mut place = place.to_owned();
    for step in path {
        at = match step {
            Step::Field(name) => {
                place = format!("`{}` of {place}", cut(name));
                at.object()?.property(name)?
            }
            Step::Element => {
                place = format!("an element of {place}");
                at.items()?
            }
        };
    }
    let field = read.field.as_str();
    if at.array().is_some() {
        let is_index = field.parse::<u32>().is_ok();
        let known = is_index || ARRAY_MEMBERS.contains(&field) || field == "with";
        return (!known).then(|| format!("{place} is an array and has no field `{}`", cut(field)));
    }
    let object = at.object()?;
    if object.property(field).is_some() || OBJECT_MEMBERS.contains(&field) || !object.is_closed() {
        return None;
    }
    let names: Vec<&str> = object.names().collect();
    Some(format!(
        "{place} has no field `{}`{}",
        cut(field),
        instead(field, &names)
    ))
}
