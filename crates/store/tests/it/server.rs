//! A server that changes the world: it counts what it was asked for, by token, in a log of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The server; its thread ends with the process of the test.
pub(crate) struct EffectServer {
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl EffectServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &log));
            }
        });
        Self { address, log }
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// How often a token was asked for.
    pub(crate) fn count(&self, token: &str) -> usize {
        let log = self.log.lock().unwrap();
        log.iter().filter(|logged| *logged == token).count()
    }

    /// The tokens of one run.
    pub(crate) fn tokens(&self, run: &str) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let of_run = log.iter().filter(|token| {
            token
                .strip_prefix(run)
                .is_some_and(|rest| rest.starts_with('-'))
        });
        of_run.cloned().collect()
    }
}

fn serve(stream: &TcpStream, log: &Mutex<Vec<String>>) {
    let mut line = String::new();
    let read = BufReader::new(stream).read_line(&mut line);
    let token = line.trim_end();
    if read.is_ok() && line.ends_with('\n') && !token.is_empty() {
        log.lock().unwrap().push(token.to_owned());
        let _ = (&mut &*stream).write_all(b"ok\n");
    }
}

/// Asks the server for an effect; the client's side.
pub(crate) fn ask(address: &str, token: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("{token}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    match answer.as_str() {
        "ok\n" => Ok(()),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
