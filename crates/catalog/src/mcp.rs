//! The servers of a catalog as the guest sees them: an identifier each, and one for every member.
//!
//! A server is named even when it has no tools or cannot be reached, so that a program learns why a
//! tool is missing. Servers that the sources describe come first, in their order; owners of tools
//! that nobody described follow. Numbers of clashing names are given in that order, so equal inputs
//! give equal names.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::entry::Entry;
use crate::id::Source;
use crate::names;
use crate::near;

/// What an entry of an MCP server stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// One of the server's tools; all entries that are no server's are this too.
    #[default]
    Tool,
    /// `resources/list`.
    ResourcesList,
    /// `resources/read`.
    ResourcesRead,
    /// `prompts/list`.
    PromptsList,
    /// `prompts/get`.
    PromptsGet,
}

impl Operation {
    /// The four that are no tools.
    pub const OF_SERVER: [Self; 4] = [
        Self::ResourcesList,
        Self::ResourcesRead,
        Self::PromptsList,
        Self::PromptsGet,
    ];

    /// The method of the protocol; also the name in the ids of the four that are no tools,
    /// `mcp:<server>:resources/list`.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::ResourcesList => "resources/list",
            Self::ResourcesRead => "resources/read",
            Self::PromptsList => "prompts/list",
            Self::PromptsGet => "prompts/get",
        }
    }

    /// Where a server's object has it, for example `resources.list`; tools go by their own names.
    pub fn member(self) -> Option<&'static str> {
        Some(match self {
            Self::Tool => return None,
            Self::ResourcesList => "resources.list",
            Self::ResourcesRead => "resources.read",
            Self::PromptsList => "prompts.list",
            Self::PromptsGet => "prompts.get",
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())
    }
}

/// What is known of an MCP server besides its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpServer {
    /// The name as configured, the owner in the ids of its tools.
    pub name: String,
    /// What the server says of itself; never part of a prompt.
    pub description: Option<String>,
    /// Why nothing of it can be called now, in words for a program's author.
    pub unavailable: Option<String>,
}

impl McpServer {
    /// A server that can be called and says nothing of itself.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A server with the names that the guest uses.
#[derive(Clone, Debug)]
pub struct McpSpace {
    /// `MCP.<identifier>`.
    pub identifier: String,
    /// The server.
    pub server: McpServer,
    /// Its entries, as positions in the catalog.
    pub(crate) members: Vec<usize>,
}

/// All servers, and the spelling of every entry of theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpTable {
    spaces: Vec<McpSpace>,
    /// `MCP.<server>.<tool>`, by the entry's position.
    spellings: Vec<Option<String>>,
    /// The same without `MCP.`, to the position.
    positions: HashMap<String, usize>,
}

/// Why a spelling leads to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpLookupError {
    /// There is no such server.
    #[error("there is no MCP server `{name}` here.{}", hint(.near.as_deref(), "API.list() names the servers."))]
    Server {
        /// What was asked for, cut to a bounded length.
        name: String,
        /// The closest, as it is written.
        near: Option<String>,
    },
    /// The server has no such tool.
    #[error("MCP.{server} has no tool `{name}`.{}", hint(.near.as_deref(), "API.search(\"words\") finds tools."))]
    Tool {
        /// The server's identifier.
        server: String,
        /// What was asked for, cut to a bounded length.
        name: String,
        /// The closest, as it is called.
        near: Option<String>,
    },
    /// The server is there, and cannot be reached.
    #[error("the MCP server MCP.{server} is unavailable: {why}")]
    Unavailable {
        /// The server's identifier.
        server: String,
        /// Its own reason.
        why: String,
    },
}

fn hint(near: Option<&str>, otherwise: &str) -> String {
    near.map_or_else(
        || format!(" {otherwise}"),
        |near| format!(" Did you mean {near}?"),
    )
}

/// The most characters of an unknown name that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;

fn shown(name: &str) -> String {
    let kept = name.chars().filter(|c| !c.is_control());
    kept.take(MAX_SHOWN_CHARS).collect()
}

const ROOT: &str = "MCP.";

impl McpTable {
    pub(crate) fn new(entries: &[Entry], servers: &[McpServer]) -> Self {
        let mut naming = Naming::default();
        // The file of that name is about all servers.
        naming.taken.insert("index".to_owned());
        for server in servers {
            naming.space(server);
        }
        let spell = |(at, entry): (usize, &Entry)| naming.spell(at, entry);
        let spellings = entries.iter().enumerate().map(spell).collect();
        Self::of(naming.spaces, spellings)
    }

