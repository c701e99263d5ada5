#!/usr/bin/env python3
"""Counts what real traces hold, without the tool: `count.py DATA > counts.tsv`.

One function per format, written from the description of the format and not from the tool's reader,
so that the two can be compared. Each thing is counted once, however often its format repeats it:

    commands  shell commands that were executed
    web       fetches and searches
    edits     calls that write or delete files
    other     other tool calls
    outputs   results of calls
    said      texts of the agent (and its sub-agents), the final message among them
    prompts   what the user asked

To add a format: a function that takes a path and returns a Count, and a line in FORMATS.
"""

import json
import re
import sys
import zipfile
from collections import Counter, defaultdict
from dataclasses import astuple, dataclass, fields
from pathlib import Path


@dataclass
class Count:
    commands: int = 0
    web: int = 0
    edits: int = 0
    other: int = 0
    outputs: int = 0
    said: int = 0
    prompts: int = 0

    def call(self, tool):
        kind = KINDS.get(tool, "other")
        setattr(self, kind, getattr(self, kind) + 1)


# What the tools of all agents do. A tool that is not here is `other`.
KINDS = {
    **dict.fromkeys("Bash bash shell command_execution exec_command shell_command local_shell run_shell_command Execute Shell run_terminal run_terminal_cmd shell_exec".split(), "commands"),
    **dict.fromkeys("WebFetch WebSearch webfetch web_fetch web_search google_web_search web_browser_go".split(), "web"),
    **dict.fromkeys("edit_file Edit Write MultiEdit NotebookEdit edit write file_change apply_patch replace write_file find_and_replace_code create_file delete_file".split(), "edits"),
}


def values(path):
    """All JSON values of a file, wherever they stand; arrays of objects are their elements."""
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    decoder = json.JSONDecoder(strict=False)
    at, out = 0, []
    while True:
        start = re.compile(r"[\[{]").search(text, at)
        if not start:
            return out
        try:
            value, at = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError:
            at = text.find("\n", start.start())
            if at < 0:
                return out
            continue
        if isinstance(value, list) and all(isinstance(v, dict) for v in value):
            out.extend(value)
        elif isinstance(value, dict):
            out.append(value)


