import { LRUCache } from 'lru-cache'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { externalSettings } from './config.ts'
import { offeredTools, type OfferedTools } from './offered-tools.ts'
import { listTools, type ToolServer } from './tool-server.ts'

/** What a server offers, or why it cannot be used. */
export type Probed = { offered: OfferedTools } | { failure: ServiceError }

/** Whose server it is, and what may be believed of it. */
interface Asked {
  /** What one caller's server offers is nobody else's to know. */
  owner: string
  /** `old` is renewed behind the back of whoever asks, `believed` when it is older than the settings say, `now` at once. */
  as: 'old' | 'believed' | 'now'
}

/** What servers offer, believed for a while. */
export interface Probes extends AsyncDisposable {
  /** Never throws for what is the server's: that it cannot be used is remembered like what it offers. */
  of(server: ToolServer, asked: Asked): Promise<Probed>
}

/** Servers that are remembered, of all callers. */
const mostEntries = 512

interface Entry {
  probing: Promise<Probed>
  beganAtMs: number
}

export const openProbes = ({ env, clock }: { env: Environment; clock: Clock }): Probes => {
  const entries = new LRUCache<string, Entry>({ max: mostEntries })
  const ending = new AbortController()

  const probe = async (server: ToolServer): Promise<Probed> => {
    const { SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: timeoutMs } = read(externalSettings, env)
    try {
      return { offered: offeredTools(await listTools(server, { timeoutMs, signal: ending.signal })) }
    } catch (error) {
      if (error instanceof ServiceError) return { failure: error }
      if (ending.signal.aborted) return { failure: new ServiceError('unavailable', 'the agent is stopping') }
      throw error
    }
  }

  const begin = (key: string, server: ToolServer, beganAtMs: number): Promise<Probed> => {
    const probing = probe(server)
    entries.set(key, { probing, beganAtMs })
    probing.catch(() => entries.delete(key))
    return probing
  }

  return {
    of: (server, { owner, as }) => {
      const { SVC_AGENT_INTEGRATION_PROBE_TTL_MS: ttlMs } = read(externalSettings, env)
      const nowMs = clock.elapsedMs()
      const key = JSON.stringify([owner, server.endpoint.href])
      const known = entries.get(key)
      if (known && as !== 'now' && nowMs - known.beganAtMs < ttlMs) return known.probing
      const probing = begin(key, server, nowMs)
      return known && as === 'old' ? known.probing : probing
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.allSettled([...entries.values()].map(({ probing }) => probing))
    },
  }
}
