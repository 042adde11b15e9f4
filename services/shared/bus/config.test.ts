import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ServiceName } from '#proto/call.ts'
import { resolveFileVariables } from '../config/environment.ts'
import { parseSettings } from '../config/setting.ts'
import { findBusProblems, busSettings, createRequestSigner } from './config.ts'
import { deriveKey } from './signatures.ts'
import { createSecret, createTestSigner, createGatewaySigner } from './testing/cluster.ts'
import { deriveCallKey, formatCallKeys, createProcessKeys } from './testing/keys.ts'

const ofGateway = { signer: 'gateway', text: 'text' } as const

it('accepts signatures of the previous key while it is configured', () => {
  const [before, now] = [createSecret(), createSecret()]
  const proofs = createGatewaySigner(before).sign(ofGateway, ['query'])
  const verifies = (keys: Record<string, string>, service: ServiceName = 'query') =>
    createTestSigner(keys).verify(service, ofGateway, proofs)
  const rotated = { NATS_VERIFICATION_KEY: deriveKey('query', now) }
  expect(verifies(rotated)).toBe(false)
  expect(verifies({ ...rotated, NATS_VERIFICATION_KEY_PREVIOUS: deriveKey('query', before) })).toBe(true)
  expect(verifies({ NATS_SIGNING_KEY: now, NATS_SIGNING_KEY_PREVIOUS: before })).toBe(true)
  expect(verifies({ NATS_SIGNING_KEY: now })).toBe(false)
  // A process that runs several services holds the verification key of each of them.
  expect(verifies({ NATS_VERIFICATION_KEY: `${deriveKey('report', before)},${deriveKey('query', before)}` })).toBe(true)
  expect(verifies({ NATS_VERIFICATION_KEY: deriveKey('report', before) })).toBe(false)
})

it('signs with the current and the previous call key, whichever of them the called service has', () => {
  const [before, now] = [createSecret(), createSecret()]
  const statement = { signer: 'report', text: 'text' } as const
  const report = (secret: string) => createProcessKeys(['report'], secret)
  const query = (secret: string) => createProcessKeys(['query'], secret)
  const isAccepted = (caller: Record<string, string>, called: Record<string, string>): boolean =>
    createTestSigner(called).verify('query', statement, createTestSigner(caller).sign(statement, ['query']))
  expect(isAccepted(report(before), query(now))).toBe(false)
  const rotatedReport = { ...report(now), NATS_CALL_KEYS_PREVIOUS: formatCallKeys('report', before) }
  expect(isAccepted(rotatedReport, query(before))).toBe(true)
  expect(isAccepted(rotatedReport, query(now))).toBe(true)
  const rotatedQuery = { ...query(now), NATS_VERIFICATION_KEY_PREVIOUS: deriveKey('query', before) }
  expect(isAccepted(report(before), rotatedQuery)).toBe(true)
  // The secret replaces all keys, both of the caller and of the called service.
  expect(isAccepted({ NATS_SIGNING_KEY: now }, query(now))).toBe(true)
  expect(isAccepted(report(now), { NATS_SIGNING_KEY: now })).toBe(true)
  // A process that runs several calling services has the call keys of each of them.
  expect(isAccepted(createProcessKeys(['alert-dispatcher', 'report'], now), query(now))).toBe(true)
  expect(isAccepted(createProcessKeys(['alert-dispatcher', 'agent'], now), query(now))).toBe(false)
})

it('reads a key from its file, and again after the file changed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-keys-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(directory, { recursive: true }))
  const file = join(directory, 'key')
  const [before, now] = [createSecret(), createSecret()]
  await writeFile(file, `${deriveKey('query', before)}\n`)
  let elapsedMs = 0
  const env = resolveFileVariables({ NATS_URL: 'nats://localhost', NATS_VERIFICATION_KEY_FILE: file }, () => elapsedMs)
  const signatures = createRequestSigner(env)
  const verifies = (secret: string) =>
    signatures?.verify('query', ofGateway, createGatewaySigner(secret).sign(ofGateway, ['query']))
  expect(verifies(before)).toBe(true)
  await writeFile(file, `${deriveKey('query', now)}\n\n`.trimEnd())
  elapsedMs += 2_000
  expect([verifies(before), verifies(now)]).toEqual([false, true])
})

it('derives the keys of services like the documented shell command', () => {
  const secret = createSecret()
  const derived = (name: string, from: string) => {
    const line = `printf '%s:%s' ${name} "$FROM" | sha256sum | cut -c1-64`
    return execFileSync('sh', ['-c', line], { env: { ...process.env, FROM: from } })
      .toString()
      .trim()
  }
  expect(derived('query-guest', secret)).toBe(deriveKey('query-guest', secret))
  expect(derived('report', derived('query', secret))).toBe(deriveCallKey('report', 'query', secret))
})

