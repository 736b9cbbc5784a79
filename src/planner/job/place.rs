//! From the tree to fragments: where do rows have to be, and where do they have to move?
//!
//! A piece is a fragment under construction. It grows upwards for as long as its rows are where
//! the next operator needs them; otherwise it is closed, and a new one begins behind an exchange.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::tree::{Tree, TreeKind, column_of};
use crate::catalog::catalog::nothing;
use crate::error::{SqlError, SqlResult};
use crate::graph::{
    Distribution, Exchange, Fragment, Input, JoinKind, Map, Materialize, Node, NodeKind, Upstream,
};

/// Where an operator needs its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Want {
    Anywhere,
    /// By the hash of exactly these columns.
    Hash(Vec<usize>),
    Single,
}

/// Where rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// On the only actor.
    Single,
    /// By the hash of any of these lists of columns: they are equal. No list: anywhere.
    Hash(Vec<Vec<usize>>),
}

/// A fragment that is not closed yet.
struct Piece {
    inputs: Vec<Input>,
    nodes: Vec<Node>,
    place: Place,
}

impl Piece {
    /// A new root over the present one.
    fn push(&mut self, kind: NodeKind, schema: SchemaRef, append_only: bool) {
        let inputs = vec![self.nodes.len() - 1];
        self.nodes.push(Node { id: 0, kind, inputs, schema, append_only });
    }
}

/// What the placed plan is, besides its fragments.
pub(super) struct Placed {
    pub(super) fragments: Vec<Fragment>,
    /// The columns by whose hash the materialized rows are spread.
    pub(super) distribution: Vec<usize>,
}

/// Places `tree` and what keeps its rows.
pub(super) fn place(tree: Tree) -> SqlResult<Placed> {
    let mut placing = Placing { fragments: Vec::new() };
    let want = wanted_by_materialize(&tree);
    let (key, schema, append_only) = (tree.key.clone(), Arc::clone(&tree.schema), tree.append_only);
    let mut piece = placing.place(tree, &want);
    let distribution = match &piece.place {
        Place::Single => Vec::new(),
        Place::Hash(lists) => lists
            .iter()
            .find(|list| key.is_empty() || list.iter().all(|column| key.contains(column)))
            .cloned()
            .ok_or_else(|| SqlError::internal("materialized rows are nowhere"))?,
    };
    let materialize = Materialize { key, distribution: distribution.clone() };
    piece.push(NodeKind::Materialize(materialize), schema, append_only);
    placing.close(piece);
    number(&mut placing.fragments)?;
    Ok(Placed { fragments: placing.fragments, distribution })
}

/// Places `tree`, and what keeps its rows spread by the hash of columns `distribution`.
pub(super) fn place_by_hash(tree: Tree, distribution: Vec<usize>) -> SqlResult<Vec<Fragment>> {
    let mut placing = Placing { fragments: Vec::new() };
    let (key, schema, append_only) = (tree.key.clone(), Arc::clone(&tree.schema), tree.append_only);
    let mut piece = placing.place(tree, &Want::Hash(distribution.clone()));
    piece.push(NodeKind::Materialize(Materialize { key, distribution }), schema, append_only);
    placing.close(piece);
    number(&mut placing.fragments)?;
    Ok(placing.fragments)
}

/// Rows with one key must meet on one actor: they stay where they are if that is decided by a
/// part of their key (of the whole row, without one), and are hashed by the key otherwise.
fn wanted_by_materialize(tree: &Tree) -> Want {
    let whole: Vec<usize> = (0..tree.schema.fields().len()).collect();
    let identity = if tree.key.is_empty() { whole } else { tree.key.clone() };
    match natural(tree) {
        Place::Single => Want::Anywhere,
        Place::Hash(lists)
            if lists.iter().any(|list| list.iter().all(|column| identity.contains(column))) =>
        {
            Want::Anywhere
        }
        Place::Hash(_) if identity.is_empty() => Want::Single,
        Place::Hash(_) => Want::Hash(identity),
    }
}

