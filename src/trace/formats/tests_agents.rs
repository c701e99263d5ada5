//! What is particular to the logs of each agent and harness: what counts, what is repeated, what never
//! happened. The whole runs are in `tests/traces/samples`.

use crate::trace::event::Coverage;
use crate::trace::testing::{read, read_files, short};

fn lines(text: &str) -> Vec<String> {
    short(&read(text).0)
}

mod opencode_export {
    use super::*;

    fn export(id: &str, more: &str, messages: &str) -> String {
        format!(
            r#"{{"info":{{"id":"{id}","projectID":"p","directory":"/w"{more}}},"messages":[{messages}]}}"#
        )
    }

    fn assistant(finish: &str, parts: &str) -> String {
        format!(
            r#"{{"info":{{"id":"m2","role":"assistant","finish":"{finish}"}},"parts":[{parts}]}}"#
        )
    }

    #[test]
    fn a_sub_agent_is_a_document_of_its_own() {
        let task = r#"{"type":"tool","tool":"task","callID":"c1","state":{"status":"completed","input":{"prompt":"dig"},"output":"dug","metadata":{"sessionId":"ses_2"}}}"#;
        let end = r#"{"type":"text","id":"p9","messageID":"m3","text":"Done."}"#;
        let main = export("ses_1", "", &assistant("stop", &format!("{task},{end}")));
        let bash = r#"{"type":"tool","tool":"bash","callID":"c2","state":{"status":"error","input":{"command":"ls"},"error":"Tool execution aborted"}}"#;
        let child = export("ses_2", r#","parentID":"ses_1""#, &assistant("stop", bash));
        let (_, report) = read(&main);
        assert_eq!(report.missing_children, ["ses_2 (task)"]);
        let (events, report) = read_files(&[&main, &child]);
        assert_eq!(
            short(&events),
            [
                "tool_call dig",
                "output dug",
                "result Done.",
                "command@ses_2 ls",
                "output@ses_2 Tool execution aborted !error !interrupted"
            ]
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }

    #[test]
    fn the_stream_of_the_same_session_adds_nothing() {
        let part = r#"{"id":"p1","sessionID":"ses_1","messageID":"m2","type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"ls"},"output":"a","metadata":{"exit":0}}}"#;
        let said =
            r#"{"id":"p2","sessionID":"ses_1","messageID":"m2","type":"text","text":"Done."}"#;
        let document = export("ses_1", "", &assistant("stop", &format!("{part},{said}")));
        let stream = format!(
            "{{\"type\":\"tool_use\",\"sessionID\":\"ses_1\",\"part\":{part}}}\n{{\"type\":\"text\",\"sessionID\":\"ses_1\",\"part\":{said}}}"
        );
        let (events, _) = read_files(&[&document, &stream]);
        assert_eq!(
            short(&events),
            ["command ls", "output a !0", "result Done."]
        );
    }
}

mod aider {
    use super::*;

    const HEAD: &str = "# aider chat started at 2026-01-02 03:04:05\n\n#### Fix it  \n\n";

    #[test]
    fn what_is_suggested_is_not_run() {
        let chat = |answer: &str, then: &str| {
            lines(&format!(
                "{HEAD}Try:\n\n```bash\ngit show v2\n```\n\n> git show v2  \n> Run shell command? (Y)es/(N)o [Yes]: {answer}  \n{then}"
            ))
        };
        let commands = |lines: Vec<String>| -> Vec<String> {
            lines
                .into_iter()
                .filter(|l| l.starts_with("command"))
                .collect()
        };
        assert_eq!(commands(chat("n", "")), Vec::<String>::new());
        assert_eq!(
            commands(chat("n", "\n> Running git show v2  \n")),
            Vec::<String>::new()
        );
        assert_eq!(
            commands(chat("y", "\n> Running git show v2  \n")),
            ["command git show v2"]
        );
    }

    #[test]
    fn an_edit_counts_when_it_was_applied() {
        let block = "a.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n";
        let text = format!("{HEAD}So:\n\n{block}\n> quoted\n\n");
        assert_eq!(lines(&text).len(), 2, "{:?}", lines(&text));
        let got = lines(&format!(
            "{text}> Applied edit to a.py  \n> Commit 03a9c80 So:\n\n{block}  \n"
        ));
        assert!(
            got.contains(&"edit y⏎ [Replace a.py]".to_owned()),
            "{got:?}"
        );
        // The text of the commit message is the program's.
        assert_eq!(
            got.iter()
                .filter(|line| line.starts_with("assistant"))
                .count(),
            1
        );
        let got = lines(&format!("{text}> Applied edit to b.py  \n"));
        assert!(
            got.contains(&"edit [Unrecorded b.py]".to_owned()),
            "{got:?}"
        );
    }

    #[test]
    fn lines_that_look_like_records_are_text() {
        let got = lines(&format!(
            "{HEAD}{{\n  \"a\": 1\n}}\n[x]\n    {{\"b\": 2}}\n"
        ));
        assert_eq!(
            got,
            ["prompt Fix it", "result {⏎  \"a\": 1⏎}⏎[x]⏎    {\"b\": 2}"]
        );
    }

    #[test]
    fn another_agent_behind_it() {
        let got = lines(&format!(
            "{HEAD}Hm.\n{{\"type\":\"thread.started\",\"thread_id\":\"t\"}}\n{{\"type\":\"item.completed\",\"item\":{{\"id\":\"1\",\"type\":\"agent_message\",\"text\":\"x\"}}}}\n"
        ));
        assert_eq!(got, ["prompt Fix it", "result Hm.", "result x"]);
    }

    #[test]
    fn the_history_of_the_model_says_everything_once() {
        let to = "TO LLM 2026-01-02T03:04:05\n-------\nSYSTEM Be good.\n-------\nUSER Example\n-------\nASSISTANT Canned\n-------\nUSER Fix it\n";
        let reminder = "USER \nUSER # *SEARCH/REPLACE block* Rules:\nUSER rules\n";
        let text = format!(
            "{to}{reminder}LLM RESPONSE 2026-01-02T03:04:06\nASSISTANT Plan\n{to}-------\nASSISTANT Plan\n-------\nUSER Plan\n{reminder}LLM RESPONSE 2026-01-02T03:04:07\nASSISTANT a.py\nASSISTANT <<<<<<< SEARCH\nASSISTANT x\nASSISTANT =======\nASSISTANT y\nASSISTANT >>>>>>> REPLACE\n"
        );
        let (events, report) = read(&text);
        assert_eq!(
            short(&events),
            [
                "system Be good.",
                "system Example",
                "system Canned",
                "prompt Fix it",
                "assistant Plan",
                "assistant a.py⏎<<<<<<< SEARCH⏎x⏎=======⏎y⏎>>>>>>> REPLACE",
                "edit y⏎ [Replace a.py]",
            ]
        );
        assert_eq!(report.files[0].format, "aider-llm");
        assert_eq!(events[3].source.line, 9);
        assert_eq!(report.coverage, Coverage::Partial);
    }
}

mod mini_swe_agent {
    use super::*;

    fn run(messages: &str) -> Vec<String> {
        lines(&format!(
            r#"{{"info":{{"mini_version":"1.17.5","exit_status":"Submitted","config":{{"agent":{{"x":"```bash\nls\n```"}}}}}},"messages":[{messages}],"trajectory_format":"mini-swe-agent-1"}}"#
        ))
    }

    fn message(role: &str, content: &str) -> String {
        format!(
            r#"{{"role":"{role}","content":{}}}"#,
            serde_json::json!(content)
        )
    }

    #[test]
    fn one_fence_is_a_command_and_two_are_none() {
        let got = run(&[
            message("system", "s"),
            message("user", "Fix it"),
            message("assistant", "A\n\n```bash\nls\n```\n```bash\npwd\n```"),
            message("user", "Please always provide EXACTLY ONE action"),
            message("assistant", "B\n\n```bash\ncat <<'EOF'\n``\nEOF\n```\nend"),
            message(
                "user",
                "<returncode>3</returncode>\n<output>\n<output>x</output>\n</output>",
            ),
            message("assistant", "```python\n1\n```"),
            message("user", "none"),
            message(
                "assistant",
                "Fixed.\n```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```",
            ),
            message("user", "diff"),
        ]
        .join(","));
        assert_eq!(
            got,
            [
                "system s",
                "prompt Fix it",
                "assistant A⏎⏎```bash⏎ls⏎```⏎```bash⏎pwd⏎```",
                "system Please always provide EXACTLY ONE action",
                "assistant B⏎end",
                "command cat <<'EOF'⏎``⏎EOF",
                "output <output>x</output>⏎ !3",
                "assistant ```python⏎1⏎```",
                "system none",
                "result Fixed.",
                "command echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
                "output diff",
            ]
        );
    }

    #[test]
    fn the_bare_array_of_the_oldest_version() {
        let text = format!(
            "[{},{},{},{}]",
            message("system", "Exactly one: mswea_bash_command"),
            message("user", "Fix it"),
            message(
                "assistant",
                "```mswea_bash_command\nls COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"
            ),
            message("user", "")
        );
        let (events, report) = read(&text);
        assert_eq!(short(&events).len(), 4);
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }

    #[test]
    fn a_command_that_was_killed() {
        let got = run(&[
            message("assistant", "```bash\nsleep 99\n```"),
            message(
                "user",
                "The last command <command>sleep 99</command> timed out and has been killed.",
            ),
        ]
        .join(","));
        assert!(got[1].ends_with("!interrupted"), "{got:?}");
    }
}

mod swe_agent {
    use super::*;

    fn step(action: &str, observation: &str) -> String {
        serde_json::json!({
            "action": action, "observation": observation, "thought": "", "response": "r",
            "state": "{\"open_file\": \"/w/a.py\", \"working_dir\": \"/w\"}\n",
        })
        .to_string()
    }

    fn run(steps: &[String]) -> Vec<String> {
        lines(&format!(
            r#"{{"environment":"swe_main","trajectory":[{}],"history":[{{"role":"system","content":"s"}},{{"role":"user","content":"demo: git show v9","is_demo":true}},{{"role":"user","content":"Fix it"}},{{"role":"assistant","content":"again"}},{{"role":"user","content":"again"}}],"info":{{"exit_status":"submitted"}}}}"#,
            steps.join(",")
        ))
    }

    #[test]
    fn actions() {
        let got = run(&[
            step("git log\n", "abc"),
            step(
                "edit 3:4\nnew\n  line\nend_of_edit\n",
                "Your changes have NOT been applied.",
            ),
            step("edit 'a b' \"c\"", "ok"),
            step("create x/y.py\n", ""),
            step(
                "str_replace_editor str_replace /w/b.py --old_str 'o' --new_str 'n\nm'",
                "ok",
            ),
            step("str_replace_editor view /w/b.py", "1 x"),
            step("str_replace_editor create /w/c.py --file_text 'z'", "ok"),
            step("exit_cost", "Exited"),
        ]);
        assert_eq!(
            got,
            [
                "command git log",
                "output abc",
                "edit new⏎  line⏎ [Replace /w/a.py]",
                "output Your changes have NOT been applied. !error",
                "edit c [Replace /w/a.py]",
                "output ok",
                "edit [Write x/y.py]",
                "output",
                "edit n⏎m [Replace /w/b.py]",
                "output ok",
                "command str_replace_editor view /w/b.py",
                "output 1 x",
                "edit z [Write /w/c.py]",
                "output ok",
                "system r",
                "system Exited",
                "system s",
                "prompt Fix it",
            ]
        );
    }

    /// Keys may be sorted, or the file may be laid out in lines: the reader gives out its parts.
    #[test]
    fn the_layout_does_not_matter() {
        let text = format!(
            r#"{{"environment":"m","trajectory":[{},{}],"history":[],"info":{{"exit_status":"submitted"}}}}"#,
            step("ls", "a"),
            step("submit", "")
        );
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (whole, _) = read(&text);
        for layout in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let (events, report) = read(&layout);
            assert_eq!(short(&events), short(&whole));
            assert_eq!(report.files[0].format, "swe-agent");
        }
    }
}

mod openhands {
    use super::*;

