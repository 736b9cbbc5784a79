-- The tables of nycflights13, for Weir and for PostgreSQL.

CREATE TABLE airlines (
    carrier text PRIMARY KEY,
    name text NOT NULL
);

CREATE TABLE airports (
    faa text PRIMARY KEY,
    name text NOT NULL,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    alt int NOT NULL,
    tz int,
    dst text,
    tzone text
);

CREATE TABLE planes (
    tailnum text PRIMARY KEY,
    year int,
    type text,
    manufacturer text,
    model text,
    engines int,
    seats int,
    speed int,
    engine text
);

CREATE TABLE weather (
    origin text NOT NULL,
    year int NOT NULL,
    month int NOT NULL,
    day int NOT NULL,
    hour int NOT NULL,
    temp double precision,
    dewp double precision,
    humid double precision,
    wind_dir int,
    wind_speed double precision,
    wind_gust double precision,
    precip double precision,
    pressure double precision,
    visib double precision,
    time_hour timestamptz NOT NULL,
    PRIMARY KEY (origin, time_hour)
);

CREATE TABLE flights (
    year int NOT NULL,
    month int NOT NULL,
    day int NOT NULL,
    dep_time int,
    sched_dep_time int NOT NULL,
    dep_delay int,
    arr_time int,
    sched_arr_time int NOT NULL,
    arr_delay int,
    carrier text NOT NULL,
    flight int NOT NULL,
    tailnum text,
    origin text NOT NULL,
    dest text NOT NULL,
    air_time int,
    distance int NOT NULL,
    hour int NOT NULL,
    minute int NOT NULL,
    time_hour timestamptz NOT NULL,
    PRIMARY KEY (time_hour, carrier, flight)
);
