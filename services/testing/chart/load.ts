import { setTimeout as wait } from 'node:timers/promises'
import { fetchJson } from '../fetch-json.ts'

/** Pause between two requests of a component, in milliseconds; it leaves CPU time to starting processes. */
const pauseMs = 100

/** A request that only succeeds if a certain service responds. */
export interface LoadRequest {
  path: string
  init?: RequestInit
  /** Text that a successful response contains. */
  has: string
}

/** Requests that are sent continuously while processes are replaced. */
export interface ContinuousLoad {
  /** Number of successful responses and of each error, by `<component>: <result>`. */
  readonly answered: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/** Sends the request of each component repeatedly, with a short pause after each response. */
export const startLoad = (gateway: () => string, requests: Readonly<Record<string, LoadRequest>>): ContinuousLoad => {
  const stopping = new AbortController()
  const answered = new Map<string, number>()
  const sendRepeatedly = async (component: string, { path, init, has }: LoadRequest) => {
    while (!stopping.signal.aborted) {
      const outcome = await fetchJson(`${gateway()}${path}`, init).then(
        ({ status, text }) => (status < 300 && text.includes(has) ? 'answered' : `${status} ${text}`),
        (error: unknown) => String(error),
      )
      const line = `${component}: ${outcome}`
      answered.set(line, (answered.get(line) ?? 0) + 1)
      await wait(pauseMs)
    }
  }
  const loads = Object.entries(requests).map(([component, one]) => sendRepeatedly(component, one))
  return {
    answered,
    stop: async () => {
      stopping.abort()
      await Promise.all(loads)
    },
  }
}
