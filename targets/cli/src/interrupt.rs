//! Ctrl-C in conversations.
#![forbid(unsafe_code)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// Handler of Ctrl-C: the first one during a reply cancels it; any other one ends the program.
pub struct Interrupt {
    /// Whether the next Ctrl-C ends the program.
    is_last: Arc<AtomicBool>,
}

impl Interrupt {
    /// Installs the handler.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn install() -> io::Result<Interrupt> {
        let is_last = Arc::new(AtomicBool::new(true));
        // A signal runs both, in this order.
        flag::register_conditional_default(SIGINT, Arc::clone(&is_last))?;
        flag::register(SIGINT, Arc::clone(&is_last))?;
        Ok(Interrupt { is_last })
    }

    /// Makes a reply, which the next Ctrl-C cancels. `body` gets a function that returns whether it
    /// is cancelled.
    pub fn during<R>(&self, body: impl FnOnce(&dyn Fn() -> bool) -> R) -> R {
        self.is_last.store(false, SeqCst);
        let result = body(&|| self.is_last.load(SeqCst));
        self.is_last.store(true, SeqCst);
        result
    }
}
