//! Events of the third kind, and nearly all of them: somebody bids.

use std::fmt::Write;
use std::sync::LazyLock;

use arrow::array::{ArrayRef, StringArray};

use super::column::{self, HOT, LEAD};
use super::event::{FIRST_ID, Timeline, last_auction, last_person};
use super::options::Compat;
use crate::connector::draw::Draw;
use crate::types::SqlType;

pub(super) const COLUMNS: &[(&str, SqlType)] = &[
    ("auction", SqlType::BigInt),
    ("bidder", SqlType::BigInt),
    ("price", SqlType::BigInt),
    ("channel", SqlType::Varchar(None)),
    ("url", SqlType::Varchar(None)),
    ("date_time", SqlType::Timestamp),
    ("extra", SqlType::Varchar(None)),
];

/// Bytes of a bid on average, and those of its numbers.
const SIZE: usize = 100;
const SIZE_OF_NUMBERS: usize = 4 * 8;

/// All but one of so many bids are for a hot auction, of a hot bidder, by a hot channel.
const HOT_AUCTION_RATIO: u64 = 2;
const HOT_BIDDER_RATIO: u64 = 4;
const HOT_CHANNEL_RATIO: u64 = 2;

/// Bids that are not for a hot auction are for one of so many that came last.
const OPEN_AUCTIONS: u64 = 100;

const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
const COLD_CHANNELS: usize = 10_000;

const AUCTION: u64 = 21;
const BIDDER: u64 = 22;
const PRICE: u64 = 23;
const CHANNEL: u64 = 24;
const EXTRA: u64 = 25;
/// The urls of a channel are drawn for the channel, not for a bid.
const URL: u64 = 26;

/// Names and urls of the channels, the hot ones first: a channel always has the same url.
static CHANNELS: LazyLock<(StringArray, StringArray)> = LazyLock::new(|| {
    let channels = 0..HOT_CHANNELS.len() + COLD_CHANNELS;
    let names = channels.clone().map(channel_name);
    (StringArray::from_iter_values(names), StringArray::from_iter_values(channels.map(url)))
});

/// The column `name` of the bids that `events` are.
pub(super) fn column(
    name: &str,
    events: &[u64],
    timeline: &Timeline,
    compat: Compat,
) -> Option<ArrayRef> {
    Some(match name {
        "auction" => column::int64(events, auction),
        "bidder" => column::int64(events, |event| bidder(event) + compat.bidder_offset()),
        "price" => column::int64(events, |event| column::price(&mut Draw::new(event, PRICE))),
        "channel" => {
            let names = &CHANNELS.0;
            column::text(events, |event, out| out.push_str(names.value(channel(event))))
        }
        "url" => {
            let urls = &CHANNELS.1;
            column::text(events, |event, out| out.push_str(urls.value(channel(event))))
        }
        "date_time" => column::timestamp(events, |event| timeline.micros(event)),
        "extra" => column::text(events, |event, out| {
            column::padding(SIZE_OF_NUMBERS, SIZE, &mut Draw::new(event, EXTRA), out);
        }),
        _ => return None,
    })
}

fn auction(event: u64) -> u64 {
    let mut draw = Draw::new(event, AUCTION);
    let last = last_auction(event);
    if draw.below(HOT_AUCTION_RATIO) > 0 {
        FIRST_ID + last / HOT * HOT
    } else {
        let first = last.saturating_sub(OPEN_AUCTIONS);
        FIRST_ID + first + draw.below(last - first + 1 + LEAD)
    }
}

fn bidder(event: u64) -> u64 {
    let mut draw = Draw::new(event, BIDDER);
    if draw.below(HOT_BIDDER_RATIO) > 0 {
        // The next after the hot seller.
        FIRST_ID + last_person(event) / HOT * HOT + 1
    } else {
        column::any_person(event, &mut draw)
    }
}

/// The index of the bid's channel in [`CHANNELS`].
fn channel(event: u64) -> usize {
    let mut draw = Draw::new(event, CHANNEL);
    if draw.below(HOT_CHANNEL_RATIO) > 0 {
        draw.below(HOT_CHANNELS.len() as u64) as usize
    } else {
        HOT_CHANNELS.len() + draw.below(COLD_CHANNELS as u64) as usize
    }
}

fn channel_name(channel: usize) -> String {
    match HOT_CHANNELS.get(channel) {
        Some(hot) => (*hot).to_owned(),
        None => format!("channel-{}", channel - HOT_CHANNELS.len()),
    }
}

fn url(channel: usize) -> String {
    let mut draw = Draw::new(channel as u64, URL);
    let mut url = String::from("https://www.nexmark.com/");
    for _ in 0..3 {
        draw.words(5, '_', &mut url);
        url.push('/');
    }
    url.push_str("item.htm?query=1");
    if channel >= HOT_CHANNELS.len() && draw.below(10) > 0 {
        let number = (channel - HOT_CHANNELS.len()) as i32;
        let id = number.reverse_bits().unsigned_abs();
        write!(url, "&channel_id={id}").expect("a string takes what is written");
    }
    url
}
