//! What cells need of a catalog again and again, made once per catalog.
//!
//! Keyed by the catalog's identity, not by its text: a run keeps one catalog object for as long as
//! its tools do not change. The invariant: nothing here outlives its use by more than a few entries, and none of
//! them once another catalog comes.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use codecell_catalog::Catalog;
use codecell_protocol::SourceCounts;
use codecell_sandbox::{CatalogImage, SandboxError};

/// Catalogs that are remembered.
const REMEMBERED: usize = 16;

/// The derived parts of one catalog.
#[derive(Debug)]
pub(crate) struct CatalogFacts {
    catalog: Arc<Catalog>,
    pub(crate) counts: SourceCounts,
    pub(crate) size: u32,
    image: OnceLock<CatalogImage>,
    names_json: OnceLock<Box<str>>,
    mcp_json: OnceLock<Box<str>>,
}

impl CatalogFacts {
    fn of(catalog: &Arc<Catalog>) -> Self {
        let counts = catalog.counts();
        Self {
            counts: SourceCounts {
                openclaw: narrow(counts.openclaw),
                mcp: narrow(counts.mcp),
                client: narrow(counts.client),
            },
            size: narrow(catalog.len()),
            catalog: Arc::clone(catalog),
            image: OnceLock::new(),
            names_json: OnceLock::new(),
            mcp_json: OnceLock::new(),
        }
    }

    /// The catalog itself.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The bytes behind `ALL_TOOLS`.
    ///
    /// # Errors
    /// When the catalog is larger than a guest can hold.
    pub(crate) fn image(&self) -> Result<&CatalogImage, SandboxError> {
        if let Some(image) = self.image.get() {
            return Ok(image);
        }
        let entries = self.entries();
        let image = CatalogImage::new(entries.iter().map(String::as_str))?;
        Ok(self.image.get_or_init(|| image))
    }

    /// The entries of `ALL_TOOLS`, each as JSON.
    pub(crate) fn entries(&self) -> Vec<String> {
        self.catalog
            .all_tools()
            .filter_map(|entry| serde_json::to_string(&entry).ok())
            .collect()
    }

    /// All safe names as a JSON array.
    pub(crate) fn names_json(&self) -> &str {
        self.names_json.get_or_init(|| {
            let names: Vec<&str> = self.catalog.safe_names().map(|(name, _)| name).collect();
            serde_json::to_string(&names)
                .unwrap_or_else(|_| "[]".to_owned())
                .into()
        })
    }

    /// The members of `MCP` and of each object below it: pairs of a path and its keys.
    pub(crate) fn mcp_json(&self) -> &str {
        self.mcp_json.get_or_init(|| {
            let mut members: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
            let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
            for space in self.catalog.servers() {
                members[0].1.push(&space.identifier);
                let mut keys: Vec<&str> = Vec::new();
                for entry in self.catalog.members(space) {
                    let spelling = self.catalog.mcp_spelling(entry).unwrap_or_default();
                    let path = spelling.strip_prefix("MCP.").unwrap_or_default();
                    let own = path.split_once('.').map_or("", |(_, own)| own);
                    match own.split_once('.') {
                        None => keys.push(own),
                        Some((group, key)) => {
                            let at = &path[..path.len() - key.len() - 1];
                            match groups.iter_mut().find(|(path, _)| *path == at) {
                                Some((_, keys)) => keys.push(key),
                                None => {
                                    keys.push(group);
                                    groups.push((at, vec![key]));
                                }
                            }
                        }
                    }
                }
                members.push((&space.identifier, keys));
            }
            members.append(&mut groups);
            serde_json::to_string(&members)
                .unwrap_or_else(|_| "[]".to_owned())
                .into()
        })
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The catalogs used last.
#[derive(Debug, Default)]
pub(crate) struct FactsCache {
    known: Mutex<Vec<Arc<CatalogFacts>>>,
}

impl FactsCache {
    /// The facts of this catalog, made at first use.
    pub(crate) fn of(&self, catalog: &Arc<Catalog>) -> Arc<CatalogFacts> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The facts hold the catalog, so a remembered address is never that of another one.
        if let Some(facts) = known
            .iter()
            .find(|facts| Arc::ptr_eq(&facts.catalog, catalog))
        {
            return Arc::clone(facts);
        }
        // Of a catalog that no run has any more nothing is kept.
        known.retain(|facts| Arc::strong_count(&facts.catalog) > 1);
        let facts = Arc::new(CatalogFacts::of(catalog));
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push(Arc::clone(&facts));
        facts
    }
}

#[cfg(test)]
mod tests {
    use codecell_catalog::{Entry, ToolId};
    use serde_json::json;

    use super::*;

    fn catalog(name: &str) -> Arc<Catalog> {
        let id = ToolId::core(name).expect("a name");
        Arc::new(Catalog::build(vec![Entry::new(id, "d", json!({}))]).expect("one entry"))
    }

    #[test]
    fn facts_are_made_once_per_catalog_and_forgotten_in_order() {
        let cache = FactsCache::default();
        let first = catalog("a");
        let facts = cache.of(&first);
        assert!(Arc::ptr_eq(&facts, &cache.of(&first)));
        assert_eq!(
            (facts.size, facts.counts.openclaw, facts.names_json()),
            (1, 1, r#"["a"]"#)
        );
        assert_eq!(facts.image().map(CatalogImage::count).ok(), Some(1));
        for _ in 0..REMEMBERED {
            cache.of(&catalog("b"));
        }
        assert!(
            Arc::ptr_eq(&facts, &cache.of(&first)),
            "nobody has the others"
        );
        let others: Vec<_> = (0..REMEMBERED).map(|_| catalog("b")).collect();
        others.iter().for_each(|other| drop(cache.of(other)));
        assert!(!Arc::ptr_eq(&facts, &cache.of(&first)));
    }
}
