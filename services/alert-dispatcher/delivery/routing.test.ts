import { describe, expect, it } from 'vitest'
import type { Route } from '../policy.ts'
import { isLike, type Routable, type Subject, chooseTargets } from './routing.ts'

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
  ])('takes %j for %j: %s', (text, pattern, expected) => {
    expect(isLike(text, pattern)).toBe(expected)
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
  const told = (routes: Route[], about = subject(), minSeverity: 'warning' | 'critical' = 'warning') =>
    chooseTargets(all, about, { routes, minSeverity }).map(({ name }) => name)

  it.each<[string, Route[], Partial<Subject>, string[]]>([
    ['every target without routes', [], {}, ['webhook', 'ops']],
    ['targets with a floor once it is reached', [], { severity: 'critical' }, ['webhook', 'sms', 'ops']],
    ['only the targets of a route that matches', [route({ target: 'ops' })], {}, ['ops']],
    ['all routes that match', [route({ target: 'ops' }), route({})], {}, ['webhook', 'ops']],
    ['a channel by its name too', [route({ target: 'webhook-targets' })], {}, ['ops']],
    ['every target where the routed one is not there', [route({ target: 'gone' })], {}, ['webhook', 'ops']],
    ['only the targets that are there', [route({ target: 'gone' }), route({ target: 'ops' })], {}, ['ops']],
    ['every target where no route matches', [route({ matchRule: 'parts*', target: 'ops' })], {}, ['webhook', 'ops']],
    ['every target where the route is off', [route({ enabled: false, target: 'ops' })], {}, ['webhook', 'ops']],
    ['by rule', [route({ matchRule: 'disk-*', target: 'ops' })], {}, ['ops']],
    ['by the key of the host', [route({ matchHost: 'db-?', target: 'ops' })], {}, ['ops']],
    ['by the name of the host', [route({ matchHost: 'database*', target: 'ops' })], {}, ['ops']],
    ['by group', [route({ matchGroup: 'prod', target: 'ops' })], {}, ['ops']],
    ['not by a group it lacks', [route({ matchGroup: 'p*', target: 'ops' })], { group: null }, ['webhook', 'ops']],
    ['by severity', [route({ matchSeverity: 'warning', target: 'ops' })], {}, ['ops']],
    ['not by another severity', [route({ matchSeverity: 'critical', target: 'ops' })], {}, ['webhook', 'ops']],
    ['no route after the last', [route({ target: 'ops', last: true }), route({})], {}, ['ops']],
    ['the routes before the last', [route({}), route({ target: 'ops', last: true })], {}, ['webhook', 'ops']],
    [
      'routes after a last one that does not match, or leads nowhere',
      [route({ matchRule: 'parts*', target: 'ops', last: true }), route({ target: 'gone', last: true }), route({})],
      {},
      ['webhook'],
    ],
    ['by tag', [route({ matchTag: 'ssd', target: 'ops' })], {}, ['ops']],
    [
      'only where all of a route matches',
      [route({ matchTag: 'hdd', matchGroup: 'prod', target: 'ops' })],
      {},
      ['webhook', 'ops'],
    ],
    ["the route's floor before the channel's", [route({ target: 'sms', minSeverity: 'warning' })], {}, ['sms']],
    ["the channel's floor where the route has none", [route({ target: 'sms' })], {}, []],
    ['nobody below the floor of the route', [route({ target: 'ops', minSeverity: 'critical' })], {}, []],
    [
      'who is let by one of two routes',
      [route({ minSeverity: 'critical' }), route({ minSeverity: 'warning' })],
      {},
      ['webhook'],
    ],
  ])('tells %s', (_name, routes, more, expected) => {
    expect(told(routes, subject(more))).toEqual(expected)
  })

  it('obeys the floor for all where neither route nor channel has one', () => {
    expect(told([], subject(), 'critical')).toEqual([])
    expect(told([route({ minSeverity: 'warning' })], subject(), 'critical')).toEqual(['webhook'])
  })
})
