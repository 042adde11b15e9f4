/** A fake replication service. Browser tests use it too. */
export { type SimulatedReplicationService, startReplicationService } from '../query/testing/replication-service.ts'
