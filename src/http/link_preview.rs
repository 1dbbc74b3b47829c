//! The preview of an invitation: the tags (Open Graph, Twitter) from which messengers make the card of a
//! link to a private table, with the name of its host, the game, the bet and the seats.
//!
//! The page has tags for any link between two comments; those of an invitation take their place. All
//! text is escaped. The preview is shown without signing in to whoever has the link, as messengers ask.

use axum::http::Uri;
use bahay_engine::coins::Coins;
use maud::html;

/// The lines around the tags in the page.
const BEGIN: &str = "<!--preview-->";
const END: &str = "<!--/preview-->";

/// How the address of the picture begins, which is named in the tags of the page.
const PICTURE: &str = "/play/files/preview-";

/// The page, taken apart around its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Template<'a> {
    before: &'a str,
    after: &'a str,
    /// The address of the picture on this server.
    picture: Option<&'a str>,
}

/// The invitation to a private table, as its card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invitation {
    /// The link itself, absolute.
    pub(super) link: String,
    pub(super) host: String,
    /// As people call it.
    pub(super) game: &'static str,
    pub(super) bet: Coins,
    pub(super) seats: u8,
    pub(super) seats_taken: usize,
}

impl<'a> Template<'a> {
    /// Takes a page apart; `None` if it has no place for tags.
    pub(super) fn parse(page: &'a str) -> Option<Self> {
        let (before, rest) = page.split_once(BEGIN)?;
        let (tags, after) = rest.split_once(END)?;
        let picture = tags.find(PICTURE).and_then(|at| tags[at..].split(['"', '\'']).next());
        Some(Self { before, after, picture })
    }

    /// Returns the page with the tags of an invitation.
    pub(super) fn page_for(&self, invitation: &Invitation) -> String {
        let Self { before, after, picture } = self;
        let tags = invitation.tags(*picture);
        [before, BEGIN, "\n", &tags, "\n", END, after].concat()
    }
}

impl Invitation {
    fn tags(&self, picture: Option<&str>) -> String {
        let Self { link, host, game, bet, seats, seats_taken } = self;
        let title = format!("{host} invites you to {game}");
        let bet = in_coins(*bet);
        let about = format!(
            "Bet {bet}. {seats_taken} of {seats} seats are taken. Free, without signing up and \
             without real money."
        );
        let picture = picture.map(|path| format!("{}{path}", origin_of(link)));
        let tags = html! {
            meta name="robots" content="noindex";
            meta property="og:type" content="website";
            meta property="og:site_name" content="Bahay";
            meta property="og:title" content=(title);
            meta property="og:description" content=(about);
            meta property="og:url" content=(link);
            @if let Some(picture) = picture {
                meta property="og:image" content=(picture);
                meta property="og:image:width" content="1200";
                meta property="og:image:height" content="630";
                meta name="twitter:card" content="summary_large_image";
            }
        };
        tags.into_string()
    }
}

/// The scheme and the host of a link; empty if it has none.
fn origin_of(link: &str) -> String {
    let link = link.parse::<Uri>().unwrap_or_default();
    match (link.scheme_str(), link.authority()) {
        (Some(scheme), Some(host)) => format!("{scheme}://{host}"),
        (_, _) => String::new(),
    }
}

fn in_coins(amount: Coins) -> String {
    let text = amount.to_string();
    let text = text.strip_suffix(".00").unwrap_or(&text);
    if text == "1" { "1 coin".to_owned() } else { format!("{text} coins") }
}

#[cfg(test)]
mod tests {
    use super::{Invitation, Template};
    use bahay_engine::coins::Coins;

    const PAGE: &str = "<head>\n<!--preview-->\n<meta property=\"og:title\" content=\"Bahay\">\n\
        <meta property=\"og:image\" content=\"/play/files/preview-0123456789ab.png\">\n\
        <!--/preview-->\n</head>";

    fn invitation(host: &str) -> Invitation {
        Invitation {
            link: "https://play.example/play/join/K7MWQ2XA".into(),
            host: host.into(),
            game: "Tong-its",
            bet: Coins::from_hundredths(250),
            seats: 3,
            seats_taken: 2,
        }
    }

    #[test]
    fn the_tags_of_an_invitation_take_the_place_of_those_of_the_page() {
        let page = Template::parse(PAGE).expect("there is a place").page_for(&invitation("Maria"));
        assert!(page.starts_with("<head>\n<!--preview-->\n") && page.ends_with("\n</head>"));
        assert!(!page.contains("content=\"Bahay\">\n"), "{page}");
        for tag in [
            "<meta property=\"og:title\" content=\"Maria invites you to Tong-its\">",
            "content=\"Bet 2.50 coins. 2 of 3 seats are taken.",
            "<meta property=\"og:url\" content=\"https://play.example/play/join/K7MWQ2XA\">",
            "content=\"https://play.example/play/files/preview-0123456789ab.png\">",
        ] {
            assert!(page.contains(tag), "{tag}: {page}");
        }
    }

    #[test]
    fn a_name_is_text_whatever_is_in_it() {
        let template = Template::parse(PAGE).expect("there is a place");
        let plain = template.page_for(&invitation("Maria"));
        let page = template.page_for(&invitation("\"><script>&'<!--/preview-->"));
        let brackets = |page: &str| page.matches('<').count();
        assert_eq!(brackets(&page), brackets(&plain));
        assert!(page.contains("&quot;&gt;&lt;script&gt;&amp;"), "{page}");
    }

    #[test]
    fn a_page_without_the_place_or_the_picture_is_left_so() {
        assert_eq!(Template::parse("<head><!--preview--></head>"), None);
        assert_eq!(Template::parse("<head></head>"), None);
        let bare = "<head><!--preview--><!--/preview--></head>";
        let page = Template::parse(bare).expect("there is a place").page_for(&invitation("Maria"));
        assert!(!page.contains("og:image"), "{page}");
    }
}
