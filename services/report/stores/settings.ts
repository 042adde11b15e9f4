import { oneOf, whole } from '#shared/config/setting.ts'
import { convstoreSettings } from '#shared/convstore/config.ts'
import { edgeBinding, edgeDatabaseUrl } from '#shared/store/edge-binding.ts'

const backends = ['auto', 'clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const

/** Settings for the backend of the insight store, the scan interval and the retention. */
export const insightStoreSettings = {
  INSIGHTS_STORE_BACKEND: oneOf(
    backends,
    'auto',
    'Insights store. auto means clickhouse: the table monitoring_findings on each host. A store that is not configured is replaced by clickhouse, with a warning.',
  ),
  INSIGHTS_EDGESQL: edgeDatabaseUrl('SQLite database of the edgesql insights store; CONVERSATIONS_EDGESQL by default.'),
  ...edgeBinding,
  ...convstoreSettings,
  SVC_INSIGHTS_INTERVAL_MINUTES: whole(
    60,
    'Interval of scheduled insight scans in minutes; 0 disables them, so that scans run on request only.',
    { max: 10_080 },
  ),
  SVC_INSIGHTS_DAYS: whole(90, 'Retention of insights in days.', { min: 1, max: 3_650 }),
} as const