it('reports missing, invalid and superfluous keys of each kind of process', () => {
  const production = { NODE_ENV: 'production', NATS_URL: 'nats://localhost' }
  const names = (env: Record<string, string>, services: string[]) =>
    findBusProblems(env, services).map(({ name }) => name)
  expect(names(production, ['gateway'])).toEqual(['NATS_SIGNING_KEY'])
  expect(names(production, ['query'])).toEqual(['NATS_VERIFICATION_KEY'])
  expect(names(production, ['query', 'report'])).toEqual(['NATS_VERIFICATION_KEY', 'NATS_CALL_KEYS'])
  expect(names(production, ['gateway', 'query'])).toEqual(['NATS_SIGNING_KEY'])
  const secret = createSecret()
  const key = deriveKey('query', secret)
  expect(names({ ...production, NATS_VERIFICATION_KEY: key, NATS_SIGNING_KEY: secret }, ['query'])).toEqual([
    'NATS_SIGNING_KEY',
  ])
  expect(names({ ...production, NATS_VERIFICATION_KEY: key }, ['query'])).toEqual([])
  expect(names({ ...production, NATS_SIGNING_KEY: secret }, ['gateway', 'query'])).toEqual([])
  expect(names({ ...production, NODE_ENV: 'development' }, ['gateway', 'query'])).toEqual([])
  expect(names({ NODE_ENV: 'production' }, ['gateway', 'query'])).toEqual([])
  for (const bad of ['text', secret.slice(0, 42), `-----BEGIN PRIVATE KEY-----\n${secret}`]) {
    expect(() => parseSettings(busSettings, { NATS_SIGNING_KEY: bad })).toThrow('must be at least 43 random characters')
    const both = { NATS_SIGNING_KEY: secret, NATS_SIGNING_KEY_PREVIOUS: bad }
    expect(() => parseSettings(busSettings, both)).toThrow('must be at least 43 random characters')
  }
  for (const bad of ['text', key.slice(1), `${key},`, key.toUpperCase().replaceAll(/\d/g, 'F')])
    expect(() => parseSettings(busSettings, { NATS_VERIFICATION_KEY: bad })).toThrow('must be 64 hexadecimal digits')
  for (const bad of [key, `query=${key},`, `stranger=${key}`, `query=${key.slice(1)}`, `query=${key}=`])
    expect(() => parseSettings(busSettings, { NATS_CALL_KEYS: bad })).toThrow(
      'must be <service>=<64 hexadecimal digits>',
    )
  for (const name of ['NATS_SIGNING_KEY', 'NATS_VERIFICATION_KEY', 'NATS_CALL_KEYS'])
    expect(() => parseSettings(busSettings, { [`${name}_PREVIOUS`]: key })).toThrow(
      'must be set if its _PREVIOUS variable is set',
    )
})

it('reports the services and guest parts for which a process lacks call keys', () => {
  const secret = createSecret()
  const problems = (services: string[], calls: string) => {
    const { NATS_VERIFICATION_KEY = '' } = createProcessKeys(services, secret)
    const env = { NODE_ENV: 'production', NATS_URL: 'nats://localhost', NATS_VERIFICATION_KEY, NATS_CALL_KEYS: calls }
    return findBusProblems(env, services).map(({ name, sentence }) => `${name} ${sentence.split(' when ')[0]}`)
  }
  for (const name of ['agent', 'mcp', 'alert-dispatcher', 'report', 'ingest'])
    expect(problems([name], formatCallKeys(name, secret)), name).toEqual([])
  const missing = (names: string) => [`NATS_CALL_KEYS must have a key for each call to ${names}`]
  expect(problems(['report'], '')).toEqual(missing('query, query-guest, agent, alert-dispatcher'))
  expect(problems(['report'], `query=${deriveCallKey('report', 'query', secret)}`)).toEqual(
    missing('query-guest, agent, alert-dispatcher'),
  )
  const both = ['alert-dispatcher', 'report']
  expect(problems(both, formatCallKeys('report', secret))).toEqual(missing('query, query-guest'))
  expect(problems(both, both.map((name) => formatCallKeys(name, secret)).join(','))).toEqual([])
})

it('has no signer on NATS without keys, and applies the same rules in one process without keys', () => {
  expect(createRequestSigner({ NATS_URL: 'nats://localhost' })).toBeUndefined()
  expect(createRequestSigner({})?.isRequired()).toBe(true)
})
