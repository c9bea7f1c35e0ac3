//! Pictures on the Anthropic wire: in messages and in results.

use super::super::Rule;
use super::super::image::{self, Picture};
use super::super::request::Request;

pub(super) const RULES: &[Rule] = &[
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

fn pictures(request: &Request<'_>) -> Vec<Picture> {
    let blocks = request
        .all_blocks()
        .into_iter()
        .filter(|block| block.kind == "image");
    blocks
        .map(|block| picture(&block.path, &block.value["source"]))
        .collect()
}

fn picture(path: &str, source: &serde_json::Value) -> Picture {
    let text = |key: &str| source[key].as_str().unwrap_or("").to_owned();
    Picture {
        path: path.to_owned(),
        media: text("media_type"),
        data: text("data"),
    }
}
