CREATE TABLE orders (id bigint PRIMARY KEY, part text NOT NULL, n int);
