import type { Logger } from 'pino'
import type { ServiceClient } from '#proto/contract.ts'
import { maxInsightsPerRequest } from '#proto/insight-rows.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { openCollections } from '#shared/store/collection/collection.ts'
import { toEdgeDatabase } from '#shared/store/edge-binding.ts'
import { type StateDatabase, findPostgresDatabase } from '#shared/store/sql/state-database.ts'
import { insightStoreSettings } from './settings.ts'
import {
  createCollectionInsightStore,
  insightCollection,
  type InsightStore,
  createMemoryInsightStore,
} from './store.ts'

/** The insight store in use. Disposal closes its connections. */
export interface DisposableInsightStore extends AsyncDisposable {
  store: InsightStore
  /** Why the store is not the configured backend; null if it is. */
  reason: string | null
}

interface InsightStoreDeps {
  env: Environment
  query: ServiceClient<typeof query>
  net: Net
  log: Logger
}

/**
 * Opens the store that `INSIGHTS_STORE_BACKEND` names. If its database or key is not configured, logs a warning and
 * uses the tables of the hosts.
 */
export const openInsightStore = async ({
  env,
  query: client,
  net,
  log,
}: InsightStoreDeps): Promise<DisposableInsightStore> => {
  const { INSIGHTS_STORE_BACKEND: chosen } = parseSettings(insightStoreSettings, env)
  const onHosts = (reason: string | null): DisposableInsightStore => {
    if (reason !== null) log.warn({ chosen, reason }, 'insights store unavailable; using the clickhouse store')
    return { store: createClickhouseInsightStore(client, log), reason, [Symbol.asyncDispose]: async () => undefined }
  }
  switch (chosen) {
    case 'auto':
    case 'clickhouse':
      return onHosts(null)
    case 'memory':
      return { store: createMemoryInsightStore(), reason: null, [Symbol.asyncDispose]: async () => undefined }
    case 'edgesql': {
      const where = getEdgeDatabase(env)
      return where
        ? openInDatabase(where)
        : onHosts('edgesql requires INSIGHTS_EDGESQL or CONVERSATIONS_EDGESQL, which are not set')
    }
    case 'postgres': {
      const where = findPostgresDatabase(env)
      return where ? openInDatabase(where) : onHosts('postgres requires a PostgreSQL database; set DATABASE_URL')
    }
    case 'convstore':
      return parseSettings(insightStoreSettings, env).CONVSTORE_API_KEY === undefined
        ? onHosts('convstore requires CONVSTORE_API_KEY, which is not set')
        : openInConversationService({ env, net, log })
  }
}

const getEdgeDatabase = (env: Environment): StateDatabase | undefined => {
  const { INSIGHTS_EDGESQL: own, CONVERSATIONS_EDGESQL: other } = parseSettings(insightStoreSettings, env)
  const address = own ?? other
  return address === undefined ? undefined : toEdgeDatabase(address)
}

const openInDatabase = async (where: StateDatabase): Promise<DisposableInsightStore> => {
  await using opened = new AsyncDisposableStack()
  // Loaded on demand, because the database drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const database = opened.use(await openDatabase(where))
  const store = createCollectionInsightStore(await openCollections('insights', [insightCollection], database))
  const held = opened.move()
  return { store, reason: null, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const openInConversationService = async (
  deps: Pick<InsightStoreDeps, 'env' | 'net' | 'log'>,
): Promise<DisposableInsightStore> => {
  const [{ openThreadClient }, { createConvstoreInsightStore: convstoreInsights }] = await Promise.all([
    import('#shared/convstore/client.ts'),
    import('./convstore.ts'),
  ])
  const store = convstoreInsights(openThreadClient(deps))
  return { store, reason: null, [Symbol.asyncDispose]: async () => undefined }
}

/** Returns a store in the table `monitoring_findings` of each host, which `query` reads and writes. */
export const createClickhouseInsightStore = (client: ServiceClient<typeof query>, log: Logger): InsightStore => ({
  backend: 'clickhouse',
  list: ({ ids, ...filter }, call) => client.storedFindings({ ...filter, ...(ids && { ids: [...ids] }) }, call),
  async put(hostKey, insights, version, call) {
    for (let from = 0; from < insights.length; from += maxInsightsPerRequest) {
      await client.keepFindings(
        { hostKey, insights: insights.slice(from, from + maxInsightsPerRequest), version },
        call,
      )
    }
  },
  async prune(beforeMs, call) {
    let removed = 0
    for (const { key: hostKey } of await client.hosts({}, call)) {
      try {
        removed += (await client.pruneFindings({ hostKey, beforeMs }, call)).removed
      } catch (error) {
        // If a host is unreachable or read-only, the deletion continues on the other hosts.
        log.warn({ err: error, hostKey }, 'deleting old insights failed')
      }
    }
    return removed
  },
})
