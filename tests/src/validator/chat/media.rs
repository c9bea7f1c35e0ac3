//! Pictures on the Chat wire: data URLs.

use super::super::Rule;
use super::super::image::{self, Picture};
use super::super::request::{Found, Request, found};

pub(super) const RULES: &[Rule] = &[
    ("image-url", url),
    ("image-media", |request| image::media(&pictures(request))),
    ("image-base64", |request| image::base64(&pictures(request))),
    ("image-bytes", |request| {
        image::bytes(request, &pictures(request))
    }),
    ("image-pixels", |request| {
        image::pixels(request, &pictures(request))
    }),
    ("image-count", |request| {
        image::count(request, &pictures(request))
    }),
    ("image-many-pixels", |request| {
        image::many_pixels(request, &pictures(request))
    }),
];

fn urls<'a>(request: &Request<'a>) -> Vec<(String, &'a str)> {
    let parts = request.blocks().filter(|part| part.kind == "image_url");
    parts
        .map(|part| {
            (
                part.path.clone(),
                part.value["image_url"]["url"].as_str().unwrap_or(""),
            )
        })
        .collect()
}

fn url(request: &Request<'_>) -> Vec<Found> {
    let fits = |url: &str| {
        url.starts_with("https://") || url.starts_with("http://") || data(url).is_some()
    };
    urls(request)
        .into_iter()
        .filter(|(_, url)| !fits(url))
        .map(|(path, _)| found(path, "no web address, no data URL"))
        .collect()
}

/// Media type and base64 of a data URL.
fn data(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

fn pictures(request: &Request<'_>) -> Vec<Picture> {
    urls(request)
        .into_iter()
        .map(|(path, url)| {
            let (media, data) = data(url).unwrap_or(("", ""));
            Picture {
                path,
                media: media.to_owned(),
                data: data.to_owned(),
            }
        })
        .collect()
}