def get(value, *path):
    """A member of members, or None."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def listed(value):
    return value if isinstance(value, list) else []


def blank(text):
    return not (isinstance(text, str) and text.strip())


# ---- Claude Code --------------------------------------------------------------------------------

def claude(path):
    count, seen, uuids, prompts, last = Count(), set(), set(), set(), ""
    for record in values(path):
        kind = record.get("type")
        uuids.add(record.get("uuid"))
        count.said += kind == "summary" and record.get("leafUuid") in uuids
        if kind == "result" and not blank(record.get("result")):
            count.said += record["result"] != last
        if kind == "tool_use":
            count.call(record["name"])
        count.outputs += kind == "tool_result"
        queued = record.get("attachment") if kind == "attachment" else None
        count.prompts += get(queued, "type") == "queued_command" and not blank(queued.get("prompt"))
        if kind not in ("assistant", "user"):
            continue
        message = record.get("message")
        content = message if isinstance(message, str) else get(message, "content")

        def prompt(text):
            said_by_agent = record.get("isCompactSummary")
            injected = record.get("isMeta") or re.match(r"<(?!bash-input>)|Caveat", text)
            again = record.get("uuid") and (record["uuid"], text) in prompts
            prompts.add((record.get("uuid"), text))
            if not blank(text) and not again:
                count.said += bool(said_by_agent)
                count.prompts += not said_by_agent and not injected

        if isinstance(content, str) and not blank(content):
            if kind == "assistant":
                count.said += 1
                last = content
            else:
                prompt(content)
        for index, block in enumerate(listed(content)):
            if isinstance(block, str):
                prompt(block)
            if not isinstance(block, dict):
                continue

            def new(key):
                name = (key, block.get(key) or (record.get("uuid"), index))
                fresh = name not in seen
                seen.add(name)
                return fresh

            match block.get("type"):
                case "text" if kind == "assistant":
                    count.said += 1
                    last = block["text"]
                case "text":
                    prompt(block["text"])
                case "tool_use" if new("id"):
                    count.call(block["name"])
                case "tool_result" if new("tool_use_id"):
                    count.outputs += 1
    return count


# ---- Codex --------------------------------------------------------------------------------------

def codex_exec(path):
    count, items = Count(), defaultdict(list)
    for record in values(path):
        if isinstance(record.get("item"), dict):
            items[record["item"]["id"]].append(record)
    for records in items.values():
        item = records[0]["item"]
        done = any(r["type"] == "item.completed" for r in records)
        if item["type"] == "agent_message":
            count.said += 1
        elif item["type"] not in ("reasoning", "error"):
            # The one MCP server in these files edits with `replace {path, with}`.
            count.call("edit" if item.get("tool") == "replace" else item["type"])
            # A plan is written down, not run.
            count.outputs += done and item["type"] != "todo_list"
    return count


def codex_exec_old(path):
    count = Count()
    for record in values(path):
        count.prompts += isinstance(record.get("prompt"), str)
        match get(record, "msg", "type"):
            case "exec_command_begin":
                count.commands += 1
            case "patch_apply_begin":
                count.edits += 1
            case "exec_command_end" | "patch_apply_end":
                count.outputs += 1
            case "agent_message":
                count.said += 1
    return count


def codex_rollout(path):
    """The conversation with the model tells nearly everything; two kinds of events tell it again. A
    text was said as often as the most talkative of the three says; a call is known by its id."""
    count, ids = Count(), set()
    told = defaultdict(Counter)  # (who, telling) -> texts
    for record in values(path):
        item = record.get("payload", record)
        kind, call_id = item.get("type"), item.get("call_id")
        if record.get("type") == "compacted":
            count.said += not blank(item.get("message"))
        if kind == "item_completed":
            item = item["item"]
            kind, call_id = item["type"], item["id"]
        texts = [b["text"] for b in listed(item.get("content")) if not blank(get(b, "text"))]
        match kind:
            case "message" if item["role"] == "assistant":
                told["said", "item"].update(texts)
            case "message" if item["role"] == "user":
                told["prompts", "item"].update(t for t in texts if not re.match(r"\s*(<[a-z_]+>|# AGENTS\.md)", t))
            case "agent_message" if record["type"] == "event_msg":
                told["said", "event"][item["message"]] += 1
            case "user_message":
                told["prompts", "event"][item["message"]] += 1
            case "AgentMessage":
                told["said", "completed"].update(texts)
            case "UserMessage":
                told["prompts", "completed"].update(texts)
            case "Plan":
                told["said", "completed"][item["text"]] += 1
            case "function_call" | "custom_tool_call" | "tool_call":
                tool = item.get("name") or item["function"]["name"]
                arguments = item.get("arguments", item.get("input"))
                count.call("apply_patch" if "apply_patch <<" in str(arguments) else tool)
                ids.add(call_id)
            case "web_search_call":
                count.web += 1
            case "web_search_end":
                count.outputs += bool(item.get("results"))
            case "tool_search_call":
                count.other += 1
                ids.add(call_id)
            case "function_call_output" | "custom_tool_call_output" | "tool_result":
                count.outputs += 1
            case "exec_command_end" | "CommandExecution" | "patch_apply_end" | "FileChange" | "mcp_tool_call_end" | "McpToolCall" | "dynamic_tool_call_response" if call_id not in ids:
                ids.add(call_id)
                count.outputs += 1
                count.call({"exec_command_end": "shell", "CommandExecution": "shell", "patch_apply_end": "edit", "FileChange": "edit"}.get(kind, "mcp"))
    for who in ("said", "prompts"):
        tellings = [told[who, telling] for telling in ("item", "event", "completed")]
        total = sum(max(t[text] for t in tellings) for text in set().union(*tellings))
        setattr(count, who, getattr(count, who) + total)
    return count


# ---- OpenCode -----------------------------------------------------------------------------------

def opencode_run(path):
    count = Count()
    for record in values(path):
        if record["type"] == "text":
            count.said += 1
        elif record["type"] == "tool_use":
            count.call(record["part"]["tool"])
            count.outputs += 1
    return count


# ---- Gemini CLI, Qwen Code -----------------------------------------------------------------------

def gemini_stream(path):
    count, speaking = Count(), False
    for record in values(path):
        kind = record["type"]
        delta = kind == "message" and record["role"] == "assistant"
        # Pieces of one message follow each other.
        count.said += delta and not speaking
        speaking = delta
        count.prompts += kind == "message" and record["role"] == "user"
        if kind == "tool_use":
            count.call(record["tool_name"])
        count.outputs += kind == "tool_result"
    return count


def gemini_chat(path):
    """The last record of each id holds everything; results come in the call and behind it."""
    last, nameless = {}, []
    for record in values(path):
        for message in [record, *listed(get(record, "messages")), *listed(get(record, "$set", "messages")), *listed(record.get("history"))]:
            if message.get("id"):
                last[message["id"]] = message
            elif "role" in message:
                nameless.append(message)
    count, answered = Count(), set()
    for message in [*last.values(), *nameless]:
        who = message.get("type") or message.get("role")
        content = message.get("content", message.get("parts"))
        texts = [content] if isinstance(content, str) else [p.get("text") for p in listed(content)]
        for text in texts:
            if not blank(text):
                count.said += who in ("gemini", "model")
                count.prompts += who == "user" and not text.startswith("<session_context>")
        for call in listed(message.get("toolCalls")):
            count.call(call["name"])
            answered.add(call["id"])
            count.outputs += bool(call.get("result"))
        for part in listed(content):
            response = get(part, "functionResponse", "id")
            if response and response not in answered:
                answered.add(response)
                count.outputs += 1
    return count


def qwen_chat(path):
    count = Count()
    for record in values(path):
        for part in listed(get(record, "message", "parts")):
            if "functionCall" in part:
                count.call(part["functionCall"]["name"])
            elif "functionResponse" in part:
                count.outputs += 1
            elif not blank(part.get("text")) and not part.get("thought"):
                count.said += record["type"] == "assistant"
                count.prompts += record["type"] == "user" and record.get("subtype") != "notification" and not part["text"].startswith("<system-reminder>")
    return count


# ---- Copilot CLI --------------------------------------------------------------------------------

def copilot(path):
    count, calls, seen = Count(), set(), set()
    for record in values(path):
        data, kind = record.get("data", {}), record["type"]
        # The same id and content is the same record.
        same = (record.get("id"), kind, str(data.get("content")), str(data.get("result")))
        if record.get("ephemeral") or same in seen:
            continue
        seen.add(same)
        count.prompts += kind == "user.message" and not blank(data.get("content"))
        count.said += kind == "assistant.message" and not blank(data.get("content"))
        count.outputs += kind == "tool.execution_complete"
        requests = data["toolRequests"] if kind == "assistant.message" else [data] if kind == "tool.execution_start" else []
        for request in requests:
            if request["toolCallId"] not in calls:
                calls.add(request["toolCallId"])
                count.call(request.get("name") or request.get("toolName"))
    return count


# ---- chat messages ------------------------------------------------------------------------------

def messages(count, conversation):
    for message in conversation:
        role, content = message["role"], message.get("content", message.get("message"))
        texts = [content] if isinstance(content, str) else [b.get("text") for b in listed(content) if b.get("type") == "text"]
        said = sum(not blank(t) for t in texts)
        count.said += said if role == "assistant" else 0
        count.prompts += said if role == "user" else 0
        count.outputs += role == "tool"
        for call in listed(message.get("tool_calls")):
            function = call["function"]
            count.call(function if isinstance(function, str) else function["name"])
        # A tool of the model's provider: call and result in the content.
        for block in listed(content):
            if get(block, "type") == "tool_use":
                count.call(block["name"])
                count.outputs += "result" in block
    return count


def chat(path):
    return messages(Count(), [r for r in values(path) if "role" in r])


def inspect(path):
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        samples = [json.loads(archive.read(n)) for n in archive.namelist() if n.startswith("samples/")]
    else:
        samples = json.loads(Path(path).read_text())["samples"]
    count = Count()
    for sample in samples:
        messages(count, sample["messages"])
    return count


def opencode_export(path):
    count = Count()
    for message in json.loads(Path(path).read_text())["messages"]:
        user = message["info"]["role"] == "user"
        for part in message["parts"]:
            if part["type"] == "text" and not part.get("synthetic"):
                count.prompts += user
                count.said += not user
            elif part["type"] == "tool":
                count.call(part["tool"])
                count.outputs += part["state"]["status"] in ("completed", "error")
    return count


# ---- Cursor -------------------------------------------------------------------------------------

def cursor_transcript(path):
    count = Count()
    for record in values(path):
        user = record.get("role") == "user"
        for block in listed(get(record, "message", "content")):
            kind = block["type"].replace("-", "_")
            if kind in ("tool_use", "tool_call"):
                count.call(block["name"])
            elif kind == "tool_result":
                count.outputs += 1
            elif kind != "thinking":
                count.prompts += user
                count.said += not user
    return count


# ---- Aider --------------------------------------------------------------------------------------

def aider_chat(path):
    count, text = Count(), Path(path).read_text()
    count.prompts = len(re.findall(r"(?m)(?:^####.*\n)+", text))
    # An applied edit has the blocks of its path in the text above it.
    for match in re.finditer(r"(?m)^> Applied edit to (.*?) *$", text):
        above = text[:match.start()]
        above = above[above.rfind("\n####"):]
        count.edits += 1 if f"\n{match[1]}\n" in above else 0
    agreed = r"(?m)^> Run shell command\?.*: y.*\n(?:\s*\n)*((?:> Running .*\n|\s*\n)+)"
    count.commands = sum(block.count("> Running ") for block in re.findall(agreed, text))
    for turn in re.split(r"(?m)^####.*\n", text)[1:]:
        said = turn[: turn.find("\n> ")] if "\n> " in turn else turn
        count.said += not blank(said)
    return count


def aider_llm(path):
    count, before = Count(), set()
    parts = re.split(r"(?m)^(TO LLM|LLM RESPONSE) \d{4}-.*\n", Path(path).read_text())[1:]
    for direction, body in zip(parts[::2], parts[1::2]):
        messages = []  # [role, text]
        for block in re.split(r"(?m)^-------\n", body):
            for line in block.splitlines():
                role, _, text = line.partition(" ")
                if not messages or messages[-1][0] != role or messages[-1][2] is not block:
                    messages.append([role, "", block])
                messages[-1][1] += text + "\n"
        texts = [(role, text.split("# *SEARCH/REPLACE block* Rules:")[0].strip()) for role, text, _ in messages]
        if direction == "LLM RESPONSE":
            count.said += 1
            count.edits += len(re.findall(r"(?m)^ASSISTANT >>>>>>> REPLACE", body))
        else:
            role, text = texts[-1]
            count.prompts += role == "USER" and text not in before and not blank(text)
        before.update(text for _, text in texts)
    return count


# ---- harnesses ----------------------------------------------------------------------------------

def mini_swe_agent(path):
    count = Count()
    data = json.loads(Path(path).read_text())
    waiting = False
    for message in data["messages"] if isinstance(data, dict) else data:
        text, role = message["content"] or "", message["role"]
        if role == "assistant":
            calls = message.get("tool_calls") or []
            fences = re.findall(r"```(?:bash|mswea_bash_command)\n.*?\n```", text, re.S)
            waiting = not calls and len(fences) == 1
            count.commands += len(calls) or waiting
            count.said += not blank(text.replace(fences[0], "") if waiting else text)
        elif role == "tool" or (role == "user" and waiting):
            count.outputs += 1
        elif role == "user" and not count.commands:
            count.prompts += 1
    return count


def swe_agent(path):
    count, data = Count(), json.loads(Path(path).read_text())
    for step in data["trajectory"]:
        action = step["action"].strip()
        if action.startswith("exit_"):
            continue
        count.said += not blank(step["thought"])
        if action == "submit":
            continue
        count.outputs += 1
        if re.match(r"(edit \d+:\d+\n|create )", action):
            count.edits += 1
        else:
            count.commands += 1
    history = [entry for entry in data["history"] if not entry.get("is_demo")]
    for entry in history:
        if entry["role"] == "assistant":
            break
        count.prompts += entry["role"] == "user"
    return count


def openhands(path):
    count = Count()
    for line in Path(path).read_text().splitlines():
        for number, event in enumerate(json.loads(line)["history"]):
            args = event.get("args", event)
            thought = not blank(args.get("thought"))
            user = event.get("source") == "user" or number == 0
            match event.get("action"):
                case "message":
                    count.prompts += user
                    count.said += not user
                case "system" | "recall" | "think" | None:
                    pass
                case "finish":
                    count.said += 1
                case "run_ipython":
                    count.said += thought
                    count.call("edit" if re.match(r"\s*edit_file_by_replace\(", args["code"]) else "bash")
                case action:
                    count.said += thought
                    count.call("bash" if action == "run" else action)
            count.outputs += event.get("observation") not in (None, "recall", "think")
    return count


# ---- other agents -------------------------------------------------------------------------------

def pi(path):
    count = Count()
    for record in values(path):
        message = record.get("message") or {}
        role, content = message.get("role"), message.get("content")
        count.said += record["type"] == "compaction"
        count.prompts += role == "user"
        count.outputs += role == "toolResult"
        for block in listed(content) if role == "assistant" else []:
            count.said += block["type"] == "text" and not blank(block["text"])
            if block["type"] == "toolCall":
                count.call(block["name"])
                # What was stopped was not run, and that is its result.
                count.outputs += message.get("stopReason") in ("aborted", "error")
    return count


def droid(path):
    count = Count()
    for record in values(path):
        message = record.get("message")
        blocks = listed(get(message, "content"))
        role = record.get("role") or get(message, "role")
        count.said += record["type"] == "completion"
        count.outputs += record["type"] == "tool_result"
        if record["type"] == "tool_call":
            count.call(record["toolName"])
        if "text" in record:
            blocks = [{"type": "text", "text": record["text"]}]
        for block in blocks:
            match block["type"]:
                case "text" if role == "assistant":
                    count.said += 1
                case "text":
                    count.prompts += not blank(re.sub(r"(?s)^<system-reminder>.*?</system-reminder>", "", block["text"]))
                case "tool_use":
                    count.call(block["name"])
                case "tool_result":
                    count.outputs += 1
    return count


def kimi(path):
    count = Count()
    for record in values(path):
        count.said += record["type"] == "context.apply_compaction"
        if record["type"] == "context.append_message":
            message = record["message"]
            count.prompts += message["role"] == "user" and get(message, "origin", "kind") == "user"
        event = record.get("event") or {}
        count.said += get(event, "part", "type") == "text"
        count.outputs += event.get("type") == "tool.result"
        if event.get("type") == "tool.call":
            count.call(event["name"])
    return count


def grok(path):
    count = Count()
    for record in values(path):
        kind = record["type"]
        count.prompts += kind == "user" and "synthetic_reason" not in record
        count.said += kind == "assistant" and not blank(record["content"])
        count.outputs += kind == "tool_result"
        for call in listed(record.get("tool_calls")):
            count.call(call["name"])
        if kind == "backend_tool_call":
            count.call(record["kind"]["tool_type"])
    return count


def hermes(path):
    count = Count()
    for message in json.loads(Path(path).read_text())["messages"]:
        count.prompts += message["role"] == "user"
        count.said += message["role"] == "assistant" and not blank(message["content"])
        count.outputs += message["role"] == "tool"
        for call in listed(message.get("tool_calls")):
            count.call(call["function"]["name"])
    return count


def antigravity(path):
    count, seen = Count(), set()
    for record in values(path):
        key = (record["step_index"], record.get("content"), bool(record.get("truncated_fields")), record["type"] in ("USER_INPUT",))
        new = key not in seen or blank(record.get("content"))
        seen.add(key)
        if record["type"] == "PLANNER_RESPONSE":
            count.said += not blank(record.get("content"))
            for call in listed(record.get("tool_calls")):
                count.call(call["name"])
        elif record["type"] == "USER_INPUT":
            count.prompts += new
        elif record["source"] == "MODEL" or record["source"].startswith("["):
            count.outputs += new
    return count


def rovo_dev(path):
    """Sections: a ruler of `=`, a heading, lines. Thoughts are not said."""
    count, ruler = Count(), "=" * 120
    lines = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    heads = [n for n in range(1, len(lines)) if lines[n - 1] == ruler and re.fullmatch(r"AGENT:|USER PROMPT:|TOOL (CALL|RETURN) \([\w.:/-]+\)", lines[n])]
    for head, after in zip(heads, [*heads[1:], len(lines) + 1]):
        # A phase ends at its own ruler, which is made of `#`.
        body = []
        for line in lines[head + 1 : after - 1]:
            if line == "#" * 120:
                break
            body.append(line)
        body = "\n".join(body)
        kind = lines[head]
        if kind == "USER PROMPT:":
            count.prompts += not blank(body)
        elif kind == "AGENT:":
            parts = re.split(r"(?s)<thinking>.*?(?:</thinking>|$)", body)
            count.said += sum(not blank(part) for part in parts)
        elif kind.startswith("TOOL CALL"):
            count.call(kind[len("TOOL CALL (") : -1])
        else:
            count.outputs += 1
    return count


# ---- which file is what -------------------------------------------------------------------------

def sidecar(_path):
    return Count()


# Pattern over the path below DATA, name of the format, counter. The first that matches counts.
FORMATS = [
    (r".*\.meta\.json", "sidecar", sidecar),
    (r"claude-session/.*__tool-results__.*\.txt", "sidecar", sidecar),
    (r"gemini/gen_gemini_tool-output_.*\.txt", "sidecar", sidecar),
    (r"claude-session/.*", "claude-session", claude),
    (r"claude-stream/.*", "claude-stream", claude),
    (r"codex-exec/gen_codex_exec_0\.(29|42)\.0\.jsonl", "codex-exec-old", codex_exec_old),
    (r"codex-exec/.*", "codex-exec", codex_exec),
    (r"codex-rollout/agentsessions_codex__schema_drift\.jsonl", "chat+codex-rollout", chat),
    (r"codex-rollout/.*", "codex-rollout", codex_rollout),
    (r"gemini/gen_gemini_0\.61_stream\.jsonl", "gemini-stream", gemini_stream),
    (r"gemini/.*", "gemini-chat", gemini_chat),
    (r"qwen/gen_qwen_stream\.jsonl", "qwen-stream", claude),
    (r"qwen/.*", "qwen-chat", qwen_chat),
    (r"copilot/.*", "copilot", copilot),
    (r"inspect/.*", "inspect", inspect),
    (r"opencode/gen_opencode_1\.18_run\.jsonl", "opencode-run", opencode_run),
    (r"opencode/gen_opencode_1\.18_export\.json", "opencode-export", opencode_export),
    # The store keeps every message and part in a file of its own.
    (r"opencode/.*__storage_.*", "sidecar", sidecar),
    (r"cursor/.*", "cursor-transcript", cursor_transcript),
    (r"aider/.*\.chat\.history\.md", "aider-chat", aider_chat),
    (r"aider/.*\.llm\.history", "aider-llm", aider_llm),
    (r"mini-swe-agent/.*", "mini-swe-agent", mini_swe_agent),
    (r"swe-agent/.*", "swe-agent", swe_agent),
    (r"openhands/.*", "openhands", openhands),
    (r"pi/.*|other/.*(pi|openclaw)__.*", "pi", pi),
    (r"droid/.*", "droid", droid),
    (r"other/.*(state|summary)\.json", "sidecar", sidecar),
    (r"other/.*kimi__.*", "kimi", kimi),
    (r"other/.*grok__.*", "grok", grok),
    (r"other/.*hermes__.*", "hermes", hermes),
    (r"other/.*antigravity__.*", "antigravity", antigravity),
    (r"rovo-dev/.*", "rovo-dev", rovo_dev),
]


# Files in which every id and text was replaced by the same words, so that a script cannot tell what
# repeats what: counted by hand.
BY_HAND = {
    # Texts: lines 9 and 12, and under the replaced id one alone and one beside a thought.
    "copilot/agentsessions_copilot__small.jsonl": Count(commands=1, other=1, outputs=2, said=4, prompts=2),
    # Prompts: line 7, the queued one, and one under the replaced id.
    "claude-session/agentsessions_claude__small.jsonl": Count(commands=2, other=1, outputs=3, said=6, prompts=3),
}


def main():
    data = Path(sys.argv[1])
    names = [f.name for f in fields(Count)]
    print("\t".join(["file", "format", *names]))
    for path in sorted(p for p in data.rglob("*") if p.is_file() and p.name != "SOURCES.tsv"):
        name = path.relative_to(data).as_posix()
        for pattern, format_name, counter in FORMATS:
            if re.fullmatch(pattern, name):
                if counter:
                    count = BY_HAND.get(name) or counter(path)
                    print("\t".join([name, format_name, *(str(int(n)) for n in astuple(count))]))
                break
        else:
            sys.exit(f"{name}: no line of FORMATS says what this is")


if __name__ == "__main__":
    main()
