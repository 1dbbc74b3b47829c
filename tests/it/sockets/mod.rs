//! Tests of the socket: admission, answers, refusals, and players who resume after every
//! interruption.

mod answers;
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