    fn run(events: &str) -> Vec<String> {
        lines(&format!(
            r#"{{"instance_id":"i","history":[{events}],"instance":{{"patch":"SECRET","test_patch":"SECRET"}},"test_result":{{"git_patch":"SECRET"}},"metadata":{{"x":"SECRET"}}}}"#
        ))
    }

    #[test]
    fn actions_and_observations() {
        let got = run(&[
            r#"{"id":1,"source":"user","action":"message","args":{"content":"Fix it"}}"#,
            r#"{"id":2,"source":"agent","action":"edit","args":{"command":"create","path":"/a","file_text":"t","content":"","old_str":null,"start":1,"end":-1}}"#,
            r#"{"id":3,"source":"agent","action":"edit","args":{"command":"str_replace","path":"/a","old_str":"o","new_str":null}}"#,
            r#"{"id":4,"cause":3,"source":"agent","observation":"edit","content":"ERROR:\nno match"}"#,
            r#"{"id":5,"cause":2,"source":"agent","observation":"edit","content":"ok"}"#,
            r#"{"id":6,"source":"agent","action":"run","args":{"command":"sleep 9","thought":"T"}}"#,
            r#"{"id":7,"cause":6,"source":"agent","observation":"run","content":"","extras":{"metadata":{"exit_code":-1}}}"#,
            r#"{"id":8,"source":"agent","action":"browse","args":{"url":"https://x.test"}}"#,
            r#"{"id":9,"cause":8,"source":"user","observation":"user_rejected","content":"no"}"#,
            r#"{"id":10,"source":"agent","action":"think","args":{"thought":"hm"}}"#,
            r#"{"id":11,"source":"agent","action":"finish","args":{"final_thought":"Done.","thought":""}}"#,
        ]
        .join(","));
        assert_eq!(
            got,
            [
                "prompt Fix it",
                "edit t [Write /a]",
                "edit [Replace /a]",
                "output ERROR:⏎no match !error",
                "output ok",
                "assistant T",
                "command sleep 9",
                "output !interrupted !-1",
                "web https://x.test",
                "output no !denied",
                "reasoning hm",
                "result Done.",
            ]
        );
    }

