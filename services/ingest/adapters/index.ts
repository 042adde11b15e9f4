import type { Adapter } from './adapter.ts'
import { alertmanager } from './alertmanager.ts'
import { binaryCloudEvents, cloudEvents } from './cloud-events.ts'
import { datadog } from './datadog.ts'
import { generic } from './generic.ts'
import { grafana } from './grafana.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerDuty, pagerDutyEvents } from './pagerduty.ts'

/** Every shape that is known, the first that recognises an object reads it; the last one takes what is left. */
export const adapters: readonly Adapter[] = [
  binaryCloudEvents,
  cloudEvents,
  grafana,
  alertmanager,
  pagerDuty,
  pagerDutyEvents,
  opsgenie,
  datadog,
  generic,
]
