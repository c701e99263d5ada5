//! Names of tools and of their arguments, as agents use them.
//!
//! Names of tools are compared in lower case, without server prefix, punctuation and the endings
//! `tool` and `toolCall`; names of arguments as they stand. To teach the table a new agent, add a name.

/// Tools that run a command.
pub(super) const SHELL: &[&str] = &[
    "bash",
    "shell",
    "sh",
    "localshell",
    "shellcommand",
    "execcommand",
    "exec",
    "runshellcommand",
    "runterminalcmd",
    "runterminalcommand",
    "runinterminal",
    "runcommand",
    "executecommand",
    "executebash",
    "executeshell",
    "terminal",
    "cmd",
    "powershell",
    "commandexecution",
    "console",
    "execute",
    "shellexec",
    "runterminal",
    "developershell",
];
/// Arguments that hold the command.
pub(super) const COMMAND: &[&str] = &[
    "command",
    "cmd",
    "commandLine",
    "command_line",
    "CommandLine",
    "shell_command",
    "bash_command",
];
/// Words that editors and lists of tasks take as their `command`.
pub(super) const EDITOR_COMMANDS: &[&str] = &[
    "view",
    "create",
    "str_replace",
    "insert",
    "undo_edit",
    "delete",
    "rename",
    "plan",
    "read",
    "write",
    "list",
    "add",
    "update",
];

/// Tools that type into a process that runs already.
pub(super) const TYPING: &[&str] = &[
    "writestdin",
    "interactwithprocess",
    "sendinput",
    "sendkeys",
    "sendtoterminal",
    "writebash",
    "writeshell",
    "writetoterminal",
];
/// Arguments that hold what is typed.
pub(super) const TYPED: &[&str] = &["chars", "input", "keys", "text", "command", "data"];

/// What git can do, as tools of servers for git are called.
pub(super) const VERBS: &[&str] = &[
    "add",
    "am",
    "apply",
    "blame",
    "branch",
    "cat-file",
    "checkout",
    "cherry-pick",
    "clone",
    "commit",
    "diff",
    "fetch",
    "format-patch",
    "grep",
    "log",
    "ls-remote",
    "ls-tree",
    "merge",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "show",
    "show-ref",
    "stash",
    "status",
    "switch",
    "tag",
    "worktree",
];
/// Arguments that say in which repository.
pub(super) const PLACES: &[&str] = &[
    "repo_path",
    "repository_path",
    "repoPath",
    "repo",
    "cwd",
    "directory",
    "workingDir",
];

/// Words in the name of a tool that runs code, and the interpreter.
pub(super) const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "python3"),
    ("jupyter", "python3"),
    ("codeinterpreter", "python3"),
    ("executecode", "python3"),
    ("runcode", "python3"),
    ("execcode", "python3"),
    ("executecell", "python3"),
    ("runcell", "python3"),
    ("javascript", "node"),
    ("nodejs", "node"),
    ("runnode", "node"),
    ("repl", "python3"),
];
/// Words in the name of a tool that runs the code that it is given.
pub(super) const RUNS: &[&str] = &["run", "exec", "eval", "interpret", "repl", "sandbox"];
/// Arguments that hold code.
pub(super) const CODE: &[&str] = &[
    "code",
    "python_code",
    "source_code",
    "pythonCode",
    "javascript",
];

/// Tools that write files.
pub(super) const EDIT: &[&str] = &[
    "edit",
    "multiedit",
    "write",
    "create",
    "update",
    "notebookedit",
    "editnotebook",
    "applypatch",
    "patch",
    "applydiff",
    "applyagentdiff",
    "replace",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasedit",
    "strreplacebasededit",
    "editor",
    "writefile",
    "writetofile",
    "editfile",
    "createfile",
    "searchreplace",
    "searchandreplace",
    "insert",
    "insertcontent",
    "replaceinfile",
    "filewrite",
    "texteditor",
    "multireplacefilecontent",
    "replacefilecontent",
];
/// Tools that remove files.
pub(super) const DELETE: &[&str] = &["delete", "deletefile", "removefile", "rmfile"];
pub(super) const PATH: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "target_file",
    "target_notebook",
    "filename",
    "file",
    "absolute_path",
    "relative_workspace_path",
    "TargetFile",
];
pub(super) const OLD: &[&str] = &[
    "old_string",
    "oldString",
    "old_str",
    "oldText",
    "old_text",
    "search",
    "old",
    "TargetContent",
];
pub(super) const NEW: &[&str] = &[
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "replace",
    "new_source",
    "new",
    "with",
    "ReplacementContent",
];
pub(super) const CONTENT: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "fileText",
    "streamContent",
    "code_edit",
    "fileContent",
    "CodeContent",
];
pub(super) const PATCH: &[&str] = &["patch", "patchText", "patch_text", "diff", "input"];

/// Tools that fetch or search the web under a name of their own.
pub(super) const WEB: &[&str] = &[
    "webfetch",
    "websearch",
    "webbrowse",
    "fetch",
    "fetchurl",
    "fetchurlcontent",
    "readurl",
    "readurlcontent",
    "openurl",
    "httprequest",
    "googlewebsearch",
    "searchweb",
    "browse",
    "browser",
    "tavilysearch",
    "exasearch",
    "bravewebsearch",
    "perplexityask",
    "browseraction",
];
/// Words in the name of a tool or its server that mean the web, when there is an address.
pub(super) const WEB_WORDS: &[&str] = &[
    "fetch",
    "brows",
    "navigate",
    "http",
    "crawl",
    "scrape",
    "webpage",
    "tavily",
    "exa",
    "firecrawl",
    "playwright",
    "puppeteer",
];
pub(super) const URL: &[&str] = &["url", "urls", "uri", "href", "address", "link"];
pub(super) const QUERY: &[&str] = &["query", "search_query", "searchTerm", "search_term", "q"];
pub(super) const QUESTION: &[&str] = &["prompt", "question", "instruction"];

/// Tools that start a sub-agent.
pub(super) const CHILD: &[&str] = &[
    "task",
    "agent",
    "subagent",
    "dispatchagent",
    "spawnagent",
    "launchagent",
    "delegate",
    "delegatetask",
    "newtask",
    "delegatework",
    "runsubagent",
];
