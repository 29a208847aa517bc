//! Addresses that may be fetched, and the origins that need no question.

use url::{Host, Url};

use crate::core::error::CoreError;

/// Longest address taken.
const MAX_URL_BYTES: usize = 8 * 1024;

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) scheme: String,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Origin {
    /// `https://example.org`, with the port where it is not the scheme's own.
    pub(super) fn shown(&self) -> String {
        let usual = matches!(
            (self.scheme.as_str(), self.port),
            ("http", 80) | ("https", 443)
        );
        if usual {
            format!("{}://{}", self.scheme, self.host)
        } else {
            format!("{}://{}:{}", self.scheme, self.host, self.port)
        }
    }
}

/// Reads an address of the web.
///
/// # Errors
/// [`CoreError::Input`] for anything but `http` and `https`, and for credentials in the address.
pub(super) fn parse(text: &str) -> Result<(Url, Origin), CoreError> {
    if text.len() > MAX_URL_BYTES {
        return Err(CoreError::Input(format!(
            "url is longer than {MAX_URL_BYTES} bytes"
        )));
    }
    let url = Url::parse(text).map_err(|error| {
        CoreError::Input(format!(
            "url is not valid: {error}; it begins with https:// or http://"
        ))
    })?;
    let origin = origin(&url)?;
    Ok((url, origin))
}

/// The origin of an address, which is checked on the way.
pub(super) fn origin(url: &Url) -> Result<Origin, CoreError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(CoreError::Input(format!(
            "only http and https can be fetched, not {}",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CoreError::Input(
            "the url holds a user name or password; leave them out".to_owned(),
        ));
    }
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(CoreError::Input("the url has no host".to_owned()));
    };
    Ok(Origin {
        scheme: url.scheme().to_owned(),
        host: host.trim_end_matches('.').to_owned(),
        port,
    })
}

/// The address that a host already is, without asking anybody.
pub(super) fn literal(url: &Url) -> Option<std::net::IpAddr> {
    match url.host()? {
        Host::Ipv4(v4) => Some(v4.into()),
        Host::Ipv6(v6) => Some(v6.into()),
        Host::Domain(_) => None,
    }
}

/// One entry of `allowHosts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    scheme: Option<String>,
    /// Without the `*.`.
    host: String,
    below: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Reads `[scheme://][*.]host[:port]`.
    ///
    /// # Errors
    /// [`CoreError::Input`] naming the entry.
    pub(super) fn parse(text: &str) -> Result<Self, CoreError> {
        let bad = |why: &str| {
            CoreError::Input(format!(
                "allowHosts: {text:?} {why}; an entry is [scheme://][*.]host[:port]"
            ))
        };
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme.to_owned()), rest),
            Some(_) => return Err(bad("has another scheme than http and https")),
            None => (None, text),
        };
        let (below, rest) = rest
            .strip_prefix("*.")
            .map_or((false, rest), |rest| (true, rest));
        let url = Url::parse(&format!("http://{rest}/")).map_err(|_| bad("is no host"))?;
        let plain = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty();
        let host = url
            .host_str()
            .filter(|host| plain && !host.contains('*') && !rest.contains('/'))
            .ok_or_else(|| bad("is no host"))?;
        // The parser drops the port that is usual for http; the text still has it.
        let port = if rest.ends_with(":80") {
            Some(80)
        } else {
            url.port()
        };
        Ok(Self {
            scheme,
            host: host.trim_end_matches('.').to_owned(),
            below,
            port,
        })
    }

    pub(super) fn matches(&self, origin: &Origin) -> bool {
        let host = if self.below {
            origin
                .host
                .strip_suffix(&self.host)
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            origin.host == self.host
        };
        host && self
            .scheme
            .as_ref()
            .is_none_or(|scheme| *scheme == origin.scheme)
            && self.port.is_none_or(|port| port == origin.port)
    }

    /// Whether the host is named itself, so that its address may be private.
    pub(super) fn names_host(&self) -> bool {
        !self.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_their_origins_only() {
        let cases = [
            ("example.org", "https://example.org/x", true),
            ("example.org", "http://example.org:8080/", true),
            ("example.org", "https://a.example.org/", false),
            ("*.example.org", "https://a.b.example.org/", true),
            ("*.example.org", "https://example.org/", false),
            ("*.example.org", "https://badexample.org/", false),
            ("https://example.org", "http://example.org/", false),
            ("example.org:80", "http://example.org/", true),
            ("example.org:80", "https://example.org/", false),
            ("127.0.0.1:8080", "http://127.1:8080/", true),
            ("EXAMPLE.org", "https://example.ORG./", true),
        ];
        for (pattern, url, expected) in cases {
            let (_, origin) = parse(url).unwrap();
            assert_eq!(
                HostPattern::parse(pattern).unwrap().matches(&origin),
                expected,
                "{pattern} {url}"
            );
        }
    }

    #[test]
    fn entries_that_are_no_hosts_are_refused() {
        for text in ["", "ftp://x", "a/b", "*", "a.*.b", "x:99999", "u@x", "*."] {
            assert!(HostPattern::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_plain_web_addresses_are_taken() {
        for text in [
            "file:///etc/passwd",
            "ftp://x/",
            "gopher://x/",
            "https://u:p@x/",
            "https://u@x/",
            "no",
            "//x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
