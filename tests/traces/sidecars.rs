//! Long outputs that an agent saved in files of their own.

use serde_json::json;
use trace_audit::trace::event::{Channel, Coverage};

use crate::support::{read_paths, texts};

#[test]
fn a_saved_output_is_linked_to_its_call_and_is_no_evidence() {
    let record = |uuid: &str, parent: Option<&str>, kind: &str, message: serde_json::Value| json!({"sessionId": "s", "uuid": uuid, "parentUuid": parent, "type": kind, "message": message});
    let call = json!({"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git log -p"}});
    let preview = "<persisted-output>\nOutput too large (106.4KB). Full output saved to: /srv/h/.claude/projects/-w/s/tool-results/b1.txt\n\nPreview (first 2KB):\ncommit abc\n...\n</persisted-output>";
    let result = json!({"type":"tool_result","tool_use_id":"c1","content":preview});
    let mut answer = record(
        "u2",
        Some("u1"),
        "user",
        json!({"role":"user","content":[result]}),
    );
    let done = json!({"role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"});
    let lines = |answer: &serde_json::Value| {
        let prompt = json!({"role":"user","content":"Fix it"});
        [
            record("u0", None, "user", prompt),
            record(
                "u1",
                Some("u0"),
                "assistant",
                json!({"role":"assistant","content":[call.clone()],"stop_reason":"tool_use"}),
            ),
            answer.clone(),
            record("u3", Some("u2"), "assistant", done.clone()),
        ]
        .map(|line| line.to_string())
        .join("\n")
    };
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("s.jsonl");
    std::fs::write(&trace, lines(&answer)).unwrap();
    let (without, _) = read_paths(std::slice::from_ref(&trace));
    std::fs::create_dir_all(dir.path().join("s/tool-results")).unwrap();
    let all = "commit abc\nand all the rest of it\n";
    std::fs::write(dir.path().join("s/tool-results/b1.txt"), all).unwrap();
    // By the words around the preview, and by the structured copy.
    for copy in [
        json!(null),
        json!({"persistedOutputPath":"/srv/h/s/tool-results/b1.txt"}),
    ] {
        answer["toolUseResult"] = copy;
        std::fs::write(&trace, lines(&answer)).unwrap();
        let (events, report) = read_paths(std::slice::from_ref(&trace));
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
        let saved: Vec<_> = events.iter().filter(|event| !event.model_saw).collect();
        let [saved] = saved[..] else {
            panic!("{:?}", texts(&events))
        };
        assert_eq!((saved.channel, saved.text.as_str()), (Channel::Output, all));
        assert_eq!(saved.answers.as_ref().unwrap().text, "git log -p");
        let seen = events.iter().filter(|event| event.model_saw).count();
        assert_eq!(seen, without.len());
    }
}
