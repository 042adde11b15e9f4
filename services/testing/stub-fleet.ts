import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'
import type { ProductHost } from './product.ts'

/** Many hosts that know their figures without measuring them. */
export interface StubFleet extends AsyncDisposable {
  readonly hosts: readonly ProductHost[]
  /** How often each host was asked for its figures. */
  batches(): readonly number[]
}

const version = '26.3.1.1'

/** Starts this many hosts with this many figures each, which take no time; their clocks are this much ahead. */
export const startStubFleet = async (size: number, figures: number, aheadMs = 0): Promise<StubFleet> => {
  await using scope = new AsyncDisposableStack()
  const hosts = await Promise.all(
    Array.from({ length: size }, (_, host) => startHost(scope, { host, figures, aheadMs })),
  )
  const running = scope.move()
  return {
    hosts: hosts.map(({ url }, host) => ({ url, name: `stub-${host}` })),
    batches: () => hosts.map(({ asked }) => asked.batches),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

interface Stub {
  host: number
  figures: number
  aheadMs: number
}

const startHost = async (scope: AsyncDisposableStack, { host, figures, aheadMs }: Stub) => {
  const asked = { batches: 0 }
  const body = figuresOf(host, figures)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sql = await text(request)
    if (isProbe(sql)) {
      response.end(probeAnswer())
    } else if (request.url?.includes('exposition')) {
      // The comment by which hosts tell our statements apart.
      asked.batches++
      response.end(body)
    } else {
      response.end(answerOf([[version, 60, `stub-${host}`, 'UTC', String(Date.now() + aheadMs)]]))
    }
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const { origin, stop } = await onLoopback(server)
  scope.defer(stop)
  return { url: origin, asked }
}

/** Numbers of the size and variety of real ones, the same in each run. */
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

/** Whether a statement is the first one that a host gets: its version and what it lets us do. */
export const isProbe = (sql: string): boolean => sql.includes("getSetting('readonly')")

/** What a recent server answers to that. */
export const probeAnswer = (): string => answerOf([[version, 0, ['metrics', 'asynchronous_metrics']]])

const answerOf = (rows: readonly (readonly unknown[])[]): string =>
  JSON.stringify({ meta: (rows[0] ?? []).map((_, index) => ({ name: `column_${index}`, type: 'String' })), data: rows })
