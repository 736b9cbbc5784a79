//! Who may try to get in, from where, and how they prove who they are: rules in the words of
//! PostgreSQL's `pg_hba.conf`. The first that matches decides, also where it refuses.
//!
//! ```text
//! host     database  user  address        method  [option ...]
//! hostssl  all       all   10.0.0.0/8     scram-sha-256
//! hostssl  orders    +app  0.0.0.0/0      cert
//! local    all       all                  peer
//! host     all       all   all            reject
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::catalog::Catalog;

/// The rules, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    kind: Kind,
    databases: Vec<DatabaseWord>,
    users: Vec<UserWord>,
    address: Address,
    pub(super) method: Method,
    /// Whether the client must show a certificate besides: `clientcert`.
    pub(super) certificate: Option<Certificate>,
}

/// Which connections a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Those over a Unix socket.
    Local,
    Host,
    HostSsl,
    HostNoSsl,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum DatabaseWord {
    All,
    SameUser,
    SameRole,
    /// The replication protocol, which is not spoken.
    Replication,
    Named(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum UserWord {
    All,
    /// The role and its members.
    MemberOf(String),
    Named(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Address {
    All,
    /// The first so many bits of an address.
    Network(IpAddr, u8),
}

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Not at all.
    Trust,
    /// Not at all as long as the role has no password: the rule of an empty configuration.
    TrustWithoutPassword,
    Reject,
    Scram,
    /// By a client certificate with the user's name.
    Cert,
    /// By having the same name on this machine.
    Peer,
}

/// What a client certificate must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certificate {
    /// Signed by a trusted authority.
    Signed,
    /// That, and for the user.
    OfUser,
}

/// Who asks to come in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller<'a> {
    /// `None`: over a Unix socket.
    pub(super) address: Option<IpAddr>,
    pub(super) encrypted: bool,
    pub(super) user: &'a str,
    pub(super) database: &'a str,
}

impl Default for Rules {
    /// From the machine itself roles without a password come in as they are; everybody else needs
    /// one.
    fn default() -> Self {
        let rule = |kind, address, method| Rule {
            kind,
            databases: vec![DatabaseWord::All],
            users: vec![UserWord::All],
            address,
            method,
            certificate: None,
        };
        let loopback = [
            Address::Network(Ipv4Addr::new(127, 0, 0, 0).into(), 8),
            Address::Network(Ipv6Addr::LOCALHOST.into(), 128),
        ];
        let trusted = Method::TrustWithoutPassword;
        let [four, six] = loopback.map(|address| rule(Kind::Host, address, trusted));
        let local = rule(Kind::Local, Address::All, trusted);
        Self(vec![local, four, six, rule(Kind::Host, Address::All, Method::Scram)])
    }
}

impl Rules {
    /// Reads rules, one a line; a text may have several lines. The error names the line.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let lines = texts.into_iter().flat_map(str::lines);
        let mut rules = Vec::new();
        for line in lines {
            let fields = fields(line).map_err(|why| format!("hba rule \"{line}\": {why}"))?;
            if !fields.is_empty() {
                let rule = rule(&fields).map_err(|why| format!("hba rule \"{line}\": {why}"))?;
                rules.push(rule);
            }
        }
        if rules.is_empty() {
            return Err("the hba setting has no rule: nobody could connect".to_owned());
        }
        Ok(Self(rules))
    }

    /// The first rule that reaches other machines and asks for nothing, if there is one.
    pub fn open_to_others(&self) -> bool {
        let asks_nothing =
            |rule: &&Rule| rule.method == Method::Trust && rule.certificate.is_none();
        self.0.iter().filter(asks_nothing).any(|rule| rule.reaches_others())
    }

    /// Whether a rule asks for a client certificate.
    pub fn ask_for_certificates(&self) -> bool {
        self.0.iter().any(|rule| rule.method == Method::Cert || rule.certificate.is_some())
    }

    /// The rule that decides about a caller.
    pub(super) fn of(&self, caller: Caller<'_>, catalog: &Catalog) -> Option<&Rule> {
        self.0.iter().find(|rule| rule.matches(caller, catalog))
    }
}

