import { measured, untold } from '../measured.ts'
import { restarted, settingsChanged, versionChanged } from './changed.ts'
import { diskDaysToFull } from './disk-days-to-full.ts'
import type { Evaluator } from './evaluator.ts'
import { keeperNode } from './keeper-figures.ts'
import { replicationServiceEvaluators } from './replication-service.ts'
import { tlsExpiry } from './tls-expiry.ts'
import { hostUnreachable, keeperUnreachable } from './unreachable.ts'

/** Tables of every server: one that the user does not see is closed to it. */
const everywhere = [
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

/** Whether the host refuses the configured user, or how many tables and rules are closed to it. */
const authOrGrantDenied: Evaluator = async ({ contact, denied }) => {
  if (!contact.answers) return { measured: contact.isRefused ? measured(1, [contact.reason]) : untold(contact.reason) }
  const hidden = everywhere.filter((table) => !contact.capabilities.tables.has(table)).map((table) => `system.${table}`)
  return { measured: measured(hidden.length + denied.length, [...hidden, ...denied]) }
}

/** What is no SQL, by the name that rules use. */
export const evaluators: Readonly<Record<string, Evaluator>> = {
  'auth-or-grant-denied': authOrGrantDenied,
  'disk-days-to-full': diskDaysToFull,
  'host-unreachable': hostUnreachable,
  'keeper-node': keeperNode,
  'keeper-unreachable': keeperUnreachable,
  ...replicationServiceEvaluators,
  restarted,
  'settings-changed': settingsChanged,
  'tls-expiry': tlsExpiry,
  'version-changed': versionChanged,
}
