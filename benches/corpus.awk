# A trace of a coding agent made of the project's own sources: one record a line, in the manner of Claude's stream.
# Outputs have 20 to 216 lines, which makes records of 2.6 KB on average; those of real sessions have 2 to 4 KB.
# awk -v SIZE=BYTES [-v ONCE=N] -f benches/corpus.awk FILES... writes at least that many bytes, the same for the same
# input. The files are shown again and again, the last N of them in the first round alone.
function quoted(text) {
    gsub(/\\/, "&&", text); gsub(/"/, "\\\"", text); gsub(/\t/, "\\t", text)
    gsub(/[\001-\037]/, "", text)
    return text
}
function put(text) { print text; written += length(text) + 1 }
function flush_step(   id, command) {
    step++
    id = sprintf("toolu_%06d", step)
    command = (step % 7 == 0) ? "cargo test -q 2>&1 | tail -20" : (step % 5 == 0) ? "git log --oneline -5 -- " name : \
              (step % 3 == 0) ? "grep -rn \\\"fn \\\" src | head -40" : "sed -n 1,80p " name
    put("{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Let me look at " quoted(name) \
        " and then run the tests. 先看一下这个文件。\"},{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Bash\",\"input\":{\"command\":\"" \
        command "\"}}]},\"session_id\":\"s\"}")
    put("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id \
        "\",\"content\":\"" body "\"}]},\"session_id\":\"s\"}")
    body = ""; lines = 0; limit = 20 + (step * 7919) % 197
}
BEGIN { limit = 20; put("{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"tools\":[\"Bash\"],\"cwd\":\"/srv/project\",\"uuid\":\"u\"}") }
{
    if (FNR == 1) { name = FILENAME; before[++files] = count }
    text[++count] = quoted($0); from[count] = name
}
END {
    last = count
    while (written < SIZE) {
        for (i = 1; i <= last && written < SIZE; i++) {
            name = from[i]
            body = body text[i] "\\n"
            if (++lines >= limit) flush_step()
        }
        if (ONCE) last = before[files - ONCE + 1]
    }
    put("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":" step ",\"total_cost_usd\":0.1,\"result\":\"Done.\",\"session_id\":\"s\"}")
}
