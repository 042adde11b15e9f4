import type { Fault, RecordedRules } from '../fault.ts'
import { healthFaults, healthRecorded } from './health.ts'
import { ingestionFaults, ingestionRecorded } from './ingestion.ts'
import { keeperFaults, keeperRecorded } from './keeper.ts'
import { logsFaults, logsRecorded } from './logs.ts'
import { mergesFaults, mergesRecorded } from './merges.ts'
import { queriesFaults, queriesRecorded } from './queries.ts'
import { replicationFaults, replicationRecorded } from './replication.ts'
import { replicationServiceFaults, replicationServiceRecorded } from './replication-service.ts'
import { securityFaults, securityRecorded } from './security.ts'
import { storageFaults, storageRecorded } from './storage.ts'
import { systemFaults, systemRecorded } from './system.ts'
import { tablesFaults, tablesRecorded } from './tables.ts'

/** All faults that can be produced on the cluster. */
export const faults: readonly Fault[] = [
  ...ingestionFaults,
  ...keeperFaults,
  ...mergesFaults,
  ...logsFaults,
  ...queriesFaults,
  ...replicationFaults,
  ...replicationServiceFaults,
  ...securityFaults,
  ...healthFaults,
  ...storageFaults,
  ...systemFaults,
  ...tablesFaults,
]

/** All rules that only recorded rows prove, with the reasons. */
export const recordedRules: RecordedRules = {
  ...ingestionRecorded,
  ...keeperRecorded,
  ...mergesRecorded,
  ...logsRecorded,
  ...queriesRecorded,
  ...replicationRecorded,
  ...replicationServiceRecorded,
  ...securityRecorded,
  ...healthRecorded,
  ...storageRecorded,
  ...systemRecorded,
  ...tablesRecorded,
}
