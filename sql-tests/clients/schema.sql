-- What every client's script finds. On PostgreSQL the view is a plain one.
CREATE TABLE payment (id bigint PRIMARY KEY, account text, amount numeric(12,2));
CREATE MATERIALIZED VIEW balance AS
    SELECT account, count(*) AS payments, sum(amount) AS total FROM payment GROUP BY account;