    #[test]
    fn the_flat_events_of_old_versions() {
        let got = run(&[
            r#"{"action":"message","content":"Fix it"}"#,
            r#"{"action":"run","command":"ls","thought":""}"#,
            r#"{"observation":"run","content":"a","command":"ls","exit_code":0}"#,
            r#"{"action":"run_ipython","code":"edit_file_by_replace('/a.py', to_replace=\"\"\"x\ny\"\"\", new_content='z\\'')"}"#,
            r#"{"observation":"run_ipython","content":"ok"}"#,
            r#"{"action":"run_ipython","code":"print(1)"}"#,
            r#"{"observation":"run_ipython","content":"1"}"#,
        ]
        .join(","));
        assert_eq!(
            got,
            [
                "prompt Fix it",
                "command ls",
                "output a !0",
                "edit z' [Replace /a.py]",
                "output ok",
                "command python3 - <<'PYTHON'⏎print(1)⏎PYTHON",
                "output 1",
            ]
        );
    }

    #[test]
    fn pairs_and_files_of_events() {
        let action =
            r#"{"id":1,"timestamp":"T","source":"agent","action":"run","args":{"command":"ls"}}"#;
        let seen = r#"{"id":2,"timestamp":"T","cause":1,"source":"agent","observation":"run","content":"a","extras":{"metadata":{"exit_code":0}}}"#;
        let want = ["command ls", "output a !0"];
        assert_eq!(run(&format!("[{action},{seen}]")), want);
        let (events, report) = read_files(&[action, seen]);
        assert_eq!(short(&events), want);
        assert_eq!(report.files[1].format, "openhands");
    }
}

mod openhands_sdk {
    use super::*;

