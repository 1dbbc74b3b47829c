//! The link preview of an invitation: the tags (Open Graph, Twitter) from which messengers render a
//! card for a link to a private table, with the name of its host, the game, the bet and the seats.
//!
//! The page contains default tags between two marker comments; the tags of an invitation replace
//! them. All text is escaped. The preview requires no sign-in, because messengers request it
//! without one; everybody with the link can see it.

use axum::http::Uri;
use bahay_engine::coins::Coins;
use maud::html;

/// The marker comments around the tags of the page.
const BEGIN: &str = "<!--preview-->";
const END: &str = "<!--/preview-->";

/// The prefix of the picture's path, by which it is found in the page's default tags.
const PICTURE: &str = "/play/files/preview-";

/// The page, split at its marker comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Template<'a> {
    before: &'a str,
    after: &'a str,
    /// The path of the picture on this server.
    picture: Option<&'a str>,
}

/// An invitation to a private table, as its card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invitation {
    /// The absolute link.
    pub(crate) link: String,
    pub(crate) host: String,
    /// The title of the game.
    pub(crate) game: &'static str,
    pub(crate) bet: Coins,
    pub(crate) seats: u8,
    pub(crate) seats_taken: usize,
}

impl<'a> Template<'a> {
    /// Splits a page at its marker comments; `None` if it has none.
    pub(crate) fn parse(page: &'a str) -> Option<Self> {
        let (before, rest) = page.split_once(BEGIN)?;
        let (tags, after) = rest.split_once(END)?;
        let picture = tags.find(PICTURE).and_then(|at| tags[at..].split(['"', '\'']).next());
        Some(Self { before, after, picture })
    }

    /// Returns the page with the tags of an invitation.
    pub(crate) fn render_page(&self, invitation: &Invitation) -> String {
        let Self { before, after, picture } = self;
        let tags = invitation.render_tags(*picture);
        [before, BEGIN, "\n", &tags, "\n", END, after].concat()
    }
}

impl Invitation {
    fn render_tags(&self, picture: Option<&str>) -> String {
        let Self { link, host, game, bet, seats, seats_taken } = self;
        let title = format!("{host} invites you to {game}");
        let bet = format_coins(*bet);
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

/// Returns the scheme and host of a link, or an empty text if it has none.
fn origin_of(link: &str) -> String {
    let link = link.parse::<Uri>().unwrap_or_default();
    match (link.scheme_str(), link.authority()) {
        (Some(scheme), Some(host)) => format!("{scheme}://{host}"),
        (_, _) => String::new(),
    }
}

fn format_coins(amount: Coins) -> String {
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
    fn the_tags_of_an_invitation_replace_those_of_the_page() {
        let template = Template::parse(PAGE).expect("the page has markers");
        let page = template.render_page(&invitation("Maria"));
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
    fn the_host_name_is_escaped() {
        let template = Template::parse(PAGE).expect("the page has markers");
        let plain = template.render_page(&invitation("Maria"));
        let page = template.render_page(&invitation("\"><script>&'<!--/preview-->"));
        let brackets = |page: &str| page.matches('<').count();
        assert_eq!(brackets(&page), brackets(&plain));
        assert!(page.contains("&quot;&gt;&lt;script&gt;&amp;"), "{page}");
    }

    #[test]
    fn a_page_without_markers_or_picture_is_handled() {
        assert_eq!(Template::parse("<head><!--preview--></head>"), None);
        assert_eq!(Template::parse("<head></head>"), None);
        let bare = "<head><!--preview--><!--/preview--></head>";
        let template = Template::parse(bare).expect("the page has markers");
        let page = template.render_page(&invitation("Maria"));
        assert!(!page.contains("og:image"), "{page}");
    }
}
