//! The instruction set of PTX, as data. No other stage is known here.
//!
//! [`rows`] is the table, [`manual`] the manual's own list of forms, [`table`] finds an instruction's row and its
//! [`modifiers`], [`operation`] names what a row stands for and its effects, [`availability`] which modules have it, [`fragments`] which registers hold a matrix,
//! [`requirements`] which modules have its words, [`rule`] what its instructions must obey.

pub mod availability;
pub mod fragments;
pub mod manual;
pub mod modifiers;
pub mod operation;
pub mod requirements;
pub mod rows;
pub mod rule;
pub mod table;
pub mod types;
pub mod vocabulary;
pub mod word;
