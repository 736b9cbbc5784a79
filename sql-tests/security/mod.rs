//! What must not get in, and what gets in only with a proof: logins, rules, certificates.

mod login;
mod privileges;
mod rules;
mod start_values;
mod tls;

use sqllogictest::harness::Trial;

/// The tests of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = login::trials();
    trials.extend(privileges::trials());
    trials.extend(rules::trials());
    trials.extend(start_values::trials());
    trials.extend(tls::trials());
    trials
}