/// Where the rows of a tree are when nothing is wanted.
fn natural(tree: &Tree) -> Place {
    match &tree.kind {
        TreeKind::Scan(_) => Place::Hash(Vec::new()),
        TreeKind::Map(map, input) => through_map(map, natural(input)),
        TreeKind::Union(inputs) => inputs.iter().map(natural).fold(None, meet).unwrap_or(NOWHERE),
        TreeKind::Join(..) | TreeKind::Aggregate(..) => own_place(tree),
        TreeKind::TopN(..) | TreeKind::Window(..) => own_place(tree),
        TreeKind::Recompute(..) | TreeKind::Constant(_) => own_place(tree),
        TreeKind::Expand(_, input) => through_expand(natural(input)),
        TreeKind::Shared(_) => NOWHERE,
    }
}

const NOWHERE: Place = Place::Hash(Vec::new());

/// What two inputs of a union have in common. A single actor's rows are spread among the others.
fn meet(met: Option<Place>, other: Place) -> Option<Place> {
    Some(match (met, other) {
        (None, other) => other,
        (Some(Place::Single), Place::Single) => Place::Single,
        (Some(Place::Hash(met)), Place::Hash(other)) => {
            Place::Hash(met.into_iter().filter(|list| other.contains(list)).collect())
        }
        _ => NOWHERE,
    })
}

/// Where a stateful operator's rows are: where its state is.
fn own_place(tree: &Tree) -> Place {
    match &tree.kind {
        TreeKind::Join(join, _) if join.left_key.is_empty() => Place::Single,
        TreeKind::Join(join, sides) => {
            let width = sides[0].schema.fields().len();
            let left = join.left_key.clone();
            let right = join.right_key.iter().map(|column| column + width).collect();
            // Where a side is padded with NULLs, its key says nothing.
            Place::Hash(match join.kind {
                JoinKind::Inner => vec![left, right],
                JoinKind::Left | JoinKind::LeftSemi | JoinKind::LeftAnti => vec![left],
                JoinKind::Right => vec![right],
                JoinKind::Full => Vec::new(),
            })
        }
        TreeKind::Aggregate(aggregate, _) if aggregate.group.is_empty() => Place::Single,
        TreeKind::Aggregate(aggregate, _) => {
            Place::Hash(vec![(0..aggregate.group.len()).collect()])
        }
        TreeKind::TopN(top, _) => place_by(&top.group),
        TreeKind::Window(window, _) => place_by(&window.partition),
        TreeKind::Recompute(recompute, _) => place_by(&recompute.output_partition),
        TreeKind::Constant(_) => Place::Single,
        _ => NOWHERE,
    }
}

/// Where rows with one key met.
fn place_by(key: &[usize]) -> Place {
    match key {
        [] => Place::Single,
        key => Place::Hash(vec![key.to_vec()]),
    }
}

/// Rows that stand for others are where those were, which their columns do not tell.
fn through_expand(place: Place) -> Place {
    match place {
        Place::Single => Place::Single,
        Place::Hash(_) => NOWHERE,
    }
}

/// Where rows are after a map: lists of columns that it passes on.
fn through_map(map: &Map, place: Place) -> Place {
    let (Place::Hash(lists), Some(expressions)) = (&place, &map.expressions) else {
        return place;
    };
    let passed =
        |column: &usize| expressions.iter().position(|expr| column_of(expr) == Some(*column));
    let lists = lists.iter().filter_map(|list| list.iter().map(passed).collect());
    Place::Hash(lists.collect())
}

/// What a map's input must be for its output to be as wanted, if that can be said.
fn below_map(map: &Map, want: &Want) -> Option<Want> {
    match (want, &map.expressions) {
        (Want::Hash(columns), Some(expressions)) => columns
            .iter()
            .map(|&column| column_of(&expressions[column]))
            .collect::<Option<_>>()
            .map(Want::Hash),
        _ => Some(want.clone()),
    }
}

