//! A certificate authority for one test, with certificates that it signs: valid ones, one for
//! another name, and expired ones.

use std::fs;
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use tempfile::TempDir;
use uuid::Uuid;

/// An authority. Its certificate is in a file that is removed on drop.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

/// A certificate and its key, in PEM.
#[derive(Debug)]
pub(crate) struct SignedCertificate {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The validity of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Validity {
    Current,
    Expired,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "an authority of a test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key is generated");
        let own = params.self_signed(&key).expect("the authority signs its own certificate");
        let issuer = Issuer::new(params, key);
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        fs::write(folder.path().join("ca.pem"), own.pem()).expect("the folder is writable");
        Self { issuer, folder }
    }

    /// Returns the file of the authority's certificate.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    pub(crate) fn sign(&self, names: &[&str], validity: Validity) -> SignedCertificate {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("the names are valid");
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = match validity {
            Validity::Current => date_time_ymd(2090, 1, 1),
            Validity::Expired => date_time_ymd(2021, 1, 1),
        };
        let key = KeyPair::generate().expect("a key is generated");
        let certificate = params.signed_by(&key, &self.issuer).expect("the certificate is signed");
        SignedCertificate { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Writes certificate and key into files, which are removed on drop, and returns the paths.
    pub(crate) fn write_files(&self, signed: &SignedCertificate) -> [String; 2] {
        let name = Uuid::new_v4().simple().to_string();
        [("crt", &signed.certificate), ("key", &signed.key)].map(|(kind, pem)| {
            let path = self.folder.path().join(format!("{name}.{kind}"));
            fs::write(&path, pem).expect("the folder is writable");
            path.to_str().expect("the path is UTF-8").to_owned()
        })
    }
}
