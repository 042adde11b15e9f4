import { describe, expect, it } from 'vitest'
import type { EventDraft } from './adapter.ts'
import { parseEvents } from '../accept.ts'

const parseOne = (sent: unknown, headers: Record<string, string> = {}) => parseEvents(JSON.stringify(sent), headers)

/** Returns a parsed event as one line. */
const lineOf = (event: ReturnType<typeof parseOne>[number]): string => {
  if ('error' in event) return event.error
  const { sourceType, source, dedupKey, status, severity, resource, title, occurredAt } = event
  const at = occurredAt === null ? '-' : new Date(occurredAt).toISOString()
  return [sourceType, source, dedupKey ?? '-', status, severity ?? '?', resource || '-', title || '-', at].join(' | ')
}

const alert = (more: object = {}) => ({
  status: 'firing',
  labels: { alertname: 'DiskFull', severity: 'page', instance: 'db-1:9363' },
  annotations: { summary: 'Disk is full', description: '5 % are left' },
  startsAt: '2026-03-01T10:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus/graph',
  fingerprint: 'f1',
  ...more,
})
const group = (more: object = {}) => ({
  version: '4',
  groupKey: 'g',
  status: 'firing',
  receiver: 'w',
  alerts: [alert()],
  ...more,
})
const cloudEvent = (more: object = {}) => ({
  specversion: '1.0',
  id: 'e1',
  source: '/disks',
  type: 'com.example.disk',
  time: '2026-03-01T10:00:00Z',
  data: { title: 'Disk is full', severity: 'critical', status: 'firing', host: 'db-1' },
  ...more,
})
const incident = (more: object = {}, event: object = {}) => ({
  event: {
    id: 'E1',
    event_type: 'incident.triggered',
    occurred_at: '2026-03-01T10:00:00Z',
    data: {
      id: 'P1',
      title: 'Disk is full',
      urgency: 'high',
      service: { summary: 'db' },
      html_url: 'https://pd/P1',
      ...more,
    },
    ...event,
  },
})
const opsgenie = (more: object = {}, alerted: object = {}) => ({
  action: 'Create',
  alert: {
    alertId: 'a1',
    alias: 'disk',
    message: 'Disk is full',
    priority: 'P1',
    entity: 'db-1',
    createdAt: 1772359200000,
    ...alerted,
  },
  ...more,
})
const datadog = (more: object = {}) => ({
  id: '7',
  title: 'Disk is full',
  body: 'text',
  event_type: 'metric_alert_monitor',
  org: { id: '1', name: 'o' },
  alert_transition: 'Triggered',
  alert_type: 'error',
  aggreg_key: 'k',
  hostname: 'db-1',
  date: '1772359200000',
  ...more,
})

/** Returns a webhook of Datadog with the default template, without the fields that users add. */
const plainDatadog = (title: string) => {
  const { alert_transition: _, alert_type: __, aggreg_key: ___, hostname: ____, ...plain } = datadog({ title })
  return plain
}

const at = '2026-03-01T10:00:00.000Z'
const later = '2026-03-01T11:00:00.000Z'

