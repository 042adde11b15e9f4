import { sampleTime, sampleTimeSeconds, defineVendorTests } from './testing/check-vendor.ts'

const alert = (more: object = {}) => ({
  status: 'firing',
  labels: { alertname: 'DiskFull', severity: 'critical', instance: 'db-1:9100' },
  annotations: { summary: 'Disk is full' },
  startsAt: sampleTime,
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus/graph',
  fingerprint: '3f1a',
  ...more,
})
const ended = { status: 'resolved', startsAt: '2026-03-01T09:00:00Z', endsAt: sampleTime }
const alertTitle = { key: '3f1a', title: 'Disk is full' }
const graph = { url: 'http://prometheus/graph' }

const group = (more: object = {}) => ({ version: '4', groupKey: 'g', receiver: 'watchhouse', alerts: [alert(more)] })
const labels = (severity?: string) => ({ labels: { alertname: 'DiskFull', severity } })
defineVendorTests('alertmanager', [
  [
    'a firing alert',
    group(),
    { ...alertTitle, status: 'firing', severity: 'critical', resource: 'db-1:9100', at: sampleTime, ...graph },
  ],
  ['its end', group(ended), { ...alertTitle, status: 'resolved', severity: 'critical', at: sampleTime, ...graph }],
  ['a warning', group(labels('warning')), { ...alertTitle, status: 'firing', severity: 'warning', ...graph }],
  ['an alert without severity', group(labels()), { ...alertTitle, status: 'firing', severity: null, ...graph }],
])

const grafana = (more: object = {}) => ({ ...group(more), version: '1', orgId: 1, state: 'alerting' })
const panel = 'https://grafana.example/d/abc?viewPanel=1'
defineVendorTests('grafana', [
  [
    'a firing alert with a panel',
    grafana({ panelURL: panel, dashboardURL: 'https://grafana.example/d/abc' }),
    { ...alertTitle, status: 'firing', severity: 'critical', resource: 'db-1:9100', at: sampleTime, url: panel },
  ],
  [
    'an alert with a dashboard only',
    grafana({ panelURL: '', dashboardURL: 'https://grafana.example/d/abc' }),
    { ...alertTitle, status: 'firing', severity: 'critical', url: 'https://grafana.example/d/abc' },
  ],
  ['its end', grafana(ended), { ...alertTitle, status: 'resolved', severity: 'critical', at: sampleTime, ...graph }],
  [
    'missing data',
    grafana({ labels: { alertname: 'DatasourceNoData' }, annotations: {} }),
    { key: '3f1a', title: 'DatasourceNoData', status: 'firing', severity: null, ...graph },
  ],
])

const incidentUrl = 'https://acme.pagerduty.com/incidents/PGR0VU2'
const pagerDuty = (type: string, data: object = {}) => ({
  event: {
    id: '5ac64822-4adc-4fda-ade0-410becf0de4f',
    event_type: `incident.${type}`,
    resource_type: 'incident',
    occurred_at: sampleTime,
    data: {
      id: 'PGR0VU2',
      type: 'incident',
      html_url: incidentUrl,
      title: 'Disk is full',
      service: { id: 'PF9KMXH', summary: 'Databases' },
      urgency: 'high',
      ...data,
    },
  },
})
const incident = { key: 'PGR0VU2', title: 'Disk is full', url: incidentUrl }
defineVendorTests('pagerduty', [
  [
    'a triggered incident',
    pagerDuty('triggered'),
    { ...incident, status: 'firing', severity: 'critical', resource: 'Databases', at: sampleTime },
  ],
  [
    'an acknowledged incident',
    pagerDuty('acknowledged'),
    { ...incident, status: 'acknowledged', severity: 'critical' },
  ],
  [
    'a resolved incident of low urgency',
    pagerDuty('resolved', { urgency: 'low' }),
    { ...incident, status: 'resolved', severity: 'warning', at: sampleTime },
  ],
  [
    'a reopened incident with a priority',
    pagerDuty('reopened', { priority: { summary: 'P3' } }),
    { ...incident, status: 'firing', severity: 'warning' },
  ],
  ['a note', pagerDuty('annotated'), { ...incident, status: 'info', severity: 'critical' }],
])

const opsgenie = (action: string, more: object = {}) => ({
  action,
  alert: {
    alertId: '052652ac-5d1c-464a-812a-7dd18bbfba8c',
    message: 'Disk is full',
    alias: 'disk-db-1',
    entity: 'db-1',
    priority: 'P1',
    createdAt: Date.parse(sampleTime),
    ...more,
  },
})
const opsgenieAlert = { key: 'disk-db-1', title: 'Disk is full' }
defineVendorTests('opsgenie', [
  [
    'a created alert',
    opsgenie('Create'),
    { ...opsgenieAlert, status: 'firing', severity: 'critical', resource: 'db-1', at: sampleTime },
  ],
  [
    'an acknowledged alert',
    opsgenie('Acknowledge'),
    { ...opsgenieAlert, status: 'acknowledged', severity: 'critical' },
  ],
  [
    'a closed alert',
    opsgenie('Close', { priority: 'P3' }),
    { ...opsgenieAlert, status: 'resolved', severity: 'warning', at: null },
  ],
  ['a note', opsgenie('AddNote'), { ...opsgenieAlert, status: 'info', severity: 'critical' }],
])

