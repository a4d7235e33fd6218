//! Refusing a module.

use crate::finding::Refusal;

pub(super) type Result<T> = std::result::Result<T, Refusal>;

pub(super) fn refuse(rule: &str, message: impl Into<String>) -> Refusal {
    Refusal { rule: rule.into(), message: message.into() }
}