describe('valid payloads', () => {
  const binary = {
    'ce-specversion': '1.0',
    'ce-id': 'e1',
    'ce-source': '/disks%20here',
    'ce-type': '"com.example.disk"',
    'content-type': 'application/json',
  }
  it.each<[string, unknown, Record<string, string>, string]>([
    [
      'Alertmanager',
      group(),
      {},
      `alertmanager | alertmanager | f1 | firing | critical | db-1:9363 | Disk is full | ${at}`,
    ],
    [
      'Alertmanager, resolved',
      group({ alerts: [alert({ status: 'resolved', endsAt: '2026-03-01T11:00:00Z' })] }),
      {},
      `alertmanager | alertmanager | f1 | resolved | critical | db-1:9363 | Disk is full | ${later}`,
    ],
    [
      'Alertmanager without fingerprint',
      group({ alerts: [alert({ fingerprint: undefined, annotations: null, labels: { b: '1', alertname: 'X' } })] }),
      {},
      `alertmanager | alertmanager | [["alertname","X"],["b","1"]] | firing | ? | - | X | ${at}`,
    ],
    [
      'Grafana',
      group({ version: '1', orgId: 1, state: 'alerting', title: '[FIRING:1]' }),
      {},
      `grafana | grafana | f1 | firing | critical | db-1:9363 | Disk is full | ${at}`,
    ],
    [
      'CloudEvents, structured',
      cloudEvent(),
      { 'content-type': 'application/cloudevents+json' },
      `cloudevents | /disks | e1 | firing | critical | db-1 | Disk is full | ${at}`,
    ],
    [
      'CloudEvents, structured, about a subject',
      cloudEvent({ subject: 'disk-1', data: undefined }),
      {},
      `cloudevents | /disks | disk-1 | info | ? | disk-1 | com.example.disk | ${at}`,
    ],
    [
      'CloudEvents with data in base 64',
      cloudEvent({ data: undefined, data_base64: Buffer.from('{"title":"T","severity":"warn"}').toString('base64') }),
      {},
      `cloudevents | /disks | e1 | firing | warning | - | T | ${at}`,
    ],
    [
      'CloudEvents, binary',
      { title: 'Disk is full', severity: 'P3' },
      binary,
      'cloudevents | /disks here | e1 | firing | warning | - | Disk is full | -',
    ],
    [
      'CloudEvents, binary, with a list for its data',
      [{ title: 'a' }, { title: 'b' }],
      binary,
      'cloudevents | /disks here | e1 | info | ? | - | com.example.disk | -',
    ],
    [
      'CloudEvents, binary, with a text for its data',
      'Disk is full',
      binary,
      'cloudevents | /disks here | e1 | info | ? | - | com.example.disk | -',
    ],
    ['PagerDuty', incident(), {}, `pagerduty | pagerduty | P1 | firing | critical | db | Disk is full | ${at}`],
    [
      'PagerDuty, resolved',
      incident({ urgency: 'low' }, { event_type: 'incident.resolved' }),
      {},
      `pagerduty | pagerduty | P1 | resolved | warning | db | Disk is full | ${at}`,
    ],
    [
      'PagerDuty, a note',
      incident({}, { event_type: 'incident.annotated' }),
      {},
      `pagerduty | pagerduty | P1 | info | critical | db | Disk is full | ${at}`,
    ],
    [
      'PagerDuty Events API v2',
      {
        routing_key: 'secret',
        event_action: 'trigger',
        dedup_key: 'k',
        payload: { summary: 'Disk is full', source: 'db-1', severity: 'error', timestamp: '2026-03-01T10:00:00Z' },
      },
      {},
      `pagerduty | pagerduty | k | firing | critical | db-1 | Disk is full | ${at}`,
    ],
    [
      'PagerDuty Events API v2, resolved',
      { event_action: 'resolve', dedup_key: 'k' },
      {},
      'pagerduty | pagerduty | k | resolved | ? | - | - | -',
    ],
    ['Opsgenie', opsgenie(), {}, `opsgenie | opsgenie | disk | firing | critical | db-1 | Disk is full | ${at}`],
    [
      'Opsgenie, resolved',
      opsgenie({ action: 'Close' }, { updatedAt: 1772362800000 }),
      {},
      `opsgenie | opsgenie | disk | resolved | critical | db-1 | Disk is full | ${later}`,
    ],
    [
      'Opsgenie, resolved, with nanoseconds',
      opsgenie({ action: 'Close' }, { updatedAt: 1772362800000000000 }),
      {},
      `opsgenie | opsgenie | disk | resolved | critical | db-1 | Disk is full | ${later}`,
    ],
    ['Datadog', datadog(), {}, `datadog | datadog | k | firing | critical | db-1 | Disk is full | ${at}`],
    [
      'Datadog, a warning',
      datadog({ alert_transition: 'Warn' }),
      {},
      `datadog | datadog | k | firing | warning | db-1 | Disk is full | ${at}`,
    ],
    [
      'Datadog, resolved',
      datadog({ alert_transition: 'Recovered', alert_type: 'success' }),
      {},
      `datadog | datadog | k | resolved | info | db-1 | Disk is full | ${at}`,
    ],
    [
      'Datadog with the default template',
      plainDatadog('[P2] [Re-Triggered on {host:db-1}] Disk is full'),
      {},
      `datadog | datadog | title:Disk is full on {host:db-1} | firing | critical | - | Disk is full on {host:db-1} | ${at}`,
    ],
    [
      'Datadog with the default template, a warning',
      plainDatadog('[Warn] Disk is full'),
      {},
      `datadog | datadog | title:Disk is full | firing | warning | - | Disk is full | ${at}`,
    ],
    [
      'Datadog with the default template, resolved',
      plainDatadog('[Recovered on {host:db-1}] Disk is full'),
      {},
      `datadog | datadog | title:Disk is full on {host:db-1} | resolved | ? | - | Disk is full on {host:db-1} | ${at}`,
    ],
    [
      'any object',
      {
        name: 'Disk is full',
        level: 'FATAL',
        state: 'open',
        host: 'db-1',
        source: 'cron',
        timestamp: 1772359200,
        fingerprint: 'f',
      },
      {},
      `generic | cron | f | firing | critical | db-1 | Disk is full | ${at}`,
    ],
    ['an object without known fields', { a: 1 }, {}, 'generic | generic | - | info | ? | - | - | -'],
    ['a release', { title: 'Released 1.2' }, {}, 'generic | generic | - | info | ? | - | Released 1.2 | -'],
    ['an unknown severity', { title: 'T', severity: 'purple' }, {}, 'generic | generic | - | firing | ? | - | T | -'],
    [
      'an object with a field name of another format',
      { alerts: 'many' },
      {},
      'generic | generic | - | info | ? | - | - | -',
    ],
    ['a list of other alerts', { alerts: ['a'], title: 'T' }, {}, 'generic | generic | - | info | ? | - | T | -'],
    [
      'another action',
      { action: 'created', alert: {}, title: 'T' },
      {},
      'generic | generic | - | firing | ? | - | T | -',
    ],
    [
      'an unrelated event action',
      { event_action: 'login', title: 'T' },
      {},
      'generic | generic | - | firing | ? | - | T | -',
    ],
  ])('parses %s', (_name, sent, headers, line) => {
    expect(parseOne(sent, headers).map(lineOf)).toEqual([line])
  })

  it('parses a list of different formats, and an object with events', () => {
    const lines = ['generic', 'alertmanager', 'datadog']
    const sent = [{ title: 'a' }, group(), datadog()]
    for (const body of [sent, { events: sent }]) {
      expect(parseOne(body).map((event) => ('error' in event ? event.error : event.sourceType))).toEqual(lines)
    }
  })
})

