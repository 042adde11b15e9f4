/** The server that stands in for the replication service, for browser tests too. */
export { type ReplicationStandIn, startReplicationService } from '../query/testing/replication-service.ts'
