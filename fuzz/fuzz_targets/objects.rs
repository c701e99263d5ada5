//! The reader of hostile repositories: whatever stands in HEAD, refs, reflogs, alternates and objects, it ends,
//! never panics, and believes no object whose content and name differ.
//!
//! The first byte says how the rest is used; the rest is cut at `0xff` into the files of a git directory. Loose
//! objects are written under their right names, so that what they hold is reached.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sha1::{Digest, Sha1};
use trace_audit::patch::objects::refs;
use trace_audit::patch::{BaseRequest, choose_base};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Deflate without compression, in a zlib frame.
fn stored(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = content.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in content {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    out.extend_from_slice(&((b << 16) | a).to_be_bytes());
    out
}

fn loose(git: &Path, kind: &str, content: &[u8]) -> [u8; 20] {
    let mut whole = format!("{kind} {}\0", content.len()).into_bytes();
    whole.extend_from_slice(content);
    let id: [u8; 20] = Sha1::digest(&whole).into();
    let name = hex(&id);
    let (dir, file) = name.split_at(2);
    let dir = git.join("objects").join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(file), stored(&whole)).unwrap();
    id
}

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path();
    let git = run.join(".git");
    let mut parts = rest.split(|b| *b == 0xff);
    let mut part = || parts.next().unwrap_or_default();
    if mode & 7 == 7 {
        // `.git` is a file.
        std::fs::write(&git, part()).unwrap();
        std::fs::create_dir_all(run.join("inner/objects")).unwrap();
    } else {
        std::fs::create_dir_all(git.join("objects/info")).unwrap();
        std::fs::create_dir_all(git.join("logs")).unwrap();
        std::fs::create_dir_all(git.join("refs/heads")).unwrap();
        let mut known = None;
        if mode & 8 == 8 {
            // A commit whose tree is the fuzzer's.
            let blob = loose(&git, "blob", part());
            let mut tree = part().to_vec();
            if mode & 16 == 16 {
                tree.extend_from_slice(b"100644 a\0");
                tree.extend_from_slice(&blob);
            }
            let tree = loose(&git, "tree", &tree);
            let mut commit = part().to_vec();
            if mode & 32 == 32 {
                commit.splice(0..0, format!("tree {}\n", hex(&tree)).into_bytes());
            }
            known = Some(hex(&loose(&git, "commit", &commit)));
        }
        std::fs::write(git.join("packed-refs"), part()).unwrap();
        std::fs::write(git.join("refs/heads/main"), part()).unwrap();
        std::fs::write(git.join("objects/info/alternates"), part()).unwrap();
        let mut log = part().to_vec();
        let mut head = part().to_vec();
        if let Some(known) = &known {
            log.extend_from_slice(format!("{} {known} A <a> 1 +0000\tx\n", "0".repeat(40)).as_bytes());
            if mode & 64 == 64 {
                head = known.clone().into_bytes();
            }
        }
        std::fs::write(git.join("logs/HEAD"), log).unwrap();
        std::fs::write(git.join("HEAD"), head).unwrap();
        if known.is_none() {
            // Without a process of git: many more a second.
            if let Ok(Some(git)) = trace_audit::patch::objects::GitDir::find(run) {
                let _ = refs::head(&git);
                let _ = refs::head_reflog(&git);
            }
            return;
        }
    }
    let request = BaseRequest {
        run,
        given: None,
        base_repo: None,
        known_commit: None,
        gt: None,
    };
    if let Ok(base) = choose_base(&request)
        && let Some(tree) = base.tree
    {
        let mut total = 0;
        tree.visit(&mut |path, content| {
            assert!(!path.is_empty());
            total += content.len();
        });
    }
});