describe('invalid payloads', () => {
  it.each<[string, unknown, Record<string, string>, string[]]>([
    [
      'Alertmanager',
      group({ alerts: [alert({ status: 'odd' })] }),
      {},
      ['alerts.0: status must be one of firing, resolved'],
    ],
    ['Alertmanager', group({ alerts: [7, alert()] }), {}, ['alerts.0: the event must be an object', 'ok']],
    ['Alertmanager', group({ alerts: [alert({ labels: 'x' })] }), {}, ['alerts.0: labels must be an object']],
    [
      'Grafana',
      group({ orgId: 1, alerts: [alert({ status: undefined })] }),
      {},
      ['alerts.0: status must be one of firing, resolved'],
    ],
    [
      'CloudEvents',
      cloudEvent({ id: undefined, source: '' }),
      { 'content-type': 'application/cloudevents+json' },
      ['id is required; source must not be empty'],
    ],
    ['CloudEvents', cloudEvent({ specversion: '0.3' }), {}, ['specversion must be 1.0']],
    [
      'CloudEvents, binary',
      { a: 1 },
      { 'ce-specversion': '1.0', 'ce-datacontenttype': 'text/plain' },
      ['ce-datacontenttype must not be sent; use Content-Type'],
    ],
    ['CloudEvents, binary', {}, { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's' }, ['type is required']],
    ['PagerDuty', { event: { event_type: 'x', data: {} } }, {}, ['event.id is required']],
    ['PagerDuty', { event: { id: '1', event_type: 'x' } }, {}, ['event.data is required']],
    [
      'PagerDuty Events API v2',
      { event_action: 'shout', dedup_key: 'k' },
      {},
      ['event_action must be one of trigger, acknowledge, resolve'],
    ],
    ['Opsgenie', { action: 'Create', alert: {} }, {}, ['alert.alertId is required']],
    ['Opsgenie', opsgenie({}, { tags: 'a' }), {}, ['alert.tags must be a list']],
    ['Datadog', datadog({ title: {} }), {}, ['title must be text']],
    [
      'a list',
      [{ title: 'T' }, null, 'x'],
      {},
      ['ok', 'an event must be a JSON object', 'an event must be a JSON object'],
    ],
    ['a list', [[{ title: 'T' }]], {}, ['an event must be a JSON object']],
    ['a value', 7, {}, ['an event must be a JSON object']],
  ])('rejects an invalid event: %s', (_name, sent, headers, lines) => {
    expect(parseOne(sent, headers).map((event) => ('error' in event ? event.error : 'ok'))).toEqual(lines)
  })

  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })
  it.each<[string, string]>([
    ['{"a":', 'the body is not JSON'],
    ['', 'the body is not JSON'],
    ['[]', 'the body contains no event'],
    ['{"events":{}}', 'events must be a list'],
    ['{"events":[]}', 'the body contains no event'],
    ['{"__proto__":{"a":1}}', 'the body must not contain the field "__proto__"'],
    ['[{"a":{"constructor":1}}]', 'the body must not contain the field "constructor"'],
    [JSON.stringify(nested(33)), 'the body must not be nested deeper than 32 levels'],
    [
      JSON.stringify(Array.from({ length: 1_001 }, () => ({}))),
      'too many events: 1001; the maximum per request is 1000',
    ],
  ])('rejects the whole body: %.40s', (body, sentence) => {
    expect(() => parseEvents(body, {})).toThrow(sentence)
  })
})

