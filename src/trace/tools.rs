//! What kind of thing a tool does, by its name and arguments.
//!
//! Every agent names its tools in its own way (`Bash`, `shell`, `run_shell_command`, `shellToolCall`),
//! and most have one tool that runs a command, a few that write files, a few that reach the web, and
//! one that starts a sub-agent. The adapters of all formats share this table, so that a new name is
//! added once.

mod names;
mod runs;

use names::{
    CHILD, CONTENT, DELETE, EDIT, NEW, OLD, PATCH, PATH, QUERY, QUESTION, URL, WEB, WEB_WORDS,
};

use super::event::{Channel, EditOp, FileEdit};
use super::json::{self, Json};
use super::patch_text;
use super::step::Call;
use super::text::{cut, readable};
pub(crate) use runs::script;

/// Replacements of one call that are kept apart.
const MAX_PARTS: usize = 1024;
/// Bytes of a path that is repeated for each part; longer ones are no paths.
const MAX_PATH: usize = 4096;

/// Classifies a call and takes its texts from its arguments.
pub(crate) fn call(tool: &str, args: &Json<'_>) -> Call {
    let parsed = args.as_str().and_then(|text| json::parse(text.trim()).ok());
    let args = match &parsed {
        Some(object @ Json::Obj(_)) => object,
        _ => args,
    };
    let name = plain_name(tool);
    let mut call = Call {
        id: None,
        tool: tool.to_owned(),
        channel: Channel::ToolCall,
        text: String::new(),
        edits: Vec::new(),
        child: false,
        expects_result: true,
        restated: false,
    };
    let other = EDIT.contains(&name.as_str())
        || DELETE.contains(&name.as_str())
        || WEB.contains(&name.as_str())
        || CHILD.contains(&name.as_str());
    if let Some(command) = (!other).then(|| runs::command(tool, &name, args)).flatten() {
        call.channel = Channel::Command;
        call.text = command;
    } else if let Some(edits) = file_edits(&name, args) {
        call.channel = Channel::Edit;
        call.text = if edits.iter().all(|edit| edit.op == EditOp::Unrecorded) {
            readable(args)
        } else {
            new_texts(&edits)
        };
        call.edits = edits;
    } else if let Some(text) = web_text(tool, &name, args) {
        call.channel = Channel::Web;
        call.text = text;
    } else if CHILD.contains(&name.as_str()) {
        call.child = true;
        call.text = args
            .first_str(&["prompt", "task", "message", "instructions"])
            .map_or_else(|| readable(args), str::to_owned);
    } else {
        call.text = readable(args);
    }
    call
}

/// The new texts of all files, one after the other: the text of an edit event.
pub(crate) fn new_texts(edits: &[FileEdit]) -> String {
    let texts: Vec<&str> = edits
        .iter()
        .filter_map(|edit| edit.new.as_deref())
        .collect();
    texts.join("\n")
}

/// `mcp__files__write_file`, `writeToolCall` → `writefile`, `write`.
fn plain_name(tool: &str) -> String {
    let last = tool.rsplit("__").next().unwrap_or(tool);
    let last = last.rsplit(['.', '/', ':']).next().unwrap_or(last);
    let mut name: String = last
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    for suffix in ["toolcall", "tool"] {
        if name.len() > suffix.len() && name.ends_with(suffix) {
            name.truncate(name.len() - suffix.len());
        }
    }
    name
}

/// The files that an edit tool writes.
fn file_edits(name: &str, args: &Json<'_>) -> Option<Vec<FileEdit>> {
    if DELETE.contains(&name) {
        let path = args.first_str(PATH)?.to_owned();
        return Some(vec![FileEdit {
            path,
            op: EditOp::Delete,
            old: None,
            new: None,
        }]);
    }
    // `view` is how editors of the `str_replace` family read.
    if !EDIT.contains(&name) || args.str("command") == Some("view") {
        return None;
    }
    let path = args.first_str(PATH);
    if let Some(patch) = args.first_str(PATCH).or_else(|| args.as_str()) {
        let edits = patch_text::file_edits(patch);
        if !edits.is_empty() {
            return Some(edits);
        }
    }
    let path = path?;
    let parts = args.list("edits");
    if !parts.is_empty() {
        return Some(part_edits(path, parts));
    }
    if let Some(diff) = args.str("diff") {
        let (old, new) = patch_text::hunk_lines(diff);
        return Some(vec![FileEdit {
            path: path.to_owned(),
            op: EditOp::Replace,
            old: Some(old),
            new: Some(new),
        }]);
    }
    Some(vec![one_edit(path, args)])
}

