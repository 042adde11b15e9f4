import type { EventAdapter } from './adapter.ts'
import { alertmanager } from './alertmanager.ts'
import { azureMonitor } from './azure-monitor.ts'
import { checkmk } from './checkmk.ts'
import { binaryCloudEvents, cloudEvents } from './cloud-events.ts'
import { cloudWatch, cloudWatchEvent } from './cloudwatch.ts'
import { datadog } from './datadog.ts'
import { gcpMonitoring } from './gcp-monitoring.ts'
import { genericAdapter } from './generic.ts'
import { github } from './github.ts'
import { grafana } from './grafana.ts'
import { healthchecks } from './healthchecks.ts'
import { newRelic, newRelicIncident } from './new-relic.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerDuty, pagerDutyEvents } from './pagerduty.ts'
import { prometheus } from './prometheus.ts'
import { sentry } from './sentry.ts'
import { sns } from './sns.ts'
import { uptimeKuma } from './uptime-kuma.ts'
import { zabbix, zabbixConnector } from './zabbix.ts'

/** All adapters; the first one that recognizes an object parses it, and the last one accepts any object. */
export const adapters: readonly EventAdapter[] = [
  binaryCloudEvents,
  cloudEvents,
  grafana,
  alertmanager,
  pagerDuty,
  pagerDutyEvents,
  opsgenie,
  datadog,
  prometheus,
  sentry,
  github,
  sns,
  cloudWatch,
  cloudWatchEvent,
  azureMonitor,
  gcpMonitoring,
  newRelic,
  newRelicIncident,
  uptimeKuma,
  zabbix,
  zabbixConnector,
  checkmk,
  healthchecks,
  genericAdapter,
]
