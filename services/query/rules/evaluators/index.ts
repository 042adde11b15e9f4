import type { Evaluator } from './evaluator.ts'
import { authOrGrantDenied } from './auth-or-grant-denied.ts'
import { diskDaysToFull } from './disk-days-to-full.ts'
import { hostUnreachable, keeperUnreachable } from './unreachable.ts'
import { keeperNode } from './keeper-figures.ts'
import { replicationServiceEvaluators } from './replication-service.ts'
import { restarted, settingsChanged, versionChanged } from './changed.ts'
import { tlsExpiry } from './tls-expiry.ts'

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
