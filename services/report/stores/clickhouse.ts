import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Logger } from 'pino'
import { mostInsightsAtOnce } from '#proto/insight-rows.ts'
import type { InsightStore } from './store.ts'

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
