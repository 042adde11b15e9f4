import hostOverview from './host-overview.json' with { type: 'json' }
import ingestion from './ingestion.json' with { type: 'json' }
import mergesAndParts from './merges-and-parts.json' with { type: 'json' }
import queryPerformance from './query-performance.json' with { type: 'json' }
import replicationAndKeeper from './replication-and-keeper.json' with { type: 'json' }
import storageAndCapacity from './storage-and-capacity.json' with { type: 'json' }

/** The dashboards that are part of the product. */
export const starterDashboards: readonly { id: string; content: Readonly<Record<string, unknown>> }[] = [
  { id: 'host-overview', content: hostOverview },
  { id: 'query-performance', content: queryPerformance },
  { id: 'ingestion', content: ingestion },
  { id: 'merges-and-parts', content: mergesAndParts },
  { id: 'replication-and-keeper', content: replicationAndKeeper },
  { id: 'storage-and-capacity', content: storageAndCapacity },
]
