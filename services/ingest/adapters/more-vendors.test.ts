import { sampleTime, sampleTimeSeconds, defineVendorTests } from './testing/check-vendor.ts'

const repository = { full_name: 'acme/shop', html_url: 'https://github.com/acme/shop' }
const sender = { login: 'ada' }
const deployment = (state: string) => ({
  action: 'created',
  deployment_status: { id: 9, state, description: 'rolled out', target_url: 'https://ci/9', created_at: sampleTime },
  deployment: { id: 1, environment: 'production', ref: 'main', task: 'deploy' },
  repository,
  sender,
})
const checkRun = (conclusion: string | null) => ({
  action: 'completed',
  check_run: {
    id: 4,
    name: 'test',
    status: 'completed',
    conclusion,
    html_url: 'https://github.com/acme/shop/runs/4',
    completed_at: sampleTime,
    output: { title: '3 failures', summary: '' },
    check_suite: { head_branch: 'main' },
  },
  repository,
  sender,
})
const dependabot = (action: string) => ({
  action,
  alert: {
    number: 12,
    state: 'open',
    created_at: sampleTime,
    html_url: 'https://github.com/acme/shop/security/dependabot/12',
    security_advisory: { summary: 'Prototype pollution', severity: 'high' },
  },
  repository,
  sender,
})
const github = (event: string) => ({ 'x-github-event': event })
defineVendorTests('github', [
  [
    'a failed deployment',
    deployment('failure'),
    {
      key: 'deployment:acme/shop:production',
      status: 'firing',
      severity: 'warning',
      title: 'Deployment to production',
      resource: 'acme/shop',
      at: sampleTime,
      url: 'https://ci/9',
    },
    github('deployment_status'),
  ],
  [
    'a successful deployment, which never fires',
    deployment('success'),
    {
      key: 'deployment:acme/shop:production',
      status: 'resolved',
      severity: 'warning',
      title: 'Deployment to production',
      url: 'https://ci/9',
    },
    github('deployment_status'),
  ],
  [
    'a deployment in progress',
    deployment('in_progress'),
    {
      key: 'deployment:acme/shop:production',
      status: 'info',
      severity: 'warning',
      title: 'Deployment to production',
      url: 'https://ci/9',
    },
  ],
  [
    'a failed check',
    checkRun('failure'),
    {
      key: 'check:acme/shop:main:test',
      status: 'firing',
      severity: 'warning',
      title: 'test on main',
      at: sampleTime,
      url: 'https://github.com/acme/shop/runs/4',
    },
    github('check_run'),
  ],
  [
    'the same check passed',
    checkRun('success'),
    {
      key: 'check:acme/shop:main:test',
      status: 'resolved',
      severity: 'warning',
      title: 'test on main',
      url: 'https://github.com/acme/shop/runs/4',
    },
    github('check_run'),
  ],
  [
    'a new Dependabot alert',
    dependabot('created'),
    {
      key: 'dependabot_alert:acme/shop:12',
      status: 'firing',
      severity: 'critical',
      title: 'Prototype pollution',
      at: sampleTime,
      url: 'https://github.com/acme/shop/security/dependabot/12',
    },
    github('dependabot_alert'),
  ],
  [
    'a fixed Dependabot alert, recognized by its fields',
    dependabot('fixed'),
    {
      key: 'dependabot_alert:acme/shop:12',
      status: 'resolved',
      severity: 'critical',
      title: 'Prototype pollution',
      url: 'https://github.com/acme/shop/security/dependabot/12',
    },
  ],
  [
    'a star',
    { action: 'created', repository, sender },
    { key: null, status: 'info', severity: null, title: 'acme/shop: star created' },
    github('star'),
  ],
])

