import { toGrantStatements } from '../../clickhouse/show-privileges.ts'
import { createMeasurement, createMissingMeasurement } from '../measurement.ts'
import { evaluateRestarts, evaluateSettingsChange, evaluateVersionChange } from './changes.ts'
import { evaluateDiskDaysToFull } from './disk-days-to-full.ts'
import type { Evaluator } from './evaluator.ts'
import { evaluateHistoryBehind } from './history-behind.ts'
import { evaluateKeeperNode } from './keeper-faults.ts'
import { replicationServiceEvaluators } from './replication-service.ts'
import { evaluateTlsExpiry } from './tls-expiry.ts'
import { evaluateHostUnreachable, evaluateKeeperUnreachable } from './unreachable.ts'

/** Tables that every server has; a missing one is hidden from the user. */
const tablesOfEveryServer = [
  'asynchronous_metrics',
  'disks',
  'errors',
  'events',
  'merges',
  'metrics',
  'mutations',
  'parts',
  'processes',
  'replicas',
]

/** Returns 1 when the host rejects the configured user, else the number of hidden tables and denied rules. */
const evaluateAuthOrGrantDenied: Evaluator = async ({ contact, denied }) => {
  if (!contact.answers)
    return {
      measured: contact.isRefused ? createMeasurement(1, [contact.reason]) : createMissingMeasurement(contact.reason),
    }
  const hidden = tablesOfEveryServer
    .filter((table) => !contact.capabilities.tables.has(table))
    .map((table) => `system.${table}`)
  return { measured: createMeasurement(hidden.length + denied.length, [...hidden, ...denied]) }
}

/** Counts the missing privileges that make the host hide rows from the user. */
const evaluateInsufficientGrants: Evaluator = async ({ contact }) => {
  if (!contact.answers) return { measured: createMissingMeasurement(contact.reason) }
  const { missingShow } = contact.capabilities
  return { measured: createMeasurement(missingShow.size, toGrantStatements(missingShow)) }
}

/** Evaluators by the name that rule definitions use. */
export const evaluators: Readonly<Record<string, Evaluator>> = {
  'auth-or-grant-denied': evaluateAuthOrGrantDenied,
  'disk-days-to-full': evaluateDiskDaysToFull,
  'history-behind': evaluateHistoryBehind,
  'host-unreachable': evaluateHostUnreachable,
  'insufficient-grants': evaluateInsufficientGrants,
  'keeper-node': evaluateKeeperNode,
  'keeper-unreachable': evaluateKeeperUnreachable,
  ...replicationServiceEvaluators,
  restarted: evaluateRestarts,
  'settings-changed': evaluateSettingsChange,
  'tls-expiry': evaluateTlsExpiry,
  'version-changed': evaluateVersionChange,
}
