import { describe, expect, it } from 'vitest'
import { createFigureClaims, type FigureClaim } from '../testing/figure-claims.ts'
import { extractFigures } from './figures.ts'
import { readTables } from './result-cells.ts'
import { findUntracedFigures } from './trace-figures.ts'

type Result = Pick<FigureClaim, 'sql' | 'columns' | 'rows'>

const trace = ({ sql, columns, rows }: Result, claim: string, question = '') => {
  const names = columns.map((name) => ({ name, type: 'String' }))
  const value = { columns: names, rows, truncated: null, rowsRead: 7, durationMs: 3 }
  const summary = extractFigures(rows.length === 1 ? '1 row, complete.' : `${rows.length} rows, complete.`)
  const result = { tables: readTables(value, true), summary, rowCounts: [rows.length], request: `query\n${sql}\n{}` }
  return findUntracedFigures(claim, { results: [result], question })
}

const five: Result = { sql: 'SELECT 5', columns: ['5'], rows: [[5]] }
const parts: Result = {
  sql: 'SELECT database, table, count() AS parts, sum(rows) AS rows, sum(bytes_on_disk) AS bytes_on_disk FROM system.parts WHERE active AND modification_time > now() - INTERVAL 24 HOUR GROUP BY database, table HAVING parts > 30',
  columns: ['database', 'table', 'parts', 'rows', 'bytes_on_disk'],
  rows: [
    ['shop', 'orders', 320, '1234567', '5368709120'],
    ['shop', 'lines', 120, '98765432', '161061273600'],
    ['logs', 'hits', 40, '4321', '1048576'],
  ],
}
const queries: Result = {
  sql: 'SELECT user, query, count() AS calls, avg(query_duration_ms) AS avg_duration_ms, max(memory_usage) AS memory_usage, formatReadableSize(sum(read_bytes)) AS read, exception FROM system.query_log WHERE event_time > now() - INTERVAL 1 HOUR GROUP BY user, query, exception',
  columns: ['user', 'query', 'calls', 'avg_duration_ms', 'memory_usage', 'read', 'exception'],
  rows: [
    ['reports', 'SELECT sum(amount) FROM orders', '42', 9312.48, '12884901888', '1.52 TiB', ''],
    [
      'etl',
      'INSERT INTO hits',
      '1800',
      80.2,
      '104857600',
      '3.10 GiB',
      'Memory limit (total) exceeded: would use 12.50 GiB, maximum: 10.00 GiB. Code: 241',
    ],
  ],
}
const disks: Result = {
  sql: 'SELECT name, free_space, total_space FROM system.disks',
  columns: ['name', 'free_space', 'total_space'],
  rows: [
    ['default', 214748364800, 1073741824000],
    ['cold', 3298534883328, 4398046511104],
  ],
}
const host: Result = {
  sql: 'SELECT hostName() AS host, version() AS version, uptime() AS uptime_seconds, formatReadableTimeDelta(uptime()) AS up',
  columns: ['host', 'version', 'uptime_seconds', 'up'],
  rows: [['ch-3', '25.8.1.5101', 266400, '3 days and 2 hours']],
}

