/** A claim about a generated result. `{}` stands for the figure that a test may falsify. */
export interface FigureClaim {
  /** The statement that returns the result. */
  sql: string
  columns: readonly string[]
  rows: readonly (readonly (string | number)[])[]
  text: string
  /** The true figure and the false one, in the same format. */
  right: string
  wrong: string
}

/** Returns a generator of numbers from 0 to 1 whose sequence depends only on the seed (mulberry32). */
const createRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Random = () => number
const pick = <T>(random: Random, list: readonly T[]): T => {
  const found = list[Math.floor(random() * list.length)]
  if (found === undefined) throw new Error('the list is empty')
  return found
}
const between = (random: Random, low: number, high: number): number => Math.floor(low + random() * (high - low + 1))
/** Returns an integer with a uniform logarithm, because sizes on hosts differ by orders of magnitude. */
const logBetween = (random: Random, low: number, high: number): number =>
  Math.round(Math.exp(Math.log(low) + random() * (Math.log(high) - Math.log(low))))

/** Creates claims about results with 1 to 20 rows, each with one true and one false figure. */
export const createFigureClaims = (seed: number, count: number): FigureClaim[] => {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => createClaim(random))
}

type Format = (value: number) => string
const group =
  (separator: string): Format =>
  (value) =>
    String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, separator)
const countFormats: readonly Format[] = [
  String,
  group(','),
  group(','),
  group('\u202F'),
  (value) => `**${group(',')(value)}**`,
]
const scaled =
  (divisor: number, decimals: number, unit: string): Format =>
  (value) =>
    `${(value / divisor).toFixed(decimals)}${unit}`
const largeFormats: readonly Format[] = [
  ...countFormats,
  (value) => (value < 1e6 ? scaled(1e3, 1, 'k')(value) : scaled(1e6, 2, ' million')(value)),
  (value) => (value < 1e6 ? scaled(1e3, 1, ' thousand')(value) : scaled(1e6, 2, 'M')(value)),
]
const formatBytes =
  (base: number, names: readonly string[]): Format =>
  (value) => {
    const step = Math.min(names.length - 1, Math.max(0, Math.floor(Math.log(Math.max(1, value)) / Math.log(base))))
    return step === 0 ? `${value} bytes` : scaled(base ** step, 2, ` ${names[step]}`)(value)
  }
const byteFormats: readonly Format[] = [
  formatBytes(1024, ['', 'KiB', 'MiB', 'GiB', 'TiB']),
  formatBytes(1000, ['', 'kB', 'MB', 'GB', 'TB']),
  (value) => `${group(',')(value)} bytes`,
]
const durationFormats: readonly Format[] = [
  (value) => `${value} ms`,
  (value) => (value < 1_000 ? `${value}ms` : scaled(1_000, 2, ' s')(value)),
  (value) => (value < 60_000 ? scaled(1_000, 1, ' seconds')(value) : scaled(60_000, 1, ' minutes')(value)),
]

interface Value {
  value: number
  formats: readonly Format[]
  /** Values of other cells, which a model may confuse with this one. */
  others: readonly number[]
}

/** Returns a value and a false one, formatted: another cell, another digit, another magnitude or an invented number. */
const falsify = (random: Random, { value, formats, others }: Value): Pick<FigureClaim, 'right' | 'wrong'> => {
  const format = pick(random, formats)
  const right = format(value)
  for (;;) {
    const candidate = pick(random, [
      ...others,
      value * 10,
      value + pick(random, [-1, 1, 2, 3, 10]),
      value * (1.1 + random() * 0.8),
      value * (0.2 + random() * 0.7),
      between(random, 10_000, 99_999),
    ])
    const isRatio = !Number.isInteger(value)
    const wrongValue = isRatio ? candidate : Math.round(candidate)
    const wrong = format(wrongValue)
    const isDistinct = Math.abs(wrongValue - value) > Math.abs(value) * 0.02 && wrong !== right
    if (wrongValue >= 0 && isDistinct && /[1-9]/.test(wrong)) return { right, wrong }
  }
}

const createClaim = (random: Random): FigureClaim =>
  pick(random, [createPartsClaim, createPartsClaim, createQueryClaim, createDiskClaim, createSingleClaim])(random)

const tableNames =
  'orders lines customers hits sessions events clicks invoices payments stock audits metrics_raw traces spans logs users carts refunds coupons reviews'.split(
    ' ',
  )