    fn of(spaces: Vec<McpSpace>, spellings: Vec<Option<String>>) -> Self {
        let named = spellings.iter().enumerate();
        let named = named.filter_map(|(at, spelling)| Some((spelling.as_deref()?, at)));
        let named = named.map(|(spelling, at)| (spelling[ROOT.len()..].to_owned(), at));
        Self {
            positions: named.collect(),
            spaces,
            spellings,
        }
    }

    /// The same names over the entries at these positions, in their order.
    pub(crate) fn narrowed(&self, kept: &[usize]) -> Self {
        let spellings = kept.iter().map(|&at| self.spellings[at].clone()).collect();
        let moved: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(to, &at)| (at, to)).collect();
        let narrow = |space: &McpSpace| {
            let members = space.members.iter().filter_map(|at| moved.get(at).copied());
            let members: Vec<usize> = members.collect();
            let is_kept = !members.is_empty() || space.members.is_empty();
            is_kept.then(|| McpSpace {
                members,
                ..space.clone()
            })
        };
        Self::of(self.spaces.iter().filter_map(narrow).collect(), spellings)
    }

    pub(crate) fn spaces(&self) -> &[McpSpace] {
        &self.spaces
    }

    pub(crate) fn space(&self, identifier: &str) -> Option<&McpSpace> {
        let found = self.spaces.iter();
        found
            .into_iter()
            .find(|space| space.identifier == identifier)
    }

    pub(crate) fn spelling(&self, at: usize) -> Option<&str> {
        self.spellings[at].as_deref()
    }

    /// Why `<server>.<tool>` is nothing.
    pub(crate) fn explain(&self, spelling: &str) -> McpLookupError {
        let (server, tool) = spelling.split_once('.').unwrap_or((spelling, ""));
        let Some(space) = self.space(server) else {
            let names = self.spaces.iter().map(|space| space.identifier.as_str());
            let near = near::nearest(server, names);
            return McpLookupError::Server {
                name: shown(server),
                near: near.map(|near| format!("{ROOT}{near}")),
            };
        };
        let server = space.identifier.clone();
        if let Some(why) = &space.server.unavailable {
            let why = shown(why);
            return McpLookupError::Unavailable { server, why };
        }
        let spelled = space.members.iter().filter_map(|&at| self.spelling(at));
        let own = |spelling: &'_ str| spelling.len() - ROOT.len() - server.len() - 1;
        let names = spelled.map(|spelling| &spelling[spelling.len() - own(spelling)..]);
        let near = near::nearest(tool, names);
        McpLookupError::Tool {
            name: shown(tool),
            near: near.map(|near| format!("{ROOT}{server}.{near}")),
            server,
        }
    }

    pub(crate) fn position(&self, spelling: &str) -> Option<usize> {
        self.positions.get(spelling).copied()
    }
}

/// Gives names while entries come by.
#[derive(Default)]
struct Naming {
    spaces: Vec<McpSpace>,
    /// By the server's own name: its space, and the members taken in it.
    known: HashMap<String, (usize, HashSet<String>)>,
    taken: HashSet<String>,
}

impl Naming {
    fn space(&mut self, server: &McpServer) -> &mut (usize, HashSet<String>) {
        if !self.known.contains_key(&server.name) {
            let identifier = names::numbered_as_file(&server.name, "server", &mut self.taken);
            self.spaces.push(McpSpace {
                identifier,
                server: server.clone(),
                members: Vec::new(),
            });
        }
        let next = self.spaces.len() - 1;
        let entry = self.known.entry(server.name.clone());
        entry.or_insert_with(|| (next, HashSet::new()))
    }

    fn spell(&mut self, at: usize, entry: &Entry) -> Option<String> {
        if entry.source() != Source::Mcp {
            return None;
        }
        let owner = McpServer::new(entry.id.owner());
        let (place, taken) = self.space(&owner);
        let (place, tool) = match entry.operation.member() {
            Some(member) => (*place, member.to_owned()),
            None => (*place, names::numbered(entry.name(), "tool", taken)),
        };
        let space = &mut self.spaces[place];
        space.members.push(at);
        Some(format!("{ROOT}{}.{tool}", space.identifier))
    }
}

/// What a tool would be called in the guest if no other name were in its way.
pub fn mcp_spelling_of(owner: &str, name: &str) -> String {
    let plain = |name, fallback| names::numbered(name, fallback, &mut HashSet::new());
    let of_server = Operation::OF_SERVER.into_iter();
    let operation = of_server.filter(|operation| operation.method() == name);
    let member = operation.filter_map(Operation::member).next();
    let tool = member.map_or_else(|| plain(name, "tool"), str::to_owned);
    format!("{ROOT}{}.{tool}", plain(owner, "server"))
}
