import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { analysed, shownWindow } from '../analysis/analysis-window.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
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
    const { told, unavailable } = await askFor(parts.client, host, needs, call, async () =>
      readRecords(host, CostRow, await parts.client.run(host, ownCostStatement(analysis.scope), call)),
    )
    return { cost: told && ownCostOf(told), window, unavailable }
  }
