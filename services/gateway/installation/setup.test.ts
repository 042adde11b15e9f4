import { describe, expect, it } from 'vitest'
import { HostState } from '#proto/query.ts'
import { describeSetup, type SetupFacts } from './setup.ts'

const host = (name: string, id = 0) => ({ id, key: name, name, host: `${name}:8123`, group: null, tags: [] })
const state = (name: string, more: Partial<HostState> = {}): HostState =>
  HostState.parse({
    key: name,
    id: 0,
    name,
    status: 'up',
    reason: null,
    version: '25.8',
    uptimeSeconds: 1,
    latencyMs: 1,
    checkedAtMs: 1,
    ...more,
  })
const fixed = <T>(value: T) => ({ value, source: 'default' })
const general = {
  enabled: fixed(true),
  minSeverity: fixed('warning' as const),
  cooldownMinutes: fixed(60),
  breaches: fixed(1),
  clears: fixed(2),
  sweepsEnabled: fixed(true),
  sweepMinutes: fixed(5),
}
const target = (result: string | null, reason: string | null = null) => ({
  channel: 'webhook',
  name: 'webhook',
  broken: reason === null ? null : { reason, sinceMs: 0 },
  last: result === null ? null : { result, reason: null, atMs: 1 },
})

/** A finished installation. */
const finished: SetupFacts = {
  hosts: [host('db')],
  states: [state('db')],
  history: { isEnabled: true, problem: null },
  targets: [target('ok')],
  general,
  sweptAtMs: 1,
  model: { active: true, defaultModel: 'gateway_a:one' },
}
const step = (id: string, more: Partial<SetupFacts>) =>
  describeSetup({ ...finished, ...more }).find((item) => item.id === id)

describe('the steps of a new installation', () => {
  it('are done in a finished one', () => {
    expect(describeSetup(finished).map(({ id, state, missing }) => [id, state, missing])).toEqual(
      ['host', 'grants', 'history', 'channel', 'alerting', 'agent'].map((id) => [id, 'done', []]),
    )
  })

  it.each<[string, string, string, Partial<SetupFacts>, string[]]>([
    ['host', 'open', 'Only the example hosts', { hosts: [host('sandbox-1')] }, []],
    ['host', 'open', 'No host is monitored', { hosts: [], states: [] }, []],
    [
      'host',
      'open',
      'responds',
      { states: [state('db', { status: 'down', failure: 'nothing listens on its port' })] },
      ['db: nothing listens on its port'],
    ],
    ['host', 'unknown', 'not known', { states: undefined }, []],
    [
      'grants',
      'open',
      'Grants are missing',
      { states: [state('db', { missingGrants: ['GRANT SHOW TABLES ON *.* TO <user>'] })] },
      ['db: GRANT SHOW TABLES ON *.* TO <user>'],
    ],
    ['grants', 'unknown', 'No host responds', { states: [state('db', { status: 'down' })] }, []],
    ['history', 'open', 'Log tables', { states: [state('db', { missingLogs: ['part_log'] })] }, ['db: part_log']],
    ['history', 'unknown', 'not known', { history: undefined }, []],
    [
      'history',
      'open',
      'ends with the log tables',
      { history: { isEnabled: false, problem: null } },
      ['SVC_HISTORY_URL is not set'],
    ],
    ['history', 'open', 'unavailable', { history: { isEnabled: true, problem: 'no response' } }, ['no response']],
    ['channel', 'open', 'No notification channel', { targets: [] }, []],
    ['channel', 'open', 'send a test', { targets: [target(null)] }, []],
    ['channel', 'open', 'send a test', { targets: [target('config', 'HTTP 404')] }, ['webhook: HTTP 404']],
    ['channel', 'unknown', 'not known', { targets: undefined }, []],
    [
      'alerting',
      'open',
      'not sent',
      { general: { ...general, enabled: { value: false, source: 'database' }, sweepsEnabled: fixed(false) } },
      ['Sweeps are disabled, so no rule is evaluated', 'Notifications are disabled'],
    ],
    ['alerting', 'open', 'first notification channel', { general: { ...general, enabled: fixed(false) } }, []],
    ['agent', 'open', 'No model gateway', { model: { active: false, defaultModel: null } }, []],
    ['agent', 'unknown', 'does not respond', { model: undefined }, []],
  ])('%s is %s: %s', (id, wanted, sentence, facts, missing) => {
    expect(step(id, facts)).toEqual({ id, state: wanted, detail: expect.stringContaining(sentence), missing })
  })
})
