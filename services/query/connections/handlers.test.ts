import { CompactEncrypt, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'

const privateAllowed = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }
const startHost = () =>
  startHttpStub(({ sql }, response) =>
    sql.includes('uptime()')
      ? sendResultRows(response, [['25.8.1.1', 60, 'machine', 'UTC', '0']])
      : response.writeHead(500).end(),
  )
const targetOf = (url: string) => ({ url, user: 'ada', password: 'secret' })

describe('a connection test', () => {
  it('returns the identity of the host and closes its connection', async () => {
    await using host = await startHost()
    await using parts = await openTestService(privateAllowed)
    const tested = await parts.handlers.testConnection({ target: targetOf(host.url) }, createCall())
    expect(tested).toEqual({ ok: true, version: '25.8.1.1', uptimeSeconds: 60, hostname: 'machine', timezone: 'UTC' })
    await expect.poll(() => host.open).toBe(0)
  })

  it.each([
    ['garbage', (url: string) => url, 'is not a ClickHouse server'],
    ['unreachable', () => 'http://127.0.0.1:1', 'cannot be reached'],
  ])('reports the failure as %s', async (reason, address, sentence) => {
    await using host = await startTcpStub((socket) => socket.end('SSH-2.0-OpenSSH\r\n'))
    await using parts = await openTestService(privateAllowed)
    const tested = await parts.handlers.testConnection({ target: targetOf(address(host.url)) }, createCall())
    expect(tested).toMatchObject({ ok: false, reason, message: expect.stringContaining(sentence) })
    expect(JSON.stringify(tested)).not.toMatch(/OpenSSH|secret|ada/)
  })

  it('times out when the host does not respond', async () => {
    await using host = await startTcpStub(() => undefined)
    await using parts = await openTestService(privateAllowed)
    const call = createCall({ deadline: performance.now() + 500 })
    const tested = await parts.handlers.testConnection({ target: targetOf(host.url) }, call)
    expect(tested).toMatchObject({ ok: false, reason: 'timeout' })
  })

  it.each(['testConnection', 'sealConnection'] as const)(
    'rejects a private host before a socket opens: %s',
    async (method) => {
      await using host = await startHost()
      await using parts = await openTestService({})
      const input = { target: targetOf(host.url), key: 'user:a:b', name: 'mine', lifetimeMs: 1_000 }
      await expect(parts.handlers[method](input, createCall())).rejects.toMatchObject({
        code: 'invalid',
        message: 'url is not an address that this installation may connect to',
      })
      expect(host.most).toBe(0)
    },
  )

  it.each([
    ['ftp://db.example.com', 'must begin with http:// or https://'],
    ['db.example.com', 'must begin with http:// or https://'],
    [
      'http://ada:secret@127.0.0.1',
      'must not contain a user or password; send them in the fields "user" and "password"',
    ],
    ['http://127.0.0.1/?readonly=0', 'must have neither query nor fragment'],
    ['http://169.254.169.254', 'is not an address that this installation may connect to'],
    ['http://metadata.google.internal', 'is not an address that this installation may connect to'],
    ['http://nothing.invalid', 'has a host name that does not resolve'],
  ])('rejects %s with a reason', async (url, sentence) => {
    await using parts = await openTestService(privateAllowed)
    const test = parts.handlers.testConnection({ target: targetOf(url) }, createCall())
    await expect(test).rejects.toMatchObject({ code: 'invalid', message: `url ${sentence}` })
  })
})