const right: readonly (readonly [Result, string, string?])[] = [
  [five, 'There are 5 parts.'],
  [five, 'The answer is **5**.'],
  [five, 'Parts: 5'],
  [five, '- `5` parts'],
  [five, '1. There are 5 parts on host 3 in the version 25.8.1.'],
  [parts, '`shop.orders` has the most parts: 320.'],
  [parts, '| shop.orders | 320 | 1,234,567 | 5 GiB |'],
  [parts, 'orders has 320 active parts, lines has 120 and hits 40.'],
  [parts, 'orders holds 1 234 567 rows in 320 parts.'],
  [parts, 'orders holds 1.23M rows, about 5 GB on disk.'],
  [parts, 'lines is the largest table with 150 GiB and 98.8 million rows.'],
  [parts, 'lines takes 161.06 GB; hits only 1 MiB (1,048,576 bytes).'],
  [parts, 'The three tables have 480 parts in total.'],
  [parts, 'orders has 320 of 480 parts (66.7 %).'],
  [parts, 'orders has two thirds, 67%, of the parts.'],
  [parts, 'orders has 320 parts, 2.7 times as many as lines with 120.'],
  [parts, 'orders has 200 more parts than lines.'],
  [parts, 'On average a table has 160 parts.'],
  [parts, '320 / 480 = 66.7 % of the parts belong to orders.'],
  [parts, '320 + 120 + 40 = 480 parts.'],
  [parts, 'Parts per table range from 40 to 320.'],
  [parts, 'The tables have 40–320 parts.'],
  [parts, '3 tables have more than 30 parts.', 'Which tables have more than 30 parts?'],
  [parts, 'In the last 24 hours, orders gained the most parts (320).'],
  [parts, 'Two tables are in shop, and 2 databases are affected.'],
  [parts, 'Over 300 parts belong to orders.'],
  [parts, 'Nearly 100 million rows are in lines.'],
  [parts, '~1.2M rows are in orders.'],
  [parts, 'On 2026-11-27 at 08:30 UTC, t_2024 was no match, but `orders` had 320 parts.'],
  [parts, 'orders has 320 parts; the next table has 120.'],
  [parts, 'orders averages 3,858 rows per part: 1,234,567 rows in 320 parts.'],
  [parts, 'All three together use 155 GiB.'],
  [queries, 'The SELECT of reports ran 42 times and took 9.3 s on average.'],
  [queries, 'reports: 42 calls, 9,312 ms each, 12 GiB of memory.'],
  [queries, 'etl failed: it would use 12.5 GiB, but the limit is 10 GiB.'],
  [queries, 'etl failed with code 241 after 1,800 calls.'],
  [queries, 'reports read 1.52 TiB, etl 3.1 GiB.'],
  [queries, 'The queries of reports took 9.31 seconds on average, those of etl 80 ms.'],
  [queries, 'In the last hour the user etl ran 1.8k inserts.'],
  [queries, 'etl needs 100 MiB, reports 12,884,901,888 bytes.'],
  [queries, 'reports peaks at 12.9 GB.'],
  [queries, 'Two users ran 1,842 queries in total.'],
  [disks, 'The disk default is 80 % full.'],
  [disks, 'default has 200 GiB free of 1,000 GiB (20 % free).'],
  [disks, 'On cold, 3 TiB of 4 TiB are free, so 25 % is used.'],
  [disks, '800 GiB of default are used: 1000 GiB - 200 GiB = 800 GiB.'],
  [disks, 'Both disks have 5 TB in total, of which default has 1.07 TB.'],
  [disks, 'default has only 20.0% of its space left.'],
  [host, 'The host has been up for 3 days and 2 hours.'],
  [host, 'The host ch-3 runs 25.8.1.5101 and is up for 74 hours.'],
  [host, 'Its uptime is 266,400 s.'],
  [host, 'ClickHouse 25.8 on ch-3 started 3.1 days ago.'],
]

const wrong: readonly (readonly [Result, string, string[], string?])[] = [
  [five, '99999 parts.', ['99999']],
  [five, 'There is 1 part.', ['1']],
  [five, 'There are **99,999** parts.', ['99,999']],
  [five, 'There are `99999` parts.', ['99999']],
  [five, 'There are 99999parts.', ['99999']],
  [five, 'There are ninety-nine thousand parts.', ['ninety-nine thousand']],
  [five, 'There are three parts.', ['three']],
  [five, 'There are no parts.', ['no']],
  [five, 'parts: 99999', ['99999']],
  [five, '3–7 parts', ['3', '7']],
  [five, 'The statement returns 5 parts, 50 % of 10.', ['50 %', '10']],
  [five, 'Yes, there are 99999 parts.', ['99999'], 'Are there 99999 parts?'],
  [five, 'There are 2086.7 parts.', ['2086.7']],
  [five, '99999 / 5 = 20000', ['99999', '20000']],
  [five, 'A total of 2024.', ['2024']],
  [five, '1.234.567 rows', ['1.234.567']],
  [parts, 'orders has 120 parts.', ['120']],
  [parts, 'orders has 1,234,567 parts.', ['1,234,567']],
  [parts, 'orders has 320 of 440 parts.', ['440']],
  [parts, 'orders has 50 % of all parts.', ['50 %']],
  [parts, 'orders uses 50 GiB.', ['50 GiB']],
  [parts, 'orders uses 5 MiB.', ['5 MiB']],
  [parts, 'There are 3 parts.', ['3']],
  [parts, 'All tables have 320 parts in total.', ['320']],
  [parts, 'The largest number of parts is 120.', ['120']],
  [parts, '7 tables match.', ['7']],
  [parts, 'Over 400 parts belong to orders.', ['400']],
  [parts, '320 / 480 = 60 % of the parts belong to orders.', ['60 %']],
  [queries, 'reports took 9.3 ms on average.', ['9.3 ms']],
  [queries, 'etl would use 15 GiB.', ['15 GiB']],
  [disks, 'The disk default is 20 % full.', ['20 %']],
  [disks, 'default has 1,000 GiB free.', ['1,000 GiB']],
  [host, 'The host has been up for 5 days.', ['5 days']],
]

