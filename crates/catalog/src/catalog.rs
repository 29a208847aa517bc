//! The catalog itself: an ordered, immutable table of entries with lookups by id and by name.
//!
//! Search index, MCP spellings, the text of `ALL_TOOLS` and the content hash are made on first
//! use, so a cell that needs none of them pays for none.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use codecell_protocol::EffectKind;
use serde::Serialize;

use crate::declarations::{self, DeclarationFile};
use crate::entry::{CompactEntry, Description, Entry, Tier};
use crate::hash::{self, ContentHash};
use crate::id::{Source, ToolId};
use crate::mcp::{McpLookupError, McpServer, McpSpace, McpTable};
use crate::names;
use crate::prompt_index::{self, IndexOptions};
use crate::resolve::{self, ResolveError};
use crate::search::{Hit, Index, Read, Readings, Scope, SearchRequest};

/// The most entries that one catalog holds.
pub const MAX_ENTRIES: usize = 100_000;

/// Why a set of entries is no catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Two entries have the same id.
    #[error("two tools have the id `{0}`: rename one of them or disable its source")]
    DuplicateId(ToolId),
    /// An entry's tier belongs to another source than its id.
    #[error("the tool `{id}` is registered as one of {found}, but its id is not")]
    WrongSource {
        /// The entry's id.
        id: ToolId,
        /// The source of the entry's tier.
        found: Source,
    },
    /// More entries than a catalog holds.
    #[error("{count} tools are more than the {max_entries} that one catalog holds")]
    TooManyEntries {
        /// How many there are.
        count: usize,
        /// The limit.
        max_entries: usize,
    },
}

/// How many entries come from each source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceCounts {
    /// Core tools and plugins.
    pub openclaw: usize,
    /// MCP servers.
    pub mcp: usize,
    /// Clients.
    pub client: usize,
}

/// The tools of one run, after policy.
#[derive(Debug)]
pub struct Catalog {
    entries: Arc<Vec<Entry>>,
    by_id: Arc<HashMap<ToolId, usize>>,
    /// Own names and safe names, each with every entry that has it, in catalog order.
    by_name: HashMap<String, Vec<usize>>,
    safe_names: Vec<Option<String>>,
    servers: Vec<McpServer>,
    mcp: OnceLock<McpTable>,
    index: OnceLock<Index>,
    /// What search read of this catalog or of one that it comes from, for those that come from it.
    readings: Arc<Readings>,
    declarations: OnceLock<Vec<DeclarationFile>>,
    all_tools_json: OnceLock<String>,
    content_hash: OnceLock<ContentHash>,
}

impl Catalog {
    /// Orders the entries (core, bundled plugins, external plugins, MCP, client; within one tier as
    /// given), gives them their safe names and forces [`EffectKind::Write`] on untrusted ones.
    ///
    /// # Errors
    /// When two entries share an id, a tier contradicts its id, or there are more than
    /// [`MAX_ENTRIES`].
    pub fn build(entries: Vec<Entry>) -> Result<Self, CatalogError> {
        Self::with_servers(entries, Vec::new())
    }

    /// As [`Catalog::build`], with what is known of MCP servers, those without tools included. Of
    /// two servers with one name the first counts.
    ///
    /// # Errors
    /// As [`Catalog::build`].
    pub fn with_servers(
        mut entries: Vec<Entry>,
        servers: Vec<McpServer>,
    ) -> Result<Self, CatalogError> {
        if entries.len() > MAX_ENTRIES {
            return Err(CatalogError::TooManyEntries {
                count: entries.len(),
                max_entries: MAX_ENTRIES,
            });
        }
        entries.sort_by_key(|entry| entry.tier);
        let mut by_id = HashMap::with_capacity(entries.len());
        for (at, entry) in entries.iter_mut().enumerate() {
            admit(entry)?;
            if by_id.insert(entry.id.clone(), at).is_some() {
                return Err(CatalogError::DuplicateId(entry.id.clone()));
            }
        }
        let safe_names = names::safe_names(&entries);
        Ok(Self {
            by_name: name_table(&entries, &safe_names),
            entries: Arc::new(entries),
            by_id: Arc::new(by_id),
            safe_names,
            servers,
            mcp: OnceLock::new(),
            index: OnceLock::new(),
            readings: Arc::default(),
            declarations: OnceLock::new(),
            all_tools_json: OnceLock::new(),
            content_hash: OnceLock::new(),
        })
    }

    /// As [`Catalog::with_servers`], for a catalog that takes the place of this one. It is the same as
    /// one made afresh, but its first search reads only the entries that are new or have changed:
    /// schemas count as changed unless they are the very ones that the entries of this catalog hold.
    ///
    /// # Errors
    /// As [`Catalog::build`].
    pub fn succeeded_by(
        &self,
        entries: Vec<Entry>,
        servers: Vec<McpServer>,
    ) -> Result<Self, CatalogError> {
        let mut next = Self::with_servers(entries, servers)?;
        next.readings = Arc::clone(&self.readings);
        Ok(next)
    }