describe('an encrypted target', () => {
  const encrypt = async (parts: TestService, text: string) => {
    const key = await parts.handlers.connectionKey({}, createCall())
    return new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
      .encrypt(await importJWK(key, 'ECDH-ES'))
  }

  it('is tested and sealed like a plain one, and its published key holds no private part', async () => {
    await using host = await startHost()
    await using parts = await openTestService(privateAllowed)
    expect(Object.keys(await parts.handlers.connectionKey({}, createCall())).toSorted()).toEqual(['crv', 'kty', 'x'])
    const encryptedTarget = await encrypt(parts, JSON.stringify(targetOf(host.url)))
    expect(await parts.handlers.testConnection({ encryptedTarget }, createCall())).toMatchObject({ ok: true })
    const identity = { key: 'user:owner:id', name: 'mine' }
    const { sealed } = await parts.handlers.sealConnection(
      { ...identity, encryptedTarget, lifetimeMs: 60_000 },
      createCall(),
    )
    const opened = await parts.connections.sealing.open({ ...identity, sealed })
    expect(opened.target).toEqual(targetOf(host.url))
  })

  it('is rejected when malformed or encrypted for another installation', async () => {
    await using parts = await openTestService(privateAllowed)
    await using other = await openTestService(privateAllowed)
    const text = JSON.stringify(targetOf('http://127.0.0.1:8123'))
    const inputs = [
      { encryptedTarget: await encrypt(other, text) },
      { encryptedTarget: await encrypt(parts, '{}') },
      { encryptedTarget: await encrypt(parts, 'secret') },
      { encryptedTarget: 'secret' },
      {},
    ]
    for (const input of inputs) {
      const test = parts.handlers.testConnection(input, createCall())
      await expect(test).rejects.toMatchObject({ code: 'invalid', message: expect.not.stringContaining('secret') })
    }
  })
})

describe('a saved connection', () => {
  it('is sealed with the current key on rename, so that the previous key can be removed', async () => {
    const key = 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY'
    const env: Record<string, string> = { ...privateAllowed, [key]: 'the key of the last year' }
    await using parts = await openTestService(env)
    const identity = { key: 'user:owner:id', name: 'mine' }
    const target = targetOf('http://127.0.0.1:8123')
    const { sealed } = await parts.handlers.sealConnection({ ...identity, target, lifetimeMs: null }, createCall())
    Object.assign(env, { [key]: 'the key of this year', [`${key}_PREVIOUS`]: env[key] })
    const request = { connection: { ...identity, sealed }, name: 'renamed' }
    const renamed = await parts.handlers.renameConnection(request, createCall())
    delete env[`${key}_PREVIOUS`]
    const open = (name: string, text: string) => parts.connections.sealing.open({ ...identity, name, sealed: text })
    expect(await open('renamed', renamed.sealed)).toMatchObject({ target })
    await expect(open('mine', sealed)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('a user connection in a call', () => {
  it('is dialed through the guard, which blocks private hosts that were sealed while allowed', async () => {
    await using host = await startHost()
    const env: Record<string, string> = { ...privateAllowed }
    await using parts = await openTestService(env)
    const identity = { key: 'user:owner:id', name: 'mine' }
    const request = { ...identity, target: targetOf(host.url), lifetimeMs: 60_000 }
    const { sealed } = await parts.handlers.sealConnection(request, createCall())
    const call = createCall({ connections: new Map([[identity.key, { ...identity, sealed }]]) })
    const fetchStatus = () => parts.handlers.hostStatus({ hostKey: identity.key, fleet: false }, call)
    delete env.SVC_ALLOW_PRIVATE_HOSTS
    await expect(fetchStatus()).rejects.toMatchObject({ code: 'unavailable', message: 'host mine cannot be reached' })
    expect(host.most).toBe(0)
    env.SVC_ALLOW_PRIVATE_HOSTS = 'true'
    expect(await fetchStatus()).toMatchObject({ version: '25.8.1.1' })
  })

  it('shares no response with a concurrent connection of another user to the same server', async () => {
    let statements = 0
    await using host = await startHttpStub((_request, response) => {
      statements++
      sendResultRows(response, [['25.8.1.1', 60, 'machine', 'UTC', '0']])
    })
    await using parts = await openTestService(privateAllowed)
    const fetchStatus = async (key: string) => {
      const identity = { key, name: 'mine' }
      const request = { ...identity, target: targetOf(host.url), lifetimeMs: 60_000 }
      const { sealed } = await parts.handlers.sealConnection(request, createCall())
      const call = createCall({ connections: new Map([[key, { ...identity, sealed }]]) })
      return parts.handlers.hostStatus({ hostKey: key, fleet: false }, call)
    }
    await Promise.all([fetchStatus('user:ada:1'), fetchStatus('user:eve:1')])
    expect(statements).toBe(2)
  })
})
