//! The catalog of a run: ids, entries, safe names, signatures, search
