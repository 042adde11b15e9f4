import type { Fault, RecordedRules } from '../fault.ts'

const reason = 'needs PeerDB with a PostgreSQL source; the tests have only a simulation of its API'

/** Faults for the rules in `charts/replication-service`. */
export const replicationServiceFaults: readonly Fault[] = []

export const replicationServiceRecorded: RecordedRules = {
  'repldb-log-errors': reason,
  'repldb-mirror-failed': reason,
  'repldb-mirror-paused': reason,
  'repldb-slot-lag': reason,
  'repldb-slot-lag-growth': reason,
  'repldb-snapshot-stalled': reason,
  'repldb-unreachable': reason,
}
