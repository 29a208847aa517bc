//! TLS to servers: the roots of Mozilla and those of the person, our certificate if there is one, and the one switch that
//! turns checking off.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::error::StartError;
use super::options::{ClientCertificate, HttpEndpoint};

/// The configuration for one endpoint.
///
/// # Errors
/// [`StartError::Options`] for a certificate or key that is none.
pub(super) fn config(endpoint: &HttpEndpoint) -> Result<ClientConfig, StartError> {
    let broken = |error: &dyn std::error::Error| {
        StartError::Options(format!("TLS is not available: {error}"))
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| broken(&error))?;
    let builder = match endpoint.verifies_certificate {
        true => builder.with_root_certificates(roots(&endpoint.authorities)),
        false => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unchecked(provider))),
    };
    let Some(certificate) = &endpoint.client_certificate else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = read(certificate)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| broken(&error))
}

/// The known authorities, and those of the person. Of a file that holds many, those that cannot be
/// read are left out: such files are made by systems, and old ones are in them.
fn roots(authorities: &[u8]) -> RootCertStore {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let more = CertificateDer::pem_slice_iter(authorities).filter_map(Result::ok);
    let (_, refused) = roots.add_parsable_certificates(more);
    if refused > 0 {
        tracing::debug!(refused, "some authorities cannot be read");
    }
    roots
}

fn read(
    certificate: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), StartError> {
    let bad = |what: &str| StartError::Options(format!("{what} is not in PEM form"));
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate.chain).collect();
    let chain = chain.map_err(|_| bad("clientCert"))?;
    if chain.is_empty() {
        return Err(bad("clientCert"));
    }
    let key = PrivateKeyDer::from_pem_slice(&certificate.key).map_err(|_| bad("clientKey"))?;
    Ok((chain, key))
}

/// Takes any certificate, as `sslVerify: false` asks for. The connection is still encrypted, to
/// whoever it is.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
