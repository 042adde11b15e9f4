import { describe, expect, it } from 'vitest'
import type { Route } from '../policy.ts'
import { matchesPattern, type Routable, type Subject, selectTargets } from './routing.ts'

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
  const target = (name: string, minSeverity: Routable['minSeverity'] = null, channel = name): Routable => ({
    channel,
    name,
    minSeverity,
  })
  const all = [target('webhook'), target('sms', 'critical'), target('ops', null, 'webhook-targets')]
  const subject = (more: Partial<Subject> = {}): Subject => ({
    ruleId: 'disk-usage',
    hosts: ['db-1', 'Database one'],
    group: 'prod',
    tags: ['eu', 'ssd'],
    severity: 'warning',
    ...more,
  })
  const route = (more: Partial<Route>): Route => ({
    id: 'r',
    matchRule: '*',
    matchHost: '*',
    matchGroup: '*',
    matchTag: '*',
    matchSeverity: '*',
    target: 'webhook',
    enabled: true,
    minSeverity: null,
    last: false,
    ...more,
  })
  const notified = (routes: Route[], about = subject(), minSeverity: 'warning' | 'critical' = 'warning') =>
    selectTargets(all, about, { routes, minSeverity }).map(({ name }) => name)

  it.each<[string, Route[], Partial<Subject>, string[]]>([
    ['selects every target without routes', [], {}, ['webhook', 'ops']],
    ['selects targets whose minimum severity is reached', [], { severity: 'critical' }, ['webhook', 'sms', 'ops']],
    ['selects only the targets of a matching route', [route({ target: 'ops' })], {}, ['ops']],
    ['combines all matching routes', [route({ target: 'ops' }), route({})], {}, ['webhook', 'ops']],
    ['routes to a channel by its name', [route({ target: 'webhook-targets' })], {}, ['ops']],
    ['selects every target if the routed one does not exist', [route({ target: 'gone' })], {}, ['webhook', 'ops']],
    ['ignores routes to missing targets', [route({ target: 'gone' }), route({ target: 'ops' })], {}, ['ops']],
    [
      'selects every target if no route matches',
      [route({ matchRule: 'parts*', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    ['ignores disabled routes', [route({ enabled: false, target: 'ops' })], {}, ['webhook', 'ops']],
    ['matches by rule', [route({ matchRule: 'disk-*', target: 'ops' })], {}, ['ops']],
    ['matches by host key', [route({ matchHost: 'db-?', target: 'ops' })], {}, ['ops']],
    ['matches by host name', [route({ matchHost: 'database*', target: 'ops' })], {}, ['ops']],
    ['matches by group', [route({ matchGroup: 'prod', target: 'ops' })], {}, ['ops']],
    [
      'does not match a host without group',
      [route({ matchGroup: 'p*', target: 'ops' })],
      { group: null },
      ['webhook', 'ops'],
    ],
    ['matches by severity', [route({ matchSeverity: 'warning', target: 'ops' })], {}, ['ops']],
    ['does not match another severity', [route({ matchSeverity: 'critical', target: 'ops' })], {}, ['webhook', 'ops']],
    ['stops after the last route', [route({ target: 'ops', last: true }), route({})], {}, ['ops']],
    ['combines the routes before the last', [route({}), route({ target: 'ops', last: true })], {}, ['webhook', 'ops']],
    [
      'continues after a last route that does not match or has no target',
      [route({ matchRule: 'parts*', target: 'ops', last: true }), route({ target: 'gone', last: true }), route({})],
      {},
      ['webhook'],
    ],
    ['matches by tag', [route({ matchTag: 'ssd', target: 'ops' })], {}, ['ops']],
    [
      'requires all matchers of a route',
      [route({ matchTag: 'hdd', matchGroup: 'prod', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    ["the route's floor before the channel's", [route({ target: 'sms', minSeverity: 'warning' })], {}, ['sms']],
    ["the channel's floor where the route has none", [route({ target: 'sms' })], {}, []],
    [
      'selects nothing below the minimum severity of the route',
      [route({ target: 'ops', minSeverity: 'critical' })],
      {},
      [],
    ],
    [
      'selects a target that one of two routes allows',
      [route({ minSeverity: 'critical' }), route({ minSeverity: 'warning' })],
      {},
      ['webhook'],
    ],
  ])('%s', (_name, routes, more, expected) => {
    expect(notified(routes, subject(more))).toEqual(expected)
  })

  it('uses the global minimum severity if neither route nor channel has one', () => {
    expect(notified([], subject(), 'critical')).toEqual([])
    expect(notified([route({ minSeverity: 'warning' })], subject(), 'critical')).toEqual(['webhook'])
  })
})
