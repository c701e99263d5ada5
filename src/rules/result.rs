//! What came back from a call: nothing, an error, names, or content?
//!
//! Exit code 0 proves nothing (`|| true`, `curl -s` on a 404 page), and a non-zero code does not
//! prove emptiness (`cat a b` prints `a` and fails on `b`). So the text decides, and codes only
//! where the text is silent.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use bstr::ByteSlice;
use regex::bytes::Regex;

use super::git::dates::commit_days;
use super::git::history::{History, is_commit_id};
use super::git::version::Version;
use super::rule::Facet;
use super::task::Task;
use super::text::ascii;
use crate::trace::event::Outcome;

/// A text longer than this is more than an error message, whatever it says. In bytes.
const MAX_ERROR_TEXT: usize = 4_000;

/// Errors of programs, of the network, of tools: nothing came back.
static ERRORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?imx)
        ^\s*(?:fatal|error|usage|panic)\s*: | ^\s*\w+\s(?:error|ERR!)\s
        | \b(?:40[0-9]|41[0-9]|42[0-9]|45[0-9]|50[0-9])\b[\s:]{1,3}
          (?:not\sfound|forbidden|unauthorized|bad\srequest|too\smany|client\serror|error
             |service\sunavailable|bad\sgateway|proxy\sauth|gone|unavailable|rate)
        | \bHTTP(?:/[\d.]+)?\s+(?:status\s+)?(?:code\s+)?(?:4\d\d|5\d\d)\b
        | \b(?:status|http)\s*(?:code)?\s*[:=]?\s*(?:401|403|404|407|410|429|451|5\d\d)\b
        | \A\s*not\sfound\.?\s*\z | \x22message\x22\s*:\s*\x22not\sfound
        | page\snot\sfound | <title>[^<]{0,40}(?:not\sfound|forbidden|denied|error)
        | could\snot\sresolve | couldn't\s(?:resolve|connect|reach|find) | name\sor\sservice\snot\sknown
        | temporary\sfailure\sin\sname | unable\sto\s(?:access|connect|resolve|locate|open|find|read|reach|fetch|get|load|retrieve|verify|establish)
        | failed\sto\s(?:connect|fetch|open|resolve|download|load|retrieve)
        | connection\s(?:refused|reset|timed\sout|error|closed) | ConnectionError | ConnectTimeout
        | network\s(?:is\s)?(?:unreachable|disabled|access) | no\sroute\sto\shost
        | operation\stimed\sout | \btimed?[\s-]?out\b | URLError | ProxyError | SSLError
        | HTTPError | MaxRetryError | NewConnectionError | EAI_AGAIN
        | ERR_[A-Z_]+ | \bE(?:NOTFOUND|CONNREFUSED|ACCES|PERM|NOENT|TIMEDOUT|AI_AGAIN)\b
        | \bdial\s(?:tcp|udp)\b[^\n]{0,200}:\s | server\smisbehaving | i/o\stimeout
        | \berror\sconnecting\b | check\syour\s(?:internet\s)?connection | (?:file|path|directory|document)\snot\sfound\b
        | no\ssuch\s(?:file|host|remote|ref|object|image|container|branch) | (?:does\snot|doesn't)\sexist
        | not\sa\sgit\srepository | no\sgit\sremotes\sfound | (?:could\snot|unable\sto)\sdetermine\s | unknown\srevision | bad\s(?:revision|object|file)
        | pathspec\s | did\snot\smatch\sany | couldn't\sfind\sremote\sref
        | permission\sdenied | access\sdenied | operation\snot\spermitted
        | permission\sto\suse | (?:has|have)\sbeen\sdenied | is\snot\sallowed | not\spermitted
        | (?:is|are|was|been)\s(?:disabled|blocked|forbidden|prohibited|restricted|rejected|unavailable|denied)
        | call\srejected | rejected\sby | user\s(?:rejected|denied|doesn't) | requires?\sapproval
        | host_not_allowed | deny-reason | blocked\sby | egress | sandbox\s(?:denied|blocked)
        | command\snot\sfound | not\srecogni[sz]ed\sas | executable\sfile\snot\sfound
        | authentication\s(?:required|failed) | bad\scredentials | not\slogged\sin | gh\sauth\slogin
        | requires?\sauthentication | (?:API\s)?rate\slimit | too\smany\srequests
        | no\svalid\spatches | patch\sdoes\snot\sapply | patch\sfailed | unrecognized\sinput
        | only\sgarbage\swas\sfound | corrupt\spatch | does\snot\sapply
        | no\smatching\sdistribution | could\snot\sfind\sa\sversion | unable\sto\slocate\spackage
        | no\sresults?\sfound | no\smatches\sfound | did\snot\smatch | nothing\sto\sshow
        | not\s(?:available|accessible|reachable)\b | cannot\s(?:access|open|connect|find|reach|stat)
        | manifest\sunknown | pull\saccess\sdenied | repository\s(?:does\s)?not\s(?:exist|found)
        | offline | ModuleNotFoundError | No\smodule\snamed | ImportError | FileNotFoundError
        | already\sup[\ -]to[\ -]date | current\sbranch\s\S+\sis\sup\sto\sdate | updated\s0\spaths
        | \btunnel\w*\s(?:\w+\s)?failed | failed:?\s(?:forbidden|unauthorized) | recv\sfailure | set\sthe\s(?:GH|GITHUB|GITLAB|GL)_TOKEN
        | ^\s*curl:\s\((?:[135679]|22|28|35|47|52|55|60|67|77|97)\)
        | ^\s*redirect\sdetected\b | just\sa\smoment\.\.\. | enable\sjavascript\s(?:and|to|in)\b
        | \A\s*no\scontent(?:\s(?:available|found|returned|provided))?\.?\s*\z
        | (?:do\snot|don't|does\snot|doesn't)\shave\saccess\sto | no\saccess\sto\s(?:the|this)
        | \xe6\x97\xa0\xe6\xb3\x95(?:\xe8\xae\xbf\xe9\x97\xae|\xe6\x89\x93\xe5\xbc\x80|\xe8\xbf\x9e\xe6\x8e\xa5|\xe8\x8e\xb7\xe5\x8f\x96|\xe5\x8a\xa0\xe8\xbd\xbd)
        | \xe7\xbd\x91\xe7\xbb\x9c\xe5\xb7\xb2\xe7\xa6\x81\xe7\x94\xa8
        | \bhook\s(?:error|denied|rejected|blocked|stopped)\b | \bPreToolUse\b | denied\sthis\s(?:tool\s)?call | \boff[\s-]limits\b | \bout\sof\sbounds\s(?:for|in|here)\b
        | not\son\s(?:the|its|our)\sallow-?list | (?:violates|against)\s(?:the|a|our)\s(?:\w+\s)?(?:policy|rules)\b
        | bereits\saktuell | \xe6\x98\xaf\xe6\x9c\x80\xe6\x96\xb0\xe7\x9a\x84",
    )
});