describe('the figures of a claim', () => {
  it.each(right.map(([result, claim, question]) => ({ result, claim, question })))(
    'follow in: $claim',
    ({ result, claim, question }) => {
      expect(trace(result, claim, question)).toEqual([])
    },
  )

  it.each(wrong.map(([result, claim, untraced, question]) => ({ result, claim, untraced, question })))(
    'do not follow in: $claim',
    ({ result, claim, untraced, question }) => {
      expect(trace(result, claim, question)).toEqual(untraced)
    },
  )

  it('do not follow from sums over a truncated list', () => {
    const tables = readTables(
      {
        partitions: [
          { table: 'a', parts: 1 },
          { table: 'b', parts: 2 },
        ],
      },
      false,
    )
    const results = [{ tables, summary: [], rowCounts: [50], request: 'get_table_parts' }]
    const sources = { results, question: '' }
    expect(findUntracedFigures('There are 3 parts in total.', sources)).toEqual(['3'])
    expect(findUntracedFigures('b has 2 parts.', sources)).toEqual([])
  })

  it.each([
    ['lines has 287 parts.', ['287']],
    ['orders is at 96 % of the limit (287 of 300 parts); inserts fail at 300.', []],
    ['Of these, 12 parts are unmerged.', []],
  ])('of a tool with a summary are traced in the row that a claim names: %s', (claim, untraced) => {
    const partitions = [
      { table: 'orders', parts: 287, unmerged: 12, limit: 300 },
      { table: 'lines', parts: 15, unmerged: 0, limit: 300 },
    ]
    const summary = extractFigures('Partition 202611 of orders has the most parts, 287; inserts fail at 300.')
    const results = [{ tables: readTables({ partitions }, true), summary, rowCounts: [2], request: 'get_table_parts' }]
    expect(findUntracedFigures(claim, { results, question: '' })).toEqual(untraced)
  })

  it('of 2,000 generated claims are recognised if right and rejected if wrong', () => {
    const claims = createFigureClaims(30, 2_000)
    const fill = (claim: FigureClaim, figure: string) => trace(claim, claim.text.replace('{}', figure))
    expect(claims.filter((claim) => fill(claim, claim.right).length > 0)).toEqual([])
    expect(claims.filter((claim) => fill(claim, claim.wrong).length === 0)).toEqual([])
  })
})

describe('the figures of a text', () => {
  it.each([
    ['1,234,567 rows and 5 GiB', ['1,234,567', '5 GiB']],
    ['from 3-5 s', ['3', '5 s']],
    ['1 h 20 min', ['1 h 20 min']],
    ['1h20m', ['1h 20m']],
    ['p99 of `t_2024` on host-3, shard 2: all_1_5_2', []],
    ['2026-11-27T08:00:00Z, 27 Nov 2026, 08:15, 10.0.0.1, v25.8', []],
    ['https://example.org/99 and the 3rd of 1. May', []],
    ['-5 and 120 × 4', ['-5', '120', '4']],
    ['eleven, twenty and 12 million', ['twenty', '12 million']],
    [
      'three dozen, twice as many, a third of 9 and half an hour',
      ['three dozen', 'twice', 'a third', '9', 'half an hour'],
    ],
    ['HTTP 500, HTTP status 404, a ratio of 10:1 and -5', ['10', '-5']],
    ['$5, (6), x=7, 8% and 9rows', ['5', '6', '7', '8%', '9']],
  ])('%j are %j', (text, figures) => {
    expect(extractFigures(text).map((figure) => figure.text)).toEqual(figures)
  })
})
