import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { readRecords } from './records.ts'
import { analysed, shownWindow } from './analysis-window.ts'
import { slowestStatement } from './fingerprint-parts.ts'
import { ExecutionRow } from './fingerprint-records.ts'
import { missingNeeds, unavailableBy } from '../clickhouse/availability.ts'
import type { Parts } from '../parts.ts'

const needs = { requires: ['system.query_log'] }

/** Executions of one pattern that took so long. */
export const executions =
  (parts: Parts): Handlers<typeof query>['executions'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await analysed(parts, host, input, call)
    const without = { executions: [], total: 0, window: shownWindow(window) }
    const missing = await missingNeeds(parts.client, host, needs, call)
    if (missing) return { ...without, unavailable: missing }
    try {
      const rows = readRecords(host, ExecutionRow, await parts.client.run(host, slowestStatement(input, scope), call))
      const found = rows.map(({ total: _total, ...execution }) => execution)
      return { ...without, executions: found, total: rows[0]?.total ?? 0, unavailable: null }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, needs, error)
      if (unavailable) return { ...without, unavailable }
      throw error
    }
  }
