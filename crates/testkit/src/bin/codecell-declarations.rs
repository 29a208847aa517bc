//! Writes declarations for another judge: `codecell-declarations FOLDER SEEDS`.
//!
//! One folder for the recorded servers, if they are there, one for the nasty ones, and one for each
//! seed; each with its files, a program that calls everything, and a configuration of the compiler.

#![expect(clippy::print_stderr, reason = "a command says what it did")]

use std::path::Path;
use std::process::ExitCode;

use codecell_testkit::servers::{Servers, calling_program, exploding, generated, nasty, real};

/// Made-up servers of one seed.
const SERVERS: usize = 25;

const CONFIGURATION: &str = r#"{
  "compilerOptions": {
    "strict": true, "noEmit": true, "target": "es2022", "lib": ["es2022"], "types": [],
    "noUnusedLocals": false, "exactOptionalPropertyTypes": true, "skipLibCheck": false
  },
  "include": ["**/*.ts"]
}
"#;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(seeds)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: codecell-declarations FOLDER SEEDS");
        return ExitCode::from(2);
    };
    match write_all(Path::new(&folder), seeds.parse().unwrap_or(0)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path, seeds: u64) -> Result<(), String> {
    if let Some(servers) = real("codecell-declarations")? {
        write(&folder.join("real"), &servers)?;
    }
    write(&folder.join("nasty"), &nasty()?)?;
    write(&folder.join("exploding"), &exploding()?)?;
    for seed in 0..seeds {
        let name = format!("seed-{seed}");
        write(&folder.join(name), &generated(seed, SERVERS))?;
    }
    Ok(())
}

fn write(folder: &Path, servers: &Servers) -> Result<(), String> {
    let catalog = servers.catalog().map_err(|error| error.to_string())?;
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    for file in catalog.declarations() {
        put(&file.path, &file.content)?;
    }
    put("calls.ts", &calling_program(&catalog))?;
    put("tsconfig.json", CONFIGURATION)
}
