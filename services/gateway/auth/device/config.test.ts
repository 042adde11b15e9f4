import { describe, expect, it } from 'vitest'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { findDeviceLoginProblems, deviceSettings } from './config.ts'

describe('settings of device login', () => {
  it.each([
    ['libsql://edge.example?authToken=t', []],
    ['file:edge.db', []],
    ['file:/var/lib/edge.db', []],
    ['postgres://edge.example', ['CONVERSATIONS_EDGESQL']],
    ['edge.db', ['CONVERSATIONS_EDGESQL']],
  ])('accept the binding %s unchanged, or fail the start', (bound, refused) => {
    const env = { CONVERSATIONS_EDGESQL: bound }
    expect(findSettingProblems(deviceSettings, env).map(({ name }) => name)).toEqual(refused)
    if (refused.length === 0) expect(parseSettings(deviceSettings, env).CONVERSATIONS_EDGESQL).toBe(bound)
  })

  it('reject a subject that is too long for an identity', () => {
    expect(findSettingProblems(deviceSettings, { SVC_DEVICE_LOGIN_SUBJECT: 'x'.repeat(257) })).toEqual([
      { name: 'SVC_DEVICE_LOGIN_SUBJECT', sentence: 'must not be longer than 256 characters' },
    ])
    expect(parseSettings(deviceSettings, {}).SVC_DEVICE_LOGIN_SUBJECT).toBe('self-hosted')
  })

  it.each([
    [{ CONVERSATIONS_EDGESQL: 'file:edge.db', NATS_URL: 'nats://bus' }, ['CONVERSATIONS_EDGESQL']],
    [{ CONVERSATIONS_EDGESQL: 'libsql://edge', NATS_URL: 'nats://bus' }, []],
    [{ CONVERSATIONS_EDGESQL: 'file:edge.db' }, []],
  ])('reject %j if processes could not share it', (env, refused) => {
    expect(findDeviceLoginProblems({ ...env }).map(({ name }) => name)).toEqual(refused)
  })
})