impl Rule {
    fn reaches_others(&self) -> bool {
        match (self.kind, self.address) {
            (Kind::Local, _) => false,
            (_, Address::All) => true,
            (_, Address::Network(IpAddr::V4(address), bits)) => {
                !(address.is_loopback() && bits >= 8)
            }
            (_, Address::Network(IpAddr::V6(address), bits)) => {
                !(address.is_loopback() && bits == 128)
            }
        }
    }

    fn matches(&self, caller: Caller<'_>, catalog: &Catalog) -> bool {
        let over = match self.kind {
            Kind::Local => caller.address.is_none(),
            Kind::Host => caller.address.is_some(),
            Kind::HostSsl => caller.address.is_some() && caller.encrypted,
            Kind::HostNoSsl => caller.address.is_some() && !caller.encrypted,
        };
        let member_of = |role: &str| {
            let (user, role) = (catalog.role(caller.user), catalog.role(role));
            user.zip(role)
                .is_some_and(|(user, role)| catalog.member_closure(user.id).contains(&role.id))
        };
        over && caller.address.is_none_or(|address| self.address.contains(address))
            && self.databases.iter().any(|word| match word {
                DatabaseWord::All => true,
                DatabaseWord::SameUser => caller.user == caller.database,
                DatabaseWord::SameRole => member_of(caller.database),
                DatabaseWord::Replication => false,
                DatabaseWord::Named(name) => name == caller.database,
            })
            && self.users.iter().any(|word| match word {
                UserWord::All => true,
                UserWord::MemberOf(role) => member_of(role),
                UserWord::Named(name) => name == caller.user,
            })
    }
}

impl Address {
    fn contains(self, address: IpAddr) -> bool {
        let Address::Network(network, bits) = self else { return true };
        // A client of IPv4 on a socket of IPv6 is one of IPv4.
        match (network, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(bits.min(32));
                let prefix = |address: Ipv4Addr| u64::from(address.to_bits()) >> shift;
                prefix(network) == prefix(address)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(bits.min(128));
                let prefix = |address: Ipv6Addr| address.to_bits().checked_shr(shift).unwrap_or(0);
                prefix(network) == prefix(address)
            }
            _ => false,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| {
            format!("\"{text}\" is no address: write \"all\" or an address with a mask length")
        })?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.ok_or_else(|| format!("address \"{text}\" has no mask length"))?;
        let bits = bits.parse().ok().filter(|bits| *bits <= most);
        let bits = bits.ok_or_else(|| format!("\"{text}\" has no valid mask length"))?;
        Ok(Address::Network(address, bits))
    }
}

/// One word of a rule; in quotes it is a name, whatever it spells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    quoted: bool,
}

/// The fields of a line, each a list of words with commas between. A comment has none.
fn fields(line: &str) -> Result<Vec<Vec<Word>>, String> {
    let mut fields: Vec<Vec<Word>> = Vec::new();
    let mut characters = line.chars().peekable();
    let mut after_comma = false;
    while let Some(&next) = characters.peek() {
        if next.is_whitespace() {
            characters.next();
            continue;
        }
        if next == '#' {
            break;
        }
        if next == ',' {
            characters.next();
            after_comma = true;
            continue;
        }
        let mut word = Word { text: String::new(), quoted: false };
        while let Some(&next) = characters.peek() {
            match next {
                '"' => {
                    characters.next();
                    word.quoted = true;
                    loop {
                        match characters.next() {
                            Some('"') => break,
                            Some(inside) => word.text.push(inside),
                            None => return Err("a quote is not closed".to_owned()),
                        }
                    }
                }
                ',' | '#' => break,
                space if space.is_whitespace() => break,
                other => {
                    characters.next();
                    word.text.push(other);
                }
            }
        }
        match fields.last_mut().filter(|_| after_comma) {
            Some(field) => field.push(word),
            None => fields.push(vec![word]),
        }
        after_comma = false;
    }
    Ok(fields)
}

