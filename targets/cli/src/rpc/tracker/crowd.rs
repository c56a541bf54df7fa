//! Choice of the connection that is closed when there are too many, so that silent peers keep
//! nobody out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

use ferrite_rpc::tracker::ConnectionId;

/// Connection as a candidate.
pub struct Candidate {
    pub connection: ConnectionId,
    pub address: IpAddr,
    pub rank: Rank,
    pub last_message: Instant,
}

/// Importance of a connection. The least important one is closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The magic number has not come yet.
    Silent,
    /// Client without a pending request.
    Idle,
    /// Registered server, or client that waits for one.
    Active,
}

/// Chooses the connection that is closed for one from `newcomer`: the least important, among these
/// one from the address with most connections, and among these the one that has been silent for
/// longest. Active ones are chosen only if their address holds more than half of all connections
/// and the newcomer has another address.
pub fn choose(candidates: &[Candidate], newcomer: IpAddr) -> Option<ConnectionId> {
    let mut by_address: HashMap<IpAddr, usize> = HashMap::new();
    for candidate in candidates {
        *by_address.entry(candidate.address).or_default() += 1;
    }
    let count = |candidate: &Candidate| by_address.get(&candidate.address).copied().unwrap_or(0);
    let may_go = |candidate: &&Candidate| {
        let is_majority = 2 * count(candidate) > candidates.len() && candidate.address != newcomer;
        candidate.rank < Rank::Active || is_majority
    };
    let order = |candidate: &&Candidate| {
        (candidate.rank, usize::MAX - count(candidate), candidate.last_message)
    };
    candidates.iter().filter(may_go).min_by_key(order).map(|found| found.connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn candidates(all: &[(IpAddr, Rank)]) -> Vec<Candidate> {
        let begin = Instant::now();
        let candidate = |(index, (address, rank)): (usize, &(IpAddr, Rank))| Candidate {
            connection: index as ConnectionId,
            address: *address,
            rank: *rank,
            last_message: begin + Duration::from_secs(index as u64),
        };
        all.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn silent_connections_go_first_and_active_ones_stay() {
        use Rank::{Active, Idle, Silent};
        let all = [(FIRST, Active), (FIRST, Idle), (FIRST, Silent), (FIRST, Silent)];
        assert_eq!(choose(&candidates(&all), FIRST), Some(2));
        assert_eq!(choose(&candidates(&all[..2]), FIRST), Some(1));
        assert_eq!(choose(&candidates(&all[..1]), FIRST), None);
        assert_eq!(choose(&[], FIRST), None);
    }

    #[test]
    fn the_address_with_most_connections_loses_one() {
        let all = [(FIRST, Rank::Idle), (SECOND, Rank::Idle), (SECOND, Rank::Idle)];
        assert_eq!(choose(&candidates(&all), FIRST), Some(1));
    }

    #[test]
    fn one_address_cannot_keep_others_out() {
        let all = [(FIRST, Rank::Active), (FIRST, Rank::Active), (SECOND, Rank::Active)];
        assert_eq!(choose(&candidates(&all), SECOND), Some(0));
        assert_eq!(choose(&candidates(&all), FIRST), None);
    }
}