describe('message identity', () => {
  const identityOf = (sent: unknown, headers = {}): EventDraft['identity'] | undefined => {
    const [event] = parseOne(sent, headers)
    return event && 'identity' in event ? event.identity : undefined
  }
  it.each<[string, unknown, Record<string, string>, EventDraft['identity']]>([
    ['CloudEvents: source and id', cloudEvent(), {}, ['/disks', 'e1']],
    ['PagerDuty: the id of the webhook', incident(), { 'x-webhook-id': 'w' }, ['pagerduty', 'w']],
    ['PagerDuty: else of the event', incident(), {}, ['pagerduty', 'E1']],
    ['Alertmanager: fingerprint, status and times', group(), {}, ['alertmanager', 'f1', 'firing', '1772359200000', '']],
    [
      'Alertmanager: also the end, which moves while it fires',
      group({ alerts: [alert({ endsAt: '2026-03-01T11:00:00Z' })] }),
      {},
      ['alertmanager', 'f1', 'firing', '1772359200000', '1772362800000'],
    ],
    ['any object: its content, because the severity may change under one id', { id: 'a' }, {}, null],
    ['any object: the id of the webhook', { id: 'a' }, { 'x-webhook-id': 'w' }, ['generic', 'w']],
  ])('uses %s', (_name, sent, headers, identity) => {
    expect(identityOf(sent, headers)).toEqual(identity)
  })

  it('ignores the webhook id for events in a list', () => {
    expect(identityOf([incident()], { 'x-webhook-id': 'w' })).toEqual(['pagerduty', 'E1'])
  })
})
