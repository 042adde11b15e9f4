import { z } from 'zod'
import type { LoadTarget } from './load.ts'
import { startScript } from './start-bare-server.ts'

const Recorded = z.array(
  z.object({
    hits: z.number(),
    request: z.object({
      method: z.enum(['GET', 'POST']),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
  }),
)

export interface ReplayHost extends AsyncDisposable {
  url: string
  /** Returns the most frequent request so far, so that the benchmark can send the same load directly. */
  busiest(): Promise<LoadTarget>
}

/** Starts a replay host in a separate process. */
export const startReplayHost = async (upstream: string, delayMs: number): Promise<ReplayHost> => {
  const host = await startScript(new URL('replay-host.ts', import.meta.url), [upstream, String(delayMs)])
  return {
    ...host,
    busiest: async () => {
      const recorded = Recorded.parse(await (await fetch(new URL('/recorded', host.url))).json())
      const busiest = recorded.toSorted((a, b) => b.hits - a.hits)[0]
      if (!busiest) throw new Error('no busiest request: the replay host has received no requests')
      const { method, path, headers, body } = busiest.request
      return { origin: host.url, method, path, headers, ...(body !== '' && { body }) }
    },
  }
}
