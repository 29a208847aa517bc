//! Made-up servers: names that collide, texts that break out, schemas with every keyword right and wrong.
//!
//! A function of its seed. Most of what it makes is odd on purpose; some of it is plain, so that an
//! oracle that refuses everything is noticed.

use codecell_catalog::{Entry, McpServer, Operation, Source, ToolId};
use serde_json::{Map, Value, json};

use super::Servers;

/// Texts that end comments, templates, strings, lines or declarations, or mean something to objects.
pub const NASTY_TEXTS: &[&str] = &[
    "",
    "plain words",
    "*/ } } }; declare const broken: never; /*",
    "* /\n*\u{0}/ alert(1)",
    "`${process.exit(1)}`",
    "\"'\\\"; } namespace X {",
    "line one\r\nline two\u{2028}line three\u{2029}end",
    "\u{202e}txet desrever\u{2066}",
    "// comment\n/** @param x */",
    "@param input.fake - not a parameter\n@returns never",
    "</script><!-- --> ${x}",
    "\u{feff}\u{1b}[31mred\u{7f}",
    "日本語の説明 with emoji 🦀 and \u{10ffff}",
    "then",
    "toString",
    "__proto__",
    "constructor",
    "prototype",
    "delete",
    "class",
    "await",
    "yield",
    "undefined",
    "eval",
    "arguments",
    "resources",
    "prompts",
    "$api",
    "resources/list",
    "get-thing",
    "get_thing",
    "getThing",
    "get thing",
    "2fast",
    "42",
    "---",
    "Array",
    "Promise",
    "Record",
    "McpToolResult",
    "any",
    "string",
    "symbol",
    "readonly",
    "new",
    "a.b.c",
    "a/b:c",
    "日本",
    "ﬁ",
];

/// Servers from a seed: `count` of them, each with some tools.
#[must_use]
pub fn generated(seed: u64, count: usize) -> Servers {
    let mut dice = Dice(seed);
    let mut all = Servers::default();
    let mut ids = std::collections::HashSet::new();
    for number in 0..count {
        let name = match dice.below(4) {
            0 => dice
                .text()
                .replace(|c: char| c.is_control() || c == ':', "_"),
            1 => format!("{}-{number}", dice.pick(&["git", "Git", "GIT", "files"])),
            _ => format!("server {number}"),
        };
        if name.is_empty() || all.servers.iter().any(|known| known.name == name) {
            continue;
        }
        all.servers.push(McpServer {
            description: dice.flip().then(|| dice.text()),
            unavailable: (dice.below(8) == 0).then(|| dice.text()),
            name: name.clone(),
        });
        for _ in 0..dice.below(12) {
            let Ok(id) = ToolId::new(Source::Mcp, &name, &dice.text()) else {
                continue;
            };
            if Operation::OF_SERVER
                .iter()
                .any(|one| one.method() == id.name())
                || !ids.insert(id.clone())
            {
                continue;
            }
            let words = dice.text();
            let schema = dice.root();
            let mut entry = Entry::new(id, words, schema);
            entry.output_schema = dice.flip().then(|| dice.root().into());
            all.entries.push(entry);
        }
        for operation in Operation::OF_SERVER {
            if dice.flip() {
                all.entries.extend(super::operation(&name, operation));
            }
        }
    }
    all
}

/// A small source of chance, the same everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len()))
            .copied()
            .unwrap_or_default()
    }

    /// A nasty text, two of them, or any characters.
    fn text(&mut self) -> String {
        match self.below(4) {
            0 => {
                let length = self.below(12);
                (0..length).filter_map(|_| self.character()).collect()
            }
            1 => format!("{}{}", self.pick(NASTY_TEXTS), self.pick(NASTY_TEXTS)),
            _ => self.pick(NASTY_TEXTS).to_owned(),
        }
    }

    fn character(&mut self) -> Option<char> {
        let bound = match self.below(3) {
            0 => 0x80,
            1 => 0x3000,
            _ => 0x11_0000,
        };
        char::from_u32(self.below(bound) as u32)
    }

    /// A schema document, with definitions that speak of each other.
    fn root(&mut self) -> Value {
        let mut schema = match self.below(6) {
            0 => self.schema(0),
            1 => json!({"$ref": "#/$defs/a"}),
            _ => self.object(0),
        };
        if let Value::Object(fields) = &mut schema {
            let names = ["a", "b", "c/d", "*/", "__proto__"];
            let defs: Map<String, Value> = names
                .iter()
                .map(|name| ((*name).to_owned(), self.schema(1)))
                .collect();
            fields.insert("$defs".to_owned(), Value::Object(defs));
        }
        schema
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for _ in 0..self.below(6) {
            let name = self.text();
            if self.flip() {
                required.push(Value::from(name.as_str()));
            }
            let schema = self.schema(depth + 1);
            properties.insert(name, schema);
        }
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        match self.below(5) {
            0 => schema["additionalProperties"] = false.into(),
            1 => schema["additionalProperties"] = self.schema(depth + 1),
            2 => schema["patternProperties"] = json!({"^(a+)+$": self.schema(depth + 1)}),
            _ => {}
        }
        schema
    }

    fn schema(&mut self, depth: usize) -> Value {
        if depth > 4 {
            return json!({"type": "string"});
        }
        let mut schema = match self.below(17) {
            0 => {
                json!({"$ref": self.pick(&["#", "#/$defs/a", "#/$defs/b", "#/$defs/c~1d", "#/$defs/*~1", "#/nowhere", "https://example.org/x"])})
            }
            1 => json!({"anyOf": self.several(depth)}),
            2 => json!({"oneOf": self.several(depth)}),
            3 => json!({"allOf": self.several(depth)}),
            4 => json!({"enum": [self.text(), self.text(), -1, 1.5e300, null, true, {"a": 1}]}),
            5 => json!({"const": self.text()}),
            6 => json!({"type": ["string", "null", "integer"]}),
            7 => json!({"type": "array", "items": self.schema(depth + 1)}),
            8 => {
                json!({"type": "array", "prefixItems": self.several(depth), "items": self.schema(depth + 1), "minItems": self.below(3)})
            }
            9 => json!({"type": "array", "items": self.several(depth), "additionalItems": false}),
            10 => json!({"type": "string", "nullable": true, "default": self.text()}),
            11 => Value::Bool(self.flip()),
            12 => json!({"type": self.pick(&["odd", "any", "file"])}),
            13 => json!({"type": 5, "properties": [], "required": {}, "enum": "no"}),
            14 => json!({"type": "integer", "minimum": 0}),
            _ => self.object(depth),
        };
        if let Value::Object(fields) = &mut schema
            && self.flip()
        {
            fields.insert("description".to_owned(), self.text().into());
        }
        schema
    }

    fn several(&mut self, depth: usize) -> Vec<Value> {
        (0..self.below(4)).map(|_| self.schema(depth + 1)).collect()
    }
}
