import { LRUCache } from 'lru-cache'
import type { FrameKind, StateResponse } from './frame.ts'

/** A sent frame of a response. */
export interface SentFrame {
  kind: FrameKind
  sequence: number
  body: Uint8Array
}

/** The state of a request, and the frames of its response from a sequence number on. */
export interface RecordedState extends StateResponse {
  frames: readonly SentFrame[]
}

/** How long the responses of finished requests are kept: longer than a caller waits for a lost response. */
const keptMs = 30_000
const maxKept = 4_096
/** Maximum size of a kept response. Callers of larger ones only find out that the request is finished. */
const maxKeptBytes = 64 * 1024
const maxTotalBytes = 8 * 1024 * 1024

/**
 * The requests that a process handles, and its responses to recent requests that are not safe. A caller that lost the
 * response receives it again, and a repeated request is not executed twice. Safe requests are executed again instead.
 */
export class RequestRecords {
  readonly #running = new Set<string>()
  readonly #finished = new LRUCache<string, RequestRecord>({
    max: maxKept,
    maxSize: maxTotalBytes,
    // A minimum size limits the number of records too.
    sizeCalculation: ({ bytes }) => Math.max(bytes, maxTotalBytes / maxKept),
    ttl: keptMs,
    dispose: ({ receivedMs }, _key, reason) => {
      if (reason !== 'delete') this.#knownSinceMs = Math.max(this.#knownSinceMs, receivedMs)
    },
  })
  /** Requests that were received before may be forgotten. */
  #knownSinceMs = performance.now()

  /** Starts a record; returns undefined if the request is running or finished. */
  begin(key: string, isSafe: boolean): RequestRecord | undefined {
    if (this.#running.has(key) || this.#finished.has(key)) return undefined
    this.#running.add(key)
    return new RequestRecord(key, isSafe, this)
  }

  /** Records that the last frame of a request was sent. */
  finish(record: RequestRecord): void {
    this.#running.delete(record.key)
    if (!record.isSafe) this.#finished.set(record.key, record)
  }

  /** Returns the state of a request, and the kept frames from `expected` on. */
  read(key: string, expected: number): RecordedState {
    const record = this.#finished.get(key)
    const knownMs = performance.now() - this.#knownSinceMs
    if (this.#running.has(key)) return { state: 'running', knownMs, frames: [] }
    if (!record) return { state: 'unknown', knownMs, frames: [] }
    return { state: 'finished', knownMs, frames: record.frames.filter(({ sequence }) => sequence >= expected) }
  }
}

/** The record of one request, from its receipt until its response is no longer kept. */
export class RequestRecord {
  readonly key: string
  readonly isSafe: boolean
  readonly receivedMs = performance.now()
  /** The frames of the response, unless the request is safe or its response is large. */
  frames: SentFrame[] = []
  bytes = 0
  readonly #records: RequestRecords
  #isTooLarge = false

  constructor(key: string, isSafe: boolean, records: RequestRecords) {
    this.key = key
    this.isSafe = isSafe
    this.#records = records
  }

  /** Records a sent frame. Copies its body, because the producer may reuse the buffer. */
  add({ kind, sequence, body }: SentFrame): void {
    if (this.isSafe || this.#isTooLarge || kind === 'working') return
    this.bytes += body.byteLength
    this.frames.push({ kind, sequence, body: Buffer.from(body) })
    if (this.bytes <= maxKeptBytes) return
    this.#isTooLarge = true
    this.frames = []
    this.bytes = 0
  }

  /** Records that the last frame was sent. */
  finish(): void {
    this.#records.finish(this)
  }
}

/** Returns the key of a request: its reply subject, which callers reuse, and the id that the caller gave it. */
export const formatRequestKey = (reply: string, id: string): string => `${reply} ${id}`