/// The replacements of one file. The parts beyond [`MAX_PARTS`] are joined, so that the path is not
/// repeated for each.
fn part_edits(path: &str, parts: &[Json<'_>]) -> Vec<FileEdit> {
    let path = cut(path, MAX_PATH);
    let mut edits: Vec<FileEdit> = Vec::new();
    for part in parts {
        if edits.len() < MAX_PARTS {
            edits.push(one_edit(path, part));
        } else if let Some(last) = edits.last_mut() {
            let next = one_edit("", part);
            for (all, more) in [(&mut last.old, next.old), (&mut last.new, next.new)] {
                if let Some(more) = more {
                    let all = all.get_or_insert_default();
                    all.push('\n');
                    all.push_str(&more);
                }
            }
        }
    }
    edits
}

/// One replacement or one whole file.
fn one_edit(path: &str, args: &Json<'_>) -> FileEdit {
    // An empty text is a text: `first_str` would pass over it.
    let text = |keys: &[&str]| keys.iter().find_map(|key| args.str(key)).map(str::to_owned);
    let old = text(OLD);
    let (op, new) = match (text(NEW), text(CONTENT)) {
        (Some(new), _) => (EditOp::Replace, Some(new)),
        (None, Some(content)) => (EditOp::Write, Some(content)),
        (None, None) if args.str("edit_mode") == Some("delete") => (EditOp::Replace, None),
        (None, None) => (EditOp::Unrecorded, None),
    };
    FileEdit {
        path: args.first_str(PATH).unwrap_or(path).to_owned(),
        op,
        old,
        new,
    }
}

/// Address or query, and the question put to the page.
fn web_text(tool: &str, name: &str, args: &Json<'_>) -> Option<String> {
    let lower = tool.to_ascii_lowercase();
    let url = strings_of(args, URL);
    let query = strings_of(args, QUERY);
    let named = WEB.contains(&name);
    let about_web = WEB_WORDS.iter().any(|word| lower.contains(word));
    let searches_web = lower.contains("search")
        && [
            "web",
            "google",
            "duckduckgo",
            "brave",
            "bing",
            "serp",
            "internet",
        ]
        .iter()
        .any(|word| lower.contains(word));
    let target = if named || (about_web && !url.is_empty()) || searches_web {
        if url.is_empty() { query } else { url }
    } else {
        return None;
    };
    let mut text = target.join("\n");
    if text.is_empty() {
        text = readable(args);
    } else if let Some(question) = args.first_str(QUESTION) {
        text.push('\n');
        text.push_str(question);
    }
    Some(text)
}

/// The first of several members that is a string or a list of strings.
fn strings_of<'j>(args: &'j Json<'_>, keys: &[&str]) -> Vec<&'j str> {
    keys.iter()
        .filter_map(|key| args.get(key))
        .map(|value| match value {
            Json::Arr(items) => items.iter().filter_map(Json::as_str).collect(),
            value => value.as_str().into_iter().collect::<Vec<_>>(),
        })
        .find(|list| list.iter().any(|text| !text.is_empty()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Channel::{Command, Edit, ToolCall, Web};
    use super::*;

    /// Tool, arguments, and the channel and text that they give.
    const CALLS: &[(&str, &str, Channel, &str)] = &[
        (
            "Bash",
            r#"{"command":"git log","description":"d"}"#,
            Command,
            "git log",
        ),
        (
            "shell",
            r#"{"command":["bash","-lc","ls | wc"]}"#,
            Command,
            "ls | wc",
        ),
        ("exec_command", r#"{"cmd":"ls"}"#, Command, "ls"),
        ("shellToolCall", r#"{"command":"ls"}"#, Command, "ls"),
        (
            "mcp__box__execute_command",
            r#"{"command":"ls"}"#,
            Command,
            "ls",
        ),
        ("shell", r#""{\"command\":\"ls\"}""#, Command, "ls"),
        (
            "write_stdin",
            r#"{"session_id":1,"chars":"git log\n"}"#,
            Command,
            "git log\n",
        ),
        (
            "write_stdin",
            r#"{"session_id":1,"chars":""}"#,
            ToolCall,
            "session_id: 1\nchars: ",
        ),
        ("terminal", r#"{"input":"git log"}"#, Command, "git log"),
        ("BashOutput", r#"{"bash_id":"1"}"#, ToolCall, "bash_id: 1"),
        (
            "mcp__shell__run",
            r#"{"command":"git show origin/main"}"#,
            Command,
            "git show origin/main",
        ),
        (
            "mcp__box__start_process",
            r#"{"command":"git log --all","timeout_ms":5}"#,
            Command,
            "git log --all",
        ),
        (
            "mcp__box__interact_with_process",
            r#"{"pid":7,"input":"git show a"}"#,
            Command,
            "git show a",
        ),
        (
            "mcp__any__do",
            r#"{"cmd":"git","args":["show","a b"]}"#,
            Command,
            "git show 'a b'",
        ),
        (
            "container.exec",
            r#"{"cmd":["bash","-lc","git show a"],"timeout":5}"#,
            Command,
            "git show a",
        ),
        (
            "run_all",
            r#"{"commands":["git fetch","git show a"]}"#,
            Command,
            "git fetch\ngit show a",
        ),
        (
            "execute_python",
            r#"{"code":"print(1)"}"#,
            Command,
            "python3 - <<'PYTHON'\nprint(1)\nPYTHON",
        ),
        (
            "python",
            r#""import os\nPYTHON\n!git show a""#,
            Command,
            "python3 - <<'PYTHON_'\nimport os\nPYTHON\n!git show a\nPYTHON_\ngit show a",
        ),
        (
            "code_interpreter",
            r#"{"input":"%%bash\ngit show a"}"#,
            Command,
            "git show a",
        ),
        (
            "run_code",
            r#"{"language":"bash","code":"git show a"}"#,
            Command,
            "git show a",
        ),
        (
            "mcp__ide__executeCode",
            r#"{"code":"f()","language":"javascript"}"#,
            Command,
            "node - <<'NODE'\nf()\nNODE",
        ),
        (
            "mcp__git__git_show",
            r#"{"repo_path":"/w","revision":"origin/main"}"#,
            Command,
            "git -C /w show origin/main",
        ),
        (
            "git_log",
            r#"{"repo_path":"/w","max_count":5,"all":true}"#,
            Command,
            "git -C /w log -n5 --all",
        ),
        (
            "mcp__git__show",
            r#"{"repo_path":"/w","revision":"a"}"#,
            Command,
            "git -C /w show a",
        ),
        ("gitShow", r#"{"revision":"a"}"#, Command, "git show a"),
        (
            "mcp__git__git_cherry_pick",
            r#"{"commit":"a"}"#,
            Command,
            "git cherry-pick a",
        ),
        (
            "execute",
            r#"{"code":"print(1)"}"#,
            Command,
            "python3 - <<'PYTHON'\nprint(1)\nPYTHON",
        ),
        (
            "mcp__python-repl__submit",
            r#"{"code":"print(1)"}"#,
            Command,
            "python3 - <<'PYTHON'\nprint(1)\nPYTHON",
        ),
        // What is named alike and runs nothing.
        (
            "write_stdin",
            r#"{"session_id":1,"chars":"q"}"#,
            ToolCall,
            "session_id: 1\nchars: q",
        ),
        ("format_code", r#"{"code":"f()"}"#, ToolCall, "code: f()"),
        ("mcp__github__show", r#"{"pull":"5"}"#, ToolCall, "pull: 5"),
        (
            "memory",
            r#"{"command":"view","path":"/m"}"#,
            ToolCall,
            "command: view\npath: /m",
        ),
        (
            "task_tracker",
            r#"{"command":"plan","task_list":["a"]}"#,
            ToolCall,
            "command: plan\ntask_list:\na",
        ),
        (
            "add_snippet",
            r#"{"code":"f()","path":"/a.py"}"#,
            ToolCall,
            "code: f()\npath: /a.py",
        ),
        (
            "mcp__docs__lookup",
            r#"{"topic":"git show"}"#,
            ToolCall,
            "topic: git show",
        ),
        (
            "Read",
            r#"{"file_path":"/a","limit":5}"#,
            ToolCall,
            "file_path: /a\nlimit: 5",
        ),
        (
            "Write",
            r#"{"file_path":"/a","content":"x\ny"}"#,
            Edit,
            "x\ny",
        ),
        (
            "Edit",
            r#"{"file_path":"/a","old_string":"o","new_string":"n"}"#,
            Edit,
            "n",
        ),
        (
            "str_replace_based_edit_tool",
            r#"{"command":"view","path":"/a"}"#,
            ToolCall,
            "command: view\npath: /a",
        ),
        (
            "str_replace_based_edit_tool",
            r#"{"command":"create","path":"/a","file_text":"t"}"#,
            Edit,
            "t",
        ),
        (
            "apply_patch",
            r#""*** Begin Patch\n*** Add File: a\n+x\n*** End Patch""#,
            Edit,
            "x\n",
        ),
        (
            "WebFetch",
            r#"{"url":"https://x.test/1","prompt":"Return it"}"#,
            Web,
            "https://x.test/1\nReturn it",
        ),
        ("WebSearch", r#"{"query":"fix 12"}"#, Web, "fix 12"),
        (
            "mcp__fetch__fetch",
            r#"{"url":"u","max_length":5}"#,
            Web,
            "u",
        ),
        (
            "mcp__playwright__browser_navigate",
            r#"{"url":"u"}"#,
            Web,
            "u",
        ),
        ("mcp__tavily__tavily-search", r#"{"query":"q"}"#, Web, "q"),
        (
            "mcp__firecrawl__scrape",
            r#"{"urls":["a","b"]}"#,
            Web,
            "a\nb",
        ),
        (
            "mcp__github__get_file_contents",
            r#"{"repo":"r","path":"p"}"#,
            ToolCall,
            "repo: r\npath: p",
        ),
        (
            "mcp__db__fetch_rows",
            r#"{"table":"t"}"#,
            ToolCall,
            "table: t",
        ),
        (
            "Task",
            r#"{"description":"d","prompt":"look"}"#,
            ToolCall,
            "look",
        ),
        ("TaskCreate", r#"{"subject":"s"}"#, ToolCall, "subject: s"),
        ("Bash", r"{}", ToolCall, ""),
        ("", r#""raw""#, ToolCall, "raw"),
    ];

    #[test]
    fn channels_and_texts() {
        for (tool, args, channel, text) in CALLS {
            let args = json::parse(args).unwrap();
            let call = call(tool, &args);
            assert_eq!(
                (call.channel, call.text.as_str()),
                (*channel, *text),
                "{tool}"
            );
        }
    }

    #[test]
    fn edits_by_file() {
        let edits = |tool, args: &str| call(tool, &json::parse(args).unwrap()).edits;
        let edit = |path: &str, op, old: Option<&str>, new: Option<&str>| FileEdit {
            path: path.into(),
            op,
            old: old.map(Into::into),
            new: new.map(Into::into),
        };
        assert_eq!(
            edits(
                "MultiEdit",
                r#"{"file_path":"/a","edits":[{"old_string":"1","new_string":"2"},{"old_string":"3","new_string":""}]}"#
            ),
            [
                edit("/a", EditOp::Replace, Some("1"), Some("2")),
                edit("/a", EditOp::Replace, Some("3"), Some(""))
            ]
        );
        assert_eq!(
            edits(
                "NotebookEdit",
                r#"{"notebook_path":"/n.ipynb","new_source":"s","cell_id":"1"}"#
            ),
            [edit("/n.ipynb", EditOp::Replace, None, Some("s"))]
        );
        assert_eq!(
            edits("write", r#"{"filePath":"/e","content":""}"#),
            [edit("/e", EditOp::Write, None, Some(""))]
        );
        assert_eq!(
            edits("deleteToolCall", r#"{"path":"/d"}"#),
            [edit("/d", EditOp::Delete, None, None)]
        );
        assert_eq!(
            edits("editToolCall", r#"{"path":"/u"}"#),
            [edit("/u", EditOp::Unrecorded, None, None)]
        );
    }

    #[test]
    fn very_many_parts_are_joined_and_none_is_lost() {
        let parts: Vec<String> = (0..MAX_PARTS + 2)
            .map(|n| format!(r#"{{"old_string":"o{n}","new_string":"n{n}"}}"#))
            .collect();
        let args = format!(r#"{{"file_path":"/a","edits":[{}]}}"#, parts.join(","));
        let call = call("MultiEdit", &json::parse(&args).unwrap());
        assert_eq!(call.edits.len(), MAX_PARTS);
        let last = call.edits.last().unwrap();
        assert_eq!(last.new.as_deref(), Some("n1023\nn1024\nn1025"));
        assert_eq!(last.old.as_deref(), Some("o1023\no1024\no1025"));
        assert!(call.text.starts_with("n0\nn1\n") && call.text.ends_with("n1025"));
    }

    #[test]
    fn sub_agents() {
        for (tool, child) in [
            ("Task", true),
            ("Agent", true),
            ("taskToolCall", true),
            ("TaskOutput", false),
        ] {
            assert_eq!(call(tool, &Json::Obj(Vec::new())).child, child, "{tool}");
        }
    }
}