const newRelic = (more: object = {}) => ({
  id: '0ea2df1c-adab-45d2-aae0-042b609d2322',
  issueUrl: 'https://one.newrelic.com/issue/0ea2df1c',
  title: 'Disk is full on db-1',
  priority: 'CRITICAL',
  impactedEntities: ['db-1'],
  totalIncidents: 1,
  state: 'ACTIVATED',
  createdAt: sampleTimeSeconds * 1_000,
  updatedAt: sampleTimeSeconds * 1_000,
  alertPolicyNames: ['Databases'],
  alertConditionNames: ['Disk'],
  workflowName: 'watchhouse',
  ...more,
})
const issueId = '0ea2df1c-adab-45d2-aae0-042b609d2322'
const newRelicTitle = 'Disk is full on db-1'
defineVendorTests('new-relic', [
  [
    'an activated issue',
    newRelic(),
    {
      key: issueId,
      status: 'firing',
      severity: 'critical',
      title: newRelicTitle,
      resource: 'db-1',
      at: sampleTime,
      url: 'https://one.newrelic.com/issue/0ea2df1c',
    },
  ],
  [
    'an acknowledged issue',
    newRelic({ state: 'ACKNOWLEDGED' }),
    {
      key: issueId,
      status: 'acknowledged',
      severity: 'critical',
      title: newRelicTitle,
      url: 'https://one.newrelic.com/issue/0ea2df1c',
    },
  ],
  [
    'a closed issue of high priority',
    newRelic({ state: 'CLOSED', priority: 'HIGH' }),
    {
      key: issueId,
      status: 'resolved',
      severity: 'warning',
      title: newRelicTitle,
      at: sampleTime,
      url: 'https://one.newrelic.com/issue/0ea2df1c',
    },
  ],
  [
    'an incident of a notification channel',
    {
      account_id: 1,
      condition_id: 5,
      condition_name: 'Disk',
      current_state: 'open',
      details: 'over 90 %',
      event_type: 'INCIDENT',
      incident_id: 321,
      incident_url: 'https://alerts.newrelic.com/incidents/321',
      policy_name: 'Databases',
      severity: 'WARNING',
      targets: [{ name: 'db-1' }],
      timestamp: sampleTimeSeconds * 1_000,
    },
    {
      key: '321',
      status: 'firing',
      severity: 'warning',
      title: 'Disk',
      resource: 'db-1',
      at: sampleTime,
      url: 'https://alerts.newrelic.com/incidents/321',
    },
  ],
])

const zabbix = (more: object = {}) => ({
  event_source: '0',
  event_id: '4711',
  event_value: '1',
  event_update_status: '0',
  event_name: 'Disk is full on db-1',
  event_nseverity: '4',
  event_severity: 'High',
  host_name: 'db-1',
  trigger_id: '15',
  zabbix_url: 'https://zabbix.example/',
  alert_message: '95 % used',
  ...more,
})
defineVendorTests('zabbix', [
  [
    'a problem',
    zabbix(),
    {
      key: '4711',
      status: 'firing',
      severity: 'critical',
      title: 'Disk is full on db-1',
      resource: 'db-1',
      url: 'https://zabbix.example/tr_events.php?triggerid=15&eventid=4711',
    },
  ],
  [
    'its recovery',
    zabbix({ event_value: '0' }),
    {
      key: '4711',
      status: 'resolved',
      severity: 'critical',
      title: 'Disk is full on db-1',
      url: 'https://zabbix.example/tr_events.php?triggerid=15&eventid=4711',
    },
  ],
  [
    'its acknowledgement',
    zabbix({ event_update_status: '1', event_update_action: 'acknowledged' }),
    {
      key: '4711',
      status: 'acknowledged',
      severity: 'critical',
      title: 'Disk is full on db-1',
      url: 'https://zabbix.example/tr_events.php?triggerid=15&eventid=4711',
    },
  ],
  [
    'an average problem, by its word',
    zabbix({ event_nseverity: undefined, event_severity: 'Average' }),
    {
      key: '4711',
      status: 'firing',
      severity: 'warning',
      title: 'Disk is full on db-1',
      url: 'https://zabbix.example/tr_events.php?triggerid=15&eventid=4711',
    },
  ],
  [
    'a problem of a connector',
    {
      clock: sampleTimeSeconds,
      ns: 5,
      value: 1,
      eventid: 42,
      name: 'Disk is full',
      severity: 5,
      hosts: [{ host: 'db-1', name: 'Database 1' }],
      groups: ['Databases'],
      tags: [{ tag: 'scope', value: 'capacity' }],
    },
    {
      key: '42',
      status: 'firing',
      severity: 'critical',
      title: 'Disk is full',
      resource: 'Database 1',
      at: sampleTime,
    },
  ],
  [
    'the recovery of a connector, which names its problem',
    { clock: sampleTimeSeconds, ns: 5, value: 0, eventid: 43, p_eventid: 42 },
    { key: '42', status: 'resolved', severity: null, title: '', at: sampleTime },
  ],
])

