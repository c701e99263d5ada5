//! Names of tools and of their arguments, as agents use them.
//!
//! Names of tools are compared in lower case, without server prefix, punctuation and the endings
//! `tool` and `toolCall`; names of arguments as they stand. To teach the table a new agent, add a name.

/// Tools that run a command.
pub(super) const SHELL: [&str; 21] = [
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
    "writestdin",
];
/// Arguments that hold the command.
pub(super) const COMMAND: [&str; 6] = [
    "command",
    "cmd",
    "script",
    "commandLine",
    "CommandLine",
    // What is typed into a shell that runs already.
    "chars",
];

/// Tools that write files.
pub(super) const EDIT: [&str; 27] = [
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
];
/// Tools that remove files.
pub(super) const DELETE: [&str; 4] = ["delete", "deletefile", "removefile", "rmfile"];
pub(super) const PATH: [&str; 10] = [
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
];
pub(super) const OLD: [&str; 7] = [
    "old_string",
    "oldString",
    "old_str",
    "oldText",
    "old_text",
    "search",
    "old",
];
pub(super) const NEW: [&str; 9] = [
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "replace",
    "new_source",
    "new",
    "with",
];
pub(super) const CONTENT: [&str; 7] = [
    "content",
    "contents",
    "file_text",
    "fileText",
    "streamContent",
    "code_edit",
    "fileContent",
];
pub(super) const PATCH: [&str; 5] = ["patch", "patchText", "patch_text", "diff", "input"];

/// Tools that fetch or search the web under a name of their own.
pub(super) const WEB: [&str; 18] = [
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
];
/// Words in the name of a tool or its server that mean the web, when there is an address.
pub(super) const WEB_WORDS: [&str; 12] = [
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
pub(super) const URL: [&str; 6] = ["url", "urls", "uri", "href", "address", "link"];
pub(super) const QUERY: [&str; 5] = ["query", "search_query", "searchTerm", "search_term", "q"];
pub(super) const QUESTION: [&str; 3] = ["prompt", "question", "instruction"];

/// Tools that start a sub-agent.
pub(super) const CHILD: [&str; 11] = [
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
