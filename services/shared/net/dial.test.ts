import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkMailServer, dial, createGuardedDial } from './dial.ts'
import { openAddressGuard } from './guard.ts'

// Errors are ignored, because clients that disconnect early reset the connection.
const server = createServer((socket) =>
  socket
    .on('error', () => {})
    .resume()
    .end('220 hello\r\n'),
)
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a listening TCP server is never a string or null.
  ;({ port } = server.address() as AddressInfo)
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const signal = () => AbortSignal.timeout(5_000)

describe('a connection that is not HTTP', () => {
  it('opens to a configured server at any address', async () => {
    const socket = await dial({ host: '127.0.0.1', port }, signal())
    const [greeting] = await Array.fromAsync(socket.setEncoding('utf8'))
    expect(greeting).toBe('220 hello\r\n')
  })

  it('distinguishes a refused connection from a timeout', async () => {
    await expect(dial({ host: '127.0.0.1', port: 1 }, signal())).rejects.toMatchObject({
      reason: 'unreachable',
      systemCode: 'ECONNREFUSED',
    })
    await expect(dial({ host: '127.0.0.1', port }, AbortSignal.abort())).rejects.toMatchObject({ reason: 'timeout' })
  })

  it('ends at its timeout', async () => {
    const stop = new AbortController()
    const socket = await dial({ host: '127.0.0.1', port }, stop.signal)
    const ended = new Promise((resolve) => socket.once('error', resolve))
    stop.abort()
    expect(await ended).toMatchObject({ name: 'AbortError' })
  })
})

describe('a connection to a saved server', () => {
  const guarded = (answers: readonly string[], env = {}) =>
    createGuardedDial(openAddressGuard(env, { resolve: async () => answers }))

  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'localhost', 'mail', '0x7f.1'])(
    'is refused to %s',
    async (host) => {
      await expect(guarded(['127.0.0.1'])({ host, port: 25 }, signal())).rejects.toMatchObject({
        reason: 'not-allowed',
      })
    },
  )

  it.each([
    ['mail.example', 587, ['192.0.78.9'], undefined],
    ['mail.example', 587, ['10.0.0.1'], 'address'],
    ['mail.example', 22, ['192.0.78.9'], 'port'],
    ['10.0.0.1', 587, [], 'address'],
  ])('is checked before it is saved: %s:%i at %j', async (host, port, answers, rule) => {
    const checking = checkMailServer(openAddressGuard({}, { resolve: async () => answers }), { host, port })
    const refused = await checking.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).toEqual(rule === undefined ? undefined : expect.objectContaining({ rule }))
  })

  it('is rejected if any address of the name is not allowed', async () => {
    const dialling = guarded(['192.0.78.9', '10.0.0.1'])({ host: 'mail.example', port: 587 }, signal())
    await expect(dialling).rejects.toMatchObject({ reason: 'not-allowed', rule: 'address' })
  })

  it.each([22, 80, 443, 6379, 9000])('is rejected at port %i, which is not a mail port', async (closed) => {
    const dialling = guarded(['192.0.78.9'])({ host: 'mail.example', port: closed }, signal())
    await expect(dialling).rejects.toMatchObject({ reason: 'not-allowed', rule: 'port' })
  })

  it('uses the checked addresses, which are resolved once', async () => {
    let lookUps = 0
    const resolve = async () => {
      lookUps += 1
      return lookUps === 1 ? ['127.0.0.2'] : ['169.254.169.254']
    }
    const guard = openAddressGuard({ SVC_ALLOW_PRIVATE_HOSTS: 'true' }, { resolve })
    const dialling = createGuardedDial(guard)({ host: 'mail.example', port: 2525 }, signal())
    // Nothing listens at the checked address. Connecting to any other address would fail with another error.
    await expect(dialling).rejects.toMatchObject({ reason: 'unreachable', systemCode: 'ECONNREFUSED' })
    expect(lookUps).toBe(1)
  })
})
