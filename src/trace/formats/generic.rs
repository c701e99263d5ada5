//! Records of no known format and lines of text: nothing is lost, nothing is read into them.

use super::Adapter;
use crate::trace::detect::Body;
use crate::trace::event::Channel;
use crate::trace::mend::loose_text;
use crate::trace::step::Steps;
use crate::trace::text::readable;

/// Every record becomes one raw event with its strings, decoded.
pub(crate) struct Generic;

impl Adapter for Generic {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        match body {
            Body::Json(value) => out.say(Channel::Raw, readable(value), None),
            Body::Text(text) => out.say(Channel::Raw, loose_text(text), None),
        }
    }
}
