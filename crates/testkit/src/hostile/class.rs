//! The classes of attack and their lines: the suite's list, in our words.
//!
//! A line is a file of programs, or driven cases of that name, or both; a test counts them, so that
//! no line can lose its cases unnoticed.

/// One class.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its letter.
    pub letter: char,
    /// What it attacks.
    pub title: &'static str,
    /// Its lines: the name that ids carry, and what is tried.
    pub lines: &'static [(&'static str, &'static str)],
}

/// The class of this letter.
#[must_use]
pub fn class(letter: char) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.letter == letter)
}

/// Every class.
pub const CLASSES: &[Class] = &[
    Class {
        letter: 'A',
        title: "ambient authority",
        lines: &[
            ("globals", "the golden list of global names"),
            ("absent", "names that would give authority"),
            (
                "imports",
                "the module asks for nothing, and nothing leads out of it",
            ),
            (
                "clock",
                "clock, time zone and randomness are what policy says",
            ),
        ],
    },
    Class {
        letter: 'B',
        title: "dynamic code and modules",
        lines: &[
            ("eval", "direct and indirect eval"),
            ("function", "Function and its kin by every path"),
            ("import", "modules in every spelling"),
            ("words", "the words where they are harmless"),
            ("wrapper", "text that ends what is around it"),
            (
                "odd-text",
                "escapes, comments, marks and characters that parsers disagree on",
            ),
        ],
    },
    Class {
        letter: 'C',
        title: "tampering",
        lines: &[
            ("poison-call", "prototypes poisoned before a call"),
            (
                "poison-result",
                "prototypes poisoned before the result is converted",
            ),
            (
                "hooks",
                "toJSON, symbols and species that run during conversion",
            ),
            (
                "accessors",
                "getters and setters on indices, then and length",
            ),
            ("globals", "the given globals redefined, frozen, proxied"),
            (
                "forged-output",
                "output that the program did not make through the given functions",
            ),
        ],
    },
    Class {
        letter: 'D',
        title: "the bridge",
        lines: &[
            ("ids", "forged, reused and foreign ids"),
            ("settles", "answers that come twice or to the wrong call"),
            ("denied", "denied tools by id, case, prefix and look-alikes"),
            ("recursion", "into exec and wait by any route"),
            ("paths", "names that mean something to objects"),
            ("arguments", "arguments that are no plain JSON"),
            ("depth", "very deep and very wide, both ways"),
            ("size", "strings that are too large, both ways"),
            ("lies", "pointers and lengths that lie"),
            ("reentry", "the host is called while it converts"),
            ("check-use", "values that change between two looks"),
        ],
    },
    Class {
        letter: 'E',
        title: "processor time",
        lines: &[
            ("loops", "plain loops"),
            ("microtasks", "microtask storms"),
            ("joins", "huge arrays turned into text"),
            (
                "bigint",
                "huge integers: power, product, division, parse, print",
            ),
            (
                "array-likes",
                "array-likes of length 2^53 with every method",
            ),
            ("regexp", "catastrophic regular expressions"),
            ("json", "parsing and printing very much JSON"),
            ("strings", "repeat, split, replace, search"),
            ("sort", "inconsistent comparators"),
            ("parser", "texts that bomb the parser"),
            ("proxies", "endless proxies"),
            ("conversion", "work after the program has settled"),
            ("suspensions", "many small suspensions to reset a clock"),
            ("approval", "spinning while somebody is asked"),
        ],
    },
    Class {
        letter: 'F',
        title: "memory",
        lines: &[
            (
                "buffers",
                "typed arrays, resizable buffers, growth to the end",
            ),
            ("strings", "strings and ropes"),
            ("structures", "arrays, maps, objects, closures"),
            ("caught", "out of memory that is caught and gone on from"),
            ("resolver", "out of memory in a resolver, or while throwing"),
            ("claims", "errors that only claim to be out of memory"),
            ("output", "a million items"),
            ("promises", "very many pending promises and calls"),
            ("console", "console floods"),
            ("suspended", "growth between suspension and resumption"),
        ],
    },
    Class {
        letter: 'G',
        title: "stack",
        lines: &[
            ("plain", "plain recursion"),
            ("native", "recursion through built-in functions"),
            ("structures", "deep structures and wide spreads"),
            ("regexp", "nested regular expressions"),
        ],
    },
    Class {
        letter: 'H',
        title: "engine bugs",
        lines: &[
            (
                "typed-arrays",
                "resizing while a typed array is read or sorted",
            ),
            (
                "buffers",
                "transfer and detaching in the middle of an operation",
            ),
            ("iterators", "iterators that change what they iterate over"),
            ("arguments", "mapped arguments"),
            ("finalisers", "finalisers and weak references"),
            (
                "regexp",
                "the compiler and the matcher of regular expressions",
            ),
            ("proxies", "traps that change their target"),
            (
                "backtraces",
                "backtraces at the end of memory or with odd frames",
            ),
            (
                "coroutines",
                "suspended coroutines that only a closure reaches",
            ),
            ("bytecode", "the engine's bytecode from any input"),
        ],
    },
    Class {
        letter: 'I',
        title: "asynchrony and life-cycle",
        lines: &[
            ("never", "promises and tools that never answer"),
            ("detached", "calls that nobody awaits"),
            ("order", "winners and rejections across suspension"),
            ("late", "answers after the end"),
            ("swallow", "finally blocks that swallow a stop and go on"),
            ("overflow", "too many calls in the middle of Promise.all"),
            ("cancel", "cancelled during a call"),
            ("two-waits", "two waits at once"),
            ("after-end", "wait after the end"),
            ("trap", "a trap during a bulk operation on memory"),
        ],
    },
    Class {
        letter: 'J',
        title: "snapshots",
        lines: &[
            ("flipped", "every byte flipped"),
            ("length", "truncated and extended"),
            ("headers", "headers that lie"),
            ("foreign", "another session's, an expired, a used one"),
            (
                "meaning",
                "ids that changed their meaning, tools that are gone",
            ),
            ("limits", "limits tightened while suspended"),
            ("random", "random numbers in two restores of one snapshot"),
            ("bombs", "decompression bombs"),
            ("lost", "snapshots that are lost on the way"),
        ],
    },
    Class {
        letter: 'K',
        title: "output",
        lines: &[
            ("many", "a million small items"),
            ("large", "one giant string, or many keys"),
            ("surrogates", "a cut inside a surrogate pair"),
            ("envelopes", "results forged in values and texts"),
            (
                "terminal",
                "terminal escapes, right-to-left marks, newlines",
            ),
            ("posing", "errors that pose as the host's"),
        ],
    },
    Class {
        letter: 'L',
        title: "TypeScript",
        lines: &[
            ("generics", "deep generics and types"),
            ("enums", "huge enums"),
            ("syntax", "decorators, namespaces, JSX, using"),
            ("meaning", "stripping that would change meaning"),
            ("bounds", "time and memory of the transform"),
        ],
    },
    Class {
        letter: 'M',
        title: "servers that lie",
        lines: &[
            (
                "escapes",
                "names and descriptions that break out of comments, identifiers and declarations",
            ),
            ("collisions", "names that are the same after renaming"),
            (
                "words",
                "reserved words and names that mean something to objects",
            ),
            ("schemas", "schemas that explode, recur or are very large"),
        ],
    },
    Class {
        letter: 'P',
        title: "leaks",
        lines: &[
            ("errors", "paths and the environment in errors and stacks"),
            ("logs", "secrets in logs, events and telemetry"),
            (
                "snapshots",
                "another run's data in snapshots and saved results",
            ),
            ("memory", "another run's data in pooled memory"),
        ],
    },
];
