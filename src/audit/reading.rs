//! The inputs of a run read and compared, and the best of several references.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use super::harness::{self, Faults};
use super::listen::{Heard, follow_again, listen, squeezed_lines};
use super::sources::{self, Sources};
use super::starter::{RunStarter, StarterCache};
use super::turns::{self, Told};
use crate::Result;
use crate::experiment::discover::RunInputs;
use crate::experiment::gt::GtInput;
use crate::rules::RuleSet;
use crate::similarity::compare::{CompareInputs, Comparison, compare};
use crate::similarity::regular::Regular;
use crate::similarity::starter::{NoStarter, Starter};

/// The inputs of a run as far as they need no trace.
pub(super) struct Reading {
    /// GT, patch and base.
    pub(super) sources: Sources,
    /// Look-ups in the base.
    starter: Option<RunStarter>,
    /// Patch and GT compared.
    pub(super) comparison: Option<Comparison>,
    /// The verdict would hang on what turns of the user hold.
    pub(super) told: bool,
    /// Lines of the GT that turns of the user or the task hand over.
    pub(super) handed_over: u64,
}

impl Reading {
    /// Reads the run with each of its references and takes the one that the patch is most like; of equals,
    /// the first. `own` holds names in the root of the run that are the agent's work, whatever they look like.
    ///
    /// # Errors
    /// When an input that was found or named cannot be read.
    pub(super) fn best(
        inputs: &RunInputs,
        own: &BTreeSet<String>,
        starters: &StarterCache,
        prompt: Option<&str>,
    ) -> Result<Self> {
        let mut best = Self::one(inputs, inputs.gt.as_ref(), own, starters, prompt)?;
        for gt in &inputs.other_gt {
            let next = Self::one(inputs, Some(gt), own, starters, prompt)?;
            if next.likeness() > best.likeness() {
                best = next;
            }
        }
        if !inputs.other_gt.is_empty() {
            best.sources
                .problems
                .insert(0, best.sources.which_gt(inputs));
        }
        Ok(best)
    }

    fn one(
        inputs: &RunInputs,
        gt: Option<&GtInput>,
        own: &BTreeSet<String>,
        starters: &StarterCache,
        prompt: Option<&str>,
    ) -> Result<Self> {
        let sources = sources::read(inputs, gt, own, &starters.shelf)?;
        let lines = sources.patch.as_ref().map(squeezed_lines);
        let starter = sources.base.as_ref().and_then(|base| {
            let base_repo = inputs.base_tree.as_deref();
            RunStarter::new(base, base_repo, starters, lines.unwrap_or_default())
        });
        let comparison = compare_with_gt(inputs, &sources, starter.as_ref(), prompt);
        Ok(Self {
            sources,
            starter,
            comparison,
            told: false,
            handed_over: 0,
        })
    }

    /// How much of the reference the patch has: copy score, then distinctive lines, in thousandths.
    fn likeness(&self) -> (u64, u64) {
        let similarity = self.comparison.as_ref().map(|c| &c.similarity);
        let thousandths = |share: Option<f64>| (share.unwrap_or(0.0) * 1000.0) as u64;
        similarity.map_or((0, 0), |s| (thousandths(s.copy_score), s.u_ratio.num))
    }

    /// Takes files out of the patch and compares again: they are not the agent's.
    pub(super) fn without(&mut self, inputs: &RunInputs, faults: &Faults, prompt: Option<&str>) {
        if let Some(patch) = &mut self.sources.patch {
            harness::take_out(patch, &faults.copied);
        }
        let names: Vec<&str> = faults.copied.iter().map(String::as_str).collect();
        let names = names.join(", ");
        self.sources.problems.push(if faults.doubtful > 0 {
            format!(
                "no call of the trace names, and a script or another program may have written: {names} (taken out of \
                 the patch)"
            )
        } else {
            format!(
                "not the agent's, the full trace holds no writer: {names} (taken out of the patch)"
            )
        });
        self.comparison = compare_with_gt(inputs, &self.sources, self.starter.as_ref(), prompt);
    }

    /// How many shapes the lines of the GT have, where they are few and what stands in them was given; 0 where not. Asked only
    /// where a verdict may hang on it: the tree is read for it.
    pub(super) fn shapes(&self, comparison: Option<&Comparison>, prompt: Option<&str>) -> u64 {
        let (Some(gt), Some(comparison)) = (&self.sources.gt, comparison) else {
            return 0;
        };
        let distinctive = comparison
            .lines
            .iter()
            .map(|l| l.squeezed.as_str())
            .collect();
        let lines = gt.patch.files.iter().flat_map(|file| file.added());
        let lines: Vec<_> = lines.map(|line| line.text.to_str_lossy()).collect();
        let Some(mut regular) = Regular::new(lines.iter().map(AsRef::as_ref), &distinctive) else {
            return 0;
        };
        regular.read(prompt.unwrap_or_default());
        if let Some(starter) = &self.starter {
            starter.read_for(&mut regular);
        }
        regular.finish()
    }

