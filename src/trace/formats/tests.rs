//! Small samples of each format, written for these tests, and what must come out of them.

use crate::trace::event::{Coverage, EditOp};
use crate::trace::testing::{read, read_files, short};

fn lines(text: &str) -> Vec<String> {
    short(&read(text).0)
}

mod claude_stream {
    use super::*;

    const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s1","tools":["Bash"],"uuid":"i1"}"#;

    fn assistant(uuid: &str, parent: &str, block: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m-{uuid}","model":"x","role":"assistant","content":[{block}]}},"parent_tool_use_id":{parent},"session_id":"s1","uuid":"{uuid}"}}"#
        )
    }

    fn result(uuid: &str, parent: &str, call: &str, content: &str, more: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":{content}{more}}}]}},"parent_tool_use_id":{parent},"session_id":"s1","uuid":"{uuid}","timestamp":"T1"}}"#
        )
    }

    fn tool(id: &str, name: &str, input: &str) -> String {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
    }

    const END: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"All done.","session_id":"s1","permission_denials":[],"uuid":"r1"}"#;

    #[test]
    fn a_whole_run() {
        let text = [
            INIT.to_owned(),
            r#"{"type":"system","subtype":"thinking_tokens","session_id":"s1","uuid":"i2"}"#.into(),
            assistant("a1", "null", r#"{"type":"thinking","thinking":"hm","signature":"QUJD"}"#),
            assistant("a2", "null", r#"{"type":"text","text":"Looking."}"#),
            r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"Looking."}},"session_id":"s1","uuid":"e1","parent_tool_use_id":null}"#.into(),
            assistant("a3", "null", &tool("c1", "Bash", r#"{"command":"git log --all","description":"d"}"#)),
            result("u1", "null", "c1", r#""* abc Fix""#, r#","is_error":false"#),
            assistant("a4", "null", &tool("c2", "Task", r#"{"prompt":"look around","subagent_type":"g"}"#)),
            assistant("a5", "\"c2\"", &tool("c3", "Bash", r#"{"command":"pwd"}"#)),
            result("u2", "\"c2\"", "c3", r#""/w""#, ""),
            result("u3", "null", "c2", r#"[{"type":"text","text":"report"},{"type":"image","source":{"data":"QUJD"}}]"#, ""),
            assistant("a6", "null", &tool("c4", "Edit", r#"{"file_path":"/w/a.rs","old_string":"x","new_string":"y"}"#)),
            result("u4", "null", "c4", r#""updated""#, ""),
            assistant("a7", "null", r#"{"type":"text","text":"All done."}"#),
            END.into(),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "reasoning hm",
                "assistant Looking.",
                "command git log --all",
                "output * abc Fix",
                "tool_call look around",
                "command@c2 pwd",
                "output@c2 /w",
                "output report⏎[image]",
                "edit y [Replace /w/a.rs]",
                "output updated",
                "result All done.",
            ]
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
        assert_eq!(report.files[0].format, "claude-stream");
        assert_eq!(events[2].cwd.as_deref(), Some("/w"));
        assert_eq!(events[3].time.as_deref(), Some("T1"));
        assert_eq!(
            events[10].source.line, 14,
            "the message, not its copy in `result`"
        );
    }

    #[test]
    fn outcomes() {
        let text = |content: &str, more: &str| {
            [
                INIT.to_owned(),
                assistant("a1", "null", &tool("c1", "Bash", r#"{"command":"x"}"#)),
                result("u1", "null", "c1", content, more),
            ]
            .join("\n")
        };
        for (content, more, want) in [
            (
                r#""Exit code 2\nboom""#,
                r#","is_error":true"#,
                "output Exit code 2⏎boom !error !2",
            ),
            (
                r#""The user doesn't want to proceed with this tool use.""#,
                r#","is_error":true"#,
                "output The user doesn't want to proceed with this tool use. !error !denied",
            ),
            (
                r#""<persisted-output>\nOutput too large""#,
                "",
                "output <persisted-output>⏎Output too large !truncated",
            ),
            (
                r#""{\"a\":\"l1\\nl2\"}""#,
                "",
                r#"output {"a":"l1\nl2"}⏎l1⏎l2"#,
            ),
            ("null", "", "output"),
        ] {
            assert_eq!(
                lines(&text(content, more)).last().map(String::as_str),
                Some(want)
            );
        }
    }

    #[test]
    fn the_structured_copy_is_not_an_output() {
        let text = [
            INIT.to_owned(),
            assistant("a1", "null", &tool("c1", "Edit", r#"{"file_path":"/a","old_string":"o","new_string":"n"}"#)),
            result("u1", "null", "c1", r#""ok""#, "").replace(
                r#""timestamp""#,
                r#""tool_use_result":{"originalFile":"SECRET","stdout":"SECRET","interrupted":true},"timestamp""#,
            ),
        ]
        .join("\n");
        let got = lines(&text);
        assert_eq!(got, ["edit n [Replace /a]", "output ok !interrupted"]);
    }

    #[test]
    fn a_child_that_left_no_trace_is_missing() {
        let text = [
            INIT.to_owned(),
            assistant(
                "a4",
                "null",
                &tool("c2", "Task", r#"{"prompt":"fetch the fix"}"#),
            ),
            result("u3", "null", "c2", r#""report""#, ""),
            END.into(),
        ]
        .join("\n");
        let (_, report) = read(&text);
        assert_eq!(report.missing_children, ["c2 (Task)"]);
        assert_eq!(report.coverage, Coverage::Partial);
    }

    #[test]
    fn nested_children_know_their_parents() {
        let text = [
            INIT.to_owned(),
            assistant("a1", "null", &tool("c1", "Task", r#"{"prompt":"p1"}"#)),
            assistant("a2", "\"c1\"", &tool("c2", "Task", r#"{"prompt":"p2"}"#)),
            assistant("a3", "\"c2\"", &tool("c3", "Bash", r#"{"command":"ls"}"#)),
        ]
        .join("\n");
        assert_eq!(
            lines(&text),
            ["tool_call p1", "tool_call@c1 p2", "command@c2<c1 ls"]
        );
    }

    #[test]
    fn two_runs_appended_with_text_between() {
        let run = |n: &str| {
            [
                INIT.replace("s1", n).replace("i1", &format!("i{n}")),
                assistant(
                    &format!("a{n}"),
                    "null",
                    &tool("c1", "Bash", r#"{"command":"ls"}"#),
                )
                .replace("\"s1\"", &format!("\"{n}\"")),
                result(&format!("u{n}"), "null", "c1", "\"out\"", "")
                    .replace("\"s1\"", &format!("\"{n}\"")),
            ]
            .join("\n")
        };
        let text = format!("{}\nError: no --verbose\n{}\n", run("s1"), run("s2"));
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "command ls",
                "output out",
                "raw Error: no --verbose",
                "command ls",
                "output out"
            ]
        );
        assert_eq!(report.coverage, Coverage::Partial);
        assert_eq!(report.files[0].problems[0].line, 4);
    }

    #[test]
    fn one_result_object_is_a_summary() {
        let (events, report) = read(END);
        assert_eq!(short(&events), ["result All done."]);
        assert_eq!(report.coverage, Coverage::SummaryOnly);
    }
}

mod claude_session {
    use super::*;

    fn record(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"s1","version":"2.1","type":"{kind}","uuid":"{uuid}","timestamp":"T",{rest}}}"#
        )
    }

    fn assistant(uuid: &str, parent: &str, block: &str, stop: &str) -> String {
        let message = format!(
            r#""message":{{"id":"m{uuid}","model":"x","role":"assistant","content":[{block}],"stop_reason":{stop}}}"#
        );
        record("assistant", uuid, parent, &message)
    }

    fn user(uuid: &str, parent: &str, content: &str) -> String {
        let message = format!(r#""message":{{"role":"user","content":{content}}}"#);
        record("user", uuid, parent, &message)
    }

    fn session() -> Vec<String> {
        vec![
            r#"{"type":"summary","summary":"Another talk","leafUuid":"zz"}"#.into(),
            r#"{"type":"queue-operation","operation":"enqueue","content":"Fix it","sessionId":"s1"}"#.into(),
            user("u1", "null", r#""Fix it""#),
            assistant("a1", "\"u1\"", r#"{"type":"tool_use","id":"c1","name":"Task","input":{"prompt":"dig"}}"#, "\"tool_use\""),
            user("u2", "\"a1\"", r#"[{"type":"tool_result","tool_use_id":"c1","content":"dug"}]"#),
            assistant("a2", "\"u2\"", r#"{"type":"text","text":"Fixed."}"#, "\"end_turn\""),
        ]
    }

    #[test]
    fn a_whole_session() {
        let (events, report) = read(&session().join("\n"));
        assert_eq!(
            short(&events),
            [
                "system Another talk !unseen",
                "prompt Fix it",
                "tool_call dig",
                "output dug",
                "result Fixed."
            ]
        );
        assert_eq!(report.files[0].format, "claude-session");
        assert_eq!(report.missing_children, ["c1 (Task)"]);
    }

    #[test]
    fn three_ways_to_keep_a_sub_agent() {
        let sidechain =
            |text: &str| text.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
        let call = |uuid: &str, parent: &str| {
            assistant(
                uuid,
                parent,
                r#"{"type":"tool_use","id":"c9","name":"Bash","input":{"command":"ls"}}"#,
                "null",
            )
        };
        let answer = |uuid: &str, parent: &str| {
            user(
                uuid,
                parent,
                r#"[{"type":"tool_result","tool_use_id":"c9","content":"x"}]"#,
            )
        };

        // 1. among the other records, found by the prompt
        let mut old = session();
        old.insert(4, sidechain(&user("k1", "null", r#""dig""#)));
        old.insert(5, sidechain(&call("k2", "\"k1\"")));
        old.insert(6, sidechain(&answer("k3", "\"k2\"")));
        let (events, report) = read(&old.join("\n"));
        let got = short(&events);
        assert_eq!(got[3..6], ["prompt@c1 dig", "command@c1 ls", "output@c1 x"]);
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);

        // 2. inside progress records
        let progress = |inner: &str| {
            record(
                "progress",
                &format!("p{}", inner.len()),
                "\"a1\"",
                &format!(
                    r#""parentToolUseID":"c1","data":{{"type":"agent_progress","agentId":"ag1","message":{inner}}}"#
                ),
            )
        };
        let mut middle = session();
        middle.insert(4, progress(&call("k2", "null")));
        middle.insert(5, progress(&answer("k3", "null")));
        let (events, report) = read(&middle.join("\n"));
        assert_eq!(short(&events)[3..5], ["command@c1 ls", "output@c1 x"]);
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);

        // 3. in a file of its own
        let main = session().join("\n").replace(
            r#""uuid":"u2","#,
            r#""uuid":"u2","toolUseResult":{"agentId":"ag1","totalToolUseCount":1},"#,
        );
        let child = [
            user("k1", "null", r#""dig""#),
            call("k2", "\"k1\""),
            answer("k3", "\"k2\""),
        ]
        .map(|text| sidechain(&text).replace(r#""cwd""#, r#""agentId":"ag1","cwd""#))
        .join("\n");
        let (events, report) = read_files(&[&main, &child]);
        assert_eq!(
            short(&events)[5..],
            ["prompt@ag1 dig", "command@ag1 ls", "output@ag1 x"]
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
        let (_, report) = read(&main);
        assert_eq!(report.missing_children, ["ag1 (Task)"]);
    }

    #[test]
    fn a_resumed_session_repeats_nothing() {
        let first = session().join("\n");
        let resumed = [
            first.replace(r#""sessionId":"s1""#, r#""sessionId":"s2""#),
            user("u3", "\"a2\"", r#""More""#).replace("s1", "s2"),
            assistant(
                "a3",
                "\"u3\"",
                r#"{"type":"text","text":"Yes."}"#,
                "\"end_turn\"",
            )
            .replace("s1", "s2"),
        ]
        .join("\n");
        let (events, _) = read_files(&[&first, &resumed]);
        let got = short(&events);
        assert_eq!(got[got.len() - 2..], ["prompt More", "result Yes."]);
        assert_eq!(got.iter().filter(|line| line.contains("dig")).count(), 1);
    }

    #[test]
    fn a_lost_record_is_noticed() {
        let mut records = session();
        records.remove(3);
        let (_, report) = read(&records.join("\n"));
        assert_eq!(
            report.files[0].problems[0].what,
            "a record whose predecessor is not in the file"
        );
    }

    /// A summary before the first act says that there was an earlier part; one in between does not.
    #[test]
    fn a_session_that_goes_on_from_an_earlier_one() {
        let prompt = user("u1", "null", r#""real question""#);
        let summary = |parent: &str| {
            user("u2", parent, r#""Continued from: I applied the fix""#)
                .replace(r#""cwd""#, r#""isCompactSummary":true,"cwd""#)
        };
        let acted = r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}"#;
        let continues = |texts: &[String]| {
            let (_, report) = crate::trace::testing::read(&texts.join("\n"));
            let mut problems = report.files.iter().flat_map(|f| &f.problems);
            problems.any(|p| p.is_continuation())
        };
        assert!(continues(&[summary("null")]));
        assert!(continues(&[summary("null"), acted.replace("u1", "u2")]));
        assert!(!continues(&[prompt, acted.to_owned(), summary("\"a1\"")]));
    }

    #[test]
    fn who_wrote_a_user_record() {
        let text = [
            user(
                "u1",
                "null",
                r#""<system-reminder>be good</system-reminder>""#,
            ),
            user("u2", "\"u1\"", r#""Continue from: I applied the fix""#)
                .replace(r#""cwd""#, r#""isCompactSummary":true,"cwd""#),
            user("u3", "\"u2\"", r#"[{"type":"text","text":"hook says"}]"#)
                .replace(r#""cwd""#, r#""isMeta":true,"cwd""#),
            user("u4", "\"u3\"", r#""real question""#),
            r#"{"type":"summary","summary":"Fixing it","leafUuid":"u4"}"#.into(),
        ]
        .join("\n");
        assert_eq!(
            lines(&text),
            [
                "system <system-reminder>be good</system-reminder>",
                "assistant Continue from: I applied the fix",
                "system hook says",
                "prompt real question",
                "assistant Fixing it",
            ]
        );
    }
}

mod codex_exec {
    use super::*;

    fn item(phase: &str, item: &str) -> String {
        format!(r#"{{"type":"item.{phase}","item":{item}}}"#)
    }

    #[test]
    fn all_items() {
        let text = [
            r#"{"type":"thread.started","thread_id":"t1"}"#.to_owned(),
            r#"{"type":"turn.started"}"#.into(),
            item("completed", r#"{"id":"item_0","type":"reasoning","text":"think"}"#),
            item("completed", r#"{"id":"item_1","type":"agent_message","text":"I start."}"#),
            item("started", r#"{"id":"item_2","type":"command_execution","command":"/bin/bash -lc \"echo 'a b'\"","aggregated_output":"","exit_code":null,"status":"in_progress"}"#),
            item("completed", r#"{"id":"item_2","type":"command_execution","command":"/bin/bash -lc \"echo 'a b'\"","aggregated_output":"a b\n","exit_code":1,"status":"failed"}"#),
            item("completed", r#"{"id":"item_3","type":"file_change","changes":[{"path":"/w/a","kind":"update"},{"path":"/w/b","kind":"delete"}],"status":"completed"}"#),
            item("started", r#"{"id":"item_4","type":"mcp_tool_call","server":"fs","tool":"get","arguments":{"p":"x"},"status":"in_progress"}"#),
            item("completed", r#"{"id":"item_4","type":"mcp_tool_call","server":"fs","tool":"get","arguments":{"p":"x"},"result":{"content":[{"type":"text","text":"{\"c\":\"1\\n2\"}"}],"structured_content":{"c":"1\n2"}},"status":"completed"}"#),
            item("completed", r#"{"id":"item_5","type":"mcp_tool_call","server":"fs","tool":"get","arguments":{},"result":null,"error":{"message":"timed out awaiting tools/call"},"status":"failed"}"#),
            item("started", r#"{"id":"item_6","type":"web_search","query":""}"#),
            item("completed", r#"{"id":"item_6","type":"web_search","query":"fix 12"}"#),
            item("started", r#"{"id":"item_7","type":"todo_list","items":[{"text":"one","completed":false}]}"#),
            item("completed", r#"{"id":"item_7","type":"todo_list","items":[{"text":"one","completed":false}]}"#),
            item("completed", r#"{"id":"item_8","type":"agent_message","text":"Done."}"#),
            r#"{"type":"turn.completed","usage":{"input_tokens":1}}"#.into(),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "reasoning think",
                "assistant I start.",
                "command echo 'a b'",
                "output a b⏎ !1",
                "edit [Unrecorded /w/a] [Delete /w/b]",
                "output",
                "tool_call p: x",
                r#"output {"c":"1\n2"}⏎1⏎2"#,
                "tool_call",
                "output timed out awaiting tools/call !error !interrupted",
                "web fix 12",
                "tool_call text: one⏎completed: false",
                "result Done.",
            ]
        );
        assert_eq!(
            report.reasons,
            ["1 call without a result, the first at a:12 (web_search)"]
        );
        assert_eq!(report.files[0].problems, []);
    }

    #[test]
    fn the_output_cap_is_noticed() {
        let output = "x".repeat(1 << 20);
        let text = item(
            "completed",
            &format!(
                r#"{{"id":"item_2","type":"command_execution","command":"ls","aggregated_output":"{output}","exit_code":0}}"#
            ),
        );
        assert!(lines(&text)[1].ends_with("!truncated !0"));
    }

    #[test]
    fn turns_of_one_thread() {
        let say = |id: &str, text: &str| {
            item(
                "completed",
                &format!(r#"{{"id":"{id}","type":"agent_message","text":"{text}"}}"#),
            )
        };
        let turn = r#"{"type":"turn.completed"}"#;
        let text = [
            r#"{"type":"thread.started","thread_id":"t1"}"#,
            &say("item_0", "First."),
            turn,
            r#"{"type":"thread.started","thread_id":"t1"}"#,
            &say("item_0", "Second."),
            r#"{"type":"turn.failed","error":{"message":"quota"}}"#,
        ]
        .join("\n");
        assert_eq!(
            lines(&text),
            ["result First.", "result Second.", "system quota"]
        );
    }

    #[test]
    fn old_form() {
        let text = [
            r#"{"workdir":"/w","sandbox":"full","provider":"p","reasoning effort":"none","model":"m"}"#,
            r#"{"prompt":"Fix it"}"#,
            r#"{"id":"0","msg":{"type":"task_started"}}"#,
            r#"{"id":"0","msg":{"type":"agent_reasoning","text":"hm"}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["bash","-lc","ls | wc"],"cwd":"/w"}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_output_delta","call_id":"c1","chunk":[49,10]}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_end","call_id":"c1","stdout":"1\n","stderr":"","aggregated_output":"1\n","formatted_output":"1\n","exit_code":0}}"#,
            r#"{"id":"0","msg":{"type":"patch_apply_begin","call_id":"c2","changes":{"/w/a":{"update":{"unified_diff":"@@ -1 +1 @@\n-o\n+n\n"}},"/w/b":{"add":{"content":"z"}}}}}"#,
            r#"{"id":"0","msg":{"type":"patch_apply_end","call_id":"c2","stdout":"ok","stderr":"","success":true}}"#,
            r#"{"id":"0","msg":{"type":"turn_diff","unified_diff":"+n"}}"#,
            r#"{"id":"0","msg":{"type":"agent_message","message":"Done."}}"#,
            r#"{"id":"0","msg":{"type":"task_complete","last_agent_message":"Done."}}"#,
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "prompt Fix it",
                "reasoning hm",
                "command ls | wc",
                "output 1⏎ !0",
                "edit n⏎⏎z [Replace /w/a] [Write /w/b]",
                "output ok",
                "result Done.",
            ]
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
        assert_eq!(report.files[0].format, "codex-exec-old");
    }
}

mod cursor {
    use super::*;

    #[test]
    fn one_object_is_a_summary() {
        let text = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"duration_api_ms":9,"result":"已完整应用 PR #1","session_id":"s","request_id":"r"}"#;
        let (events, report) = read(text);
        assert_eq!(short(&events), ["result 已完整应用 PR #1"]);
        assert_eq!(report.coverage, Coverage::SummaryOnly);
        assert_eq!(
            report.reasons,
            ["the format holds a final message and no tool calls"]
        );
        assert_eq!(report.files[0].format, "cursor-json");
    }

    const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"m","permissionMode":"default"}"#;

    fn say(text: &str, more: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s"{more}}}"#
        )
    }

    fn call(phase: &str, id: &str, tool: &str) -> String {
        format!(
            r#"{{"type":"tool_call","subtype":"{phase}","call_id":"{id}","tool_call":{tool},"session_id":"s","timestamp_ms":5}}"#
        )
    }

    fn end(text: &str) -> String {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"duration_api_ms":9,"result":"{text}","session_id":"s","request_id":"r"}}"#
        )
    }

    #[test]
    fn a_whole_run() {
        let text = [
            INIT.to_owned(),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Fix it"}]},"session_id":"s"}"#.into(),
            r#"{"type":"thinking","subtype":"delta","text":"Let ","session_id":"s","timestamp_ms":1}"#.into(),
            r#"{"type":"thinking","subtype":"delta","text":"me.","session_id":"s","timestamp_ms":2}"#.into(),
            r#"{"type":"thinking","subtype":"completed","session_id":"s","timestamp_ms":3}"#.into(),
            say("Running. ", r#","model_call_id":"m1","timestamp_ms":4"#),
            call("started", r"c1\nfc", r#"{"shellToolCall":{"args":{"command":"git log --all"}}}"#),
            call("completed", r"c1\nfc", r#"{"shellToolCall":{"args":{"command":"git log --all"},"result":{"failure":{"exitCode":128,"stdout":"","stderr":"fatal","interleavedOutput":"fatal"}}}}"#),
            call("started", "c2", r#"{"editToolCall":{"args":{"path":"/w/a","streamContent":"new"}}}"#),
            call("completed", "c2", r#"{"editToolCall":{"args":{"path":"/w/a","streamContent":"new"},"result":{"success":{"diffString":"-old\n+new\n","beforeFullFileContent":"SECRET","afterFullFileContent":"SECRET","message":"ok"}}}}"#),
            call("started", "c3", r#"{"webFetchToolCall":{"args":{"url":"https://x.test"}}}"#),
            call("completed", "c3", r#"{"webFetchToolCall":{"args":{"url":"https://x.test"},"result":{"rejected":{"reason":"no"}}}}"#),
            call("started", "c4", r#"{"readToolCall":{"args":{"path":"/w/a"}}}"#),
            call("completed", "c4", r#"{"readToolCall":{"args":{"path":"/w/a"},"result":{"success":{"content":"text","totalLines":1}}}}"#),
            say("Done.", ""),
            end("Running. Done."),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "prompt Fix it",
                "reasoning Let me.",
                "assistant Running. ",
                "command git log --all",
                "output fatal !128",
                "edit new⏎ [Replace /w/a]",
                "output ok",
                "web https://x.test",
                "output reason: no !error !denied",
                "tool_call path: /w/a",
                "output text",
                "result Done.",
            ]
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
        assert_eq!(report.files[0].format, "cursor-stream");
    }

    #[test]
    fn partial_output_is_one_message() {
        let text = [
            INIT.to_owned(),
            say("Rea", r#","timestamp_ms":1"#),
            say("ding.", r#","timestamp_ms":2"#),
            say("Reading.", r#","model_call_id":"m1","timestamp_ms":3"#),
            call(
                "completed",
                "c1",
                r#"{"lsToolCall":{"args":{"path":"/w"},"result":{"success":{"files":["a"]}}}}"#,
            ),
            say("Do", r#","timestamp_ms":4"#),
            say("ne.", r#","timestamp_ms":5"#),
            say("Reading.Done.", ""),
            end("Reading.Done."),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "assistant Reading.",
                "tool_call path: /w",
                "output files:⏎a",
                "result Done."
            ]
        );
        assert_eq!(events[0].source.line, 2, "where the message starts");
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }

    #[test]
    fn an_edit_without_its_end_is_kept() {
        let text = [
            INIT.to_owned(),
            call(
                "started",
                "c2",
                r#"{"editToolCall":{"args":{"path":"/w/a","streamContent":"new"}}}"#,
            ),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(short(&events), ["edit new [Replace /w/a]"]);
        assert_eq!(report.unanswered, 1);
    }

    #[test]
    fn mcp_and_sub_agents() {
        let text = [
            INIT.to_owned(),
            call("completed", "c1", r#"{"mcpToolCall":{"args":{"providerIdentifier":"gh","toolName":"get_pr","args":{"n":5}},"result":{"success":{"content":"diff"}}}}"#),
            call("completed", "c2", r#"{"taskToolCall":{"args":{"prompt":"dig"},"result":{"success":{"conversationSteps":[{"assistantMessage":{"text":"ok"}},{"toolCall":{"shellToolCall":{"args":{"command":"ls"},"result":{"success":{"exitCode":0,"stdout":"a"}}}}}],"content":"dug"}}}}"#),
            call("completed", "c3", r#"{"taskToolCall":{"args":{"prompt":"dig"},"result":{"success":{"content":"dug"}}}}"#),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "tool_call n: 5",
                "output diff",
                "tool_call dig",
                "assistant@c2 ok",
                "command@c2 ls",
                "output@c2 a !0",
                "output dug",
                "tool_call dig",
                "output dug",
            ]
        );
        assert_eq!(events[0].tool.as_deref(), Some("mcp__gh__get_pr"));
        assert_eq!(report.missing_children, ["c3 (taskToolCall)"]);
    }
}

mod opencode {
    use super::*;

    fn record(kind: &str, id: &str, part: &str) -> String {
        format!(
            r#"{{"type":"{kind}","timestamp":7,"sessionID":"ses1","part":{{"id":"prt{id}","messageID":"m1","sessionID":"ses1",{part}}}}}"#
        )
    }

    #[test]
    fn a_whole_run() {
        let tool = |id: &str, tool: &str, state: &str| {
            record(
                "tool_use",
                id,
                &format!(r#""type":"tool","tool":"{tool}","callID":"c{id}","state":{state}"#),
            )
        };
        let text = [
            record("step_start", "1", r#""type":"step-start""#),
            record("text", "2", r#""type":"text","text":"Go.""#),
            tool("3", "bash", r#"{"status":"completed","input":{"command":"ls"},"output":"a\n","metadata":{"output":"a\n","exit":1,"truncated":true}}"#),
            tool("4", "webfetch", r#"{"status":"completed","input":{"url":"https://x.test/1.patch","format":"text"},"output":"diff --git"}"#),
            tool("5", "edit", r#"{"status":"completed","input":{"filePath":"/a","oldString":"o","newString":"n"},"output":"ok"}"#),
            tool("6", "bash", r#"{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission to use this tool"}"#),
            tool("7", "task", r#"{"status":"completed","input":{"prompt":"dig"},"output":"dug","metadata":{"sessionId":"ses2"}}"#),
            record("step_finish", "8", r#""type":"step-finish","reason":"tool-calls""#),
            record("step_start", "9", r#""type":"step-start""#),
            record("text", "10", r#""type":"text","text":"Done.""#),
            record("step_finish", "11", r#""type":"step-finish","reason":"stop""#),
        ]
        .join("\n");
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "assistant Go.",
                "command ls",
                "output a⏎ !truncated !1",
                "web https://x.test/1.patch",
                "output diff --git",
                "edit n [Replace /a]",
                "output ok",
                "command rm x",
                "output The user rejected permission to use this tool !error !denied",
                "tool_call dig",
                "output dug",
                "result Done.",
            ]
        );
        assert_eq!(report.missing_children, ["ses2 (task)"]);
        assert_eq!(report.coverage, Coverage::Partial);

        // The sub-agent's own session beside it makes the run complete.
        let child = [
            record("step_start", "21", r#""type":"step-start""#),
            record("text", "22", r#""type":"text","text":"dug""#),
            record(
                "step_finish",
                "23",
                r#""type":"step-finish","reason":"stop""#,
            ),
        ]
        .join("\n")
        .replace("ses1", "ses2");
        let (_, report) = read_files(&[&text, &child]);
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }
}

#[test]
fn what_no_adapter_knows_is_raw() {
    let (events, report) =
        read("{\"some\":{\"thing\":[\"a\\nb\",1]}}\nplain\n42\n{\"cut\":\"git sh");
    assert_eq!(
        short(&events),
        [
            "raw some:⏎thing:⏎a⏎b⏎1",
            "raw plain",
            "raw 42",
            "raw cut: git sh"
        ]
    );
    assert_eq!(report.coverage, Coverage::Missing);
    assert_eq!(report.files[0].format, "generic");
    let problems: Vec<_> = report.files[0].problems.iter().map(|p| p.line).collect();
    assert_eq!(problems, [1, 2, 3, 4]);
}

#[test]
fn names_of_formats_are_distinct_and_edits_say_what_they_are() {
    let mut names: Vec<_> = super::FORMATS.iter().map(|format| format.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), super::FORMATS.len());
    assert_ne!(EditOp::Unrecorded, EditOp::Write);
}