    const EVENTS: [&str; 14] = [
        r#"{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Fix it"}]},"extended_content":[{"type":"text","text":"Rules"}]}"#,
        r#"{"kind":"ActionEvent","source":"agent","reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm"}],"thought":[{"type":"text","text":"T"}],"action":{"kind":"TerminalAction","command":"sleep 9","is_input":false},"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\":\"sleep 9\"}"}}"#,
        r#"{"kind":"ObservationEvent","source":"environment","tool_name":"terminal","tool_call_id":"c1","observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"a"}],"is_error":false,"exit_code":-1,"metadata":{"exit_code":-1}}}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":{"kind":"TerminalAction","command":"y","is_input":true},"tool_name":"terminal","tool_call_id":"c2"}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":{"kind":"FileEditorAction","command":"str_replace","path":"/a","old_str":"o","new_str":"n"},"tool_name":"file_editor","tool_call_id":"c3"}"#,
        r#"{"kind":"ObservationEvent","source":"environment","tool_name":"file_editor","tool_call_id":"c3","observation":{"kind":"FileEditorObservation","content":[{"type":"text","text":"edited"}],"is_error":false,"old_content":"HIDDEN o","new_content":"HIDDEN n"}}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":{"kind":"FileEditorAction","command":"view","path":"/a"},"tool_name":"file_editor","tool_call_id":"c4"}"#,
        r#"{"kind":"UserRejectObservation","source":"environment","tool_name":"file_editor","tool_call_id":"c4","rejection_reason":"no"}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":null,"tool_name":"terminal","tool_call_id":"c5","tool_call":{"id":"c5","name":"terminal","arguments":"{\"command\":\"git show 1\"}"}}"#,
        r#"{"kind":"AgentErrorEvent","source":"agent","tool_name":"terminal","tool_call_id":"c5","error":"bad arguments"}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":{"kind":"MCPToolAction","data":{"url":"https://x.test"}},"tool_name":"fetch","tool_call_id":"c6"}"#,
        r#"{"kind":"TokenEvent","source":"agent","prompt_token_ids":[1]}"#,
        r#"{"kind":"SomethingNewEvent","source":"agent"}"#,
        r#"{"kind":"ActionEvent","source":"agent","thought":[],"action":{"kind":"FinishAction","message":"Done."},"tool_name":"finish","tool_call_id":"c7"}"#,
    ];

