import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { fetchJson } from '../fetch-json.ts'
import { findProgram } from './server-source.ts'
import { startProcess } from './process.ts'

/** A process to scrape, with the labels that its PodMonitor adds. */
export interface ScrapeTarget {
  /** host:port of the operations listener. */
  address: string
  labels: Readonly<Record<string, string>>
}

/** A result of a query: labels and value. */
export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

/** A running Prometheus. */
export interface Prometheus extends AsyncDisposable {
  readonly url: string
  /** Returns the result of an instant query. Throws for an invalid query. */
  query(expression: string): Promise<Sample[]>
  /** Returns the number of series of a query over the last seconds, without series that are always NaN. */
  countSeries(expression: string, seconds: number): Promise<number>
  /** Returns the values of a label, as `label_values` of Grafana does. */
  labelValues(metric: string, label: string): Promise<string[]>
}

interface PrometheusOptions {
  targets: readonly ScrapeTarget[]
  /** A rule file, as JSON. */
  rules: object
}

const Vector = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.enum(['vector', 'scalar', 'string', 'matrix']),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
})
const Matrix = z.object({
  data: z.object({ result: z.array(z.object({ values: z.array(z.tuple([z.number(), z.string()])) })) }),
})
const Values = z.object({ data: z.array(z.string()) })

/** Starts Prometheus of the Debian package `prometheus`, which scrapes and evaluates every second. */
export const startPrometheus = async ({ targets, rules }: PrometheusOptions): Promise<Prometheus> => {
  const program = findProgram('prometheus')
  if (program === undefined) throw new Error('program "prometheus" not found; install the package prometheus')
  const scraped = targets.map(({ address, labels }) => ({ targets: [address], labels }))
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.json'],
    scrape_configs: [{ job_name: 'watchhouse', static_configs: scraped }],
  }
  const server = await startProcess({
    program,
    prepare: async (directory) => {
      // JSON is also YAML, the format of these files.
      await writeFile(join(directory, 'prometheus.json'), JSON.stringify(config))
      await writeFile(join(directory, 'rules.json'), JSON.stringify(rules))
    },
    arguments: (directory, port) => [
      `--config.file=${join(directory, 'prometheus.json')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    url: (port) => `http://127.0.0.1:${port}`,
    answers: async (url) => {
      const { status } = await fetchJson(`${url}/-/ready`)
      if (status !== 200) throw new Error(`Prometheus is not ready: status ${status}`)
    },
  })
  const request = async (path: string, parameters: Record<string, string>): Promise<unknown> => {
    const { status, body, text } = await fetchJson(`${server.url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    if (status !== 200) throw new Error(`query of Prometheus failed: ${text}`)
    return body
  }
  return {
    url: server.url,
    async query(expression) {
      const { data } = Vector.parse(await request('query', { query: expression }))
      return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    async countSeries(expression, seconds) {
      const end = Date.now() / 1_000
      const range = { query: expression, start: String(end - seconds), end: String(end), step: '1' }
      const { data } = Matrix.parse(await request('query_range', range))
      return data.result.filter(({ values }) => values.some(([, value]) => value !== 'NaN')).length
    },
    labelValues: async (metric, label) =>
      Values.parse(await request(`label/${label}/values`, { 'match[]': metric })).data,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
