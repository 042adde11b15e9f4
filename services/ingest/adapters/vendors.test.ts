import { sampleTime, sampleTimeSeconds, defineVendorTests } from './testing/check-vendor.ts'

const sentryIssue = (action: string, more: object = {}) => ({
  action,
  installation: { uuid: 'u' },
  data: {
    issue: {
      id: '117',
      shortId: 'SHOP-1',
      title: 'ReferenceError: heck is not defined',
      culprit: 'checkout.js',
      level: 'error',
      status: 'unresolved',
      permalink: 'https://sentry.example/issues/117/',
      lastSeen: '2026-03-01T10:00:00Z',
      project: { id: '1', slug: 'shop', name: 'Shop' },
      ...more,
    },
  },
  actor: { type: 'application', id: 'sentry', name: 'Sentry' },
})
const sentryMetric = (action: string) => ({
  action,
  data: {
    description_text: '1000 events in the last 10 minutes',
    description_title: 'Critical: Too many errors',
    metric_alert: {
      id: '4',
      identifier: '4',
      alert_rule: { id: '7', name: 'Too many errors' },
      date_detected: '2026-03-01T10:00:00Z',
      date_closed: action === 'resolved' ? '2026-03-01T10:00:00Z' : null,
      projects: ['shop'],
    },
    web_url: 'https://sentry.example/alerts/4/',
  },
})
const issueTitle = 'ReferenceError: heck is not defined'
defineVendorTests('sentry', [
  [
    'a new issue',
    sentryIssue('created'),
    {
      key: 'issue:117',
      status: 'firing',
      severity: 'warning',
      title: issueTitle,
      resource: 'shop',
      at: sampleTime,
      url: 'https://sentry.example/issues/117/',
    },
    { 'sentry-hook-resource': 'issue' },
  ],
  [
    'a fatal issue',
    sentryIssue('unresolved', { level: 'fatal' }),
    {
      key: 'issue:117',
      status: 'firing',
      severity: 'critical',
      title: issueTitle,
      url: 'https://sentry.example/issues/117/',
    },
  ],
  [
    'a resolved issue',
    sentryIssue('resolved'),
    {
      key: 'issue:117',
      status: 'resolved',
      severity: 'warning',
      title: issueTitle,
      url: 'https://sentry.example/issues/117/',
    },
  ],
  [
    'an issue alert, which the resolved issue ends',
    {
      action: 'triggered',
      data: {
        event: {
          event_id: 'e4874d664c3540c1a32eab185f12c5ab',
          issue_id: '117',
          title: issueTitle,
          level: 'error',
          environment: 'production',
          datetime: '2026-03-01T10:00:00.000000Z',
          web_url: 'https://sentry.example/issues/117/events/e4/',
        },
        triggered_rule: 'Very important alert rule',
      },
    },
    {
      key: 'issue:117',
      status: 'firing',
      severity: 'warning',
      title: issueTitle,
      resource: 'production',
      at: sampleTime,
      url: 'https://sentry.example/issues/117/events/e4/',
    },
    { 'sentry-hook-resource': 'event_alert' },
  ],
  [
    'a critical metric alert',
    sentryMetric('critical'),
    {
      key: 'metric-alert:4',
      status: 'firing',
      severity: 'critical',
      title: 'Too many errors',
      resource: 'shop',
      at: sampleTime,
      url: 'https://sentry.example/alerts/4/',
    },
  ],
  [
    'a resolved metric alert',
    sentryMetric('resolved'),
    {
      key: 'metric-alert:4',
      status: 'resolved',
      severity: null,
      title: 'Too many errors',
      at: sampleTime,
      url: 'https://sentry.example/alerts/4/',
    },
  ],
])

const alarm = (state: string, more: object = {}) => ({
  AlarmName: 'disk',
  AlarmDescription: 'Disk of the database',
  AWSAccountId: '123456789012',
  NewStateValue: state,
  NewStateReason: 'Threshold Crossed',
  StateChangeTime: '2026-03-01T10:00:00.000+0000',
  Region: 'EU (Ireland)',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:disk',
  OldStateValue: 'OK',
  Trigger: {
    MetricName: 'DiskSpaceUtilization',
    Namespace: 'System/Linux',
    Dimensions: [{ value: 'i-0f', name: 'InstanceId' }],
  },
  ...more,
})
const arn = 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:disk'
defineVendorTests('cloudwatch', [
  [
    'an alarm',
    alarm('ALARM'),
    { key: arn, status: 'firing', severity: null, title: 'disk', resource: 'i-0f', at: sampleTime },
  ],
  ['its end', alarm('OK'), { key: arn, status: 'resolved', severity: null, title: 'disk' }],
  ['missing data', alarm('INSUFFICIENT_DATA'), { key: arn, status: 'info', severity: null, title: 'disk' }],
  [
    'an alarm of EventBridge',
    {
      version: '0',
      id: 'c4c1c1c9-6542-e61b-6ef0-8c4d36933a92',
      'detail-type': 'CloudWatch Alarm State Change',
      source: 'aws.cloudwatch',
      account: '123456789012',
      time: '2026-03-01T10:00:00Z',
      region: 'eu-west-1',
      resources: [arn],
      detail: { alarmName: 'disk', state: { value: 'ALARM', reason: 'Threshold Crossed' } },
    },
    { key: arn, status: 'firing', severity: null, title: 'disk', at: sampleTime },
  ],
])