/// What a command line says of a program that was stopped because it took too long: `rc=124`.
static STOPPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?im)^\s*(?:rc|ret|exit|exit[ _-]?(?:code|status)|status|code)\s*[:=]\s*(?:124|137|143)\s*$",
    )
});

/// Changed lines of a patch.
static DIFF: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r#"(?mx)
        ^[\s>|0-9:\x80-\xff]*(?:diff\s--(?:git|cc|combined)\s | @@\s-\d+(?:,\d+)?\s\+\d+)
        | \\n@@\s-\d+(?:,\d+)?\s\+\d+ | (?:"|\\n)\+(?:[\ ]{2,40}|(?:\\t){1,10})[^"\\\n]{1,200}[=(){};:,\[\]]
        | "patch"\s*:\s*"@@
        | ^(?:\(\S+\)\s)?[\s0-9:|\x80-\xff]*\+(?:[\ \t]{1,40}|[A-Za-z_@\#/<{}\(\[])[^\n]*[=(){};:,\[\]]
        | ^(?:\(\S+\)\s)?[\s0-9:|\x80-\xff]*-(?:[\ \t]{2,40})[^\n]*[=(){};:]"#,
    )
});

/// Source text in any of the usual languages.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r#"(?mx)
        (?:^[+\-]?|\)\s[+\-]|\d\)\s|\\n|["`:>|\t]|\.\.\.\s|\d(?:[:\-]|\xe2\x86\x92)\s?|\(\S+\)\s)\s*(?:
            (?:async\s+)?def\s+\w+\s*\( | class\s+\w+\s*[:({] | class\s+\w+(?:\s+\w+){0,4}\s*\{
          | (?:export\s+)?(?:default\s+)?(?:async\s+)?function\*?\s*\w*\s*\(
          | (?:pub(?:\([a-z]+\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*fn\s+\w+ | func\s+(?:\([^)]*\)\s*)?\w+\s*\(
          | (?:public|private|protected|internal|static|final|abstract|override)\s+[\w<>\[\],\s]{1,80}[({=]
          | (?:from\s+[\w.]+\s+)?import\s+[\w.{*] | \#include\s*[<"] | using\s+[\w.]+; | package\s+\w[\w.]*;?$
          | (?:const|let|var|val)\s+[\w{\[][^=\n]{0,60}= | (?:if|for|while|switch|elif|unless)\s*\(?[^\n]{1,120}[:{]\s*$
          | if\s+[\w.]+\s*(?:[<>!=]=?|is|in|not)\s | return\b\s*[\w(\[{"'-]
          | (?:struct|enum|trait|impl|interface|module|namespace)\s+\w[^\n]{0,80}\{
          | (?:unsigned|int|void|char|bool|double|float|size_t|auto|long|string)\s+\*?\w+\s*\([^)\n]*\)\s*[{;]
          | [A-Za-z_][\w.\[\]]*\s*(?:[-+*/|&]|:)?=\s*[\w.\[({"'][^\n]*$
          | @\w[\w.]*(?:\([^)\n]*\))?\s*$
          | [A-Za-z_][\w.]*\([^)\n]*\)\s*[;{]?\s*$ | \}\s*(?:else|catch|finally)
        )
        | `[^`\n]{0,80}(?:[\w\])]\s*(?:=|==|<|>|\+=)\s*[\w"'({\[]|\w\([^`\n]*\)|=>|->)[^`\n]{0,120}`
        | ^[^\n]{2,200}[;{]\s*$"#,
    )
});

/// What a command line says of itself behind its output (`echo rc=$?`, `echo "exit code: $?"`, `echo done`), and what
/// the tool says of a command that goes on in the background.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?imx) ^\s*[\[(<]?(?:(?:rc|ret|exit|exit[\ _-]?(?:code|status)|status|code|errno|failed|failure|err)\s*[:=]?\s*)?-?(?:\d\d?|1\d\d|255)
          (?:[,;]\s*(?:no|empty)\s(?:output|stdout))?[\])>]?\s*$
        | ^\s*done[.!]?\s*$
        | ^\s*<?(?:the\s)?(?:command|process|task|job|shell|terminal|session)\b[^\n;{}]{0,80}
          \b(?:running|started|moved|continues|completed|exited|finished|killed)\b[^\n;{}]{0,600}$
        | ^\s*<(status|retrieval_status|task_id|task_type|exit_code|timestamp)>[^<\n]{0,100}</\w+>\s*$
        | ^\s*(?:chunk\sid|wall\stime|original\stoken\scount|output)\s*:[^\n=(]{0,40}$
        | ^\s*[(<\[]?no\s(?:new\s)?output(?:\syet|\sso\sfar)?(?:[,;:]?\s(?:(?:with|and)\s)?(?:exit|rc|status|code)[^\w\n]?[a-z\s=:]{0,10}\d{1,3})?[)>\].]{0,2}\s*$
        | ^\s*[(<\[](?:empty|nothing|no\s(?:match(?:es)?|hits?|lines?|commits?|results?))(?:\s(?:output|found|printed|shown))?
          (?:[,;:]?\s(?:exit|rc|status|code)[^\w\n]?[a-z\s=:]{0,10}\d{1,3})?[)>\].]{1,2}\s*$
        | ^\[\d{1,4}\][+-]?\s+\d{2,10}\s*$",
    )
});

/// What a client says of a thing that it does not have yet and then gets: no failure.
static GETS_IT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?im)^\s*unable to find image '[^'\n]{1,300}' locally\s*$|^[^\n]{0,40}the following packages? (?:was|were) not found and will be installed\b[^\n]*$",
    )
});

/// A line that stands in place of content: the agent saw something that the trace does not hold.
static LEFT_OUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?imx) ^\s*(?:\.\.\.|\xe2\x80\xa6|[\[<(*-])[^\n]{0,80}
          \b(?:contents?|outputs?|results?|text|response|data|file|lines?|chars|characters|bytes|tokens)\b[^\n]{0,60}
          \b(?:cleared|omitted|elided|removed|redacted|hidden|trimmed|snipped|truncated|clipped|not\s(?:shown|recorded|saved|stored|kept))\b
          [^\n]{0,80}(?:\.\.\.|\xe2\x80\xa6|[\])>*-])\s*$
        | ^\s*(?:<persisted-output>\s*)?output\stoo\slarge\b[^\n]{0,600}$
        | ^\s*full\soutput\ssaved\sto\b[^\n]{0,600}$
        | ^\s*</?(?:persisted-output|elided_chars|response\sclipped)>\s*$",
    )
});

/// What a tool says of a command that goes on: what it prints comes later.
static RUNNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?imx) ^\s*<?(?:the\s)?(?:command|process|task|job|shell|terminal|session)\b[^\n;{}]{0,80}
          \b(?:running|started|moved|continues)\b
        | ^\s*<(?:status|retrieval_status)>(?:running|pending|not_ready|timeout)</
        | ^\s*[(<\[]?no\s(?:new\s)?output(?:\syet|\sso\sfar)
        | ^\[\d{1,4}\][+-]?\s+\d{2,10}\s*$",
    )
});

/// What a tool says of a command that is at its end.
static ENDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?imx) \b(?:exited|finished|killed|failed)\b | <status>(?:completed|failed|killed)
        | ^\s*\[\d{1,4}\][+-]?\s+(?:done|exit|terminated)
        | ^\s*(?:rc|ret|exit|exit[\ _-]?(?:code|status)|status|code|errno)\s*[:=]?\s*-?\d{1,3}\s*$ | <exit_code>",
    )
});

