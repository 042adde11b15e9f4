import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Target } from './load.ts'

const script = fileURLToPath(new URL('replay-host.ts', import.meta.url))
const Listening = z.object({ listening: z.object({ url: z.url() }) })
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
  /** The statement asked most often until now, as a target for the same load without us in between. */
  busiest(): Promise<Target>
}

/** Starts a replay host as a process of its own, so that its work does not count as ours. */
export const startReplayHost = async (upstream: string, delayMs: number): Promise<ReplayHost> => {
  const child = spawn(process.execPath, [script, upstream, String(delayMs)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = Listening.parse(JSON.parse(String(line))).listening
  return {
    url,
    busiest: async () => {
      const recorded = Recorded.parse(await (await fetch(new URL('/recorded', url))).json())
      const busiest = recorded.toSorted((a, b) => b.hits - a.hits)[0]
      if (!busiest) throw new Error('the replay host was asked nothing')
      const { method, path, headers, body } = busiest.request
      return { origin: url, method, path, headers, ...(body !== '' && { body }) }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
