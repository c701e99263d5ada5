//! The names under which the same agent appears, as data.
//!
//! Directory names, metadata and score tables do not agree on how to call an agent: `codex`,
//! `codex-gpt-5.4` and `codex-gpt-5_4` are one configuration. Results are grouped by the canonical
//! name. Only spellings of the *same configuration* are joined: `claude-opus` (default effort) and
//! `claude-opus-max` stay apart. A project adds its own spellings in `trace-audit.toml`
//! (`[aliases]`); they win over this table.

use std::collections::BTreeMap;

/// One configuration of an agent and its other spellings.
struct Agent {
    /// The name used in results.
    canonical: &'static str,
    /// Other spellings, in the folded form of [`fold`].
    aliases: &'static [&'static str],
}

/// Known configurations.
const AGENTS: &[Agent] = &[
    Agent {
        canonical: "claude-opus-max",
        aliases: &["claude", "claude-opus-4-7", "claude-opus-4_7"],
    },
    Agent {
        canonical: "claude-opus",
        aliases: &[],
    },
    Agent {
        canonical: "codex-gpt-5_4",
        aliases: &["codex", "codex-gpt-5-4", "codex-gpt5_4"],
    },
    Agent {
        canonical: "cursor-composer2",
        aliases: &[
            "cursor",
            "cursor-agent",
            "cursor-composer",
            "cursor-composer-2",
        ],
    },
    Agent {
        canonical: "opencode-glm51",
        aliases: &[
            "opencode",
            "opencode-glm",
            "opencode-glm-5-1",
            "opencode-glm-5_1",
            "opencode-glm5_1",
            "glm",
            "glm51",
            "glm-5_1",
        ],
    },
    // Configurations of the first campaign, known by their letters only.
    Agent {
        canonical: "A1",
        aliases: &["a1"],
    },
    Agent {
        canonical: "A2",
        aliases: &["a2"],
    },
    Agent {
        canonical: "A3",
        aliases: &["a3"],
    },
    Agent {
        canonical: "minimax",
        aliases: &[],
    },
];

/// Case and the difference between `.` and `_` do not tell configurations apart.
fn fold(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('.', "_")
}

/// The table's entry for a name, if it has one.
fn known(written: &str) -> Option<&'static str> {
    let folded = fold(written);
    AGENTS
        .iter()
        .find(|a| a.canonical == folded || a.aliases.contains(&folded.as_str()))
        .map(|a| a.canonical)
}

/// True when the built-in table knows the name, as canonical or as another spelling.
pub fn is_known_agent(written: &str) -> bool {
    known(written).is_some()
}

/// The name to group results by: the project's own alias, else the built-in one, else as written.
///
/// `extra` maps spellings to canonical names; spellings are compared exactly, then without regard to
/// case and to `.` or `_`.
pub fn canonical_agent(written: &str, extra: &BTreeMap<String, String>) -> String {
    let written = written.trim();
    let own = extra.get(written).or_else(|| {
        let folded = fold(written);
        extra
            .iter()
            .find(|(alias, _)| fold(alias) == folded)
            .map(|(_, canonical)| canonical)
    });
    match own {
        Some(canonical) => canonical.clone(),
        None => known(written).unwrap_or(written).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let none = BTreeMap::new();
        for (written, want) in [
            ("claude", "claude-opus-max"),
            ("claude-opus-4-7", "claude-opus-max"),
            ("claude-opus-max", "claude-opus-max"),
            ("claude-opus", "claude-opus"),
            ("codex", "codex-gpt-5_4"),
            ("codex-gpt-5.4", "codex-gpt-5_4"),
            ("Codex", "codex-gpt-5_4"),
            ("opencode-glm-5.1", "opencode-glm51"),
            ("cursor-composer-2", "cursor-composer2"),
            ("A2", "A2"),
            ("something-new", "something-new"),
            ("", ""),
        ] {
            assert_eq!(canonical_agent(written, &none), want, "{written:?}");
        }
    }

    #[test]
    fn the_projects_own_alias_wins() {
        let extra = BTreeMap::from([
            ("claude".to_owned(), "claude-sonnet".to_owned()),
            ("Robo.1".to_owned(), "robo-one".to_owned()),
        ]);
        assert_eq!(canonical_agent("claude", &extra), "claude-sonnet");
        assert_eq!(canonical_agent("robo_1", &extra), "robo-one");
        assert_eq!(canonical_agent("codex", &extra), "codex-gpt-5_4");
    }

    #[test]
    fn the_table_has_no_spelling_twice_and_all_are_folded() {
        let mut seen = std::collections::BTreeSet::new();
        for agent in AGENTS {
            for name in agent.aliases {
                assert_eq!(*name, fold(name));
                assert!(seen.insert(*name), "{name} stands twice");
                assert!(!AGENTS.iter().any(|a| a.canonical == *name), "{name}");
            }
        }
    }
}
