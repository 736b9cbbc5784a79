CREATE VIEW parts AS SELECT part, sum(n) AS n FROM orders GROUP BY part;
