import { parseArgs } from 'node:util'
import { z } from 'zod'
import { fetchJson, queryClickHouse } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { type FaultCluster, serverNames, startFaultCluster } from '../cluster-faults/cluster.ts'
import { createLoadTables, startLoad } from '../cluster-faults/load.ts'
import { type Figure, nameFigure, readFigures, reduceRows, type RowFigure } from './figures.ts'
import { runWork } from './work.ts'

const usage = `usage: npm run test:values [-- [text …]]

Compares figures of the product with independent statements on a real cluster that has done some work. With texts, only
figures whose name contains one of them.`

const version = '25.8'

/** The window of the figures in epoch seconds. */
interface Period {
  from: number
  to: number
}

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } })
  if (values.help) return print(usage)
  const all = await readFigures()
  const isSelected = (figure: Figure) => positionals.some((text) => nameFigure(figure).includes(text))
  const figures = positionals.length === 0 ? all : all.filter(isSelected)
  await using scope = new AsyncDisposableStack()
  const cluster = scope.use(await startFaultCluster(version))
  const from = Math.floor(Date.now() / 1_000) - 60
  await createLoadTables(cluster)
  const load = startLoad(cluster)
  await runWork(cluster)
  await load[Symbol.asyncDispose]()
  for (const name of serverNames) await cluster.servers[name].run('SYSTEM FLUSH LOGS')
  const period = { from, to: Math.floor(Date.now() / 1_000) + 1 }
  const product = scope.use(await startProductOn(cluster))
  const { url } = cluster.servers.s1r1
  const results = []
  for (const figure of figures) results.push(await compare(figure, url, product, period))
  report(results)
}

const startProductOn = ({ servers, authorityFile }: FaultCluster): Promise<Product> =>
  startProduct({
    // As `default`, because its statements and those of the figures must see the same rows.
    hosts: serverNames.map((name) => ({ url: servers[name].httpsUrl ?? servers[name].url, name })),
    env: { NODE_EXTRA_CA_CERTS: authorityFile, SVC_QUERY_CACHE: 'off' },
  })

interface Result {
  figure: Figure
  problem: string | undefined
  isZero: boolean
}

/** Compares a figure with its statement before and after. A value in between is right, because the server goes on. */
const compare = async (figure: Figure, url: string, product: Product, period: Period): Promise<Result> => {
  try {
    const before = await queryExpected(figure, url, period)
    const shown = await readShown(figure, product, period)
    const after = await queryExpected(figure, url, period)
    const slack = (figure.tolerance ?? 1e-9) * Math.max(Math.abs(before), Math.abs(after))
    const [low, high] = [Math.min(before, after) - slack, Math.max(before, after) + slack]
    const isRight = shown >= low && shown <= high
    const problem = isRight
      ? undefined
      : `shows ${shown}, expected ${before === after ? before : `${before} to ${after}`}`
    return { figure, problem, isZero: shown === 0 }
  } catch (error) {
    return { figure, problem: String(error).slice(0, 400), isZero: false }
  }
}

const queryExpected = async ({ sql }: Figure, url: string, { from, to }: Period): Promise<number> => {
  const [row] = await queryClickHouse(url, sql, { from, to })
  const [value] = Object.values(row ?? {})
  return value === null || value === undefined ? 0 : Number(value)
}

/** Returns the value that the product shows; 0 if it shows none. */
const readShown = async (figure: Figure, product: Product, period: Period): Promise<number> => {
  if ('metric' in figure) return readMetric(figure.metric, product)
  if ('overview' in figure) return readOverview(figure.overview, product)
  return reduceRows(figure, await readRows(figure, product, period)) ?? 0
}

const readRows = async (figure: RowFigure, { url }: Product, period: Period) => {
  const { parameters = {} } = figure
  const query = new URLSearchParams('chart' in figure ? {} : { limit: '10000', ...parameters })
  if ('chart' in figure && figure.parameters) query.set('params', JSON.stringify(parameters))
  if (figure.sql.includes('{from:')) {
    query.set('from', String(period.from))
    query.set('to', String(period.to))
  }
  const path = 'chart' in figure ? `charts/${figure.chart}` : `tables/${figure.table}`
  const { data, metadata } = await readData(`${url}/api/v1/${path}?${query}`)
  const { unavailable } = z.object({ unavailable: z.unknown() }).parse(metadata)
  if (unavailable) throw new Error(`unavailable: ${JSON.stringify(unavailable)}`)
  return z.array(z.record(z.string(), z.unknown())).parse(data)
}

const readOverview = async (field: string, { url }: Product): Promise<number> => {
  let value: unknown = (await readData(`${url}/api/v1/overview?hostId=0`)).data
  for (const name of field.split('.')) value = z.record(z.string(), z.unknown()).parse(value)[name]
  return Number(value ?? 0)
}

const readMetric = async (metric: string, { url }: Product): Promise<number> => {
  const body = JSON.stringify({ name: 'value', metric, operator: '>', warning: 1 })
  const { data } = await readData(`${url}/api/v1/health/custom-rules/test`, body)
  return z.object({ value: z.number().nullable() }).parse(data).value ?? 0
}

const readData = async (url: string, body?: string) => {
  const request = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
  const response = await fetchJson(url, request)
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${response.text.slice(0, 300)}`)
  return z.object({ data: z.unknown(), metadata: z.unknown().optional() }).parse(response.body)
}

const report = (results: readonly Result[]): void => {
  const failed = results.filter(({ problem }) => problem !== undefined)
  for (const { figure, problem } of failed) print(`FAILED  ${nameFigure(figure)}: ${problem}`)
  for (const { figure, isZero } of results) if (isZero) print(`zero    ${nameFigure(figure)}`)
  print(`${results.length} figures, ${results.filter(({ isZero }) => !isZero).length} of them not zero`)
  print(`${results.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

await main()