const azure = (essentials: object) => ({
  schemaId: 'azureMonitorCommonAlertSchema',
  data: {
    essentials: {
      alertId: '/subscriptions/s/providers/Microsoft.AlertsManagement/alerts/b9',
      alertRule: 'disk',
      severity: 'Sev1',
      signalType: 'Metric',
      monitorCondition: 'Fired',
      monitoringService: 'Platform',
      alertTargetIDs: ['/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/db-1'],
      configurationItems: ['db-1'],
      firedDateTime: '2026-03-01T10:00:00.000Z',
      description: 'Disk is full',
      essentialsVersion: '1.0',
      ...essentials,
    },
    alertContext: {},
  },
})
const alertId = '/subscriptions/s/providers/Microsoft.AlertsManagement/alerts/b9'
defineVendorTests('azure-monitor', [
  [
    'a fired alert',
    azure({}),
    { key: alertId, status: 'firing', severity: 'critical', title: 'disk', resource: 'db-1', at: sampleTime },
  ],
  [
    'its end',
    azure({ monitorCondition: 'Resolved', resolvedDateTime: sampleTime, firedDateTime: '2026-03-01T09:00:00Z' }),
    { key: alertId, status: 'resolved', severity: 'critical', title: 'disk', at: sampleTime },
  ],
  ['a warning', azure({ severity: 'Sev2' }), { key: alertId, status: 'firing', severity: 'warning', title: 'disk' }],
  [
    'an informational alert',
    azure({ severity: 'Sev3', configurationItems: undefined }),
    {
      key: alertId,
      status: 'firing',
      severity: 'info',
      title: 'disk',
      resource: '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/db-1',
    },
  ],
])

const gcp = (incident: object) => ({
  version: '1.2',
  incident: {
    incident_id: '0.opqiw61fsv7p',
    scoping_project_id: 'shop',
    url: 'https://console.example/incidents/0.opqiw61fsv7p',
    severity: 'CRITICAL',
    started_at: sampleTimeSeconds,
    ended_at: null,
    state: 'open',
    summary: 'CPU utilization is above 0.9',
    resource_display_name: 'db-1',
    policy_name: 'Load',
    condition_name: 'CPU usage',
    ...incident,
  },
})
defineVendorTests('gcp-monitoring', [
  [
    'an open incident',
    gcp({}),
    {
      key: '0.opqiw61fsv7p',
      status: 'firing',
      severity: 'critical',
      title: 'CPU usage',
      resource: 'db-1',
      at: sampleTime,
      url: 'https://console.example/incidents/0.opqiw61fsv7p',
    },
  ],
  [
    'a closed incident',
    gcp({ state: 'closed', started_at: sampleTimeSeconds - 600, ended_at: sampleTimeSeconds }),
    {
      key: '0.opqiw61fsv7p',
      status: 'resolved',
      severity: 'critical',
      title: 'CPU usage',
      at: sampleTime,
      url: 'https://console.example/incidents/0.opqiw61fsv7p',
    },
  ],
  [
    'a warning',
    gcp({ severity: 'Warning' }),
    {
      key: '0.opqiw61fsv7p',
      status: 'firing',
      severity: 'warning',
      title: 'CPU usage',
      url: 'https://console.example/incidents/0.opqiw61fsv7p',
    },
  ],
  [
    'an incident without severity',
    gcp({ severity: 'No severity', condition_name: '' }),
    {
      key: '0.opqiw61fsv7p',
      status: 'firing',
      severity: null,
      title: 'Load',
      url: 'https://console.example/incidents/0.opqiw61fsv7p',
    },
  ],
])

const kuma = (status: number | null, more: object = {}) => ({
  heartbeat:
    status === null
      ? null
      : { monitorID: 3, status, time: '2026-03-01 10:00:00.000Z', msg: 'timeout of 48000ms exceeded', important: true },
  monitor: { id: 3, name: 'checkout', type: 'http', url: 'https://shop.example/', hostname: null },
  msg: '[checkout] [🔴 Down] timeout of 48000ms exceeded',
  ...more,
})
defineVendorTests('uptime-kuma', [
  [
    'a monitor that is down',
    kuma(0),
    {
      key: 'monitor:3',
      status: 'firing',
      severity: 'critical',
      title: 'checkout',
      resource: 'https://shop.example/',
      url: 'https://shop.example/',
    },
  ],
  [
    'its recovery',
    kuma(1),
    { key: 'monitor:3', status: 'resolved', severity: 'info', title: 'checkout', url: 'https://shop.example/' },
  ],
  [
    'a pending check',
    kuma(2),
    { key: 'monitor:3', status: 'info', severity: 'info', title: 'checkout', url: 'https://shop.example/' },
  ],
  [
    'maintenance',
    kuma(3),
    { key: 'monitor:3', status: 'info', severity: 'info', title: 'checkout', url: 'https://shop.example/' },
  ],
  [
    'a test',
    { heartbeat: null, monitor: null, msg: 'Notification Testing' },
    { key: null, status: 'info', severity: 'info', title: 'Notification Testing' },
  ],
])