/// Most that may stand beside such a line in a result that holds nothing: a header, in lines and in bytes.
const MAX_BESIDE: (usize, usize) = (8, 600);

/// What git says of commits that it took over: no later line makes that undone.
static TAKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(
        r"(?m)^\s*(?:Updating [0-9a-f]{7,40}\.\.[0-9a-f]{7,40}|Fast-forward|Merge made by)|\b\d+ files? changed,",
    )
});

/// A pull request number in the subject of a commit.
static SUBJECT_NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| ascii(r"\(#\d{1,7}\)"));

/// The result of a call, looked at once for all findings of the call.
#[derive(Debug)]
pub struct CallResult<'t> {
    /// The text, as patterns see it.
    pub text: &'t str,
    /// What the trace says of how the call ended.
    pub outcome: Outcome,
    /// Properties of the text.
    pub facets: BTreeSet<Facet>,
    /// Nothing came back, or only an error message.
    pub failed: bool,
    /// Nothing at all came back.
    pub empty: bool,
    /// There is an error message in it.
    pub errors: bool,
    /// The content was left out of the trace: a mark stands in its place.
    pub left_out: bool,
    /// The command goes on, and has printed nothing so far.
    pub running: bool,
}

impl<'t> CallResult<'t> {
    /// Looks at a result.
    pub fn new(text: &'t str, outcome: Outcome, task: &Task, history: &History) -> Self {
        let bare = STATUS.as_ref().map_or(Cow::Borrowed(text.as_bytes()), |r| {
            r.replace_all(text.as_bytes(), &b""[..])
        });
        let is =
            |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|r| r.is_match(&bare));
        let told = bare.to_str_lossy();
        let empty = !told.chars().any(char::is_alphanumeric);
        let (diff, code) = (!empty && is(&DIFF), !empty && is(&CODE));
        let short = text.len() <= MAX_ERROR_TEXT;
        let stopped = STOPPED
            .as_ref()
            .is_some_and(|r| r.is_match(text.as_bytes()));
        let wrong = GETS_IT
            .as_ref()
            .map_or(Cow::Borrowed(&*bare), |r| r.replace_all(&bare, &b""[..]));
        let fails = ERRORS.as_ref().is_some_and(|r| r.is_match(&wrong));
        let errors = short && (fails || stopped) && !is(&TAKEN);
        let refused = outcome.denied || !outcome.succeeded() && short;
        let failed = empty || !diff && (errors && !(code && long_body(&bare)) || refused && !code);
        let left_out = !failed && !diff && !code && is_left_out(&bare);
        let raw = |regex: &LazyLock<Option<Regex>>| {
            regex.as_ref().is_some_and(|r| r.is_match(text.as_bytes()))
        };
        let running = empty && short && outcome.succeeded() && raw(&RUNNING) && !raw(&ENDED);
        let mut facets = BTreeSet::new();
        if !failed {
            facets.insert(Facet::Content);
            facets.extend(diff.then_some(Facet::Diff));
            facets.extend(code.then_some(Facet::Code));
            facets.extend(history_facets(text, task, history));
            if names_own_or_later(&facets) {
                facets.extend(before(text, task, history).then_some(Facet::Before));
            }
        }
        Self {
            text,
            outcome,
            facets,
            failed,
            empty,
            errors,
            left_out,
            running,
        }
    }

    /// The command said by itself that what it was about failed, and nothing else came back.
    pub fn refuse(&mut self) {
        self.empty = false;
        self.failed = true;
        self.errors = true;
        self.running = false;
    }

    /// True if a line says that the program failed, or that the file which it was to write is not there.
    pub fn tells_failure(&self, program: &str, file: &str) -> bool {
        let git = program == "git";
        let error = |line: &str| {
            // What curl says when nobody reads on, or when the rest is missing: there was something.
            let curl = line.starts_with("curl: (")
                && !["(18)", "(23)", "(33)", "(56)"]
                    .iter()
                    .any(|n| line.contains(n));
            let by = line
                .strip_prefix(program)
                .is_some_and(|rest| rest.starts_with(": "))
                || git && (line.starts_with("fatal: ") || line.starts_with("error: "));
            curl || by && ERRORS.as_ref().is_some_and(|r| r.is_match(line.as_bytes()))
        };
        let gone = |line: &str| {
            !file.is_empty()
                && line.contains("No such file")
                && line
                    .split(|c: char| c.is_whitespace() || "/'\":`".contains(c))
                    .any(|word| word == file)
        };
        // What `curl -w '%{http_code}'` says of a page that is not there, or of no answer.
        let code = self.text.trim();
        let refused = program == "curl"
            && !file.is_empty()
            && code.len() == 3
            && (code == "000" || code.starts_with(['4', '5']))
            && code.bytes().all(|b| b.is_ascii_digit());
        // What `wc -c` says of a file in which nothing arrived.
        let nothing = |line: &str| {
            let counted = line.strip_prefix("0 ").map(str::trim);
            counted.is_some_and(|path| !file.is_empty() && path.rsplit('/').next() == Some(file))
        };
        let mut lines = self.text.lines().map(str::trim_start);
        refused || lines.clone().any(nothing) || lines.any(|line| gone(line) || error(line))
    }

    /// True if the text has all the properties.
    pub fn is(&self, facets: &[Facet]) -> bool {
        facets.iter().all(|f| self.facets.contains(f))
    }
}