const createPartsClaim = (random: Random): FigureClaim => {
  const names = tableNames.slice(0, between(random, 3, tableNames.length))
  const rows = names.map((name) => [
    pick(random, ['shop', 'web']),
    name,
    between(random, 1, 900),
    logBetween(random, 1e3, 9e9),
    logBetween(random, 1e6, 9e12),
  ])
  const result = {
    sql: 'SELECT database, table, count() AS parts, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active GROUP BY database, table',
    columns: ['database', 'table', 'parts', 'rows', 'bytes'],
    rows,
  }
  const column = (index: number) => rows.map((row) => Number(row[index]))
  const [parts, counts, sizes] = [column(2), column(3), column(4)]
  const at = between(random, 0, rows.length - 1)
  const [name, part = 0, count = 0, size = 0] = [names[at], parts[at], counts[at], sizes[at]]
  const partsSum = parts.reduce((sum, value) => sum + value, 0)
  const claims: readonly (readonly [string, Value])[] = [
    [`${name} has {} active parts.`, { value: part, formats: countFormats, others: [...parts, ...counts] }],
    [`The table \`${name}\` holds {} rows in ${part} parts.`, { value: count, formats: largeFormats, others: counts }],
    [`${name} uses {} on disk, with ${group(',')(count)} rows.`, { value: size, formats: byteFormats, others: sizes }],
    [`All tables together have {} parts.`, { value: partsSum, formats: countFormats, others: parts }],
    [
      `${name} has {} of all parts.`,
      { value: (100 * part) / partsSum, formats: [(value) => `${value.toFixed(1)} %`], others: [] },
    ],
    [`The most parts of a table are {} parts.`, { value: Math.max(...parts), formats: countFormats, others: [] }],
    [
      `On average, a table has {} parts.`,
      { value: partsSum / parts.length, formats: [(value) => value.toFixed(1)], others: [] },
    ],
    [`The result lists {} tables.`, { value: rows.length, formats: [String], others: [] }],
    [`- **${name}**: {} of ${partsSum} parts`, { value: part, formats: [String], others: parts }],
    [
      `| ${name} | {} parts | ${(size / 1024 ** 3).toFixed(1)} GiB |`,
      { value: part, formats: [String], others: parts },
    ],
  ]
  const [text, value] = pick(random, claims)
  return { ...result, text, ...falsify(random, value) }
}

const createQueryClaim = (random: Random): FigureClaim => {
  const users = ['reports', 'billing', 'dashboards', 'etl', 'ada'].slice(0, between(random, 1, 5))
  const rows = users.map((user) => [
    user,
    logBetween(random, 3, 600_000),
    logBetween(random, 1e3, 9e9),
    logBetween(random, 1e6, 9e10),
  ])
  const result = {
    sql: 'SELECT user, query_duration_ms, read_rows, memory_usage FROM system.query_log ORDER BY query_duration_ms DESC',
    columns: ['user', 'query_duration_ms', 'read_rows', 'memory_usage'],
    rows,
  }
  const at = between(random, 0, rows.length - 1)
  const [user = '', duration, read, memory] = rows[at] ?? []
  const column = (index: number) => rows.map((row) => Number(row[index]))
  const claims: readonly (readonly [string, Value])[] = [
    [`The query of ${user} took {}.`, { value: Number(duration), formats: durationFormats, others: column(1) }],
    [`The query of ${user} read {} rows.`, { value: Number(read), formats: largeFormats, others: column(2) }],
    [`The query of ${user} needed {} of memory.`, { value: Number(memory), formats: byteFormats, others: column(3) }],
  ]
  const [text, value] = pick(random, claims)
  return { ...result, text, ...falsify(random, value) }
}

const createDiskClaim = (random: Random): FigureClaim => {
  const rows = ['default', 'cold', 'archive'].slice(0, between(random, 1, 3)).map((name) => {
    const total = logBetween(random, 1e10, 9e12)
    return [name, Math.round(total * (0.05 + random() * 0.6)), total]
  })
  const result = {
    sql: 'SELECT name, free_space, total_space FROM system.disks',
    columns: ['name', 'free_space', 'total_space'],
    rows,
  }
  const [name, free, total] = pick(random, rows)
  const share = 1 - Number(free) / Number(total)
  const column = (index: number) => rows.map((row) => Number(row[index]))
  const claims: readonly (readonly [string, Value])[] = [
    [
      `The disk ${name} is {} full.`,
      {
        value: 100 * share,
        formats: [(value) => `${value.toFixed(1)} %`, (value) => `${value.toFixed(1)}%`],
        others: [],
      },
    ],
    [`On the disk ${name}, {} are free.`, { value: Number(free), formats: byteFormats, others: column(2) }],
    [`The disk ${name} has {} in total.`, { value: Number(total), formats: byteFormats, others: column(1) }],
  ]
  const [text, value] = pick(random, claims)
  return { ...result, text, ...falsify(random, value) }
}

const createSingleClaim = (random: Random): FigureClaim => {
  const value = logBetween(random, 2, 1e7)
  const [sql, text] = pick(random, [
    [`SELECT ${value}`, 'There are {} parts.'],
    ['SELECT count() FROM system.parts WHERE active', 'The host has {} active parts.'],
    ["SELECT value FROM system.metrics WHERE metric = 'Query'", 'At the moment, {} queries run.'],
    ['SELECT count() AS c FROM shop.orders', 'shop.orders holds {} rows.'],
  ] as const)
  const formats = value > 1e4 ? largeFormats : countFormats
  return { sql, columns: ['value'], rows: [[value]], text, ...falsify(random, { value, formats, others: [1] }) }
}
