CREATE DATABASE shop COMMENT 'Orders of a web shop';
CREATE DATABASE telemetry COMMENT 'Events and measurements of its machines';
CREATE DATABASE archive;
CREATE TABLE shop.customers (id UInt32, name String, country LowCardinality(String), joined_at DateTime)
ENGINE = ReplacingMergeTree(joined_at) ORDER BY id;
CREATE TABLE shop.orders
(
    id UInt64,
    customer_id UInt32,
    ordered_at DateTime CODEC(Delta, ZSTD),
    status LowCardinality(String),
    amount Decimal(12, 2),
    note String,
    INDEX amount_range amount TYPE minmax GRANULARITY 4,
    INDEX note_words note TYPE bloom_filter(0.01) GRANULARITY 8,
    PROJECTION by_country_day (SELECT toDate(ordered_at), status, sum(amount), count() GROUP BY toDate(ordered_at), status)
)
ENGINE = MergeTree PARTITION BY toYYYYMM(ordered_at) ORDER BY (customer_id, ordered_at);
CREATE TABLE shop.revenue_by_day (day Date, orders UInt64, revenue Decimal(18, 2))
ENGINE = SummingMergeTree ORDER BY day;
CREATE MATERIALIZED VIEW shop.revenue_by_day_from_orders TO shop.revenue_by_day AS
SELECT toDate(ordered_at) AS day, count() AS orders, sum(amount) AS revenue FROM shop.orders GROUP BY day;
CREATE VIEW shop.open_orders AS SELECT * FROM shop.orders WHERE status = 'open';
CREATE DICTIONARY shop.customer_countries (id UInt32, country String)
PRIMARY KEY id SOURCE(CLICKHOUSE(QUERY 'SELECT id, country FROM shop.customers')) LAYOUT(HASHED()) LIFETIME(MIN 300 MAX 600);
CREATE TABLE telemetry.events (at DateTime64(3), service LowCardinality(String), level LowCardinality(String), message String, attributes Map(String, String))
ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (service, at) TTL toDateTime(at) + INTERVAL 30 DAY;
CREATE TABLE telemetry.measurements (at DateTime, machine UInt16, name LowCardinality(String), value Float64)
ENGINE = MergeTree PARTITION BY toYYYYMM(at) ORDER BY (name, machine, at);
CREATE TABLE telemetry.small_inserts (at DateTime, value UInt32)
ENGINE = MergeTree PARTITION BY value % 60 ORDER BY at;
CREATE TABLE archive.orders AS shop.orders ENGINE = MergeTree PARTITION BY toYear(ordered_at) ORDER BY id;
CREATE TABLE archive.imports (line UInt32, text String, amount UInt32 DEFAULT 0) ENGINE = MergeTree ORDER BY line;
CREATE TABLE archive.scratch (key UInt64) ENGINE = Memory
