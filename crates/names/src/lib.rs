//! The texts by which players present themselves: names, avatars, passwords, devices, time zones.
//!
//! A [`Name`] is text that people can read and tell apart (`character_class`, `emoji`). The
//! [`skeletons`] of two names are equal if the names are confusable, and [`is_reserved`] recognises
//! the words of the house in every spelling. The crate stores nothing: whether a name is taken is
//! decided by the accounts.

mod avatar;
mod character_class;
mod confusables;
mod device;
mod emoji;
mod name;
mod password;
mod reserved;

pub use avatar::{AVATARS, Avatar, ParseAvatarError};
pub use confusables::{search_skeleton, skeletons};
pub use device::{DeviceId, DeviceTimeZone, ParseDeviceIdError, ParseTimeZoneError, TimeZone};
pub use name::{NAME_TEXT_LENGTH_MAX, Name, ParseNameError};
pub use password::{NewPassword, PASSWORD_LENGTH, ParsePasswordError, PasswordAttempt};
pub use reserved::is_reserved;

bahay_base::deserialize_by_parsing!(Avatar, DeviceId, Name, NewPassword, TimeZone);
