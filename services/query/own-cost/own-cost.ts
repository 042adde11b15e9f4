import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { analysed, shownWindow } from '../analysis/analysis-window.ts'
import { readRecords } from '../analysis/records.ts'
import { missingNeeds, unavailableBy } from '../availability.ts'
import type { Parts } from '../handlers/parts.ts'
import { CostRow, ownCostOf, ownCostStatement } from './own-cost-statement.ts'

const needs = { requires: ['system.query_log'] }

/** What the product's own statements cost one host. */
export const ownCost =
  (parts: Parts): Handlers<typeof query>['ownCost'] =>
  async ({ hostKey, ...asked }, call) => {
    const host = parts.hosts.get(hostKey)
    const analysis = await analysed(parts, host, asked, call)
    const window = { ...shownWindow(analysis.window), interval: null }
    const missing = await missingNeeds(parts.client, host, needs, call)
    if (missing) return { cost: null, window, unavailable: missing }
    try {
      const answer = await parts.client.run(host, ownCostStatement(analysis.scope), call)
      return { cost: ownCostOf(readRecords(host, CostRow, answer)), window, unavailable: null }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, needs, error)
      if (unavailable) return { cost: null, window, unavailable }
      throw error
    }
  }
