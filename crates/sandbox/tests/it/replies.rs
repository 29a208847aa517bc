//! Replies and arguments against the engine's own `JSON`: whatever the guest reads or writes by its faster ways must be
//! what `JSON.parse` and `JSON.stringify` make of it, errors included.

use codecell_sandbox::{Frame, Guest, GuestThread, Settlement, SettlementKind, Slice, StopHandle};

use crate::guest::{calls, start, value};
use crate::harness::{GUESTS, START_US, entry, on_thread};

/// Texts that are tried.
const CASES: usize = 400;

/// Reads each reply twice, as JSON and as a text for `JSON.parse`; gives the first text for which the two differ.
const READS: &str = "
    const same = (a, b) => {
        if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return Object.is(a, b);
        const [mine, theirs] = [Reflect.ownKeys(a), Reflect.ownKeys(b)];
        return Object.getPrototypeOf(a) === Object.getPrototypeOf(b) && Array.isArray(a) === Array.isArray(b)
            && Object.isExtensible(a) && mine.length === theirs.length
            && mine.every((key, at) => key === theirs[at] && sameSlot(a, b, key));
    };
    const sameSlot = (a, b, key) => {
        const [x, y] = [Object.getOwnPropertyDescriptor(a, key), Object.getOwnPropertyDescriptor(b, key)];
        return x.writable === y.writable && x.enumerable === y.enumerable && x.configurable === y.configurable
            && same(x.value, y.value);
    };
    const parse = (text) => {
        try { return { status: 'fulfilled', value: JSON.parse(text) } }
        catch (reason) { return { status: 'rejected', reason } }
    };
    for (;;) {
        const [got, text] = await Promise.allSettled([tools.call('json'), tools.call('text')]);
        if (text.value === 'end') return 'same';
        const want = parse(text.value);
        const equal = got.status === want.status
            && (got.status === 'fulfilled' ? same(got.value, want.value) : String(got.reason) === String(want.reason));
        if (!equal) return [text.value, got, want];
    }";

/// Sends what a text means, and beside it what `JSON.stringify` makes of that.
const WRITES: &str = "
    let text = 'null';
    while (text !== 'end') {
        const value = JSON.parse(text);
        [, text] = await Promise.all([tools.call('sent', { value }), tools.call('told', { text: JSON.stringify(value) })]);
    }";

/// Runs a program to its end, giving it each pair of replies in turn; `look` sees every slice.
fn converse(
    program: &str,
    replies: impl IntoIterator<Item = [(SettlementKind, String); 2]> + Send + 'static,
    mut look: impl FnMut(&Slice) + Send + 'static,
) -> Slice {
    let begun = start(program);
    on_thread(&GUESTS, move |thread| {
        let (mut guest, mut slice) = begun;
        for pair in replies {
            look(&slice);
            if calls(&slice).len() < 2 {
                break;
            }
            slice = answer(&mut guest, thread, &slice, &pair);
        }
        slice
    })
}

fn answer(
    guest: &mut Guest,
    thread: &GuestThread,
    slice: &Slice,
    pair: &[(SettlementKind, String); 2],
) -> Slice {
    let settle = |(call, (kind, payload)): (u32, &'_ (SettlementKind, String))| Settlement {
        call,
        kind: *kind,
        arrival_us: START_US,
        payload: Box::leak(payload.clone().into_boxed_str()),
    };
    let batch: Vec<_> = calls(slice).into_iter().zip(pair).map(settle).collect();
    let (now, stop) = (entry(20_000), StopHandle::new());
    guest.resume(thread, &batch, &now, &stop).unwrap()
}

/// Makes up JSON, and texts that are nearly JSON.
struct Author {
    state: u64,
    /// Whether half surrogate pairs may occur.
    halves: bool,
}