struct Placing {
    fragments: Vec<Fragment>,
}

impl Placing {
    /// The piece whose root is `tree`, its rows as wanted.
    fn place(&mut self, tree: Tree, want: &Want) -> Piece {
        let own = own_place(&tree);
        let Tree { kind, schema, append_only, .. } = tree;
        match kind {
            TreeKind::Scan(object) => {
                let from = Upstream::Object(object.id);
                let input = Input { from, exchange: exchange_of(want), schema };
                behind(input, append_only, place_of(want))
            }
            TreeKind::Map(map, input) => {
                let below = below_map(&map, want);
                let mut piece = self.place(*input, below.as_ref().unwrap_or(&Want::Anywhere));
                piece.place = through_map(&map, piece.place);
                piece.push(NodeKind::Map(map), schema, append_only);
                self.satisfy(piece, want)
            }
            TreeKind::Union(inputs) => {
                let pieces = inputs.into_iter().map(|input| self.place(input, want)).collect();
                let pieces = self.alike(pieces);
                let place = pieces.iter().map(|piece| piece.place.clone()).fold(None, meet);
                let place = place.unwrap_or(NOWHERE);
                merge(pieces, NodeKind::Union, schema, append_only, place)
            }
            TreeKind::Join(join, sides) => {
                let [left, right] = *sides;
                let left = self.place(left, &by_key(&join.left_key));
                let right = self.place(right, &by_key(&join.right_key));
                let kind = NodeKind::Join(join);
                let piece = merge(vec![left, right], kind, schema, append_only, own);
                self.satisfy(piece, want)
            }
            TreeKind::Aggregate(aggregate, input) => {
                let input = self.place(*input, &by_key(&aggregate.group));
                let kind = NodeKind::Aggregate(aggregate);
                let piece = merge(vec![input], kind, schema, append_only, own);
                self.satisfy(piece, want)
            }
            TreeKind::TopN(top, input) => {
                let input = self.place(*input, &by_key(&top.group));
                let piece = merge(vec![input], NodeKind::TopN(top), schema, append_only, own);
                self.satisfy(piece, want)
            }
            TreeKind::Window(window, input) => {
                let input = self.place(*input, &by_key(&window.partition));
                let piece = merge(vec![input], NodeKind::Window(window), schema, append_only, own);
                self.satisfy(piece, want)
            }
            TreeKind::Recompute(recompute, inputs) => {
                let wants: Vec<Want> =
                    recompute.partition.iter().map(|partition| by_key(partition)).collect();
                let inputs = inputs.into_iter().zip(&wants);
                let pieces = inputs.map(|(input, want)| self.place(input, want)).collect();
                let kind = NodeKind::Recompute(recompute);
                let piece = merge(pieces, kind, schema, append_only, own);
                self.satisfy(piece, want)
            }
            TreeKind::Expand(plan, input) => {
                let mut piece = self.place(*input, &Want::Anywhere);
                piece.place = through_expand(piece.place);
                piece.push(NodeKind::Expand(plan), schema, append_only);
                self.satisfy(piece, want)
            }
            TreeKind::Constant(constant) => {
                // Barriers come by way of a table that has no rows.
                let nothing = nothing();
                let from = Upstream::Object(nothing.id);
                let input =
                    Input { from, exchange: Exchange::Single, schema: nothing.stored_schema() };
                let mut piece = behind(input, true, Place::Single);
                piece.push(NodeKind::Constant(constant), schema, append_only);
                self.satisfy(piece, want)
            }
            TreeKind::Shared(shared) => {
                let fragment = *shared.fragment.get_or_init(|| {
                    let piece = self.place(shared.tree.clone(), &Want::Anywhere);
                    self.close(piece)
                });
                let from = Upstream::Fragment(fragment);
                let input = Input { from, exchange: exchange_of(want), schema };
                behind(input, append_only, place_of(want))
            }
        }
    }

