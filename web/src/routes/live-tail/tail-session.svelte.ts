import { call } from '#lib/api/call.ts'
import { getFailureMessage } from '#lib/api/failure.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import { addRows, emptyTail, getNextWindow, type TailState } from './tail-buffer.ts'
import type { TailLog } from './tail-logs.ts'

/** Interval between two requests. Hosts write their logs only every 7.5 seconds by default. */
export const pollMs = 5_000
const pageSize = 500
/** Maximum number of pages of one request round, so that a busy log does not cause endless requests. */
const maxPages = 3

export interface TailRequest {
  log: TailLog
  host: number
  filters: readonly string[]
  search: string
  own: boolean
}

/** What the last request round read on the host. */
export interface TailCost {
  rows: number
  bytes: number
  durationMs: number
}

interface Page {
  rows: Parameters<typeof addRows>[1]
  isComplete: boolean
  cost: TailCost
  unavailable: UnavailableReason | null
}

/** Follows a log: one request after another while it is started. */
export class TailSession {
  state = $state.raw<TailState>(emptyTail)
  cost = $state.raw<TailCost | null>(null)
  failure = $state<string | null>(null)
  unavailable = $state.raw<UnavailableReason | null>(null)
  /** Whether a request has succeeded. */
  hasLoaded = $state(false)
  readonly #hostNowMs: () => number

  /** `hostNowMs` returns the current time of the host in epoch milliseconds. */
  constructor(hostNowMs: () => number) {
    this.#hostNowMs = hostNowMs
  }

  /** Removes all rows. Only newer ones appear afterwards. */
  clear = (): void => {
    const { newestMs, seen, nextId } = this.state
    this.state = { ...emptyTail, newestMs, seen, nextId }
  }

  /** Forgets all rows, because another log or another filter is selected. */
  reset(): void {
    this.state = emptyTail
    this.cost = null
    this.failure = null
    this.unavailable = null
    this.hasLoaded = false
  }

  /** Starts to follow a log and returns a function that stops it. */
  follow(request: TailRequest): () => void {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const next = async (): Promise<void> => {
      await this.#read(request, stop.signal)
      if (!stop.signal.aborted) timer = setTimeout(() => void next(), pollMs)
    }
    void next()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }

  async #read(request: TailRequest, signal: AbortSignal): Promise<void> {
    try {
      const page = await readPages(request, getNextWindow(this.state, this.#hostNowMs()), signal)
      if (signal.aborted) return
      this.state = addRows(this.state, page.rows, { key: request.log.key, isComplete: page.isComplete })
      this.cost = page.cost
      this.unavailable = page.unavailable
      this.failure = null
      this.hasLoaded = true
    } catch (error) {
      if (!signal.aborted) this.failure = getFailureMessage(error)
    }
  }
}

/**
 * Reads the rows of a time range, newest first. Rows that arrive meanwhile move others to the next page, where they
 * appear again; none is missed.
 */
const readPages = async (
  { log, host, filters, search, own }: TailRequest,
  { from, to }: { from: number; to: number },
  signal: AbortSignal,
): Promise<Page> => {
  const rows = []
  const cost = { rows: 0, bytes: 0, durationMs: 0 }
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams({
      hostId: String(host),
      from: String(from),
      to: String(to),
      sort: 'time.desc',
      limit: String(pageSize),
      ...(page > 0 && { offset: String(page * pageSize) }),
      ...(search && { search }),
      ...(own && { own: '1' }),
    })
    for (const filter of filters) query.append('filter', filter)
    const { data, metadata } = await call('GET /api/v1/tables/{name}', { path: { name: log.table }, query, signal })
    rows.push(...data)
    cost.rows += metadata.rowsRead ?? 0
    cost.bytes += metadata.bytesRead ?? 0
    cost.durationMs += metadata.durationMs ?? 0
    if (metadata.unavailable) return { rows, isComplete: true, cost, unavailable: metadata.unavailable }
    if (!metadata.truncated) return { rows, isComplete: true, cost, unavailable: null }
  }
  return { rows, isComplete: false, cost, unavailable: null }
}
