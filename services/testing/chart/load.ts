import { setTimeout as wait } from 'node:timers/promises'
import { ask } from '../ask.ts'

/** Between two requests for one component: what starts meanwhile needs the processor too. */
const pauseMs = 100

/** A request that cannot be answered without one of the services. */
export interface Asked {
  path: string
  init?: RequestInit
  /** What a good answer has in it. */
  has: string
}

/** What people and programs keep asking while pods are replaced. */
export interface Load {
  /** How often each component's request was answered, and what went wrong instead. */
  readonly answered: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/** Asks for each component again and again, the next time soon after the answer is there. */
export const startLoad = (gateway: () => string, asked: Readonly<Record<string, Asked>>): Load => {
  const stopping = new AbortController()
  const answered = new Map<string, number>()
  const keepAsking = async (component: string, { path, init, has }: Asked) => {
    while (!stopping.signal.aborted) {
      const outcome = await ask(`${gateway()}${path}`, init).then(
        ({ status, text }) => (status < 300 && text.includes(has) ? 'answered' : `${status} ${text}`),
        (error: unknown) => String(error),
      )
      const line = `${component}: ${outcome}`
      answered.set(line, (answered.get(line) ?? 0) + 1)
      await wait(pauseMs)
    }
  }
  const loads = Object.entries(asked).map(([component, one]) => keepAsking(component, one))
  return {
    answered,
    stop: async () => {
      stopping.abort()
      await Promise.all(loads)
    },
  }
}
