//! A pseudo-terminal with the binary in it, driven as a person would: wait for a text, then type.

use std::io::{Read as _, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::harness::{Cli, binary};

/// Generous: the machine may be busy, and the guest may have to be compiled.
const DEADLINE: Duration = Duration::from_secs(120);

/// A command in a terminal of its own.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    /// Closing it hangs the terminal up.
    _master: Box<dyn MasterPty + Send>,
}

#[derive(Default)]
struct Screen {
    text: String,
    is_over: bool,
}

impl Terminal {
    pub(crate) fn start(cli: &Cli, args: &[&str], extra: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 50,
            cols: 100,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(binary());
        command.args(args);
        command.cwd(cli.env.workspace());
        command.env_clear();
        for (name, value) in cli.env.variables() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        for (name, value) in extra {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new((Mutex::new(Screen::default()), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut block = [0u8; 4096];
            // The terminal reports an error, not an end, when its last process is gone.
            while let Ok(count @ 1..) = reader.read(&mut block) {
                shown
                    .0
                    .lock()
                    .unwrap()
                    .text
                    .push_str(&String::from_utf8_lossy(&block[..count]));
                shown.1.notify_all();
            }
            shown.0.lock().unwrap().is_over = true;
            shown.1.notify_all();
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self {
            child,
            keyboard,
            screen,
            _master: pair.master,
        }
    }

    /// Waits until the screen has shown `text`.
    pub(crate) fn wait_for(&self, text: &str) {
        let until = Instant::now() + DEADLINE;
        let mut screen = self.screen.0.lock().unwrap();
        while !screen.text.contains(text) {
            assert!(
                !screen.is_over,
                "ended without showing {text:?}: {}",
                screen.text
            );
            let left = until.checked_duration_since(Instant::now());
            let left = left.unwrap_or_else(|| panic!("never showed {text:?}: {}", screen.text));
            screen = self.screen.1.wait_timeout(screen, left).unwrap().0;
        }
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the end; gives the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> (u32, String) {
        let status = self.child.wait().unwrap();
        let until = Instant::now() + DEADLINE;
        let mut screen = self.screen.0.lock().unwrap();
        while !screen.is_over && Instant::now() < until {
            screen = self
                .screen
                .1
                .wait_timeout(screen, Duration::from_secs(1))
                .unwrap()
                .0;
        }
        (status.exit_code(), screen.text.clone())
    }
}