fn rule(fields: &[Vec<Word>]) -> Result<Rule, String> {
    let mut fields = fields.iter();
    let mut next = |what: &str| fields.next().ok_or_else(|| format!("it ends before the {what}"));
    let kind = match one(next("connection type")?)? {
        "local" => Kind::Local,
        "host" => Kind::Host,
        "hostssl" => Kind::HostSsl,
        "hostnossl" | "hostnogssenc" => Kind::HostNoSsl,
        other => {
            return Err(format!(
                "connection type \"{other}\" is none of local, host, hostssl, hostnossl"
            ));
        }
    };
    let databases = next("database")?.iter().map(database).collect::<Result<_, _>>()?;
    let users = next("user")?.iter().map(user).collect::<Result<_, _>>()?;
    let address = match kind {
        Kind::Local => Address::All,
        _ => address(next("address")?)?,
    };
    let method = method(one(next("method")?)?)?;
    let mut certificate = None;
    for option in fields {
        match one(option)? {
            "clientcert=verify-ca" => certificate = Some(Certificate::Signed),
            "clientcert=verify-full" => certificate = Some(Certificate::OfUser),
            other => return Err(format!("option \"{other}\" is not supported")),
        }
    }
    if kind != Kind::Local && method == Method::Peer {
        return Err("the method peer is for local connections only".to_owned());
    }
    if kind != Kind::HostSsl && (method == Method::Cert || certificate.is_some()) {
        return Err("a client certificate is shown in hostssl connections only".to_owned());
    }
    Ok(Rule { kind, databases, users, address, method, certificate })
}

fn one(field: &[Word]) -> Result<&str, String> {
    match field {
        [word] => Ok(&word.text),
        _ => Err("only databases and users can be listed".to_owned()),
    }
}

fn database(word: &Word) -> Result<DatabaseWord, String> {
    Ok(match word.text.as_str() {
        name if word.quoted => DatabaseWord::Named(name.to_owned()),
        "all" => DatabaseWord::All,
        "sameuser" => DatabaseWord::SameUser,
        "samerole" | "samegroup" => DatabaseWord::SameRole,
        "replication" => DatabaseWord::Replication,
        name => DatabaseWord::Named(plain(name)?),
    })
}

fn user(word: &Word) -> Result<UserWord, String> {
    Ok(match word.text.as_str() {
        name if word.quoted => UserWord::Named(name.to_owned()),
        "all" => UserWord::All,
        name => match name.strip_prefix('+') {
            Some(role) => UserWord::MemberOf(plain(role)?),
            None => UserWord::Named(plain(name)?),
        },
    })
}

fn plain(name: &str) -> Result<String, String> {
    match name.chars().next() {
        Some('/') => Err(format!("regular expressions (\"{name}\") are not supported")),
        Some('@') => Err(format!("files of names (\"{name}\") are not supported")),
        Some(_) => Ok(name.to_owned()),
        None => Err("a name is empty".to_owned()),
    }
}

fn address(field: &[Word]) -> Result<Address, String> {
    match one(field)? {
        "all" => Ok(Address::All),
        word @ ("samehost" | "samenet") => Err(format!("address \"{word}\" is not supported")),
        text => Address::parse(text),
    }
}

