//! Loops: a body for each value, as far as the values are known.

use super::ast::{RawWord, Script};
use super::evaluator::{Context, Evaluator};
use super::limits::{MAX_LOOP_ROUNDS, STEP_COST};
use super::scope::Field;

impl Evaluator {
    /// Evaluates the body once for each literal word; once for all if they cannot be told.
    pub(super) fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[RawWord]>,
        body: &Script,
        context: &Context,
    ) {
        let values = match words {
            Some(words) => self.expand_words(words, context),
            None => self.scope.variables.get("@").cloned().unwrap_or_default(),
        };
        // A pattern of file names stands for them in the body as it would without the loop.
        let pattern = |text: &str| text.contains(['*', '?', '[']) && !text.contains(['$', '`']);
        let known = !values.is_empty()
            && values
                .iter()
                .all(|field| !field.dynamic || pattern(&field.text));
        if !known || values.len() > MAX_LOOP_ROUNDS {
            self.scope
                .variables
                .set(name, vec![Field::unresolved(&format!("${name}"))]);
            self.script(body, context);
            return;
        }
        let start = self.out.len();
        let mut first = None;
        for value in values {
            if !self.charge(STEP_COST) {
                return;
            }
            self.scope.variables.set(name, vec![value]);
            self.round(body, context, start, &mut first);
        }
    }

    /// One round of a loop whose first one, of so many calls, was noted from `start` on. A body that does not use the
    /// variable is noted once.
    fn round(&mut self, body: &Script, context: &Context, start: usize, first: &mut Option<usize>) {
        let before = self.out.len();
        self.script(body, context);
        let added = self.out.get(before..).unwrap_or_default();
        match *first {
            None => *first = Some(added.len()),
            Some(length) if self.out.get(start..start + length) == Some(added) => {
                self.out.truncate(before);
            }
            Some(_) => {}
        }
    }

    /// `for ((n = 1; n < 9; n++))`: a round for each number, or one for all if they cannot be told.
    pub(super) fn counting(&mut self, header: &RawWord, body: &Script, context: &Context) {
        let text = self.expand_single(header, context).text;
        let mut parts = text.split(';');
        let (first, goes_on, step) = (parts.next(), parts.next(), parts.next());
        let mut known = first.is_none_or(|first| self.compute(first).is_some());
        let start = self.out.len();
        let (mut rounds, mut first_round) = (0, None);
        while known && rounds < MAX_LOOP_ROUNDS && self.charge(STEP_COST) {
            match goes_on.and_then(|goes_on| self.compute(goes_on)) {
                Some(0) => return,
                Some(_) => {}
                None => break,
            }
            self.round(body, context, start, &mut first_round);
            rounds += 1;
            known = step.is_some_and(|step| self.compute(step).is_some());
        }
        // Some rounds were not looked at: the variable has more values.
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let counter = first.and_then(|first| first.split(|c| !name(c)).find(|n| !n.is_empty()));
        if let Some(counter) = counter {
            let unknown = Field::unresolved(&format!("${counter}"));
            self.scope.variables.set(counter, vec![unknown]);
        }
        self.script(body, context);
    }
}
