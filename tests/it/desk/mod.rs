//! The desk as browsers meet it: cookies, forms, pages.

mod browser;
mod sign_in;
