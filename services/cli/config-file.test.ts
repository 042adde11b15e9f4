import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readKeyClaims } from './api-key.ts'
import { findConfigPath, readConfigFile, writeConfigFile } from './config-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'watchhouse-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the configuration file', () => {
  it.each([
    [{ HOME: '/h' }, 'linux', '/h/.config/watchhouse/config.json'],
    [{ HOME: '/h', XDG_CONFIG_HOME: '/x' }, 'linux', '/x/watchhouse/config.json'],
    [{ HOME: '/h', XDG_CONFIG_HOME: '' }, 'freebsd', '/h/.config/watchhouse/config.json'],
    [{ HOME: '/h' }, 'darwin', '/h/Library/Application Support/watchhouse/config.json'],
    [{ HOME: '/h', APPDATA: '/h/Roaming' }, 'win32', '/h/Roaming/watchhouse/config.json'],
    [{ HOME: '/h', WATCHHOUSE_CONFIG: '/c.json' }, 'linux', '/c.json'],
  ] as const)('with %j on %s is %s', (env, platform, path) => {
    expect(findConfigPath(env, platform)).toBe(path)
  })

  it('is readable by its owner only, also after it is replaced', () => {
    const path = join(folder, 'new', 'config.json')
    const config = { url: 'http://a', servers: { 'http://a': { apiKey: 'svc_a.b', expiresAt: null } } }
    writeConfigFile(path, config)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700)
    expect(readConfigFile(path)).toEqual(config)
    writeConfigFile(path, { url: null, servers: {} })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toContain('svc_')
  })

  it('is empty if it is missing, and rejected without its content if it is invalid', () => {
    expect(readConfigFile(join(folder, 'missing.json'))).toEqual({ url: null, servers: {} })
    const path = join(folder, 'invalid.json')
    writeFileSync(path, '{"servers": "svc_secret"}')
    expect(() => readConfigFile(path)).toThrow(/is not a valid configuration/)
    expect(() => readConfigFile(path)).not.toThrow(/svc_secret/)
    expect(() => readConfigFile(folder)).toThrow(/cannot be read/)
  })
})

it('an API key contains its id and expiry', () => {
  const payload = Buffer.from(JSON.stringify({ jti: 'abc', exp: 1_780_000_000 })).toString('base64url')
  expect(readKeyClaims(`svc_${payload}.signature`)).toEqual({ id: 'abc', expiresAt: '2026-05-28T20:26:40.000Z' })
  for (const other of ['', 'svc_', 'svc_e30.x', 'hunter2']) expect(readKeyClaims(other)).toBeUndefined()
})
