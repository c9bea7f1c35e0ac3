//! What a picture costs, by model. As of 2026-11.
//!
//! Sources: platform.claude.com, vision (width × height / 750 after scaling; from Opus 4.7 on up to 2,576 pixels a side and 3.75
//! megapixels); developers.openai.com, images and vision (tiles of 512 pixels, or patches of 32 with a factor, by model);
//! ai.google.dev, understand and count tokens (258 for small pictures and for each tile), Gemini 3 guide (1,120 at the default
//! resolution). Where a model's formula is not published at hand the row says "uncertain" and takes its family's dearer one.

/// How a picture becomes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pictures {
    /// Width × height / 750, after scaling to these limits.
    Area {
        /// The longest side.
        side: u64,
        /// The largest area.
        area: u64,
    },
    /// A base and so much for each tile of 512 pixels, after scaling into 2,048 × 2,048 and the shorter side to 768.
    Tiles {
        /// For the picture.
        base: u64,
        /// For each tile.
        tile: u64,
    },
    /// Patches of 32 × 32 pixels, at most so many, times a factor in thousandths.
    Patches {
        /// The most patches: a larger picture is scaled down.
        most: u64,
        /// The factor.
        milli: u64,
    },
    /// So much for each tile; a picture of at most 384 pixels a side is one.
    Crops {
        /// For each.
        tile: u64,
    },
    /// The same for every picture.
    Flat(u64),
}

/// Formulas by how a model's name begins; the first that fits counts.
const FORMULAS: &[(&str, Pictures)] = &[
    ("claude-opus-4-7", LARGE),
    ("claude-opus-4-8", LARGE),
    // The 5.x models: uncertain, as Opus 4.8.
    ("claude-opus-5", LARGE),
    ("claude-sonnet-5", LARGE),
    ("claude-haiku-5", LARGE),
    ("claude-fable-5", LARGE),
    ("claude", SMALL),
    (
        "gpt-4.1-mini",
        Pictures::Patches {
            most: 1_536,
            milli: 1_620,
        },
    ),
    (
        "gpt-4.1-nano",
        Pictures::Patches {
            most: 1_536,
            milli: 2_460,
        },
    ),
    (
        "gpt-4o-mini",
        Pictures::Tiles {
            base: 2_833,
            tile: 5_667,
        },
    ),
    (
        "gpt-4",
        Pictures::Tiles {
            base: 85,
            tile: 170,
        },
    ),
    (
        "gpt-5-mini",
        Pictures::Patches {
            most: 1_536,
            milli: 1_620,
        },
    ),
    (
        "gpt-5-nano",
        Pictures::Patches {
            most: 1_536,
            milli: 2_460,
        },
    ),
    // From 5.4 on: uncertain; patches, as many as a picture of 10.24 megapixels in full detail has would be 10,000, the ordinary
    // detail takes at most 2,500.
    ("gpt-5.4", PATCHES),
    ("gpt-5.5", PATCHES),
    ("gpt-5.6", PATCHES),
    (
        "gpt-5",
        Pictures::Tiles {
            base: 70,
            tile: 140,
        },
    ),
    ("gemini-2", Pictures::Crops { tile: 258 }),
    ("gemini", Pictures::Flat(1_120)),
];

const SMALL: Pictures = Pictures::Area {
    side: 1_568,
    area: 1_200_000,
};
const LARGE: Pictures = Pictures::Area {
    side: 2_576,
    area: 3_750_000,
};
const PATCHES: Pictures = Pictures::Patches {
    most: 2_500,
    milli: 1_000,
};

/// The formula of a model; for one that is not known the ordinary one of Anthropic's.
pub(crate) fn formula(model: &str) -> Pictures {
    FORMULAS
        .iter()
        .find(|(family, _)| model.starts_with(family))
        .map_or(SMALL, |(_, formula)| *formula)
}