/// True for a text with changed lines of a patch.
pub fn is_diff(text: &str) -> bool {
    DIFF.as_ref().is_some_and(|r| r.is_match(text.as_bytes()))
}

/// True for a text that is no more than a mark of what was left out, with a header at most.
fn is_left_out(text: &[u8]) -> bool {
    if text.len() > MAX_ERROR_TEXT {
        return false;
    }
    let Some(mark) = LEFT_OUT.as_ref().filter(|mark| mark.is_match(text)) else {
        return false;
    };
    let rest = mark.replace_all(text, &b""[..]);
    let lines = rest.lines().filter(|line| !line.trim().is_empty());
    rest.trim().len() <= MAX_BESIDE.1 && lines.count() <= MAX_BESIDE.0
}

/// An error message may quote a line of code; a body of code has several lines of it.
fn long_body(text: &[u8]) -> bool {
    CODE.as_ref()
        .is_some_and(|code| code.find_iter(text).take(4).count() >= 4)
}

fn names_own_or_later(facets: &BTreeSet<Facet>) -> bool {
    facets.contains(&Facet::Own) || facets.contains(&Facet::Later)
}

/// True if the text says so without the lines that a diff adds or only shows around them.
fn before(text: &str, task: &Task, history: &History) -> bool {
    let mut inside = false;
    let mut left = String::new();
    for line in text.lines() {
        // A change of a file begins.
        inside |= line.starts_with("diff --") || line.starts_with("@@ ") || line.starts_with('+');
        if !inside || line.starts_with('-') && !line.starts_with("--- ") {
            left.push_str(line);
            left.push('\n');
        }
        inside &= !line.starts_with("commit ");
    }
    names_own_or_later(&history_facets(&left, task, history))
}

