import { LRUCache } from 'lru-cache'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { externalSettings } from './config.ts'
import { selectOfferedTools, type OfferedTools } from './offered-tools.ts'
import { listTools, type ToolServer } from './tool-server.ts'
/** The tools of a server, or why it is unavailable. */
export type ToolListResult = { offered: OfferedTools } | { failure: ServiceError }

/** The owner of a cached tool list, and how recent the list must be. */
interface ProbeOptions {
  /** Results are cached per owner. */
  owner: string
  /** `stale` refreshes an expired list in the background, `cached` waits for it, and `now` always fetches the list. */
  freshness: 'stale' | 'cached' | 'now'
}

/** A cache of the tool lists of servers. */
export interface ToolListCache extends AsyncDisposable {
  /** Returns the tools of a server. If the server fails, caches and returns the failure instead of throwing it. */
  of(server: ToolServer, options: ProbeOptions): Promise<ToolListResult>
}

/** Maximum number of cached tool lists, of all callers. */
const maxEntries = 512

interface Entry {
  probing: Promise<ToolListResult>
  startedAtMs: number
}

export const openToolListCache = ({ env, clock }: { env: Environment; clock: Clock }): ToolListCache => {
  const entries = new LRUCache<string, Entry>({ max: maxEntries })
  const ending = new AbortController()

  const probe = async (server: ToolServer): Promise<ToolListResult> => {
    const { SVC_AGENT_INTEGRATION_PROBE_TIMEOUT_MS: timeoutMs } = parseSettings(externalSettings, env)
    try {
      return { offered: selectOfferedTools(await listTools(server, { timeoutMs, signal: ending.signal })) }
    } catch (error) {
      if (error instanceof ServiceError) return { failure: error }
      if (ending.signal.aborted) return { failure: new ServiceError('unavailable', 'the agent is stopping') }
      throw error
    }
  }

  const start = (key: string, server: ToolServer, startedAtMs: number): Promise<ToolListResult> => {
    const probing = probe(server)
    entries.set(key, { probing, startedAtMs })
    probing.catch(() => entries.delete(key))
    return probing
  }

  return {
    of: (server, { owner, freshness }) => {
      const { SVC_AGENT_INTEGRATION_PROBE_TTL_MS: ttlMs } = parseSettings(externalSettings, env)
      const nowMs = clock.elapsedMs()
      const key = JSON.stringify([owner, server.endpoint.href])
      const known = entries.get(key)
      if (known && freshness !== 'now' && nowMs - known.startedAtMs < ttlMs) return known.probing
      const probing = start(key, server, nowMs)
      return known && freshness === 'stale' ? known.probing : probing
    },
    async [Symbol.asyncDispose]() {
      ending.abort()
      await Promise.allSettled([...entries.values()].map(({ probing }) => probing))
    },
  }
}
