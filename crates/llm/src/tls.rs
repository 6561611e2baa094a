//! Encrypted connections: rustls with the cryptography of ring and the certificates that the system trusts.
//!
//! The default of `reqwest` is aws-lc, whose C code alone takes minutes to compile. The provider is passed with each
//! client, since one that is installed for the whole process would be a decision of the program that uses this library.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::Verifier;

use super::Error;

/// Returns how connections are encrypted: TLS 1.2 and 1.3.
///
/// # Errors
/// The system's certificates cannot be read.
pub(super) fn config() -> Result<ClientConfig, Error> {
    let of_tls = |error: rustls::Error| Error::Setting(error.to_string());
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(Arc::clone(&provider)).map_err(of_tls)?;
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().map_err(of_tls)?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}
