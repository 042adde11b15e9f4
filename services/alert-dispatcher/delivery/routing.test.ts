import { describe, expect, it } from 'vitest'
import type { NotificationRoute } from '../policy.ts'
import { matchesPattern, type RoutableTarget, type RouteSubject, selectTargets } from './routing.ts'
import { createTestRoute } from '../testing/simulated-host.ts'

describe('a pattern', () => {
  it.each([
    ['db-1', '*', true],
    ['', '*', true],
    ['db-1', 'db-?', true],
    ['db-10', 'db-?', false],
    ['DB-1', 'db-*', true],
    ['prod.db.eu', '*.db.*', true],
    ['prod.database.eu', '*.db.*', false],
    ['db-1', 'db-1*', true],
    ['a.b', 'a?b', true],
    ['axb', 'a.b', false],
    ['😀x', '?x', true],
    ['', '?', false],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', `${'*a'.repeat(40)}*c`, false],
  ])('matches %j against %j: %s', (text, pattern, expected) => {
    expect(matchesPattern(text, pattern)).toBe(expected)
  })
})

describe('routing', () => {
  const target = (name: string, minSeverity: RoutableTarget['minSeverity'] = null, channel = name): RoutableTarget => ({
    channel,
    name,
    minSeverity,
  })
  const all = [target('webhook'), target('sms', 'critical'), target('ops', null, 'webhook-targets')]
  const subject = (more: Partial<RouteSubject> = {}): RouteSubject => ({
    ruleId: 'disk-usage',
    hosts: ['db-1', 'Database one'],
    group: 'prod',
    tags: ['eu', 'ssd'],
    severity: 'warning',
    ...more,
  })
  const notified = (routes: NotificationRoute[], about = subject(), minSeverity: 'warning' | 'critical' = 'warning') =>
    selectTargets(all, about, { routes, minSeverity }).map(({ name }) => name)

  it.each<[string, NotificationRoute[], Partial<RouteSubject>, string[]]>([
    ['selects every target without routes', [], {}, ['webhook', 'ops']],
    ['selects targets whose minimum severity is reached', [], { severity: 'critical' }, ['webhook', 'sms', 'ops']],
    ['selects only the targets of a matching route', [createTestRoute({ target: 'ops' })], {}, ['ops']],
    ['combines all matching routes', [createTestRoute({ target: 'ops' }), createTestRoute()], {}, ['webhook', 'ops']],
    ['routes to a channel by its name', [createTestRoute({ target: 'webhook-targets' })], {}, ['ops']],
    [
      'selects every target if the routed one does not exist',
      [createTestRoute({ target: 'gone' })],
      {},
      ['webhook', 'ops'],
    ],
    [
      'ignores routes to missing targets',
      [createTestRoute({ target: 'gone' }), createTestRoute({ target: 'ops' })],
      {},
      ['ops'],
    ],
    [
      'selects every target if no route matches',
      [createTestRoute({ matchRule: 'parts*', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    ['ignores disabled routes', [createTestRoute({ enabled: false, target: 'ops' })], {}, ['webhook', 'ops']],
    ['matches by rule', [createTestRoute({ matchRule: 'disk-*', target: 'ops' })], {}, ['ops']],
    ['matches by host key', [createTestRoute({ matchHost: 'db-?', target: 'ops' })], {}, ['ops']],
    ['matches by host name', [createTestRoute({ matchHost: 'database*', target: 'ops' })], {}, ['ops']],
    ['matches by group', [createTestRoute({ matchGroup: 'prod', target: 'ops' })], {}, ['ops']],
    [
      'does not match a host without group',
      [createTestRoute({ matchGroup: 'p*', target: 'ops' })],
      { group: null },
      ['webhook', 'ops'],
    ],
    ['matches by severity', [createTestRoute({ matchSeverity: 'warning', target: 'ops' })], {}, ['ops']],
    [
      'does not match another severity',
      [createTestRoute({ matchSeverity: 'critical', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    ['stops after the last route', [createTestRoute({ target: 'ops', last: true }), createTestRoute()], {}, ['ops']],
    [
      'combines the routes before the last',
      [createTestRoute(), createTestRoute({ target: 'ops', last: true })],
      {},
      ['webhook', 'ops'],
    ],
    [
      'continues after a last route that does not match or has no target',
      [
        createTestRoute({ matchRule: 'parts*', target: 'ops', last: true }),
        createTestRoute({ target: 'gone', last: true }),
        createTestRoute(),
      ],
      {},
      ['webhook'],
    ],
    ['matches by tag', [createTestRoute({ matchTag: 'ssd', target: 'ops' })], {}, ['ops']],
    [
      'requires all matchers of a route',
      [createTestRoute({ matchTag: 'hdd', matchGroup: 'prod', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    [
      "the route's floor before the channel's",
      [createTestRoute({ target: 'sms', minSeverity: 'warning' })],
      {},
      ['sms'],
    ],
    ["the channel's floor where the route has none", [createTestRoute({ target: 'sms' })], {}, []],
    [
      'selects nothing below the minimum severity of the route',
      [createTestRoute({ target: 'ops', minSeverity: 'critical' })],
      {},
      [],
    ],
    [
      'selects a target that one of two routes allows',
      [createTestRoute({ minSeverity: 'critical' }), createTestRoute({ minSeverity: 'warning' })],
      {},
      ['webhook'],
    ],
  ])('%s', (_name, routes, more, expected) => {
    expect(notified(routes, subject(more))).toEqual(expected)
  })

  it('uses the global minimum severity if neither route nor channel has one', () => {
    expect(notified([], subject(), 'critical')).toEqual([])
    expect(notified([createTestRoute({ minSeverity: 'warning' })], subject(), 'critical')).toEqual(['webhook'])
  })
})
