//! Programs that others wrote for code mode: each is prepared or refused with a sensible reason.
//!
//! The table of refusals, and of the programs taken for TypeScript, is a committed file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use codecell_script::{Language, PrepareOptions, prepare};

use crate::data;

#[test]
fn programs_of_other_projects() {
    let Some(rows) = data::rows("programs/test_authored.jsonl") else {
        return;
    };
    let mut report = String::new();
    let (mut prepared, mut refused) = (0, BTreeMap::<&str, usize>::new());
    for (number, row) in rows.iter().enumerate() {
        let code = row["code"].as_str().unwrap();
        match prepare(code, &PrepareOptions::default()) {
            Ok(program) => {
                prepared += 1;
                assert_eq!(
                    program.body.lines().count(),
                    code.lines().count(),
                    "program {number} keeps its lines"
                );
                if program.inferred {
                    writeln!(
                        report,
                        "{number}: typescript, {}",
                        row["lang"].as_str().unwrap()
                    )
                    .unwrap();
                }
            }
            Err(error) => {
                *refused.entry(error.kind()).or_default() += 1;
                writeln!(report, "{number}: {}: {error}", error.kind()).unwrap();
            }
        }
    }
    writeln!(report, "prepared {prepared}, refused {refused:?}").unwrap();
    insta::assert_snapshot!(report);
}

#[test]
fn programs_of_the_task_set() {
    let Some(rows) = data::rows("tasks/bfcl_replay.jsonl") else {
        return;
    };
    for row in &rows {
        for style in ["js_mcp_namespace", "js_tools_call"] {
            let Some(code) = row[style].as_str() else {
                continue;
            };
            let program = prepare(code, &PrepareOptions::default()).unwrap();
            assert_eq!(
                (program.body.as_str(), program.language),
                (code, Language::JavaScript)
            );
            assert_eq!(program.uses.mcp, code.contains("MCP."));
            assert_eq!(!program.uses.tools.is_empty(), code.contains("tools."));
            assert!(!program.uses.tools_dynamic && !program.uses.global_object);
        }
    }
}

#[test]
fn escape_programs_never_leave_the_wrapper() {
    let Some(rows) = data::rows("escapes/programs.jsonl") else {
        return;
    };
    for row in &rows {
        let Some(code) = row["code"].as_str() else {
            continue;
        };
        if let Ok(program) = prepare(code, &PrepareOptions::default()) {
            let again = prepare(&program.body, &PrepareOptions::default());
            assert!(again.is_ok(), "a prepared body can be prepared: {code}");
        }
    }
}
