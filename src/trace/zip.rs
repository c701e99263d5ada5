//! Zip archives, entry by entry, as they stand in the stream.
//!
//! The table at the end of an archive is not used: it needs a file that can be searched, it is missing
//! from an archive that was cut off, and an entry that it leaves out is still there to be read. The
//! contents of all entries become one text, one behind the other. What an entry holds is told by its
//! content, not by its name.

use std::io::{self, BufRead, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::container::Frame;
use super::input::Trouble;
use super::problem::Problem;

/// An archive, read from its start.
pub(super) struct Zip<S: BufRead> {
    state: State<S>,
    /// Checksum of the entry so far, and what it must be, where the header says.
    crc: Crc,
    want_crc: Option<u32>,
    trouble: Trouble,
}

enum State<S: BufRead> {
    /// Before the signature of an entry.
    Between(S),
    Stored(io::Take<S>),
    Deflate(Box<DeflateDecoder<S>>),
    Zstandard(Box<Frame<S>>),
    Over,
}

/// What the header of an entry says.
struct Header {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
}

impl Header {
    /// Its sizes and checksum stand behind the content.
    fn sizes_follow(&self) -> bool {
        self.flags & 8 != 0
    }
}

impl<S: BufRead> Zip<S> {
    pub(super) fn new(source: S, trouble: Trouble) -> Self {
        Self {
            state: State::Between(source),
            crc: Crc::new(),
            want_crc: None,
            trouble,
        }
    }

    fn note(&self, problem: Problem) {
        self.trouble.borrow_mut().push(problem);
    }

    /// Starts the next entry.
    fn next(&mut self, mut source: S) -> io::Result<State<S>> {
        while to_entry(&mut source)? {
            let header = header(&mut source)?;
            self.crc = Crc::new();
            self.want_crc = (!header.sizes_follow()).then_some(header.crc);
            let encrypted = header.flags & 1 != 0;
            match header.method {
                _ if encrypted => {}
                0 if !header.sizes_follow() => {
                    return Ok(State::Stored(source.take(header.packed)));
                }
                8 => return Ok(State::Deflate(Box::new(DeflateDecoder::new(source)))),
                93 | 20 => match Frame::start(source) {
                    Ok(frame) => return Ok(State::Zstandard(Box::new(frame))),
                    Err(behind) => source = behind,
                },
                _ => {}
            }
            self.note(Problem::SealedEntry);
        }
        Ok(State::Over)
    }

    /// Closes an entry: what stands behind it.
    fn close(&mut self, source: S) {
        if self.want_crc.is_some_and(|crc| crc != self.crc.sum()) {
            self.note(Problem::Damaged("zip"));
        }
        self.state = State::Between(source);
    }
}

impl<S: BufRead> Read for Zip<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(first) = buf.first_mut() else {
            return Ok(0);
        };
        *first = b'\n';
        let count = loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Between(source) => {
                    self.state = self.next(source)?;
                    continue;
                }
                State::Stored(mut entry) => match entry.read(buf)? {
                    0 => {
                        if entry.limit() > 0 {
                            self.note(Problem::Damaged("zip"));
                        }
                        self.close(entry.into_inner());
                    }
                    count => {
                        self.state = State::Stored(entry);
                        break count;
                    }
                },
                State::Deflate(mut entry) => match entry.read(buf) {
                    Ok(0) => self.close(entry.into_inner()),
                    Ok(count) => {
                        self.state = State::Deflate(entry);
                        break count;
                    }
                    Err(_) => self.give_up(entry.into_inner()),
                },
                State::Zstandard(mut entry) => match entry.read(buf) {
                    Ok(0) => self.close(entry.source),
                    Ok(count) => {
                        self.state = State::Zstandard(entry);
                        break count;
                    }
                    Err(_) => self.give_up(entry.source),
                },
            }
            // A line feed between entries: what one ends with is not glued to the next.
            return Ok(1);
        };
        self.crc.update(buf.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl<S: BufRead> Zip<S> {
    /// A damaged entry: goes on with the next one.
    fn give_up(&mut self, source: S) {
        self.want_crc = None;
        self.note(Problem::Damaged("zip"));
        self.close(source);
    }
}

/// Moves behind the signature of the next entry; false when none follows.
fn to_entry(source: &mut impl BufRead) -> io::Result<bool> {
    let mut last = 0_u32;
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(false);
        }
        let mut used = 0;
        for byte in chunk {
            used += 1;
            last = last << 8 | u32::from(*byte);
            // `PK\3\4`: an entry. `PK\1\2`, `PK\5\6`: the table at the end.
            if matches!(last, 0x504b_0304 | 0x504b_0102 | 0x504b_0506) {
                break;
            }
        }
        source.consume(used);
        match last {
            0x504b_0304 => return Ok(true),
            0x504b_0102 | 0x504b_0506 => return Ok(false),
            _ => {}
        }
    }
}

/// Reads the header of an entry, its name and its extra fields.
fn header(source: &mut impl Read) -> io::Result<Header> {
    let mut fixed = [0; 26];
    source.read_exact(&mut fixed)?;
    let [
        _,
        _,
        f0,
        f1,
        m0,
        m1,
        _,
        _,
        _,
        _,
        c0,
        c1,
        c2,
        c3,
        s0,
        s1,
        s2,
        s3,
        _,
        _,
        _,
        _,
        n0,
        n1,
        x0,
        x1,
    ] = fixed;
    let name = u64::from(u16::from_le_bytes([n0, n1]));
    io::copy(&mut source.by_ref().take(name), &mut io::sink())?;
    let mut extra = Vec::new();
    let extra_len = u64::from(u16::from_le_bytes([x0, x1]));
    source.by_ref().take(extra_len).read_to_end(&mut extra)?;
    let packed = u32::from_le_bytes([s0, s1, s2, s3]);
    Ok(Header {
        flags: u16::from_le_bytes([f0, f1]),
        method: u16::from_le_bytes([m0, m1]),
        crc: u32::from_le_bytes([c0, c1, c2, c3]),
        packed: match packed {
            u32::MAX => long_size(&extra).unwrap_or(packed.into()),
            packed => packed.into(),
        },
    })
}

/// The packed size of an entry beyond 4 GiB: behind the unpacked one in the extra field 1.
fn long_size(mut extra: &[u8]) -> Option<u64> {
    loop {
        let (id, rest) = extra.split_first_chunk::<2>()?;
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let (field, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
        if *id == [1, 0] {
            let packed = field.get(8..)?.first_chunk::<8>()?;
            return Some(u64::from_le_bytes(*packed));
        }
        extra = rest;
    }
}