const checkmk = (more: object = {}) => ({
  OMD_SITE: 'central',
  NOTIFICATIONTYPE: 'PROBLEM',
  WHAT: 'SERVICE',
  HOSTNAME: 'db-1',
  HOSTSTATE: 'UP',
  SERVICEDESC: 'Filesystem /',
  SERVICESTATE: 'CRITICAL',
  SERVICEOUTPUT: 'CRIT - 95.0% used',
  MICROTIME: `${sampleTimeSeconds}000000`,
  ...more,
})
defineVendorTests('checkmk', [
  [
    'a problem of a service',
    checkmk(),
    {
      key: 'central:db-1:Filesystem /',
      status: 'firing',
      severity: 'critical',
      title: 'Filesystem / on db-1',
      resource: 'db-1',
      at: sampleTime,
    },
  ],
  [
    'its recovery',
    checkmk({ NOTIFICATIONTYPE: 'RECOVERY', SERVICESTATE: 'OK' }),
    { key: 'central:db-1:Filesystem /', status: 'resolved', severity: 'info', title: 'Filesystem / on db-1' },
  ],
  [
    'its acknowledgement',
    checkmk({ NOTIFICATIONTYPE: 'ACKNOWLEDGEMENT', SERVICESTATE: 'WARNING' }),
    { key: 'central:db-1:Filesystem /', status: 'acknowledged', severity: 'warning', title: 'Filesystem / on db-1' },
  ],
  [
    'a host that is down, by the names that scripts see',
    { NOTIFY_NOTIFICATIONTYPE: 'PROBLEM', NOTIFY_HOSTNAME: 'db-1', NOTIFY_HOSTSTATE: 'DOWN' },
    { key: 'db-1', status: 'firing', severity: 'critical', title: 'db-1 DOWN' },
  ],
  [
    'a downtime',
    checkmk({ NOTIFICATIONTYPE: 'DOWNTIMESTART' }),
    { key: 'central:db-1:Filesystem /', status: 'info', severity: 'critical', title: 'Filesystem / on db-1' },
  ],
])

const code = 'f618072a-7bde-4eee-af63-71a77c5723bc'
defineVendorTests('healthchecks', [
  [
    'a job that is down',
    { code, name: 'backup', status: 'down', now: sampleTime, tags: 'prod db' },
    { key: code, status: 'firing', severity: 'critical', title: 'backup', resource: 'backup', at: sampleTime },
  ],
  [
    'its recovery',
    { code, name: 'backup', status: 'up' },
    { key: code, status: 'resolved', severity: 'critical', title: 'backup' },
  ],
  [
    'a job without a name',
    { code, name: '', status: 'down' },
    { key: code, status: 'firing', severity: 'critical', title: code },
  ],
  [
    'the body of a ping',
    { code, name: 'backup', status: 'down', body: 'disk full' },
    { key: code, status: 'firing', severity: 'critical', title: 'backup' },
  ],
])