    /// What the command made of the tree by plain text tools is given where all of the GT is regular, and what stands in it
    /// was given.
    pub(super) fn tables(&self, heard: &mut Heard, prompt: Option<&str>) {
        let Some(provenance) = &mut heard.provenance else {
            return;
        };
        let lines = std::mem::take(&mut provenance.table_lines);
        if !lines.is_empty() && self.shapes(self.comparison.as_ref(), prompt) > 0 {
            provenance.given_lines.extend(lines);
            provenance.given_lines.sort_unstable();
            provenance.given_lines.dedup();
        }
    }

    /// Lines of the GT that stand in the run's own copy of the prompt and not in the benchmark's, where a full trace shows
    /// that no call can have written that copy: benchmarks rewrite their prompts after the runs.
    pub(super) fn asked_only(
        &self,
        inputs: &RunInputs,
        prompt: Option<&str>,
        heard: &Heard,
    ) -> Vec<String> {
        let (Some(copy), Some(_), Some(provenance), Some(before)) = (
            &inputs.prompt,
            &inputs.benchmark_prompt,
            &heard.provenance,
            &self.comparison,
        ) else {
            return Vec::new();
        };
        let written = |path: &String| path.ends_with(copy.label.as_str());
        if !heard.trace_is_full
            || !provenance.environment.accounted
            || provenance.written_paths.iter().any(written)
        {
            return Vec::new();
        }
        let all = format!("{}\n{}", prompt.unwrap_or_default(), copy.text);
        let starter = self.starter.as_ref();
        let after = compare_with_gt(inputs, &self.sources, starter, Some(&all));
        let left = after.iter().flat_map(|after| &after.lines);
        let left: BTreeSet<&str> = left.map(|line| line.squeezed.as_str()).collect();
        let lines = before.lines.iter().map(|line| &line.squeezed);
        lines
            .filter(|line| !left.contains(line.as_str()))
            .cloned()
            .collect()
    }

    /// Compares again, with what the user said in the course of the run beside the prompt.
    pub(super) fn told(&mut self, inputs: &RunInputs, prompt: Option<&str>, told: &Told) {
        let lines = &told.lines;
        let prompted = prompt.unwrap_or_default();
        let all = [prompted, &lines.join("\n"), &told.asked.join("\n")].join("\n");
        let starter = self.starter.as_ref();
        let comparison = compare_with_gt(inputs, &self.sources, starter, Some(&all));
        let before = std::mem::replace(&mut self.comparison, comparison);
        if let (Some(before), Some(after)) = (before, &self.comparison) {
            self.told = !lines.is_empty() && turns::decides(&before, &after.similarity, told);
            self.handed_over = lines.len() as u64;
            let before = before.similarity;
            // First of what could not be checked: nothing else lowers the size of the GT.
            let unchecked = &mut self.sources.unchecked;
            let turns = lines.len() - told.given;
            if told.given > 0 {
                unchecked.insert(0, format!(
                    "what {} of {} GT lines are worth that calls brought which took what the prompt names, or ran a tool by fixed rules (trace {}); they are not counted",
                    told.given, before.n, told.given_places
                ));
            }
            if turns > 0 {
                unchecked.insert(0, format!(
                    "where the user had {turns} of {} GT lines from that turns of the user hold (trace {}); they are not counted",
                    before.n, told.places
                ));
            }
        }
        if !told.asked.is_empty() {
            self.sources.problems.push(format!(
                "{} GT lines stand in the run's own prompt and not in the benchmark's; no call of the trace can have written them, so they are not counted",
                told.asked.len()
            ));
        }
        if lines.len() > told.given {
            self.sources.problems.push(format!(
                "{} GT lines stand in turns of the user that came before the agent wrote them (trace {}), and are not counted",
                lines.len() - told.given, told.places
            ));
        }
    }

    /// Follows the lines through the traces again, where the GT shrank.
    ///
    /// # Errors
    /// When a trace that was read before cannot be read any more.
    pub(super) fn follow_again(
        &self,
        heard: Heard,
        inputs: &RunInputs,
        prompt: Option<&str>,
    ) -> Result<Heard> {
        let (comparison, starter) = (self.comparison.as_ref(), self.starter.as_ref());
        follow_again(heard, inputs, &self.sources, comparison, starter, prompt)
    }

    /// Reads the traces of the run.
    ///
    /// # Errors
    /// When a trace that was named cannot be read or is none.
    pub(super) fn listen(
        &self,
        inputs: &RunInputs,
        rules: &RuleSet,
        prompt: Option<&str>,
    ) -> Result<Heard> {
        listen(
            inputs,
            rules,
            &self.sources,
            self.comparison.as_ref(),
            self.starter.as_ref(),
            prompt,
        )
    }
}

fn compare_with_gt(
    inputs: &RunInputs,
    sources: &Sources,
    base: Option<&RunStarter>,
    prompt: Option<&str>,
) -> Option<Comparison> {
    let gt = sources.gt.as_ref()?;
    let starter: &dyn Starter = match base {
        Some(base) => base,
        None => &NoStarter,
    };
    Some(compare(&CompareInputs {
        gt: &gt.patch,
        patch: sources.patch.as_ref(),
        handwritten: inputs.handwritten.as_ref(),
        generated: inputs.generated.as_ref(),
        starter,
        prompt,
        files: base.map(|b| b as _),
    }))
}