/// What the text says about when it is from.
fn history_facets(text: &str, task: &Task, history: &History) -> BTreeSet<Facet> {
    let mut facets = BTreeSet::new();
    let dates = dates(text, task, history);
    let mut judged = dates.judged;
    let ids = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| is_commit_id(word));
    for id in ids {
        if task.is_gt(id) {
            facets.insert(Facet::Own);
        } else if task.is_base(id) || history.is_own(id) {
            judged.push(false);
        }
    }
    let named = |text: &str| task.names_subject(text) || task.names_own(text);
    if named(text) && named(&without_own_commits(text, task, history)) {
        facets.insert(Facet::Own);
    }
    if let Some(base) = &task.base_version
        && short_listing(text)
        && Version::all(&without_subjects(text)).any(|version| version > *base)
    {
        judged.push(true);
    }
    if judged.contains(&true) {
        facets.insert(Facet::Later);
    } else if !judged.is_empty() && !dates.unknown && !facets.contains(&Facet::Own) {
        facets.insert(Facet::Past);
    }
    if !dates.unknown {
        facets.insert(Facet::Undated);
    }
    facets
}

/// The text without what it says of commits that the agent made or a log of `HEAD` showed: their subjects may name the
/// issue.
fn without_own_commits(text: &str, task: &Task, history: &History) -> String {
    let known = |id: &str| is_commit_id(id) && !task.is_gt(id) && history.is_own(id);
    let mut own = false;
    let mut left = String::new();
    for line in text.lines() {
        let bare = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t']);
        if let Some(header) = bare.strip_prefix("commit ") {
            own = header.split_whitespace().next().is_some_and(known);
        }
        let listed = bare.split_whitespace().take(3).any(known);
        if !own && !listed {
            left.push_str(line);
            left.push('\n');
        }
    }
    left
}

