//! A request's own profile, kept with the `issued` event, so that the prompt can be rendered again.

use recount_events::{Body, Event, Millis, Profile, Seq, Text, raw};

/// Member of an `issued` event that holds a profile which no event of the session has.
const PROFILE_USED: &str = "profile_used";

/// A request's own profile is kept with what it issued, so that the prompt can be rendered again.
pub(crate) fn profile_used(profile: &Profile) -> Text {
    let event = Event {
        at: Millis(0),
        body: Body::Profile(profile.clone()),
        because: None,
        extra: None,
    };
    Text::json(&format!(
        "{{\"{PROFILE_USED}\":{}}}",
        event.to_json(Seq(0), None)
    ))
}

/// The model of the profile that an `issued` event carries itself.
pub(super) fn model_used(event: &Event) -> Option<Text> {
    let extra = event.extra.as_ref().and_then(Text::as_str)?;
    let model = raw::member_words(raw::member(extra, PROFILE_USED)?, "model")?;
    Some(Text::plain(&model))
}

/// The profile that an `issued` event carries itself.
pub(crate) fn own_profile(event: &Event) -> Option<Profile> {
    let extra = event.extra.as_ref().and_then(Text::as_str)?;
    let logged = Event::from_log_json(raw::member(extra, PROFILE_USED)?).ok()?;
    match logged.event.body {
        Body::Profile(profile) => Some(profile),
        _ => None,
    }
}
