//! What stands behind a document's first section, however far away.
//!
//! A document may begin with the array that holds the run and say only behind it whose it is: the order of
//! keys is nobody's promise. So before such a document is given out, a second reader runs ahead through the
//! same file and brings back what stands behind the array. It goes through a file once at most, for all of
//! its documents, and holds one item at a time, as the first one does.

use std::io::Read;

use super::document::{self, Behind, Part};
use super::input;
use super::reader::{Reader, Span};

/// Opens the same bytes once more; `None` where that is impossible, as with standard input.
pub(crate) type Again<'a> = Box<dyn Fn() -> Option<Box<dyn Read + 'a>> + 'a>;

/// A second reader of one file.
pub(crate) struct LookAhead<'a> {
    again: Again<'a>,
    reader: Option<Reader<Box<dyn Read + 'a>>>,
}

impl<'a> LookAhead<'a> {
    /// Will open the file only if it is needed.
    pub(crate) fn new(again: Again<'a>) -> Self {
        Self {
            again,
            reader: None,
        }
    }

    /// What stands behind the first section of the document that begins at that offset of the text. To be asked in
    /// the order of the file. `None` when it cannot be told.
    pub(crate) fn behind(&mut self, offset: u64) -> Option<Behind> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let text = input::open((self.again)()?).ok()?.text;
                none.insert(Reader::new(text))
            }
        };
        loop {
            let span = reader.next_span().ok()??;
            if span.part == Part::Head && span.piece.bytes.start == offset {
                return Some(collected(reader));
            }
            if span.piece.bytes.start > offset {
                return None;
            }
        }
    }
}

/// Goes to the end of the document whose head was given out.
fn collected(reader: &mut Reader<impl Read>) -> Behind {
    let mut behind = Behind::default();
    let mut section = reader.section();
    while let Ok(Some(span)) = reader.next_span() {
        match span.part {
            Part::Item(name) => {
                if section != Some(name) {
                    behind.section(name, reader.bytes(&span));
                }
                section = Some(name);
            }
            Part::Member => member(reader, &span, &mut behind),
            Part::End => break,
            // Something broken inside, or another record.
            Part::Whole | Part::Head if reader.in_a_document() => {}
            Part::Whole | Part::Head | Part::Cut => break,
        }
    }
    behind
}

fn member(reader: &Reader<impl Read>, span: &Span, behind: &mut Behind) {
    let text = reader.bytes(span);
    if let Some(member) = document::Member::at(text, 0) {
        behind.member(member.key, text);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::rc::Rc;

    use super::*;

    /// Counts the bytes that are read.
    struct Counting<'a>(&'a [u8], Rc<Cell<usize>>);

    impl Read for Counting<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buf)?;
            self.1.set(self.1.get() + count);
            Ok(count)
        }
    }

    #[test]
    fn a_file_of_many_documents_is_gone_through_once() {
        const DOCUMENTS: usize = 40;
        let items = vec![r#"{"role":"user","content":"x"}"#; 1000].join(",\n");
        let mut text = String::from("words\n");
        let mut starts = Vec::new();
        for n in 0..DOCUMENTS {
            starts.push(text.len() as u64);
            text.push_str(&format!(
                "{{\"messages\":[{items}],\n\"events\":[{{\"a\":1}},{{}}],\"ids\":[1],\"platform\":\"p{n}\"}}\n"
            ));
        }
        let (read, opened) = (Rc::new(Cell::new(0)), Cell::new(0));
        let mut ahead = LookAhead::new(Box::new(|| {
            opened.set(opened.get() + 1);
            Some(Box::new(Counting(text.as_bytes(), Rc::clone(&read))) as Box<dyn Read>)
        }));
        for (n, start) in starts.iter().enumerate().filter(|(n, _)| n % 3 != 1) {
            let behind = ahead.behind(*start).unwrap();
            assert_eq!(behind.members, format!(",\"platform\":\"p{n}\""));
            assert_eq!(
                behind.all(),
                format!("{},\"events\":[{{\"a\":1}}],\"ids\":[1]", behind.members)
            );
        }
        assert_eq!(opened.get(), 1);
        assert!(read.get() <= text.len(), "{} of {}", read.get(), text.len());
        assert_eq!(ahead.behind(1), None, "there is no way back");
    }
}
