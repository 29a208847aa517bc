//! Where the metadata of a server may lead us.
//!
//! Metadata is the word of a stranger, and whoever follows it makes requests for them: only over TLS,
//! and from a public server never to this machine or its network. A server on this machine may lead
//! to others on this machine, and one inside a network to others inside.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use codecell_tools::is_public_address;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The server whose metadata is followed.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    server: Arc<Url>,
}

impl Trust {
    /// What the metadata of the server at this address may lead to.
    ///
    /// # Errors
    /// Why tokens cannot be sent to that address at all.
    pub(super) fn new(server: Url) -> Result<Self, String> {
        let is_safe = server.scheme() == "https" || is_loopback_url(&server);
        if !is_safe {
            return Err(
                "tokens are sent over https only, or to this machine; change the url".to_owned(),
            );
        }
        let server = Arc::new(server);
        Ok(Self { server })
    }

    pub(super) fn server(&self) -> &Url {
        &self.server
    }

    /// Whether the address is on this machine like the server itself.
    fn is_local(&self) -> bool {
        is_loopback_url(&self.server)
    }

    /// Checks an address that metadata names.
    ///
    /// # Errors
    /// Why it is not followed.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        let refused = |why: &str| Err(format!("`{}` is refused: {why}", origin(url)));
        match url.scheme() {
            "https" => {}
            "http" if self.is_local() && is_loopback_url(url) => {}
            _ => return refused("it is not reached over https"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("it holds a user name");
        }
        if self.is_local() || url.origin() == self.server.origin() {
            return Ok(());
        }
        let is_inside = match url.host() {
            Some(Host::Ipv4(address)) => !is_public_address(address.into()),
            Some(Host::Ipv6(address)) => !is_public_address(address.into()),
            Some(Host::Domain(_)) => is_loopback_url(url),
            None => true,
        };
        match is_inside {
            true => refused("it is inside of a network"),
            false => Ok(()),
        }
    }

    /// As [`Trust::check`], for a text.
    ///
    /// # Errors
    /// Why it is not followed.
    pub(super) fn check_text(&self, what: &str, text: &str) -> Result<Url, String> {
        let url = Url::parse(text).map_err(|_| format!("its {what} is no address"))?;
        self.check(&url).map(|()| url)
    }
}

/// A name is taken to an address only if that may be followed.
impl Resolve for Trust {
    fn resolve(&self, name: Name) -> Resolving {
        let trust = self.clone();
        Box::pin(async move {
            let found = look_up(name.as_str()).await?;
            let is_inside = |address: &SocketAddr| !is_public_address(address.ip());
            if !trust.is_local() && found.iter().any(is_inside) {
                // Whoever is inside already may show the way to its neighbours.
                let host = trust.server.host_str().unwrap_or_default();
                let own = look_up(host.trim_matches(['[', ']'])).await?;
                let is_neighbour = own.iter().any(is_inside)
                    && !found.iter().any(|address| leads_home(address.ip()));
                if !is_neighbour {
                    return Err(format!("{} is inside of a network", name.as_str()).into());
                }
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

async fn look_up(host: &str) -> std::io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((host, 0)).await?.collect())
}

/// This machine, and what only this link or this cloud machine can see.
fn leads_home(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unspecified(),
    }
}

pub(super) fn is_loopback_url(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

fn origin(url: &Url) -> String {
    let mut shown = url.clone();
    // What is not part of the origin may be anything.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_path("");
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_leads_outside_over_tls_only() {
        let local = "http://127.0.0.1:9/mcp";
        let public = "https://mcp.example/mcp";
        let cases = [
            (public, "https://auth.example/token", true),
            (public, "https://auth.example:8443/x?y", true),
            (public, "http://auth.example/token", false),
            (public, "http://127.0.0.1/token", false),
            (public, "https://127.0.0.1/token", false),
            (public, "https://localhost/token", false),
            (public, "https://x.localhost./token", false),
            (public, "https://169.254.169.254/token", false),
            (public, "https://[::1]/token", false),
            (public, "https://[::ffff:10.0.0.1]/token", false),
            (public, "https://10.1.2.3/token", false),
            (public, "https://user@auth.example/token", false),
            (public, "javascript:alert(1)", false),
            (public, "file:///etc/passwd", false),
            (local, "http://127.0.0.1:10/token", true),
            (local, "http://localhost:10/token", true),
            (local, "http://[::1]:10/token", true),
            (local, "https://auth.example/token", true),
            (local, "http://auth.example/token", false),
        ];
        for (server, target, expected) in cases {
            let trust = Trust::new(server.parse().expect("an address")).expect("usable");
            let checked = trust.check_text("address", target);
            assert_eq!(checked.is_ok(), expected, "{server} {target}");
        }
        assert!(Trust::new("http://mcp.example/".parse().expect("an address")).is_err());
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_followed() {
        for (server, may) in [
            ("https://1.1.1.1/mcp", false),
            ("https://10.0.0.1/mcp", false),
            ("http://127.0.0.1/mcp", true),
        ] {
            let trust = Trust::new(server.parse().expect("an address")).expect("usable");
            let found = trust.resolve("localhost".parse().expect("a name")).await;
            assert_eq!(found.is_ok(), may, "{server}");
        }
    }
}
