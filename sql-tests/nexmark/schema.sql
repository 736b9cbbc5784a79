CREATE TABLE person (
    id bigint,
    name varchar,
    email_address varchar,
    credit_card varchar,
    city varchar,
    state varchar,
    date_time timestamp,
    extra varchar
);
CREATE TABLE auction (
    id bigint,
    item_name varchar,
    description varchar,
    initial_bid bigint,
    reserve bigint,
    date_time timestamp,
    expires timestamp,
    seller bigint,
    category bigint,
    extra varchar
);
CREATE TABLE bid (
    auction bigint,
    bidder bigint,
    price bigint,
    channel varchar,
    url varchar,
    date_time timestamp,
    extra varchar
);
