//! A server's registration: keeps its free sessions on offer at the tracker, each with a match key
//! that is used once.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::TrackerConnection;
use crate::visible;

/// Longest pause before the tracker is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Times of a registration, as upstream's servers have them.
const TIMES: Times = Times {
    period: Duration::from_secs(2),
    patience: Duration::from_secs(6),
    first_pause: Duration::from_millis(500),
};

/// Times of a registration.
#[derive(Clone, Copy)]
struct Times {
    /// Interval at which the tracker is asked for the match keys that no client has been given.
    period: Duration,
    /// Time after which a match key is replaced whose client did not come.
    patience: Duration,
    /// First pause before the tracker is tried again; each one is twice as long as the one before.
    first_pause: Duration,
}

/// Offer of a server to the clients of a tracker.
#[derive(Clone, Debug)]
pub struct Offer {
    /// HOST:PORT of the tracker.
    pub tracker: String,
    /// Key by which clients ask for servers of this kind.
    pub key: String,
    /// Host at which clients reach the server; by default the address that the tracker sees.
    pub host: Option<String>,
    /// Port at which the server listens.
    pub port: u16,
    /// Maximum number of sessions at the same time.
    pub sessions: usize,
}

/// Registration of a server, kept by a thread. When it is dropped, the tracker forgets the server.
pub struct Registration {
    shared: Arc<Shared>,
}

/// Session of a client that came with a valid match key. When it is dropped, the server is offered
/// to the next client.
pub struct SessionSlot {
    shared: Arc<Shared>,
}

/// State between the thread and the server.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Match keys that open a session.
    offered: Vec<OfferedKey>,
    /// Number of sessions in progress.
    in_session: usize,
    is_dropped: bool,
}

/// Match key, and the time since which the tracker does not list it as pending.
struct OfferedKey {
    match_key: String,
    taken: Option<Instant>,
}

impl Registration {
    /// Starts the thread, which connects to the tracker, and again when the tracker goes away.
    ///
    /// # Errors
    /// Errors of the operating system when the thread is started.
    pub fn start(offer: Offer) -> io::Result<Registration> {
        Registration::start_with(offer, TIMES)
    }

    fn start_with(offer: Offer, times: Times) -> io::Result<Registration> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let registration = Registration { shared: Arc::clone(&shared) };
        thread::Builder::new()
            .name("tracker".into())
            .spawn(move || keep(&shared, &offer, times))?;
        Ok(registration)
    }

    /// Opens a session for a client with this match key, `KEY:RANDOM`, which is then used up.
    /// Returns `None` for any other key.
    pub fn admit(&self, match_key: &str) -> Option<SessionSlot> {
        let mut state = self.shared.lock();
        let index = state.offered.iter().position(|offered| offered.match_key == match_key)?;
        state.offered.swap_remove(index);
        state.in_session += 1;
        drop(state);
        Some(SessionSlot { shared: Arc::clone(&self.shared) })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.shared.change(|state| state.is_dropped = true);
    }
}

impl Drop for SessionSlot {
    fn drop(&mut self) {
        self.shared.change(|state| state.in_session -= 1);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for `time`, or until the registration is dropped or `is_enough`. Returns `false` if it
    /// is dropped.
    fn wait(&self, time: Duration, is_enough: impl Fn(&State) -> bool) -> bool {
        let goes_on = |state: &mut State| !state.is_dropped && !is_enough(state);
        let waited = self.changed.wait_timeout_while(self.lock(), time, goes_on);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_dropped
    }
}

impl State {
    /// Makes match keys for the sessions that are free, and returns them.
    fn add_keys(&mut self, offer: &Offer) -> io::Result<Vec<String>> {
        let mut added = Vec::new();
        while self.lacks_keys(offer) {
            let match_key = random_key(&offer.key)?;
            self.offered.push(OfferedKey { match_key: match_key.clone(), taken: None });
            added.push(match_key);
        }
        Ok(added)
    }

    fn lacks_keys(&self, offer: &Offer) -> bool {
        self.offered.len() + self.in_session < offer.sessions
    }