/// A listing that begins with `HEAD` without the subjects of its commits: what follows is no later, and the releases that
/// subjects name are most often those of others. Tags stay.
fn without_subjects(text: &str) -> Cow<'_, str> {
    let subject = |line: &str| {
        let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t']);
        let line = line.strip_prefix("commit ").unwrap_or(line);
        let first = line.split_whitespace().next();
        first.is_some_and(is_commit_id) && !line.contains("tag: ")
    };
    let first = text.lines().find(|line| !line.trim().is_empty());
    if !first.is_some_and(|line| subject(line) && line.contains("(HEAD")) {
        return Cow::Borrowed(text);
    }
    let kept: Vec<&str> = text.lines().filter(|line| !subject(line)).collect();
    Cow::Owned(kept.join("\n"))
}

/// What the dates of commits say.
#[derive(Debug, Default)]
struct Dates {
    /// For each that says something: is it later than the base?
    judged: Vec<bool>,
    /// A commit that nothing else is known of has an author date before the base. It may have been merged,
    /// picked or rebased later.
    unknown: bool,
}

fn dates(text: &str, task: &Task, history: &History) -> Dates {
    let mut dates = Dates::default();
    let known = |id: &str| task.is_base(id) || history.is_own(id);
    // The commit that the lines belong to: what is known of it.
    let (mut own, mut open) = (false, false);
    for line in text.lines() {
        let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t']);
        let header = line.strip_prefix("commit ");
        let first = header.unwrap_or(line).split_whitespace().next();
        let id = first.filter(|word| is_commit_id(word));
        if header.is_some() {
            own = id.is_some_and(known);
            dates.unknown |= open;
            open = false;
        }
        let named = own || id.is_some_and(known);
        let author =
            header.is_some() || line.starts_with("Date:") || line.starts_with("AuthorDate:");
        for day in commit_days(line) {
            match task.is_later(day) {
                Some(true) if !named => dates.judged.push(true),
                Some(false) if author && !named && task.knows_base() => open = true,
                Some(false) => {
                    dates.judged.push(false);
                    open &= !line.starts_with("CommitDate:");
                }
                _ => {}
            }
        }
    }
    dates.unknown |= open;
    dates
}

