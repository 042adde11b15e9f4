/** A fake replication service, also for browser tests. */
export { type ReplicationStandIn, startReplicationService } from '../query/testing/replication-service.ts'