    /// Removes the keys whose clients did not come, given the keys pending at the tracker.
    fn remove_unused(&mut self, pending: &[String], now: Instant, patience: Duration) {
        self.offered.retain_mut(|offered| {
            if pending.contains(&offered.match_key) {
                return true;
            }
            now - *offered.taken.get_or_insert(now) < patience
        });
    }
}

/// Keeps the registration until it is dropped.
fn keep(shared: &Shared, offer: &Offer, times: Times) {
    let mut pause = times.first_pause;
    loop {
        let outcome = serve(shared, offer, times, &mut pause);
        // The keys are worth nothing at a tracker that starts anew.
        shared.change(|state| state.offered.clear());
        let Err(error) = outcome else { return };
        report(&offer.tracker, &format!("{error}; next attempt in {} s", pause.as_secs_f64()));
        if !shared.wait(pause, |_| false) {
            return;
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Registers, and keeps all free sessions on offer. Returns when the registration is dropped.
fn serve(shared: &Shared, offer: &Offer, times: Times, pause: &mut Duration) -> io::Result<()> {
    let host = offer.host.as_deref();
    let mut tracker = TrackerConnection::open(&offer.tracker)?;
    tracker.register(&offer.key, host, offer.port)?;
    report(&offer.tracker, &format!("registered as {}", offer.key));
    *pause = times.first_pause;
    loop {
        // A client may come as soon as the tracker has the key, so the key is valid before.
        let added = shared.lock().add_keys(offer)?;
        for match_key in &added {
            tracker.put(&offer.key, host, offer.port, match_key)?;
        }
        if !shared.wait(times.period, |state| state.lacks_keys(offer)) {
            return Ok(());
        }
        let pending = tracker.pending_match_keys()?;
        shared.lock().remove_unused(&pending, Instant::now(), times.patience);
    }
}

/// Returns `KEY:RANDOM`. The random part has no colon: upstream's tracker splits at the last one.
fn random_key(key: &str) -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{key}:{:032x}", u128::from_le_bytes(bytes)))
}

/// Writes a line about the tracker to standard error.
fn report(tracker: &str, text: &str) {
    let _ = writeln!(io::stderr(), "tracker {tracker}: {}", visible::line(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::tracker;
    use std::net::{SocketAddr, TcpListener};

    const FAST: Times = Times {
        period: Duration::from_millis(20),
        patience: Duration::from_millis(60),
        first_pause: Duration::from_millis(20),
    };

    fn offer(tracker: SocketAddr, sessions: usize) -> Offer {
        let tracker = tracker.to_string();
        Offer { tracker, key: "board".into(), host: None, port: 9091, sessions }
    }

    fn start(sessions: usize) -> (SocketAddr, Registration) {
        let address = tracker::start_for_test("127.0.0.1:0").expect("a tracker");
        let registration = Registration::start_with(offer(address, sessions), FAST);
        (address, registration.expect("a thread"))
    }

    fn client(tracker: SocketAddr) -> TrackerConnection {
        TrackerConnection::open(&tracker.to_string()).expect("a connection")
    }

    fn match_key(tracker: SocketAddr) -> String {
        let assigned = client(tracker).request("board", 1).expect("a server");
        assert_eq!((assigned.host.as_str(), assigned.port), ("127.0.0.1", 9091));
        assigned.match_key
    }

    /// Waits until the numbers of servers and free sessions are these.
    fn wait_for(tracker: SocketAddr, servers: usize, free: u64) {
        let mut connection = client(tracker);
        for _ in 0..3000 {
            let summary = connection.summary().expect("a summary");
            let found = summary.queue_info.get("board").map_or(0, |queue| queue.free);
            if (summary.server_info.len(), found) == (servers, free) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("not {servers} servers with {free} sessions");
    }

    #[test]
    fn a_match_key_opens_one_session_and_the_next_one_has_another() {
        let (tracker, registration) = start(1);
        let first = match_key(tracker);
        assert!(registration.admit("board").is_none() && registration.admit("board:0").is_none());
        let session = registration.admit(&first).expect("a session");
        assert!(registration.admit(&first).is_none());
        wait_for(tracker, 1, 0);
        drop(session);
        let second = match_key(tracker);
        assert_ne!(first, second);
        assert!(registration.admit(&second).is_some());
    }

    #[test]
    fn each_free_session_is_on_offer() {
        let (tracker, registration) = start(3);
        wait_for(tracker, 1, 3);
        let session = registration.admit(&match_key(tracker)).expect("a session");
        wait_for(tracker, 1, 2);
        drop(session);
        wait_for(tracker, 1, 3);
    }

    #[test]
    fn a_match_key_is_replaced_when_its_client_does_not_come() {
        let (tracker, registration) = start(1);
        let unused = match_key(tracker);
        let next = match_key(tracker);
        assert_ne!(unused, next);
        assert!(registration.admit(&unused).is_none());
        assert!(registration.admit(&next).is_some());
    }

    #[test]
    fn a_dropped_registration_is_gone() {
        let (tracker, registration) = start(1);
        wait_for(tracker, 1, 1);
        drop(registration);
        wait_for(tracker, 0, 0);
    }

    #[test]
    fn a_server_registers_again_when_the_tracker_comes_back() {
        let (address, registration) = start(1);
        wait_for(address, 1, 1);
        tracker::stop_for_test(address).expect("the end of the tracker");
        tracker::start_for_test(&address.to_string()).expect("a tracker");
        wait_for(address, 1, 1);
        assert!(registration.admit(&match_key(address)).is_some());
    }

    #[test]
    fn other_servers_are_not_taken_for_a_tracker() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let answer = thread::spawn(move || -> io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            stream.write_all(&0xF_F271_i32.to_le_bytes())
        });
        let error = TrackerConnection::open(&address.to_string()).err().expect("an error");
        assert!(error.to_string().contains("not a tracker"), "{error}");
        answer.join().expect("a thread").expect("an answer");
    }
}