    #[test]
    fn actions_are_answered_by_the_id_of_their_call() {
        let document = format!(
            r#"{{"instance_id":"i","history":[{}],"test_result":{{"git_patch":"SECRET"}}}}"#,
            EVENTS.join(",")
        );
        assert_eq!(
            lines(&document),
            [
                "prompt Fix it",
                "system Rules",
                "reasoning hm",
                "assistant T",
                "command sleep 9",
                "output a !interrupted !-1",
                "tool_call y",
                "edit n [Replace /a]",
                "output edited",
                "tool_call kind: FileEditorAction⏎command: view⏎path: /a",
                "output no !denied",
                "command git show 1",
                "output bad arguments !error",
                "web https://x.test",
                "raw kind: SomethingNewEvent⏎source: agent",
                "result Done.",
            ]
        );
    }

    #[test]
    fn one_event_a_file() {
        let dated = |event: &str| event.replacen('{', r#"{"timestamp":"T","#, 1);
        let [said, acted, seen] = [0, 1, 2].map(|at| dated(EVENTS[at]));
        let (events, report) = read_files(&[&said, &acted, &seen]);
        assert_eq!(
            short(&events).last().map(String::as_str),
            Some("output a !interrupted !-1")
        );
        assert_eq!(report.files[2].format, "openhands-sdk");
    }
}

mod others {
    use super::*;