    /// All entries, in catalog order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with this id, whatever its source.
    pub fn get(&self, id: &ToolId) -> Option<&Entry> {
        self.by_id.get(id).map(|&at| &self.entries[at])
    }

    /// Whether any entry has this id or name, callable by it or not. Cheaper than asking what was meant.
    pub fn knows(&self, id_or_name: &str) -> bool {
        self.position(id_or_name).is_some() || !self.positions_named(id_or_name).is_empty()
    }

    /// The entry that the guest's `tools` means by an id, a name or a safe name.
    ///
    /// # Errors
    /// [`ResolveError::Unknown`] with near names, [`ResolveError::Ambiguous`] with the ids to choose
    /// from, and [`ResolveError::Mcp`] with the right spelling for an MCP tool.
    pub fn resolve(&self, id_or_name: &str) -> Result<&Entry, ResolveError> {
        self.resolve_in(id_or_name, Scope::NonMcp)
    }

    /// As [`Catalog::resolve`], over the entries of one scope.
    ///
    /// # Errors
    /// As [`Catalog::resolve`]; [`ResolveError::Mcp`] in the scope without MCP only.
    pub fn resolve_in(&self, id_or_name: &str, scope: Scope) -> Result<&Entry, ResolveError> {
        resolve::resolve(self, id_or_name, scope)
    }

    /// The name under which `tools` shows this entry, if it has one.
    pub fn safe_name(&self, entry: &Entry) -> Option<&str> {
        let at = *self.by_id.get(&entry.id)?;
        self.safe_name_at(at)
    }

    /// The entry that `tools.<name>` calls.
    pub fn by_safe_name(&self, name: &str) -> Option<&Entry> {
        let at = *self
            .by_name
            .get(name)?
            .iter()
            .find(|&&at| self.safe_name_at(at) == Some(name))?;
        Some(&self.entries[at])
    }

    /// The safe names with their entries, in catalog order: the table behind `tools.<name>`.
    pub fn safe_names(&self) -> impl Iterator<Item = (&str, &Entry)> {
        let named = self.safe_names.iter().zip(self.entries.iter());
        named.filter_map(|(name, entry)| Some((name.as_deref()?, entry)))
    }

    /// How the guest calls an MCP entry, `MCP.<server>.<tool>`; `None` for other entries.
    pub fn mcp_spelling(&self, entry: &Entry) -> Option<&str> {
        let at = *self.by_id.get(&entry.id)?;
        self.mcp_spelling_at(at)
    }

    /// The MCP servers of this run: those that the sources described, then the others.
    pub fn servers(&self) -> &[McpSpace] {
        self.mcp().spaces()
    }

    /// The server that the guest calls `MCP.<identifier>`.
    pub fn server(&self, identifier: &str) -> Option<&McpSpace> {
        self.mcp().space(identifier)
    }

    /// The entries of a server of this catalog, in catalog order.
    pub fn members<'a>(&'a self, space: &'a McpSpace) -> impl Iterator<Item = &'a Entry> {
        space.members.iter().map(|&at| &self.entries[at])
    }

    /// The MCP entry that the guest spells `<server>.<tool>`, without the `MCP.` before it.
    pub fn by_mcp_spelling(&self, spelling: &str) -> Option<&Entry> {
        let at = self.mcp().position(spelling)?;
        Some(&self.entries[at])
    }

    /// Why the guest's `<server>.<tool>` means none of these entries.
    pub fn explain_mcp(&self, spelling: &str) -> McpLookupError {
        self.mcp().explain(spelling)
    }

    /// The declaration files of all MCP servers, made once: the index, then one for each server. None
    /// without servers.
    pub fn declarations(&self) -> &[DeclarationFile] {
        self.declarations.get_or_init(|| declarations::files(self))
    }

    /// The path of the file that declares this server.
    pub fn declaration_path(&self, space: &McpSpace) -> String {
        declarations::path_of(space)
    }

    /// What the file of a server says of one of its entries, with what it needs around it.
    pub fn declaration_of(&self, space: &McpSpace, entry: &Entry) -> String {
        declarations::excerpt(self, space, |member| member.id == entry.id)
    }