const cloudEvent = (data: object) => ({
  specversion: '1.0',
  id: 'A234-1234-1234',
  source: '/disks',
  type: 'com.example.disk',
  time: sampleTime,
  data: { fingerprint: 'disk-db-1', title: 'Disk is full', ...data },
})
const cloudEventKey = { key: 'disk-db-1', title: 'Disk is full' }
defineVendorTests('cloudevents', [
  [
    'a critical event',
    cloudEvent({ severity: 'critical', status: 'firing', url: 'https://disks.example/1' }),
    {
      ...cloudEventKey,
      status: 'firing',
      severity: 'critical',
      at: sampleTime,
      url: 'https://disks.example/1',
    },
  ],
  [
    'its end',
    cloudEvent({ severity: 'critical', status: 'resolved' }),
    { ...cloudEventKey, status: 'resolved', severity: 'critical' },
  ],
  [
    'a severity alone',
    cloudEvent({ severity: 'warning' }),
    { ...cloudEventKey, status: 'firing', severity: 'warning' },
  ],
  ['neither', cloudEvent({}), { ...cloudEventKey, status: 'info', severity: null }],
])

const topic = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
const snsMessage = (more: object = {}) => ({
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: topic,
  Subject: 'My First Message',
  Message: 'Hello world!',
  Timestamp: sampleTime,
  SignatureVersion: '1',
  ...more,
})
const message = { key: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324', status: 'info', severity: null, resource: topic }
defineVendorTests('sns', [
  ['a text', snsMessage(), { ...message, title: 'My First Message', at: sampleTime }],
  ['a text without a subject', snsMessage({ Subject: undefined }), { ...message, title: 'Hello world!' }],
  [
    'a confirmed subscription',
    snsMessage({ Type: 'SubscriptionConfirmation', Subject: undefined }),
    { ...message, title: 'SNS subscription confirmed' },
  ],
  [
    'a removed subscription',
    snsMessage({ Type: 'UnsubscribeConfirmation', Subject: undefined }),
    { ...message, title: 'SNS subscription removed' },
  ],
])

const prometheusAlert = (more: object = {}) => ({
  labels: { alertname: 'DiskFull', instance: 'db-1:9100', severity: 'critical' },
  annotations: { summary: 'Disk is full' },
  startsAt: sampleTime,
  endsAt: '2999-01-01T00:00:00Z',
  generatorURL: 'http://prometheus/graph',
  ...more,
})
const labelsKey = '[["alertname","DiskFull"],["instance","db-1:9100"],["severity","critical"]]'
defineVendorTests('prometheus', [
  [
    'an alert',
    [prometheusAlert()],
    {
      key: labelsKey,
      status: 'firing',
      severity: 'critical',
      title: 'Disk is full',
      resource: 'db-1:9100',
      at: sampleTime,
      url: 'http://prometheus/graph',
    },
  ],
  [
    'its end',
    [prometheusAlert({ startsAt: '2026-03-01T09:00:00Z', endsAt: sampleTime })],
    {
      key: labelsKey,
      status: 'resolved',
      severity: 'critical',
      title: 'Disk is full',
      at: sampleTime,
      url: 'http://prometheus/graph',
    },
  ],
  [
    'an alert without an end',
    [prometheusAlert({ endsAt: undefined })],
    { key: labelsKey, status: 'firing', severity: 'critical', title: 'Disk is full', url: 'http://prometheus/graph' },
  ],
  [
    'labels alone',
    [{ labels: { alertname: 'DiskFull' } }],
    { key: '[["alertname","DiskFull"]]', status: 'firing', severity: null, title: 'DiskFull' },
  ],
])

const datadog = (title: string) => ({
  id: '7',
  title,
  event_type: 'metric_alert_monitor',
  org: { id: '1' },
  date: String(sampleTimeSeconds * 1_000),
})
defineVendorTests('datadog', [
  [
    'a priority in the title',
    datadog('[P2] [Triggered on {host:db-1}] Disk'),
    {
      key: 'title:Disk on {host:db-1}',
      status: 'firing',
      severity: 'critical',
      title: 'Disk on {host:db-1}',
      at: sampleTime,
    },
  ],
  [
    'a low priority in the title',
    datadog('[P4] [Triggered] Disk'),
    { key: 'title:Disk', status: 'firing', severity: 'info', title: 'Disk' },
  ],
  [
    'the recovery of the same group',
    datadog('[P2] [Recovered on {host:db-1}] Disk'),
    { key: 'title:Disk on {host:db-1}', status: 'resolved', severity: 'critical', title: 'Disk on {host:db-1}' },
  ],
  [
    'a warning',
    datadog('[P3] [Warn] Disk'),
    { key: 'title:Disk', status: 'firing', severity: 'warning', title: 'Disk' },
  ],
])

defineVendorTests('generic', [
  [
    'a success',
    { title: 'Backup', status: 'success' },
    { key: null, status: 'resolved', severity: 'info', title: 'Backup' },
  ],
  [
    'a passed run',
    { title: 'Nightly', state: 'passed' },
    { key: null, status: 'resolved', severity: null, title: 'Nightly' },
  ],
  [
    'a failure',
    { title: 'Backup', status: 'failure' },
    { key: null, status: 'firing', severity: null, title: 'Backup' },
  ],
  [
    'a run in progress',
    { title: 'Nightly', status: 'running' },
    { key: null, status: 'info', severity: null, title: 'Nightly' },
  ],
])
