//! A plan under construction: the rows of one relational expression, and how they are spread.
//!
//! A [`Stream`] is a fragment that still grows at its root. Operators that need rows of one key
//! together ask for [`Fragments::hashed`]: if the rows do not lie so, the fragment is closed and a
//! new one begins behind an exchange.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::graph::{Distribution, Exchange, Fragment, Input, Node, NodeKind, Upstream};

/// How rows are spread over a fragment's actors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spread {
    /// One actor has all.
    Single,
    /// By the hash of these columns, in this order.
    Hash(Vec<usize>),
    /// Somehow: equal rows may be apart.
    Any,
}

/// The rows of an expression.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) inputs: Vec<Input>,
    /// Children before parents, the root last.
    pub(super) nodes: Vec<Node>,
    pub(super) spread: Spread,
    /// Columns that identify a row, if some do; empty: there is at most one row.
    pub(super) key: Option<Vec<usize>>,
    /// While it is one input under maps only: the input's column behind each column.
    origin: Option<Vec<Option<usize>>>,
}

impl Stream {
    pub(super) fn root(&self) -> &Node {
        self.nodes.last().expect("a stream begins with a node")
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.root().schema
    }

    pub(super) fn append_only(&self) -> bool {
        self.root().append_only
    }

    /// A node over the root.
    pub(super) fn push(&mut self, id: u16, kind: NodeKind, schema: SchemaRef, append_only: bool) {
        let inputs = vec![self.nodes.len() - 1];
        self.origin = None;
        self.nodes.push(Node { id, kind, inputs, schema, append_only });
    }

    /// After a map: `sources` is, for each output column, the input column that it is.
    pub(super) fn remap(&mut self, origin: Option<Vec<Option<usize>>>, sources: &[Option<usize>]) {
        let place = |column: usize| sources.iter().position(|source| *source == Some(column));
        let all = |columns: &[usize]| columns.iter().map(|c| place(*c)).collect::<Option<Vec<_>>>();
        self.key = self.key.as_deref().and_then(all);
        if let Spread::Hash(columns) = &self.spread {
            self.spread = all(columns).map_or(Spread::Any, Spread::Hash);
        }
        self.origin = origin.map(|origin| {
            sources.iter().map(|source| source.and_then(|column| origin[column])).collect()
        });
    }

    pub(super) fn origin(&self) -> Option<Vec<Option<usize>>> {
        self.origin.clone()
    }
}

/// Fragments that are done, and numbers of nodes.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    pub(super) done: Vec<Fragment>,
    next_id: u16,
}

impl Fragments {
    /// The number of a new node.
    pub(super) fn id(&mut self) -> u16 {
        self.next_id += 1;
        self.next_id
    }

    /// The rows that `from` sends.
    pub(super) fn input(
        &mut self,
        from: Upstream,
        exchange: Exchange,
        schema: SchemaRef,
        append_only: bool,
        key: Option<Vec<usize>>,
    ) -> Stream {
        let node = Node {
            id: self.id(),
            kind: NodeKind::Input(0),
            inputs: Vec::new(),
            schema: Arc::clone(&schema),
            append_only,
        };
        let origin = (0..schema.fields().len()).map(Some).collect();
        let spread = spread_of(&exchange);
        let inputs = vec![Input { from, exchange, schema }];
        Stream { inputs, nodes: vec![node], spread, key, origin: Some(origin) }
    }

    /// `stream` with its rows spread by the hash of `columns`; none: all in one actor.
    pub(super) fn hashed(&mut self, stream: Stream, columns: &[usize]) -> Stream {
        let wanted = match columns {
            [] => Spread::Single,
            columns => Spread::Hash(columns.to_vec()),
        };
        if stream.spread == wanted { stream } else { self.spread(stream, wanted) }
    }

    /// `stream` with its rows spread as `wanted`, through an exchange.
    pub(super) fn spread(&mut self, mut stream: Stream, wanted: Spread) -> Stream {
        if let Some(exchange) = self.at_input(&stream, &wanted) {
            stream.inputs[0].exchange = exchange;
            stream.spread = wanted;
            return stream;
        }
        let (schema, append_only) = (Arc::clone(stream.schema()), stream.append_only());
        let key = stream.key.clone();
        let exchange = match &wanted {
            Spread::Single => Exchange::Single,
            Spread::Hash(columns) => Exchange::Hash(columns.clone()),
            Spread::Any => Exchange::Spread,
        };
        let from = Upstream::Fragment(self.close(stream));
        self.input(from, exchange, schema, append_only, key)
    }

    /// The exchange of the only input that spreads the rows as wanted, if maps leave it that.
    fn at_input(&self, stream: &Stream, wanted: &Spread) -> Option<Exchange> {
        let origin = stream.origin.as_ref()?;
        match wanted {
            Spread::Single => Some(Exchange::Single),
            Spread::Any => Some(Exchange::Spread),
            Spread::Hash(columns) => {
                let columns = columns.iter().map(|column| origin[*column]);
                columns.collect::<Option<Vec<_>>>().map(Exchange::Hash)
            }
        }
    }

    /// Ends the fragment of `stream`, and returns its index.
    pub(super) fn close(&mut self, stream: Stream) -> usize {
        let distribution = match stream.spread {
            Spread::Single => Distribution::Single,
            Spread::Hash(_) | Spread::Any => Distribution::Hash,
        };
        self.done.push(Fragment { inputs: stream.inputs, nodes: stream.nodes, distribution });
        self.done.len() - 1
    }

    /// Several streams in one fragment under a new root. They are spread over the same actors: all
    /// single, or none.
    pub(super) fn merge(
        &mut self,
        streams: Vec<Stream>,
        kind: NodeKind,
        schema: SchemaRef,
        append_only: bool,
        spread: Spread,
        key: Option<Vec<usize>>,
    ) -> Stream {
        let (mut inputs, mut nodes, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        for stream in streams {
            let (first_input, first_node) = (inputs.len(), nodes.len());
            for mut node in stream.nodes {
                if let NodeKind::Input(port) = &mut node.kind {
                    *port += first_input;
                }
                for input in &mut node.inputs {
                    *input += first_node;
                }
                nodes.push(node);
            }
            inputs.extend(stream.inputs);
            roots.push(nodes.len() - 1);
        }
        nodes.push(Node { id: self.id(), kind, inputs: roots, schema, append_only });
        Stream { inputs, nodes, spread, key, origin: None }
    }
}

fn spread_of(exchange: &Exchange) -> Spread {
    match exchange {
        Exchange::Single => Spread::Single,
        Exchange::Hash(columns) => Spread::Hash(columns.clone()),
        Exchange::Spread => Spread::Any,
    }
}
