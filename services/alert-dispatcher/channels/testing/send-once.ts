import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { type Message, renderMessage } from '../../messages/message.ts'
import { createNotification } from '../../delivery/testing/notification.ts'
import type { Notification } from '../../notification.ts'
import type { Channel, SendResult } from '../channel.ts'
import type { ChannelRig } from './channel-rig.ts'
import type { StrictServer } from './strict-server.ts'

/** Returns a message as a channel receives it. */
export const createMessage = (more: Partial<Notification> = {}): Message =>
  renderMessage(
    createNotification(more),
    {
      origin: 'watchhouse-0123456789abcdef',
      instance: 'prod',
      dashboardUrl: 'https://watch.example',
      metadata: { team: 'storage' },
      zone: 'UTC',
      isInteractive: false,
    },
    new Map([['db', { id: 3, name: 'Database' }]]),
  )

interface SendOptions {
  channel: Channel
  rig: ChannelRig
  server: StrictServer
  message?: Message
  env?: Environment
}

/** Sends a message to the server of a rig without the delivery pipeline; returns the result of the channel. */
export const sendOnce = async ({
  channel,
  rig,
  server,
  message = createMessage(),
  env = {},
}: SendOptions): Promise<SendResult> => {
  await using net = openNet({ env: {} })
  const [target] = channel.targets(
    { ...rig.env(server.url), ...env },
    { webhookTargets: [], subscriptions: [], chatApplications: [] },
  )
  if (!target) throw new Error('the channel has no target')
  const redirect = (url: string | URL) =>
    (rig.standsFor ?? []).reduce((href, origin) => href.replace(origin, server.url), String(url))
  return await target.send(message, (url, outgoing) => net.trusted(redirect(url), outgoing), net.mail.trusted)
}