const KEYS: [&str; 14] = [
    "\"id\"",
    "\"name\"",
    "\"__proto__\"",
    "\"constructor\"",
    "\"7\"",
    "\"0\"",
    "\"4294967294\"",
    "\"-1\"",
    "\"\"",
    "\"é\"",
    "\"中\"",
    "\"a\\nb\"",
    "\"\\u0069d\"",
    "\"length\"",
];
const TEXTS: [&str; 14] = [
    "\"\"",
    "\"plain\"",
    "\"exactly8\"",
    "\"longer than a word of eight bytes\"",
    "\"é\"",
    "\"latin ÿ and more\"",
    "\"中文\"",
    "\"😀\"",
    "\"tab\\tquote\\\"slash\\/back\\\\slash\"",
    "\"\\u00e9\\u4e2d\\u0000\\b\\f\\r\\n\"",
    "\"\\ud83d\\ude00\"",
    "\"\u{7f}\u{80}\u{2028}\"",
    "\"\\ud800\"",
    "\"x\\udc00\\ud800y\"",
];
const WHOLE_TEXTS: usize = 12;
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "-0.0",
    "7",
    "-1",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "999999999999999",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.1",
    "0.07",
    "0.000001",
    "0.0000001",
    "1.005",
    "0.30000000000000004",
    "1e21",
    "1E-7",
    "5e-324",
    "1.7976931348623157e+308",
    "1e400",
    "100.250",
];
const MISTAKES: [&str; 16] = [
    "", ",", ":", "\"", "\\", "}", "]", "{", "[", "01", "-", "1.", "nul", "\u{1}", "\\u12", "é",
];

impl Author {
    /// The next number of a fixed sequence (SplitMix64).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random() % end as u64) as usize
    }

    fn one_of(&mut self, list: &[&str]) -> String {
        let at = self.below(list.len());
        list[at].to_owned()
    }

    fn space(&mut self) -> String {
        let spaces = ["", "", "", "", "", " ", "\n  ", "\t\r\n"];
        self.one_of(&spaces)
    }

    fn leaf(&mut self) -> String {
        let texts = if self.halves {
            TEXTS.len()
        } else {
            WHOLE_TEXTS
        };
        match self.below(8) {
            0 => self.one_of(&["true", "false", "null"]),
            1 | 2 => self.one_of(&TEXTS[..texts]),
            3 => self.one_of(&NUMBERS),
            4 => format!("{}", (self.random() as i64) >> (32 + self.below(32))),
            5 => format!("{:?}", f64::from_bits(self.random())),
            6 => format!("{}.{:02}", self.random() >> self.below(64), self.below(100)),
            _ => format!("\"{}\"", "r".repeat(self.below(40))),
        }
        .replace("NaN", "0")
        .replace("inf", "1e9")
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 1 } else { 4 }) {
            0 => self.leaf(),
            1 => self.rows(depth - 1),
            2 => self.object(depth - 1),
            _ => {
                let items: Vec<_> = (0..self.below(5)).map(|_| self.value(depth - 1)).collect();
                self.list('[', &items, ']')
            }
        }
    }

    fn list(&mut self, open: char, items: &[String], close: char) -> String {
        let inner = items.join(&format!("{},{}", self.space(), self.space()));
        format!("{open}{}{inner}{}{close}", self.space(), self.space())
    }

    fn member(&mut self, key: &str, depth: usize) -> String {
        let value = self.value(depth);
        format!("{key}{}:{}{value}", self.space(), self.space())
    }

    fn object(&mut self, depth: usize) -> String {
        let members: Vec<_> = (0..self.below(6))
            .map(|_| {
                let key = self.one_of(&KEYS);
                self.member(&key, depth)
            })
            .collect();
        self.list('{', &members, '}')
    }

    /// Objects with the same keys, most of them.
    fn rows(&mut self, depth: usize) -> String {
        let keys: Vec<_> = (0..1 + self.below(5)).map(|_| self.one_of(&KEYS)).collect();
        let rows: Vec<_> = (0..self.below(50))
            .map(|_| {
                let mut keys = keys.clone();
                if self.below(8) == 0 {
                    let at = self.below(keys.len());
                    keys[at] = self.one_of(&KEYS);
                    keys.truncate(1 + self.below(keys.len()));
                }
                let members: Vec<_> = keys
                    .iter()
                    .map(|key| format!("{key}:{}", self.value(depth / 2)))
                    .collect();
                format!("{{{}}}", members.join(","))
            })
            .collect();
        self.list('[', &rows, ']')
    }

    /// The text with a mistake somewhere, or by luck without one.
    fn spoiled(&mut self, text: &str) -> String {
        let cut = |at: usize| text.floor_char_boundary(at);
        let from = cut(self.below(text.len() + 1));
        let to = cut(text.len().min(from + self.below(4))).max(from);
        let mistake = self.one_of(&MISTAKES);
        format!("{}{mistake}{}", &text[..from], &text[to..])
    }
}

