//! OAuth with servers at an address: a login that a person makes once, tokens that are kept and
//! refreshed, and a header on every request.
//!
//! The SDK speaks the protocol (discovery, registration, PKCE, exchange, refresh); around it stands
//! what it leaves open: where metadata may lead, how much is read, that S256 is promised, where tokens
//! lie and that no two processes refresh the same one. Tokens go to the server that they are for and
//! to the token endpoint that gave them, to nobody else; they are in no error and in no log. Nothing
//! here opens a browser or asks anybody: whoever holds a [`Login`] shows its address.

mod bearer;
mod callback;
mod error;
mod keeper;
mod login;
mod net;
mod tokens;
mod trust;

pub(super) use bearer::{Bearer, refusal};
pub use error::LoginError;
pub use keeper::{Authorization, OAuthClient, OAuthOptions};
pub use login::{LoggedIn, Login};
