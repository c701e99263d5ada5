//! What is known of a task: its pull request, commits, package, and what the agent may look at.

use serde::{Deserialize, Serialize};

/// Which part of the history holds the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forbidden {
    /// Commits later than the base (the usual case).
    #[default]
    Future,
    /// The parent of the base (tasks made by removing code).
    Parent,
}

/// Facts about one task. Missing facts make the rules that need them inactive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskFacts {
    /// Task id, such as `T34`.
    pub task: Option<String>,
    /// Address of the upstream repository.
    pub upstream: Option<String>,
    /// Number of the pull request that is the GT.
    pub pull_request: Option<String>,
    /// Number of the issue it solves.
    pub issue: Option<String>,
    /// Commit the agent starts from.
    pub base_commit: Option<String>,
    /// Release the agent starts from.
    pub base_version: Option<String>,
    /// Date of the base commit.
    pub base_date: Option<String>,
    /// Commit that is the GT.
    pub gt_commit: Option<String>,
    /// Subject line of the GT commit.
    pub gt_subject: Option<String>,
    /// Authors of the GT, separated by `;`.
    pub gt_authors: Option<String>,
    /// When the GT was merged.
    pub merged: Option<String>,
    /// Name of the package under repair.
    pub package: Option<String>,
    /// Address of the requirement that the prompt may name.
    pub requirement: Option<String>,
    /// Which part of the history is the answer.
    pub forbidden: Forbidden,
    /// What the prompt allows, in words or as a command.
    pub allowed: Option<String>,
}