impl Pictures {
    /// Tokens of a picture; the most that the formula gives where its size is not known.
    pub(crate) fn tokens(self, width: u32, height: u32) -> u64 {
        let (width, height) = (u64::from(width), u64::from(height));
        if width == 0 || height == 0 {
            return self.most();
        }
        match self {
            Self::Area { side, area } => {
                let longest = width.max(height);
                let mut pixels = width.saturating_mul(height);
                if longest > side {
                    pixels = ratio(
                        pixels,
                        side.saturating_mul(side),
                        longest.saturating_mul(longest),
                    );
                }
                (pixels.min(area) / 750).max(1)
            }
            Self::Tiles { base, tile } => {
                let (width, height) = within(width, height, 2_048);
                let (width, height) = shorter(width, height, 768);
                let tiles = width.div_ceil(512).saturating_mul(height.div_ceil(512));
                base.saturating_add(tiles.saturating_mul(tile))
            }
            Self::Patches { most, milli } => {
                let patches = width.div_ceil(32).saturating_mul(height.div_ceil(32));
                patches.min(most).saturating_mul(milli).div_ceil(1_000)
            }
            Self::Crops { tile } if width <= 384 && height <= 384 => tile,
            Self::Crops { tile } => {
                let unit = (width.min(height).saturating_mul(2) / 3).clamp(256, 768);
                let crops = width.div_ceil(unit).saturating_mul(height.div_ceil(unit));
                crops.saturating_mul(tile)
            }
            Self::Flat(tokens) => tokens,
        }
    }

    /// The most tokens of a picture; of formulas without a limit, those of one of 3,072 × 3,072 pixels.
    fn most(self) -> u64 {
        match self {
            Self::Area { area, .. } => area / 750,
            Self::Tiles { base, tile } => base.saturating_add(tile.saturating_mul(8)),
            Self::Patches { most, milli } => most.saturating_mul(milli).div_ceil(1_000),
            Self::Crops { tile } => tile.saturating_mul(16),
            Self::Flat(tokens) => tokens,
        }
    }
}

/// Scaled down so that no side is longer.
fn within(width: u64, height: u64, side: u64) -> (u64, u64) {
    let longest = width.max(height);
    if longest <= side {
        return (width, height);
    }
    (
        ratio(width, side, longest).max(1),
        ratio(height, side, longest).max(1),
    )
}

/// Scaled down so that the shorter side is at most so long.
fn shorter(width: u64, height: u64, side: u64) -> (u64, u64) {
    let shortest = width.min(height);
    if shortest <= side {
        return (width, height);
    }
    (ratio(width, side, shortest), ratio(height, side, shortest))
}

/// `value` × `part` / `whole`.
fn ratio(value: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(value).saturating_mul(u128::from(part));
    let quotient = product.checked_div(u128::from(whole)).unwrap_or(0);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::formula;

    fn of(model: &str, width: u32, height: u32) -> u64 {
        formula(model).tokens(width, height)
    }

    #[test]
    fn anthropic_by_area_after_scaling() {
        assert_eq!(of("claude-sonnet-4-5", 750, 100), 100);
        assert_eq!(of("claude-sonnet-4-5", 1_568, 400), 836);
        // Twice the size is the same picture.
        assert_eq!(of("claude-sonnet-4-5", 3_136, 800), 836);
        assert_eq!(of("claude-sonnet-4-5", 8_000, 8_000), 1_600);
        assert_eq!(of("claude-sonnet-4-5", 0, 0), 1_600);
        assert_eq!(of("claude-opus-4-7", 8_000, 8_000), 5_000);
        assert_eq!(of("claude-opus-4-5", 1, 1), 1);
        assert_eq!(of("unknown", 0, 0), 1_600);
    }

    #[test]
    fn openai_by_tiles_or_patches() {
        // The guide's own examples: 1,024 × 1,024 is four tiles, 2,048 × 4,096 six.
        assert_eq!(of("gpt-4o", 1_024, 1_024), 765);
        assert_eq!(of("gpt-4o", 2_048, 4_096), 1_105);
        assert_eq!(of("gpt-4.1", 512, 512), 255);
        assert_eq!(of("gpt-5", 1_024, 1_024), 630);
        // 1,024 × 1,024 is 1,024 patches; a larger one stops at 1,536.
        assert_eq!(of("gpt-4.1-mini", 1_024, 1_024), 1_659);
        assert_eq!(of("gpt-5-mini", 4_000, 4_000), 2_489);
        assert_eq!(of("gpt-5.6-sol", 32, 33), 2);
    }

    #[test]
    fn gemini_by_tiles_or_flat() {
        assert_eq!(of("gemini-2.5-pro", 384, 384), 258);
        assert_eq!(of("gemini-2.5-pro", 385, 384), 516 * 2);
        assert_eq!(of("gemini-2.5-flash", 1_536, 1_536), 4 * 258);
        assert_eq!(of("gemini-3-flash-preview", 10, 10), 1_120);
    }

    #[test]
    fn no_size_is_too_much() {
        for model in [
            "claude",
            "gpt-4o",
            "gpt-5-mini",
            "gemini-2.5-pro",
            "gemini-3",
        ] {
            assert!(of(model, u32::MAX, u32::MAX) > 0);
            assert!(of(model, u32::MAX, 1) > 0);
        }
    }
}
