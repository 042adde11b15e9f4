import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import type { fakeChatApplication } from '../testing/channels.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const path = '/api/v1/health/chat-application'

const open = async (alerts: Partial<typeof fakeChatApplication> = {}) => {
  const product = await startFakeProduct({ alerts })
  const send = async (rest: string, { method = 'GET', cookie = '' } = {}) => {
    const response = await fetch(product.url + path + rest, { method, headers: { cookie }, redirect: 'manual' })
    const { status, headers } = response
    return { status, headers, location: headers.get('location'), text: await response.text() }
  }
  return { product, send, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('installing the chat application', () => {
  it('redirects to the chat service and back, and is audited', async () => {
    await using rig = await open()
    const left = await rig.send('/install')
    const [, state] = /[?&]state=([\w-]{32})$/.exec(left.location ?? '') ?? []
    const cookie = left.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(new RegExp(`^watchhouse_chat=${state};.* HttpOnly; SameSite=Lax`))
    const back = await rig.send(`/callback?state=${state}&code=good`, { cookie: `watchhouse_chat=${state}` })
    expect(back).toMatchObject({ status: 302, location: `${rig.product.url}/alerts/channels?chat=installed` })
    expect(back.headers.get('set-cookie')).toContain('Max-Age=0')
    const record = await (await fetch(`${rig.product.url}/api/v1/audit?limit=5`)).text()
    expect(JSON.parse(record).data).toMatchObject([{ action: 'install-chat-application', result: 'done' }])
    expect(record).not.toContain('good')
  })

  it('installs nothing when the user cancelled', async () => {
    await using rig = await open({ installChatApplication: () => Promise.reject(new Error('unexpected request')) })
    const back = await rig.send('/callback?state=s&error=access_denied', { cookie: 'watchhouse_chat=s' })
    expect(back).toMatchObject({ status: 302, location: `${rig.product.url}/alerts/channels?chat=not-installed` })
  })

  it.each([
    ['/callback?state=s&code=good', 'watchhouse_chat=other', 403, 'started in another browser'],
    ['/callback?state=s&code=good', '', 403, 'started in another browser'],
    ['/callback?code=good', 'watchhouse_chat=s', 400, 'state'],
    ['/callback?state=&code=good', '', 400, 'state'],
    ['/callback?state=s&code=bad', 'watchhouse_chat=s', 400, 'start the installation again'],
  ])('is rejected at %s with the cookie %s', async (rest, cookie, status, says) => {
    await using rig = await open()
    expect(await rig.send(rest, { cookie })).toMatchObject({ status, text: expect.stringContaining(says) })
  })

  it('names the missing settings', async () => {
    const sentence = 'cannot install the Slack application: missing settings: CHATAPP_CLIENT_ID'
    const refuse = () => Promise.reject(new ServiceError('not-implemented', sentence))
    await using rig = await open({ chatApplicationPage: refuse })
    expect(await rig.send('/install')).toMatchObject({ status: 501, text: expect.stringContaining(sentence) })
  })

  it.each([
    ['/T01-C02', 404, 'unknown Slack installation'],
    ['/x', 400, 'id must be the id of an installation'],
  ])('returns an error when removing %s', async (rest, status, says) => {
    await using rig = await open()
    expect(await rig.send(rest, { method: 'DELETE' })).toMatchObject({ status, text: expect.stringContaining(says) })
  })
})
