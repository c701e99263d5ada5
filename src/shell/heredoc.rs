//! Heredocs: `<<EOF` announces a text that follows after the line.

use super::ast::{HereBody, Part, RawWord};
use super::cursor::Base;
use super::parser::{Parser, PendingHeredoc};

impl Parser<'_> {
    /// Notes that the body of a heredoc follows after this line.
    pub(super) fn expect_heredoc(&mut self, word: &RawWord, strip_tabs: bool, body: &HereBody) {
        let quoted = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Literal { quoted: true, .. }));
        self.pending.push(PendingHeredoc {
            delimiter: word.written(),
            strip_tabs,
            quoted,
            body: body.clone(),
        });
    }

    /// Reads the bodies that are due; the position is at the beginning of a line.
    pub(super) fn read_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.heredoc_body(&pending);
            // A slot is filled once: it was made for this heredoc alone.
            let _ = pending.body.set(body);
        }
    }

    fn heredoc_body(&mut self, pending: &PendingHeredoc) -> RawWord {
        let start = self.cursor.position();
        let mut stripped = String::new();
        let mut end;
        loop {
            end = self.cursor.position();
            if self.cursor.at_end() {
                self.incomplete = true;
                break;
            }
            let (line, ended) = self.cursor.take_line();
            let content = if pending.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if content.trim_end_matches('\r') == pending.delimiter {
                break;
            }
            if self.closes_substitution(content, &pending.delimiter) {
                let skipped = line.len() - content.len() + pending.delimiter.len();
                self.cursor.seek(end + skipped);
                break;
            }
            if pending.strip_tabs {
                stripped.push_str(content);
                if ended {
                    stripped.push('\n');
                }
            }
        }
        let after = self.cursor.position();
        self.cursor.seek(end);
        let text = self.cursor.since(start);
        self.cursor.seek(after);
        if pending.strip_tabs {
            self.heredoc_word(&stripped, self.base_fixed(start), pending.quoted)
        } else {
            self.heredoc_word(text, self.base.inner(start), pending.quoted)
        }
    }

    /// `EOF)`: inside a substitution the delimiter may be followed by the closing parenthesis.
    fn closes_substitution(&self, line: &str, delimiter: &str) -> bool {
        self.open_parens > 0
            && !delimiter.is_empty()
            && line
                .strip_prefix(delimiter)
                .is_some_and(|rest| rest.trim_start().starts_with(')'))
    }

    fn base_fixed(&self, position: usize) -> Base {
        Base::Fixed(self.base.at(position))
    }

    fn heredoc_word(&mut self, text: &str, base: Base, quoted: bool) -> RawWord {
        if quoted {
            return RawWord {
                parts: vec![Part::Literal {
                    text: text.to_owned(),
                    quoted: true,
                }],
                source: None,
                exact: match base {
                    Base::Exact(at) => Some(at),
                    Base::Fixed(_) => None,
                },
            };
        }
        let mut inner = self.inner(text, base);
        inner.depth += 1;
        let word = inner.here_text();
        self.take_in(inner);
        word
    }
}
