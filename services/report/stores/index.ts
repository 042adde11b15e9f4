import type { Logger } from 'pino'
import type { Client } from '#proto/contract.ts'
import { mostInsightsAtOnce } from '#proto/insight-rows.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { openCollections } from '#shared/store/collection/collection.ts'
import { edgeDatabase } from '#shared/store/edge-binding.ts'
import { type StateDatabase, postgresDatabase } from '#shared/store/sql/state-database.ts'
import { insightStoreSettings } from './settings.ts'
import { collectedInsights, insightCollection, type InsightStore, memoryStore } from './store.ts'

/** The store in force. Disposing it closes what was opened for it. */
export interface OpenInsightStore extends AsyncDisposable {
  store: InsightStore
  /** Why it is another than the operator chose; null otherwise. */
  reason: string | null
}

interface Place {
  env: Environment
  query: Client<typeof query>
  net: Net
  log: Logger
}

/** Opens what `INSIGHTS_STORE_BACKEND` names; where its prerequisite is missing, warns and takes the hosts' own tables. */
export const openInsightStore = async ({ env, query: client, net, log }: Place): Promise<OpenInsightStore> => {
  const { INSIGHTS_STORE_BACKEND: chosen } = read(insightStoreSettings, env)
  const onHosts = (reason: string | null): OpenInsightStore => {
    if (reason !== null) log.warn({ chosen, reason }, 'insights are kept on the hosts instead')
    return { store: clickhouseStore(client, log), reason, [Symbol.asyncDispose]: async () => undefined }
  }
  switch (chosen) {
    case 'auto':
    case 'clickhouse':
      return onHosts(null)
    case 'memory':
      return { store: memoryStore(), reason: null, [Symbol.asyncDispose]: async () => undefined }
    case 'edgesql': {
      const where = edgeDatabaseOf(env)
      return where
        ? inDatabase(where)
        : onHosts('edgesql needs INSIGHTS_EDGESQL or CONVERSATIONS_EDGESQL, which are not set')
    }
    case 'postgres': {
      const where = postgresDatabase(env)
      return where
        ? inDatabase(where)
        : onHosts('postgres needs a PostgreSQL database, such as DATABASE_URL, which is not set')
    }
    case 'convstore':
      return read(insightStoreSettings, env).CONVSTORE_API_KEY === undefined
        ? onHosts('convstore needs CONVSTORE_API_KEY, the project key of the conversation service, which is not set')
        : inConversationService({ env, net, log })
  }
}

const edgeDatabaseOf = (env: Environment): StateDatabase | undefined => {
  const { INSIGHTS_EDGESQL: own, CONVERSATIONS_EDGESQL: other } = read(insightStoreSettings, env)
  const address = own ?? other
  return address === undefined ? undefined : edgeDatabase(address)
}

const inDatabase = async (where: StateDatabase): Promise<OpenInsightStore> => {
  await using opened = new AsyncDisposableStack()
  // Loaded only where there is one, as the drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const database = opened.use(await openDatabase(where))
  const store = collectedInsights(await openCollections('insights', [insightCollection], database))
  const held = opened.move()
  return { store, reason: null, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const inConversationService = async (place: Pick<Place, 'env' | 'net' | 'log'>): Promise<OpenInsightStore> => {
  const [{ openThreadClient }, { convstoreInsights }] = await Promise.all([
    import('#shared/convstore/client.ts'),
    import('./convstore.ts'),
  ])
  const store = convstoreInsights(openThreadClient(place))
  return { store, reason: null, [Symbol.asyncDispose]: async () => undefined }
}

/** Each host keeps its own, in the table `monitoring_findings`, which `query` reads and writes. */
export const clickhouseStore = (client: Client<typeof query>, log: Logger): InsightStore => ({
  backend: 'clickhouse',
  list: ({ ids, ...filter }, call) => client.storedFindings({ ...filter, ...(ids && { ids: [...ids] }) }, call),
  async put(hostKey, insights, version, call) {
    for (let from = 0; from < insights.length; from += mostInsightsAtOnce) {
      await client.keepFindings({ hostKey, insights: insights.slice(from, from + mostInsightsAtOnce), version }, call)
    }
  },
  async prune(beforeMs, call) {
    let removed = 0
    for (const { key: hostKey } of await client.hosts({}, call)) {
      try {
        removed += (await client.pruneFindings({ hostKey, beforeMs }, call)).removed
      } catch (error) {
        // One host that does not answer, or may not be written, keeps nobody else's old insights.
        log.warn({ err: error, hostKey }, 'old insights are not removed')
      }
    }
    return removed
  },
})
