import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { type Product, startProduct } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { readResidentMemoryMib } from './resident-memory.ts'

const repetitions = 25
const watchEveryMs = 50
/** Number of warm-up requests. After them, V8 has optimized the code, as in a long-running process. */
const warmUps = 120
const smallExportRows = 10_000
/** Number of rows of the large export: a hundred times the small one, so that buffering would show in memory. */
const largeExportRows = 1_000_000
const hostFormats = { csv: 'CSVWithNames', tsv: 'TabSeparatedWithNames', jsoneachrow: 'JSONEachRow' } as const

/** Returns a statement whose rows are as wide as those of the query log. */
const sql = (rows: number): string => `SELECT
    number AS id,
    toString(sipHash128(number)) AS query_id,
    number * 1000 AS duration,
    repeat('SELECT column FROM table ', 8) AS query,
    number % 17 / 3 AS share
  FROM numbers(${rows})`

const definition = (rows: number): string => `title: Rows to export
doc: Rows that the engine makes up, so that making them costs little.
feature: TABLES
columns: [{ name: id, format: number }, { name: query_id }, { name: duration, format: number }, { name: query }, { name: share, format: number }]
sql: |
  ${sql(rows)}
`

/** Compares the throughput of an export with that of the host, and checks that the product does not buffer all rows. */
export const exportRate: Benchmark = {
  name: 'export',
  async run() {
    await using sandbox = await startSandbox({ seed: false })
    await using definitions = await writeDefinitions()
    await using product = await startProduct({
      topology: 'memory',
      hosts: [{ url: sandbox.url, name: 'export' }],
      env: { SVC_DEFINITIONS_DIRECTORY: definitions.directory, SVC_TABLE_MAX_RESULT_ROWS: '0', LOG_LEVEL: 'warn' },
    })
    const rates: Comparison[] = []
    for (const format of ['csv', 'tsv', 'jsoneachrow'] as const) rates.push(await rate(product, sandbox.url, format))
    return [...rates, await memory(product)]
  },
}

const writeDefinitions = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-bench-'))
  await mkdir(join(directory, 'bench'))
  await writeFile(join(directory, 'bench', 'rows.table.yaml'), definition(smallExportRows))
  await writeFile(join(directory, 'bench', 'flood.table.yaml'), definition(largeExportRows))
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

const rate = async (product: Product, host: string, format: keyof typeof hostFormats): Promise<Comparison> => {
  // The rows are sorted, as on every table page, so that the host does the same work for both sides.
  const body = `SELECT id, query_id, duration, query, share FROM (${sql(smallExportRows)}) ORDER BY id LIMIT ${smallExportRows + 1} FORMAT ${hostFormats[format]}`
  const direct = () => bytesPerSecond(host, '/', body)
  const through = () => bytesPerSecond(product.url, `/api/v1/tables/rows?hostId=0&format=${format}`)
  for (let warmUp = 0; warmUp < warmUps; warmUp++) {
    await direct()
    await through()
  }
  const ours: number[] = []
  const reference: number[] = []
  for (let repetition = 0; repetition < repetitions; repetition++) {
    reference.push(await direct())
    ours.push(await through())
  }
  return { name: `10 000 rows as ${format}`, unit: 'bytes/s', ours, reference, bar: { atLeast: 0.5 } }
}

const filesPerFigure = 2

const bytesPerSecond = async (origin: string, path: string, body?: string): Promise<number> => {
  const pool = new Pool(origin, { connections: 1 })
  try {
    const started = performance.now()
    let bytes = 0
    for (let file = 0; file < filesPerFigure; file++) bytes += await download(pool, path, body)
    return bytes / ((performance.now() - started) / 1_000)
  } finally {
    await pool.close()
  }
}

const download = async (pool: Pool, path: string, body?: string): Promise<number> => {
  const response = await pool.request({ path, method: body === undefined ? 'GET' : 'POST', body: body ?? null })
  if (response.statusCode !== 200) throw new Error(`request for ${path} failed: status ${response.statusCode}`)
  let bytes = 0
  for await (const chunk of response.body) bytes += Buffer.byteLength(chunk)
  return bytes
}

/** Compares the peak memory of one export of a million rows with that of a hundred exports of ten thousand rows. */
const memory = async (product: Product): Promise<Comparison> => {
  const path = '/api/v1/tables/rows?hostId=0&format=csv'
  const inMany = await peakMemory(product, path, largeExportRows / smallExportRows)
  const inOne = await peakMemory(product, '/api/v1/tables/flood?hostId=0&format=csv', 1)
  return {
    name: 'peak memory of an export of 1 000 000 rows',
    unit: 'MiB',
    ours: [inOne],
    reference: [inMany],
    bar: { atMost: 1.3 },
  }
}

const peakMemory = async (product: Product, path: string, files: number): Promise<number> => {
  let peakMb = residentOf(product)
  const pool = new Pool(product.url, { connections: 1 })
  const watching = setInterval(() => (peakMb = Math.max(peakMb, residentOf(product))), watchEveryMs)
  try {
    for (let file = 0; file < files; file++) await download(pool, path)
  } finally {
    clearInterval(watching)
    await pool.close()
  }
  return peakMb
}

const residentOf = (product: Product): number => product.pids.reduce((sum, pid) => sum + readResidentMemoryMib(pid), 0)
