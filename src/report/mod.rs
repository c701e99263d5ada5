//! Output formats, one file each.