    /// The entries that `keep` admits, under the names that they have here: what was taken away
    /// leaves its name free, and nothing else moves into it.
    #[must_use]
    pub fn narrowed(&self, keep: impl Fn(&Entry) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.entries.len())
            .filter(|&at| keep(&self.entries[at]))
            .collect();
        let entries: Vec<Entry> = kept.iter().map(|&at| self.entries[at].clone()).collect();
        let safe_names: Vec<_> = kept.iter().map(|&at| self.safe_names[at].clone()).collect();
        let by_id = entries.iter().enumerate();
        Self {
            by_name: name_table(&entries, &safe_names),
            by_id: Arc::new(by_id.map(|(at, entry)| (entry.id.clone(), at)).collect()),
            entries: Arc::new(entries),
            safe_names,
            servers: self.servers.clone(),
            mcp: OnceLock::from(self.mcp().narrowed(&kept)),
            index: OnceLock::new(),
            readings: Arc::clone(&self.readings),
            declarations: OnceLock::new(),
            all_tools_json: OnceLock::new(),
            content_hash: OnceLock::new(),
        }
    }

    /// The best entries for a request, best first; never more than its limit.
    pub fn search(&self, request: &SearchRequest) -> Vec<Hit<'_>> {
        let index = self.index.get_or_init(|| Index::build(self));
        index.search(self, request)
    }

    /// The form without schemas.
    pub fn compact<'a>(&self, entry: &'a Entry) -> CompactEntry<'a> {
        entry.compact()
    }

    /// The form with schemas.
    pub fn describe<'a>(&self, entry: &'a Entry) -> Description<'a> {
        entry.describe()
    }

    /// The compact entries that the guest's `ALL_TOOLS` holds: all but MCP, in catalog order.
    pub fn all_tools(&self) -> impl Iterator<Item = CompactEntry<'_>> {
        let visible = self.entries.iter().filter(|e| e.source() != Source::Mcp);
        visible.map(Entry::compact)
    }

    /// [`Catalog::all_tools`] as one JSON array, made once.
    pub fn all_tools_json(&self) -> &str {
        self.all_tools_json.get_or_init(|| {
            let entries: Vec<_> = self.all_tools().collect();
            // Strings and enums only: the serialiser has nothing to refuse.
            serde_json::to_string(&entries).unwrap_or_else(|_| "[]".to_owned())
        })
    }

    /// The bounded index of callable names for the description of `exec`.
    ///
    /// Equal catalogs give equal bytes. Text of MCP servers and clients never enters it.
    pub fn index_text(&self, options: &IndexOptions) -> String {
        prompt_index::render(self, options)
    }

    /// How many entries come from each source.
    pub fn counts(&self) -> SourceCounts {
        let mut counts = SourceCounts::default();
        for entry in self.entries.iter() {
            match entry.source() {
                Source::OpenClaw => counts.openclaw += 1,
                Source::Mcp => counts.mcp += 1,
                Source::Client => counts.client += 1,
            }
        }
        counts
    }

    /// What a cell that is suspended has to remember of an entry of this catalog: its definition,
    /// and the name under which MCP tools are called, which depends on what else there is.
    pub fn identity(&self, entry: &Entry) -> ContentHash {
        match self.mcp_spelling(entry) {
            Some(spelling) => entry.definition_hash().with(spelling),
            None => entry.definition_hash(),
        }
    }

    /// A hash that equal tool sets share, whatever order they were given in.
    pub fn content_hash(&self) -> ContentHash {
        *self
            .content_hash
            .get_or_init(|| hash::of_catalog(&self.entries, self.servers()))
    }

    /// What search has to know of the entries.
    pub(crate) fn read(&self) -> Read {
        self.readings.read(&self.entries, &self.by_id)
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn positions_named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn safe_name_at(&self, at: usize) -> Option<&str> {
        self.safe_names[at].as_deref()
    }

    pub(crate) fn mcp_spelling_at(&self, at: usize) -> Option<&str> {
        self.mcp().spelling(at)
    }

    fn mcp(&self) -> &McpTable {
        let make = || McpTable::new(&self.entries, &self.servers);
        self.mcp.get_or_init(make)
    }
}

/// Checks one entry and takes from it what its source may not claim.
fn admit(entry: &mut Entry) -> Result<(), CatalogError> {
    let found = entry.tier.source();
    let is_core = entry.id.owner() == crate::id::CORE_OWNER && found == Source::OpenClaw;
    if found != entry.id.source() || is_core != (entry.tier == Tier::Core) {
        return Err(CatalogError::WrongSource {
            id: entry.id.clone(),
            found,
        });
    }
    if !entry.trusted {
        entry.effect = EffectKind::Write;
    }
    Ok(())
}

fn name_table(entries: &[Entry], safe_names: &[Option<String>]) -> HashMap<String, Vec<usize>> {
    let mut table: HashMap<String, Vec<usize>> = HashMap::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        table.entry(entry.name().to_owned()).or_default().push(at);
    }
    for (at, safe) in safe_names.iter().enumerate() {
        let Some(safe) = safe else { continue };
        let places = table.entry(safe.clone()).or_default();
        if !places.contains(&at) {
            places.push(at);
        }
    }
    table
}
