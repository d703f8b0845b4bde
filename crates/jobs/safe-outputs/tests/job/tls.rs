//! A server with a certificate of an authority of its own, as in many organizations.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use daybook_testkit::api::Reply;
use daybook_testkit::web::read;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{TOKEN, World, request};

/// A server for `localhost`: its address, the authority's certificate, and how many requests got through.
fn server() -> (String, String, Arc<AtomicU32>) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&key).unwrap();
    let issuer = Issuer::new(authority, key);
    let own_key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&own_key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], PrivateKeyDer::try_from(own_key.serialize_der()).unwrap())
        .unwrap();
    let (config, through) = (Arc::new(config), Arc::new(AtomicU32::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let count = Arc::clone(&through);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            // A client that does not trust the certificate breaks off here.
            let Some(request) = read(&mut stream) else { continue };
            assert_eq!(request.header("authorization"), format!("Bearer {TOKEN}"));
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(&Reply::status(204).to_bytes()).and_then(|()| stream.flush());
        }
    });
    (address, authority_certificate.pem(), through)
}

#[test]
fn a_certificate_is_believed_where_its_authority_was_named_and_nowhere_else() {
    let (address, authority, through) = server();
    let (_, stranger, _) = server();
    let mut world = World::with_api(&[request("triage")], &address);
    std::fs::write(world.path("authority.pem"), authority).unwrap();
    std::fs::write(world.path("stranger.pem"), stranger).unwrap();
    let with = |world: &mut World, file: &str| {
        let path = world.path(file).to_str().unwrap().to_owned();
        world.variables.retain(|(name, _)| *name != "SSL_CERT_FILE");
        world.variables.push(("SSL_CERT_FILE", path));
    };
    // The system does not know the authority; a stranger or nobody was named.
    world.run().assert(74, &["api-untrusted"]);
    for wrong in ["stranger.pem", "missing.pem"] {
        with(&mut world, wrong);
        let ended = world.run();
        ended.assert(74, &["api-untrusted"]);
        assert!(ended.message().contains("SSL_CERT_FILE"));
    }
    assert_eq!(through.load(Ordering::SeqCst), 0, "no request, and no token, got through");
    with(&mut world, "authority.pem");
    world.run().assert(0, &[]);
    assert_eq!(through.load(Ordering::SeqCst), 1);
}
