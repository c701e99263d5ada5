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
    "writestdin",
];
/// Arguments that hold the command.
pub(super) const COMMAND: &[&str] = &[
    "command",
    "cmd",
    "script",
    "commandLine",
    "CommandLine",
    // What is typed into a shell that runs already.
    "chars",
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
