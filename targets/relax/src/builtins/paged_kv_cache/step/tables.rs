//! Contents of the arrays of a step: page tables, positions and masks.

use crate::builtins::paged_kv_cache::arrays::{Layout, Name};
use crate::builtins::paged_kv_cache::config::Config;
use crate::builtins::paged_kv_cache::sequences::Sequences;

use super::batch::{Group, LayerWindow, Member};

/// Writer of the arrays of a step.
pub(super) struct Tables<'a> {
    pub(super) config: &'a Config,
    pub(super) batch: &'a [Member],
    pub(super) groups: &'a [Group],
    pub(super) layout: &'a Layout,
    /// The block of all arrays.
    pub(super) elements: &'a mut [i32],
}

impl Tables<'_> {
    #[inline]
    fn set(&mut self, name: Name, index: usize, value: i32) {
        self.elements[self.layout.start(name) + index] = value;
    }

    /// Writes pages behind `at`. Returns their end.
    #[inline]
    fn set_pages(&mut self, name: Name, at: usize, pages: &[i32]) -> usize {
        let start = self.layout.start(name) + at;
        self.elements[start..start + pages.len()].copy_from_slice(pages);
        at + pages.len()
    }

    /// Writes the page tables of the sequences as they are now.
    pub(super) fn write(&mut self, sequences: &Sequences) {
        self.write_sequences(sequences);
        if !self.groups.is_empty() {
            self.write_prefixes(sequences);
        }
        if self.config.has_layer_windows {
            self.write_windows(sequences);
        }
    }

    fn write_sequences(&mut self, sequences: &Sequences) {
        let (count, page_size) = (self.batch.len(), self.config.page_size);
        let mut end = 0;
        self.set(Name::PageEnds, 0, 0);
        for (index, member) in self.batch.iter().enumerate() {
            let (sequence, prefix) = (sequences.at(member.entry as usize), member.prefix as usize);
            let pages = sequence.pages.get(prefix..).unwrap_or_default();
            end = self.set_pages(Name::Pages, end, pages);
            self.set(Name::PageEnds, index + 1, end as i32);
            let last = if pages.is_empty() { 0 } else { sequence.last_page_length(page_size) };
            self.set(Name::Lengths, index, last);
            if self.config.slides {
                self.set(Name::Lengths, count + index, sequence.offset);
                self.set(Name::Lengths, 2 * count + index, sequence.pinned);
            }
            self.set(Name::Offsets, index, prefix as i32 * page_size);
        }
    }

    /// Writes the table of prefixes. Rows without a common prefix have entries without pages.
    fn write_prefixes(&mut self, sequences: &Sequences) {
        let (mut entry, mut rows, mut pages, mut next) = (0, 0, 0, 0);
        self.set(Name::PrefixEnds, 0, 0);
        self.set(Name::PrefixPageEnds, 0, 0);
        for group in self.groups {
            let first = group.first as usize;
            if first != next {
                rows += rows_of(&self.batch[next..first]);
                self.write_prefix(&mut entry, rows, pages, 0);
            }
            next = first + group.count as usize;
            rows += rows_of(&self.batch[first..next]);
            let sequence = sequences.at(self.batch[first].entry as usize);
            let prefix = sequence.pages.get(..group.pages as usize).unwrap_or_default();
            pages = self.set_pages(Name::PrefixPages, pages, prefix);
            self.write_prefix(&mut entry, rows, pages, self.config.page_size);
        }
        if next != self.batch.len() {
            rows += rows_of(&self.batch[next..]);
            self.write_prefix(&mut entry, rows, pages, 0);
        }
    }

    fn write_prefix(&mut self, entry: &mut usize, rows: i32, pages: usize, last: i32) {
        self.set(Name::PrefixEnds, *entry + 1, rows);
        self.set(Name::PrefixPageEnds, *entry + 1, pages as i32);
        self.set(Name::PrefixLengths, *entry, last);
        self.set(Name::PrefixOffsets, *entry, 0);
        *entry += 1;
    }

    /// Writes the table of layers with windows: the last pages of each sequence.
    fn write_windows(&mut self, sequences: &Sequences) {
        let (count, mut end) = (self.batch.len(), 0);
        self.set(Name::WindowPageEnds, 0, 0);
        for (index, member) in self.batch.iter().enumerate() {
            let sequence = sequences.at(member.entry as usize);
            let window = LayerWindow::of(sequence.length, self.config);
            let first = sequence.pages.len().saturating_sub(window.pages);
            let pages = sequence.pages.get(first..).unwrap_or_default();
            end = self.set_pages(Name::WindowPages, end, pages);
            self.set(Name::WindowPageEnds, index + 1, end as i32);
            let last = sequence.last_page_length(self.config.page_size);
            self.set(Name::WindowLengths, index, last);
            self.set(Name::WindowLengths, count + index, window.offset);
            self.set(Name::WindowLengths, 2 * count + index, 0);
            self.set(Name::WindowOffsets, index, window.first);
        }
    }

    /// Writes positions and places of the new tokens of the sequences, which have grown.
    pub(super) fn write_new_tokens(&mut self, sequences: &Sequences, is_tree: bool) {
        let mut row = 0;
        self.set(Name::Ends, 0, 0);
        for (index, member) in self.batch.iter().enumerate() {
            let sequence = sequences.at(member.entry as usize);
            let first = row;
            for new in 0..member.count {
                // Tokens keep their positions unless the window slides.
                let (before, now) = (member.before + new, sequence.length - member.count + new);
                let position = if before < sequence.pinned { before } else { now };
                let is_kept = before < sequence.pinned || now >= sequence.pinned;
                let place =
                    if is_kept { sequence.place(position, self.config.page_size) } else { -1 };
                self.set(Name::Places, row, place);
                self.set(Name::Positions, row, before);
                row += 1;
            }
            if is_tree {
                let first_node = sequence.tree.len() - member.count as usize;
                for (at, depth) in (first..).zip(sequence.tree.depths(first_node)) {
                    self.set(Name::Positions, at, member.base + depth);
                }
            }
            self.set(Name::Ends, index + 1, row as i32);
            self.set(Name::NewOffsets, index, member.base);
        }
    }

    /// Writes the masks of token trees.
    pub(super) fn write_masks(&mut self, sequences: &Sequences) {
        let (start, mut at) = (self.layout.start(Name::Masks), 0);
        self.set(Name::MaskEnds, 0, 0);
        for (index, member) in self.batch.iter().enumerate() {
            let elements = &mut *self.elements;
            sequences.at(member.entry as usize).tree.write_mask(|value| {
                elements[start + at] = value;
                at += 1;
            });
            self.set(Name::MaskEnds, index + 1, (at / 2) as i32);
        }
    }
}

fn rows_of(batch: &[Member]) -> i32 {
    batch.iter().map(|member| member.count).sum()
}