    /// The piece itself if its rows are as wanted, or a new one behind an exchange.
    fn satisfy(&mut self, piece: Piece, want: &Want) -> Piece {
        let satisfied = match (want, &piece.place) {
            (Want::Anywhere, _) | (Want::Single, Place::Single) => true,
            (Want::Hash(columns), Place::Hash(lists)) => lists.contains(columns),
            _ => false,
        };
        if satisfied { piece } else { self.exchange(piece, want) }
    }

    fn exchange(&mut self, piece: Piece, want: &Want) -> Piece {
        let root = piece.nodes.last().map(|root| (Arc::clone(&root.schema), root.append_only));
        let (schema, append_only) = root.expect("a piece has nodes");
        let from = Upstream::Fragment(self.close(piece));
        behind(Input { from, exchange: exchange_of(want), schema }, append_only, place_of(want))
    }

    /// Inputs of a union run on the same actors: a single actor's rows are spread among many.
    fn alike(&mut self, pieces: Vec<Piece>) -> Vec<Piece> {
        if pieces.iter().all(|piece| piece.place == Place::Single) {
            return pieces;
        }
        let spread = |piece: Piece| match piece.place {
            Place::Single => self.exchange(piece, &Want::Anywhere),
            Place::Hash(_) => piece,
        };
        pieces.into_iter().map(spread).collect()
    }

    /// Closes a piece; gives its index.
    fn close(&mut self, piece: Piece) -> usize {
        let distribution = match piece.place {
            Place::Single => Distribution::Single,
            Place::Hash(_) => Distribution::Hash,
        };
        self.fragments.push(Fragment { inputs: piece.inputs, nodes: piece.nodes, distribution });
        self.fragments.len() - 1
    }
}

/// Where rows with one key meet; without a key all do.
fn by_key(key: &[usize]) -> Want {
    match key {
        [] => Want::Single,
        key => Want::Hash(key.to_vec()),
    }
}

fn exchange_of(want: &Want) -> Exchange {
    match want {
        Want::Anywhere => Exchange::Spread,
        Want::Hash(columns) => Exchange::Hash(columns.clone()),
        Want::Single => Exchange::Single,
    }
}

fn place_of(want: &Want) -> Place {
    match want {
        Want::Anywhere => NOWHERE,
        Want::Hash(columns) => Place::Hash(vec![columns.clone()]),
        Want::Single => Place::Single,
    }
}

/// A new piece that begins with `input`.
fn behind(input: Input, append_only: bool, place: Place) -> Piece {
    let node = Node {
        id: 0,
        kind: NodeKind::Input(0),
        inputs: Vec::new(),
        schema: Arc::clone(&input.schema),
        append_only,
    };
    Piece { inputs: vec![input], nodes: vec![node], place }
}

/// One piece out of several, under a new root.
fn merge(
    pieces: Vec<Piece>,
    kind: NodeKind,
    schema: SchemaRef,
    append_only: bool,
    place: Place,
) -> Piece {
    let mut merged = Piece { inputs: Vec::new(), nodes: Vec::new(), place };
    let mut roots = Vec::new();
    for piece in pieces {
        let (port, index) = (merged.inputs.len(), merged.nodes.len());
        merged.inputs.extend(piece.inputs);
        for mut node in piece.nodes {
            if let NodeKind::Input(own) = &mut node.kind {
                *own += port;
            }
            node.inputs.iter_mut().for_each(|input| *input += index);
            merged.nodes.push(node);
        }
        roots.push(merged.nodes.len() - 1);
    }
    merged.nodes.push(Node { id: 0, kind, inputs: roots, schema, append_only });
    merged
}

/// Numbers all nodes from 1, fragment by fragment.
fn number(fragments: &mut [Fragment]) -> SqlResult<()> {
    for (index, node) in fragments.iter_mut().flat_map(|f| &mut f.nodes).enumerate() {
        node.id = u16::try_from(index + 1)
            .map_err(|_| SqlError::unsupported("a materialized view of so many operators"))?;
    }
    Ok(())
}
