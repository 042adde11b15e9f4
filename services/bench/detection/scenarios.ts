import type { HostHistory } from './seed.ts'

/** A scenario with its expected insights, each as `<kind> <subject>`. */
export interface ExpectedScenario extends HostHistory {
  name: string
  expected: readonly string[]
}

const table = (name: string, rest: string): string =>
  `CREATE TABLE shop.${name} (n UInt64, at DateTime) ENGINE = MergeTree ${rest}`
const drop = (name: string): string[] => [`DROP TABLE shop.${name} SYNC`]
const manyParts = (count: number): string[] => [
  table('crumbs', 'ORDER BY n'),
  'SYSTEM STOP MERGES shop.crumbs',
  `INSERT INTO shop.crumbs SELECT number, now() FROM numbers(${count}) SETTINGS max_block_size = 1, min_insert_block_size_rows = 1, min_insert_block_size_bytes = 1`,
]
const detached = (count: number): string[] => [
  table('aside', 'PARTITION BY n ORDER BY at'),
  `INSERT INTO shop.aside SELECT number, now() FROM numbers(${count})`,
  ...Array.from({ length: count }, (_, n) => `ALTER TABLE shop.aside DETACH PARTITION ${n}`),
]
const mutated = (set: string): string[] => [
  'CREATE TABLE shop.changed (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
  'INSERT INTO shop.changed VALUES (1, 1)',
  `ALTER TABLE shop.changed UPDATE v = ${set} WHERE 1 SETTINGS mutations_sync = 0`,
]

/** Scenarios in which the detectors must report insights. */
const incidents: readonly ExpectedScenario[] = [
  { name: '40 % fail in the last hour', failing: 'if(hour = 0, 40, 1)', expected: ['error-rate '] },
  { name: '25 % fail in the last hour', failing: 'if(hour = 0, 25, 1)', expected: ['error-rate '] },
  { name: '30 % fail where 5 % usually do', failing: 'if(hour = 0, 30, 5)', expected: ['error-rate '] },
  { name: 'eight times as slow for an hour', slower: 'if(hour = 0, 8, 1)', expected: ['p95-duration '] },
  { name: 'five times as slow for an hour', slower: 'if(hour = 0, 5, 1)', expected: ['p95-duration '] },
  { name: 'slow, with a history of four days', hours: 96, slower: 'if(hour = 0, 8, 1)', expected: ['p95-duration '] },
  { name: 'ten times the memory', memory: 'if(hour = 0, 10, 1)', expected: ['peak-memory '] },
  { name: 'three times the memory', memory: 'if(hour = 0, 4, 1)', expected: ['peak-memory '] },
  { name: 'a new code', code: 'if(hour < 20, 241, 60)', failing: '2', expected: ['new-error-code 241'] },
  {
    name: 'another new code',
    code: 'if(hour < 10 AND hash % 2 = 0, 159, 60)',
    failing: '4',
    expected: ['new-error-code 159'],
  },
  {
    name: 'a new pattern takes most of the time',
    pattern: 'if(hour BETWEEN 3 AND 12 AND number % 4 = 0, 9, number % 2)',
    expected: ['new-pattern 49'],
  },
  {
    name: 'one pattern is slower for a day',
    slower: 'if(hour BETWEEN 1 AND 23 AND pattern = 1, 6, 1)',
    expected: ['pattern-regression 41'],
  },
  {
    name: 'one pattern is slower until now',
    slower: 'if(hour < 24 AND pattern = 1, 6, 1)',
    expected: ['p95-duration ', 'pattern-regression 41'],
  },
  { name: 'inserts have stopped', events: 'hour > 0', expected: ['insert-stopped shop.events'] },
  { name: 'inserts stopped five hours ago', events: 'hour > 5', expected: ['insert-stopped shop.events'] },
  { name: 'a disk fills in ten days', used: '850 - hour * 0.6', expected: ['disk-full data'] },
  { name: 'a disk fills in three days', used: '930 - hour * 0.9', expected: ['disk-full data'] },
  {
    name: 'a disk fills again after a deletion',
    used: 'if(hour > 120, 960, 900 - hour * 1.5)',
    expected: ['disk-full data'],
  },
  { name: 'parts grow towards the limit', parts: '2500 - hour * 60', expected: ['parts-refused '] },
  { name: 'many parts', also: manyParts(320), after: drop('crumbs'), expected: ['fragmentation shop.crumbs'] },
  { name: 'parts put aside', also: detached(12), after: drop('aside'), expected: ['detached-parts shop.aside'] },
  {
    name: 'a mutation that fails',
    also: [...mutated('throwIf(n > 0)'), 'SELECT sleep(2)'],
    after: drop('changed'),
    expected: ['stuck-mutation shop.changed mutation_2.txt'],
  },
  {
    name: 'a TTL that is not carried out',
    also: [
      'CREATE TABLE shop.expiring (n UInt64, at DateTime) ENGINE = MergeTree ORDER BY n TTL at + INTERVAL 1 DAY',
      'SYSTEM STOP TTL MERGES shop.expiring',
      'INSERT INTO shop.expiring SELECT number, now() - INTERVAL 9 DAY FROM numbers(1000)',
    ],
    after: drop('expiring'),
    expected: ['ttl-health shop.expiring'],
  },
  {
    name: 'a dictionary that lost its source',
    also: [
      table('countries', 'ORDER BY n'),
      "CREATE DICTIONARY shop.names (n UInt64, at DateTime) PRIMARY KEY n SOURCE(CLICKHOUSE(DB 'shop' TABLE 'countries')) LAYOUT(FLAT()) LIFETIME(0)",
      'SYSTEM RELOAD DICTIONARY shop.names',
      'ALTER TABLE shop.countries RENAME COLUMN at TO until',
    ],
    refused: ['SYSTEM RELOAD DICTIONARY shop.names'],
    after: ['DROP DICTIONARY shop.names', ...drop('countries')],
    expected: ['failed-dictionary shop.names'],
  },
  {
    name: 'a gibibyte of noise',
    also: [
      'CREATE TABLE shop.noise (s String) ENGINE = MergeTree ORDER BY tuple()',
      'INSERT INTO shop.noise SELECT randomString(1048576) FROM numbers(1100) SETTINGS max_block_size = 64',
    ],
    after: drop('noise'),
    expected: ['compression shop.noise'],
  },
  {
    name: 'an outage',
    failing: 'if(hour = 0, 60, 1)',
    slower: 'if(hour = 0, 20, 1)',
    events: 'hour > 0',
    expected: ['error-rate ', 'insert-stopped shop.events', 'p95-duration '],
  },
]

