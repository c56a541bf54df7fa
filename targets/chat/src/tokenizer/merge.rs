//! Byte-pair encoding of a word: neighbours are merged in the order of the merge list.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Vocabulary and merges.
#[derive(Debug, Default)]
pub(super) struct Merges {
    pub(super) vocabulary: HashMap<String, u32>,
    /// Rank and result of each pair that merges.
    pub(super) pairs: HashMap<(u32, u32), (u32, u32)>,
    /// Token of unknown characters; without one, they are left out.
    pub(super) unknown: Option<u32>,
    /// Whether neighbouring unknown characters are one token.
    pub(super) fuses_unknown: bool,
    /// Token of each byte, for characters that the vocabulary lacks.
    pub(super) bytes: Option<Box<[u32; 256]>>,
    /// Whether a word of the vocabulary is its token, without merges.
    pub(super) ignores_merges: bool,
}

/// A token of a word, in a list linked by indices. Merged tokens are part of their left neighbour.
#[derive(Clone, Copy)]
struct Link {
    token: u32,
    previous: usize,
    next: usize,
    is_merged: bool,
}

const NONE: usize = usize::MAX;

/// A merge that may be applied: rank, position of the left token, both tokens.
type Candidate = Reverse<(u32, usize, u32, u32)>;

impl Merges {
    /// Returns the tokens of a word.
    pub(super) fn encode(&self, word: &str) -> Vec<u32> {
        if let (true, Some(token)) = (self.ignores_merges, self.vocabulary.get(word)) {
            return vec![*token];
        }
        let mut links = self.links(word);
        let mut heap = BinaryHeap::new();
        for at in 0..links.len() {
            self.offer(&links, at, &mut heap);
        }
        while let Some(Reverse((_, at, left, right))) = heap.pop() {
            let Some((link, next)) =
                pair(&links, at).filter(|(link, next)| (link.token, next.token) == (left, right))
            else {
                continue; // One of the two was merged meanwhile.
            };
            let Some((_, merged)) = self.pairs.get(&(left, right)) else { continue };
            links[link.next].is_merged = true;
            links[at].token = *merged;
            links[at].next = next.next;
            if let Some(after) = links.get_mut(next.next) {
                after.previous = at;
            }
            self.offer(&links, at, &mut heap);
            if link.previous != NONE {
                self.offer(&links, link.previous, &mut heap);
            }
        }
        links.iter().filter(|link| !link.is_merged).map(|link| link.token).collect()
    }

    /// Adds the pair at a position to the candidates, if it merges.
    fn offer(&self, links: &[Link], at: usize, heap: &mut BinaryHeap<Candidate>) {
        let Some((link, next)) = pair(links, at) else { return };
        if let Some((rank, _)) = self.pairs.get(&(link.token, next.token)) {
            heap.push(Reverse((*rank, at, link.token, next.token)));
        }
    }

    /// Returns the characters of a word as tokens.
    fn links(&self, word: &str) -> Vec<Link> {
        let mut tokens = Vec::new();
        let mut follows_unknown = false;
        for (at, character) in word.char_indices() {
            let text = &word[at..at + character.len_utf8()];
            let known = self.vocabulary.get(text);
            match (known, &self.bytes, self.unknown) {
                (Some(token), ..) => tokens.push(*token),
                (None, Some(bytes), _) => {
                    tokens.extend(text.bytes().map(|byte| bytes[usize::from(byte)]))
                }
                (None, None, Some(unknown)) if !(follows_unknown && self.fuses_unknown) => {
                    tokens.push(unknown)
                }
                (None, None, _) => {}
            }
            follows_unknown = known.is_none();
        }
        let count = tokens.len();
        let link = |(at, token): (usize, u32)| Link {
            token,
            previous: at.checked_sub(1).unwrap_or(NONE),
            next: if at + 1 < count { at + 1 } else { NONE },
            is_merged: false,
        };
        tokens.into_iter().enumerate().map(link).collect()
    }
}

/// Returns the token at a position and its right neighbour.
fn pair(links: &[Link], at: usize) -> Option<(Link, Link)> {
    let link = links.get(at).filter(|link| !link.is_merged)?;
    Some((*link, *links.get(link.next)?))
}
