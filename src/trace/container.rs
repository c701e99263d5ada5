//! Compressed files: recognised by their first bytes, unpacked as they are read.
//!
//! Nothing is ever held whole, and what goes wrong ends the stream with a [`Problem`] and no error: what
//! was unpacked up to there is read. A small file that expands without end is stopped by
//! [`MAX_RATIO`].

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::input::Trouble;
use super::problem::Problem;
use super::zip::Zip;

/// How many times its size a file may expand to. Logs shrink to a tenth or a fiftieth.
pub(super) const MAX_RATIO: u64 = 250;
/// Unpacked bytes that are read in any case.
const MAX_RATIO_FROM: u64 = 64 << 20;

/// What a file is by its first bytes, if it is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// Can be unpacked.
    Packed(Packed),
    /// Cannot be read as text; what it is.
    Closed(&'static str),
}

/// A kind of compression that is unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packed {
    Gzip,
    Zstandard,
    Zip,
}

impl Packed {
    /// Its name, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
            Self::Zip => "zip",
        }
    }
}

/// The container that a file with these first bytes is.
pub(super) fn of(head: &[u8]) -> Option<Container> {
    const MAGIC: [(&[u8], Container); 12] = [
        (b"\x1f\x8b\x08", Container::Packed(Packed::Gzip)),
        (b"\x28\xb5\x2f\xfd", Container::Packed(Packed::Zstandard)),
        (b"PK\x03\x04", Container::Packed(Packed::Zip)),
        (b"PK\x05\x06", Container::Packed(Packed::Zip)),
        (b"\xfd7zXZ\x00", Container::Closed("xz")),
        (b"BZh", Container::Closed("bzip2")),
        (b"7z\xbc\xaf\x27\x1c", Container::Closed("a 7z archive")),
        (
            b"SQLite format 3\0",
            Container::Closed("an SQLite database"),
        ),
        (b"\x7fELF", Container::Closed("a program")),
        (b"\x89PNG", Container::Closed("an image")),
        (b"%PDF-", Container::Closed("a PDF")),
        (b"\xff\xd8\xff", Container::Closed("an image")),
    ];
    // A Zstandard file may begin with a frame to be skipped.
    if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = head {
        return Some(Container::Packed(Packed::Zstandard));
    }
    MAGIC
        .iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, container)| *container)
}

/// The content of a packed stream.
pub(super) fn unpack<'r>(
    packed: Packed,
    source: impl BufRead + 'r,
    trouble: Trouble,
) -> Box<dyn Read + 'r> {
    let source = Source::new(source);
    let (read, failed) = (Rc::clone(&source.read), Rc::clone(&source.failed));
    let unpacked: Box<dyn Read + 'r> = match packed {
        Packed::Gzip => Box::new(MultiGzDecoder::new(source)),
        Packed::Zstandard => Box::new(Frames::Between(source)),
        Packed::Zip => Box::new(Zip::new(source, Rc::clone(&trouble))),
    };
    Box::new(Guard {
        inner: unpacked,
        packed,
        unpacked: 0,
        read,
        failed,
        trouble,
        over: false,
    })
}

/// The packed bytes: counts them and remembers whether reading them failed.
pub(super) struct Source<R> {
    inner: R,
    read: Rc<Cell<u64>>,
    failed: Rc<Cell<bool>>,
}

impl<R> Source<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            read: Rc::default(),
            failed: Rc::default(),
        }
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buf)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let failed = &self.failed;
        self.inner.fill_buf().inspect_err(|error| {
            failed.set(error.kind() != io::ErrorKind::Interrupted);
        })
    }

    fn consume(&mut self, count: usize) {
        self.read.set(self.read.get() + count as u64);
        self.inner.consume(count);
    }
}

/// Ends the stream where unpacking fails or goes beyond all measure.
struct Guard<'r> {
    inner: Box<dyn Read + 'r>,
    packed: Packed,
    /// Bytes given out.
    unpacked: u64,
    /// Packed bytes used.
    read: Rc<Cell<u64>>,
    /// The packed bytes could not be read.
    failed: Rc<Cell<bool>>,
    trouble: Trouble,
    over: bool,
}

impl Read for Guard<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.over {
            return Ok(0);
        }
        match self.inner.read(buf) {
            Ok(count) => {
                self.unpacked += count as u64;
                let allowed = MAX_RATIO
                    .saturating_mul(self.read.get())
                    .max(MAX_RATIO_FROM);
                if self.unpacked > allowed {
                    self.over = true;
                    self.trouble.borrow_mut().push(Problem::Bomb);
                }
                Ok(count)
            }
            Err(error) if self.failed.get() || error.kind() == io::ErrorKind::Interrupted => {
                Err(error)
            }
            Err(_) => {
                self.over = true;
                let problem = Problem::Damaged(self.packed.name());
                self.trouble.borrow_mut().push(problem);
                Ok(0)
            }
        }
    }
}

/// Zstandard frames, one behind the other.
enum Frames<S: BufRead> {
    Between(S),
    Inside(Box<Frame<S>>),
    Over,
}

impl<S: BufRead> Frames<S> {
    /// Starts the next frame, if there is one.
    fn next(mut source: S) -> io::Result<Self> {
        loop {
            if source.fill_buf()?.is_empty() {
                return Ok(Self::Over);
            }
            let mut decoder = FrameDecoder::new();
            match decoder.init(&mut source) {
                Ok(()) => return Ok(Self::Inside(Box::new(Frame { decoder, source }))),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut source.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl<S: BufRead> Read for Frames<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Over) {
                Self::Over => return Ok(0),
                Self::Between(source) => *self = Self::next(source)?,
                Self::Inside(mut frame) => {
                    let count = frame.read(buf)?;
                    if count > 0 || buf.is_empty() {
                        *self = Self::Inside(frame);
                        return Ok(count);
                    }
                    *self = Self::Between(frame.source);
                }
            }
        }
    }
}

/// One Zstandard frame.
pub(super) struct Frame<S> {
    decoder: FrameDecoder,
    pub(super) source: S,
}

impl<S: Read> Frame<S> {
    /// Starts a frame; with an error when none begins here that can be read.
    pub(super) fn start(mut source: S) -> Result<Self, S> {
        let mut decoder = FrameDecoder::new();
        match decoder.init(&mut source) {
            Ok(()) => Ok(Self { decoder, source }),
            Err(_) => Err(source),
        }
    }
}

impl<S: Read> Read for Frame<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let step = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = self.decoder.decode_blocks(&mut self.source, step);
            decoded.map_err(io::Error::other)?;
        }
        let count = self.decoder.read(buf)?;
        let sums = (
            self.decoder.get_checksum_from_data(),
            self.decoder.get_calculated_checksum(),
        );
        match sums {
            (Some(given), Some(found)) if count == 0 && !buf.is_empty() && given != found => {
                Err(io::ErrorKind::InvalidData.into())
            }
            _ => Ok(count),
        }
    }
}
