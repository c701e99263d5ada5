//! What is stored of a run and not reported.
//!
//! The facts of a run are written in two ways. A *report* holds what its schema promises. A *store*
//! (the cache of a sweep, the output of a shard) must hold everything, since the run is judged from
//! it later as if it had just been read. Both use the same types: fields that only a store keeps carry
//! `#[serde(default, skip_serializing_if = "stored::hidden")]` and are written inside [`whole`] only.

use std::cell::Cell;

thread_local! {
    static WHOLE: Cell<bool> = const { Cell::new(false) };
}

/// True while a report is written: the field is left out. The value does not matter.
pub fn hidden<T>(_: &T) -> bool {
    !WHOLE.get()
}

/// Runs `write`, which serialises something on this thread, with all fields shown.
pub fn whole<R>(write: impl FnOnce() -> R) -> R {
    /// Puts the old state back, also when `write` panics.
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            WHOLE.set(self.0);
        }
    }
    let _back = Back(WHOLE.replace(true));
    write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Part {
        shown: u8,
        #[serde(default, skip_serializing_if = "hidden")]
        kept: u8,
    }

    #[test]
    fn fields_are_kept_only_in_a_store() {
        let part = Part { shown: 1, kept: 2 };
        let report = serde_json::to_string(&part).unwrap();
        assert_eq!(report, r#"{"shown":1}"#);
        let store = whole(|| serde_json::to_string(&part)).unwrap();
        assert_eq!(serde_json::from_str::<Part>(&store).unwrap(), part);
        assert_eq!(serde_json::to_string(&part).unwrap(), report);
    }

    #[test]
    fn a_panic_does_not_leave_the_door_open() {
        let stopped =
            std::panic::catch_unwind(|| whole(|| std::panic::resume_unwind(Box::new(()))));
        assert!(stopped.is_err());
        assert!(hidden(&0));
    }
}
