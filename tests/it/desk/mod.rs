//! The desk as browsers meet it: cookies, forms, pages.

mod browser;
mod matrix;
mod orders;
mod running;
mod sign_in;
