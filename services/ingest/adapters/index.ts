import type { EventAdapter } from './adapter.ts'
import { alertmanager } from './alertmanager.ts'
import { azureMonitorAdapter } from './azure-monitor.ts'
import { checkmk } from './checkmk.ts'
import { binaryCloudEventsAdapter, cloudEventsAdapter } from './cloud-events.ts'
import { cloudWatchAdapter, cloudWatchEventAdapter } from './cloudwatch.ts'
import { datadog } from './datadog.ts'
import { gcpMonitoringAdapter } from './gcp-monitoring.ts'
import { genericAdapter } from './generic.ts'
import { github } from './github.ts'
import { grafana } from './grafana.ts'
import { healthchecks } from './healthchecks.ts'
import { newRelicAdapter, newRelicIncidentAdapter } from './new-relic.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerDutyAdapter, pagerDutyEventsAdapter } from './pagerduty.ts'
import { prometheus } from './prometheus.ts'
import { sentry } from './sentry.ts'
import { sns } from './sns.ts'
import { uptimeKumaAdapter } from './uptime-kuma.ts'
import { zabbix, zabbixConnectorAdapter } from './zabbix.ts'

/** All adapters; the first one that recognizes an object parses it, and the last one accepts any object. */
export const adapters: readonly EventAdapter[] = [
  binaryCloudEventsAdapter,
  cloudEventsAdapter,
  grafana,
  alertmanager,
  pagerDutyAdapter,
  pagerDutyEventsAdapter,
  opsgenie,
  datadog,
  prometheus,
  sentry,
  github,
  sns,
  cloudWatchAdapter,
  cloudWatchEventAdapter,
  azureMonitorAdapter,
  gcpMonitoringAdapter,
  newRelicAdapter,
  newRelicIncidentAdapter,
  uptimeKumaAdapter,
  zabbix,
  zabbixConnectorAdapter,
  checkmk,
  healthchecks,
  genericAdapter,
]
