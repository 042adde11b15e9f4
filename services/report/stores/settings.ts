import { oneOf, whole } from '#shared/config/setting.ts'
import { convstoreSettings } from '#shared/convstore/config.ts'
import { edgeBinding, edgeDatabaseUrl } from '#shared/store/edge-binding.ts'

const backends = ['auto', 'clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const

/** Where insights are kept, and for how long. */
export const insightStoreSettings = {
  INSIGHTS_STORE_BACKEND: oneOf(
    backends,
    'auto',
    'Where insights are kept. auto is clickhouse: the table monitoring_findings of each host. One whose prerequisite is missing gives way to clickhouse, with a warning.',
  ),
  INSIGHTS_EDGESQL: edgeDatabaseUrl(
    'SQLite database of the edgesql store of insights; CONVERSATIONS_EDGESQL by default.',
  ),
  ...edgeBinding,
  ...convstoreSettings,
  SVC_INSIGHTS_INTERVAL_MINUTES: whole(
    60,
    'Hosts are looked at for insights as often as this without being asked to, in minutes; 0 leaves that to whoever asks.',
    { max: 10_080 },
  ),
  SVC_INSIGHTS_DAYS: whole(90, 'Insights are removed this many days after they were found.', { min: 1, max: 3_650 }),
} as const
