-- What the statements of this folder are asked about, on PostgreSQL and on Weir. Views are written
-- as PostgreSQL writes them back, since Weir keeps a query's text as it is, and so that none could
-- be written through.

CREATE ROLE catalog_clerk LOGIN;
CREATE ROLE catalog_boss CREATEDB CREATEROLE;
GRANT catalog_clerk TO catalog_boss;

CREATE SCHEMA shop;
CREATE SCHEMA "Odd Names";

CREATE TABLE customer (
    id integer PRIMARY KEY,
    name varchar(40) NOT NULL,
    email text,
    since date DEFAULT '2020-01-31',
    active boolean NOT NULL DEFAULT true,
    kind char(3) DEFAULT 'new',
    score smallint DEFAULT -1
);
CREATE TABLE orders (
    id bigint PRIMARY KEY,
    customer integer NOT NULL,
    placed timestamp with time zone NOT NULL DEFAULT now(),
    total numeric(12,2) NOT NULL DEFAULT 0,
    status varchar(10) NOT NULL DEFAULT 'open',
    lines jsonb,
    tags text[] DEFAULT '{}'
);
CREATE TABLE shop.order_line (
    order_id bigint,
    line smallint,
    product text NOT NULL,
    amount integer,
    price numeric,
    size integer GENERATED ALWAYS AS (abs(amount)) STORED,
    CONSTRAINT order_line_key PRIMARY KEY (order_id, line)
);
CREATE TABLE shop.every_type (
    a_boolean boolean, a_smallint smallint, an_integer integer, a_bigint bigint,
    a_real real, a_double double precision, a_numeric numeric, a_decimal numeric(8,3),
    a_text text, a_varchar varchar, a_varchar5 varchar(5), a_char char, a_char4 char(4),
    a_bytea bytea, a_date date, a_time time, a_timestamp timestamp, a_timestamptz timestamptz,
    an_interval interval, a_uuid uuid, a_json json, a_jsonb jsonb,
    integers integer[], texts text[], varchars varchar(7)[], numerics numeric(6,1)[], times timestamp[]
);
CREATE TABLE "Odd Names"."Table One" (
    "Id" integer PRIMARY KEY, "select" text, "two words" text, "quo""te" text DEFAULT 'it''s'
);
CREATE TABLE log (at timestamp, line text);

CREATE UNIQUE INDEX customer_email ON customer (email);
CREATE INDEX orders_by_customer ON orders (customer, placed DESC);
CREATE INDEX ON orders (status) INCLUDE (total);
CREATE INDEX "Odd Index" ON "Odd Names"."Table One" ("two words" DESC NULLS LAST, "select" NULLS FIRST);

CREATE VIEW active_customer AS
 SELECT DISTINCT customer.id,
    customer.name,
    customer.kind
   FROM customer
  WHERE customer.active;
CREATE VIEW shop.priced AS
 SELECT order_line.order_id,
    order_line.price
   FROM shop.order_line
  GROUP BY order_line.order_id, order_line.price;
CREATE MATERIALIZED VIEW turnover AS
 SELECT orders.customer,
    count(*) AS orders,
    max(orders.placed) AS last
   FROM orders
  GROUP BY orders.customer;
CREATE INDEX turnover_by_orders ON turnover (orders DESC);

CREATE FUNCTION gross(price numeric, rate numeric DEFAULT 0.19) RETURNS numeric
    LANGUAGE sql IMMUTABLE AS 'SELECT price * (1 + rate)';
CREATE FUNCTION shop.numbers(up_to integer) RETURNS TABLE (n integer, square integer)
    LANGUAGE sql STABLE AS 'SELECT 1, up_to';
CREATE FUNCTION shop.answer() RETURNS integer LANGUAGE sql STRICT AS 'SELECT 42';

COMMENT ON SCHEMA shop IS 'What is sold';
COMMENT ON TABLE customer IS 'Who buys';
COMMENT ON COLUMN customer.email IS 'Where it''s sent';
COMMENT ON COLUMN customer.since IS 'First order';
COMMENT ON VIEW active_customer IS 'Who still buys';
COMMENT ON MATERIALIZED VIEW turnover IS 'By customer';

GRANT USAGE ON SCHEMA shop TO catalog_clerk;
GRANT SELECT, INSERT ON orders TO catalog_clerk;
GRANT SELECT ON active_customer TO PUBLIC;
GRANT UPDATE ON customer TO catalog_clerk WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO catalog_clerk;
