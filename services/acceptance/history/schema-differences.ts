/** A difference of two schemas: the statements that create the object on both sides, or null where it is missing. */
export interface SchemaDifferenceCase {
  name: string
  base: readonly string[]
  target: readonly string[]
}

const keep = 'ENGINE = MergeTree ORDER BY id'

/** Returns a case about a table. `{t}` stands for its name; each side is what follows it. */
const table = (name: string, base: string, target: string): SchemaDifferenceCase => {
  const create = (definition: string) => [`CREATE TABLE {t} ${definition}`]
  return { name, base: create(base), target: create(target) }
}

const columns = (name: string, base: string, target: string): SchemaDifferenceCase =>
  table(name, `(id UInt64, ${base}) ${keep}`, `(id UInt64, ${target}) ${keep}`)

const clauses = (name: string, base: string, target: string): SchemaDifferenceCase => {
  const list = '(id UInt64, a UInt32, day Date, text String) ENGINE ='
  return table(name, `${list} ${base}`, `${list} ${target}`)
}

const source = 'CREATE TABLE {t}_source (id UInt64, a UInt32, text String) ENGINE = MergeTree ORDER BY id'
const sink = 'CREATE TABLE {t}_sink (id UInt64, a UInt32) ENGINE = MergeTree ORDER BY id'
const dictionary = (layout: string, attributes: string) =>
  `CREATE DICTIONARY {t} (id UInt64, ${attributes}) PRIMARY KEY id SOURCE(CLICKHOUSE(TABLE '{n}_source' DB '{d}')) LAYOUT(${layout}) LIFETIME(MIN 0 MAX 300)`

