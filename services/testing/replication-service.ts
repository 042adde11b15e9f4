/** A fake replication service. Browser tests use it too. */
export { type ReplicationStandIn, startReplicationService } from '../query/testing/replication-service.ts'