    #[test]
    fn pi_runs_nothing_of_what_was_stopped() {
        let got = lines(
            &[
                r#"{"type":"session","id":"s","timestamp":"T","cwd":"/w"}"#,
                r#"{"type":"message","timestamp":"T","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"rm x"}}],"stopReason":"aborted","errorMessage":"Request was aborted"}}"#,
                r#"{"type":"message","timestamp":"T","message":{"role":"bashExecution","command":"ls","output":"a"}}"#,
                r#"{"type":"compaction","timestamp":"T","summary":"So far"}"#,
            ]
            .join("\n"),
        );
        assert_eq!(
            got,
            [
                "command rm x",
                "output Request was aborted !error !interrupted",
                "prompt ! ls",
                "system a",
                "assistant So far",
            ]
        );
    }

    #[test]
    fn droid_sessions() {
        let got = lines(
            &[
                r#"{"type":"session_start","id":"d","title":"t","cwd":"/w"}"#,
                r#"{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nBe brief.\n</system-reminder>\n\nFix it"}]}}"#,
                r#"{"type":"message","id":"m2","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Execute","input":{"command":"ls /x"}}]}}"#,
                r#"{"type":"message","id":"m3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Error: Command failed (exit code: 2)\nls: no"}]}}"#,
            ]
            .join("\n"),
        );
        assert_eq!(
            got,
            [
                "system Be brief.",
                "prompt Fix it",
                "command ls /x",
                "output Error: Command failed (exit code: 2)⏎ls: no !2",
            ]
        );
    }

    #[test]
    fn atif_leaves_copies_out_and_knows_sub_agents() {
        let got = lines(
            r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{},"steps":[
                {"source":"user","message":"old","is_copied_context":true},
                {"source":"user","message":[{"type":"text","text":"Fix it"}]},
                {"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"Task","arguments":{"prompt":"dig"}}],
                 "observation":{"results":[{"source_call_id":"c1","content":"dug","subagent_trajectory_ref":[{"session_id":"k"}]}]}}],
               "subagent_trajectories":[{"session_id":"k","steps":[{"source":"agent","message":"hi"}]}]}"#,
        );
        assert_eq!(
            got,
            [
                "prompt Fix it",
                "tool_call dig",
                "output dug",
                "assistant@k hi"
            ]
        );
    }

    #[test]
    fn cline_calls_in_xml() {
        let got = lines(
            &[
                r#"{"role":"user","content":[{"type":"text","text":"<task>\nFix\n</task>"}]}"#,
                r#"{"role":"assistant","content":"Now.\n<write_to_file>\n<path>a.html</path>\n<content>\n<b>x</b>\n</content>\n</write_to_file>"}"#,
                r#"{"role":"user","content":[{"type":"text","text":"[write_to_file for 'a.html'] Result:"},{"type":"text","text":"The user denied this operation."},{"type":"text","text":"<environment_details>"}]}"#,
            ]
            .join("\n"),
        );
        assert_eq!(
            got,
            [
                "prompt <task>⏎Fix⏎</task>",
                "assistant Now.",
                "edit <b>x</b>⏎ [Write a.html]",
                "output The user denied this operation. !error !denied",
                "system <environment_details>",
            ]
        );
    }

