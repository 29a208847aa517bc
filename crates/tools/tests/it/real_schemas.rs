//! The schemas of real servers: each of them can be used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use codecell_tools::schema::ArgumentCheck;
use serde_json::{Value, json};

/// The folder of data from outside, if it is there.
fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CODECELL_DATA").map_or(beside, PathBuf::from);
    folder
        .join("mcp-tools")
        .is_dir()
        .then(|| folder.join("mcp-tools"))
}

#[test]
fn every_schema_of_a_real_server_compiles_and_judges() {
    let Some(folder) = data() else {
        eprintln!("skipped: set CODECELL_DATA to the folder of data from outside");
        return;
    };
    let mut tools = 0;
    let mut problems = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let server: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for tool in server["tools"].as_array().into_iter().flatten() {
            tools += 1;
            if let Err(problem) = judge(&tool["inputSchema"]) {
                problems.push(format!("{} {}: {problem}", path.display(), tool["name"]));
            }
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    assert!(tools > 500, "{tools}");
}

/// Every required argument is asked for by name, and a wrong kind of input is refused.
fn judge(schema: &Value) -> Result<(), String> {
    let check =
        ArgumentCheck::compile(Arc::new(schema.clone())).map_err(|error| error.to_string())?;
    if check.check(&json!([1])).is_ok() {
        return Err("an array passes".to_owned());
    }
    let required = schema["required"].as_array().map_or(0, Vec::len);
    let missing = match check.check(&json!({})) {
        Ok(()) => 0,
        Err(mismatch) => {
            let named = mismatch
                .problems
                .iter()
                .filter(|text| text.contains(" is missing"));
            named.count() + mismatch.more
        }
    };
    if missing != required {
        return Err(format!("{missing} of {required} are named as missing"));
    }
    Ok(())
}
