import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import type { ProductHost } from './product.ts'

/** A fleet of fake hosts with constant metrics. */
export interface StubFleet extends AsyncDisposable {
  readonly hosts: readonly ProductHost[]
  /** Returns the number of metrics requests that each host has received. */
  batches(): readonly number[]
}

const version = '26.3.1.1'

/** Starts `size` hosts with `figures` metrics each, which respond without delay. Their clocks are `aheadMs` ahead. */
export const startStubFleet = async (size: number, figures: number, aheadMs = 0): Promise<StubFleet> => {
  await using scope = new AsyncDisposableStack()
  const hosts = await Promise.all(
    Array.from({ length: size }, (_, host) => startHost(scope, { host, figures, aheadMs })),
  )
  const running = scope.move()
  return {
    hosts: hosts.map(({ url }, host) => ({ url, name: `stub-${host}` })),
    batches: () => hosts.map(({ received }) => received.batches),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

interface Stub {
  host: number
  figures: number
  aheadMs: number
}

const startHost = async (scope: AsyncDisposableStack, { host, figures, aheadMs }: Stub) => {
  const received = { batches: 0 }
  const body = figuresOf(host, figures)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sql = await text(request)
    if (isProbeStatement(sql)) {
      response.end(createProbeResponse())
    } else if (request.url?.includes('exposition')) {
      // The URL contains the `log_comment` of the statement, which names the metrics exposition.
      received.batches++
      response.end(body)
    } else {
      response.end(answerOf([[version, 60, `stub-${host}`, 'UTC', String(Date.now() + aheadMs)]]))
    }
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const { origin, stop } = await listenOnLoopback(server)
  scope.defer(stop)
  return { url: origin, received }
}

/** Returns the metrics of a host as a JSON response. They are the same in each run. */
const figuresOf = (host: number, figures: number): string =>
  answerOf(
    Array.from({ length: figures }, (_, index) => {
      const value = ((host + 1) * (index + 1) * 2_654_435_761) % 10_000_000_000
      return [
        `StubFigure${index}`,
        String(value),
        `What the figure ${index} counts or measures at this moment, in words`,
      ]
    }),
  )

/** Returns whether a statement belongs to the probe, which reads the version, tables and grants of a host. */
export const isProbeStatement = (sql: string): boolean => /getSetting\('readonly'\)|^CHECK GRANT/.test(sql)

/** Returns the response of a recent ClickHouse version to the probe. */
export const createProbeResponse = (): string => answerOf([[version, 0, ['metrics', 'asynchronous_metrics']]])

const answerOf = (rows: readonly (readonly unknown[])[]): string =>
  JSON.stringify({ meta: (rows[0] ?? []).map((_, index) => ({ name: `column_${index}`, type: 'String' })), data: rows })
