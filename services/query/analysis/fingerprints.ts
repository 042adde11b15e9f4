import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { figure, readRecords } from './records.ts'
import { analysed, shownWindow } from './analysis-window.ts'
import { FingerprintRow } from './fingerprint-records.ts'
import { fingerprintsStatement } from './fingerprint-statement.ts'
import { missingNeeds, unavailableBy } from '../clickhouse/availability.ts'
import { statementFacts } from '../clickhouse/statement-facts.ts'
import type { Parts } from '../parts.ts'

const needs = { requires: ['system.query_log'] }
const Listed = FingerprintRow.extend({ total: figure })

/** Patterns of statements, those that matter most first. */
export const fingerprints =
  (parts: Parts): Handlers<typeof query>['fingerprints'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await analysed(parts, host, input, call)
    const empty = { fingerprints: [], total: null, window: shownWindow(window), statement: null }
    const missing = await missingNeeds(parts.client, host, needs, call)
    if (missing) return { ...empty, unavailable: missing }
    const statement = fingerprintsStatement(input, scope)
    try {
      const answer = await parts.client.run(host, statement, call)
      const rows = readRecords(host, Listed, answer)
      return {
        fingerprints: rows.map(({ total: _total, ...row }) => row),
        total: rows[0]?.total ?? (input.offset === 0 ? 0 : null),
        window: shownWindow(window),
        unavailable: null,
        statement: statementFacts(host, statement, answer, rows.length, scope.zone),
      }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, needs, error)
      if (unavailable) return { ...empty, unavailable }
      throw error
    }
  }
