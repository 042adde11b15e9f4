import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import type { channelMethods } from '#proto/channels.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/no-such.ts'
import type { GoodRequest } from './auth-requests.ts'
import { opened } from './transit.ts'

const Address = z.object({ url: z.string() })

/** One webhook that takes tests, and a chat that is not set up. */
export const fakeChannels: Pick<Handlers<typeof alerts>, keyof typeof channelMethods> = {
  testChannel: async ({ channel, target = 'webhook' }) => {
    if (channel === 'chat-a')
      throw new ServiceError('conflict', 'the channel chat-a is not set up: settings are missing')
    if (channel !== 'webhook') throw noSuch('channel', channel, ['webhook', 'chat-a'], 'channel')
    return [{ name: target, result: 'config', reason: 'answered 404' }]
  },
  previewTarget: async ({ templates, encrypted, url }) => {
    if (url !== undefined) throw new ServiceError('internal', 'a secret in clear')
    const body = { title: templates?.title ?? 'Disk full' }
    if (encrypted === undefined) return { method: 'POST', body }
    return { method: 'POST', body: { ...body, of: Address.parse(await opened(encrypted)).url } }
  },
}

const path = '/api/v1/health/channels'
const targets = '/api/v1/health/webhook-targets'
const target = { name: 'team', url: 'https://hooks.example/x', headers: { 'X-Team': 'y' } }

/** A good request of every route about the ways of telling people. */
export const channelRequests: Readonly<Record<string, GoodRequest>> = {
  [`POST ${path}/{channel}/test`]: { url: `${path}/webhook/test`, body: {} },
  [`GET ${targets}`]: { url: targets },
  [`POST ${targets}`]: { url: targets, body: target },
  [`PUT ${targets}/{id}`]: { url: `${targets}/cwt-1`, body: { name: 'team' } },
  [`DELETE ${targets}/{id}`]: { url: `${targets}/cwt-1` },
  [`POST ${targets}/preview`]: { url: `${targets}/preview`, body: { format: 'slack' } },
}
