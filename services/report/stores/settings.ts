import { choiceSetting, wholeNumberSetting } from '#shared/config/setting.ts'
import { convstoreSettings } from '#shared/convstore/config.ts'
import { edgeBindingSettings, edgeDatabaseUrlSetting } from '#shared/store/edge-binding.ts'

const backends = ['auto', 'clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const

/** Settings for the backend of the insight store, the scan interval and the retention. */
export const insightStoreSettings = {
  INSIGHTS_STORE_BACKEND: choiceSetting(
    backends,
    'auto',
    'Insights store. auto means clickhouse: the table monitoring_findings on each host. A store that is not configured is replaced by clickhouse, with a warning.',
  ),
  INSIGHTS_EDGESQL: edgeDatabaseUrlSetting(
    'SQLite database of the edgesql insights store; CONVERSATIONS_EDGESQL by default.',
  ),
  ...edgeBindingSettings,
  ...convstoreSettings,
  SVC_INSIGHTS_INTERVAL_MINUTES: wholeNumberSetting(
    60,
    'Interval of scheduled insight scans in minutes; 0 disables them, so that scans run on request only.',
    { max: 10_080 },
  ),
  SVC_INSIGHTS_DAYS: wholeNumberSetting(90, 'Retention of insights in days.', { min: 1, max: 3_650 }),
} as const