    #[test]
    fn goose_errors() {
        let got = lines(
            &[
                r#"{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"developer__text_editor","arguments":{"command":"write","path":"/a","file_text":"t"}}}}]}"#,
                r#"{"role":"user","created":2,"content":[{"type":"toolResponse","id":"c","toolResult":{"status":"error","error":"denied"}}]}"#,
            ]
            .join("\n"),
        );
        assert_eq!(got, ["edit t [Write /a]", "output denied !error"]);
    }

    #[test]
    fn terminals() {
        let cast = [
            r#"{"version": 2, "width": 80, "height": 24}"#,
            r#"[0.1, "o", "\u001b[?2004hroot@box:/app# git"]"#,
            r#"[0.2, "o", " log\r\n\u001b[?2004l\rworking |\rworking /\rabc\r\n"]"#,
            r#"[0.3, "i", "ls\r"]"#,
        ]
        .join("\n");
        assert_eq!(
            lines(&cast),
            ["command git log", "command ls", "output abc⏎"]
        );
        let keys = "['git cherry-pick 04e8227', 'Enter']\n[\"it's\", 'C-c']\n['q']\n['Enter']\n";
        assert_eq!(
            lines(keys),
            ["command git cherry-pick 04e8227", "command it's"]
        );
    }
}

mod documents {
    use super::*;

    fn message(text: &str) -> String {
        format!(r#"    {{"role": "assistant", "content": "{text}"}}"#)
    }

    fn document(messages: &[String]) -> String {
        format!(
            "{{\n  \"info\": {{\"mini_version\": \"1\", \"exit_status\": \"x\"}},\n  \"messages\": [\n{}\n  ],\n  \"trajectory_format\": \"mini-swe-agent-1\"\n}}\n",
            messages.join(",\n")
        )
    }

    #[test]
    fn a_broken_item_costs_itself() {
        let mut messages: Vec<String> = (0..5).map(|n| message(&format!("text {n}"))).collect();
        messages[2] = message("cut").replace("\"}", "");
        let (events, report) = read(&document(&messages));
        let said: Vec<String> = short(&events);
        for n in [0, 1, 3] {
            assert!(said.contains(&format!("assistant text {n}")), "{said:?}");
        }
        assert!(said.contains(&"result text 4".to_owned()), "{said:?}");
        assert_eq!(report.files[0].format, "mini-swe-agent");
        assert_ne!(report.coverage, Coverage::Full);
    }

    #[test]
    fn a_document_without_its_end_and_another_behind_it() {
        let messages: Vec<String> = (0..3).map(|n| message(&format!("text {n}"))).collect();
        let whole = document(&messages);
        let cut = whole.find("\n  ],").unwrap();
        let (events, report) = read(&format!("{}\n{whole}", whole.get(..cut).unwrap()));
        assert_eq!(events.len(), 6, "{:?}", short(&events));
        assert_ne!(report.coverage, Coverage::Full);
        assert_eq!(read(&whole).1.coverage, Coverage::Full);
    }

    #[test]
    fn items_of_an_unknown_document_are_records() {
        let record =
            r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"x"}}"#;
        for text in [
            format!("{{\"loglines\":[{record}]}}"),
            format!("{{\n\"loglines\": [\n{record}\n]\n}}"),
        ] {
            let (events, report) = read(&text);
            assert_eq!(short(&events), ["result x"], "{text}");
            assert_eq!(report.files[0].format, "codex-exec");
        }
    }

    /// A document is never held whole: a hundred megabytes of it need no more memory than one item.
    #[test]
    fn many_values_are_no_matter() {
        let numbers = vec!["0"; 100_000].join(",");
        let item = format!(r#"{{"role":"assistant","content":"x","extra":{{"n":[{numbers}]}}}}"#);
        let text = document(&vec![item; 30]);
        let (events, report) = read(&text);
        assert_eq!(events.len(), 30);
        assert_eq!(report.files[0].problems, []);
    }
}
