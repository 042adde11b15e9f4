import { sign } from 'node:crypto'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { NetFailure } from '#shared/net/failure.ts'
import { createClock } from '#shared/time/clock.ts'
import { parseEvents } from './accept.ts'
import { createSnsReader } from './sns.ts'

const nowMs = Date.UTC(2026, 2, 1, 12)
const dayMs = 86_400_000
const topic = 'arn:aws:sns:eu-west-1:123456789012:alarms'
const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0a1b.pem'
const subscribeUrl = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37fb`

/** A self-signed certificate of the fake SNS, valid from 2025 to 2124. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIDGzCCAgOgAwIBAgIULkB2tBxqGFVvKEP7KLc+PHIcGOkwDQYJKoZIhvcNAQEL
BQAwHDEaMBgGA1UEAwwRc25zLmFtYXpvbmF3cy5jb20wIBcNMjUwMTAxMDAwMDAx
WhgPMjEyNDEyMDgwMDAwMDFaMBwxGjAYBgNVBAMMEXNucy5hbWF6b25hd3MuY29t
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAqmXqJo7j21Ix3eeP0KTQ
ag5moVVmJ0O1TaPmDJaV9pYysI3TD3njmgWEbpbSjKcgPsoSQlIh6xdshQhcSrAH
JBJkEvEjvEFCLLMbDknV8g5gh05JKQGj9ChFbQKoQ92Pz5IchQA6pbmbuW2gQRmS
kpnbaL0jqHQJYbXRj7MFKWd3YdjAElosA+hB/zdCdW6VkIXNqSIPaeGqEyx6zaQp
tMXuoC8JX/2Gfy6QxsnLnpNtudXI/iqqWyFB0BktMnqNP6vh0jBTBznRY3xT7qLY
mzaPL0w1iom/URrTp6babB20KLxLNbXCf797iw9lvX1xVI0G7UyQVbn/oRGvfvXT
lQIDAQABo1MwUTAdBgNVHQ4EFgQUeLJK9XTFa1id9hLXM+tLM33eM6MwHwYDVR0j
BBgwFoAUeLJK9XTFa1id9hLXM+tLM33eM6MwDwYDVR0TAQH/BAUwAwEB/zANBgkq
hkiG9w0BAQsFAAOCAQEAn8wBkD6BGvakb/6rX7WOnu3ymcJTWkFAtc7jFqdgYExN
7mZr6AUkr9Do1f/r7QnB0ABNU/lCwUC9ag/TTcxlw+vTemfzy6Q6D960rR1DD0mg
qjYpmFFeXMjNvOJllW2VCa2yzutqNSnqVliNhX5g0+2ayMDTqQ+4WTfSqXSvmbmQ
JZj8Pef8nv19lT2BOPRyvwAdBI56DZgJv6YK+1qBAs895gj2RFPS3J3bMApGlTRM
8Lz9Ptwjzj8NIQNFSZvAkf5sYnXdBhKg4wL2nCuwqhsDQ87U3AoM7A+APBYhs5yV
bJ3Ila1PC6EH+4d4nqKoExWhuYfYOZ+3d2kiMxV3IA==
-----END CERTIFICATE-----
`
const privateKey = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCqZeomjuPbUjHd
54/QpNBqDmahVWYnQ7VNo+YMlpX2ljKwjdMPeeOaBYRultKMpyA+yhJCUiHrF2yF
CFxKsAckEmQS8SO8QUIssxsOSdXyDmCHTkkpAaP0KEVtAqhD3Y/PkhyFADqluZu5
baBBGZKSmdtovSOodAlhtdGPswUpZ3dh2MASWiwD6EH/N0J1bpWQhc2pIg9p4aoT
LHrNpCm0xe6gLwlf/YZ/LpDGycuek2251cj+KqpbIUHQGS0yeo0/q+HSMFMHOdFj
fFPuotibNo8vTDWKib9RGtOnptpsHbQovEs1tcJ/v3uLD2W9fXFUjQbtTJBVuf+h
Ea9+9dOVAgMBAAECggEAAf1VEu3AnXss/pipWtyFN0/MctUVFA1JsW9PsR5dSS3c
x8w+/UgOaqELJgaO8YNXeYsRL6d7tOcUwcwJQ9WzDDePnNuUFHP+U5iSV/G5MCRq
+bBTrIAdC7/XMoncnmNh0I6RQkCVE0sCuffBN58WmojjynM26N8d+chy6Jj7lhbM
nvr+FDXuvX1xQ4ugr9jQu0QxUtUmpOmQ90zGp5TN5kDAAwBN87BnjAAFR9gDOsdI
A/C10KT4ByIFHD/tB1tHNgY/h9R273pMnUGS10vp4CtqNw8aUUXb+/W8rL5MqeEP
JakkB3SnTJDfGC5+ahZ47ThkWPNReINXHPaS0L8lewKBgQDubaF/UUwZebvysIta
wlxzFxvn0pNweGB0+D9DZretvuL83bgfMbDcDiYXxjuLW2cDkPUHS7QSuaAkf/LP
aD5s+JzYomTIaP1Id0zMsk/YY+pT0FvWQSrD9wvd+dAMFrZgYJ8rZRoi6aEZgm+F
Jca1yfE/rPFfqdcHg7mPGOft5wKBgQC29MZ3hyaO/j9doAzq6Prbf8WCeCC64Xi9
t3w5+5iE+V+FtmkeUxNzduOUHzZDub4np3PM1WZtuw6qeSrimy0YvqAFBspy9M45
HVlWh+T5ES6FDTQEEY/iDvNKZcz3zjIyfg8IoJAv/UsQH6eipnjD0Rde5s87h2mb
IOn9yRGrIwKBgQCl6+cSOdoSdHPF7PPdYhqCARfrWNA/2ZWOcN9doVK7d3Zw8D7c
fnEMglAiBVKUpTPn+G17+UPEMCdwnxWzHmEq5kwIOeKW0PFKB7OLU59bABUm5H20
eT8whnBcticA8qFSKos54K6ykxEINowzBVnmUjUv0cNbhk7crN9p5LQqCwKBgE8F
NdtWYk8MfS3g/PNRIVhAvXv2ipxs2guG/n7ErkFwu9My0AAq/ZG3XeASAwwJY5oY
9ykXWqA2VMVIhD9PqpCvdMn2/uXb2l5M0NNQ6pKw2xjYdQj01OJcdrRBd9/oDUJF
tBST1PMFQbB7G5pisHJTEvcIVaVufSxlcOsONzVlAoGBAObSWnvpioki0jsWOF78
qzEF3eMkbQP9bWR4sKJdFXjohsV54Ito85drpqYxgT1DOs6lQWxw6uvgPlZSXLf0
L28kOgNeG5gC02hEDLTZfbbTftm1bSczuNJVnGyAqvHU+H2i2ZPTMbT6U6xHDoWU
Vn4A55ZJyCy5ySW0HZ/+4d5n
-----END PRIVATE KEY-----
`

const alarm = {
  AlarmName: 'disk',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:disk',
  NewStateValue: 'ALARM',
  StateChangeTime: '2026-03-01T10:00:00.000+0000',
}

type Message = Record<string, string | undefined>

/** Returns an SNS message, signed as the AWS documentation describes. */
const signed = (more: Message = {}, key: string = privateKey): Message => {
  const message: Message = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: topic,
    Subject: 'ALARM: "disk"',
    Message: JSON.stringify(alarm),
    Timestamp: '2026-03-01T10:00:00.000Z',
    SignatureVersion: '1',
    SigningCertURL: certificateUrl,
    UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
    ...more,
  }
  const names =
    message.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const lines = names.filter((name) => message[name] !== undefined).map((name) => `${name}\n${message[name]}\n`)
  const digest = message.SignatureVersion === '2' ? 'sha256' : 'sha1'
  return { ...message, Signature: sign(digest, Buffer.from(lines.join('')), key).toString('base64') }
}

const confirmation = (more: Message = {}) =>
  signed({
    Type: 'SubscriptionConfirmation',
    Subject: undefined,
    Message: `You have chosen to subscribe to the topic ${topic}.`,
    Token: '2336412f37fb',
    SubscribeURL: subscribeUrl,
    ...more,
  })

/** Opens a reader with a fake SNS server. Records the requests of the reader. */
const opened = (answer: (url: string) => Response | Error = () => new Response(certificate), time = { ms: nowMs }) => {
  const requests: string[] = []
  const logged: string[] = []
  const read = createSnsReader({
    send: async (url) => {
      requests.push(String(url))
      const answered = answer(String(url))
      if (answered instanceof Error) throw answered
      return answered
    },
    clock: createClock(() => time.ms),
    log: pino({ base: null }, { write: (line) => void logged.push(line) }),
  })
  const open = (message: unknown) =>
    read({
      body: typeof message === 'string' ? message : JSON.stringify(message),
      headers: { 'content-type': 'text/plain; charset=UTF-8' },
    })
  return { open, requests, logged, time }
}

describe('messages of SNS', () => {
  it.each(['1', '2'])('with a signature of version %s contain events of other systems', async (version) => {
    const { open, requests } = opened()
    const { body, headers } = await open(signed({ SignatureVersion: version }))
    expect(headers).toMatchObject({ 'x-webhook-id': '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324' })
    expect(parseEvents(body, headers)).toMatchObject([
      { sourceType: 'cloudwatch', dedupKey: alarm.AlarmArn, status: 'firing', title: 'disk' },
    ])
    expect(requests).toEqual([certificateUrl])
  })

  it.each([
    ['without JSON', { Message: 'disk is full\non db-1' }, 'ALARM: "disk"'],
    ['without a subject', { Message: 'disk is full\non db-1', Subject: undefined }, 'disk is full'],
    ['with a JSON text', { Message: '"disk"', Subject: undefined }, '"disk"'],
  ])('%s are informational', async (_name, more, title) => {
    const { open } = opened()
    const { body, headers } = await open(signed(more))
    expect(parseEvents(body, headers)).toMatchObject([
      { sourceType: 'sns', dedupKey: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324', status: 'info', title, resource: topic },
    ])
  })

  it('load each certificate once a day', async () => {
    const { open, requests, time } = opened()
    for (const _ of [1, 2]) await open(signed())
    expect(requests).toHaveLength(1)
    time.ms += dayMs
    await open(signed())
    expect(requests).toHaveLength(2)
  })

  it('confirm the subscription once they are verified', async () => {
    const { open, requests, logged } = opened()
    const { body, headers } = await open(confirmation())
    expect(requests).toEqual([certificateUrl, subscribeUrl])
    const [event] = parseEvents(body, headers)
    expect(event).toMatchObject({ status: 'info', title: 'SNS subscription confirmed', resource: topic })
    // Anyone with the token or the URL can confirm or end the subscription, so both are secrets.
    expect(`${JSON.stringify(event)}${logged.join('')}`).not.toMatch(/2336412f37fb|Action=/)
  })

  it('do not renew a removed subscription', async () => {
    const { open, requests } = opened()
    const { body, headers } = await open(confirmation({ Type: 'UnsubscribeConfirmation' }))
    expect(requests).toEqual([certificateUrl])
    expect(parseEvents(body, headers)).toMatchObject([{ status: 'info', title: 'SNS subscription removed' }])
  })

  it('are returned unchanged if they are no messages of SNS', async () => {
    const { open, requests } = opened()
    for (const body of ['', '{', '[1]', '{"title":"TopicArn"}', '{"TopicArn":"a"}'])
      expect((await open(body)).body).toBe(body)
    expect(requests).toEqual([])
  })
})

describe('rejected messages of SNS', () => {
  it.each<[string, Message]>([
    ['another message', { ...signed(), Message: '{}' }],
    ['another subject', { ...signed(), Subject: undefined }],
    ['another version', { ...signed(), SignatureVersion: '2' }],
    ['an empty signature', { ...signed(), Signature: '' }],
    ['another token', { ...confirmation(), Token: 'other' }],
  ])('have a signature of %s', async (_name, message) => {
    const { open, requests } = opened()
    await expect(open(message)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: 'the signature of the SNS message is not valid',
    })
    expect(requests).toEqual([certificateUrl])
  })

  const otherHosts = [
    'http://sns.eu-west-1.amazonaws.com',
    'https://sns.eu-west-1.amazonaws.com:8443',
    'https://sns.eu-west-1.amazonaws.com.evil.example',
    'https://evil.example/sns.eu-west-1.amazonaws.com',
    'https://user@sns.eu-west-1.amazonaws.com',
    'https://s3.amazonaws.com',
    'https://sns.a.b.amazonaws.com',
    'no URL',
  ]
  it.each([
    ...otherHosts.map((host) => `${host}/SimpleNotificationService-0a1b.pem`),
    'https://sns.eu-west-1.amazonaws.com/other.pem',
    `${certificateUrl}?Action=x`,
  ])('do not request the certificate %s', async (SigningCertURL) => {
    const { open, requests } = opened()
    await expect(open(signed({ SigningCertURL }))).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(requests).toEqual([])
  })

  it.each([...otherHosts.map((host) => `${host}/?Action=ConfirmSubscription`), `${certificateUrl}?Action=Publish`])(
    'do not confirm at %s',
    async (SubscribeURL) => {
      const { open, requests } = opened()
      await expect(open(confirmation({ SubscribeURL }))).rejects.toMatchObject({ code: 'invalid' })
      expect(requests).toEqual([certificateUrl])
    },
  )

  it('have a certificate that is not valid now', async () => {
    const { open } = opened(undefined, { ms: Date.UTC(2024, 0, 1) })
    await expect(open(signed())).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('lack fields', async () => {
    const { open } = opened()
    await expect(open({ Type: 'Notification', TopicArn: topic, MessageId: 'm' })).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  it.each([
    ['an unreachable host', () => new NetFailure('unreachable', { host: 'sns.eu-west-1.amazonaws.com' })],
    ['status 403', () => new Response('', { status: 403 })],
    ['a body that is no certificate', () => new Response('<html>')],
  ])('are sent again after %s, and nothing is cached', async (_name, answer) => {
    const answers = [answer(), new Response(certificate)]
    const { open } = opened(() => answers.shift() ?? new Error('too many requests'))
    await expect(open(signed())).rejects.toMatchObject({ code: 'unavailable' })
    await expect(open(signed())).resolves.toMatchObject({ body: JSON.stringify(alarm) })
  })
})

describe('subscriptions in China', () => {
  it('have their own hosts', async () => {
    const { open, requests } = opened()
    const host = 'https://sns.cn-north-1.amazonaws.com.cn'
    const SigningCertURL = `${host}/SimpleNotificationService-0a1b.pem`
    await open(confirmation({ SigningCertURL, SubscribeURL: `${host}/?Action=ConfirmSubscription` }))
    expect(requests).toEqual([SigningCertURL, `${host}/?Action=ConfirmSubscription`])
  })
})