/** Scenarios in which the detectors must report nothing. */
const quiet: readonly ExpectedScenario[] = [
  { name: 'an ordinary fortnight' },
  { name: 'another fortnight' },
  { name: 'three times as many statements', calls: 120 },
  { name: 'few statements', calls: 6 },
  { name: 'five in a hundred always fail', failing: '5' },
  { name: 'slow at this hour on every day', slower: 'if(hour % 24 IN (0, 1, 23), 10, 1)' },
  { name: 'a history of a day', hours: 24, slower: 'if(hour = 0, 8, 1)', memory: 'if(hour = 0, 10, 1)' },
  { name: 'a fifth slower', slower: 'if(hour = 0, 1.2, 1)' },
  { name: 'more memory, within the usual', memory: 'if(hour = 0, 1.2, 1)' },
  { name: 'a table that is filled at night', events: 'hour % 24 BETWEEN 8 AND 12' },
  { name: 'a disk that grows for a year', used: '300 - hour * 0.05' },
  { name: 'a disk that is emptied each week', used: '400 - (hour % 168) * 1.5' },
  { name: 'parts that are merged at night', parts: '300 + 200 * sin(hour / 24 * 6.2832)' },
  { name: 'a mutation that ends', also: [...mutated('2'), 'SELECT sleep(2)'], after: drop('changed') },
  { name: 'some parts', also: manyParts(50), after: drop('crumbs') },
].map((scenario) => ({ ...scenario, expected: [] }))

/** Statements that create the tables of every scenario. */
export const tableStatements = ['CREATE DATABASE shop', table('orders', 'ORDER BY n'), table('events', 'ORDER BY n')]
/** All scenarios, with and without insights. */
export const scenarios: readonly ExpectedScenario[] = [...incidents, ...quiet]
