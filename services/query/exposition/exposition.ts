import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { failureReason } from '../clickhouse/failure.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { expositionText, readFigures } from './exposition-text.ts'
import { figuresStatement } from './figures-statement.ts'

/** A little less than half a minute, so that whoever scrapes twice a minute gets new figures each time. */
const freshMs = 29_000
/** Prometheus itself looks back this far; older figures would pass for new ones. */
const usefulMs = 300_000
/** Scrapers give up after 10 seconds by default. */
const batchWithinMs = 4_000
/** Higher levels save a twentieth of the bytes and take three times as long. */
const gzipLevel = 1

const gzipped = promisify(gzip)

/** What is known of one host. */
interface Known {
  text: Uint8Array | undefined
  takenMs: number
  /** When the last batch was begun. */
  askedMs: number
  failure: string | null
  asking: Promise<void> | undefined
}

/** The figures of one host, for everybody who wants them within half a minute by one statement. */
export const exposition = (parts: Parts): Handlers<typeof query>['exposition'] => {
  // Hangs on the host object, so that nothing of a server is shown for another one under its label.
  const known = new WeakMap<MonitoredHost, Known>()
  const { clock } = parts

  const ask = async (host: MonitoredHost, entry: Known): Promise<void> => {
    try {
      const text = await batch(parts, host)
      entry.text = await gzipped(text, { level: gzipLevel })
      entry.takenMs = clock.elapsedMs()
      entry.failure = null
    } catch (error) {
      entry.failure = failureReason(error) ?? (error instanceof ServiceError ? error.code : 'internal')
      if (!(error instanceof ServiceError)) throw error
    } finally {
      entry.asking = undefined
    }
  }

  return async ({ hostKey }) => {
    const host = parts.hosts.get(hostKey)
    const entry = known.get(host) ?? unknown()
    known.set(host, entry)
    if (clock.elapsedMs() - entry.askedMs >= freshMs) {
      entry.askedMs = clock.elapsedMs()
      entry.asking = ask(host, entry)
      entry.asking.catch(() => undefined)
    }
    // A host that failed the last time is asked behind the scraper's back, so that its silence costs nobody time again.
    if (entry.failure === null) await entry.asking
    return produced(entry, clock.elapsedMs())
  }
}

const unknown = (): Known => ({
  text: undefined,
  takenMs: Number.NEGATIVE_INFINITY,
  askedMs: Number.NEGATIVE_INFINITY,
  failure: null,
  asking: undefined,
})

/** Nobody's call but everybody's: it outlives whoever asked first, and yields to people. */
const batch = async ({ client, clock }: Parts, host: MonitoredHost): Promise<string> => {
  const deadline = clock.elapsedMs() + batchWithinMs
  const asking = { signal: new AbortController().signal, deadline, priority: 'sweep' } as const
  const statement = figuresStatement(host, await client.capabilities(host, asking))
  const { rows } = await client.run(host, statement, asking)
  return expositionText(readFigures(host, rows))
}

const produced = ({ text, takenMs, askedMs, failure }: Known, nowMs: number) => {
  const ageMs = nowMs - takenMs
  const useful = ageMs < usefulMs ? text : undefined
  const head = { failure, ageMs: useful ? ageMs : null, freshForMs: Math.max(0, askedMs + freshMs - nowMs) }
  return { head, frames: whole(useful) }
}

async function* whole(text: Uint8Array | undefined): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  if (text) yield text
  return {}
}
