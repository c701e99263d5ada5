//! A document on its way out: one member, one item at a time.
//!
//! Where a document is damaged the reader stays in it: a broken item is given out as such, up to the
//! next item, and so is anything else that cannot stand where it stands. Only an object outside of the
//! document's layout ends it.

use std::io::{self, Read};

use memchr::memmem;

use super::super::document::{self, Member, Part};
use super::super::scan::{Scan, Scanner};
use super::{Cut, MAX_TEXT, RESCAN_FACTOR, RESCAN_MIN, Reader, Span};

/// A document whose end was not met yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// The section in which the reader stands.
    pub(super) section: Option<&'static str>,
    /// 1-based line of its first byte.
    line: u64,
    /// White space in front of it.
    indent: usize,
    /// White space in front of the first item of the section.
    item_indent: Option<usize>,
}

impl<R: Read> Reader<R> {
    /// Gives out the head of a document: what stands in front of the first item of its section.
    pub(super) fn open_document(&mut self, name: &'static str, first: usize) -> io::Result<Span> {
        while self.buffer.unread().len() < document::MAX_HEAD && self.read_more()? {}
        let unread = self.buffer.unread();
        self.behind = document::members_behind(unread, first);
        let item = document::first_item(unread.get(first..).unwrap_or_default());
        self.first_item = String::from_utf8_lossy(item).into_owned();
        self.document = Some(Open {
            section: Some(name),
            line: self.buffer.line(),
            indent: self.buffer.indent(),
            item_indent: None,
        });
        let span = self.take(Cut::Value, first);
        Ok(Span {
            part: Part::Head,
            ..span
        })
    }

    /// Goes on inside a document; `None` when that brought nothing, or the document is no more.
    pub(super) fn in_document(&mut self, open: Open) -> io::Result<Option<Span>> {
        let Some(first) = self.buffer.peek(0)? else {
            return Ok(None);
        };
        if first == b'{' && self.leaves(open) {
            // Its end was lost: this is another one.
            self.oddities.open_arrays += 1;
            self.document = None;
            return Ok(None);
        }
        match (open.section, first) {
            (Some(_), b']') => {
                self.buffer.skip(b']');
                self.document = Some(Open {
                    section: None,
                    item_indent: None,
                    ..open
                });
                Ok(None)
            }
            (Some(name), b'{' | b'[') => {
                self.comma = false;
                self.document = Some(Open {
                    item_indent: open.item_indent.or(Some(self.buffer.indent())),
                    ..open
                });
                let span = self.scan_value()?;
                Ok(Some(match span.cut {
                    Cut::Value => Span {
                        part: Part::Item(name),
                        ..span
                    },
                    _ => span,
                }))
            }
            (None, b'}') => {
                self.document = None;
                let span = self.take(Cut::Value, 1);
                Ok(Some(Span {
                    part: Part::End,
                    ..span
                }))
            }
            (None, b'"') => self.member(open),
            _ => self.stray().map(Some),
        }
    }

    /// True when the object that begins here stands where no item would: at the start of a line, no
    /// deeper than the document, and the items were deeper or no comma is in front of it.
    fn leaves(&self, open: Open) -> bool {
        let outside = self.buffer.starts_line()
            && self.buffer.line() > open.line
            && self.buffer.indent() <= open.indent;
        let expected = match open.item_indent {
            _ if open.section.is_none() => false,
            None => true,
            Some(indent) => indent <= open.indent && self.comma,
        };
        outside && !expected
    }

    /// At a member of a document: goes into a section, or gives out the member.
    fn member(&mut self, open: Open) -> io::Result<Option<Span>> {
        if self.affordable() == 0 {
            return self.stray().map(Some);
        }
        loop {
            let bytes = self.buffer.unread();
            let member = Member::at(bytes, 0);
            let section = member.and_then(|member| member.section(bytes));
            if let Some(Ok((name, first))) = section {
                for _ in 0..first {
                    let byte = self.buffer.peek(0)?.unwrap_or_default();
                    self.buffer.skip(byte);
                }
                self.document = Some(Open {
                    section: Some(name),
                    ..open
                });
                return Ok(None);
            }
            let end = match (section, member) {
                (None, Some(member)) => document::value_end(bytes, member.value),
                _ => Scan::More,
            };
            match end {
                Scan::Done(end) => {
                    let span = self.take(Cut::Value, end);
                    return Ok(Some(Span {
                        part: Part::Member,
                        ..span
                    }));
                }
                Scan::More if bytes.len() <= self.max_record && self.read_more()? => {}
                _ => {
                    self.rescanned += self.buffer.unread().len() as u64;
                    return self.stray().map(Some);
                }
            }
        }
    }

    /// Reads half as much again as there is, so that looking from the start each time stays linear;
    /// false when there is nothing more.
    pub(super) fn read_more(&mut self) -> io::Result<bool> {
        let before = self.buffer.unread().len();
        while self.buffer.unread().len() < before + before / 2 + 1 {
            if !self.buffer.fill()? {
                break;
            }
        }
        Ok(self.buffer.unread().len() > before)
    }

    /// Something that cannot stand there: up to the next item on its line, or to the line's end.
    fn stray(&mut self) -> io::Result<Span> {
        let length = self.rest_of_line(0)?;
        let length = self.up_to_item(length);
        Ok(self.take(Cut::Broken, length))
    }

    /// Length of the rest of the line, looked for behind `from`. The end of a long line is looked for
    /// once, however many pieces it is cut into.
    pub(super) fn rest_of_line(&mut self, from: usize) -> io::Result<usize> {
        let here = self.buffer.offset();
        if here + from as u64 >= self.line_end {
            let end = self.buffer.line_feed(from, MAX_TEXT.max(from))?;
            let length = end.unwrap_or_else(|| self.buffer.unread().len().min(MAX_TEXT.max(from)));
            self.line_end = here + length as u64;
        }
        Ok((self.line_end - here) as usize)
    }

    /// Bytes that may still be scanned again.
    pub(super) fn affordable(&self) -> u64 {
        (RESCAN_FACTOR * self.buffer.read_so_far() + RESCAN_MIN).saturating_sub(self.rescanned)
    }

    /// In a damaged line of a document: where an item begins behind which its array goes on or ends;
    /// otherwise the length of the line.
    pub(super) fn up_to_item(&mut self, line: usize) -> usize {
        let line = self.buffer.unread().get(..line).unwrap_or_default();
        let whole = line.trim_ascii_end().len().max(1);
        let mut left =
            (RESCAN_FACTOR * self.buffer.read_so_far() + RESCAN_MIN).saturating_sub(self.rescanned);
        let mut found = whole;
        for start in memmem::find_iter(line, b"{\"").filter(|start| *start > 0) {
            let tail = line.get(start..).unwrap_or_default();
            let (used, done) = match Scanner::new().feed(tail) {
                Scan::Done(used) => (used, true),
                Scan::Broken(used) => (used, false),
                Scan::More => (tail.len(), false),
            };
            let behind = tail.get(used..).unwrap_or_default().trim_ascii_start();
            if done && matches!(behind.first(), Some(b',' | b']')) {
                found = start;
                break;
            }
            let Some(rest) = left.checked_sub(used as u64 + 1) else {
                break;
            };
            self.rescanned += used as u64 + 1;
            left = rest;
        }
        found
    }
}
