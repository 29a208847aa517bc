//! Makes random cases.

use super::{Case, Rng, Settling};

/// Nesting of expressions; deeper ones are plain calls.
const MAX_DEPTH: u32 = 4;

/// Makes the case of a seed.
#[must_use]
pub fn generate(seed: u64) -> Case {
    let mut writer = Writer {
        rng: Rng::new(seed),
        labels: 0,
        marks: 0,
        code: String::from(PRELUDE),
    };
    let statements = 2 + writer.rng.below(5);
    for _ in 0..statements {
        let statement = writer.statement(0);
        writer.code.push_str(&statement);
    }
    writer.code.push_str("return 'end';\n");
    let settlings = (0..writer.labels)
        .map(|_| settling(&mut writer.rng))
        .collect();
    Case {
        code: writer.code,
        settlings,
    }
}

const PRELUDE: &str = "const show = (v) => v instanceof AggregateError ? 'A[' + v.errors.map(show) + ']' : v instanceof Error ? 'E(' + v.message + ')' : JSON.stringify(v);\n\
    const log = (m, v) => text(m + ':' + show(v));\n\
    const sleep = (ms, v) => new Promise((r) => setTimeout(r, ms, v));\n\
    const call = (k) => tools.step({ k });\n";

fn settling(rng: &mut Rng) -> Settling {
    Settling {
        ok: rng.chance(65),
        priority: rng.below(1000) as u32,
        gap_us: rng.below(3000),
    }
}

struct Writer {
    rng: Rng,
    labels: u32,
    marks: u32,
    code: String,
}

impl Writer {
    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("'m{}'", self.marks)
    }

    fn call(&mut self) -> String {
        self.labels += 1;
        format!("call({})", self.labels - 1)
    }

    fn statement(&mut self, depth: u32) -> String {
        let mark = self.mark();
        match self.rng.below(if depth >= MAX_DEPTH { 2 } else { 9 }) {
            0 => format!("log({mark}, 0);\n"),
            1 => {
                let promise = self.promise(depth + 1);
                format!(
                    "try {{ log({mark}, await {promise}); }} catch (e) {{ log({mark} + '!', e); }}\n"
                )
            }
            2 => {
                let promise = self.promise(depth + 1);
                format!("{promise}.then((v) => log({mark}, v), (e) => log({mark} + '!', e));\n")
            }
            3 => {
                let body = self.statement(depth + 1);
                let promise = self.promise(depth + 1);
                format!(
                    "(async () => {{ try {{ await {promise};\n{body} }} catch (e) {{ log({mark}, e); }} finally {{ log({mark}, 'f'); }} }})();\n"
                )
            }
            4 => {
                let promises = self.promises(depth + 1);
                format!(
                    "try {{ for await (const v of [{promises}]) log({mark}, v); }} catch (e) {{ log({mark} + '!', e); }}\n"
                )
            }
            5 => {
                let (first, second) = (self.promise(depth + 1), self.promise(depth + 1));
                format!(
                    "try {{ const g = (async function* () {{ yield {first}; yield await {second}; }})(); for await (const v of g) log({mark}, v); }} catch (e) {{ log({mark} + '!', e); }}\n"
                )
            }
            6 => {
                let (held, between) = (self.promise(depth + 1), self.promise(depth + 1));
                format!(
                    "{{ const p = {held}; p.catch(() => {{}}); try {{ await {between}; }} catch (e) {{ log({mark} + '?', e); }} try {{ log({mark}, await p); }} catch (e) {{ log({mark} + '!', e); }} }}\n"
                )
            }
            7 => {
                let label = self.call();
                format!(
                    "setTimeout(() => {{ log({mark}, 't'); {label}.then((v) => log({mark}, v), (e) => log({mark} + '!', e)); }}, {});\n",
                    self.rng.below(4)
                )
            }
            _ => {
                let promise = self.promise(depth + 1);
                // Now and then a rejection that nobody handles.
                let tail = if self.rng.chance(15) {
                    ""
                } else {
                    ".catch(() => {})"
                };
                format!("{promise}.finally(() => log({mark}, 'f')){tail};\n")
            }
        }
    }

    fn promises(&mut self, depth: u32) -> String {
        let count = self.rng.below(4);
        (0..count)
            .map(|_| self.promise(depth))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn promise(&mut self, depth: u32) -> String {
        if depth >= MAX_DEPTH {
            return self.call();
        }
        match self.rng.below(16) {
            0..=4 => self.call(),
            5 => format!("sleep({}, 's')", self.rng.below(5)),
            6 => "Promise.resolve(1)".to_owned(),
            7 => "Promise.reject(new Error('r'))".to_owned(),
            8 => format!("Promise.all([{}])", self.promises(depth + 1)),
            9 => format!(
                "Promise.race([{}, {}])",
                self.promise(depth + 1),
                self.promise(depth + 1)
            ),
            10 => format!("Promise.any([{}])", self.promises(depth + 1)),
            11 => format!(
                "Promise.allSettled([{}]).then((r) => r.map((x) => x.status[0] + show(x.value ?? x.reason)))",
                self.promises(depth + 1)
            ),
            12 => {
                let (first, mark, next) = (
                    self.promise(depth + 1),
                    self.mark(),
                    self.promise(depth + 1),
                );
                format!("{first}.then((v) => {{ log({mark}, v); return {next}; }})")
            }
            13 => {
                let (first, mark, next) = (
                    self.promise(depth + 1),
                    self.mark(),
                    self.promise(depth + 1),
                );
                format!("{first}.catch((e) => {{ log({mark}, e); return {next}; }})")
            }
            14 => format!(
                "Promise.resolve({{ then(a, b) {{ {}.then(a, b); }} }})",
                self.promise(depth + 1)
            ),
            _ => {
                let (mark, inner) = (self.mark(), self.promise(depth + 1));
                format!("(async () => {{ log({mark}, 0); return {inner}; }})()")
            }
        }
    }
}