fn author(halves: bool) -> Author {
    Author { state: 1, halves }
}

#[test]
fn replies_are_read_as_the_engine_reads_them() {
    let mut author = author(true);
    let mut left = CASES;
    let texts = std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let text = author.value(3);
        let text = match author.below(4) {
            0 => author.spoiled(&text),
            _ => text,
        };
        // Short texts go another way, so some are made longer.
        Some(text + &" ".repeat([0, 300][author.below(2)]))
    });
    let long = format!("[\"{}\\u00e4\\n\"]", "x".repeat(300));
    let cut_short = (long.len() - 12..long.len()).map(move |end| long[..end].to_owned());
    let ends = std::iter::once("end".to_owned());
    let replies = texts.chain(cut_short).chain(ends).map(|text| {
        [
            (SettlementKind::ResolveJson, text.clone()),
            (SettlementKind::ResolveText, text),
        ]
    });
    let last = converse(READS, replies, |_| {});
    assert_eq!(value(&last), "\"same\"");
}

#[test]
fn arguments_are_written_as_the_engine_writes_them() {
    let mut author = author(false);
    let texts: Vec<String> = (0..CASES).map(|_| author.value(3)).collect();
    let ends = std::iter::once("end".to_owned());
    let replies = texts.into_iter().chain(ends).map(|text| {
        [
            (SettlementKind::ResolveJson, "null".to_owned()),
            (SettlementKind::ResolveText, text),
        ]
    });
    let look = |slice: &Slice| {
        let arguments: Vec<&str> = slice
            .frames
            .iter()
            .filter_map(|frame| match frame {
                Frame::Call { arguments, .. } => Some(&**arguments),
                _ => None,
            })
            .collect();
        let [sent, told] = arguments[..] else {
            panic!("{slice:?}");
        };
        let told: serde_json::Value = serde_json::from_str(told).unwrap();
        let told = told["text"].as_str().unwrap();
        assert_eq!(sent, format!("{{\"value\":{told}}}"));
    };
    let last = converse(WRITES, replies, look);
    assert_eq!(value(&last), "null");
}

#[test]
fn rows_of_one_reply_are_objects_of_their_own() {
    let rows: Vec<_> = (0..20)
        .map(|at| format!("{{\"a\":{at},\"b\":\"text {at}\"}}"))
        .collect();
    let text = format!("[{}]", rows.join(","));
    let (guest, slice) = start(
        "const rows = await tools.call('rows');
         const [first, second, third, fourth, ...rest] = rows;
         first.c = 1; delete second.a; Object.freeze(third); Object.setPrototypeOf(fourth, null);
         rest[0].a = 'changed'; Object.defineProperty(rest[1], 'a', { get: () => 'got', enumerable: true });
         return [first, Object.keys(second), third, 'toString' in fourth, rest[0], rest[1].a,
             rest.slice(2).every((row, at) => row.a === at + 6 && Object.keys(row).join() === 'a,b'
                 && Object.isExtensible(row) && 'toString' in row)]",
    );
    let reply = Settlement {
        call: calls(&slice)[0],
        kind: SettlementKind::ResolveJson,
        arrival_us: START_US,
        payload: text.leak(),
    };
    let (_, slice) = crate::harness::resume(&GUESTS, guest, vec![reply]);
    assert_eq!(
        value(&slice),
        r#"[{"a":0,"b":"text 0","c":1},["b"],{"a":2,"b":"text 2"},false,{"a":"changed","b":"text 4"},"got",true]"#
    );
}
