"""SQLAlchemy and pandas: the ORM, reflection of everything, to_sql and read_sql."""

import datetime
import decimal
import sys
import warnings

import pandas
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from steps import URL, refused, step

warnings.simplefilter("ignore")
driver = sys.argv[1]
# docs: connect
engine = sa.create_engine(URL.replace("postgres://", f"postgresql+{driver}://"))


class Base(DeclarativeBase):
    pass


class Payment(Base):
    __tablename__ = "bill"
    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    account: Mapped[str | None]
    amount: Mapped[decimal.Decimal] = mapped_column(sa.Numeric(12, 2))
    at: Mapped[datetime.datetime | None]
    tags: Mapped[list[str] | None] = mapped_column(postgresql.ARRAY(sa.Text))
    about: Mapped[dict | None] = mapped_column(postgresql.JSONB)


Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add_all([
        Payment(id=1, account="ada", amount=10.5, tags=["a", "b"], about={"k": 1}),
        Payment(id=2, account="bob", amount=3, at=datetime.datetime(2026, 2, 28, 12)),
    ])
    session.commit()
# docs: end


class Ticket(Base):
    __tablename__ = "ticket"
    id: Mapped[int] = mapped_column(primary_key=True)
    turn: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(start=10))
    what: Mapped[str]


@step
def generated():
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        tickets = [Ticket(what="one"), Ticket(what="two")]
        session.add_all(tickets)
        session.commit()
        ids = [(ticket.id, ticket.turn) for ticket in tickets]
        drawn = session.execute(sa.Sequence("ticket_id_seq"))
        inserted = session.execute(sa.insert(Ticket).values(what="three"))
        session.commit()
        return ids, drawn, inserted.inserted_primary_key


@step
def orm():
    with Session(engine) as session:
        bob = session.scalars(sa.select(Payment).where(Payment.account == "bob")).one()
        bob.amount += 1
        session.commit()
        session.delete(session.get(Payment, 1))
        session.flush()
        left = session.scalars(sa.select(Payment.amount)).all()
        session.rollback()
        rows = session.execute(sa.select(Payment.id, Payment.tags, Payment.about, Payment.at))
        return left, sorted(map(tuple, rows), key=str)


@step
def queries():
    with engine.connect() as connection:
        grouped = sa.select(Payment.account, sa.func.sum(Payment.amount)).group_by(Payment.account)
        chosen = sa.select(Payment.id).where(Payment.id.in_([1, 2])).order_by(Payment.id).limit(1)
        paged = sa.select(Payment.id).order_by(Payment.id.desc()).offset(1)
        like = sa.select(sa.func.count()).where(Payment.account.ilike("%D%"))
        case = sa.select(sa.case((Payment.amount > 5, "big"), else_="small")).order_by(Payment.id)
        return [
            [tuple(row) for row in connection.execute(query).all()]
            for query in (grouped.order_by(Payment.account), chosen, paged, like, case)
        ]


@step
def upsert():
    insert = postgresql.insert(Payment).values(id=1, account="ada", amount=1)
    insert = insert.on_conflict_do_update(
        index_elements=["id"], set_={"amount": insert.excluded.amount}
    ).returning(Payment.id, Payment.amount)
    with engine.begin() as connection:
        return connection.execute(insert).all()


@step
def many():
    with engine.begin() as connection:
        rows = [{"id": n, "account": "eve", "amount": n} for n in range(100, 400)]
        connection.execute(sa.insert(Payment), rows)
        return connection.scalar(sa.select(sa.func.sum(Payment.amount)))


@step
def streamed():
    with engine.connect().execution_options(stream_results=True, yield_per=50) as connection:
        return sum(row.id for row in connection.execute(sa.select(Payment.id)))


@step
def nested():
    with Session(engine) as session:
        session.begin()
        try:
            with session.begin_nested():
                session.execute(sa.text("SELECT 1/0"))
        except sa.exc.DBAPIError as error:
            caught = type(error).__name__
        return caught, session.scalar(sa.text("SELECT 1"))


@step
def isolation():
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        return connection.get_isolation_level(), connection.default_isolation_level


