//! A query as a tree that knows how to become smaller.
//!
//! The tree has just the structure that shrinking needs. A smaller tree may well be no query any
//! more (a name that nobody defines): PostgreSQL then refuses it, and it is not considered. What
//! must hold: a smaller query that PostgreSQL takes still determines its rows; an order that makes
//! it so is `Fixed`.

use std::fmt;

use super::kind::Kind;

/// What can stand in for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Query,
    Relation,
    Value(Kind),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tree {
    Word(String),
    Sequence(Vec<Tree>),
    /// May be left out.
    Optional(Box<Tree>),
    /// Of the items at least `least` stay.
    List {
        items: Vec<Tree>,
        separator: &'static str,
        least: usize,
    },
    /// May be replaced by something of its sort within, a value also by a literal.
    Of(Sort, Box<Tree>),
    /// Stays whole.
    Fixed(Box<Tree>),
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::Word(text.to_string())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Self {
        Self::Word(text)
    }
}

/// Texts and trees, one after the other.
macro_rules! sequence {
    ($($part:expr),+ $(,)?) => {
        $crate::oracle::tree::Tree::Sequence(vec![
            $($crate::oracle::tree::Tree::from($part)),+
        ])
    };
}
pub(super) use sequence;

impl Tree {
    pub(super) fn value(kind: Kind, tree: impl Into<Tree>) -> Self {
        Self::Of(Sort::Value(kind), Box::new(tree.into()))
    }

    pub(super) fn query(tree: impl Into<Tree>) -> Self {
        Self::Of(Sort::Query, Box::new(tree.into()))
    }

    pub(super) fn relation(tree: impl Into<Tree>) -> Self {
        Self::Of(Sort::Relation, Box::new(tree.into()))
    }

    pub(super) fn optional(tree: impl Into<Tree>) -> Self {
        Self::Optional(Box::new(tree.into()))
    }

    pub(super) fn fixed(tree: impl Into<Tree>) -> Self {
        Self::Fixed(Box::new(tree.into()))
    }

    pub(super) fn list(items: Vec<Tree>, separator: &'static str) -> Self {
        Self::List { items, separator, least: 1 }
    }

    /// Trees one step smaller, those that lose most first.
    pub(super) fn smaller(&self) -> Vec<Tree> {
        let mut found = self.without_a_column();
        found.extend(self.steps());
        found
    }

    fn steps(&self) -> Vec<Tree> {
        match self {
            Self::Word(_) | Self::Fixed(_) => Vec::new(),
            Self::Sequence(parts) => replaced_one(parts).map(Self::Sequence).collect(),
            Self::Optional(inner) => {
                if inner.to_string().is_empty() {
                    return Vec::new();
                }
                let mut found = vec![Self::Word(String::new())];
                found.extend(inner.steps().into_iter().map(Self::optional));
                found
            }
            Self::List { items, separator, least } => {
                let (separator, least) = (*separator, *least);
                let list = |items| Self::List { items, separator, least };
                let mut found = Vec::new();
                if items.len() > least {
                    for dropped in 0..items.len() {
                        let mut items = items.clone();
                        items.remove(dropped);
                        found.push(list(items));
                    }
                }
                found.extend(replaced_one(items).map(list));
                found
            }
            Self::Of(sort, inner) => {
                let mut found = Vec::new();
                if let Sort::Value(kind) = sort {
                    let text = inner.to_string();
                    let [plain, null] = [kind.plain(), kind.null()];
                    if text != plain && text != null && text.contains([' ', '(']) {
                        found.push(Self::value(*kind, plain));
                        found.push(Self::value(*kind, null));
                    }
                }
                inner.within(*sort, &mut found);
                found.extend(inner.steps().into_iter().map(|step| Self::Of(*sort, step.into())));
                found
            }
        }
    }

    /// What of `sort` is within.
    fn within(&self, sort: Sort, found: &mut Vec<Tree>) {
        if matches!(self, Self::Of(own, _) if *own == sort) {
            found.push(self.clone());
        }
        match self {
            Self::Word(_) => {}
            Self::Sequence(parts) | Self::List { items: parts, .. } => {
                parts.iter().for_each(|part| part.within(sort, found));
            }
            Self::Optional(inner) | Self::Of(_, inner) | Self::Fixed(inner) => {
                inner.within(sort, found);
            }
        }
    }

    /// One column less in all lists at once, as the sides of a UNION need it.
    fn without_a_column(&self) -> Vec<Tree> {
        (0..self.longest_list())
            .filter_map(|column| {
                let mut tree = self.clone();
                tree.drop_column(column);
                (tree != *self).then_some(tree)
            })
            .collect()
    }

    fn longest_list(&self) -> usize {
        match self {
            Self::Word(_) | Self::Fixed(_) => 0,
            Self::Sequence(parts) => parts.iter().map(Self::longest_list).max().unwrap_or(0),
            Self::List { items, .. } => items.len(),
            Self::Optional(inner) | Self::Of(_, inner) => inner.longest_list(),
        }
    }

    fn drop_column(&mut self, column: usize) {
        match self {
            Self::Word(_) | Self::Fixed(_) => {}
            Self::Sequence(parts) => parts.iter_mut().for_each(|part| part.drop_column(column)),
            Self::List { items, least, .. } => {
                if items.len() > *least && column < items.len() {
                    items.remove(column);
                }
            }
            Self::Optional(inner) | Self::Of(_, inner) => inner.drop_column(column),
        }
    }
}

/// The parts with one of them a step smaller.
fn replaced_one(parts: &[Tree]) -> impl Iterator<Item = Vec<Tree>> {
    parts.iter().enumerate().flat_map(move |(place, part)| {
        part.steps().into_iter().map(move |step| {
            let mut parts = parts.to_vec();
            parts[place] = step;
            parts
        })
    })
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Sequence(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
            Self::List { items, separator, .. } => {
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        f.write_str(separator)?;
                    }
                    item.fmt(f)?;
                }
                Ok(())
            }
            Self::Optional(inner) | Self::Of(_, inner) | Self::Fixed(inner) => inner.fmt(f),
        }
    }
}
