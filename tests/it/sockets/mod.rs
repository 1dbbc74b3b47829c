//! Sockets: who gets in, who is sent away, and players who always come back.

mod chat;
mod door;
mod drain;
mod fights;
mod grace;
mod hostile;
mod player;
mod repeated;
mod resume;
mod secrets;
mod silence;
mod twins;
mod upgrade;