with engine.begin() as connection:
    for statement in """
        CREATE TABLE parts
            (id int PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'none', n numeric(8,2));
        CREATE INDEX parts_by_name ON parts (name, n DESC);
        CREATE TABLE pairs (a int, b text, at timestamptz, PRIMARY KEY (b, a));
        CREATE VIEW cheap AS SELECT id, name FROM parts WHERE n < 1;
        CREATE TABLE boxes (w int, h int, area int GENERATED ALWAYS AS (w * h) STORED);
        COMMENT ON TABLE parts IS 'what we sell';
        COMMENT ON COLUMN parts.name IS 'as printed';
        CREATE SCHEMA store;
        CREATE TABLE store.shelves (id bigint, wide boolean, d date, j jsonb, u uuid, a int[]);
        """.split(";"):
        if statement.strip():
            connection.exec_driver_sql(statement)

inspector = sa.inspect(engine)


@step
def names():
    return (
        {"public", "store", "information_schema"} <= set(inspector.get_schema_names()),
        sorted(inspector.get_table_names()),
        inspector.get_table_names("store"),
        "cheap" in inspector.get_view_names(),
        inspector.has_table("parts"),
        inspector.has_table("nosuch"),
        inspector.has_schema("store"),
    )


@step
def columns():
    out = []
    for table in ("parts", "pairs", "boxes", "cheap", "bill"):
        for column in inspector.get_columns(table):
            # PostgreSQL writes expressions anew, Weir keeps them as they were written.
            for key in ("default", "computed"):
                column[key] = bool(column.get(key))
            out.append((table, *((key, str(value)) for key, value in sorted(column.items()))))
    for column in inspector.get_columns("shelves", schema="store"):
        out.append((column["name"], str(column["type"])))
    return "\n".join(map(str, out))


@step
def constraints():
    return [
        (
            inspector.get_pk_constraint(table),
            inspector.get_indexes(table),
            inspector.get_unique_constraints(table),
            inspector.get_foreign_keys(table),
            inspector.get_check_constraints(table),
            inspector.get_table_comment(table),
        )
        for table in ("parts", "pairs")
    ]


@step
def definitions():
    return (
        inspector.get_view_definition("cheap").lstrip().startswith("SELECT"),
        inspector.get_enums(),
        inspector.get_sequence_names(),
        inspector.default_schema_name,
    )


@step
def everything():
    multi = [
        method(kind=sa.engine.reflection.ObjectKind.ANY)
        for method in (
            inspector.get_multi_columns,
            inspector.get_multi_pk_constraint,
            inspector.get_multi_foreign_keys,
            inspector.get_multi_indexes,
            inspector.get_multi_unique_constraints,
            inspector.get_multi_check_constraints,
            inspector.get_multi_table_comment,
            inspector.get_multi_table_options,
        )
    ]
    return [sorted(str(key) for key in one) for one in multi]


@step
def reflected():
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True, schema=None)
    return sorted(
        (table.name, [f"{c.name} {c.type} {c.nullable} {c.primary_key}" for c in table.columns])
        for table in metadata.tables.values()
        if table.name != "balance"
    )


@step
def frames():
    # docs: pandas
    frame = pandas.DataFrame({
        "id": [1, 2, 3],
        "name": ["a", None, "c"],
        "price": [1.5, 2.5, None],
        "at": pandas.to_datetime(["2026-01-01", "2026-01-02", None]),
        "ok": [True, False, True],
    })
    frame.to_sql("frames", engine, index=False, if_exists="replace", method="multi")
    back = pandas.read_sql("SELECT * FROM frames ORDER BY id", engine)
    # docs: end
    frame.to_sql("frames", engine, index=False, if_exists="append", chunksize=2)
    frame.to_sql("indexed", engine, index=True, index_label="k", if_exists="replace")
    frame.to_sql("indexed", engine, index=True, index_label="k", if_exists="replace")
    table = pandas.read_sql_table("indexed", engine)
    chunks = sum(len(c) for c in pandas.read_sql_query("SELECT * FROM frames", engine, chunksize=2))
    return back.to_dict("list"), back.dtypes.astype(str).to_dict(), len(table), chunks


@step
def drops():
    Base.metadata.drop_all(engine)
    return sa.inspect(engine).has_table("bill")