fn method(name: &str) -> Result<Method, String> {
    match name {
        "trust" => Ok(Method::Trust),
        "reject" => Ok(Method::Reject),
        "scram-sha-256" => Ok(Method::Scram),
        "cert" => Ok(Method::Cert),
        "peer" => Ok(Method::Peer),
        other => {
            Err(format!("method \"{other}\" is none of trust, reject, scram-sha-256, cert, peer"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller<'a>(address: &str, encrypted: bool, user: &'a str, database: &'a str) -> Caller<'a> {
        let address = (address != "local").then(|| address.parse().expect("an address"));
        Caller { address, encrypted, user, database }
    }

    fn method_of(rules: &Rules, caller: Caller<'_>) -> Option<Method> {
        rules.of(caller, &Catalog::default()).map(|rule| rule.method)
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rules = Rules::parse([
            "# a comment\nhostssl all ann 10.1.0.0/16 cert",
            "host sales,\"all\" bob , ann 10.0.0.0/8 trust",
            "host all +pg_monitor ::1/128 scram-sha-256",
            "host sameuser all 0.0.0.0/0 reject",
            "local sales ann peer",
            "local all all scram-sha-256",
        ])
        .expect("well formed");
        let of = |address, encrypted, user, database| {
            method_of(&rules, caller(address, encrypted, user, database))
        };
        assert_eq!(of("10.1.2.3", true, "ann", "x"), Some(Method::Cert));
        assert_eq!(of("10.1.2.3", false, "ann", "x"), None);
        assert_eq!(of("10.1.2.3", false, "ann", "sales"), Some(Method::Trust));
        assert_eq!(of("::ffff:10.1.2.3", false, "bob", "all"), Some(Method::Trust));
        assert_eq!(of("11.0.0.1", true, "bob", "sales"), None);
        assert_eq!(of("11.0.0.1", true, "bob", "bob"), Some(Method::Reject));
        assert_eq!(of("::1", true, "pg_monitor", "x"), Some(Method::Scram));
        assert_eq!(of("::1", true, "nobody", "x"), None);
        assert_eq!(of("local", false, "ann", "sales"), Some(Method::Peer));
        assert_eq!(of("local", false, "bob", "sales"), Some(Method::Scram));
        assert!(rules.open_to_others() && rules.ask_for_certificates());
    }

    #[test]
    fn without_rules_only_the_machine_itself_is_trusted() {
        let rules = Rules::default();
        let of = |address| method_of(&rules, caller(address, false, "ann", "ann"));
        for near in ["local", "127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(of(near), Some(Method::TrustWithoutPassword), "{near}");
        }
        for far in ["128.0.0.1", "192.168.0.1", "::2", "::ffff:10.0.0.1"] {
            assert_eq!(of(far), Some(Method::Scram), "{far}");
        }
        assert!(!rules.open_to_others());
    }

    #[test]
    fn what_trusts_others_is_known() {
        for (rule, open) in [
            ("host all all 127.0.0.1/32 trust", false),
            ("host all all 127.0.0.1/7 trust", true),
            ("host all all ::1/128 trust", false),
            ("host all all ::1/127 trust", true),
            ("hostssl all all all trust", true),
            ("hostssl all all all trust clientcert=verify-full", false),
            ("local all all trust", false),
            ("host all all all scram-sha-256", false),
        ] {
            assert_eq!(Rules::parse([rule]).expect(rule).open_to_others(), open, "{rule}");
        }
    }

    #[test]
    fn bad_rules_are_named() {
        for (rule, why) in [
            ("", "no rule"),
            ("# only a comment", "no rule"),
            ("host all", "ends before the user"),
            ("hosts all all all trust", "connection type"),
            ("host all all all md5", "method"),
            ("host all all 10.0.0.0 trust", "mask length"),
            ("host all all 10.0.0.0/33 trust", "mask length"),
            ("host all all example.org trust", "no address"),
            ("host all /^a all trust", "regular expressions"),
            ("host all all all cert", "hostssl"),
            ("host all all all peer", "local connections only"),
            ("hostssl all all all cert map=x", "option"),
            ("host all \"a all trust", "not closed"),
        ] {
            let error = Rules::parse([rule]).expect_err(rule);
            assert!(error.contains(why), "{rule}: {error}");
        }
    }
}