/** Differences of every kind. Each has a table of its own. */
export const schemaDifferenceCases: readonly SchemaDifferenceCase[] = [
  columns('a column is added at the end', 'a UInt32', 'a UInt32, b String'),
  columns('a column is added in the middle', 'a UInt32', 'b String, a UInt32'),
  columns('a column is removed', 'a UInt32, b String', 'b String'),
  columns('a type is widened', 'a UInt32', 'a UInt64'),
  columns('a type becomes Nullable', 'a UInt32', 'a Nullable(UInt32)'),
  columns('a type becomes LowCardinality', 'a String', 'a LowCardinality(String)'),
  columns('a default is added', 'a UInt32', 'a UInt32 DEFAULT id + 1'),
  columns('a default is removed', 'a UInt32 DEFAULT 7', 'a UInt32'),
  columns('a default becomes MATERIALIZED', 'a UInt32 DEFAULT 7', 'a UInt32 MATERIALIZED 7'),
  columns('a column becomes an ALIAS', 'a UInt64', 'a UInt64 ALIAS id * 2'),
  columns('an EPHEMERAL column is added', 'a UInt64', 'e String EPHEMERAL, a UInt64 DEFAULT length(e)'),
  columns('a codec is added', 'a UInt32', 'a UInt32 CODEC(Delta(4), ZSTD(3))'),
  columns('a codec is removed', 'a UInt32 CODEC(ZSTD(3))', 'a UInt32'),
  columns('a TTL of a column is added', 'day Date, a UInt32', 'day Date, a UInt32 TTL day + toIntervalDay(9)'),
  columns('a TTL of a column is removed', 'day Date, a UInt32 TTL day + toIntervalDay(9)', 'day Date, a UInt32'),
  columns('a comment of a column is changed', "a UInt32 COMMENT 'old'", String.raw`a UInt32 COMMENT 'it\'s new'`),
  columns('a comment of a column is removed', "a UInt32 COMMENT 'old'", 'a UInt32'),
  columns('columns change their order', 'a UInt32, b String, c Date', 'c Date, a UInt32, b String'),
  columns('names need quotes', '`a b` UInt32, `c``d` String', '`a b` UInt64, `e(` Date, `c``d` String'),
  columns('an Enum has more values', "a Enum8('x' = 1)", "a Enum8('x' = 1, 'y' = 2)"),
  columns('a skip index is added', 'a UInt32', 'a UInt32, INDEX ix a TYPE minmax GRANULARITY 4'),
  columns('a skip index is removed', 'a UInt32, INDEX ix a TYPE minmax GRANULARITY 4', 'a UInt32'),
  columns(
    'a skip index is changed',
    'a UInt32, INDEX ix a TYPE minmax GRANULARITY 4',
    'a UInt32, INDEX ix a TYPE set(100) GRANULARITY 2',
  ),
  columns('a projection is added', 'a UInt32', 'a UInt32, PROJECTION p (SELECT a, count() GROUP BY a)'),
  columns('a projection is removed', 'a UInt32, PROJECTION p (SELECT a, id ORDER BY a)', 'a UInt32'),
  columns('a constraint is added', 'a UInt32', 'a UInt32, CONSTRAINT c CHECK a > 0'),
  columns('a constraint is changed', 'a UInt32, CONSTRAINT c CHECK a < 9', 'a UInt32, CONSTRAINT c ASSUME a < 8'),
  table(
    'ORDER BY has a new column',
    '(id UInt64, a UInt32) ENGINE = MergeTree ORDER BY id',
    '(id UInt64, z UInt8, a UInt32) ENGINE = MergeTree PRIMARY KEY id ORDER BY (id, z)',
  ),
  clauses('ORDER BY is different', 'MergeTree ORDER BY id', 'MergeTree ORDER BY (a, id)'),
  clauses('PRIMARY KEY is different', 'MergeTree ORDER BY (id, a)', 'MergeTree PRIMARY KEY id ORDER BY (id, a)'),
  clauses(
    'PARTITION BY is different',
    'MergeTree PARTITION BY toYYYYMM(day) ORDER BY id',
    'MergeTree PARTITION BY toMonday(day) ORDER BY id',
  ),
  clauses('the engine is different', 'MergeTree ORDER BY id', 'ReplacingMergeTree(a) ORDER BY id'),
  clauses('SAMPLE BY is added', 'MergeTree ORDER BY (day, id)', 'MergeTree ORDER BY (day, id) SAMPLE BY id'),
  clauses('TTL is added', 'MergeTree ORDER BY id', 'MergeTree ORDER BY id TTL day + toIntervalMonth(3)'),
  clauses(
    'TTL is changed',
    'MergeTree ORDER BY id TTL day + toIntervalMonth(3)',
    'MergeTree ORDER BY id TTL day + toIntervalYear(1) DELETE WHERE a > 3',
  ),
  clauses('TTL is removed', 'MergeTree ORDER BY id TTL day + toIntervalMonth(3)', 'MergeTree ORDER BY id'),
  clauses(
    'settings are changed and added',
    'MergeTree ORDER BY id SETTINGS merge_with_ttl_timeout = 7200',
    'MergeTree ORDER BY id SETTINGS merge_with_ttl_timeout = 3600, parts_to_throw_insert = 5000',
  ),
  clauses(
    'a setting is removed',
    'MergeTree ORDER BY id SETTINGS parts_to_throw_insert = 5000',
    'MergeTree ORDER BY id',
  ),
  clauses(
    'a setting that ALTER cannot change differs',
    'MergeTree ORDER BY id',
    'MergeTree ORDER BY id SETTINGS index_granularity = 1024',
  ),
  clauses('the comment is changed', "MergeTree ORDER BY id COMMENT 'old'", "MergeTree ORDER BY id COMMENT 'new'"),
  clauses('a Distributed table is different', "Distributed('x', '{d}', 'a')", "Distributed('x', '{d}', 'b', a)"),
  clauses('a table of the Log family differs', 'Log', 'TinyLog'),
  { name: 'a table is missing', base: [], target: [`CREATE TABLE {t} (id UInt64) ${keep}`] },
  { name: 'a table is removed', base: [`CREATE TABLE {t} (id UInt64) ${keep}`], target: [] },
  {
    name: 'a view is changed',
    base: [source, 'CREATE VIEW {t} AS SELECT id FROM {t}_source'],
    target: [source, 'CREATE VIEW {t} AS SELECT id, text FROM {t}_source WHERE a > 0'],
  },
  { name: 'a view is missing', base: [source], target: [source, 'CREATE VIEW {t} AS SELECT id FROM {t}_source'] },
  {
    name: 'views that read each other are missing',
    base: [source],
    target: [source, 'CREATE VIEW {t}_z AS SELECT id FROM {t}_source', 'CREATE VIEW {t} AS SELECT id FROM {t}_z'],
  },
  { name: 'a view is removed', base: [source, 'CREATE VIEW {t} AS SELECT id FROM {t}_source'], target: [source] },
  {
    name: 'the query of a materialized view is changed',
    base: [source, sink, 'CREATE MATERIALIZED VIEW {t} TO {t}_sink AS SELECT id, a FROM {t}_source'],
    target: [source, sink, 'CREATE MATERIALIZED VIEW {t} TO {t}_sink AS SELECT id, a FROM {t}_source WHERE a > 1'],
  },
  {
    name: 'the columns of a materialized view are changed',
    base: [source, 'CREATE MATERIALIZED VIEW {t} ENGINE = MergeTree ORDER BY id AS SELECT id FROM {t}_source'],
    target: [source, 'CREATE MATERIALIZED VIEW {t} ENGINE = MergeTree ORDER BY id AS SELECT id, a FROM {t}_source'],
  },
  {
    name: 'a materialized view and its table are missing',
    base: [source],
    target: [source, sink, 'CREATE MATERIALIZED VIEW {t} TO {t}_sink AS SELECT id, a FROM {t}_source'],
  },
  {
    name: 'a table becomes a view',
    base: [source, `CREATE TABLE {t} (id UInt64) ${keep}`],
    target: [source, 'CREATE VIEW {t} AS SELECT id FROM {t}_source'],
  },
  {
    name: 'a dictionary is changed',
    base: [source, dictionary('FLAT()', "text String DEFAULT ''")],
    target: [source, dictionary('HASHED()', "text String DEFAULT '', a UInt32 DEFAULT 0")],
  },
  { name: 'a dictionary is missing', base: [source], target: [source, dictionary('FLAT()', "text String DEFAULT ''")] },
  {
    name: 'a table whose default reads a missing dictionary is missing',
    base: [source],
    target: [
      source,
      dictionary('FLAT()', "text String DEFAULT ''"),
      `CREATE TABLE {t}_reader (id UInt64, text String DEFAULT dictGet('{d}.{n}', 'text', id)) ${keep}`,
    ],
  },
  { name: 'a dictionary is removed', base: [source, dictionary('FLAT()', "text String DEFAULT ''")], target: [source] },
  {
    name: 'a database is missing',
    base: [],
    target: ['CREATE DATABASE {d}_{n}', `CREATE TABLE {d}_{n}.t (id UInt64) ${keep}`],
  },
  {
    name: 'a database is removed',
    base: ['CREATE DATABASE {d}_{n}', `CREATE TABLE {d}_{n}.t (id UInt64) ${keep}`],
    target: [],
  },
]
