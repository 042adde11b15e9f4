import { CompactEncrypt, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { aCall, openParts, type OpenParts } from '../testing/open-parts.ts'
import { rows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'

const privateAllowed = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }
const startHost = () =>
  startHttpStub(({ sql }, response) =>
    sql.includes('uptime()')
      ? rows(response, [['25.8.1.1', 60, 'machine', 'UTC', '0']])
      : response.writeHead(500).end(),
  )
const targetOf = (url: string) => ({ url, user: 'ada', password: 'secret' })

describe('a connection that is tried', () => {
  it('tells who the host is, and leaves nothing open', async () => {
    await using host = await startHost()
    await using parts = await openParts(privateAllowed)
    const tested = await parts.handlers.testConnection({ target: targetOf(host.url) }, aCall())
    expect(tested).toEqual({ ok: true, version: '25.8.1.1', uptimeSeconds: 60, hostname: 'machine', timezone: 'UTC' })
    await expect.poll(() => host.open).toBe(0)
  })

  it.each([
    ['garbage', (url: string) => url, 'answered something that is not ClickHouse'],
    ['unreachable', () => 'http://127.0.0.1:1', 'cannot be reached'],
  ])('is called %s', async (reason, address, sentence) => {
    await using host = await startTcpStub((socket) => socket.end('SSH-2.0-OpenSSH\r\n'))
    await using parts = await openParts(privateAllowed)
    const tested = await parts.handlers.testConnection({ target: targetOf(address(host.url)) }, aCall())
    expect(tested).toMatchObject({ ok: false, reason, message: expect.stringContaining(sentence) })
    expect(JSON.stringify(tested)).not.toMatch(/OpenSSH|secret|ada/)
  })

  it('is late when the host says nothing', async () => {
    await using host = await startTcpStub(() => undefined)
    await using parts = await openParts(privateAllowed)
    const call = aCall({ deadline: performance.now() + 500 })
    const tested = await parts.handlers.testConnection({ target: targetOf(host.url) }, call)
    expect(tested).toMatchObject({ ok: false, reason: 'timeout' })
  })

  it.each(['testConnection', 'sealConnection'] as const)(
    'is refused before a socket opens where private hosts are closed: %s',
    async (method) => {
      await using host = await startHost()
      await using parts = await openParts({})
      const input = { target: targetOf(host.url), key: 'user:a:b', name: 'mine', lifetimeMs: 1_000 }
      await expect(parts.handlers[method](input, aCall())).rejects.toMatchObject({
        code: 'invalid',
        message: 'url leads nowhere that this installation may connect to',
      })
      expect(host.most).toBe(0)
    },
  )

  it.each([
    ['ftp://db.example.com', 'must begin with http:// or https://'],
    ['db.example.com', 'must be an address that begins with http:// or https://'],
    ['http://ada:secret@127.0.0.1', 'must not contain user or password; give them in fields of their own'],
    ['http://127.0.0.1/?readonly=0', 'must have neither query nor fragment'],
    ['http://169.254.169.254', 'leads nowhere that this installation may connect to'],
    ['http://metadata.google.internal', 'leads nowhere that this installation may connect to'],
    ['http://nothing.invalid', 'has a host name that the resolver does not know'],
  ])('is refused in a sentence for %s', async (url, sentence) => {
    await using parts = await openParts(privateAllowed)
    const trying = parts.handlers.testConnection({ target: targetOf(url) }, aCall())
    await expect(trying).rejects.toMatchObject({ code: 'invalid', message: `url ${sentence}` })
  })
})

describe('a connection that comes encrypted', () => {
  const encrypt = async (parts: OpenParts, text: string) => {
    const key = await parts.handlers.connectionKey({}, aCall())
    return new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
      .encrypt(await importJWK(key, 'ECDH-ES'))
  }

  it('is tried and sealed like one in clear, and its key tells nothing that opens it', async () => {
    await using host = await startHost()
    await using parts = await openParts(privateAllowed)
    expect(Object.keys(await parts.handlers.connectionKey({}, aCall())).toSorted()).toEqual(['crv', 'kty', 'x'])
    const encryptedTarget = await encrypt(parts, JSON.stringify(targetOf(host.url)))
    expect(await parts.handlers.testConnection({ encryptedTarget }, aCall())).toMatchObject({ ok: true })
    const asked = { key: 'user:owner:id', name: 'mine', encryptedTarget, lifetimeMs: 60_000 }
    const { sealed } = await parts.handlers.sealConnection(asked, aCall())
    const opened = await parts.connections.sealing.open({ key: asked.key, name: asked.name, sealed })
    expect(opened.target).toEqual(targetOf(host.url))
  })

  it('is refused when it is none, or was encrypted for another installation', async () => {
    await using parts = await openParts(privateAllowed)
    await using other = await openParts(privateAllowed)
    const text = JSON.stringify(targetOf('http://127.0.0.1:8123'))
    const given = [
      { encryptedTarget: await encrypt(other, text) },
      { encryptedTarget: await encrypt(parts, '{}') },
      { encryptedTarget: await encrypt(parts, 'secret') },
      { encryptedTarget: 'secret' },
      {},
    ]
    for (const input of given) {
      const refused = parts.handlers.testConnection(input, aCall())
      await expect(refused).rejects.toMatchObject({ code: 'invalid', message: expect.not.stringContaining('secret') })
    }
  })
})

describe('a kept connection', () => {
  it('is sealed with the present key when it is renamed, so that the one before can go', async () => {
    const key = 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY'
    const env: Record<string, string> = { ...privateAllowed, [key]: 'the key of the last year' }
    await using parts = await openParts(env)
    const called = { key: 'user:owner:id', name: 'mine' }
    const asked = { ...called, target: targetOf('http://127.0.0.1:8123'), lifetimeMs: null }
    const { sealed } = await parts.handlers.sealConnection(asked, aCall())
    Object.assign(env, { [key]: 'the key of this year', [`${key}_PREVIOUS`]: env[key] })
    const renaming = { connection: { ...called, sealed }, name: 'renamed' }
    const renamed = await parts.handlers.renameConnection(renaming, aCall())
    delete env[`${key}_PREVIOUS`]
    const open = (name: string, text: string) => parts.connections.sealing.open({ ...called, name, sealed: text })
    expect(await open('renamed', renamed.sealed)).toMatchObject({ target: asked.target })
    await expect(open('mine', sealed)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('a host that came with a call', () => {
  it('is dialled through the guard, so that one sealed while private hosts were open is closed with them', async () => {
    await using host = await startHost()
    const env: Record<string, string> = { ...privateAllowed }
    await using parts = await openParts(env)
    const called = { key: 'user:owner:id', name: 'mine' }
    const asked = { ...called, target: targetOf(host.url), lifetimeMs: 60_000 }
    const { sealed } = await parts.handlers.sealConnection(asked, aCall())
    const call = aCall({ connections: new Map([[called.key, { ...called, sealed }]]) })
    const ask = () => parts.handlers.hostStatus({ hostKey: called.key, fleet: false }, call)
    delete env.SVC_ALLOW_PRIVATE_HOSTS
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable', message: 'host mine cannot be reached' })
    expect(host.most).toBe(0)
    env.SVC_ALLOW_PRIVATE_HOSTS = 'true'
    expect(await ask()).toMatchObject({ version: '25.8.1.1' })
  })

  it('shares no answer with the same server brought by somebody else at the same time', async () => {
    let statements = 0
    await using host = await startHttpStub((_asked, response) => {
      statements++
      rows(response, [['25.8.1.1', 60, 'machine', 'UTC', '0']])
    })
    await using parts = await openParts(privateAllowed)
    const bring = async (key: string) => {
      const called = { key, name: 'mine' }
      const asked = { ...called, target: targetOf(host.url), lifetimeMs: 60_000 }
      const { sealed } = await parts.handlers.sealConnection(asked, aCall())
      const call = aCall({ connections: new Map([[key, { ...called, sealed }]]) })
      return parts.handlers.hostStatus({ hostKey: key, fleet: false }, call)
    }
    await Promise.all([bring('user:ada:1'), bring('user:eve:1')])
    expect(statements).toBe(2)
  })
})
