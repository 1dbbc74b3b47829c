//! A simulated browser: it keeps cookies and sends the forms of the desk's pages.

use std::collections::BTreeMap;
use std::time::Duration;

use bahay::auth::SecondFactor;
use bahay::clock::Clock;
use bahay::operators::Role;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Method, Response};

use crate::http::server::{PASSWORD, Server};

/// The maximum size of a page, in bytes.
const PAGE_BYTES_MAX: usize = 200_000;

/// The response to a request for a page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

impl Page {
    /// Asserts the status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Asserts a redirect to a page.
    #[track_caller]
    pub(crate) fn expect_redirect(&self, to: &str) {
        assert_eq!((self.status, self.location.as_deref()), (303, Some(to)), "{}", self.text);
    }

    /// Asserts that the page contains some words.
    #[track_caller]
    pub(crate) fn shows(&self, words: &str) -> &Self {
        assert!(self.text.contains(words), "{words}: {}", self.text);
        self
    }

    /// Asserts that the page does not contain some words.
    #[track_caller]
    pub(crate) fn hides(&self, words: &str) -> &Self {
        assert!(!self.text.contains(words), "{words}: {}", self.text);
        self
    }

    /// Returns the enrolment code that the page displays.
    #[track_caller]
    pub(crate) fn enrolment_code(&self) -> String {
        format!("bahay_en_{}", between(&self.text, "bahay_en_", "<"))
    }
}

/// A browser with its cookies.
#[derive(Debug)]
pub(crate) struct Browser<'a> {
    server: &'a Server,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The value of `Sec-Fetch-Site`, which tests may falsify.
    pub(crate) site: &'static str,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(server: &'a Server) -> Self {
        Self { server, cookies: BTreeMap::new(), site: "same-origin" }
    }

    /// Creates the browser of a new operator, who is signed in.
    pub(crate) async fn enrolled(server: &'a Server, name: &str, role: Role) -> Self {
        let mut browser = Self::new(server);
        browser.enrol(name, role).await;
        browser
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        let request = self.server.node.request(Method::GET, path);
        let response =
            request.header(COOKIE, self.jar()).send().await.expect("the server responds");
        self.receive(response).await
    }

    /// Sends fields as a form, with the form token of the page `of`.
    pub(crate) async fn send(&mut self, of: &str, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = form_token(&self.get(of).await.text);
        self.send_with(&token, path, fields).await
    }

    pub(crate) async fn send_with(
        &mut self,
        token: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Page {
        let mut all = vec![("form_token", token)];
        all.extend_from_slice(fields);
        let body = serde_urlencoded::to_string(all).expect("fields are text");
        let request = self.server.node.request(Method::POST, path);
        let request = request.header(COOKIE, self.jar()).header("sec-fetch-site", self.site);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(body).send().await.expect("the server responds");
        self.receive(response).await
    }

    async fn receive(&mut self, response: Response) -> Page {
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().expect("a cookie is text");
            let (pair, attributes) = cookie.split_once(';').expect("a cookie has attributes");
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            assert!(name.starts_with("__Host-"), "{cookie}");
            for attribute in ["Path=/", "HttpOnly", "SameSite=Strict", "Secure"] {
                assert!(attributes.contains(attribute), "{cookie}");
            }
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let location = response.headers().get(LOCATION);
        let location = location.map(|to| to.to_str().expect("the location is text").to_owned());
        let status = response.status().as_u16();
        let text = response.text().await.expect("a page is text");
        assert!(!text.contains(" style="), "{text}");
        Page { status, location, text }
    }

    fn jar(&self) -> String {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// Returns a page, which must exist and be small.
    pub(crate) async fn load(&mut self, path: &str) -> Page {
        let page = self.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(page.text.len() < PAGE_BYTES_MAX, "{path} has {} bytes", page.text.len());
        assert!(!page.text.contains("http://"), "{path}: {}", page.text);
        page
    }

    /// Adds an operator and enrols it. The browser is then signed in.
    pub(crate) async fn enrol(&mut self, name: &str, role: Role) -> SecondFactor {
        let code = self.server.add_operator(name, role).await;
        self.complete_enrolment(&code).await
    }

    /// Completes an enrolment with a code. The browser is then signed in.
    pub(crate) async fn complete_enrolment(&mut self, code: &str) -> SecondFactor {
        let factor = self.open_enrolment(code).await;
        let shown = factor.code(self.server.clock.now());
        self.send_completion(code, &shown).await.expect_redirect("/desk");
        factor
    }

    /// Sends the first page of an enrolment.
    pub(crate) async fn send_enrolment(&mut self, code: &str) -> Page {
        self.send("/desk/enrolment", "/desk/enrolment", &[("enrolment", code)]).await
    }

    /// Sends the second page of an enrolment.
    pub(crate) async fn send_completion(&mut self, code: &str, shown: &str) -> Page {
        let fields =
            [("enrolment", code), ("password", PASSWORD), ("again", PASSWORD), ("code", shown)];
        self.send("/desk/enrolment", "/desk/enrolment/completion", &fields).await
    }

    /// Creates the API token of the signed-in operator.
    pub(crate) async fn create_token(&mut self) -> String {
        let page = self.send("/desk/token", "/desk/token", &[]).await.expect(200);
        format!("bahay_op_{}", between(&page.text, "bahay_op_", "<"))
    }

    /// Returns the second factor that an enrolment displays.
    pub(crate) async fn open_enrolment(&mut self, code: &str) -> SecondFactor {
        let page = self.send_enrolment(code).await.expect(200);
        let key = between(&page.text, "Key: <code>", "</code>");
        SecondFactor::from_base32(key).expect("the key is base32")
    }

    /// Signs in with the right password and the present code.
    pub(crate) async fn sign_in_with(&mut self, name: &str, factor: &SecondFactor) -> Page {
        let code = factor.code(self.server.clock.now());
        self.sign_in(name, PASSWORD, &code).await
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str, code: &str) -> Page {
        let fields = [("name", name), ("password", password), ("code", code)];
        self.send("/desk/sign-in", "/desk/sign-in", &fields).await
    }
}

/// Returns the form token of a page.
pub(crate) fn form_token(page: &str) -> String {
    between(page, "name=\"form_token\" value=\"", "\"").to_owned()
}

#[track_caller]
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}")).1;
    rest.split_once(after).expect("the text has an end mark").0
}

/// Advances the clock to the next code of every authenticator.
pub(crate) fn advance_to_next_code(clock: &Clock) {
    clock.advance(Duration::from_secs(30));
}