/// True for a text of names: release numbers in a file body say nothing of its age.
fn short_listing(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let lines = text.lines().count().max(1);
    words <= lines * 6 + 6
        && !SUBJECT_NUMBER
            .as_ref()
            .is_some_and(|r| r.is_match(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;

    fn look(text: &str, outcome: Outcome) -> CallResult<'_> {
        let task = Task::new(&TaskFacts {
            base_date: Some("2031-03-02".into()),
            base_version: Some("4.1.3".into()),
            gt_commit: Some("9ac4e17d".into()),
            base_commit: Some("3f1c2ab".into()),
            pull_request: Some("48213".into()),
            ..TaskFacts::default()
        });
        CallResult::new(text, outcome, &task, &History::default())
    }

    #[test]
    fn errors_bring_nothing() {
        for text in [
            "",
            "\n",
            "404: Not Found",
            "rc=124\n",
            "Cloning into '/tmp/u'...\nrc=124",
            "no git remotes found",
            "exit code: 6",
            "128",
            "Done.",
            "Current branch main is up to date.",
            "已经是最新的。",
            "Updated 0 paths from 5e1d0c2",
            "fatal: bad object b07c4f19e7\nrc=128",
            "curl: (6) Could not resolve host: raw.example.com",
            "fatal: bad revision '9ac4e17d'",
            "Command running in background with ID: b5a3. Output is being written to: /tmp/c/b5a3.output",
            "Wall time: 1.0 seconds\nProcess running with session ID 61234\nOutput:\n",
            "<command started in background with shellId: 2>",
            "Process started with PID 4242 (shell: bash)",
            "<status>running</status>\n\n<timestamp>2026-01-02T03:04:05Z</timestamp>",
            "(no output yet)",
            "[1] 4242",
            "HTTP/1.1 403 Forbidden\nx-deny-reason: host_not_allowed",
            "gh: command not found",
            "curl: (56) CONNECT tunnel failed, response 403",
            "curl: (22) The requested URL returned error: 404",
            "gh: To use GitHub CLI in automation, set the GH_TOKEN environment variable.",
            "error: No valid patches in input (allow with \"--allow-empty\")",
            "{\"message\":\"API rate limit exceeded for 10.0.0.7\"}",
            "npm error code ENOTFOUND\nnpm error network request to https://r.example failed",
            "cat: /eval/gt_diff.patch: Permission denied",
            "ConnectionError: Couldn't reach 'x' on the Hub",
            "ERR_TUNNEL_CONNECTION_FAILED",
            "Permission to use WebFetch has been denied.",
            "gh CLI is disabled in this environment",
            "To get started with GitHub CLI, please run:  gh auth login",
            "REDIRECT DETECTED: The URL redirects to a different host.\n\nOriginal URL: https://h.example/pull/1\nRedirect URL: https://h.example/login",
            "I don't have access to the actual pull request content. The provided content is only the navigation menu.",
            "No content available.",
            "PreToolUse:WebFetch hook error: [guard.sh]: that host is off limits here",
            "(no output, exit 0)",
            "(no matches)",
            "[exit code: 0, no output]",
            "[7]",
            "Hook PreToolUse:Bash denied this tool call: not part of this task",
            "Unable to find image 'o/r:2' locally\ndocker: Error response from daemon: manifest unknown",
            "Just a moment... Enable JavaScript and cookies to continue",
            "无法访问该页面:网络已禁用。",
            "Traceback (most recent call last):\n  File \"x\", line 1, in <module>\n    import y\nModuleNotFoundError: No module named 'y'",
        ] {
            assert!(look(text, Outcome::default()).failed, "{text}");
        }
        let exit = Outcome {
            exit_code: Some(1),
            ..Outcome::default()
        };
        assert!(look("it went wrong", exit).failed);
    }

    #[test]
    fn what_was_left_out_is_not_known() {
        for (text, left_out) in [
            ("[Old tool result content cleared]", true),
            ("[file content omitted]", true),
            (
                "<persisted-output>Output too large (9KB). Full output saved to: /tmp/x.txt</persisted-output>",
                true,
            ),
            (
                "<persisted-output>\nOutput too large (39KB). Full output saved to: /tmp/x\n</persisted-output>",
                true,
            ),
            ("commit 9ac4e17d\n... [210 lines truncated] ...", true),
            ("[210 lines truncated]", true),
            ("<response clipped>", true),
            ("(content of the file not shown)", true),
            (
                "diff --git a/x b/x\n+ x = 1\n... [210 lines truncated] ...",
                false,
            ),
            ("fatal: bad object 9ac4e17d\n[output truncated]", false),
            (
                "- the content of a field is omitted when empty\n- another",
                false,
            ),
            (
                "a title\nthe output of the tool is hidden by default",
                false,
            ),
            ("Clamp widths by ann", false),
        ] {
            let result = look(text, Outcome::default());
            assert_eq!(result.left_out, left_out, "{text}");
        }
    }

    #[test]
    fn what_goes_on_has_not_failed_yet() {
        for (text, running) in [
            ("Command running in background with ID: bash_1", true),
            (
                "Command running in background with ID: b1. Output is being written to: /tmp/c/b1.output",
                true,
            ),
            ("<command started in background with shellId: 2>", true),
            (
                "<status>running</status>\n\n<timestamp>2026-01-02T03:04:05Z</timestamp>",
                true,
            ),
            ("(no output yet)", true),
            ("[1] 4242", true),
            (
                "<status>completed</status>\n<exit_code>0</exit_code>",
                false,
            ),
            ("rc=0", false),
            ("", false),
            ("Process exited with code 1", false),
            (
                "curl: (6) Could not resolve host: h.example\nThe command is still running",
                false,
            ),
        ] {
            let result = look(text, Outcome::default());
            assert_eq!(result.running, running, "{text}");
        }
    }

    #[test]
    fn content_is_content_whatever_the_exit_code() {
        let exit = Outcome {
            exit_code: Some(1),
            ..Outcome::default()
        };
        for text in [
            "diff --git a/x b/x\n+    return 404  # 404: Not Found\ncat: y: Permission denied",
            "def measure(self):\n    return 4\n4\nrc=0",
            "The command is still running.\n+    w = clamp(w);\n+    process(running, w);\n",
            "def measure(self, width):\nif width < 0:\n    raise ValueError('fatal: x')\nreturn width",
            "Unable to find image 'o/r:2' locally\n2: Pulling from o/r\nStatus: Downloaded newer image for o/r:2\n    if not w:\n        w = 1",
        ] {
            assert!(!look(text, exit).failed, "{text}");
        }
        // The second of two merges had nothing to do.
        let twice =
            "Updating 3f1c2ab..9ac4e17d\nFast-forward\n src/a.py | 2 +-\nAlready up to date.";
        assert!(!look(twice, Outcome::default()).failed);
    }

    #[test]
    fn diffs_and_code_are_told_from_listings() {
        for (text, diff, code) in [
            (
                "diff --git a/src/layout.py b/src/layout.py\n+ x",
                true,
                false,
            ),
            (
                "src/layout.py\n@@ -40,3 +40,6 @@\n+        width = self._clamp(width)",
                true,
                true,
            ),
            ("(sub-agent) + width = self._clamp(width)", true, true),
            ("1 diff --git a/src/layout.py b/src/layout.py", true, false),
            (
                "Clamp widths, see _clamp\nsrc/layout.py | 6 ++++++",
                false,
                false,
            ),
            (
                "9ac4e17d Fix negative width in Layout.measure (#48213)",
                false,
                false,
            ),
            ("v4.3.1 v4.2.0\nremotes/origin/dev", false, false),
            ("class Layout:\ndef _clamp(self, width):", false, true),
            ("export function mergeCells(range: Range) {", false, true),
            ("public final class Posting { ... }", false, true),
            (
                "the PR adds a helper: `width = self._clamp(width)`",
                false,
                true,
            ),
            (
                "{\"text\":\"class Layout:\\n    def _clamp(self, width):",
                false,
                true,
            ),
            ("EXPECTED = {'a': 41}", false, true),
            (
                "maintainer: we should clamp it to zero in measure(), see #1",
                false,
                false,
            ),
            ("Cloning into '/tmp/w'...\ndone.", false, false),
            (
                "{\"raw_content\": \"+    if (a < b) {\\n+        return a;\\n+    }\"}",
                true,
                false,
            ),
            ("{\"note\": \"+ a point (small)\"}", false, false),
            ("9.1.0 - mergeCells keeps the top-left value", false, false),
            ("- fix a bug\n- another", false, false),
        ] {
            let result = look(text, Outcome::default());
            assert_eq!(
                (result.is(&[Facet::Diff]), result.is(&[Facet::Code])),
                (diff, code),
                "{text}"
            );
        }
    }

    #[test]
    fn results_say_when_they_are_from() {
        use Facet::{Later, Own, Past};
        for (text, facet) in [
            ("commit 51d0aaa0 Date: 2031-03-19\nx", Some(Later)),
            ("commit 51d0aaa0\nDate:   Sat Jan 11 00:00:00 2031", None),
            (
                "commit 51d0aaa0\nAuthorDate: Sat Jan 11 00:00:00 2031\nCommitDate: Sat Jan 11 00:00:00 2031",
                Some(Past),
            ),
            (
                "commit 3f1c2ab0\nDate:   Sat Jan 11 00:00:00 2031",
                Some(Past),
            ),
            (
                "commit 51d0aaa0\nAuthorDate: Sat Jan 11 00:00:00 2031\nCommitDate: Wed Mar 19 00:00:00 2031",
                Some(Later),
            ),
            ("9ac4e17d Fix it", Some(Own)),
            ("abc1234 Fix it (#48213)", Some(Own)),
            ("v4.3.1 v4.2.0 v4.1.3", Some(Later)),
            ("v4.1.3 v4.1.2", None),
            (
                "3f1c2ab (HEAD -> main) Bump docs\n20aa991 Require Rust 9.82",
                Some(Past),
            ),
            (
                "3f1c2ab (HEAD -> main) Bump docs\n20aa991 (tag: v9.8.2) Release",
                Some(Later),
            ),
            ("* 3f1c2ab (HEAD) Bump docs\n* 20aa991", Some(Past)),
            ("class Layout: ...", None),
        ] {
            let result = look(text, Outcome::default());
            let got = [Own, Later, Past].into_iter().find(|f| result.is(&[*f]));
            assert_eq!(got, facet, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(diff --git |@@ -1 \\+1|\\+ x=|fatal: |commit |\\PC|\n){0,30}") {
            look(&text, Outcome::default());
        }
    }
}
